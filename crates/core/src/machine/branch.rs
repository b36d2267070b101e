//! A branch: one of several blocks.
//!
//! | when | and | then |
//! | --- | --- | --- |
//! | its turn comes | | its function is called |
//! | the function answers | a case of that name, or `true` / `false` and a case `then` / `else` | `NodeStarted` with the case; that block starts |
//! | | no such case, but a default | the same with the default |
//! | | `true` or `false` and no such case | `NodeStarted` without a case; completes without a result |
//! | | anything else | `CallFailed` with `no_such_case` |
//! | the block completes | | `NodeCompleted` with the last node's result |
//! | the block fails | | `NodeFailed` |

use super::Machine;
use super::supervisor::{LaneRef, Supervisor};
use crate::event::{CallRole, DueCall, EventKind};
use crate::failure::{FailureRecord, code};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{BranchNode, DEFAULT_CASE};
use crate::state::RunState;
use crate::value::Value;

impl Supervisor for BranchNode {
    fn start(&self, machine: &mut Machine<'_>, node: &Path, cause: Seq) {
        match machine.state.node(node).and_then(|node| node.decision.clone()) {
            // Taken over from another run.
            Some(decision) => machine.branch_chosen(node, self.known_case(decision.case), cause),
            None => machine.begin_call(node, DueCall { role: CallRole::Choose, attempt: 1 }, cause),
        }
    }

    fn lane_completed(&self, machine: &mut Machine<'_>, at: &LaneRef, result: Option<Seq>, cause: Seq) {
        machine.complete(&at.node, result, cause);
    }

    fn lane_failed(&self, machine: &mut Machine<'_>, at: &LaneRef, child: &Path, cause: Seq) {
        machine.fail(&at.node, child, None, cause);
    }

    fn is_lane_over(&self, _: &RunState, _: &LaneRef) -> bool {
        false
    }

    fn runs_lanes_at_once(&self) -> bool {
        false
    }
}

impl Machine<'_> {
    pub(super) fn branch_chosen(&mut self, path: &Path, case: Option<String>, cause: Seq) {
        let event =
            EventKind::NodeStarted { node: path.clone(), case: case.clone(), count: None, window: None };
        let started = self.emit(event, cause);
        match case {
            Some(case) => self.start_block(&path.child(&case), started),
            None => self.complete(path, None, started),
        }
    }
}

impl BranchNode {
    /// The case that an answer means; `None` if none applies and none has to.
    pub(super) fn case_of(&self, node: &Path, answer: &Value) -> Result<Option<String>, FailureRecord> {
        let answer = answer.to_json();
        let (name, must_exist) = match &answer {
            serde_json::Value::Bool(true) => ("then", false),
            serde_json::Value::Bool(false) => ("else", false),
            serde_json::Value::String(name) => (name.as_str(), true),
            other => {
                let message =
                    format!("`{node}` must be answered with true, false or the name of a case, not {other}");
                return Err(FailureRecord::new(code::BAD_ANSWER, message));
            }
        };
        if self.cases.iter().any(|case| case.name == name) {
            Ok(Some(name.to_owned()))
        } else if self.default.is_some() {
            Ok(Some(DEFAULT_CASE.to_owned()))
        } else if must_exist {
            let known: Vec<String> = self.cases.iter().map(|case| format!("`{}`", case.name)).collect();
            let known = known.join(", ");
            let message = format!("`{node}` has no case `{name}` and no default; its cases are {known}");
            Err(FailureRecord::new(code::NO_CASE, message))
        } else {
            Ok(None)
        }
    }

    /// The case of a decision that another plan may have made.
    fn known_case(&self, case: Option<String>) -> Option<String> {
        let here = |name: &String| self.cases.iter().any(|case| case.name == *name);
        let default = || self.default.as_ref().map(|_| DEFAULT_CASE.to_owned());
        case.filter(here).or_else(default)
    }
}
