//! A run as lines, one for each thing that happens: for pipes and files.

use std::collections::HashMap;

use rival::event::{BlockedReason, CallRole, FailureVerdict, LaneOutcome, LostReason, TriggerOrigin};
use rival::{Path, Seq, Time, Value};
use rival_api::EventReply;
use rival_core::durable::{ChildOutcome, OpBody, OpKey, OpKind, OpOutcome};
use rival_core::plan::is_unnamed;

use crate::event_data::EventData;
use crate::failure::told;
use crate::out::{clean, short};
use crate::text::length;

/// How much of a value is told.
const VALUE: usize = 60;

/// Tells what happens in a run, event by event.
#[derive(Debug, Default)]
pub(crate) struct EventNarrator {
    /// What the function does that is being called for a node.
    roles: HashMap<Path, CallRole>,
    /// What steps have asked for durably, as it is named.
    operations: HashMap<(Path, u32), OpKey>,
    /// The signals that came: name and payload.
    signals: HashMap<Seq, String>,
    /// Values are told as they are, and not only how they begin.
    is_whole: bool,
}

impl EventNarrator {
    /// Leaves nothing out of values.
    pub(crate) fn whole() -> Self {
        Self { is_whole: true, ..Self::default() }
    }

    /// Says what an event means, also of those that people need not see. Its node is not named: the reader knows it.
    pub(crate) fn explain(&mut self, event: &EventReply) -> String {
        let told = self.tell(event).unwrap_or_else(|| self.quiet(event).to_owned());
        let about = event.node.as_ref().map_or_else(String::new, |node| clean(name(node)));
        let means = told.strip_prefix(&about).and_then(|rest| rest.strip_prefix(": "));
        means.or_else(|| told.strip_prefix("run: ")).unwrap_or(&told).to_owned()
    }

