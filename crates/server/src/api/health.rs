//! Whether the server is there, and whether it can work.

use axum::Json as Answer;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use rival_api::{ClockStatus, HealthReply, ServerVersion};
use rival_engine::RunError;

use crate::app::AppState;
use crate::metrics;
use crate::problem::HttpProblem;

/// Is it alive?
///
/// Answers as long as the process does. 500 says that it cannot work again before it is started anew, because its store
/// takes no more writes.
#[utoipa::path(get, path = "/healthz", operation_id = "getHealth", tag = "server",
    responses((status = 200, description = "It is alive", body = HealthReply), (status = 500, description = "It must be started anew")))]
pub(crate) async fn healthz(State(app): State<AppState>) -> Result<Answer<HealthReply>, HttpProblem> {
    match app.engine.store_failed().now_or_never() {
        Some(error) => Err(RunError::from(error).into()),
        None => Ok(Answer(HealthReply { status: "ok".into() })),
    }
}

/// Is it ready?
///
/// Answers 503 while the store takes no writes, and when the server is stopping.
#[utoipa::path(get, path = "/readyz", operation_id = "getReadiness", tag = "server",
    responses((status = 200, description = "It is ready", body = HealthReply), (status = 503, description = "It cannot work now")))]
pub(crate) async fn readyz(State(app): State<AppState>) -> Result<Answer<HealthReply>, HttpProblem> {
    if app.is_stopping() {
        let stopping = "the server is stopping";
        return Err(HttpProblem::new(StatusCode::SERVICE_UNAVAILABLE, "shutting_down", stopping));
    }
    app.writable().await?;
    Ok(Answer(HealthReply { status: "ok".into() }))
}

/// How much?
///
/// What engine and server have done since they were started, for Prometheus.
#[utoipa::path(get, path = "/metrics", operation_id = "getMetrics", tag = "server", responses((status = 200, description = "The metrics, in the text format of Prometheus", body = String, content_type = "text/plain")))]
pub(crate) async fn metrics(State(app): State<AppState>) -> Response {
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], app.metrics.render(&app.engine).await).into_response()
}

/// What time?
///
/// The engine's time, how far it is from the wall clock, and when the wall clock was set.
#[utoipa::path(get, path = "/api/clock", operation_id = "getClock", tag = "server", responses((status = 200, description = "The clock", body = ClockStatus)))]
pub(crate) async fn clock(State(app): State<AppState>) -> Answer<ClockStatus> {
    Answer(app.engine.clock().status())
}

/// Which version?
///
/// The name and version of the server.
#[utoipa::path(get, path = "/version", operation_id = "getVersion", tag = "server", responses((status = 200, description = "The version", body = ServerVersion)))]
pub(crate) async fn version() -> Answer<ServerVersion> {
    Answer(ServerVersion { name: "rival".into(), version: env!("CARGO_PKG_VERSION").into() })
}
