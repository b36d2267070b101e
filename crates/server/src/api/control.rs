//! Asking runs for something: stop, hold, go on, begin again, take a signal.

use axum::Json as Answer;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use rival_api::{EmptyBody, ForkBody, ReasonBody, RunStatusReply, SignalBody};
use rival_core::{RunId, RunStatus};
use rival_engine::ForkRequest;

use super::extract::{JsonBody, PathParams};
use super::key;
use super::start::started;
use crate::app::AskedApp;
use crate::problem::HttpProblem;

type Accepted = (StatusCode, Answer<RunStatusReply>);

fn accepted(run_id: RunId, status: RunStatus) -> Accepted {
    (StatusCode::ACCEPTED, Answer(RunStatusReply { run_id, status, signal_id: None, hint: None }))
}

/// Cancel a run
///
/// Asks a run to stop: calls at work are told and given 30 seconds, completed steps are undone. Answers when the
/// request is in the run's history. Cancelling a cancelled run does nothing.
#[utoipa::path(post, path = "/api/runs/{id}/cancel", operation_id = "cancelRun", tag = "control",
    params(("id" = String, Path, description = "The run")), request_body = Option<ReasonBody>,
    responses((status = 202, description = "It is in the run's history", body = RunStatusReply),
        (status = 404, description = "There is no such run"),
        (status = 409, description = "It has ended")))]
pub(crate) async fn cancel(
    AskedApp(app): AskedApp,
    PathParams(id): PathParams<String>,
    JsonBody(why): JsonBody<ReasonBody>,
) -> Result<Accepted, HttpProblem> {
    let run = RunId::from(id);
    let status = app.engine.cancel(&run, why.reason).await?;
    Ok(accepted(run, status))
}

/// Kill a run
///
/// Ends a run at once: calls at work are left behind, and nothing is undone.
#[utoipa::path(post, path = "/api/runs/{id}/kill", operation_id = "killRun", tag = "control",
    params(("id" = String, Path, description = "The run")), request_body = Option<ReasonBody>,
    responses((status = 202, description = "It is in the run's history", body = RunStatusReply),
        (status = 404, description = "There is no such run"),
        (status = 409, description = "It has ended")))]
pub(crate) async fn kill(
    AskedApp(app): AskedApp,
    PathParams(id): PathParams<String>,
    JsonBody(why): JsonBody<ReasonBody>,
) -> Result<Accepted, HttpProblem> {
    let run = RunId::from(id);
    let status = app.engine.kill(&run, why.reason).await?;
    Ok(accepted(run, status))
}

/// Pause a run
///
/// Calls at work finish and are recorded, nothing new starts.
#[utoipa::path(post, path = "/api/runs/{id}/pause", operation_id = "pauseRun", tag = "control",
    params(("id" = String, Path, description = "The run")), request_body = Option<EmptyBody>,
    responses((status = 202, description = "It is in the run's history", body = RunStatusReply),
        (status = 404, description = "There is no such run"),
        (status = 409, description = "It has ended")))]
pub(crate) async fn pause(
    AskedApp(app): AskedApp,
    PathParams(id): PathParams<String>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Accepted, HttpProblem> {
    let run = RunId::from(id);
    let status = app.engine.pause(&run).await?;
    Ok(accepted(run, status))
}

/// Resume a run
///
/// Lets a paused or blocked run go on.
#[utoipa::path(post, path = "/api/runs/{id}/resume", operation_id = "resumeRun", tag = "control",
    params(("id" = String, Path, description = "The run")), request_body = Option<EmptyBody>,
    responses((status = 202, description = "It is in the run's history", body = RunStatusReply),
        (status = 404, description = "There is no such run"),
        (status = 409, description = "It has ended")))]
pub(crate) async fn resume(
    AskedApp(app): AskedApp,
    PathParams(id): PathParams<String>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Accepted, HttpProblem> {
    let run = RunId::from(id);
    let status = app.engine.resume(&run).await?;
    Ok(accepted(run, status))
}

/// Retry a run
///
/// Starts a new run from where a failed or cancelled one stopped, with what was recorded before.
#[utoipa::path(post, path = "/api/runs/{id}/retry", operation_id = "retryRun", tag = "control",
    params(("id" = String, Path, description = "The run"),
        ("Idempotency-Key" = Option<String>, Header, pattern = r#"[^\s"]"#, description = "The new run's id: the same key and request give the same run, anything else with this key is refused")), request_body = Option<EmptyBody>,
    responses((status = 202, description = "The new run", body = RunStatusReply, headers(("Location" = String, description = "The new run"))),
        (status = 404, description = "There is no such run"),
        (status = 409, description = "It has not failed, or the key is taken by a run that another request began")))]
pub(crate) async fn retry(
    AskedApp(app): AskedApp,
    PathParams(id): PathParams<String>,
    headers: HeaderMap,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Response, HttpProblem> {
    let request = app.engine.retry(&RunId::from(id));
    forked(request, key::run_id(None, &headers)?).await
}

/// Do failed triggers again
///
/// Starts a new run that does those triggers of a completed run again that have failed. What was started stays, and is not
/// started again. The new run has an id of its own kind: asking again gives the same run until it has failed, too.
#[utoipa::path(post, path = "/api/runs/{id}/triggers/retry", operation_id = "retryTriggers", tag = "control",
    params(("id" = String, Path, description = "The completed run")), request_body = Option<EmptyBody>,
    responses((status = 202, description = "The new run", body = RunStatusReply, headers(("Location" = String, description = "The new run"))),
        (status = 404, description = "There is no such run, or it has triggered nothing"),
        (status = 409, description = "None of its triggers has failed")))]
