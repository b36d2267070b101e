//! A run as lines, one for each thing that happens: for pipes and files.

use std::collections::HashMap;

use rival::event::{BlockedReason, CallRole, EventKind, FailureVerdict, LaneOutcome, LostReason};
use rival::failure::FailureRecord;
use rival::{Path, Time};
use rival_core::durable::{ChildOutcome, OpBody};
use rival_core::plan::is_unnamed;

use crate::out::clean;
use crate::text::length;

/// Tells what happens in a run, event by event.
#[derive(Debug, Default)]
pub(crate) struct EventNarrator {
    /// What the function does that is being called for a node.
    roles: HashMap<Path, CallRole>,
}

impl EventNarrator {
    /// Says what an event means; `None` for those that people need not see.
    pub(crate) fn tell(&mut self, kind: &EventKind, at: Time) -> Option<String> {
        let text =
            self.call(kind, at).or_else(|| wait(kind, at)).or_else(|| block(kind)).or_else(|| run(kind))?;
        Some(clean(&text))
    }

    fn call(&mut self, kind: &EventKind, at: Time) -> Option<String> {
        match kind {
            EventKind::CallStarted { node, call, attempt, role, .. } => {
                self.roles.insert(node.clone(), *role);
                began(node, *role, *call, *attempt)
            }
            EventKind::CallSucceeded { node, state, skipped, .. } => match self.role(node) {
                CallRole::Step if *skipped => Some(format!("{node}: skipped")),
                CallRole::Step => Some(format!("{node}: completed{}", description(state.as_ref()))),
                CallRole::Compensate => Some(format!("{node}: undone")),
                _ => None,
            },
            EventKind::CallFailed { node, failure, verdict, .. } => {
                let what = match self.role(node) {
                    CallRole::Compensate => "could not be undone",
                    _ => "failed",
                };
                let next = match verdict {
                    FailureVerdict::RetryAt(next) => {
                        format!("; trying again in {}", length(next.ms_since(at)))
                    }
                    FailureVerdict::Continue => "; the run goes on without it".to_owned(),
                    FailureVerdict::Fail => String::new(),
                };
                Some(format!("{}: {what}, {failure}{next}", name(node)))
            }
            EventKind::CallLost { node, reason: LostReason::Crash, .. } => {
                Some(format!("{}: was cut short by a crash and is called again", name(node)))
            }
            EventKind::CallLost { node, reason: LostReason::Shutdown, .. } => {
                Some(format!("{}: let go, and called again at the next start", name(node)))
            }
            EventKind::CallLost { node, reason: LostReason::Bystander, .. } => {
                Some(format!("{}: was cut short because of another call and is called again", name(node)))
            }
            EventKind::CallCancelled { node, forced: false, .. } => Some(format!("{}: stopped", name(node))),
            EventKind::CallCancelled { node, forced: true, .. } => {
                Some(format!("{}: did not stop in time and was left behind", name(node)))
            }
            _ => None,
        }
    }

    fn role(&self, node: &Path) -> CallRole {
        self.roles.get(node).copied().unwrap_or_default()
    }
}

fn began(node: &Path, role: CallRole, call: u32, attempt: u32) -> Option<String> {
    let again = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
    match role {
        CallRole::Step if call > 1 => Some(format!("{node}: started, attempt {attempt} (call {call})")),
        CallRole::Step => Some(format!("{node}: started")),
        CallRole::Compensate => Some(format!("{node}: being undone{again}")),
        CallRole::OnError => Some(format!("{}: its error handler is called", name(node))),
        _ => None,
    }
}

fn description(state: Option<&rival::Value>) -> String {
    let state = state.map(rival::Value::to_json).unwrap_or_default();
    state["description"].as_str().map_or_else(String::new, |description| format!(", {description}"))
}

/// The root stands for the run itself.
fn name(node: &Path) -> &str {
    if node.is_root() { "run" } else { node.as_str() }
}

