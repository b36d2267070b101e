//! Asking a store again that cannot answer now.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rival_core::RunId;
use rival_store::{CommitError, StoreError};

use crate::call::values::ReadError;
use crate::run::load::LoadError;
use crate::schedule::shared::EngineShared;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often the log says that the store cannot answer.
const WARNING_PERIOD: Duration = Duration::from_secs(10);

/// The faults that this process has logged. A store that is full fails every run, again and again: one line in a while says
/// as much.
static FAULTS: FaultLog = FaultLog(Mutex::new(None));

/// When a fault was logged last, and how many others were met since.
struct FaultLog(Mutex<Option<(Instant, u64)>>);

/// Logs a fault of the store that a run met, unless another one was logged a moment ago.
pub(crate) fn warn_of_fault(run: &RunId, error: &impl Display, what: &dyn Display) {
    if let Some(others) = FAULTS.admit(Instant::now()) {
        tracing::warn!(%run, %error, others, "{what}");
    }
}

impl FaultLog {
    /// How many were not logged since the last one that was; `None` if this one is not either.
    fn admit(&self, now: Instant) -> Option<u64> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *last {
            Some((at, others)) if now.duration_since(*at) < WARNING_PERIOD => {
                *others += 1;
                None
            }
            other => Some(other.replace((now, 0)).map_or(0, |(_, others)| others)),
        }
    }
}

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
        warn_of_fault(self.run, &error, &format_args!("{}; trying again", self.what));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_logged_once_in_a_while_and_counted_meanwhile() {
        let (log, start) = (FaultLog(Mutex::new(None)), Instant::now());
        let after = |ms: u64| log.admit(start + Duration::from_millis(ms));
        assert_eq!(after(0), Some(0));
        assert_eq!((after(1), after(9_999)), (None, None));
        assert_eq!(after(10_000), Some(2));
        assert_eq!((after(10_001), after(20_000)), (None, Some(1)));
    }
}
