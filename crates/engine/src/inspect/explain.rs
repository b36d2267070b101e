//! What a run is waiting for, in one sentence.

use rival_core::event::BlockedReason;
use rival_core::plan::is_unnamed;
use rival_core::state::RunEnding;
use rival_core::view::{TriggerStatus, TriggersView};
use rival_core::{FailureRecord, NodeStatus, Path, RunId, RunState, RunStatus, Time};
use rival_store::RunRow;

/// Says what a run is waiting for and since when.
pub(crate) fn explain(row: &RunRow, state: &RunState, now: Time) -> String {
    let run = &row.id;
    if let Some(end) = &state.end {
        let why = end.failure.as_ref().map(FailureRecord::sentence).or_else(|| end.reason.clone());
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        return format!("run `{run}` {} {} ago{why}", end.status, ago(now, end.at));
    }
    if row.status == RunStatus::Blocked && state.index().blocked.is_empty() {
        return format!(
            "run `{run}` is blocked: {}",
            row.note.as_deref().unwrap_or("its history cannot be read")
        );
    }
    let what = match state.status() {
        RunStatus::Queued => format!("has waited for room for {}", ago(now, row.created_at)),
        RunStatus::Paused => format!("has been paused for {}; `resume` lets it go on", ago(now, state.at)),
        RunStatus::Blocked => is_blocked(state, now),
        RunStatus::Cancelling => format!("is cancelling: {}", at_work(state, now)),
        RunStatus::Waiting => waits(state, now),
        RunStatus::Running if matches!(state.ending, Some(RunEnding::Failing { .. })) => {
            format!("is failing: {}", at_work(state, now))
        }
        RunStatus::Running
        | RunStatus::Compensating
        | RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::Cancelled => at_work(state, now),
    };
    format!("run `{run}` {what}")
}

/// What became of what a completed run triggers.
pub(crate) fn triggers(view: &TriggersView) -> String {
    let run = &view.run;
    match view.status {
        TriggerStatus::Pending => format!("run `{run}` starts what it triggers"),
        TriggerStatus::Triggered => "what it triggers was started".to_owned(),
        TriggerStatus::Skipped => {
            "it triggers nothing, because values that its triggers need are not there".to_owned()
        }
        TriggerStatus::Failed => {
            format!("not all that it triggers was started: `retry` of run `{run}` does again what failed")
        }
    }
}

fn at_work(state: &RunState, now: Time) -> String {
    let Some(node) = state.index().calls.first() else {
        let undo = state.undo.undo_runs().next();
        return match undo {
            Some(undo) => format!("waits for the run `{undo}`, which undoes a child"),
            None => "is about to go on".to_owned(),
        };
    };
    let more = state.index().calls.len() - 1;
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let name = if node.is_root() { "the workflow's error handler".to_owned() } else { format!("`{node}`") };
    match state.node(node).and_then(|node| node.open_call()) {
        Some(call) => format!(
            "waits for {name}{more}, attempt {}, called {} ago",
            call.attempt,
            ago(now, call.started_at)
        ),
        None => format!("waits for {name}{more}"),
    }
}

/// Of several waits the one that ends first by time alone; one without a deadline comes last.
fn waits(state: &RunState, now: Time) -> String {
    let paths = state.index().waits.iter().chain(&state.index().calls_waiting);
    let next = paths.map(|path| wait(state, path, now)).min_by_key(|(at, _)| at.unwrap_or(Time(i64::MAX)));
    match next {
        Some((_, text)) => text,
        None if state.children.is_empty() => "waits".to_owned(),
        None => format!("waits for {} to end", children(state.children.keys())),
    }
}

/// Until when a node waits, and for what.
fn wait(state: &RunState, path: &Path, now: Time) -> (Option<Time>, String) {
    let Some(node) = state.node(path) else { return (None, format!("waits at `{path}`")) };
    let at = node.wake_at();
    if let Some(awaited) = node.awaited() {
        return (at, format!("waits at `{path}` for the signal `{}`{}", awaited.name, comma(at, now)));
    }
    if let Some(waiting) = operation(state, path, now) {
        return waiting;
    }
    let since = format!("it began {} ago", ago(now, state.at));
    let left = at.map_or_else(String::new, |at| left(at, now));
    if node.status() == NodeStatus::WaitingRetry {
        let attempt = node.due().map_or(0, |due| due.attempt);
        return (at, format!("waits to try `{path}` again (attempt {attempt}) {left}; {since}"));
    }
    (at, format!("sleeps at `{path}` {left}; {since}"))
}

