//! Lanes: to which supervisor a block belongs, and how it hears that the block is through.
//!
//! | the lane | its supervisor | completes | fails |
//! | --- | --- | --- | --- |
//! | the root | the run | `RunCompleted` | `RunFailing`, `RunFailed` |
//! | a nested workflow's node | itself | see `nested` | see `nested` |
//! | `check/then` | a branch | see `branch` | see `branch` |
//! | `poll[3]`, `items[17]` | a loop, a forEach | see `looping`, `for_each` | see there |
//! | `setup/db` | a parallel | see `parallel` | see there |

use super::{Machine, MachineTask};
use crate::event::{EventKind, LaneOutcome};
use crate::failure::FailureRecord;
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{NodeKind, ParallelNode};
use crate::state::LaneSlot;

/// A supervisor and which of its lanes is meant.
enum LaneRef<'a> {
    Run,
    Nested,
    Branch(Path),
    Loop(Path),
    ForEach(Path, u32),
    Parallel(Path, &'a ParallelNode, u32),
}

impl<'a> Machine<'a> {
    fn supervisor(&self, lane: &Path) -> Option<LaneRef<'a>> {
        if lane.is_root() {
            return Some(LaneRef::Run);
        }
        let iteration = lane.as_iteration();
        let (node, planned, index) = if let Some((node, index)) = iteration {
            (node.clone(), self.plan.node(&node)?, index)
        } else if let Some((planned, index)) = self.plan.named_lane(lane) {
            (lane.parent()?, planned, index)
        } else {
            (lane.clone(), self.plan.node(lane)?, 0)
        };
        Some(match &planned.node().kind {
            NodeKind::Workflow(_) => LaneRef::Nested,
            NodeKind::Branch(_) => LaneRef::Branch(node),
            NodeKind::Loop(_) => LaneRef::Loop(node),
            NodeKind::ForEach(_) => LaneRef::ForEach(node, index),
            NodeKind::Parallel(parallel) => LaneRef::Parallel(node, parallel, index),
            NodeKind::Step(_) | NodeKind::Sleep(_) | NodeKind::Signal(_) => return None,
        })
    }

    /// Whether the lane that a node is in has ended, or its supervisor has.
    pub(super) fn lane_is_over(&self, node: &Path) -> bool {
        let Some(lane) = node.parent() else { return false };
        let (supervisor, index) = match self.supervisor(&lane) {
            None | Some(LaneRef::Run) => return false,
            Some(LaneRef::Nested) => (lane, None),
            Some(LaneRef::Branch(node)) => (node, None),
            Some(LaneRef::Loop(node)) => {
                let index = lane.as_iteration().map(|(_, index)| index);
                let next =
                    self.state.node(&node).and_then(|node| node.lanes.as_ref()).map_or(0, |it| it.next);
                if index.is_some_and(|index| index < next) {
                    return true;
                }
                (node, None)
            }
            Some(LaneRef::ForEach(node, index) | LaneRef::Parallel(node, _, index)) => (node, Some(index)),
        };
        let Some(state) = self.state.node(&supervisor) else { return false };
        let ended =
            index.zip(state.lanes.as_ref()).is_some_and(|(index, it)| it.slot(index) != LaneSlot::Open);
        ended || state.status.is_terminal()
    }

    pub(super) fn lane_completed(&mut self, lane: &Path, result: Option<Seq>, cause: Seq) {
        match self.supervisor(lane) {
            None => {}
            Some(LaneRef::Run) => self.run_block_completed(result, cause),
            Some(LaneRef::Nested) => self.complete(lane, result, cause),
            Some(LaneRef::Branch(node)) => self.complete(&node, result, cause),
            Some(LaneRef::Loop(node)) => self.iteration_completed(&node, lane, result, cause),
            Some(LaneRef::ForEach(node, index)) => self.item_completed(&node, lane, index, result, cause),
            Some(LaneRef::Parallel(node, parallel, index)) => {
                self.branch_completed(&node, parallel, lane, index, result, cause);
            }
        }
    }

    pub(super) fn lane_failed(&mut self, lane: &Path, child: &Path, cause: Seq) {
        match self.supervisor(lane) {
            None => {}
            Some(LaneRef::Run) => self.node_fails_run(child, cause),
            Some(LaneRef::Nested) => self.nested_failed(lane, child, cause),
            Some(LaneRef::Branch(node) | LaneRef::Loop(node)) => self.fail(&node, child, None, cause),
            Some(LaneRef::ForEach(node, index)) => self.item_failed(&node, lane, index, child, cause),
            Some(LaneRef::Parallel(node, parallel, index)) => {
                self.branch_failed(&node, parallel, lane, index, child, cause);
            }
        }
    }

    pub(super) fn lane_ended(
        &mut self,
        lane: &Path,
        index: u32,
        outcome: LaneOutcome,
        result: Option<Seq>,
        cause: Seq,
    ) -> Seq {
        self.follow(EventKind::LaneEnded { lane: lane.clone(), index, outcome, result }, cause)
    }

    /// A supervisor has its result.
    pub(super) fn complete(&mut self, node: &Path, result: Option<Seq>, cause: Seq) {
        let completed = self.follow(EventKind::NodeCompleted { node: node.clone(), result }, cause);
        self.todo.push_back(MachineTask::Ended(node.clone(), completed));
    }

    /// A supervisor fails because a node inside did.
    pub(super) fn fail(&mut self, node: &Path, child: &Path, failure: Option<FailureRecord>, cause: Seq) {
        let event = EventKind::NodeFailed { node: node.clone(), child: child.clone(), failure };
        let failed = self.follow(event, cause);
        self.todo.push_back(MachineTask::Ended(node.clone(), failed));
    }
}
