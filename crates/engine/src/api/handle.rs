//! A started run, as its starter holds it.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use futures::stream::BoxStream;
use rival_core::view::{RunOutcome, RunView};
use rival_core::{Event, RunId, RunStatus, Seq, Value};
use serde::de::DeserializeOwned;

use crate::api::engine::Engine;
use crate::api::error::RunError;
use crate::api::fork::ForkRequest;
use crate::api::signal::SignalRequest;
use crate::api::start::RunTarget;

/// A run that was started. Dropping the handle does nothing to the run, and keeping it does not keep the engine going.
///
/// `O` is what the run's workflow gives. A run that is found by its id gives a [`Value`] until [`of`](Self::of) says which
/// workflow's run it is.
pub struct RunHandle<O = Value> {
    engine: Engine,
    run: RunId,
    workflow: String,
    status: RunStatus,
    output: PhantomData<fn() -> O>,
}

impl<O> RunHandle<O> {
    pub(crate) fn new(engine: &Engine, run: RunId, workflow: String, status: RunStatus) -> Self {
        Self { engine: engine.unheld(), run, workflow, status, output: PhantomData }
    }

    /// The same run with the output of its workflow: `engine.handle("order-7").await?.of(&orders)?`. A run of another
    /// workflow is an error.
    #[expect(clippy::needless_pass_by_value, reason = "`of(&workflow)` is how it reads best")]
    pub fn of<I, W: RunTarget<I>>(self, workflow: W) -> Result<RunHandle<W::Output>, RunError> {
        let Self { engine, run, workflow: of, status, .. } = self;
        if workflow.workflow() != of {
            let message = format!("it is a run of `{of}`, not of `{}`", workflow.workflow());
            return Err(RunError::Output { run, message });
        }
        Ok(RunHandle::new(&engine, run, of, status))
    }

    /// The run's id.
    pub fn id(&self) -> &RunId {
        &self.run
    }

    /// Where the run stood when it was started: `running`, `queued`, or wherever an existing run stands.
    pub fn status(&self) -> RunStatus {
        self.status
    }

    /// Waits for the run's end, up to five minutes.
    pub async fn wait(&self) -> Result<RunOutcome, RunError> {
        self.engine.wait(&self.run).await
    }

    /// Waits for the run's end, up to a time of your own.
    pub async fn wait_for(&self, timeout: Duration) -> Result<RunOutcome, RunError> {
        self.engine.wait_for(&self.run, timeout).await
    }

    /// The run as it is now.
    pub async fn state(&self) -> Result<RunView, RunError> {
        self.engine.get(&self.run).await
    }

    /// Asks the run to stop; see [`Engine::cancel`].
    pub async fn cancel(&self, reason: impl Into<String>) -> Result<RunStatus, RunError> {
        self.engine.cancel(&self.run, reason).await
    }

    /// Ends the run at once; see [`Engine::kill`].
    pub async fn kill(&self, reason: impl Into<String>) -> Result<RunStatus, RunError> {
        self.engine.kill(&self.run, reason).await
    }

    /// Sends the run a signal; see [`Engine::signal`].
    pub fn signal(&self, name: impl Into<String>, payload: impl serde::Serialize) -> SignalRequest {
        self.engine.signal(&self.run, name, payload)
    }

    /// Starts a new run from where this one failed; see [`Engine::retry`].
    pub fn retry(&self) -> ForkRequest<O> {
        ForkRequest::retry(self.engine.clone(), self.run.clone())
    }

    /// Starts a new run from any point of this one, which has ended; see [`Engine::fork`].
    pub fn fork(&self) -> ForkRequest<O> {
        ForkRequest::new(self.engine.clone(), self.run.clone())
    }

    /// Holds the run; see [`Engine::pause`].
    pub async fn pause(&self) -> Result<RunStatus, RunError> {
        self.engine.pause(&self.run).await
    }

    /// Lets the run go on; see [`Engine::resume`].
    pub async fn resume(&self) -> Result<RunStatus, RunError> {
        self.engine.resume(&self.run).await
    }

    /// What the run is waiting for, in one sentence; see [`Engine::explain`].
    pub async fn explain(&self) -> Result<String, RunError> {
        self.engine.explain(&self.run).await
    }

    /// The run's events from the first on, as they become durable.
    pub fn events(&self) -> BoxStream<'static, Result<Event, RunError>> {
        self.engine.subscribe(&self.run, Seq::ZERO)
    }
}

impl<O: DeserializeOwned> RunHandle<O> {
    /// Waits for the run's end, up to five minutes, and gives its output. A run that failed or was cancelled is an
    /// error, also if another run retries it by itself. For a run that may take longer, use
    /// [`RunHandle::wait_for`].
    pub async fn output(&self) -> Result<O, RunError> {
        let outcome = self.wait().await?;
        let run = self.run.clone();
        if outcome.status != RunStatus::Completed {
            return Err(RunError::NotCompleted(Box::new(outcome)));
        }
        let output = outcome.output.unwrap_or_default();
        if crate::inspect::bounded::is_omitted(&output) {
            return Err(RunError::OutputTooLarge { run });
        }
        serde_json::from_str(output.as_json())
            .map_err(|error| RunError::Output { run, message: error.to_string() })
    }
}

impl<O> Clone for RunHandle<O> {
    fn clone(&self) -> Self {
        Self::new(&self.engine, self.run.clone(), self.workflow.clone(), self.status)
    }
}

impl<O> fmt::Debug for RunHandle<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunHandle")
            .field("run", &self.run)
            .field("workflow", &self.workflow)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}
