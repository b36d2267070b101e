//! Undoing: compensations, the last step first.
//!
//! | state | what happens | then |
//! | --- | --- | --- |
//! | a run fails or is cancelled, all settled | steps are to be undone | the compensation of the last one is called |
//! | | the last thing done is a completed child | `ChildUndoing`: a run that undoes it is started |
//! | a lane has lost, all settled | steps or children in it are to be undone | the same, within the lane |
//! | a child is being undone | the run that does it has ended | `ChildUndone`; what was done before it is next |
//! | a compensation is at work | it succeeds | the one before it is next |
//! | | it fails, attempts remain | `CallFailed` with `retryAt` |
//! | | it fails for good | kept for the run's error; the one before it is next |
//! | | a cancel is asked for | nothing: it is not interrupted |
//! | | the run is killed | it is left behind, and nothing else is undone |

use super::{CommitExtra, Machine, MachineTask};
use crate::durable::ChildOutcome;
use crate::event::{CallRole, DueCall, EventCause, EventKind, ExternalCause};
use crate::ids::{RunId, Seq};
use crate::path::Path;
use crate::plan::{CompensationSpec, RetryPolicy};
use crate::state::{UndoEntry, left_undone};

/// How often a compensation is tried if it does not say.
const ATTEMPTS: u32 = 3;

impl Machine<'_> {
    /// Calls the compensation that is next inside of a scope. Gives whether there was one.
    pub(super) fn undo_next(&mut self, scope: &Path, cause: Seq) -> bool {
        if self.state.killed {
            return false;
        }
        let Some(UndoEntry { node, child, .. }) = self.state.undo.last_within(scope).cloned() else {
            return false;
        };
        match child {
            None => self.begin_call(&node, DueCall { role: CallRole::Compensate, attempt: 1 }, cause),
            Some(child) => self.undo_child(node, child, cause),
        }
        true
    }

    /// Starts the run that undoes a child. Also while nothing else may start here: it does not run here.
    fn undo_child(&mut self, node: Path, child: RunId, cause: Seq) {
        let undo = child.undo();
        self.emit(EventKind::ChildUndoing { node, child: child.clone(), undo: undo.clone() }, cause);
        self.decision.extras.push(CommitExtra::Undo { child, undo });
    }

    pub(super) fn child_undone(&mut self, node: Path, child: RunId, undo: RunId, outcome: ChildOutcome) {
        let failure = match outcome {
            ChildOutcome::Cancelled { not_undone, .. } => left_undone(&child, &not_undone),
            ChildOutcome::Failed { failure, .. } => Some(failure),
            ChildOutcome::Completed(_) => None,
        };
        let event = EventKind::ChildUndone { node: node.clone(), child, undo, failure };
        let seq = self.emit(event, EventCause::Outside(ExternalCause::Child));
        self.todo.push_back(MachineTask::Settled(node, seq));
    }

    pub(super) fn compensation(&self, node: &Path) -> Option<&CompensationSpec> {
        self.step(node)?.compensate.as_ref()
    }
}

impl CompensationSpec {
    /// When and how often it is tried.
    pub(super) fn compensation_retry(&self) -> RetryPolicy {
        RetryPolicy { max_attempts: self.retry.max_attempts.or(Some(ATTEMPTS)), ..self.retry.clone() }
    }
}
