//! A parallel block: branches side by side.
//!
//! | when | and | then |
//! | --- | --- | --- |
//! | its turn comes | | `NodeStarted`, all branches start |
//! | a branch completes | enough have | `LaneEnded`, `Joined`; `LaneStopping` for those that lost; then as below |
//! | | others are awaited | `LaneEnded` |
//! | a branch fails | `collect` | as if it had completed, with its failure as its part |
//! | | `all`, or too few are left | `LaneEnded`, `BlockFailing`: nothing new starts, calls settle, then `NodeFailed` |
//! | | others can make up for it | `LaneEnded` |
//! | joined | there is a `finally` | it is called; its result is the block's |
//! | | otherwise | `NodeCompleted` with the map of the parts |
//! | a branch that lost has settled | it did things to undo | its compensations are called, the last first |
//! | | nothing is left to undo | `LaneEnded`, cancelled |

use super::supervisor::{LaneRef, Supervisor, has_left_its_slot};
use super::{GRACE_MS, Machine, MachineTask};
use crate::event::{CallRole, DueCall, EventKind, LaneOutcome, ResultPart, ResultParts};
use crate::failure::{FailureRecord, code};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{Join, OnFailure, ParallelNode};
use crate::state::{LaneProgress, LaneSlot, RunState};

impl Supervisor for ParallelNode {
    fn start(&self, machine: &mut Machine<'_>, node: &Path, cause: Seq) {
        let count = u32::try_from(self.branches.len()).unwrap_or(u32::MAX);
        let event =
            EventKind::NodeStarted { node: node.clone(), case: None, count: Some(count), window: None };
        let started = machine.emit(event, cause);
        for branch in &self.branches {
            machine.start_block(&node.child(&branch.name), started);
        }
    }

    fn lane_completed(&self, machine: &mut Machine<'_>, at: &LaneRef, result: Option<Seq>, cause: Seq) {
        let ended = machine.lane_ended(&at.lane, at.index, LaneOutcome::Completed, result, cause);
        machine.join_if_enough(&at.node, self, ended);
    }

    fn lane_failed(&self, machine: &mut Machine<'_>, at: &LaneRef, child: &Path, cause: Seq) {
        let (node, outcome) = (&at.node, LaneOutcome::Failed(child.clone()));
        let ended = machine.lane_ended(&at.lane, at.index, outcome, None, cause);
        match (self.on_failure, self.wanted()) {
            (OnFailure::Collect, _) => machine.join_if_enough(node, self, ended),
            (OnFailure::Fail, None) => machine.fail_when_settled(node, child, None, ended),
            (OnFailure::Fail, Some(wanted)) => machine.fail_if_unreachable(node, wanted, child, ended),
        }
    }

    fn is_lane_over(&self, state: &RunState, at: &LaneRef) -> bool {
        has_left_its_slot(state, at)
    }

    fn runs_lanes_at_once(&self) -> bool {
        true
    }
}

impl Machine<'_> {
    fn fail_if_unreachable(&mut self, path: &Path, wanted: u32, child: &Path, cause: Seq) {
        let Some(lanes) = self.lanes_of(path) else {
            return self.broken(path, "a branch ends of a block that is gone");
        };
        let left = lanes.succeeded + (lanes.count - lanes.ended);
        if left >= wanted {
            return;
        }
        let hard = self.state.node(child).and_then(|node| node.hard.as_ref());
        let (last, why) = hard.map_or((child, ""), |hard| (&hard.origin, hard.failure.message.as_str()));
        let message = format!(
            "`{path}` needs {wanted} of its {} branches, and only {left} can still complete; `{last}` failed last: {why}",
            lanes.count
        );
        let failure = FailureRecord::new(code::JOIN_UNREACHABLE, message);
        self.fail_when_settled(path, child, Some(failure), cause);
    }

    fn join_if_enough(&mut self, path: &Path, parallel: &ParallelNode, cause: Seq) {
        let Some(lanes) = self.lanes_of(path) else {
            return self.broken(path, "a branch ends of a block that is gone");
        };
        let enough = match parallel.wanted() {
            None => lanes.ended == lanes.count,
            Some(wanted) => lanes.succeeded == wanted,
        };
        if !enough {
            return;
        }
        let parts = self.branch_parts(path, parallel);
        let joined =
            self.emit(EventKind::Joined { node: path.clone(), parts: ResultParts::Map(parts) }, cause);
        if parallel.wanted().is_some() {
            self.stop_losers(path, parallel, joined);
        }
        if parallel.finally.is_some() {
            self.begin_call(path, DueCall { role: CallRole::Finally, attempt: 1 }, joined);
        } else {
            self.complete(path, Some(joined), joined);
        }
    }

    /// What the branches left: all of them, or under `first` and `n` those that completed.
    fn branch_parts(&self, path: &Path, parallel: &ParallelNode) -> Vec<(String, ResultPart)> {
        let lanes = self.lanes_of(path);
        let all = (0..).zip(&parallel.branches).map(|(index, branch)| {
            (branch.name.clone(), lanes.map_or(LaneSlot::Open, |lanes| lanes.slot(index)))
        });
        let counts = |slot: LaneSlot| {
            parallel.wanted().is_none() || matches!(slot, LaneSlot::Nothing | LaneSlot::Value(_))
        };
        all.filter(|(_, slot)| counts(*slot)).map(|(name, slot)| (name, slot.part())).collect()
    }

    fn stop_losers(&mut self, path: &Path, parallel: &ParallelNode, cause: Seq) {
        let force_at = self.env.now.plus_ms(GRACE_MS);
        for (index, branch) in (0..).zip(&parallel.branches) {
            let lane = path.child(&branch.name);
            let loses = match self.lanes_of(path).map(|lanes| lanes.slot(index)) {
                Some(LaneSlot::Open) => true,
                // It failed before a lane won, and what it had done is not wanted either.
                Some(LaneSlot::Failure(_)) => self.state.undo.any_within(&lane),
                Some(LaneSlot::Cancelled | LaneSlot::Nothing | LaneSlot::Value(_)) | None => false,
            };
            if !loses {
                continue;
            }
            let cancelling =
                self.emit(EventKind::LaneStopping { lane: lane.clone(), index, force_at }, cause);
            self.cancel_within(&lane, cancelling);
            self.todo.push_back(MachineTask::Settled(lane, cancelling));
        }
    }

    fn lanes_of(&self, path: &Path) -> Option<&LaneProgress> {
        self.state.node(path)?.lanes.as_deref()
    }
}

impl ParallelNode {
    /// How many branches have to complete; `None` means all.
    pub(super) fn wanted(&self) -> Option<u32> {
        match self.join {
            Join::All => None,
            Join::First => Some(1),
            Join::N(n) => Some(n),
        }
    }
}
