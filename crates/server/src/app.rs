//! What the handlers share.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rival_engine::{Engine, RunError};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::live::Live;
use crate::metrics::Metrics;

/// For how long the answer of the store is believed: asking it writes.
const WRITABLE_FOR: Duration = Duration::from_secs(1);

/// What the handlers share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) live: Live,
    pub(crate) metrics: Arc<Metrics>,
    /// Triggered when the server stops: streams end, and it is no longer ready.
    pub(crate) stop: CancellationToken,
    asked: Arc<Mutex<Option<Instant>>>,
}

impl App {
    pub(crate) fn new(engine: Engine, stop: CancellationToken) -> Self {
        let metrics = Arc::new(Metrics::default());
        engine.observe(metrics.clone());
        Self { live: Live::of(&engine), metrics, engine, stop, asked: Arc::default() }
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Whether the store takes writes. Asked once a second at most, however often somebody wants to know.
    pub(crate) async fn writable(&self) -> Result<(), RunError> {
        let mut asked = self.asked.lock().await;
        if asked.is_some_and(|at| at.elapsed() < WRITABLE_FOR) {
            return Ok(());
        }
        *asked = None;
        self.engine.check_writable().await?;
        *asked = Some(Instant::now());
        Ok(())
    }
}
