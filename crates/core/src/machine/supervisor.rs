//! Supervisors: nodes with blocks inside. Each kind is one file, and one line of [`supervisor_of`].
//!
//! | what happens | the supervisor |
//! | --- | --- |
//! | its turn comes | starts its lanes, or first calls a function that says which |
//! | a lane completes | starts the next one, joins, or ends |
//! | a lane fails | fails too, goes on with the others, or waits until they have settled |

use super::Machine;
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::NodeKind;
use crate::state::{LaneSlot, RunState};

/// The logic of a node with blocks inside.
pub(super) trait Supervisor {
    /// The node's turn has come.
    fn start(&self, machine: &mut Machine<'_>, node: &Path, cause: Seq);

    /// The block of a lane is through.
    fn lane_completed(&self, machine: &mut Machine<'_>, at: &LaneRef, result: Option<Seq>, cause: Seq);

    /// A node in the block of a lane has failed, and nothing else in that block is open.
    fn lane_failed(&self, machine: &mut Machine<'_>, at: &LaneRef, child: &Path, cause: Seq);

    /// Whether a lane has ended while the node goes on. With the node all of its lanes are over.
    fn is_lane_over(&self, state: &RunState, at: &LaneRef) -> bool;

    /// Whether several lanes are at work at a time. Then a lane that fails makes the node itself the scope that has to
    /// settle; else a scope at the node's path is the only lane's.
    fn runs_lanes_at_once(&self) -> bool;
}

/// One lane of a supervisor.
#[derive(Clone, Debug)]
pub(super) struct LaneRef {
    /// The supervisor's node.
    pub(super) node: Path,
    /// The path of the lane; of a nested workflow that of its node.
    pub(super) lane: Path,
    /// The lane's place among the lanes of its node.
    pub(super) index: u32,
}

/// The supervisor that a kind of node has, if it has blocks inside.
pub(super) fn supervisor_of(kind: &NodeKind) -> Option<&dyn Supervisor> {
    match kind {
        NodeKind::Workflow(nested) => Some(nested),
        NodeKind::Branch(branch) => Some(branch),
        NodeKind::Loop(each) => Some(each),
        NodeKind::ForEach(each) => Some(each),
        NodeKind::Parallel(parallel) => Some(parallel),
        NodeKind::Step(_) | NodeKind::Sleep(_) | NodeKind::Signal(_) => None,
    }
}

/// Whether a lane of a supervisor that knows how many it has is among those that have ended.
pub(super) fn has_left_its_slot(state: &RunState, at: &LaneRef) -> bool {
    let lanes = state.node(&at.node).and_then(|node| node.lanes.as_ref());
    lanes.is_some_and(|lanes| lanes.slot(at.index) != LaneSlot::Open)
}
