//! Durable operations as users see them.

use std::collections::{BTreeMap, HashMap};

use rival_core::durable::{ChildOutcome, OpBody, OpOutcome};
use rival_core::event::{EventKind, ValueField};
use rival_core::view::{ChildView, OperationView};
use rival_core::{Event, FailureRecord, NodeStatus, Path, RunId, Seq, Time};

use crate::inspect::bounded::ValueBudget;
use crate::inspect::view::EventSource;

/// The operations of each step, from a run's whole history.
pub(crate) struct StepOperations<'e>(HashMap<&'e Path, Vec<FoundOp>>);

impl<'e> StepOperations<'e> {
    pub(crate) fn find(events: &'e [Event]) -> Self {
        let mut found = FoundOps::default();
        events.iter().for_each(|event| found.apply(event));
        let mut operations: HashMap<&Path, Vec<FoundOp>> = HashMap::new();
        for ((node, _), operation) in found.0 {
            operations.entry(node).or_default().push(operation);
        }
        Self(operations)
    }

    /// Those of one step, in the order in which it asked, with as much of their results as the answer holds.
    pub(crate) fn take(
        &mut self,
        step: &Path,
        events: &[Event],
        budget: &mut ValueBudget<'_>,
    ) -> Vec<OperationView> {
        let found = self.0.remove(step).unwrap_or_default().into_iter();
        let views = found.map(|FoundOp { mut view, children, held }| {
            let held = held.and_then(|seq| Some((seq, events.event(seq)?.kind.value()?.clone())));
            view.result = held.map(|(seq, value)| budget.fit(value, seq, ValueField::Value));
            view.children = children.into_values().collect();
            view
        });
        views.collect()
    }
}

struct FoundOp {
    view: OperationView,
    children: BTreeMap<u32, ChildView>,
    /// The event that holds its result.
    held: Option<Seq>,
}

impl FoundOp {
    fn end(&mut self, at: Time, status: NodeStatus) {
        self.view.status = status;
        self.view.ended_at = Some(at);
        self.view.wake_at = None;
    }

    fn waits(&self) -> bool {
        self.view.status == NodeStatus::Waiting
    }
}

#[derive(Default)]
struct FoundOps<'e>(BTreeMap<(&'e Path, u32), FoundOp>);

impl<'e> FoundOps<'e> {
    fn apply(&mut self, event: &'e Event) {
        let (seq, at) = (event.seq, event.at);
        match &event.kind {
            EventKind::OpStarted { node, op, name, occurrence, what, .. } => {
                let view = OperationView {
                    kind: what.kind().word().into(),
                    name: name.clone(),
                    occurrence: *occurrence,
                    status: NodeStatus::Waiting,
                    started_at: Some(at),
                    ended_at: None,
                    wake_at: until(what),
                    result: None,
                    error: None,
                    children: Vec::new(),
                };
                self.0.insert((node, *op), FoundOp { view, children: BTreeMap::new(), held: None });
            }
            EventKind::OpEnded { node, op, outcome } => self.end(node, *op, outcome, seq, at),
            EventKind::SignalTaken { node, op: Some(op), signal } => {
                self.complete(node, *op, *signal, at);
            }
            EventKind::SignalTimedOut { node, op: Some(op), failure: Some(failure) } => {
                self.fail(node, *op, failure, at);
            }
            EventKind::SignalTimedOut { node, op: Some(op), failure: None } => {
                self.complete(node, *op, seq, at);
            }
            // A signal that it had taken is kept again; what it did is done.
            EventKind::OpDropped { node, op, .. } => {
                let operation = self.0.get_mut(&(node, *op));
                if let Some(operation) = operation.filter(|it| it.view.kind == "signal" || it.waits()) {
                    operation.end(at, NodeStatus::Cancelled);
                    operation.held = None;
                }
            }
            EventKind::ChildStarted { node, op, index, child } => self.child(node, *op, *index, child),
            EventKind::ChildRetried { node, op, index, next, .. } => self.child(node, *op, *index, next),
            EventKind::ChildEnded { node, op, index, outcome, .. } => {
                self.child_ended(node, *op, *index, outcome, seq, at);
            }
            EventKind::CallSucceeded { node, .. }
            | EventKind::CallFailed { node, .. }
            | EventKind::CallCancelled { node, .. }
            | EventKind::NodeCancelled { node } => self.drop_open(node, at),
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

    fn complete(&mut self, node: &'e Path, op: u32, held: Seq, at: Time) {
        if let Some(operation) = self.0.get_mut(&(node, op)) {
            operation.end(at, NodeStatus::Completed);
            operation.held = Some(held);
        }
    }

    fn fail(&mut self, node: &'e Path, op: u32, failure: &FailureRecord, at: Time) {
        if let Some(operation) = self.0.get_mut(&(node, op)) {
            operation.end(at, NodeStatus::Failed);
            operation.view.error = Some(failure.clone());
        }
    }

    fn end(&mut self, node: &'e Path, op: u32, outcome: &OpOutcome, seq: Seq, at: Time) {
        let status = match outcome {
            OpOutcome::Failed(failure) => return self.fail(node, op, failure, at),
            OpOutcome::Value(_) => return self.complete(node, op, seq, at),
            OpOutcome::Done {} => NodeStatus::Completed,
            OpOutcome::Cancelled {} | OpOutcome::Left {} => NodeStatus::Cancelled,
        };
        let Some(operation) = self.0.get_mut(&(node, op)) else { return };
        let failed = operation.children.values().any(|child| child.status == NodeStatus::Failed);
        let status = if failed && status == NodeStatus::Completed { NodeStatus::Failed } else { status };
        operation.end(at, status);
    }

    fn child(&mut self, node: &'e Path, op: u32, index: u32, run: &RunId) {
        if let Some(operation) = self.0.get_mut(&(node, op)) {
            let view = ChildView { index, run_id: run.clone(), status: NodeStatus::Waiting };
            operation.children.insert(index, view);
        }
    }

    fn child_ended(
        &mut self,
        node: &'e Path,
        op: u32,
        index: u32,
        outcome: &ChildOutcome,
        seq: Seq,
        at: Time,
    ) {
        let Some(operation) = self.0.get_mut(&(node, op)) else { return };
        let status = match outcome {
            ChildOutcome::Completed(_) => NodeStatus::Completed,
            ChildOutcome::Failed { .. } => NodeStatus::Failed,
            ChildOutcome::Cancelled { .. } => NodeStatus::Cancelled,
        };
        if let Some(child) = operation.children.get_mut(&index) {
            child.status = status;
        }
        if operation.view.kind != "run" || !operation.waits() {
            return;
        }
        match outcome {
            ChildOutcome::Completed(_) => self.complete(node, op, seq, at),
            ChildOutcome::Failed { failure, .. } => self.fail(node, op, failure, at),
            ChildOutcome::Cancelled { .. } => operation.end(at, status),
        }
    }

    /// Operations that the call left open have no waiter.
    fn drop_open(&mut self, node: &'e Path, at: Time) {
        for (_, operation) in self.0.range_mut((node, 0)..=(node, u32::MAX)) {
            if operation.waits() {
                operation.end(at, NodeStatus::Cancelled);
            }
        }
    }
}

/// When an operation ends by itself.
fn until(what: &OpBody) -> Option<Time> {
    match what {
        OpBody::Sleep { until } => Some(*until),
        OpBody::Signal { until, .. } => *until,
        OpBody::Once {} | OpBody::Run { .. } | OpBody::Map { .. } => None,
    }
}
