//! The rules that need only the events.

use std::collections::BTreeMap;

use super::{HistoryRule, RuleViolation};
use crate::event::{
    CallRole, DueCall, Event, EventCause, EventKind, ExternalCause, FailureVerdict, ImportedStatus,
    LostReason, ResultPart, ResultParts,
};
use crate::failure::FailureRecord;
use crate::ids::{Seq, Time};
use crate::machine::INTERRUPTIONS_MAX;
use crate::path::Path;
use crate::plan::TRIGGER_DEPTH_MAX;

pub(super) fn check(events: &[Event], violations: &mut Vec<RuleViolation>) {
    let mut history = HistoryChecker { events, at: Time(i64::MIN), ..HistoryChecker::empty(violations) };
    for (event, seq) in events.iter().zip(1..) {
        history.position(event, Seq(seq));
        history.check_event(event);
    }
}

/// What a node has been through so far.
#[derive(Default)]
struct SeenNode {
    call: Option<SeenCall>,
    calls: u32,
    /// What the next call must be, after a retry, a loss or a block.
    due: Option<DueCall>,
    retry_at: Option<Time>,
    sleeps_until: Option<Time>,
    /// Until a moment of the wall clock, which stays where it is when the clock is set back.
    sleeps_absolutely: bool,
    awaits: bool,
    started: bool,
    held: bool,
    blocked: bool,
    interruptions: u32,
    outcome: Option<SeenOutcome>,
    handler: SeenHandler,
    mapped: bool,
    undone: bool,
}

struct SeenCall {
    number: u32,
    role: CallRole,
    attempt: u32,
    deadline: Option<Time>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SeenOutcome {
    Good,
    Failed,
    Cancelled,
}

/// Where the handler of a node stands.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum SeenHandler {
    #[default]
    None,
    Due,
    Done,
}

impl SeenNode {
    fn is_open(&self) -> bool {
        let handler_due =
            self.handler == SeenHandler::Due && (self.call.is_some() || self.held || self.blocked);
        let begun = self.call.is_some()
            || self.due.is_some()
            || self.started
            || self.mapped
            || self.sleeps_until.is_some()
            || self.awaits
            || self.held
            || self.blocked;
        handler_due || (begun && self.outcome.is_none())
    }
}

struct HistoryChecker<'a> {
    events: &'a [Event],
    violations: &'a mut Vec<RuleViolation>,
    at: Time,
    nodes: BTreeMap<Path, SeenNode>,
    deadline: Option<Time>,
    paused: bool,
    ending: Option<SeenEnding<'a>>,
    /// Blocks that fail and lanes that lost, with the time at which their calls are left behind.
    scopes: BTreeMap<Path, Option<Time>>,
    killed: bool,
    /// Something other than the start and the imports has happened.
    begun: bool,
    ended: bool,
}

enum SeenEnding<'a> {
    Cancelling { force_at: Time },
    Failing { failure: &'a FailureRecord, force_at: Time },
}

impl<'a> HistoryChecker<'a> {
    fn empty(violations: &'a mut Vec<RuleViolation>) -> Self {
        Self {
            events: &[],
            violations,
            at: Time::default(),
            nodes: BTreeMap::new(),
            deadline: None,
            paused: false,
            ending: None,
            scopes: BTreeMap::new(),
            killed: false,
            begun: false,
            ended: false,
        }
    }

