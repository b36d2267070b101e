//! The run as lines, one for each thing that happens: for pipes and files.

use rival::event::{Kind, LostReason, Role, Verdict};
use rival::{Event, LogLine, Time};

use super::style::seconds;

/// Says what an event means; `None` for those that people need not see.
pub(super) fn line(event: &Event) -> Option<String> {
    let text = match &event.event {
        Kind::CallStarted { node, call, attempt, role: Role::Step, .. } => match (call, attempt) {
            (1, _) => format!("{node}: started"),
            (call, attempt) => format!("{node}: started, attempt {attempt} (call {call})"),
        },
        Kind::CallSucceeded { node, state, .. } => {
            let state = state.as_ref().map(rival::Value::to_json).unwrap_or_default();
            match state["description"].as_str() {
                Some(description) => format!("{node}: completed, {description}"),
                None => format!("{node}: completed"),
            }
        }
        Kind::CallFailed { node, failure, verdict: Verdict::RetryAt(at), .. } => {
            format!("{node}: failed, {failure}; trying again in {}", seconds(at.ms_since(event.at)))
        }
        Kind::CallFailed { node, failure, verdict: Verdict::Continue, .. } => {
            format!("{node}: failed, {failure}; the order goes on without it")
        }
        Kind::CallFailed { node, failure, verdict: Verdict::Fail, .. } => {
            format!("{node}: failed, {failure}")
        }
        Kind::CallLost { node, reason: LostReason::Crash, .. } => {
            format!("{node}: was cut short by a crash and is called again")
        }
        Kind::CallLost { node, reason: LostReason::Shutdown, .. } => {
            format!("{node}: let go, and called again at the next start")
        }
        Kind::SleepStarted { node, until } => {
            format!("{node}: asleep for {}", seconds(until.ms_since(event.at)))
        }
        Kind::SleepEnded { node } => format!("{node}: awake"),
        Kind::RunCompleted { .. } => "run: completed".to_owned(),
        Kind::RunFailed { failure, .. } => format!("run: failed, {failure}"),
        Kind::RunCancelled { .. } => "run: cancelled".to_owned(),
        _ => return None,
    };
    Some(format!("{}  {text}", clock(event.at)))
}

/// A line that a step wrote.
pub(super) fn log(line: &LogLine) -> String {
    format!("{}  {}: | {}", clock(line.at), line.node, line.message)
}

/// The time of day, in UTC.
fn clock(at: Time) -> String {
    let ms = at.0.rem_euclid(86_400_000);
    let (s, ms) = (ms / 1_000, ms % 1_000);
    format!("{:02}:{:02}:{:02}.{ms:03}", s / 3_600, s / 60 % 60, s % 60)
}
