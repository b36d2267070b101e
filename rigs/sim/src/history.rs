//! What a history says, told in the words of the model.

use std::collections::{BTreeMap, BTreeSet};

use rival_core::event::{CallRole, EventCause, EventKind, ExternalCause, FailureVerdict};
use rival_core::{Event, NodeStatus, Path, RunStatus, Time};
use rival_engine::RunOutcome;

use crate::lab::BEGAN;
use crate::model::{CutCall, CutCalls, CutFate};
use crate::ops::CHILD;
use crate::script::{CallKey, ScriptPart, plainly};
use crate::summary::{NodeSummary, TrialSummary};

/// What a run came to, by its history and by what the engine says of it.
pub fn summary(events: &[Event], outcome: Option<&RunOutcome>) -> TrialSummary {
    let mut summary = HistoryWalk::new(events).read_all(events).summary;
    if let Some(outcome) = outcome {
        summary.status = Some(outcome.status);
        summary.output = outcome.output.as_ref().map(|output| plainly(output.to_json()));
        summary.failed = outcome.error.as_ref().map(|error| {
            (error.code.clone(), outcome.failed_step.as_ref().map(|step| step.path.to_string()))
        });
        for (name, left) in &outcome.results {
            let result = left.result.as_ref().map(|result| plainly(result.to_json()));
            if let Some(result) = result.filter(|result| !result.is_null()) {
                summary.results.insert(name.clone(), result);
            }
        }
    }
    summary
}

/// The calls that were cut short: by crashes, or because they lost what ran them.
pub fn cuts(events: &[Event], lost: LostCalls) -> CutCalls {
    HistoryWalk { lost_calls: lost, ..HistoryWalk::new(events) }.read_all(events).cuts
}

/// Calls that lost what ran them: node, number, and when. A call that its run no longer waits for is not cut short.
pub type LostCalls = BTreeSet<(String, u32, Time)>;

/// What a child was given; `None` for a run that is none.
pub fn given(events: &[Event]) -> Option<String> {
    let EventKind::RunStarted { workflow, input, .. } = &events.first()?.kind else { return None };
    if workflow == CHILD { input.decode().ok() } else { None }
}

#[derive(Default)]
struct HistoryWalk {
    /// What the keys of its calls begin with.
    salt: String,
    now: u64,
    summary: TrialSummary,
    cuts: CutCalls,
    /// The call that is, or was last, at work.
    current: BTreeMap<String, CallKey>,
    /// How many iterations of a loop are done.
    turns: BTreeMap<String, u32>,
    /// When nodes ended.
    ended: BTreeMap<String, u64>,
    /// Calls that lost what ran them.
    lost_calls: LostCalls,
    /// Lanes that lost.
    lost: Vec<Path>,
    /// Charged attempts of steps.
    attempts: BTreeMap<String, u32>,
}

impl HistoryWalk {
    fn new(events: &[Event]) -> Self {
        let salt = given(events).map(|given| format!("{given}:")).unwrap_or_default();
        Self { salt, ..Self::default() }
    }

    fn read_all(mut self, events: &[Event]) -> Self {
        events.iter().for_each(|event| self.read(event));
        self
    }

