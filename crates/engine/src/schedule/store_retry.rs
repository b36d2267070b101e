//! Asking a store again that cannot answer now.

use std::fmt::Display;
use std::time::Duration;

use rival_core::RunId;
use rival_store::{CommitError, StoreError};

use crate::call::values::ReadError;
use crate::run::load::LoadError;
use crate::schedule::shared::EngineShared;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// An error that may be a fault of the store.
pub(crate) trait StoreFault: Display {
    /// The fault of the store, if it is one.
    fn store_error(&self) -> Option<&StoreError>;
}

impl StoreFault for StoreError {
    fn store_error(&self) -> Option<&StoreError> {
        Some(self)
    }
}

impl StoreFault for CommitError {
    fn store_error(&self) -> Option<&StoreError> {
        if let Self::Store(error) = self { Some(error) } else { None }
    }
}

impl StoreFault for ReadError {
    fn store_error(&self) -> Option<&StoreError> {
        if let Self::Store(error) = self { Some(error) } else { None }
    }
}

impl StoreFault for LoadError {
    fn store_error(&self) -> Option<&StoreError> {
        if let Self::Store(error) = self { Some(error) } else { None }
    }
}

/// The pauses between attempts: longer each time, and short again when the store takes writes.
pub(crate) struct StoreRetry<'r> {
    run: &'r RunId,
    what: &'static str,
    pause: Duration,
    /// The engine that waits, which gives up when it stops.
    engine: Option<&'r EngineShared>,
}

impl<'r> StoreRetry<'r> {
    /// Inside of a call, which its actor ends when the engine stops.
    pub(crate) fn in_call(run: &'r RunId, what: &'static str) -> Self {
        Self { run, what, pause: FIRST_PAUSE, engine: None }
    }

    /// Waits until it is worth asking again. Gives the error back where that does not help.
    pub(crate) async fn after<E: StoreFault>(&mut self, error: E) -> Result<(), E> {
        let is_stopping = self.engine.is_some_and(EngineShared::is_stopping);
        if is_stopping || !error.store_error().is_some_and(StoreError::is_retryable) {
            return Err(error);
        }
        tracing::warn!(run = %self.run, %error, "{}; trying again", self.what);
        tokio::time::sleep(self.pause).await;
        self.pause = match self.engine {
            Some(engine) if engine.is_writable().await => FIRST_PAUSE,
            _ => (self.pause * 2).min(LONGEST_PAUSE),
        };
        Ok(())
    }
}

impl EngineShared {
    async fn is_writable(&self) -> bool {
        let checked = async { self.store.get()?.check_writable().await };
        checked.await.is_ok()
    }

    /// For something that a run needs of the store.
    pub(crate) fn store_retry<'r>(&'r self, run: &'r RunId, what: &'static str) -> StoreRetry<'r> {
        StoreRetry { run, what, pause: FIRST_PAUSE, engine: Some(self) }
    }
}
