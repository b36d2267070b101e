//! A nested workflow: another workflow's block, run in place.
//!
//! | when | then |
//! | --- | --- |
//! | its turn comes, its input is mapped | the mapper is called, then the block starts |
//! | its turn comes, otherwise | the block starts |
//! | its block completes | `NodeCompleted` with the last node's result |
//! | its block fails | `NodeFailed`, its own handler is called, then it counts as ended |

use super::supervisor::{LaneRef, Supervisor};
use super::{Machine, MachineTask};
use crate::event::{CallRole, DueCall, EventKind};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::NestedNode;
use crate::state::RunState;

impl Supervisor for NestedNode {
    fn start(&self, machine: &mut Machine<'_>, node: &Path, cause: Seq) {
        let taken = machine.state.node(node).is_some_and(|node| node.decision.is_some());
        if self.input.is_some() && !taken {
            machine.begin_call(node, DueCall { role: CallRole::Input, attempt: 1 }, cause);
        } else if !machine.hold(node, None, cause) {
            machine.start_nested_block(node, cause);
        }
    }

    fn lane_completed(&self, machine: &mut Machine<'_>, at: &LaneRef, result: Option<Seq>, cause: Seq) {
        machine.complete(&at.node, result, cause);
    }

    fn lane_failed(&self, machine: &mut Machine<'_>, at: &LaneRef, child: &Path, cause: Seq) {
        let event = EventKind::NodeFailed { node: at.node.clone(), child: child.clone(), failure: None };
        let failed = machine.emit(event, cause);
        if self.on_error.is_some() && !machine.state.is_ending(&at.node) {
            machine.begin_call(&at.node, DueCall { role: CallRole::OnError, attempt: 1 }, failed);
        } else {
            machine.todo.push_back(MachineTask::Ended(at.node.clone(), failed));
        }
    }

    fn is_lane_over(&self, _: &RunState, _: &LaneRef) -> bool {
        false
    }

    fn runs_lanes_at_once(&self) -> bool {
        false
    }
}

impl Machine<'_> {
    pub(super) fn start_nested_block(&mut self, path: &Path, cause: Seq) {
        let started = self.node_started(path, cause);
        self.start_block(path, started);
    }
}
