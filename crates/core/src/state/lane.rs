//! How lanes and scopes change the state.

use serde::{Deserialize, Serialize};

use super::{LaneProgress, LaneSlot, RunState};
use crate::event::LaneOutcome;
use crate::failure::FailureRecord;
use crate::ids::{Seq, Time};
use crate::path::{self, Path};

/// A part of a run that is ending while the rest goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndingScope {
    /// A node inside has failed; calls settle, then the block fails.
    Failing {
        /// The node.
        child: Path,
        /// Why the block fails, if it is not the child's own failure.
        failure: Option<FailureRecord>,
    },
    /// The others have won; calls are told to stop, and what the lane did is undone.
    #[serde(rename = "Stopping")]
    Cancelling {
        /// The lane's place among the lanes of its node.
        index: u32,
        /// When its calls are left behind.
        force_at: Time,
    },
}

impl RunState {
    pub(super) fn lanes_started(&mut self, node: &Path, count: u32, window: Option<u32>) {
        let lanes = self.lanes(node);
        lanes.count = count;
        lanes.window = window.unwrap_or(count);
    }

    pub(super) fn lane_ended(&mut self, lane: &Path, index: u32, outcome: &LaneOutcome, result: Option<Seq>) {
        self.close_scope(lane);
        self.close_scopes_within(lane);
        let slot = match outcome {
            LaneOutcome::Completed => result.map_or(LaneSlot::Nothing, LaneSlot::Value),
            LaneOutcome::Failed(node) => {
                self.node(node).and_then(|node| node.failure).map_or(LaneSlot::Nothing, LaneSlot::Failure)
            }
            LaneOutcome::Cancelled => LaneSlot::Cancelled,
        };
        let iteration = lane.as_iteration().map(|(node, _)| node);
        let node = iteration.or_else(|| lane.parent()).unwrap_or_else(Path::root);
        let whole = self.whole;
        let lanes = self.lanes(&node);
        // A branch that had failed and was undone later ends for the second time.
        if lanes.slot(index) != LaneSlot::Open {
            return;
        }
        lanes.ended += 1;
        (lanes.next, lanes.last) = (index + 1, result);
        if *outcome == LaneOutcome::Completed {
            lanes.succeeded += 1;
        }
        if lanes.count > 0 || whole {
            let at = usize::try_from(index).unwrap_or(usize::MAX);
            if lanes.slots.len() <= at {
                lanes.slots.resize(at + 1, LaneSlot::Open);
            }
            lanes.slots[at] = slot;
        }
        match outcome {
            LaneOutcome::Completed => self.forget_iteration(lane),
            LaneOutcome::Failed(_) => {}
            // Iterations around it may have ended long before it settled.
            LaneOutcome::Cancelled => lane.around().skip(1).for_each(|around| self.forget_iteration(&around)),
        }
    }

    /// An iteration has ended: its nodes leave the state. A loop shows its last one until the next one has ended,
    /// because its test reads it.
    fn forget_iteration(&mut self, lane: &Path) {
        let Some((node, index)) = lane.as_iteration() else { return };
        let Some(lanes) = self.node(&node).and_then(|node| node.lanes.as_ref()) else { return };
        if lanes.count > 0 {
            if matches!(lanes.slot(index), LaneSlot::Nothing | LaneSlot::Value(_)) {
                self.forget_lane(lane);
            }
        } else if let Some(before) = index.checked_sub(1)
            && before + 1 < lanes.next
        {
            self.forget_lane(&node.iteration(before));
        }
    }

    /// Drops the nodes of a lane, unless the run may still need them: to show all, to undo, or for what is open.
    fn forget_lane(&mut self, lane: &Path) {
        let wanted = self.whole || self.undo.any_within(lane) || self.is_open_within(lane);
        if wanted {
            return;
        }
        let inside: Vec<Path> = path::keys_within(&self.nodes, lane).map(|(path, _)| path.clone()).collect();
        for path in inside {
            self.forget_node(&path);
        }
    }

    /// Whether a node is in a lane that lost, and was told to stop.
    pub(crate) fn is_in_lost_lane(&self, node: &Path) -> bool {
        let is_lost = |path: &Path| matches!(self.scopes.get(path), Some(EndingScope::Cancelling { .. }));
        !self.scopes.is_empty() && node.around().any(|path| is_lost(&path))
    }

    /// Whether something is at work, waits or is ending inside of a path.
    pub(crate) fn is_open_within(&self, scope: &Path) -> bool {
        self.is_busy_within(scope)
            || [&self.index.held, &self.index.blocked]
                .into_iter()
                .any(|set| path::within(set, scope).next().is_some())
            || path::keys_within(&self.scopes, scope).next().is_some()
    }

    /// Whether something inside of a path has to settle before the path can end.
    pub(crate) fn is_busy_within(&self, scope: &Path) -> bool {
        [&self.index.calls, &self.index.waits, &self.index.parents]
            .into_iter()
            .any(|set| path::within(set, scope).next().is_some())
    }

    /// Blocks inside of one that has failed were failing with it, and have no end of their own. Lanes that lost do.
    pub(super) fn close_scopes_within(&mut self, path: &Path) {
        let inside = path::keys_within(&self.scopes, path);
        let failing = inside.filter(|(_, scope)| matches!(scope, EndingScope::Failing { .. }));
        let failing: Vec<Path> = failing.map(|(scope, _)| scope.clone()).collect();
        failing.iter().for_each(|scope| self.close_scope(scope));
    }

    pub(super) fn lanes(&mut self, node: &Path) -> &mut LaneProgress {
        self.entry(node).lanes.get_or_insert_default()
    }
}