    /// What an event means that people need not see.
    fn quiet(&self, event: &EventReply) -> &'static str {
        let role = event.node.as_ref().map_or(CallRole::Step, |node| self.role(node));
        match &*event.r#type {
            "callStarted" => asks(role),
            "callSucceeded" => "it has answered",
            "callSuspended" => "waits, and holds no thread; the function is called again when it can go on",
            "blockFailing" => "a node inside has failed: nothing new starts here",
            "joined" => "all that it waits for has come together",
            "nodeHeld" => "is next, and is held until the run goes on",
            "decisionImported" => "what it had decided is taken over from the run before",
            "laneImported" => "an iteration is taken over from the run before",
            _ => "this command is older than the server, and does not know it",
        }
    }

    /// Says what an event means; `None` for those that people need not see, and for those of a newer server.
    pub(crate) fn tell(&mut self, event: &EventReply) -> Option<String> {
        let data = EventData::of(event)?;
        let text = match &event.node {
            Some(node) => self
                .call(event, node, &data)
                .or_else(|| self.operation(event, node, &data))
                .or_else(|| wait(event, node, &data, self.value_max()))
                .or_else(|| block(event, node, &data)),
            None => None,
        };
        if event.r#type == "signalReceived" {
            self.signals
                .insert(event.seq, format!("`{}`{}", data.name, value(&data.payload, self.value_max())));
        }
        Some(clean(&text.or_else(|| run(event, &data))?))
    }

    /// What happens to the durable operations of a step.
    fn operation(&mut self, event: &EventReply, node: &Path, data: &EventData) -> Option<String> {
        let at = name(node);
        if &*event.r#type == "signalTaken" {
            let signal = data.signal.and_then(|seq| self.signals.get(&seq));
            return Some(match signal {
                Some(signal) => format!("{at}: took the signal {signal}"),
                None => format!("{at}: took the signal"),
            });
        }
        let number = data.op?;
        if &*event.r#type == "opStarted" {
            let kind = data.what.as_ref()?.kind();
            let key = OpKey { kind, name: data.name.clone(), occurrence: data.occurrence.unwrap_or(1) };
            let asked = asked(&key, data.what.as_ref()?, event.at);
            self.operations.insert((node.clone(), number), key);
            return Some(format!("{at}: {asked}"));
        }
        let key = self.operations.get(&(node.clone(), number));
        // Its beginning is not among the events that are told.
        let name = key.map_or_else(|| format!("operation {number}"), OpKey::to_string);
        Some(match &*event.r#type {
            "opEnded" => match data.outcome.decode().ok()? {
                OpOutcome::Done {} if key.is_some_and(|key| key.kind == OpKind::Sleep) => {
                    format!("{at}: {name} is over")
                }
                OpOutcome::Done {} => format!("{at}: {name} completed"),
                OpOutcome::Value(result) => {
                    format!("{at}: {name} completed{}", value(&result, self.value_max()))
                }
                OpOutcome::Failed(failure) => format!("{at}: {name} failed, {failure}"),
                OpOutcome::Cancelled {} => format!("{at}: {name} is cancelled"),
                OpOutcome::Left {} => format!("{at}: {name} did not end in time and was left behind"),
            },
            "opDropped" => format!("{at}: {name} is given up"),
            "opStopping" => format!("{at}: the runs of {name} are cancelled"),
            _ => return None,
        })
    }

    fn call(&mut self, event: &EventReply, node: &Path, data: &EventData) -> Option<String> {
        let at = name(node);
        match &*event.r#type {
            "callStarted" => {
                self.roles.insert(node.clone(), data.role);
                began(node, data)
            }
            "callSucceeded" => match self.role(node) {
                CallRole::Step if data.skipped => Some(format!("{at}: skipped")),
                CallRole::Step => Some(format!("{at}: completed{}", data.description())),
                CallRole::Compensate => Some(format!("{at}: undone")),
                _ => None,
            },
            "callFailed" => {
                let what = match self.role(node) {
                    CallRole::Compensate => "could not be undone",
                    _ => "failed",
                };
                let next = match data.verdict? {
                    FailureVerdict::RetryAt(next) => {
                        format!("; trying again in {}", length(next.ms_since(event.at)))
                    }
                    FailureVerdict::Continue => "; the run goes on without it".to_owned(),
                    FailureVerdict::Fail => String::new(),
                };
                Some(format!("{at}: {what}, {}{next}", told(data.failure.as_ref()?)))
            }
            "callLost" => Some(format!("{at}: {}", lost(data.reason.decode().ok()?))),
            "callCancelled" if data.forced => Some(format!("{at}: did not stop in time and was left behind")),
            "callCancelled" => Some(format!("{at}: stopped")),
            _ => None,
        }
    }

    fn role(&self, node: &Path) -> CallRole {
        self.roles.get(node).copied().unwrap_or_default()
    }

    fn value_max(&self) -> usize {
        if self.is_whole { usize::MAX } else { VALUE }
    }
}

/// What a function is called for that is no step.
fn asks(role: CallRole) -> &'static str {
    match role {
        CallRole::Step | CallRole::Compensate | CallRole::OnError => "is called",
        CallRole::Input => "asked what its input is",
        CallRole::Wait => "asked how long to sleep",
        CallRole::Choose => "asked which case to take",
        CallRole::Test => "asked whether it goes on",
        CallRole::Items => "asked for its items",
        CallRole::Finally => "asked what to make of what has come together",
    }
}

fn began(node: &Path, data: &EventData) -> Option<String> {
    let (at, call, attempt) = (name(node), data.call?, data.attempt.unwrap_or(1));
    let again = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
    match data.role {
        CallRole::Step if call > 1 => Some(format!("{at}: started, attempt {attempt} (call {call})")),
        CallRole::Step => Some(format!("{at}: started")),
        CallRole::Compensate => Some(format!("{at}: being undone{again}")),
        CallRole::OnError => Some(format!("{at}: its error handler is called")),
        _ => None,
    }
}

