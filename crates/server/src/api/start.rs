//! Starting runs.

use std::time::Duration;

use axum::Json as Answer;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rival_api::{RunOutcome, RunStatusReply, StartRun, path_segment};
use rival_engine::{RunError, RunHandle};
use serde::Deserialize;
use utoipa::IntoParams;

use super::convert::status_reply;
use super::extract::{JsonBody, PathParams, QueryParams};
use super::{key, runs, words};
use crate::app::AskedApp;
use crate::problem::HttpProblem;
use crate::trace::traceparent;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StartQuery {
    /// Answers with the outcome if the run ends within this time: `500ms`, `30s`, `5m`; at most `1h`.
    #[param(pattern = "^[0-9]+(ms|s|m|h)$", example = "30s")]
    wait: Option<String>,
}

/// Start a run
///
/// Answers as soon as the start is durable. With `wait`, answers with the outcome if the run ends in time, and
/// otherwise as without. The header `Idempotency-Key` is the run's id, as `runId` is; a key that cannot be one is made
/// into one.
#[utoipa::path(post, path = "/api/workflows/{name}/runs", operation_id = "startRun", tag = "runs",
    params(("name" = String, Path, description = "The workflow"), StartQuery,
        ("Idempotency-Key" = Option<String>, Header, pattern = r#"[^\s"]"#, description = "The run's id: the same key and input give the same run, anything else with this key is refused")),
    request_body = Option<StartRun>,
    responses(
        (status = 202, description = "The run was started", body = RunStatusReply, headers(("Location" = String, description = "The run")),
            links(
                ("show" = (operation_id = "getRun", parameters(("id" = "$response.body#/runId")))),
                ("wait" = (operation_id = "waitForRun", parameters(("id" = "$response.body#/runId")))),
                ("pause" = (operation_id = "pauseRun", parameters(("id" = "$response.body#/runId")))),
                ("cancel" = (operation_id = "cancelRun", parameters(("id" = "$response.body#/runId")))))),
        (status = 200, description = "The run has ended", body = RunOutcome, headers(("Location" = String, description = "The run"))),
        (status = 404, description = "There is no such workflow"),
        (status = 409, description = "The id is taken by a run that another request began")))]
pub(crate) async fn start(
    AskedApp(app): AskedApp,
    PathParams(name): PathParams<String>,
    QueryParams(query): QueryParams<StartQuery>,
    headers: HeaderMap,
    JsonBody(start): JsonBody<StartRun>,
) -> Result<Response, HttpProblem> {
    let wait = query.wait.map(|wait| words::wait("wait", &wait)).transpose()?;
    let mut request = app.engine.run(name.as_str(), start.input);
    if let Some(id) = key::run_id(start.run_id, &headers)? {
        request = request.id(id);
    }
    if let Some(timeout) = start.timeout_ms {
        request = request.timeout(Duration::from_millis(timeout));
    }
    if let Some(trace) = traceparent(&headers) {
        request = request.trace(trace);
    }
    // They hold on to what was read of the connection, and thousands of requests may wait below.
    drop(headers);
    if let Some(retries) = start.max_retries {
        request = request.max_retries(retries);
    }
    let mut request = start.tags.into_iter().fold(request, |request, tag| request.tag(tag));
    let id = request.run_id().to_owned();
    let run = request.await.map_err(|error| HttpProblem::from(error).about_run(id))?;
    let Some(wait) = wait else { return Ok(started(&run)) };
    let waited = tokio::select! {
        waited = app.engine.wait_for_end(run.id(), wait) => waited,
        // The run has started, even if the server stops now.
        () = app.stop.cancelled() => return Ok(started(&run)),
    };
    match waited {
        // Apart, because it is large and thousands of requests may wait here without it.
        Ok(at_hand) => {
            let outcome = Box::pin(runs::outcome(&app, run.id(), at_hand)).await?;
            Ok(([location(&run)], outcome).into_response())
        }
        Err(RunError::WaitTimeout { status, .. }) => Ok(accepted(
            &run,
            RunStatusReply { run_id: run.id().clone(), status, signal_id: None, hint: None },
        )),
        Err(error) => Err(error.into()),
    }
}

/// The answer for a new run.
pub(crate) fn started(run: &RunHandle) -> Response {
    accepted(run, status_reply(run))
}

fn accepted(run: &RunHandle, acted: RunStatusReply) -> Response {
    (StatusCode::ACCEPTED, [location(run)], Answer(acted)).into_response()
}

fn location(run: &RunHandle) -> (header::HeaderName, String) {
    (header::LOCATION, format!("/api/runs/{}", path_segment(run.id().as_str())))
}
