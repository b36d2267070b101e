//! Live: the events of runs, and the summaries of all runs, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event as Frame, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, BoxStream, SelectAll, StreamExt};
use rival_core::RunId;
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;

use super::extract::{PathParams, QueryParams, bad_request};
use super::follow::{FollowedItem, RunFollower, RunPosition};
use super::words;
use crate::app::AppState;
use crate::flight::{BytePermit, ByteQuota};
use crate::live::LiveUpdate;
use crate::metrics::StreamClient;
use crate::problem::HttpProblem;

/// How often a comment is sent, so that proxies and clients see that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How many runs one stream may follow.
const RUNS_MAX: usize = 100;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamQuery {
    /// Only events after this one; the header `Last-Event-ID` says the same.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// `true` to be sent what its steps write, too.
    #[serde(default)]
    #[param(required = false)]
    logs: bool,
    /// What the header `Last-Event-ID` says, for clients that cannot send it; the header counts if both are there.
    #[param(pattern = "^[0-9]{1,18}(-[0-9]{1,18})?$")]
    last_event_id: Option<String>,
}

/// Follow a run
///
/// Its events as they become durable, each with its number as `id`, its type as `event` and itself as `data`; with
/// `logs`, also lines as `event: log`, and each `id` says which was the last line, too. The stream ends with the run. A
/// client that comes back with `Last-Event-ID` misses nothing and gets nothing twice; 204 means that there is nothing
/// more to come.
#[utoipa::path(get, path = "/api/runs/{id}/stream", operation_id = "streamRun", tag = "live",
    params(("id" = String, Path, description = "The run"), StreamQuery,
        ("Last-Event-ID" = Option<String>, Header, pattern = "^[0-9]{1,18}(-[0-9]{1,18})?$", description = "The `id` of the last frame that was seen")),
    responses((status = 200, description = "The events", body = rival_core::Value, content_type = "text/event-stream"),
        (status = 204, description = "The run has ended, and there is nothing after this event"),
        (status = 404, description = "There is no such run")))]
pub(crate) async fn of_run(
    State(app): State<AppState>,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<StreamQuery>,
    Extension(room): Extension<ByteQuota>,
    headers: HeaderMap,
) -> Result<Response, HttpProblem> {
    let asked = words::place("after", query.after)?.map(|event| RunPosition { event, line: 0 });
    let seen = last_seen(&headers, query.last_event_id.as_deref(), 1)?.map(|positions| positions[0]);
    let position = seen.or(asked).unwrap_or_default();
    let run = FollowedRun { id: RunId::from(id), position };
    follow(&app, vec![run], query.logs, room, false).await
}

/// Where a client is in the stream that it asks for again.
fn last_seen(
    headers: &HeaderMap,
    said: Option<&str>,
    runs: usize,
) -> Result<Option<Vec<RunPosition>>, HttpProblem> {
    let header = headers.get("last-event-id").map(|value| String::from_utf8_lossy(value.as_bytes()));
    // A browser that connects again sends the header, beside the query that it began with: both are judged.
    let said = said.map(|text| positions(text, runs)).transpose()?;
    let header = header.map(|text| positions(&text, runs)).transpose()?;
    Ok(header.or(said))
}

fn positions(text: &str, runs: usize) -> Result<Vec<RunPosition>, HttpProblem> {
    let positions: Option<Vec<RunPosition>> = text.split('.').map(RunPosition::parse).collect();
    positions.filter(|positions| positions.len() == runs).ok_or_else(|| {
        bad_request(format!(
            "Last-Event-ID is `{text}`: it is the `id` of the last frame, as it came, of a stream of the same runs"
        ))
    })
}

/// A run that is followed, and from where on.
struct FollowedRun {
    id: RunId,
    position: RunPosition,
}

/// Answers with what happens in runs, or with nothing if nothing will.
async fn follow(
    app: &AppState,
    runs: Vec<FollowedRun>,
    logs: bool,
    room: ByteQuota,
    names_runs: bool,
) -> Result<Response, HttpProblem> {
    let (mut followers, mut positions, mut names) = (SelectAll::new(), Vec::new(), Vec::new());
    for (number, FollowedRun { id, position }) in runs.into_iter().enumerate() {
        positions.push(position);
        names.push(serde_json::to_string(&id).expect("an id is a text"));
        if let Some(follower) = RunFollower::new(app, id, position, logs).await? {
            followers.push(follower.items().map(move |item| (number, item)).boxed());
        }
    }
    if followers.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let stream = FollowStream {
        followers,
        positions,
        names: names_runs.then_some(names),
        logs,
        stop: app.stop.clone(),
        room,
        cargo: None,
        _counted: app.metrics.stream_client(),
    };
    Ok(answer(stream::unfold(stream, FollowStream::next)))
}

fn answer(frames: impl futures::Stream<Item = Result<Frame, Infallible>> + Send + 'static) -> Response {
    // Proxies such as nginx would hold frames back until there are many.
    const UNBUFFERED: [(&str, &str); 1] = [("x-accel-buffering", "no")];
    (UNBUFFERED, Sse::new(frames).keep_alive(KeepAlive::new().interval(HEARTBEAT))).into_response()
}

