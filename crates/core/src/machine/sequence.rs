//! Nodes in order.
//!
//! | when | and | then |
//! | --- | --- | --- |
//! | a node's turn comes | it was imported | it counts as ended |
//! | | the run is ending | nothing |
//! | | it is held | `NodeHeld` |
//! | | otherwise | by kind: a call, a sleep, a wait for a signal, a nested block |
//! | a node ends | completed, skipped, failed softly | the next one's turn comes, or the block completes |
//! | | failed | the block fails |
//! | | cancelled | nothing: the run is ending |

use super::{Machine, Todo};
use crate::event::{Due, Kind, Role};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::NodeKind;
use crate::status::NodeStatus;

impl Machine<'_> {
    pub(super) fn start_node(&mut self, path: &Path, cause: Seq) {
        if self.state.ending.is_some() {
            return;
        }
        if path.is_root() {
            return self.start_root(cause);
        }
        if self.state.node(path).is_some_and(|node| node.imported) {
            self.todo.push_back(Todo::Ended(path.clone(), cause));
            return;
        }
        let Some(node) = self.plan.node(path) else { return };
        match &node.node().kind {
            NodeKind::Step(_) => self.begin_call(path, Due { role: Role::Step, attempt: 1 }, cause),
            NodeKind::Sleep(sleep) => self.start_sleep(path, sleep, cause),
            NodeKind::Signal(signal) => self.start_signal(path, signal, cause),
            NodeKind::Workflow(nested) => self.start_nested(path, nested, cause),
            // `Plan::check` refuses these before a run can have them.
            NodeKind::Branch(_) | NodeKind::Loop(_) | NodeKind::ForEach(_) | NodeKind::Parallel(_) => {}
        }
    }

    fn start_root(&mut self, cause: Seq) {
        if self.hold(&Path::root(), None, cause) {
            return;
        }
        // Only a run that had to queue says that it began: for the others its first event does.
        let mut cause = cause;
        if self.state.held.contains(&Path::root()) {
            cause = self.follow(Kind::NodeStarted { node: Path::root() }, cause);
        }
        self.start_first_in(&Path::root(), cause);
    }

    pub(super) fn start_first_in(&mut self, owner: &Path, cause: Seq) {
        if let Some(first) = self.plan.first_in(owner) {
            self.todo.push_back(Todo::Start(owner.child(&first.node().id), cause));
        }
    }

    pub(super) fn node_ended(&mut self, path: &Path, cause: Seq) {
        if self.state.ending.is_some() {
            return;
        }
        let (Some(ended), Some(owner)) = (self.state.node(path), path.parent()) else { return };
        match ended.status {
            NodeStatus::Failed if !ended.soft => self.block_failed(&owner, path, cause),
            NodeStatus::Completed | NodeStatus::Skipped | NodeStatus::Failed => {
                match self.plan.node(path).and_then(|node| node.next()) {
                    Some(next) => self.todo.push_back(Todo::Start(owner.child(&next.id), cause)),
                    None => self.block_completed(&owner, path, cause),
                }
            }
            NodeStatus::Cancelled
            | NodeStatus::Pending
            | NodeStatus::Running
            | NodeStatus::WaitingRetry
            | NodeStatus::Waiting
            | NodeStatus::Blocked => {}
        }
    }

    /// The last node of a block has ended well: the block's result is that node's.
    fn block_completed(&mut self, owner: &Path, last: &Path, cause: Seq) {
        let result = self.state.node(last).and_then(|node| node.result);
        if owner.is_root() {
            self.complete_run(result, cause);
        } else {
            self.nested_completed(owner, result, cause);
        }
    }

    fn block_failed(&mut self, owner: &Path, failed: &Path, cause: Seq) {
        if owner.is_root() {
            self.node_fails_run(failed, cause);
        } else {
            self.nested_failed(owner, failed, cause);
        }
    }
}
