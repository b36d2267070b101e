//! What a node, a lane and the run itself must have left, by the plan: whose result is whose.

use std::collections::BTreeMap;

use crate::event::{
    CallRole, Event, EventKind, FailureVerdict, ImportedStatus, LaneOutcome, ResultPart, ResultParts,
};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{BlockOrder, Node, NodeKind, ParallelNode, PlanBlock};

/// What has been left so far.
#[derive(Default)]
pub(super) struct SeenResults {
    /// The event that holds what a node left; `None` for a node that ended without a result.
    nodes: BTreeMap<Path, Option<Seq>>,
    /// What was put together last, by node or lane.
    joined: BTreeMap<Path, (Seq, ResultParts)>,
    /// How lanes ended, and what they left.
    lanes: BTreeMap<Path, LaneResult>,
    /// The last iteration of a loop that ended.
    last: BTreeMap<Path, Path>,
    /// The call of a parallel block's `finally` that answered.
    mapped: BTreeMap<Path, Seq>,
}

struct LaneResult {
    completed: bool,
    result: Option<Seq>,
}

impl SeenResults {
    /// Notes what an event leaves; `role` is that of the node's last call.
    pub(super) fn note(&mut self, event: &Event, role: Option<CallRole>) {
        let seq = event.seq;
        match &event.kind {
            EventKind::CallSucceeded { node, .. } => match role {
                Some(CallRole::Step) => self.left(node, Some(seq)),
                Some(CallRole::Finally) => {
                    self.mapped.insert(node.clone(), seq);
                }
                _ => {}
            },
            EventKind::CallFailed { node, verdict: FailureVerdict::Continue, .. } => self.left(node, None),
            EventKind::NodeImported { node, status, .. } => {
                self.left(node, (*status != ImportedStatus::Failed).then_some(seq));
            }
            EventKind::LaneImported { lane, .. } => {
                self.lanes.insert(lane.clone(), LaneResult { completed: true, result: Some(seq) });
            }
            EventKind::NodeCompleted { node, result } => self.left(node, *result),
            EventKind::SleepEnded { node } => self.left(node, None),
            EventKind::SignalTaken { node, op: None, signal } => self.left(node, Some(*signal)),
            EventKind::SignalTimedOut { node, op: None, failure: None } => self.left(node, Some(seq)),
            EventKind::Joined { node, parts } => {
                self.joined.insert(node.clone(), (seq, parts.clone()));
            }
            EventKind::LaneEnded { lane, outcome, result, .. } => {
                let completed = *outcome == LaneOutcome::Completed;
                if let Some((supervisor, _)) = lane.as_iteration() {
                    self.last.insert(supervisor, lane.clone());
                }
                // A lane that had failed when another won ends once more; what counts is how it ended first.
                self.lanes.entry(lane.clone()).or_insert(LaneResult { completed, result: *result });
            }
            EventKind::RunStarted { .. }
            | EventKind::DecisionImported { .. }
            | EventKind::CallStarted { .. }
            | EventKind::CallFailed { .. }
            | EventKind::CallLost { .. }
            | EventKind::CallCancelled { .. }
            | EventKind::NodeStarted { .. }
            | EventKind::BlockFailing { .. }
            | EventKind::LaneStopping { .. }
            | EventKind::NodeFailed { .. }
            | EventKind::NodeCancelled { .. }
            | EventKind::NodeHeld { .. }
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
            | EventKind::RunFailing { .. }
            | EventKind::RunCompleted { .. }
            | EventKind::RunFailed { .. }
            | EventKind::RunCancelled { .. } => {}
        }
    }

    fn left(&mut self, node: &Path, result: Option<Seq>) {
        self.nodes.insert(node.clone(), result);
    }

