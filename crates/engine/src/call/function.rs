//! The one shape that every user function has for the engine, whatever it was written in.

use futures::future::BoxFuture;
use rival_core::event::LostReason;
use rival_core::{StepError, Value};

use crate::call::context::CallContext;

/// A user function: a step, a handler, a mapper, a computed sleep.
///
/// The engine calls it at least once and records its outcome once. The future is dropped when the call
/// is cancelled or times out, unless [`FunctionNeeds::cancellation`] is set. A panic is a failure.
pub trait UserFunction: Send + Sync + 'static {
    /// What the engine has to have ready before the call.
    fn needs(&self) -> &FunctionNeeds;

    /// Calls it. What it puts into `context.state` is recorded, also when it fails.
    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>>;
}

/// Why a call gives no result.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// The function failed.
    Failed(StepError),
    /// The call was cut short through no fault of its function: what ran it is gone. It is made again and not charged,
    /// as after a crash of the engine's own process; a step that must not be called again fails with `interrupted`.
    /// A call that only waited for durable operations is a bystander, whatever happened.
    Lost(LostReason),
}

impl From<StepError> for CallError {
    fn from(error: StepError) -> Self {
        Self::Failed(error)
    }
}

/// What a function asks for.
#[derive(Clone, Debug, Default)]
pub struct FunctionNeeds {
    /// Results of earlier steps, which the engine loads before the call.
    pub outputs: Vec<OutputNeed>,
    /// Ids of earlier nodes, which the engine loads before the call.
    pub steps: Vec<String>,
    /// The node before it.
    pub last_step: bool,
    /// It watches the cancellation token: on cancel it is told and given the grace period, instead of being
    /// dropped at its next await.
    pub cancellation: bool,
    /// Where it stands in the loop around it.
    pub iteration: bool,
    /// It asks for durable operations.
    pub durable: bool,
    /// All items of the forEach around it, not only its own.
    pub items: bool,
    /// It works in another thread or process, and not in its future: a future that waits does not mean that nothing is
    /// being done.
    pub elsewhere: bool,
}

/// A result of an earlier step that a function asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputNeed {
    /// The name of the function that produces it.
    pub function: String,
}
