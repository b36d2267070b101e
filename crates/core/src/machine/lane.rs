//! Lanes: to which supervisor a block belongs, and how it hears that the block is through.
//!
//! | the lane | its supervisor | completes | fails |
//! | --- | --- | --- | --- |
//! | the root | the run | `RunCompleted` | `RunFailing`, `RunFailed` |
//! | a nested workflow's node | itself | see `nested` | see `nested` |
//! | `check/then` | a branch | see `branch` | see `branch` |
//! | `poll[3]`, `items[17]` | a loop, a forEach | see `looping`, `for_each` | see there |
//! | `setup/db` | a parallel | see `parallel` | see there |

use super::supervisor::{LaneRef, Supervisor, supervisor_of};
use super::{Machine, MachineTask};
use crate::event::{EventKind, LaneOutcome};
use crate::failure::FailureRecord;
use crate::ids::Seq;
use crate::path::Path;
use crate::state::NodeState;

impl<'a> Machine<'a> {
    /// The supervisor of a lane; `None` for the root, whose supervisor is the run.
    fn supervisor(&self, lane: &Path) -> Option<(&'a dyn Supervisor, LaneRef)> {
        let (node, planned, index) = if let Some((node, index)) = lane.as_iteration() {
            let planned = self.plan.node(&node)?;
            (node, planned, index)
        } else if let Some((planned, index)) = self.plan.named_lane(lane) {
            (lane.parent()?, planned, index)
        } else {
            (lane.clone(), self.plan.node(lane)?, 0)
        };
        let supervisor = supervisor_of(&planned.node().kind)?;
        Some((supervisor, LaneRef { node, lane: lane.clone(), index }))
    }

    /// Whether the lane that a node is in has ended, or its supervisor has.
    pub(super) fn lane_is_over(&self, node: &Path) -> bool {
        let Some((supervisor, at)) = node.parent().and_then(|lane| self.supervisor(&lane)) else {
            return false;
        };
        let has_ended = self.state.node(&at.node).is_some_and(NodeState::has_ended);
        has_ended || supervisor.is_lane_over(self.state, &at)
    }

    pub(super) fn lane_completed(&mut self, lane: &Path, result: Option<Seq>, cause: Seq) {
        if lane.is_root() {
            self.run_block_completed(result, cause);
        } else if let Some((supervisor, at)) = self.supervisor(lane) {
            supervisor.lane_completed(self, &at, result, cause);
        } else {
            self.broken(lane, "a lane completes that has no supervisor");
        }
    }

    pub(super) fn lane_failed(&mut self, lane: &Path, child: &Path, cause: Seq) {
        if lane.is_root() {
            self.node_fails_run(child, cause);
        } else if let Some((supervisor, at)) = self.supervisor(lane) {
            supervisor.lane_failed(self, &at, child, cause);
        } else {
            self.broken(lane, "a lane fails that has no supervisor");
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
        self.emit(EventKind::LaneEnded { lane: lane.clone(), index, outcome, result }, cause)
    }

    /// A supervisor has its result.
    pub(super) fn complete(&mut self, node: &Path, result: Option<Seq>, cause: Seq) {
        let completed = self.emit(EventKind::NodeCompleted { node: node.clone(), result }, cause);
        self.todo.push_back(MachineTask::Ended(node.clone(), completed));
    }

    /// A supervisor fails because a node inside did.
    pub(super) fn fail(&mut self, node: &Path, child: &Path, failure: Option<FailureRecord>, cause: Seq) {
        let event = EventKind::NodeFailed { node: node.clone(), child: child.clone(), failure };
        let failed = self.emit(event, cause);
        self.todo.push_back(MachineTask::Ended(node.clone(), failed));
    }
}