fn lost(reason: LostReason) -> &'static str {
    match reason {
        LostReason::Crash => "was cut short by a crash and is called again",
        LostReason::Shutdown => "let go, and called again at the next start",
        LostReason::Bystander => "was cut short because of another call and is called again",
    }
}

/// The root stands for the run itself.
fn name(node: &Path) -> &str {
    if node.is_root() { "run" } else { node.as_str() }
}

fn wait(event: &EventReply, node: &Path, data: &EventData, value_max: usize) -> Option<String> {
    let (at, EventData { name, child, next, until, .. }) = (name(node), data);
    Some(match &*event.r#type {
        "sleepStarted" => format!("{at}: asleep for {}", length((*until)?.ms_since(event.at))),
        "sleepEnded" => format!("{at}: awake"),
        "signalAwaited" => format!("{at}: waits for the signal `{name}`{}", at_most(*until, event.at)),
        "signalTimedOut" => match &data.failure {
            Some(failure) => format!("{at}: failed, {}", told(failure)),
            None => format!("{at}: no signal came in time"),
        },
        "childStarted" => format!("{at}: started child {child}"),
        "childRetried" => format!("{at}: a child failed, and goes on as {next}"),
        "childEnded" => match data.outcome.decode().ok()? {
            ChildOutcome::Completed(output) => {
                format!("{at}: child {child} completed{}", value(&output, value_max))
            }
            ChildOutcome::Failed { failure, .. } => format!("{at}: child {child} failed, {failure}"),
            ChildOutcome::Cancelled { .. } => format!("{at}: child {child} was cancelled"),
        },
        "childUndoing" => format!("{at}: child {child} is being undone by run {}", data.undo),
        "childUndone" => match &data.failure {
            None => format!("{at}: child {child} is undone"),
            Some(failure) => format!("{at}: child {child} could not be undone, {failure}"),
        },
        _ => return None,
    })
}

/// What a step asks for.
fn asked(key: &OpKey, what: &OpBody, at: Time) -> String {
    match what {
        // It is recorded when it is done.
        OpBody::Once {} => format!("{key} was done"),
        OpBody::Sleep { until } => format!("{key} for {}", length(until.ms_since(at))),
        OpBody::Signal { until, .. } => format!("waits for {key}{}", at_most(*until, at)),
        OpBody::Run { .. } => format!("starts {key}"),
        OpBody::Map { items, .. } => format!("starts {key}, {} runs", items.len()),
    }
}

/// A value, to be told after something else; nothing for none.
fn value(value: &Value, max: usize) -> String {
    if value.is_null() { String::new() } else { format!(", {}", short(value.as_json(), max)) }
}

fn at_most(until: Option<Time>, at: Time) -> String {
    until.map_or_else(String::new, |until| format!(", at most {}", length(until.ms_since(at))))
}

fn block(event: &EventReply, node: &Path, data: &EventData) -> Option<String> {
    let at = name(node);
    Some(match &*event.r#type {
        "nodeImported" => format!("{at}: taken over from the run before"),
        "nodeStarted" => match (&data.case, data.count) {
            (Some(case), _) => format!("{at}: takes `{case}`"),
            (None, Some(count)) => format!("{at}: started, {count} in all"),
            (None, None) => format!("{at}: started"),
        },
        "laneEnded" => match data.lane_outcome()? {
            LaneOutcome::Completed => format!("{at}: completed"),
            LaneOutcome::Failed(_) => format!("{at}: failed"),
            LaneOutcome::Cancelled => format!("{at}: stopped"),
        },
        "laneStopping" => format!("{at}: is stopped, others have won"),
        "nodeCompleted" => format!("{at}: completed"),
        "nodeFailed" => format!("{at}: failed{}", because(data)),
        "nodeCancelled" => format!("{at}: stopped"),
        "nodeBlocked" => format!("{at}: cannot go on, {}", blocked(data.reason.decode().ok()?)),
        "nodeUnblocked" => format!("{at}: is looked at again"),
        _ => return None,
    })
}

