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
use crate::api::signal::SignalRequest;

/// A run that was started. Dropping the handle does nothing to the run, and keeping it does not keep the engine going.
pub struct RunHandle<O = Value> {
    engine: Engine,
    run: RunId,
    status: RunStatus,
    output: PhantomData<fn() -> O>,
}

impl<O> RunHandle<O> {
    pub(crate) fn new(engine: &Engine, run: RunId, status: RunStatus) -> Self {
        Self { engine: engine.unheld(), run, status, output: PhantomData }
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
        Self::new(&self.engine, self.run.clone(), self.status)
    }
}

impl<O> fmt::Debug for RunHandle<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunHandle")
            .field("run", &self.run)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}
