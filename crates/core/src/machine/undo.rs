//! Undoing: compensations, the last step first.
//!
//! | state | what happens | then |
//! | --- | --- | --- |
//! | a run fails or is cancelled, all settled | steps are to be undone | the compensation of the last one is called |
//! | a lane has lost, all settled | steps in it are to be undone | the same, within the lane |
//! | a compensation is at work | it succeeds | the one before it is next |
//! | | it fails, attempts remain | `CallFailed` with `retryAt` |
//! | | it fails for good | kept for the run's error; the one before it is next |
//! | | a cancel is asked for | nothing: it is not interrupted |
//! | | the run is killed | it is left behind, and nothing else is undone |

use super::Machine;
use crate::event::{Due, Role};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{Compensation, Retry};

/// How often a compensation is tried if it does not say.
const ATTEMPTS: u32 = 3;

impl Machine<'_> {
    /// Calls the compensation that is next inside of a scope. Gives whether there was one.
    pub(super) fn undo_next(&mut self, scope: &Path, cause: Seq) -> bool {
        if self.state.killed {
            return false;
        }
        let Some(node) = self.state.undo.last_within(scope) else { return false };
        self.begin_call(&node, Due { role: Role::Compensate, attempt: 1 }, cause);
        true
    }

    pub(super) fn compensation(&self, node: &Path) -> Option<&Compensation> {
        self.step(node)?.compensate.as_ref()
    }
}

impl Compensation {
    /// When and how often it is tried.
    pub(super) fn tried(&self) -> Retry {
        Retry { max_attempts: self.retry.max_attempts.or(Some(ATTEMPTS)), ..self.retry.clone() }
    }
}
