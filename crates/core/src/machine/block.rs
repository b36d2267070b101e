//! Blocks: how their nodes follow each other, and to whom it matters that one has ended.
//!
//! | when | and | then |
//! | --- | --- | --- |
//! | a block starts | a sequence | its first node's turn comes |
//! | | a graph | the turn comes of all nodes that wait for none |
//! | | phases | the turn comes of all nodes of the first |
//! | a node's turn comes | it was imported | it counts as ended |
//! | | it, or something around it, is ending | nothing |
//! | | otherwise | by kind: a call, a wait, a supervisor |
//! | a node ends | it, or something around it, is ending | that may have settled now |
//! | | it failed | its block fails |
//! | | otherwise, in a sequence | the next node's turn comes, or the block completes |
//! | | otherwise, in a graph or in phases | see `graph` |
//! | a block completes, or fails | | its lane's supervisor hears of it |

use super::supervisor::supervisor_of;
use super::{Machine, MachineTask};
use crate::event::{CallRole, DueCall, EventKind};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{BlockOrder, NodeKind};
use crate::status::NodeStatus;

impl Machine<'_> {
    pub(super) fn start_node(&mut self, path: &Path, cause: Seq) {
        if self.state.is_ending(path) {
            return;
        }
        if path.is_root() {
            if self.hold(path, None, cause) {
                return;
            }
            // Only a run that had to queue says that it began: for the others its first event does.
            let was_held = self.state.index().held.contains(path);
            let began = if was_held { self.node_started(path, cause) } else { cause };
            return self.start_block(path, began);
        }
        if self.state.node(path).is_some_and(|node| node.imported) {
            self.todo.push_back(MachineTask::Ended(path.clone(), cause));
            return;
        }
        // In a graph, two that end in one decision both find that nothing else keeps a third from starting.
        if self.has_begun(path) || self.lane_is_over(path) {
            return;
        }
        let Some(node) = self.plan.node(path) else {
            return self.broken(path, "a node starts that is not in the plan");
        };
        let kind = &node.node().kind;
        if let Some(supervisor) = supervisor_of(kind) {
            return supervisor.start(self, path, cause);
        }
        match kind {
            NodeKind::Step(_) => self.begin_call(path, DueCall { role: CallRole::Step, attempt: 1 }, cause),
            NodeKind::Sleep(sleep) => self.start_sleep(path, sleep, cause),
            NodeKind::Signal(signal) => self.start_signal(path, signal, cause),
            // Supervisors have started above.
            NodeKind::Workflow(_)
            | NodeKind::Branch(_)
            | NodeKind::Loop(_)
            | NodeKind::ForEach(_)
            | NodeKind::Parallel(_) => {}
        }
    }

    pub(super) fn node_started(&mut self, node: &Path, cause: Seq) -> Seq {
        self.emit(EventKind::NodeStarted { node: node.clone(), case: None, count: None, window: None }, cause)
    }

    pub(super) fn start_block(&mut self, lane: &Path, cause: Seq) {
        let Some(block) = self.plan.block(lane) else {
            return self.broken(lane, "a lane starts that has no block");
        };
        for node in block.first() {
            self.todo.push_back(MachineTask::Start(lane.child(&node.id), cause));
        }
    }

    pub(super) fn node_ended(&mut self, path: &Path, cause: Seq) {
        if self.state.is_ending(path) {
            return self.settled_within(path, cause);
        }
        // The run itself has no lane; an iteration that ended in the same decision has taken its nodes along.
        let (Some(ended), Some(lane)) = (self.state.node(path), path.parent()) else { return };
        // Another that ended in the same decision may have decided for the block.
        if self.lane_is_over(path) {
            return;
        }
        let order = self.plan.block(&lane).map_or(BlockOrder::Sequence, |block| block.order());
        match ended.status() {
            NodeStatus::Failed if !ended.soft => self.node_failed(path, &lane, order, cause),
            NodeStatus::Completed | NodeStatus::Skipped | NodeStatus::Failed => match order {
                BlockOrder::Sequence => match self.plan.node(path).and_then(|node| node.next()) {
                    Some(next) => self.todo.push_back(MachineTask::Start(lane.child(&next.id), cause)),
                    None => {
                        let result = ended.result;
                        self.lane_completed(&lane, result, cause);
                    }
                },
                BlockOrder::Graph | BlockOrder::Phases => self.next_in_graph(path, &lane, cause),
            },
            NodeStatus::Cancelled
            | NodeStatus::Pending
            | NodeStatus::Running
            | NodeStatus::WaitingRetry
            | NodeStatus::Waiting
            | NodeStatus::Blocked => {}
        }
    }

    fn has_begun(&self, path: &Path) -> bool {
        let held = self.state.index().held.contains(path);
        !held && self.state.node(path).is_some_and(|node| node.calls > 0 || node.started_at.is_some())
    }

    /// Whether a node has ended and nothing is left to do for it. One that failed for good has not: its block fails.
    pub(super) fn is_done(&self, path: &Path) -> bool {
        let Some(node) = self.state.node(path) else { return false };
        let good = node.has_ended() && (node.status() != NodeStatus::Failed || node.soft);
        good && node.is_idle()
    }

    fn node_failed(&mut self, path: &Path, lane: &Path, order: BlockOrder, cause: Seq) {
        match order {
            BlockOrder::Sequence => self.lane_failed(lane, path, cause),
            // Others of the block may be at work.
            BlockOrder::Graph | BlockOrder::Phases => self.fail_when_settled(lane, path, None, cause),
        }
    }
}