    fn require(&mut self, holds: bool, seq: Seq, rule: HistoryRule, message: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(RuleViolation { seq, rule, message: message() });
        }
    }

    /// Whatever is a length of time from when it was begun is as far away as before.
    fn set_clock_back(&mut self, by_ms: u64) {
        let back = |time: &mut Option<Time>| *time = time.map(|time| time.minus_ms(by_ms));
        back(&mut self.deadline);
        for node in self.nodes.values_mut() {
            back(&mut node.retry_at);
            if !node.sleeps_absolutely {
                back(&mut node.sleeps_until);
            }
            if let Some(call) = &mut node.call {
                back(&mut call.deadline);
            }
        }
        self.scopes.values_mut().for_each(back);
        if let Some(SeenEnding::Cancelling { force_at } | SeenEnding::Failing { force_at, .. }) =
            &mut self.ending
        {
            *force_at = force_at.minus_ms(by_ms);
        }
    }

    fn position(&mut self, event: &Event, expected: Seq) {
        let seq = event.seq;
        self.require(seq == expected, seq, HistoryRule::Sequence, || {
            format!("it should have number {expected}")
        });
        let before = self.at;
        if let EventKind::ClockSetBack { by_ms } = event.kind {
            let fits = by_ms > 0 && event.at.plus_ms(by_ms) == before;
            self.require(fits, seq, HistoryRule::Sequence, || {
                "the clock is set back by another length".into()
            });
            self.set_clock_back(by_ms);
            self.at = event.at;
        } else {
            self.require(event.at >= before, seq, HistoryRule::Sequence, || "time goes backwards".into());
            self.at = before.max(event.at);
        }
        if let EventCause::Event(cause) = event.cause {
            let earlier = Seq::ZERO < cause && cause < seq;
            self.require(earlier, seq, HistoryRule::Sequence, || {
                format!("its cause, {cause}, is not before it")
            });
        }
        let first = expected == Seq(1);
        let starts = matches!(event.kind, EventKind::RunStarted { .. });
        self.require(first == starts, seq, HistoryRule::Ends, || {
            "a run starts with its first event, once".into()
        });
        let after_end = self.ended;
        self.require(!after_end, seq, HistoryRule::Ends, || "it comes after the run's end".into());
        let import = matches!(
            event.kind,
            EventKind::NodeImported { .. }
                | EventKind::DecisionImported { .. }
                | EventKind::LaneImported { .. }
        );
        self.begun |= !import && !matches!(event.kind, EventKind::RunStarted { .. });
    }

    fn check_event(&mut self, event: &'a Event) {
        let seq = event.seq;
        let by_clock = event.cause == EventCause::Outside(ExternalCause::Clock);
        match &event.kind {
            EventKind::RunStarted { deadline, trigger, .. } => {
                self.deadline = *deadline;
                let depth = trigger.as_ref().map_or(1, |trigger| trigger.depth);
                let fits = (1..=TRIGGER_DEPTH_MAX).contains(&depth);
                self.require(fits, seq, HistoryRule::Settings, || {
                    format!("it is run {depth} in a chain of triggers, which may have {TRIGGER_DEPTH_MAX}")
                });
            }
            EventKind::NodeImported { node, status, .. } => {
                let early = !self.begun;
                self.require(early, seq, HistoryRule::Ends, || "imports follow the start of the run".into());
                let outcome = match status {
                    ImportedStatus::Completed | ImportedStatus::Skipped => SeenOutcome::Good,
                    ImportedStatus::Failed => SeenOutcome::Failed,
                };
                self.end(node, outcome, seq);
            }
            EventKind::DecisionImported { .. } | EventKind::LaneImported { .. } => {
                let early = !self.begun;
                self.require(early, seq, HistoryRule::Ends, || "imports follow the start of the run".into());
            }
            EventKind::CallStarted { node, call, role, attempt, deadline, .. } => {
                let open = SeenCall { number: *call, role: *role, attempt: *attempt, deadline: *deadline };
                self.call_started(node, open, event);
            }
            EventKind::CallSucceeded { node, call, .. } => {
                let Some(open) = self.close(node, *call, seq) else { return };
                self.node(node).interruptions = 0;
                match open.role {
                    CallRole::Step => self.end(node, SeenOutcome::Good, seq),
                    CallRole::OnError => self.node(node).handler = SeenHandler::Done,
                    CallRole::Compensate => self.node(node).undone = true,
                    CallRole::Input
                    | CallRole::Wait
                    | CallRole::Choose
                    | CallRole::Test
                    | CallRole::Items
                    | CallRole::Finally => {
                        self.node(node).mapped = true;
                    }
                }
            }
            EventKind::CallFailed { node, call, verdict, .. } => {
                let Some(open) = self.close(node, *call, seq) else { return };
                self.node(node).interruptions = 0;
                if by_clock {
                    let late = open.deadline.is_some_and(|deadline| deadline <= event.at);
                    self.require(late, seq, HistoryRule::Timers, || {
                        "the call times out before its deadline".into()
                    });
                }
                self.call_failed(node, &open, *verdict, seq);
            }
            EventKind::CallLost { node, call, reason } => {
                let Some(open) = self.close(node, *call, seq) else { return };
                let state = self.node(node);
                state.due = Some(DueCall { role: open.role, attempt: open.attempt });
                state.held = true;
                match reason {
                    LostReason::Crash => state.interruptions += 1,
                    LostReason::Shutdown | LostReason::Bystander => {}
                }
            }
            EventKind::CallCancelled { node, call, forced, .. } => {
                let Some(open) = self.close(node, *call, seq) else { return };
                self.stopped(node, seq, "a call is cancelled");
                if *forced {
                    self.forced(node, event);
                }
                match open.role {
                    CallRole::OnError => self.node(node).handler = SeenHandler::Done,
                    CallRole::Compensate => {
                        let killed = self.killed;
                        self.require(killed, seq, HistoryRule::Ending, || {
                            "a compensation is cancelled".into()
                        });
                    }
                    _ => self.end(node, SeenOutcome::Cancelled, seq),
                }
            }
            EventKind::LaneEnded { lane, result, .. } => {
                self.holds_value(*result, seq);
                self.scopes.remove(lane);
            }
            EventKind::BlockFailing { node, child, .. } => {
                self.has_failed(child, seq);
                self.scopes.insert(node.clone(), None);
            }
            EventKind::LaneStopping { lane, force_at, .. } => {
                self.scopes.insert(lane.clone(), Some(*force_at));
            }
            EventKind::Joined { parts, .. } => self.parts_hold_values(parts, seq),
            EventKind::NodeStarted { node, .. } => {
                let again = self.node(node).started;
                self.require(!again, seq, HistoryRule::Outcomes, || format!("{} starts again", name(node)));
                // Also while the run is paused: what is inside of it is held.
                let ending = self.ending.is_some() || self.in_scope(node);
                self.require(!ending, seq, HistoryRule::Ending, || {
                    "a block starts although all is ending".into()
                });
                let state = self.node(node);
                state.started = true;
                state.held = false;
            }
            EventKind::NodeCompleted { node, result } => {
                self.supervised(node, seq);
                self.holds_value(*result, seq);
                self.end(node, SeenOutcome::Good, seq);
            }
            EventKind::NodeFailed { node, child, .. } => {
                self.scopes.remove(node);
                child.parent().and_then(|lane| self.scopes.remove(&lane));
                self.supervised(node, seq);
                self.has_failed(child, seq);
                self.end(node, SeenOutcome::Failed, seq);
            }
            EventKind::NodeCancelled { node } => self.node_cancelled(node, seq),
            EventKind::NodeHeld { node, due } => {
                self.retry_is_due(node, event);
                let state = self.node(node);
                state.held = true;
                if due.is_some_and(|due| due.role == CallRole::OnError) {
                    state.handler = SeenHandler::Due;
                }
                if state.due.is_some() && state.due != *due {
                    let message = format!("{} is held with another call than the due one", name(node));
                    self.violations.push(RuleViolation { seq, rule: HistoryRule::Attempts, message });
                } else {
                    state.due = *due;
                }
            }
            EventKind::NodeBlocked { node, .. } => {
                let state = self.node(node);
                if let Some(open) = state.call.take() {
                    state.due = Some(DueCall { role: open.role, attempt: open.attempt });
                }
                state.held = false;
                state.blocked = true;
                let callable = state.due.is_some();
                self.require(callable, seq, HistoryRule::Calls, || {
                    format!("{} blocks without a call", name(node))
                });
            }
            EventKind::NodeUnblocked { node } => {
                let state = self.node(node);
                state.interruptions = 0;
                let was = std::mem::take(&mut state.blocked);
                state.held = true;
                self.require(was, seq, HistoryRule::Outcomes, || format!("{} was not blocked", name(node)));
            }
            EventKind::SleepStarted { node, until, absolute } => {
                let state = self.node(node);
                state.sleeps_absolutely = *absolute;
                let again = state.sleeps_until.is_some() || state.outcome.is_some() || state.call.is_some();
                state.sleeps_until = Some(*until);
                state.held = false;
                self.require(!again, seq, HistoryRule::Timers, || format!("{} sleeps again", name(node)));
                let ending = self.ending.is_some();
                self.require(!ending, seq, HistoryRule::Ending, || {
                    "a sleep starts although the run ends".into()
                });
            }
            EventKind::SleepEnded { node } => {
                let until = self.node(node).sleeps_until.take();
                let due = until.is_some_and(|until| until <= event.at);
                self.require(due, seq, HistoryRule::Timers, || {
                    format!("{} wakes up before its time", name(node))
                });
                self.end(node, SeenOutcome::Good, seq);
            }
            EventKind::SignalAwaited { node, .. } => {
                let state = self.node(node);
                let again = state.awaits || state.outcome.is_some() || state.call.is_some();
                state.awaits = true;
                state.held = false;
                self.require(!again, seq, HistoryRule::Signals, || format!("{} waits again", name(node)));
                self.starts(node, seq, "a wait for a signal starts");
            }
            EventKind::SignalTaken { node, op: None, .. } => {
                self.node(node).awaits = false;
                self.end(node, SeenOutcome::Good, seq);
            }
            EventKind::SignalTimedOut { node, op: None, failure } => {
                self.node(node).awaits = false;
                self.end(node, if failure.is_some() { SeenOutcome::Failed } else { SeenOutcome::Good }, seq);
            }
            EventKind::CallSuspended { node, call, .. } => {
                let Some(open) = self.close(node, *call, seq) else { return };
                self.node(node).due = Some(DueCall { role: open.role, attempt: open.attempt });
            }
            // Judged in `durable`.
            EventKind::SignalReceived { .. }
            | EventKind::SignalTaken { .. }
            | EventKind::SignalTimedOut { .. }
            | EventKind::OpStarted { .. }
            | EventKind::OpEnded { .. }
            | EventKind::OpDropped { .. }
            | EventKind::OpStopping { .. }
            | EventKind::ChildStarted { .. }
            | EventKind::ChildRetried { .. }
            | EventKind::ChildEnded { .. }
            | EventKind::ChildUndoing { .. }
            | EventKind::ChildUndone { .. } => {}
            EventKind::CancelRequested { force_at, kill, .. } => {
                if !kill {
                    self.ends_once(seq);
                }
                self.killed |= kill;
                self.paused = false;
                match &mut self.ending {
                    Some(
                        SeenEnding::Cancelling { force_at: at } | SeenEnding::Failing { force_at: at, .. },
                    ) => {
                        *at = *force_at;
                    }
                    None => self.ending = Some(SeenEnding::Cancelling { force_at: *force_at }),
                }
            }
            EventKind::ClockSetBack { .. } => {}
            EventKind::RunPaused {} => {
                let fits = !self.paused && self.ending.is_none();
                self.require(fits, seq, HistoryRule::Holding, || {
                    "the run is paused or ending already".into()
                });
                self.paused = true;
            }
            EventKind::RunResumed {} => {
                let fits = self.paused || self.nodes.values().any(|node| node.blocked);
                self.require(fits, seq, HistoryRule::Holding, || {
                    "the run was neither paused nor blocked".into()
                });
                self.paused = false;
            }
            EventKind::RunFailing { failure, node, force_at } => {
                self.ends_once(seq);
                if by_clock {
                    let late = self.deadline.is_some_and(|deadline| deadline <= event.at);
                    self.require(late, seq, HistoryRule::Timers, || {
                        "the run times out before its deadline".into()
                    });
                }
                if let Some(node) = node {
                    self.has_failed(node, seq);
                }
                self.ending = Some(SeenEnding::Failing { failure, force_at: *force_at });
            }
            EventKind::RunCompleted { output, .. } => {
                let plain = self.ending.is_none();
                self.require(plain, seq, HistoryRule::Ending, || "a run that was ending completes".into());
                self.holds_value(*output, seq);
                self.run_ended(seq);
            }
            EventKind::RunFailed { failure, node, .. } => {
                let fits = match &self.ending {
                    None => true,
                    Some(SeenEnding::Failing { failure: before, .. }) => *before == failure,
                    Some(SeenEnding::Cancelling { .. }) => false,
                };
                self.require(fits, seq, HistoryRule::Ending, || {
                    "the run fails in another way than it was to".into()
                });
                if let Some(node) = node {
                    self.has_failed(node, seq);
                }
                self.run_ended(seq);
            }
            EventKind::RunCancelled { .. } => {
                let asked = matches!(self.ending, Some(SeenEnding::Cancelling { .. }));
                self.require(asked, seq, HistoryRule::Ending, || "nobody asked to cancel the run".into());
                self.run_ended(seq);
            }
        }
    }

    fn node(&mut self, node: &Path) -> &mut SeenNode {
        self.nodes.entry(node.clone()).or_default()
    }

    fn call_started(&mut self, node: &Path, open: SeenCall, event: &Event) {
        let seq = event.seq;
        self.retry_is_due(node, event);
        let state = self.node(node);
        let next = state.calls + 1;
        let busy = state.call.is_some() || state.sleeps_until.is_some() || state.blocked;
        let due = state.due.take();
        let (outcome, handler, spent) = (state.outcome, state.handler, state.interruptions);
        let undone = state.undone;
        state.held = false;
        state.calls = open.number;
        let (number, role, attempt) = (open.number, open.role, open.attempt);
        if role == CallRole::OnError {
            state.handler = SeenHandler::Due;
        }
        state.call = Some(open);
        let who = name(node);
        self.require(number == next, seq, HistoryRule::Calls, || format!("{who} should make call {next}"));
        self.require(!busy, seq, HistoryRule::Calls, || format!("{who} is called while it is busy"));
        let expected = due.unwrap_or(DueCall { role, attempt: 1 });
        let fits = expected == DueCall { role, attempt };
        self.require(fits, seq, HistoryRule::Attempts, || {
            format!("{who} should make attempt {}", expected.attempt)
        });
        let fits = match role {
            CallRole::Compensate => outcome.is_some() && !undone,
            CallRole::Step
            | CallRole::Input
            | CallRole::Wait
            | CallRole::Choose
            | CallRole::Test
            | CallRole::Items
            | CallRole::Finally => outcome.is_none(),
            CallRole::OnError if node.is_root() => handler != SeenHandler::Done,
            CallRole::OnError => outcome == Some(SeenOutcome::Failed) && handler != SeenHandler::Done,
        };
        self.require(fits, seq, HistoryRule::Outcomes, || {
            format!("{who} is called after it ended, or handled twice")
        });
        let within = spent < INTERRUPTIONS_MAX;
        self.require(within, seq, HistoryRule::Interruptions, || {
            format!("{who} was cut short {spent} times")
        });
        if node.is_root() {
            let failing = matches!(self.ending, Some(SeenEnding::Failing { .. }));
            self.require(failing, seq, HistoryRule::Ending, || {
                "the run's handler is called too early".into()
            });
            let open = self.open_nodes(true);
            self.require(open.is_empty(), seq, HistoryRule::Ending, || {
                format!("{open} did not settle first")
            });
            let paused = self.paused;
            self.require(!paused, seq, HistoryRule::Holding, || {
                "a call starts while the run is paused".into()
            });
        } else if role == CallRole::Compensate {
            let ending = self.ending.is_some() || self.in_scope(node);
            self.require(ending, seq, HistoryRule::Ending, || {
                format!("{who} is undone although nothing ends")
            });
        } else {
            self.starts(node, seq, "a call starts");
        }
    }

    /// Whether a node is inside of a block that fails or a lane that lost.
    fn in_scope(&self, node: &Path) -> bool {
        self.scopes.keys().any(|scope| node.is_within(scope))
    }

    /// Something new starts.
    fn starts(&mut self, node: &Path, seq: Seq, what: &str) {
        let (paused, ending) = (self.paused, self.ending.is_some() || self.in_scope(node));
        self.require(!paused, seq, HistoryRule::Holding, || format!("{what} while the run is paused"));
        self.require(!ending, seq, HistoryRule::Ending, || format!("{what} although the run is ending"));
    }

    /// Something is stopped, which happens only inside of what is ending.
    fn stopped(&mut self, node: &Path, seq: Seq, what: &str) {
        let ending = self.ending.is_some() || self.in_scope(node);
        self.require(ending, seq, HistoryRule::Ending, || format!("{what} although the run is not ending"));
    }

    fn forced(&mut self, node: &Path, event: &Event) {
        // Of lanes that lost inside of each other, the first to be over leaves it behind.
        let around = || self.scopes.iter().filter(|(scope, _)| node.is_within(scope));
        let lane = || around().filter_map(|(_, at)| *at).min();
        let force_at = match &self.ending {
            Some(SeenEnding::Cancelling { force_at } | SeenEnding::Failing { force_at, .. }) => {
                Some(*force_at)
            }
            None => lane(),
        };
        let Some(force_at) = force_at else { return };
        let late = event.at >= force_at;
        self.require(late, event.seq, HistoryRule::Timers, || {
            "the call is left behind before its time".into()
        });
    }

    /// The open call, which must be the one that the event names.
    fn close(&mut self, node: &Path, call: u32, seq: Seq) -> Option<SeenCall> {
        let open = self.node(node).call.take().filter(|open| open.number == call);
        self.require(open.is_some(), seq, HistoryRule::Calls, || {
            format!("{}#{call} ends but was not at work", name(node))
        });
        open
    }

    fn call_failed(&mut self, node: &Path, open: &SeenCall, verdict: FailureVerdict, seq: Seq) {
        match (open.role, verdict) {
            (CallRole::OnError, _) => self.node(node).handler = SeenHandler::Done,
            (CallRole::Compensate, FailureVerdict::RetryAt(at)) => {
                let state = self.node(node);
                state.due = Some(DueCall { role: open.role, attempt: open.attempt + 1 });
                state.retry_at = Some(at);
            }
            (CallRole::Compensate, _) => self.node(node).undone = true,
            (_, FailureVerdict::RetryAt(at)) => {
                let ending = self.ending.is_some() || self.in_scope(node);
                self.require(!ending, seq, HistoryRule::Ending, || {
                    "a retry is planned although the run ends".into()
                });
                let state = self.node(node);
                state.due = Some(DueCall { role: open.role, attempt: open.attempt + 1 });
                state.retry_at = Some(at);
            }
            (_, FailureVerdict::Fail | FailureVerdict::Continue) => {
                self.end(node, SeenOutcome::Failed, seq);
            }
        }
    }

    fn retry_is_due(&mut self, node: &Path, event: &Event) {
        let retry_at = self.node(node).retry_at.take();
        let due = retry_at.is_none_or(|at| at <= event.at);
        self.require(due, event.seq, HistoryRule::Timers, || {
            format!("{} is tried again too early", name(node))
        });
    }

    fn node_cancelled(&mut self, node: &Path, seq: Seq) {
        self.stopped(node, seq, "a node is cancelled");
        let state = self.node(node);
        let at_work = state.call.is_some();
        // A handler that was due when the run began to end is dropped; its node has ended before.
        let handler = state.handler == SeenHandler::Due && (state.held || state.blocked);
        // So is a compensation that waited for its next attempt, or was held, when the run was killed.
        let undo = state.due.is_some_and(|due| due.role == CallRole::Compensate);
        state.held = false;
        state.blocked = false;
        state.sleeps_until = None;
        state.awaits = false;
        state.retry_at = None;
        state.due = None;
        self.require(!at_work, seq, HistoryRule::Calls, || format!("{} has a call at work", name(node)));
        if handler {
            self.node(node).handler = SeenHandler::Done;
        } else if undo {
            let killed = self.killed;
            self.require(killed, seq, HistoryRule::Ending, || "a compensation is cancelled".into());
        } else {
            self.end(node, SeenOutcome::Cancelled, seq);
        }
    }

    fn end(&mut self, node: &Path, outcome: SeenOutcome, seq: Seq) {
        let state = self.node(node);
        let again = state.outcome.is_some();
        state.outcome.get_or_insert(outcome);
        state.due = None;
        self.require(!again, seq, HistoryRule::Outcomes, || format!("{} ends twice", name(node)));
    }

    fn supervised(&mut self, node: &Path, seq: Seq) {
        let started = self.node(node).started;
        self.require(started, seq, HistoryRule::Outcomes, || {
            format!("{} ends but did not start", name(node))
        });
        let inside = format!("{node}/");
        let nodes = self.nodes.range(Path::new(inside.as_str())..);
        let mut nodes = nodes.take_while(|(path, _)| path.as_str().starts_with(&inside));
        // What lost settles by itself, also after its block has gone on.
        let lost = |path: &Path| self.scopes.keys().any(|scope| path.is_within(scope));
        let open = nodes
            .find(|(path, node)| node.is_open() && !lost(path))
            .map(|(path, _)| name(path))
            .unwrap_or_default();
        self.require(open.is_empty(), seq, HistoryRule::Outcomes, || {
            format!("{open} inside it has not ended")
        });
    }

    fn has_failed(&mut self, node: &Path, seq: Seq) {
        let failed = self.node(node).outcome == Some(SeenOutcome::Failed);
        self.require(failed, seq, HistoryRule::References, || format!("{} has not failed", name(node)));
    }

    fn holds_value(&mut self, holder: Option<Seq>, seq: Seq) {
        let Some(holder) = holder else { return };
        let events = self.events;
        let holds =
            |event: &Event| event.kind.value().is_some() || matches!(event.kind, EventKind::Joined { .. });
        let held = holder < seq && events.get(index(holder)).is_some_and(holds);
        self.require(held, seq, HistoryRule::References, || format!("event {holder} holds no value"));
    }

    fn parts_hold_values(&mut self, parts: &ResultParts, seq: Seq) {
        let parts: Vec<ResultPart> = match parts {
            ResultParts::List(parts) => parts.clone(),
            ResultParts::Map(parts) => parts.iter().map(|(_, part)| *part).collect(),
        };
        for part in parts {
            match part {
                ResultPart::Absent => {}
                ResultPart::Value(holder) => self.holds_value(Some(holder), seq),
                ResultPart::Failure { failure } => {
                    let events = self.events;
                    let held = failure < seq
                        && events.get(index(failure)).is_some_and(|event| event.kind.failure().is_some());
                    self.require(held, seq, HistoryRule::References, || {
                        format!("event {failure} holds no failure")
                    });
                }
            }
        }
    }

    fn ends_once(&mut self, seq: Seq) {
        let ending = self.ending.is_some();
        self.require(!ending, seq, HistoryRule::Ending, || "the run is ending already".into());
    }

    fn run_ended(&mut self, seq: Seq) {
        self.ended = true;
        let open = self.open_nodes(false);
        self.require(open.is_empty(), seq, HistoryRule::Outcomes, || format!("{open} left open"));
    }

    /// The nodes that have begun and not ended. The run itself counts as open only through its handler;
    /// blocks around what ended are closed with the run.
    fn open_nodes(&self, blocks_may_be_open: bool) -> String {
        let open = self.nodes.iter().filter(|(path, node)| {
            let block = blocks_may_be_open && node.started;
            if path.is_root() { node.call.is_some() && !blocks_may_be_open } else { node.is_open() && !block }
        });
        open.map(|(path, _)| name(path)).collect::<Vec<_>>().join(", ")
    }
}

fn index(seq: Seq) -> usize {
    usize::try_from(seq.0).map_or(usize::MAX, |seq| seq.saturating_sub(1))
}

fn name(node: &Path) -> String {
    if node.is_root() { "the run".to_owned() } else { format!("`{node}`") }
}
