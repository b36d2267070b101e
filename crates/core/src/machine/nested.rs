//! A nested workflow: another workflow's block, run in place.
//!
//! | when | then |
//! | --- | --- |
//! | its turn comes, its input is mapped | the mapper is called, then the block starts |
//! | its turn comes, otherwise | the block starts |
//! | its block completes | `NodeCompleted` with the last node's result |
//! | its block fails | `NodeFailed`, its own handler is called, then it counts as ended |

use super::{Machine, MachineTask};
use crate::event::{CallRole, DueCall, EventKind};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{NestedNode, NodeKind};

impl Machine<'_> {
    pub(super) fn start_nested(&mut self, path: &Path, nested: &NestedNode, cause: Seq) {
        let taken = self.state.node(path).is_some_and(|node| node.decision.is_some());
        if nested.input.is_some() && !taken {
            self.begin_call(path, DueCall { role: CallRole::Input, attempt: 1 }, cause);
        } else if !self.hold(path, None, cause) {
            self.start_nested_block(path, cause);
        }
    }

    pub(super) fn start_nested_block(&mut self, path: &Path, cause: Seq) {
        let started = self.node_started(path, cause);
        self.start_block(path, started);
    }

    pub(super) fn nested_failed(&mut self, path: &Path, child: &Path, cause: Seq) {
        let event = EventKind::NodeFailed { node: path.clone(), child: child.clone(), failure: None };
        let failed = self.follow(event, cause);
        let handled = self.plan.node(path).is_some_and(
            |node| matches!(&node.node().kind, NodeKind::Workflow(nested) if nested.on_error.is_some()),
        );
        if handled && !self.state.is_ending(path) {
            self.begin_call(path, DueCall { role: CallRole::OnError, attempt: 1 }, failed);
        } else {
            self.todo.push_back(MachineTask::Ended(path.clone(), failed));
        }
    }
}
