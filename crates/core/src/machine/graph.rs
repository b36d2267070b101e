//! A graph: each node as soon as what it waits for has ended. Phases are a graph in which each node waits for all nodes
//! of the phase before.
//!
//! | when | and | then |
//! | --- | --- | --- |
//! | a node ends | completed, skipped, failed softly | those that wait for it, and for nothing else now, start |
//! | the last of the nodes without dependents, or of the last phase, ends | it is the only one | the block completes with its result |
//! | | there are several | `Joined`: a map of their results; the block completes with it |
//! | a node fails | others are at work | `BlockFailing`: nothing new starts, calls settle, then the block fails |
//! | | nothing else is open | the block fails |

use super::{Machine, MachineTask};
use crate::event::{EventKind, ResultPart, ResultParts};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::Node;

impl Machine<'_> {
    pub(super) fn next_in_graph(&mut self, path: &Path, lane: &Path, cause: Seq) {
        let (Some(node), Some(block)) = (self.plan.node(path), self.plan.block(lane)) else {
            return self.broken(path, "a node of a graph ends that is not in the plan");
        };
        let done = |node: &Node| self.is_done(&lane.child(&node.id));
        let completed = node.is_sink() && block.sinks_ended(node, done);
        for next in node.released(done) {
            self.todo.push_back(MachineTask::Start(lane.child(&next.id), cause));
        }
        if completed {
            self.graph_completed(lane, cause);
        }
    }

    fn graph_completed(&mut self, lane: &Path, cause: Seq) {
        let Some(block) = self.plan.block(lane) else {
            return self.broken(lane, "a graph completes that is not in the plan");
        };
        let result = |node: &Node| self.state.node(&lane.child(&node.id)).and_then(|node| node.result);
        let mut sinks = block.sinks();
        if sinks.len() == 1 {
            let result = sinks.next().and_then(result);
            return self.lane_completed(lane, result, cause);
        }
        let parts = sinks.map(|node| (node.id.clone(), ResultPart::from(result(node)))).collect();
        let joined =
            self.emit(EventKind::Joined { node: lane.clone(), parts: ResultParts::Map(parts) }, cause);
        self.lane_completed(lane, Some(joined), joined);
    }
}
