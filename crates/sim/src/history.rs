//! What a history says, told in the words of the model.

use std::collections::{BTreeMap, BTreeSet};

use rival_core::event::{Cause, Kind, Outside, Role, Verdict};
use rival_core::{Event, NodeStatus, Path, RunStatus, Time};
use rival_engine::RunOutcome;

use crate::lab::BEGAN;
use crate::model::{Cut, CutFate, Cuts};
use crate::ops::CHILD;
use crate::script::{CallKey, Part, plainly};
use crate::summary::{NodeSummary, Summary};

/// What a run came to, by its history and by what the engine says of it.
pub fn summary(events: &[Event], outcome: Option<&RunOutcome>) -> Summary {
    let mut summary = Reader::new(events).read_all(events).summary;
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
pub fn cuts(events: &[Event], lost: Lost) -> Cuts {
    Reader { lost_calls: lost, ..Reader::new(events) }.read_all(events).cuts
}

/// Calls that lost what ran them: node, number, and when. A call that its run no longer waits for is not cut short.
pub type Lost = BTreeSet<(String, u32, Time)>;

/// What a child was given; `None` for a run that is none.
pub fn given(events: &[Event]) -> Option<String> {
    match &events.first()?.event {
        Kind::RunStarted { workflow, input, .. } if workflow == CHILD => input.decode().ok(),
        _ => None,
    }
}

#[derive(Default)]
struct Reader {
    /// What the keys of its calls begin with.
    salt: String,
    now: u64,
    summary: Summary,
    cuts: Cuts,
    /// The call that is, or was last, at work.
    current: BTreeMap<String, CallKey>,
    /// How many iterations of a loop are done.
    turns: BTreeMap<String, u32>,
    /// When nodes ended.
    ended: BTreeMap<String, u64>,
    /// Calls that lost what ran them.
    lost_calls: Lost,
    /// Lanes that lost.
    lost: Vec<Path>,
    /// Charged attempts of steps.
    attempts: BTreeMap<String, u32>,
}

impl Reader {
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
        let recovery = matches!(event.cause, Cause::Outside(Outside::Recovery | Outside::Shutdown));
        let lost =
            |node: &Path, call: u32| self.lost_calls.contains(&(node.as_str().to_owned(), call, event.at));
        let cut = |node: &Path, call: u32| recovery || lost(node, call);
        match &event.event {
            Kind::CallStarted { node, role, attempt, .. } => {
                let key = self.key(node.as_str(), *role, *attempt);
                if key.part == Part::Step {
                    self.attempts.insert(node.to_string(), *attempt);
                }
                let again = |call: &CallKey| (call.part, &call.node) == (Part::Undo, &key.node);
                if key.part == Part::Undo && !self.summary.calls.iter().any(again) {
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
            Kind::CallSucceeded { node, result, skipped, .. }
                if self.part(node.as_str()) == Some(Part::Step) =>
            {
                let status = if *skipped { NodeStatus::Skipped } else { NodeStatus::Completed };
                self.ended(node.as_str(), status, Some(result.to_json()));
            }
            Kind::CallFailed { node, call, verdict, .. } => {
                if cut(node, *call) {
                    self.cut(node.as_str(), event, CutFate::Interrupted);
                }
                let handled = matches!(self.part(node.as_str()), Some(Part::Handler | Part::Undo));
                if !handled && !matches!(verdict, Verdict::RetryAt(_)) {
                    self.ended(node.as_str(), NodeStatus::Failed, None);
                }
            }
            Kind::CallLost { node, .. } => {
                self.cut(node.as_str(), event, CutFate::Again);
            }
            Kind::RunCompleted { .. } => self.summary.status = Some(RunStatus::Completed),
            Kind::RunFailed { .. } => self.summary.status = Some(RunStatus::Failed),
            Kind::RunCancelled { .. } => self.summary.status = Some(RunStatus::Cancelled),
            Kind::NodeHeld { node, .. } => self.held(node.as_str(), event),
            Kind::CallCancelled { node, call, .. } => {
                if cut(node, *call) {
                    self.cut(node.as_str(), event, CutFate::Cancelled);
                }
                if !matches!(self.part(node.as_str()), Some(Part::Handler | Part::Undo)) {
                    self.ended(node.as_str(), NodeStatus::Cancelled, None);
                }
            }
            Kind::SignalTimedOut { node, op: None, failure: Some(_) } => {
                self.ended(node.as_str(), NodeStatus::Failed, None);
            }
            Kind::NodeCompleted { node, .. }
            | Kind::SleepEnded { node }
            | Kind::SignalTaken { node, op: None, .. }
            | Kind::SignalTimedOut { node, op: None, .. } => {
                self.ended(node.as_str(), NodeStatus::Completed, None);
            }
            Kind::LaneStopping { lane, .. } => self.lost.push(lane.clone()),
            Kind::LaneEnded { lane, .. } => {
                if let Some((supervisor, _)) = lane.as_iteration() {
                    *self.turns.entry(supervisor.to_string()).or_default() += 1;
                }
            }
            Kind::NodeFailed { node, .. } => self.ended(node.as_str(), NodeStatus::Failed, None),
            // A handler that was still due is dropped so, and its node has ended before.
            Kind::NodeCancelled { node } if !self.has_ended(node.as_str()) => {
                self.ended(node.as_str(), NodeStatus::Cancelled, None);
            }
            _ => {}
        }
    }

    fn key(&self, node: &str, role: Role, attempt: u32) -> CallKey {
        let part = match role {
            Role::Step => Part::Step,
            Role::OnError => Part::Handler,
            Role::Input => Part::Input,
            Role::Wait => Part::Wait,
            Role::Choose => Part::Choose,
            Role::Test => Part::Test,
            Role::Items => Part::Items,
            Role::Finally => Part::Finally,
            Role::Compensate => Part::Undo,
        };
        let turn = if part == Part::Test { self.turns.get(node).copied().unwrap_or(0) } else { 0 };
        CallKey { node: format!("{}{node}", self.salt), part, turn, attempt }
    }

    fn part(&self, node: &str) -> Option<Part> {
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
            self.cuts.entry(key.clone()).or_default().push(Cut { at, fate });
        }
    }
}