fn because(data: &EventData) -> String {
    match &data.failure {
        Some(failure) => format!(", {}", told(failure)),
        None => format!(" because of {}", data.child),
    }
}

fn blocked(reason: BlockedReason) -> String {
    match reason {
        BlockedReason::FunctionMissing { function, why: Some(why) } => {
            format!("`{function}` cannot be called: {why}")
        }
        BlockedReason::FunctionMissing { function, .. } if is_unnamed(&function) => {
            "it has no name of its own and is not in its workflow any more as it was".to_owned()
        }
        BlockedReason::FunctionMissing { function, .. } => {
            format!("there is no function `{function}` any more")
        }
        BlockedReason::Quarantined { interruptions } => {
            format!("the process died {interruptions} times while it ran")
        }
        BlockedReason::Undecodable { message } | BlockedReason::Nondeterminism { message } => message,
    }
}

fn run(event: &EventReply, data: &EventData) -> Option<String> {
    let EventData { workflow, failure, .. } = data;
    Some(match &*event.r#type {
        "runStarted" => match (&data.source, &data.trigger) {
            (Some(source), Some(TriggerOrigin { run, .. })) if source == run.as_str() => {
                format!("run: started, workflow {workflow}, triggered by {run}")
            }
            (None, _) => format!("run: started, workflow {workflow}"),
            (Some(source), _) => format!("run: started, workflow {workflow}, goes on from {source}"),
        },
        "runPaused" => "run: paused".to_owned(),
        "runResumed" => "run: resumed".to_owned(),
        "signalReceived" => format!("run: the signal `{}` came", data.name),
        "clockSetBack" => format!("run: the clock was set back by {}", length(data.by_ms)),
        "cancelRequested" => "run: is being cancelled".to_owned(),
        "runFailing" => format!("run: is failing, {}", told(failure.as_ref()?)),
        "runCompleted" => match &data.triggers {
            None => "run: completed".to_owned(),
            Some(run) => format!("run: completed, what it triggers is started by {run}"),
        },
        "runFailed" => format!("run: failed, {}", told(failure.as_ref()?)),
        "runCancelled" => "run: cancelled".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rival::Event;

    use super::*;

    /// The words of events are the core's: here, a change of one is noticed.
    #[test]
    fn all_events_are_told_but_those_that_people_need_not_see() {
        let (mut seen, mut told) = (BTreeSet::new(), BTreeSet::new());
        for (_, events) in golden() {
            let mut teller = EventNarrator::default();
            for event in events {
                if teller.tell(&event).is_some() {
                    told.insert(event.r#type.clone());
                }
                seen.insert(event.r#type);
            }
        }
        let untold: Vec<&str> = seen.difference(&told).map(String::as_str).collect();
        let expected =
            ["blockFailing", "callSuspended", "decisionImported", "joined", "laneImported", "nodeHeld"];
        assert_eq!((told.len(), untold), (38, expected.to_vec()));
    }

    /// In a history, each row says something, and no row names its node a second time.
    #[test]
    fn every_event_has_a_meaning() {
        for (file, events) in golden() {
            let mut teller = EventNarrator::default();
            for event in &events {
                let means = teller.explain(event);
                assert!(
                    !means.is_empty() && !means.contains("does not know it"),
                    "{file}: {event:?}: {means}"
                );
                let node = event.node.as_ref().map_or("run", name);
                assert!(!means.starts_with(&format!("{node}: ")), "{file}: {event:?}: {means}");
            }
        }
    }

    /// The histories that the core's tests hold on to.
    fn golden() -> Vec<(String, Vec<EventReply>)> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/tests/golden");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let read = files.map(|file| {
            let golden: serde_json::Value =
                serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
            let events = golden["events"].as_array().unwrap().iter();
            let events = events.map(|event| serde_json::from_value::<Event>(event.clone()).unwrap());
            (file.display().to_string(), events.map(|event| EventReply::from(&event)).collect())
        });
        read.collect()
    }
}
