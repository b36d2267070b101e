//! Which run and which call this is, and whether it should end early.

use rival_core::{Path, RunId, StepError};
use std::sync::Arc;

use rival_engine::{CancellationToken, RunInfo};

use super::{Asks, Call, FromStep};

/// Which run a step works for, and which call of it this is.
#[derive(Clone, Debug)]
pub struct Run(pub(crate) Arc<RunInfo>);

impl Run {
    /// The run; absent only in a handler for input that was refused.
    pub fn run_id(&self) -> Option<&RunId> {
        self.0.run_id.as_ref()
    }

    /// The workflow's name.
    pub fn workflow(&self) -> &str {
        &self.0.workflow
    }

    /// The step's path.
    pub fn node(&self) -> &Path {
        &self.0.node
    }

    /// The attempt, from 1; calls that a crash cut short are not counted.
    pub fn attempt(&self) -> u32 {
        self.0.attempt
    }

    /// The call, from 1; never used twice.
    pub fn call(&self) -> u32 {
        self.0.call
    }

    /// The same for every call of this step in this run: pass it to services that deduplicate.
    pub fn idempotency_key(&self) -> String {
        self.0.idempotency_key()
    }

    /// The call's span, as the header `traceparent` names it: for services that write on in the trace. Absent unless the
    /// run was started in a trace, or traces are written. HTTP steps send it by themselves.
    pub fn traceparent(&self) -> Option<String> {
        self.0.trace.map(|trace| trace.to_string())
    }
}

#[diagnostic::do_not_recommend]
impl FromStep for Run {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        Ok(Self(call.context.run.clone()))
    }
}

/// Tells a step that it was cancelled or has timed out.
///
/// A step that asks for it is given a grace period to end by itself, instead of being dropped at its next await.
/// A blocking step cannot be dropped: in a long one, ask for it and look at [`is_cancelled`](Self::is_cancelled).
#[derive(Clone, Debug, Default)]
pub struct Cancellation(pub(crate) CancellationToken);

impl Cancellation {
    /// Waits until the step should end.
    pub async fn cancelled(&self) {
        self.0.cancelled().await;
    }

    /// Whether the step should end.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

#[diagnostic::do_not_recommend]
impl FromStep for Cancellation {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        Ok(Self(call.context.cancellation.clone()))
    }

    fn asks(asks: &mut Asks) {
        asks.cancellation = true;
    }
}
