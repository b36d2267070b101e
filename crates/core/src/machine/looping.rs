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
use crate::event::{CallRole, DueCall, LaneOutcome};
use crate::failure::{FailureRecord, code};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{LoopNode, LoopTest};
use crate::state::TakenIteration;
use crate::value::Value;

impl Machine<'_> {
    pub(super) fn start_loop(&mut self, path: &Path, each: &LoopNode, cause: Seq) {
        let started = self.node_started(path, cause);
        // Iterations taken over from another run: the loop goes on after the last of them.
        let lanes = self.state.node(path).and_then(|node| node.lanes.as_ref());
        if let Some(taken) = lanes.and_then(|lanes| lanes.imported) {
            return self.go_on_after(path, taken, started);
        }
        match each.test {
            LoopTest::Until(_) => self.start_block(&path.iteration(0), started),
            LoopTest::While(_) => self.test_loop(path, started),
        }
    }

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

    pub(super) fn iteration_completed(&mut self, path: &Path, lane: &Path, result: Option<Seq>, cause: Seq) {
        let index = lane.as_iteration().map_or(0, |(_, index)| index);
        let ended = self.lane_ended(lane, index, LaneOutcome::Completed, result, cause);
        self.test_loop(path, ended);
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
        if goes_on && self.next_iteration(path) >= each.max_iterations {
            let message =
                format!("`{path}` is not done after {} iterations, which is its limit", each.max_iterations);
            return Err(FailureRecord::new(code::MAX_ITERATIONS, message));
        }
        Ok(goes_on)
    }

    pub(super) fn loop_tested(&mut self, path: &Path, goes_on: bool, cause: Seq) {
        if goes_on {
            let lane = path.iteration(self.next_iteration(path));
            self.start_block(&lane, cause);
        } else {
            let last =
                self.state.node(path).and_then(|node| node.lanes.as_ref()).and_then(|lanes| lanes.last);
            self.complete(path, last, cause);
        }
    }

    fn next_iteration(&self, path: &Path) -> u32 {
        self.state.node(path).and_then(|node| node.lanes.as_ref()).map_or(0, |lanes| lanes.next)
    }
}