/// What one client is sent of the runs that it follows.
struct FollowStream {
    followers: SelectAll<BoxStream<'static, (usize, FollowedItem)>>,
    /// Where the client is in each run, once it has read the next frame.
    positions: Vec<RunPosition>,
    /// The runs' ids as JSON, if each frame says whose it is.
    names: Option<Vec<String>>,
    logs: bool,
    stop: CancellationToken,
    room: ByteQuota,
    /// The room that the last frame takes until it has been sent.
    cargo: Option<BytePermit>,
    _counted: StreamClient,
}

impl FollowStream {
    async fn next(mut self) -> Option<(Result<Frame, Infallible>, Self)> {
        let (number, item) = tokio::select! {
            biased;
            () = self.stop.cancelled() => return None,
            item = self.followers.next() => item?,
        };
        self.positions[number] = item.position;
        let data = match &self.names {
            // An event and a line are objects with fields.
            Some(names) => format!("{{\"runId\":{},{}", names[number], &item.data[1..]),
            None => item.data,
        };
        self.cargo = None;
        self.cargo = self.room.take(data.len()).await;
        let frame = Frame::default().id(self.id()).event(item.kind).data(data);
        Some((Ok(frame), self))
    }

    fn id(&self) -> String {
        let ids: Vec<String> = self.positions.iter().map(|position| position.text(self.logs)).collect();
        ids.join(".")
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LiveQuery {
    /// Only runs of this workflow.
    workflow: Option<String>,
}

/// Follow all runs
///
/// A summary as `event: run` when a run starts and when its status changes. `event: reset` when some were missed: list
/// the runs again. A client that comes back gets no earlier summary again.
#[utoipa::path(get, path = "/api/stream", operation_id = "streamSummaries", tag = "live", params(LiveQuery),
    responses((status = 200, description = "The summaries", body = rival_core::Value, content_type = "text/event-stream")))]
pub(crate) async fn of_all(
    State(app): State<AppState>,
    QueryParams(query): QueryParams<LiveQuery>,
) -> Response {
    let follow = (app.live.subscribe(), query.workflow, app.stop, app.metrics.stream_client());
    answer(stream::unfold(follow, |(mut summaries, workflow, stop, counted)| async move {
        loop {
            let heard = tokio::select! {
                () = stop.cancelled() => return None,
                heard = summaries.recv() => heard,
            };
            let frame = match heard.as_deref() {
                Ok(LiveUpdate::Run { workflow: of, .. }) if workflow.as_ref().is_some_and(|it| it != of) => {
                    continue;
                }
                Ok(LiveUpdate::Run { json, .. }) => Frame::default().event("run").data(json.as_str()),
                Ok(LiveUpdate::Reset) | Err(RecvError::Lagged(_)) => {
                    Frame::default().event("reset").data("{}")
                }
                Err(RecvError::Closed) => return None,
            };
            return Some((Ok(frame), (summaries, workflow, stop, counted)));
        }
    }))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunsStreamQuery {
    /// The runs, up to 100: `run=a&run=b`.
    #[param(value_type = Vec<String>, style = Form, explode = true, min_items = 1, max_items = 100)]
    run: String,
    /// `true` to be sent what their steps write, too.
    #[serde(default)]
    #[param(required = false)]
    logs: bool,
    /// What the header `Last-Event-ID` says, for clients that cannot send it; the header counts if both are there.
    #[param(pattern = r"^[0-9]{1,18}(-[0-9]{1,18})?(\.[0-9]{1,18}(-[0-9]{1,18})?)*$")]
    last_event_id: Option<String>,
}

/// Follow several runs
///
/// As following each of them, in one stream: each event and each line has the `runId` that it is about, and `id` says how
/// far each run has been read. The stream ends with the last of them.
#[utoipa::path(get, path = "/api/stream/runs", operation_id = "streamRuns", tag = "live",
    params(RunsStreamQuery,
        ("Last-Event-ID" = Option<String>, Header, pattern = r"^[0-9]{1,18}(-[0-9]{1,18})?(\.[0-9]{1,18}(-[0-9]{1,18})?)*$", description = "The `id` of the last frame that was seen of these runs")),
    responses((status = 200, description = "The events", body = rival_core::Value, content_type = "text/event-stream"),
        (status = 204, description = "The runs have ended, and there is nothing after these events"),
        (status = 404, description = "There is no such run")))]
pub(crate) async fn of_runs(
    State(app): State<AppState>,
    QueryParams(query): QueryParams<RunsStreamQuery>,
    Extension(room): Extension<ByteQuota>,
    headers: HeaderMap,
) -> Result<Response, HttpProblem> {
    let ids: Vec<&str> = query.run.split('/').collect();
    if ids.len() > RUNS_MAX {
        return Err(bad_request(format!(
            "`run` names {} runs: one stream follows up to {RUNS_MAX}",
            ids.len()
        )));
    }
    let positions = last_seen(&headers, query.last_event_id.as_deref(), ids.len())?
        .unwrap_or_else(|| vec![RunPosition::default(); ids.len()]);
    let runs = ids.into_iter().zip(positions);
    let runs = runs.map(|(id, position)| FollowedRun { id: RunId::from(id), position }).collect();
    follow(&app, runs, query.logs, room, true).await
}