/// The operation that a step waits for; of several, the one that ends first by time alone.
fn operation(state: &RunState, path: &Path, now: Time) -> Option<(Option<Time>, String)> {
    let open = state.ops.get(path)?.iter().map(|(_, op)| op).filter(|op| op.end.is_none());
    let op = open.min_by_key(|op| op.until.unwrap_or(Time(i64::MAX)))?;
    let what = match (&op.awaited, &op.children) {
        (Some(awaited), _) => format!("the signal `{}`", awaited.name),
        (None, Some(of)) if !of.open.is_empty() => children(of.open.values()),
        (None, Some(_)) => format!("children of workflow `{}`", op.key.name),
        (None, None) => {
            let until = op.until.map_or_else(String::new, |until| format!(" {}", left(until, now)));
            return Some((op.until, format!("sleeps at `{path}`{until}")));
        }
    };
    Some((op.until, format!("waits at `{path}` for {what}{}", comma(op.until, now))))
}

fn children<'a>(children: impl ExactSizeIterator<Item = &'a RunId>) -> String {
    const SHOWN: usize = 3;
    let count = children.len();
    let names: Vec<String> = children.take(SHOWN).map(|child| format!("`{child}`")).collect();
    match count {
        1 => format!("the child {}", names.join("")),
        _ if count <= SHOWN => format!("the children {}", names.join(", ")),
        _ => format!("the children {} and {} more", names.join(", "), count - SHOWN),
    }
}

fn left(at: Time, now: Time) -> String {
    if at > now { format!("for another {}", span(at.ms_since(now))) } else { "and is due".to_owned() }
}

fn comma(at: Option<Time>, now: Time) -> String {
    at.map_or_else(String::new, |at| format!(", {}", left(at, now)))
}

fn is_blocked(state: &RunState, now: Time) -> String {
    let Some((path, node)) = state.index().blocked.first().and_then(|path| Some((path, state.node(path)?)))
    else {
        return "is blocked".to_owned();
    };
    let reason = node.blocked().map_or_else(String::new, |reason| blocked(path, reason));
    format!("has been blocked for {}: {reason}", ago(now, state.at))
}

/// Why a node is blocked, and what helps.
pub(crate) fn blocked(node: &Path, reason: &BlockedReason) -> String {
    match reason {
        BlockedReason::FunctionMissing { function, why: Some(why) } => {
            format!(
                "`{node}` needs `{function}`, which cannot be called: {why}; once it can, the run goes on"
            )
        }
        BlockedReason::FunctionMissing { function, .. } if is_unnamed(function) => {
            format!(
                "`{node}` needs a function that has no name of its own and is not in its workflow any more as it was \
                 when the run began; bring it back as it was. What has a name may change while runs are under way"
            )
        }
        BlockedReason::FunctionMissing { function, .. } => {
            format!(
                "`{node}` needs the function `{function}`, which its workflow no longer has; put it back into the \
                 workflow, and the run goes on"
            )
        }
        BlockedReason::Quarantined { interruptions } => {
            format!("the process died {interruptions} times while `{node}` ran; `resume` tries it again")
        }
        BlockedReason::Undecodable { message } => {
            format!("`{node}` cannot read a recorded value ({message}); mend the type, then `resume`")
        }
        BlockedReason::Nondeterminism { message } => {
            format!(
                "`{node}` is not the function that it was when it began to wait: {message}; bring that one back, then `resume`"
            )
        }
    }
}

fn ago(now: Time, then: Time) -> String {
    span(now.ms_since(then))
}

/// A length of time in one unit or two, rounded: two days that began a moment ago are two days.
fn span(ms: u64) -> String {
    let rounded = |unit: u64| (ms + unit / 2) / unit;
    let (minutes, hours) = (rounded(60_000), rounded(3_600_000));
    match minutes {
        _ if ms < 1_000 => format!("{ms} ms"),
        _ if ms < 120_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        0..120 => format!("{minutes} min"),
        120..2_880 => both(minutes / 60, "h", minutes % 60, "min"),
        _ => both(hours / 24, "days", hours % 24, "h"),
    }
}

fn both(large: u64, unit: &str, small: u64, small_unit: &str) -> String {
    let rest = if small == 0 { String::new() } else { format!(" {small} {small_unit}") };
    format!("{large} {unit}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_rounded() {
        let (minute, hour, day) = (60_000, 3_600_000, 86_400_000);
        let told = [7, 1_250, 4 * minute, hour - 3, 2 * hour, 2 * day - 3, 7 * day - 2 * hour].map(span);
        assert_eq!(told, ["7 ms", "1.2 s", "4 min", "60 min", "2 h", "2 days", "6 days 22 h"]);
        assert_eq!(span(2 * hour + 10 * minute), "2 h 10 min");
    }
}