fn wait(kind: &EventKind, at: Time) -> Option<String> {
    Some(match kind {
        EventKind::SleepStarted { node, until, .. } => {
            format!("{node}: asleep for {}", length(until.ms_since(at)))
        }
        EventKind::SleepEnded { node } => format!("{node}: awake"),
        EventKind::SignalReceived { name, .. } => format!("run: the signal `{name}` came"),
        EventKind::SignalAwaited { node, name, until } => {
            format!("{node}: waits for the signal `{name}`{}", at_most(*until, at))
        }
        EventKind::SignalTaken { node, .. } => format!("{node}: took the signal"),
        EventKind::SignalTimedOut { node, failure: Some(failure), .. } => {
            format!("{node}: failed, {failure}")
        }
        EventKind::SignalTimedOut { node, failure: None, .. } => format!("{node}: no signal came in time"),
        EventKind::OpStarted { node, name, what, .. } => match what {
            OpBody::Once {} => return None,
            OpBody::Sleep { until } => format!("{node}: asleep for {}", length(until.ms_since(at))),
            OpBody::Signal { until, .. } => {
                format!("{node}: waits for the signal `{name}`{}", at_most(*until, at))
            }
            OpBody::Run { .. } => format!("{node}: starts a run of `{name}`"),
            OpBody::Map { items, .. } => format!("{node}: starts {} runs of `{name}`", items.len()),
        },
        EventKind::ChildStarted { node, child, .. } => format!("{node}: started child {child}"),
        EventKind::ChildRetried { node, next, .. } => {
            format!("{node}: a child failed, and goes on as {next}")
        }
        EventKind::ChildEnded { node, child, outcome, .. } => match outcome {
            ChildOutcome::Completed(_) => format!("{node}: child {child} completed"),
            ChildOutcome::Failed { .. } => format!("{node}: child {child} failed"),
            ChildOutcome::Cancelled { .. } => format!("{node}: child {child} was cancelled"),
        },
        _ => return None,
    })
}

fn at_most(until: Option<Time>, at: Time) -> String {
    until.map_or_else(String::new, |until| format!(", at most {}", length(until.ms_since(at))))
}

fn block(kind: &EventKind) -> Option<String> {
    Some(match kind {
        EventKind::NodeImported { node, .. } => format!("{node}: taken over from the run before"),
        EventKind::NodeStarted { node, case: Some(case), .. } => format!("{node}: takes `{case}`"),
        EventKind::NodeStarted { node, count: Some(count), .. } => format!("{node}: started, {count} in all"),
        EventKind::NodeStarted { node, .. } => format!("{node}: started"),
        EventKind::LaneEnded { lane, outcome: LaneOutcome::Completed, .. } => format!("{lane}: completed"),
        EventKind::LaneEnded { lane, outcome: LaneOutcome::Failed(_), .. } => format!("{lane}: failed"),
        EventKind::LaneEnded { lane, outcome: LaneOutcome::Cancelled, .. } => format!("{lane}: stopped"),
        EventKind::LaneStopping { lane, .. } => format!("{lane}: is stopped, others have won"),
        EventKind::NodeCompleted { node, .. } => format!("{node}: completed"),
        EventKind::NodeFailed { node, child, failure, .. } => {
            format!("{node}: failed{}", because(failure.as_ref(), child))
        }
        EventKind::NodeCancelled { node } => format!("{node}: stopped"),
        EventKind::NodeBlocked { node, reason } => format!("{node}: cannot go on, {}", blocked(reason)),
        EventKind::NodeUnblocked { node } => format!("{node}: is looked at again"),
        _ => return None,
    })
}

fn because(failure: Option<&FailureRecord>, child: &Path) -> String {
    failure.map_or_else(|| format!(" because of {child}"), |failure| format!(", {failure}"))
}

fn blocked(reason: &BlockedReason) -> String {
    match reason {
        BlockedReason::FunctionMissing { function } if is_unnamed(function) => {
            "it has no name of its own and is not in its workflow any more as it was".to_owned()
        }
        BlockedReason::FunctionMissing { function } => format!("there is no function `{function}` any more"),
        BlockedReason::Quarantined { interruptions } => {
            format!("the process died {interruptions} times while it ran")
        }
        BlockedReason::Undecodable { message } | BlockedReason::Nondeterminism { message } => message.clone(),
    }
}

fn run(kind: &EventKind) -> Option<String> {
    Some(match kind {
        EventKind::RunStarted { workflow, source: None, .. } => format!("run: started, workflow {workflow}"),
        EventKind::RunStarted { workflow, source: Some(source), .. } => {
            format!("run: started, workflow {workflow}, goes on from {source}")
        }
        EventKind::RunPaused {} => "run: paused".to_owned(),
        EventKind::RunResumed {} => "run: resumed".to_owned(),
        EventKind::ClockSetBack { by_ms } => format!("run: the clock was set back by {}", length(*by_ms)),
        EventKind::CancelRequested { .. } => "run: is being cancelled".to_owned(),
        EventKind::RunFailing { failure, .. } => format!("run: is failing, {failure}"),
        EventKind::RunCompleted { .. } => "run: completed".to_owned(),
        EventKind::RunFailed { failure, .. } => format!("run: failed, {failure}"),
        EventKind::RunCancelled { .. } => "run: cancelled".to_owned(),
        _ => return None,
    })
}