pub(crate) async fn retry_triggers(
    AskedApp(app): AskedApp,
    PathParams(id): PathParams<String>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Response, HttpProblem> {
    Ok(started(&app.engine.retry_triggers(&RunId::from(id)).await?))
}

/// Starts the run, and says what it would be called where nothing else can be said.
async fn forked(request: ForkRequest, id: Option<String>) -> Result<Response, HttpProblem> {
    let mut request = match id {
        Some(id) => request.id(id),
        None => request,
    };
    let id = request.run_id().to_owned();
    match request.await {
        Ok(run) => Ok(started(&run)),
        Err(error) => Err(HttpProblem::from(error).about_run(id)),
    }
}

/// Fork a run
///
/// Starts a new run from any node of one that has ended, with what was recorded before it.
#[utoipa::path(post, path = "/api/runs/{id}/fork", operation_id = "forkRun", tag = "control",
    params(("id" = String, Path, description = "The run"),
        ("Idempotency-Key" = Option<String>, Header, pattern = r#"[^\s"]"#, description = "The new run's id: the same key and request give the same run, anything else with this key is refused")), request_body = Option<ForkBody>,
    responses((status = 202, description = "The new run", body = RunStatusReply, headers(("Location" = String, description = "The new run"))),
        (status = 404, description = "There is no such run"),
        (status = 409, description = "It has not ended, or the id is taken by a run that another request began")))]
pub(crate) async fn fork(
    AskedApp(app): AskedApp,
    PathParams(id): PathParams<String>,
    headers: HeaderMap,
    JsonBody(fork): JsonBody<ForkBody>,
) -> Result<Response, HttpProblem> {
    let mut request = app.engine.fork(&RunId::from(id));
    if let Some(node) = fork.from {
        request = request.from(node);
    }
    if let Some(input) = &fork.input {
        request = request.input(input);
    }
    forked(request, key::run_id(fork.run_id, &headers)?).await
}

/// Send a signal
///
/// Sends a run a signal. One that nothing waits for yet is kept. The answer says the signal's id, under which sending it
/// again is harmless; so does a problem after which it is not known whether the run has it. A name that nothing in the
/// plan waits for and that is nearly one of its signals is kept, too, and the answer has a hint.
#[utoipa::path(post, path = "/api/runs/{id}/signals/{name}", operation_id = "sendSignal", tag = "control",
    params(("id" = String, Path, description = "The run"), ("name" = String, Path, description = "The signal"),
        ("Idempotency-Key" = Option<String>, Header, pattern = r#"[^\s"]"#, description = "The signal's id, as `id` is")),
    request_body = Option<SignalBody>,
    responses((status = 202, description = "It is in the run's history", body = RunStatusReply),
        (status = 404, description = "There is no such run"),
        (status = 409, description = "It has ended, keeps too many, or was sent another signal with this id")))]
pub(crate) async fn signal(
    AskedApp(app): AskedApp,
    PathParams((id, name)): PathParams<(String, String)>,
    headers: HeaderMap,
    JsonBody(signal): JsonBody<SignalBody>,
) -> Result<Accepted, HttpProblem> {
    let run = RunId::from(id);
    let mut request = app.engine.signal(&run, name.as_str(), signal.payload);
    if let Some(id) = key::signal_id(signal.id, &headers)? {
        request = request.id(id);
    }
    let signal_id = request.signal_id().to_owned();
    match request.await {
        Ok(status) => {
            let near = app.engine.probable_signal(&run, &name).await;
            let hint = near.map(|near| {
                format!("nothing in the plan of the run waits for `{name}`; did you mean `{near}`?")
            });
            let acted = RunStatusReply { run_id: run, status, signal_id: Some(signal_id), hint };
            Ok((StatusCode::ACCEPTED, Answer(acted)))
        }
        Err(error) => Err(HttpProblem::from(error).about_signal(signal_id)),
    }
}
