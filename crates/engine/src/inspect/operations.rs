//! Durable operations as users see them.

use std::collections::{BTreeMap, HashMap};

use rival_core::durable::OpOutcome;
use rival_core::event::EventKind;
use rival_core::view::{ChildView, OperationView};
use rival_core::{Event, NodeStatus, Path, RunId};

/// The operations of each step, from a run's whole history.
pub(crate) fn operations(events: &[Event]) -> HashMap<&Path, Vec<OperationView>> {
    let mut found = FoundOps::default();
    events.iter().for_each(|event| found.apply(&event.kind));
    let mut operations: HashMap<&Path, Vec<OperationView>> = HashMap::new();
    for ((node, _), FoundOp { mut view, children }) in found.0 {
        view.children = children.into_values().collect();
        operations.entry(node).or_default().push(view);
    }
    operations
}

struct FoundOp {
    view: OperationView,
    children: BTreeMap<u32, ChildView>,
}

#[derive(Default)]
struct FoundOps<'e>(BTreeMap<(&'e Path, u32), FoundOp>);

impl<'e> FoundOps<'e> {
    fn apply(&mut self, kind: &'e EventKind) {
        match kind {
            EventKind::OpStarted { node, op, name, occurrence, what, .. } => {
                let view = OperationView {
                    kind: what.kind().word().into(),
                    name: name.clone(),
                    occurrence: *occurrence,
                    status: NodeStatus::Waiting,
                    children: Vec::new(),
                };
                self.0.insert((node, *op), FoundOp { view, children: BTreeMap::new() });
            }
            EventKind::OpEnded { node, op, outcome } => self.end(node, *op, outcome),
            EventKind::SignalTaken { node, op: Some(op), .. } => self.set(node, *op, NodeStatus::Completed),
            EventKind::SignalTimedOut { node, op: Some(op), failure } => {
                let status = if failure.is_some() { NodeStatus::Failed } else { NodeStatus::Completed };
                self.set(node, *op, status);
            }
            // A signal that it had taken is kept again; what it did is done.
            EventKind::OpDropped { node, op, .. } => {
                let is_signal = |operation: &&mut FoundOp| operation.view.kind == "signal";
                let operation = self.0.get_mut(&(node, *op));
                if let Some(signal) = operation.filter(is_signal) {
                    signal.view.status = NodeStatus::Cancelled;
                } else if let Some(operation) = self.0.get_mut(&(node, *op))
                    && operation.view.status == NodeStatus::Waiting
                {
                    operation.view.status = NodeStatus::Cancelled;
                }
            }
            EventKind::ChildStarted { node, op, index, child } => self.child(node, *op, *index, child),
            EventKind::ChildRetried { node, op, index, next, .. } => self.child(node, *op, *index, next),
            EventKind::ChildEnded { node, op, index, outcome, .. } => {
                use rival_core::durable::ChildOutcome as Outcome;
                let status = match outcome {
                    Outcome::Completed(_) => NodeStatus::Completed,
                    Outcome::Failed { .. } => NodeStatus::Failed,
                    Outcome::Cancelled { .. } => NodeStatus::Cancelled,
                };
                if let Some(operation) = self.0.get_mut(&(node, *op)) {
                    if let Some(child) = operation.children.get_mut(index) {
                        child.status = status;
                    }
                    if operation.view.kind == "run" && operation.view.status == NodeStatus::Waiting {
                        operation.view.status = status;
                    }
                }
            }
            EventKind::CallSucceeded { node, .. }
            | EventKind::CallFailed { node, .. }
            | EventKind::CallCancelled { node, .. }
            | EventKind::NodeCancelled { node } => self.drop_open(node),
            EventKind::RunStarted { .. }
            | EventKind::NodeImported { .. }
            | EventKind::DecisionImported { .. }
            | EventKind::LaneImported { .. }
            | EventKind::CallStarted { .. }
            | EventKind::CallLost { .. }
            | EventKind::NodeStarted { .. }
            | EventKind::LaneEnded { .. }
            | EventKind::BlockFailing { .. }
            | EventKind::LaneStopping { .. }
            | EventKind::Joined { .. }
            | EventKind::NodeCompleted { .. }
            | EventKind::NodeFailed { .. }
            | EventKind::NodeHeld { .. }
            | EventKind::NodeBlocked { .. }
            | EventKind::NodeUnblocked { .. }
            | EventKind::SleepStarted { .. }
            | EventKind::SleepEnded { .. }
            | EventKind::SignalReceived { .. }
            | EventKind::SignalAwaited { .. }
            | EventKind::SignalTaken { .. }
            | EventKind::SignalTimedOut { .. }
            | EventKind::OpStopping { .. }
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

    fn set(&mut self, node: &'e Path, op: u32, status: NodeStatus) {
        if let Some(operation) = self.0.get_mut(&(node, op)) {
            operation.view.status = status;
        }
    }

    fn end(&mut self, node: &'e Path, op: u32, outcome: &OpOutcome) {
        let Some(operation) = self.0.get_mut(&(node, op)) else { return };
        let failed = operation.children.values().any(|child| child.status == NodeStatus::Failed);
        operation.view.status = match outcome {
            OpOutcome::Failed(_) => NodeStatus::Failed,
            OpOutcome::Done {} if failed => NodeStatus::Failed,
            OpOutcome::Done {} | OpOutcome::Value(_) => NodeStatus::Completed,
            OpOutcome::Cancelled {} | OpOutcome::Left {} => NodeStatus::Cancelled,
        };
    }

    fn child(&mut self, node: &'e Path, op: u32, index: u32, run: &RunId) {
        if let Some(operation) = self.0.get_mut(&(node, op)) {
            let view = ChildView { index, run_id: run.clone(), status: NodeStatus::Waiting };
            operation.children.insert(index, view);
        }
    }

    /// Operations that the call left open have no waiter.
    fn drop_open(&mut self, node: &'e Path) {
        for (_, operation) in self.0.range_mut((node, 0)..=(node, u32::MAX)) {
            if operation.view.status == NodeStatus::Waiting {
                operation.view.status = NodeStatus::Cancelled;
            }
        }
    }
}