    /// Why this is not what a block gives.
    pub(super) fn of_block(&self, block: &PlanBlock, lane: &Path, given: Option<Seq>) -> Option<String> {
        if let Some(taken) = self.lanes.get(lane).filter(|_| lane.as_iteration().is_some()) {
            // Taken over from another run.
            return differs(taken.result, given);
        }
        let left = |id: &str| self.nodes.get(&lane.child(id)).copied().flatten();
        let is_sink = |id: &str| !block.nodes.iter().any(|node| node.after.iter().any(|after| after == id));
        match block.order {
            BlockOrder::Sequence => differs(block.nodes.last().and_then(|last| left(&last.id)), given),
            BlockOrder::Graph | BlockOrder::Phases => {
                let last = block.nodes.last().map_or(0, |node| node.phase);
                let is_last = |node: &&Node| match block.order {
                    BlockOrder::Phases => node.phase == last,
                    BlockOrder::Graph | BlockOrder::Sequence => is_sink(&node.id),
                };
                let sinks: Vec<&str> =
                    block.nodes.iter().filter(is_last).map(|node| node.id.as_str()).collect();
                if let [only] = sinks.as_slice() {
                    return differs(left(only), given);
                }
                let parts: Vec<(String, ResultPart)> =
                    sinks.into_iter().map(|id| (id.to_owned(), ResultPart::from(left(id)))).collect();
                self.is_joined(lane, &ResultParts::Map(parts), given)
            }
        }
    }

    /// Why this is not what a supervisor gives.
    pub(super) fn of_node(
        &self,
        kind: &NodeKind,
        node: &Path,
        case: Option<&str>,
        count: Option<u32>,
        given: Option<Seq>,
    ) -> Option<String> {
        match kind {
            NodeKind::Workflow(nested) => self.of_block(&nested.block, node, given),
            NodeKind::Branch(branch) => {
                let Some(case) = case else { return differs(None, given) };
                let named = branch.cases.iter().find(|named| named.name == case).map(|named| &named.block);
                let block = named.or(branch.default.as_ref())?;
                self.of_block(block, &node.child(case), given)
            }
            NodeKind::Loop(_) => {
                let last = self.last.get(node).and_then(|lane| self.lanes.get(lane));
                differs(last.and_then(|lane| lane.result), given)
            }
            NodeKind::ForEach(_) => {
                let lanes = (0..count.unwrap_or(0)).map(|index| self.lanes.get(&node.iteration(index)));
                let parts = lanes.map(|lane| ResultPart::from(lane.and_then(|lane| lane.result))).collect();
                self.is_joined(node, &ResultParts::List(parts), given)
            }
            NodeKind::Parallel(parallel) if parallel.finally.is_some() => {
                differs(self.mapped.get(node).copied(), given)
            }
            NodeKind::Parallel(parallel) => self.of_parallel(parallel, node, given),
            NodeKind::Step(_) | NodeKind::Sleep(_) | NodeKind::Signal(_) => None,
        }
    }

    /// The parts of all branches that completed by now, in their order. A failed branch is shown by its failure.
    fn of_parallel(&self, parallel: &ParallelNode, node: &Path, given: Option<Seq>) -> Option<String> {
        let Some((_, ResultParts::Map(joined))) = self.joined.get(node) else {
            return Some(format!("`{node}` was not put together"));
        };
        let shown = |name: &str| joined.iter().find(|(other, _)| other == name).map(|(_, part)| *part);
        let mut parts = Vec::new();
        for branch in &parallel.branches {
            let lane = self.lanes.get(&node.child(&branch.name));
            match (lane, shown(&branch.name)) {
                (Some(lane), _) if lane.completed => {
                    parts.push((branch.name.clone(), ResultPart::from(lane.result)));
                }
                (_, Some(failed @ ResultPart::Failure { .. })) => parts.push((branch.name.clone(), failed)),
                _ => {}
            }
        }
        self.is_joined(node, &ResultParts::Map(parts), given)
    }

    fn is_joined(&self, node: &Path, parts: &ResultParts, given: Option<Seq>) -> Option<String> {
        match self.joined.get(node) {
            Some((seq, joined)) if joined == parts => differs(Some(*seq), given),
            Some((seq, _)) => Some(format!("event {seq} puts together something else")),
            None => Some("its parts were not put together".to_owned()),
        }
    }
}

fn differs(expected: Option<Seq>, given: Option<Seq>) -> Option<String> {
    let name = |seq: Option<Seq>| seq.map_or_else(|| "nothing".to_owned(), |seq| format!("event {seq}"));
    (expected != given).then(|| format!("it is {}, and not {}", name(expected), name(given)))
}
