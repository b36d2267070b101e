//! A loop: a block again and again.
//!
//! | when | and | then |
//! | --- | --- | --- |
//! | its turn comes | `until` | `NodeStarted`, the first iteration starts |
//! | | `while` | `NodeStarted`, the test is called |
//! | an iteration completes | | `LaneEnded`, the test is called |
//! | the test answers | the loop is to go on | the next iteration starts |
//! | | it is to go on, but has had all iterations | `CallFailed` with `max_iterations` |
//! | | the loop is done | `NodeCompleted` with the last iteration's result |
//! | | neither true nor false | `CallFailed` with `bad_answer` |
//! | an iteration fails | | `NodeFailed` |

use super::Machine;
use super::supervisor::{LaneRef, Supervisor};
use crate::event::{CallRole, DueCall, LaneOutcome};
use crate::failure::{FailureRecord, code};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{LoopNode, LoopTest};
use crate::state::{RunState, TakenIteration};
use crate::value::Value;

impl Supervisor for LoopNode {
    fn start(&self, machine: &mut Machine<'_>, node: &Path, cause: Seq) {
        let started = machine.node_started(node, cause);
        // Iterations taken over from another run: the loop goes on after the last of them.
        let lanes = machine.state.node(node).and_then(|node| node.lanes.as_ref());
        if let Some(taken) = lanes.and_then(|lanes| lanes.imported) {
            return machine.go_on_after(node, taken, started);
        }
        match self.test {
            LoopTest::Until(_) => machine.start_block(&node.iteration(0), started),
            LoopTest::While(_) => machine.test_loop(node, started),
        }
    }

    fn lane_completed(&self, machine: &mut Machine<'_>, at: &LaneRef, result: Option<Seq>, cause: Seq) {
        let ended = machine.lane_ended(&at.lane, at.index, LaneOutcome::Completed, result, cause);
        machine.test_loop(&at.node, ended);
    }

    fn lane_failed(&self, machine: &mut Machine<'_>, at: &LaneRef, child: &Path, cause: Seq) {
        machine.fail(&at.node, child, None, cause);
    }

    fn is_lane_over(&self, state: &RunState, at: &LaneRef) -> bool {
        at.index < next_iteration(state, &at.node)
    }

    fn runs_lanes_at_once(&self) -> bool {
        false
    }
}

/// The iteration that has not ended.
fn next_iteration(state: &RunState, node: &Path) -> u32 {
    state.node(node).and_then(|node| node.lanes.as_ref()).map_or(0, |lanes| lanes.next)
}

impl Machine<'_> {
    fn go_on_after(&mut self, path: &Path, taken: TakenIteration, cause: Seq) {
        let TakenIteration { index, result, tested } = taken;
        let lane = path.iteration(index);
        let ended = self.lane_ended(&lane, index, LaneOutcome::Completed, Some(result), cause);
        if tested {
            self.start_block(&path.iteration(index + 1), ended);
        } else {
            self.test_loop(path, ended);
        }
    }

    fn test_loop(&mut self, path: &Path, cause: Seq) {
        self.begin_call(path, DueCall { role: CallRole::Test, attempt: 1 }, cause);
    }

    /// Whether the loop goes on, or why the test's answer is none.
    pub(super) fn loop_goes_on(
        &self,
        path: &Path,
        each: &LoopNode,
        answer: &Value,
    ) -> Result<bool, FailureRecord> {
        let Ok(answer) = answer.decode::<bool>() else {
            let message = format!("the test of `{path}` must answer true or false, not {answer:?}");
            return Err(FailureRecord::new(code::BAD_ANSWER, message));
        };
        let goes_on = match each.test {
            LoopTest::Until(_) => !answer,
            LoopTest::While(_) => answer,
        };
        if goes_on && next_iteration(self.state, path) >= each.max_iterations {
            let message =
                format!("`{path}` is not done after {} iterations, which is its limit", each.max_iterations);
            return Err(FailureRecord::new(code::MAX_ITERATIONS, message));
        }
        Ok(goes_on)
    }

    pub(super) fn loop_tested(&mut self, path: &Path, goes_on: bool, cause: Seq) {
        if goes_on {
            let lane = path.iteration(next_iteration(self.state, path));
            self.start_block(&lane, cause);
        } else {
            let last =
                self.state.node(path).and_then(|node| node.lanes.as_ref()).and_then(|lanes| lanes.last);
            self.complete(path, last, cause);
        }
    }
}
