//! What an error handler is told.

use std::ops::Deref;
use std::sync::Arc;

use rival_core::{FailureRecord, StepError};
use rival_engine::FailureContext;

use super::{Asks, Call, FromStep};

/// What went wrong, for error handlers: `failure.error`, `failure.failed_step`, `failure.workflow_state`.
///
/// A workflow's handler is also called for input that was refused. Then there is no run, the failed step is
/// `__input__`, and `Input<T>` has nothing to decode: take the input from `failure.workflow_state`.
#[derive(Clone, Debug)]
pub struct Failure(pub(crate) Arc<FailureContext>);

impl Deref for Failure {
    type Target = FailureContext;

    fn deref(&self) -> &FailureContext {
        &self.0
    }
}

#[diagnostic::do_not_recommend]
impl FromStep for Failure {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        call.context.failure.clone().map(Failure).ok_or_else(|| {
            let message = format!("`{}` asks for Failure, but nothing has failed", call.step());
            FailureRecord::new("missing_failure", message).stop()
        })
    }

    fn asks(asks: &mut Asks) {
        asks.failure = true;
    }
}
