//! Children: runs that a step starts and waits for.
//!
//! | when | and | then |
//! | --- | --- | --- |
//! | a run or map is asked for, or a child of it has ended | there is room in its window | `ChildStarted`; the run is created in the same commit |
//! | | the run is paused, or the engine stops | nothing until it goes on |
//! | a child completes | others are open or to come | the next one starts |
//! | a child fails or was cancelled | its map collects | the next one starts |
//! | | otherwise | `OpStopping`: the others are cancelled |
//! | the last child ends | | the operation has ended |
//! | a child fails and is retried by itself | | `ChildRetried`: that run counts from now on |
//! | the function gave the operation up, or ended | children are open | `OpStopping`: they are cancelled; the run's end waits for them |
//! | the grace period is over | children are open | `OpEnded` as left: they go on cancelling alone |
//! | the run is killed | children are open, also if they are cancelling | they are killed; `OpEnded` as left |

use super::{CommitExtra, Machine, MachineTask, NewChild};
use crate::durable::{ChildOutcome, OpKind, OpOutcome};
use crate::event::{EventCause, EventKind, ExternalCause, NotUndone};
use crate::ids::{RunId, Seq};
use crate::path::{self, Path};
use crate::state::ChildRef;

impl Machine<'_> {
    /// Starts as many children as the operation's window has room for.
    pub(super) fn start_children(&mut self, node: &Path, op: u32, cause: Seq) {
        while let Some(index) = self.next_child(node, op) {
            let child = self.env.run.child(self.state.children_started + 1);
            let event = EventKind::ChildStarted { node: node.clone(), op, index, child: child.clone() };
            self.emit(event, cause);
            let Some(state) = self.state.op(node, op) else {
                return self.broken(node, "a child starts for an operation that is gone");
            };
            let new = NewChild {
                child,
                workflow: state.key.name.clone(),
                asked: state.started,
                index: (state.key.kind == OpKind::Map).then_some(index),
            };
            self.decision.extras.push(CommitExtra::Start(new));
        }
        self.end_when_all_ended(node, op, cause);
    }

    fn next_child(&self, node: &Path, op: u32) -> Option<u32> {
        let op = self.state.op(node, op).filter(|op| !op.dropped)?;
        let children = op.children.as_ref()?;
        (children.has_room() && !self.holding() && !self.state.is_ending(node)).then_some(children.begun)
    }

    /// Goes on with what a pause or an orderly stop held.
    pub(super) fn start_held_children(&mut self, cause: Seq) {
        if self.holding() {
            return;
        }
        let mut held = Vec::new();
        for (node, ops) in &self.state.ops {
            let short = ops.iter().filter(|(_, op)| op.has_children_to_start());
            held.extend(short.map(|(op, _)| (node.clone(), op)));
        }
        for (node, op) in held {
            self.start_children(&node, op, cause);
        }
    }

    pub(super) fn child_ended(
        &mut self,
        child: RunId,
        outcome: ChildOutcome,
        undoable: bool,
        not_undone: Vec<NotUndone>,
    ) {
        if let Some((node, undone)) = self.state.undo.undone_by(&child) {
            return self.child_undone(node, undone, child, outcome);
        }
        self.keep_deadline();
        // A child that was left behind, or has told of its end before.
        let Some(ChildRef { node, op, index }) = self.state.children.get(&child).cloned() else { return };
        let event =
            EventKind::ChildEnded { node: node.clone(), op, index, child, outcome, undoable, not_undone };
        let seq = self.emit(event, EventCause::Outside(ExternalCause::Child));
        self.child_is_gone(&node, seq);
        // An operation that no call waits for any more is gone with its last child.
        let Some(state) = self.state.op(&node, op) else { return };
        if state.end.is_some() {
            return self.op_answered(&node, op, seq);
        }
        let failed = state.children.as_ref().is_some_and(|children| {
            children.failed.is_some()
                && !children.collect
                && !children.cancelling
                && !children.open.is_empty()
        });
        if failed {
            self.cancel_children(&node, op, seq);
        } else {
            self.start_children(&node, op, seq);
        }
    }

    /// A node that waits for a child to end before it can end itself may go on.
    fn child_is_gone(&mut self, node: &Path, cause: Seq) {
        if self.state.is_ending(node) {
            self.todo.push_back(MachineTask::Settled(node.clone(), cause));
        } else if self.state.index().parents.is_empty() {
            self.complete_run_if_done();
        }
    }

    /// A map has ended when no child is left to wait for.
    fn end_when_all_ended(&mut self, node: &Path, op: u32, cause: Seq) {
        let Some((state, children)) =
            self.state.op(node, op).and_then(|op| Some((op, op.children.as_ref()?)))
        else {
            return self.broken(node, "an operation ends with its children, and has none");
        };
        let fails = children.failed.is_some() && !children.collect;
        let all_begun = children.begun == children.count || children.cancelling || fails;
        if state.end.is_none() && state.key.kind == OpKind::Map && children.open.is_empty() && all_begun {
            let cancelled = children.begun < children.count && !fails;
            let outcome = if cancelled { OpOutcome::Cancelled {} } else { OpOutcome::Done {} };
            self.end_op(node, op, outcome, EventCause::Event(cause));
        }
    }

    pub(super) fn child_retried(&mut self, child: RunId, next: RunId) {
        // A child that was left behind, or has told of this before.
        let Some(ChildRef { node, op, index }) = self.state.children.get(&child).cloned() else { return };
        let event = EventKind::ChildRetried { node: node.clone(), op, index, child, next: next.clone() };
        self.emit(event, EventCause::Outside(ExternalCause::Child));
        let children = self.state.op(&node, op).and_then(|op| op.children.as_ref());
        // The cancel went to the run that had failed by then.
        if children.is_some_and(|children| children.cancelling) {
            self.decision.extras.push(CommitExtra::Cancel(next));
        }
    }

    /// Cancels the children of an operation.
    pub(super) fn cancel_children(&mut self, node: &Path, op: u32, cause: Seq) {
        self.emit(EventKind::OpStopping { node: node.clone(), op }, cause);
        let Some(children) = self.state.op(node, op).and_then(|op| op.children.as_ref()) else {
            return self.broken(node, "children are cancelled that are not there");
        };
        let open = children.open.values().cloned().map(CommitExtra::Cancel);
        self.decision.extras.extend(open);
    }

    /// Cancels the children of calls that have ended without waiting for them.
    pub(super) fn cancel_orphaned_children(&mut self) {
        while let Some((node, op)) = self.state.orphaned.first().cloned() {
            let cause = self.state.seq;
            self.cancel_children(&node, op, cause);
        }
    }

    /// The grace period of a scope is over: children that have not ended are left behind.
    pub(super) fn force_end_children(&mut self, scope: &Path) {
        let mut parents: Vec<Path> = path::within(&self.state.index().parents, scope).cloned().collect();
        parents.extend(self.state.index().parents.get(scope).cloned());
        for node in parents {
            let Some(ops) = self.state.ops.get(&node) else {
                return self.broken(&node, "a node has children and no operations");
            };
            let open =
                ops.iter().filter(|(_, op)| op.children.as_ref().is_some_and(|it| !it.open.is_empty()));
            let open: Vec<u32> = open.map(|(op, _)| op).collect();
            for op in open {
                self.end_op(&node, op, OpOutcome::Left {}, EventCause::Outside(ExternalCause::Clock));
            }
            self.child_is_gone(&node, self.state.seq);
        }
    }
}
