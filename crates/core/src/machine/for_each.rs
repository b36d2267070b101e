//! A forEach: a block for each item of a list.
//!
//! | when | and | then |
//! | --- | --- | --- |
//! | its turn comes | | its function is called for the items |
//! | the function answers | a list | `NodeStarted` with the count; as many items start as the window allows |
//! | | a list that is too long | `CallFailed` with `max_iterations` |
//! | | anything else | `CallFailed` with `bad_answer` |
//! | an item completes | others are left | `LaneEnded`, the next one starts |
//! | | it was the last | `LaneEnded`, `Joined`, `NodeCompleted` |
//! | an item fails | others are at work | `LaneEnded`, `BlockFailing`: nothing new starts, calls settle |
//! | | nothing else is open | `LaneEnded`, `NodeFailed` |

use serde_json::value::RawValue;

use super::Machine;
use super::supervisor::{LaneRef, Supervisor, has_left_its_slot};
use crate::event::{CallRole, DueCall, EventKind, LaneOutcome, ResultPart, ResultParts};
use crate::failure::{FailureRecord, code};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::ForEachNode;
use crate::state::RunState;
use crate::value::Value;

impl Supervisor for ForEachNode {
    fn start(&self, machine: &mut Machine<'_>, node: &Path, cause: Seq) {
        let taken = machine.state.node(node).and_then(|node| node.decision.as_ref());
        match taken.and_then(|taken| taken.count) {
            // Taken over from another run.
            Some(count) => machine.items_listed(node, self, count, cause),
            None => machine.begin_call(node, DueCall { role: CallRole::Items, attempt: 1 }, cause),
        }
    }

    fn lane_completed(&self, machine: &mut Machine<'_>, at: &LaneRef, result: Option<Seq>, cause: Seq) {
        let ended = machine.lane_ended(&at.lane, at.index, LaneOutcome::Completed, result, cause);
        machine.item_completed(&at.node, ended);
    }

    fn lane_failed(&self, machine: &mut Machine<'_>, at: &LaneRef, child: &Path, cause: Seq) {
        let outcome = LaneOutcome::Failed(child.clone());
        let ended = machine.lane_ended(&at.lane, at.index, outcome, None, cause);
        machine.fail_when_settled(&at.node, child, None, ended);
    }

    fn is_lane_over(&self, state: &RunState, at: &LaneRef) -> bool {
        has_left_its_slot(state, at)
    }

    fn runs_lanes_at_once(&self) -> bool {
        true
    }
}

impl Machine<'_> {
    pub(super) fn items_listed(&mut self, path: &Path, each: &ForEachNode, count: u32, cause: Seq) {
        let window = Some(each.concurrency).filter(|window| *window < count);
        let event = EventKind::NodeStarted { node: path.clone(), case: None, count: Some(count), window };
        let started = self.emit(event, cause);
        if count == 0 {
            return self.join_items(path, started);
        }
        for index in 0..count.min(each.concurrency) {
            self.start_block(&path.iteration(index), started);
        }
    }

    fn item_completed(&mut self, path: &Path, ended: Seq) {
        let Some(lanes) = self.state.node(path).and_then(|node| node.lanes.as_ref()) else {
            return self.broken(path, "an item completes of a list that is gone");
        };
        if lanes.ended == lanes.count {
            return self.join_items(path, ended);
        }
        // As many have begun as have ended and the window holds, so this end makes room for exactly one.
        let next = lanes.ended.saturating_add(lanes.window) - 1;
        if next < lanes.count {
            self.start_block(&path.iteration(next), ended);
        }
    }

    fn join_items(&mut self, path: &Path, cause: Seq) {
        let lanes = self.state.node(path).and_then(|node| node.lanes.as_ref());
        let parts: Vec<ResultPart> =
            lanes.map_or_else(Vec::new, |lanes| lanes.slots.iter().map(|slot| slot.part()).collect());
        let joined =
            self.emit(EventKind::Joined { node: path.clone(), parts: ResultParts::List(parts) }, cause);
        self.complete(path, Some(joined), joined);
    }
}

impl ForEachNode {
    /// How many items there are, or why the answer is no list of them.
    pub(super) fn count_of(&self, node: &Path, answer: &Value) -> Result<u32, FailureRecord> {
        let Ok(items) = answer.decode::<Vec<&RawValue>>() else {
            let message = format!("the items of `{node}` must be a list");
            return Err(FailureRecord::new(code::BAD_ANSWER, message));
        };
        let max = self.max_iterations.unwrap_or(u32::MAX);
        match u32::try_from(items.len()) {
            Ok(count) if count <= max => Ok(count),
            Ok(_) | Err(_) => {
                let message = format!("`{node}` has {} items, more than its limit of {max}", items.len());
                Err(FailureRecord::new(code::MAX_ITERATIONS, message))
            }
        }
    }
}
