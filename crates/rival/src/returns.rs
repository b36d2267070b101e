//! What a step function may return: a `Result`, or a future of one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::future::BoxFuture;
use rival_core::failure::code;
use rival_core::{FailureRecord, StepError, Value};
use rival_engine::panicked;

use crate::data::Data;

/// An error that a step may return: any error, a string, `anyhow::Error`, or [`StepError`] itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a step's error",
    label = "must be an error, a string or `StepError`",
    note = "a boxed error must be `Send + Sync`: `Box<dyn std::error::Error + Send + Sync>`",
    note = "an error of your own must implement `std::error::Error` and be `Send + Sync + 'static`; else return `StepError`"
)]
pub trait IntoStepError {
    /// The error as a step's.
    fn into_step_error(self) -> StepError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<StepError>> IntoStepError for E {
    fn into_step_error(self) -> StepError {
        let mut error: StepError = self.into();
        // An error that becomes a step's only here was made elsewhere, at a line that is not known.
        if let Some(origin) = &mut error.failure.origin {
            origin.forget_file(file!());
        }
        error
    }
}

/// `Result<T, E>`, what a step gives in the end.
#[diagnostic::on_unimplemented(
    message = "a step cannot return `{Self}`",
    label = "must be `Result<T, E>`",
    note = "write `Result<{Self}, StepError>`"
)]
pub trait StepResult {
    /// What it returns when all is well.
    type Ok: Data;

    /// The result with its error as a step's.
    fn into_result(self) -> Result<Self::Ok, StepError>;
}

impl<T: Data, E: IntoStepError> StepResult for Result<T, E> {
    type Ok = T;

    fn into_result(self) -> Result<T, StepError> {
        self.map_err(IntoStepError::into_step_error)
    }
}

/// Marks functions that block: they run on a thread of their own.
#[derive(Debug)]
pub enum Blocking {}

/// Marks functions that return a future.
#[derive(Debug)]
pub enum Async {}

/// What a step function returns: `K` tells `fn` and `async fn` apart.
#[diagnostic::on_unimplemented(
    message = "a step cannot return `{Self}`",
    label = "must be `Result<T, E>`, or a future of one",
    note = "write `Result<{Self}, StepError>`"
)]
pub trait StepReturn<K> {
    /// What it returns when all is well.
    type Ok: Data;

    /// It is given a thread.
    #[doc(hidden)]
    const BLOCKING: bool;

    /// Makes the call and encodes what it gives.
    #[doc(hidden)]
    fn start(call: impl FnOnce() -> Self + Send + 'static) -> BoxFuture<'static, Result<Value, StepError>>;
}

impl<T: Data, E: IntoStepError> StepReturn<Blocking> for Result<T, E> {
    type Ok = T;

    const BLOCKING: bool = true;

    fn start(call: impl FnOnce() -> Self + Send + 'static) -> BoxFuture<'static, Result<Value, StepError>> {
        Box::pin(async move {
            // Errors are converted on the blocking thread, because `E` itself need not be `Send`, and a panic's place is
            // known there only.
            let done = tokio::task::spawn_blocking(move || {
                let returned = catch_unwind(AssertUnwindSafe(|| recorded(call())));
                returned.unwrap_or_else(|panic| Err(panicked(&*panic)))
            });
            // A blocking task is only cancelled before it begins, when the runtime goes down.
            let ended = |_| FailureRecord::new(code::CANCELLED, "the runtime is shutting down").plain();
            done.await.map_err(ended)?
        })
    }
}

impl<F, R> StepReturn<Async> for F
where
    F: Future<Output = R> + Send + 'static,
    R: StepResult,
{
    type Ok = R::Ok;

    const BLOCKING: bool = false;

    fn start(call: impl FnOnce() -> Self + Send + 'static) -> BoxFuture<'static, Result<Value, StepError>> {
        Box::pin(async move { recorded(call().await) })
    }
}

fn recorded<R: StepResult>(result: R) -> Result<Value, StepError> {
    let value = result.into_result()?;
    rival_engine::encode(&value).map_err(|error| {
        let name = std::any::type_name::<R::Ok>();
        let message = format!("the result of type `{name}` cannot be recorded: {error}");
        FailureRecord::new(code::NOT_JSON, message).stop()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("too poor")]
    struct TooPoor;

    #[test]
    fn a_steps_own_error_has_its_type_and_no_place() {
        let result: Result<(), TooPoor> = Err(TooPoor);
        let origin = result.into_result().unwrap_err().failure.origin.unwrap();
        assert!(origin.class.unwrap().ends_with("TooPoor"));
        assert_eq!(origin.file, None);
    }
}