    fn read(&mut self, event: &Event) {
        self.now = event.at.ms_since(BEGAN);
        let recovery =
            matches!(event.cause, EventCause::Outside(ExternalCause::Recovery | ExternalCause::Shutdown));
        let lost =
            |node: &Path, call: u32| self.lost_calls.contains(&(node.as_str().to_owned(), call, event.at));
        let cut = |node: &Path, call: u32| recovery || lost(node, call);
        match &event.kind {
            EventKind::CallStarted { node, role, attempt, .. } => {
                let key = self.key(node.as_str(), *role, *attempt);
                if key.part == ScriptPart::Step {
                    self.attempts.insert(node.to_string(), *attempt);
                }
                let again = |call: &CallKey| (call.part, &call.node) == (ScriptPart::Undo, &key.node);
                if key.part == ScriptPart::Undo && !self.summary.calls.iter().any(again) {
                    let ended = self.ended.get(node.as_str()).copied().unwrap_or(0);
                    let lanes = self.lost.iter().filter(|lane| node.is_within(lane));
                    let lane = lanes.max_by_key(|lane| lane.as_str().len()).map(ToString::to_string);
                    self.summary
                        .undone
                        .entry(lane.unwrap_or_default())
                        .or_default()
                        .push((ended, node.to_string()));
                }
                self.summary.calls.insert(key.clone());
                self.current.insert(node.to_string(), key);
            }
            EventKind::CallSucceeded { node, result, skipped, .. }
                if self.part(node.as_str()) == Some(ScriptPart::Step) =>
            {
                let status = if *skipped { NodeStatus::Skipped } else { NodeStatus::Completed };
                self.ended(node.as_str(), status, Some(result.to_json()));
            }
            EventKind::CallFailed { node, call, verdict, .. } => {
                if cut(node, *call) {
                    self.cut(node.as_str(), event, CutFate::Interrupted);
                }
                let handled =
                    matches!(self.part(node.as_str()), Some(ScriptPart::Handler | ScriptPart::Undo));
                if !handled && !matches!(verdict, FailureVerdict::RetryAt(_)) {
                    self.ended(node.as_str(), NodeStatus::Failed, None);
                }
            }
            EventKind::CallLost { node, .. } => {
                self.cut(node.as_str(), event, CutFate::Again);
            }
            EventKind::RunCompleted { .. } => self.summary.status = Some(RunStatus::Completed),
            EventKind::RunFailed { .. } => self.summary.status = Some(RunStatus::Failed),
            EventKind::RunCancelled { .. } => self.summary.status = Some(RunStatus::Cancelled),
            EventKind::NodeHeld { node, .. } => self.held(node.as_str(), event),
            EventKind::CallCancelled { node, call, .. } => {
                if cut(node, *call) {
                    self.cut(node.as_str(), event, CutFate::Cancelled);
                }
                if !matches!(self.part(node.as_str()), Some(ScriptPart::Handler | ScriptPart::Undo)) {
                    self.ended(node.as_str(), NodeStatus::Cancelled, None);
                }
            }
            EventKind::SignalTimedOut { node, op: None, failure: Some(_) } => {
                self.ended(node.as_str(), NodeStatus::Failed, None);
            }
            EventKind::NodeCompleted { node, .. }
            | EventKind::SleepEnded { node }
            | EventKind::SignalTaken { node, op: None, .. }
            | EventKind::SignalTimedOut { node, op: None, .. } => {
                self.ended(node.as_str(), NodeStatus::Completed, None);
            }
            EventKind::LaneStopping { lane, .. } => self.lost.push(lane.clone()),
            EventKind::LaneEnded { lane, .. } => {
                if let Some((supervisor, _)) = lane.as_iteration() {
                    *self.turns.entry(supervisor.to_string()).or_default() += 1;
                }
            }
            EventKind::NodeFailed { node, .. } => self.ended(node.as_str(), NodeStatus::Failed, None),
            // A handler that was still due is dropped so, and its node has ended before.
            EventKind::NodeCancelled { node } if !self.has_ended(node.as_str()) => {
                self.ended(node.as_str(), NodeStatus::Cancelled, None);
            }
            EventKind::RunStarted { .. }
            | EventKind::NodeImported { .. }
            | EventKind::DecisionImported { .. }
            | EventKind::LaneImported { .. }
            | EventKind::CallSucceeded { .. }
            | EventKind::NodeStarted { .. }
            | EventKind::BlockFailing { .. }
            | EventKind::Joined { .. }
            | EventKind::NodeCancelled { .. }
            | EventKind::NodeBlocked { .. }
            | EventKind::NodeUnblocked { .. }
            | EventKind::SleepStarted { .. }
            | EventKind::SignalReceived { .. }
            | EventKind::SignalAwaited { .. }
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
            | EventKind::ChildUndone { .. }
            | EventKind::CallSuspended { .. }
            | EventKind::CancelRequested { .. }
            | EventKind::RunPaused {}
            | EventKind::RunResumed {}
            | EventKind::ClockSetBack { .. }
            | EventKind::RunFailing { .. } => {}
        }
    }

    fn key(&self, node: &str, role: CallRole, attempt: u32) -> CallKey {
        let part = match role {
            CallRole::Step => ScriptPart::Step,
            CallRole::OnError => ScriptPart::Handler,
            CallRole::Input => ScriptPart::Input,
            CallRole::Wait => ScriptPart::Wait,
            CallRole::Choose => ScriptPart::Choose,
            CallRole::Test => ScriptPart::Test,
            CallRole::Items => ScriptPart::Items,
            CallRole::Finally => ScriptPart::Finally,
            CallRole::Compensate => ScriptPart::Undo,
        };
        let turn = if part == ScriptPart::Test { self.turns.get(node).copied().unwrap_or(0) } else { 0 };
        CallKey { node: format!("{}{node}", self.salt), part, turn, attempt }
    }

    fn part(&self, node: &str) -> Option<ScriptPart> {
        self.current.get(node).map(|key| key.part)
    }

    fn has_ended(&self, node: &str) -> bool {
        self.summary.nodes.contains_key(node)
    }

    fn ended(&mut self, node: &str, status: NodeStatus, result: Option<serde_json::Value>) {
        self.ended.insert(node.to_owned(), self.now);
        let attempts = self.attempts.get(node).copied().unwrap_or(0);
        self.summary.nodes.insert(node.to_owned(), NodeSummary { status, attempts, result });
    }

    /// A call that was just cut short waits for its turn.
    fn held(&mut self, node: &str, event: &Event) {
        let cuts = self.current.get(node).and_then(|key| self.cuts.get_mut(key));
        if let Some(cut) = cuts.and_then(|cuts| cuts.last_mut())
            && (cut.at, cut.fate) == (event.at.ms_since(BEGAN), CutFate::Again)
        {
            cut.fate = CutFate::Held;
        }
    }

    fn cut(&mut self, node: &str, event: &Event, fate: CutFate) {
        if let Some(key) = self.current.get(node) {
            let at = event.at.ms_since(BEGAN);
            self.cuts.entry(key.clone()).or_default().push(CutCall { at, fate });
        }
    }
}
