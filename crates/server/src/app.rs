//! What the handlers share.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use axum::response::Response;
use rival_authoring::Documents;
use rival_engine::{Engine, RunError, ValueLimits};
use serde::Serialize;
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::api::values;
use crate::auth::CallerName;
use crate::base_path::BasePath;
use crate::connections::ConnectionControl;
use crate::flight;
use crate::live::LiveRuns;
use crate::metrics::ServerMetrics;
use crate::problem::HttpProblem;

/// For how long the answer of the store is believed: asking it writes.
const WRITABLE_FOR: Duration = Duration::from_secs(1);
/// How many answers are made of recorded values at a time, and how long others wait.
const READERS_MAX: usize = 8;
const READERS_WAIT: Duration = Duration::from_secs(10);

/// What the handlers share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct AppState {
    pub(crate) engine: Engine,
    /// The documents, if the server keeps any.
    pub(crate) documents: Option<Documents>,
    /// What looks after connections, if the server has any.
    pub(crate) connections: Option<Arc<dyn ConnectionControl>>,
    pub(crate) live: LiveRuns,
    pub(crate) metrics: Arc<ServerMetrics>,
    /// How much of recorded values answers hold.
    pub(crate) limits: ValueLimits,
    /// Triggered when the server is about to stop: it is no longer ready, and does everything else.
    pub(crate) draining: CancellationToken,
    /// Triggered when the server stops: streams and waits end.
    pub(crate) stop: CancellationToken,
    asked: Arc<Mutex<Option<Instant>>>,
    /// Who reads recorded values now.
    readers: Arc<Semaphore>,
}

/// What the handlers share, for those that ask something of runs: the engine knows who asks.
pub(crate) struct AskedApp(pub(crate) AppState);

impl FromRequestParts<AppState> for AskedApp {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Infallible> {
        let mut app = app.clone();
        if let Some(CallerName(name)) = parts.extensions.get() {
            app.engine = app.engine.asked_by(Arc::clone(name));
            app.documents = app.documents.map(|documents| documents.asked_by(Arc::clone(name)));
        }
        Ok(Self(app))
    }
}

impl AppState {
    pub(crate) fn new(
        engine: Engine,
        documents: Option<Documents>,
        base_path: &BasePath,
        draining: CancellationToken,
        stop: CancellationToken,
    ) -> Self {
        let metrics = Arc::new(ServerMetrics::default());
        engine.observe(metrics.clone());
        let readers = Arc::new(Semaphore::new(READERS_MAX));
        let (live, limits, asked) = (LiveRuns::of(&engine), values::limits(base_path), Arc::default());
        Self { connections: None, live, metrics, limits, documents, engine, draining, stop, asked, readers }
    }

    /// Answers with JSON that is made of recorded values. A few at a time, because each may take megabytes until it is
    /// written; the others wait their turn, for a while.
    pub(crate) async fn answer_with<T: Serialize>(
        &self,
        made: impl Future<Output = Result<T, HttpProblem>>,
    ) -> Result<Response, HttpProblem> {
        let turn = tokio::time::timeout(READERS_WAIT, self.readers.acquire()).await;
        let _turn = turn.map_err(|_| flight::full())?;
        let json = serde_json::to_vec(&made.await?).expect("answers have only string keys");
        let mut response = Response::new(Body::from(json));
        let kind = axum::http::HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        Ok(response)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.draining.is_cancelled() || self.stop.is_cancelled()
    }

    /// Whether the store takes writes. A success counts for a second, however often clients ask.
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
