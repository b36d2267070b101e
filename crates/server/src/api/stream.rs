//! Live: the events of a run, and the summaries of all runs, as server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event as Frame, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, BoxStream, StreamExt};
use rival_api::EventReply;
use rival_core::{Event, RunId, Seq};
use rival_engine::RunError;
use rival_store::{LogFilter, LogLine};
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use utoipa::IntoParams;

use super::convert::log_reply;
use super::extract::{PathParams, QueryParams, bad_request};
use super::words;
use crate::app::AppState;
use crate::flight::{BytePermit, ByteQuota};
use crate::live::LiveUpdate;
use crate::metrics::StreamClient;
use crate::problem::HttpProblem;

/// How often a comment is sent, so that proxies and clients see that the stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often log lines are looked for while a step is at work.
const LOG_LOOK: Duration = Duration::from_millis(500);
/// How many log lines are read at a time.
const LOG_PAGE: usize = 500;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamQuery {
    /// Only events after this one; the header `Last-Event-ID` says the same.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// `true` to be sent what its steps write, too.
    #[serde(default)]
    #[param(required = false)]
    logs: bool,
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
    let run = RunId::from(id);
    let asked = words::place("after", query.after)?.map(|event| StreamPosition { event, line: 0 });
    let position = StreamPosition::last_seen(&headers)?.or(asked).unwrap_or_default();
    let ended = app.engine.summary(&run).await?.status.is_terminal();
    let logs = query.logs.then(|| LogTail::new(&app, &run));
    if ended && position != StreamPosition::default() {
        let events = app.engine.events(&run, position.event, 1).await?;
        let lines = match &logs {
            Some(logs) => logs.lines_after(position.line, 1).await?,
            None => Vec::new(),
        };
        if events.is_empty() && lines.is_empty() {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    let follow = RunStream {
        events: app.engine.subscribe(&run, position.event),
        position,
        logs,
        ready: VecDeque::new(),
        after_lines: None,
        reading_lines: false,
        ended: false,
        stop: app.stop.clone(),
        room,
        cargo: None,
        _counted: app.metrics.stream_client(),
    };
    Ok(answer(stream::unfold(follow, RunStream::next)))
}

/// Where a client is in a run's stream: after this event and this line of the log. Written `17`, or `17-203` if it follows
/// the log, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StreamPosition {
    event: Seq,
    line: u64,
}

impl StreamPosition {
    fn last_seen(headers: &HeaderMap) -> Result<Option<Self>, HttpProblem> {
        let Some(value) = headers.get("last-event-id") else { return Ok(None) };
        let text = String::from_utf8_lossy(value.as_bytes());
        let wrong = || {
            bad_request(format!("Last-Event-ID is `{text}`: it is the `id` of the last frame, as it came"))
        };
        Self::parse(&text).map(Some).ok_or_else(wrong)
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse::<u64>().ok().filter(|number| i64::try_from(*number).is_ok());
        let (event, line) = match text.split_once('-') {
            Some((event, line)) => (number(event)?, number(line)?),
            None => (number(text)?, 0),
        };
        Some(Self { event: Seq(event), line })
    }
}

fn answer(frames: impl futures::Stream<Item = Result<Frame, Infallible>> + Send + 'static) -> Response {
    // Proxies such as nginx would hold frames back until there are many.
    const UNBUFFERED: [(&str, &str); 1] = [("x-accel-buffering", "no")];
    (UNBUFFERED, Sse::new(frames).keep_alive(KeepAlive::new().interval(HEARTBEAT))).into_response()
}

/// What one client is sent of a run. It reads from the store, so a client that is slow holds nothing up and is kept
/// nothing for.
struct RunStream {
    /// What the client has been sent, once it has read all that is ready.
    position: StreamPosition,
    events: BoxStream<'static, Result<Event, RunError>>,
    logs: Option<LogTail>,
    /// What is sent next, and how large it is.
    ready: VecDeque<(Frame, usize)>,
    /// What is sent when all lines that were written before it have been.
    after_lines: Option<Event>,
    reading_lines: bool,
    ended: bool,
    stop: CancellationToken,
    room: ByteQuota,
    /// The room that the last frame takes until it has been sent.
    cargo: Option<BytePermit>,
    _counted: StreamClient,
}

impl RunStream {
    async fn next(mut self) -> Option<(Result<Frame, Infallible>, Self)> {
        loop {
            if let Some((frame, bytes)) = self.ready.pop_front() {
                self.cargo = None;
                self.cargo = self.room.take(bytes).await;
                return Some((Ok(frame), self));
            }
            if self.reading_lines {
                self.read_lines().await;
                continue;
            }
            if self.ended {
                return None;
            }
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return None,
                event = self.events.next() => self.heard(event),
                () = tick(&mut self.logs) => self.reading_lines = true,
            }
        }
    }

    /// The position that the client is at when it has read the next frame.
    fn id(&self) -> String {
        let StreamPosition { event, line } = self.position;
        if self.logs.is_some() { format!("{event}-{line}") } else { event.to_string() }
    }

    fn heard(&mut self, event: Option<Result<Event, RunError>>) {
        match event {
            Some(Ok(event)) => self.after_lines = Some(event),
            // The client comes back and goes on after the last event that it has seen.
            Some(Err(_)) | None => self.ended = true,
        }
        // What a step wrote is stored with its outcome, so it is there before the outcome is sent.
        self.reading_lines = true;
    }

    /// A page at a time: a step may have written more than fits into memory.
    async fn read_lines(&mut self) {
        let lines = match &self.logs {
            // What cannot be read now is read at the next look.
            Some(logs) => logs.lines_after(self.position.line, LOG_PAGE).await.unwrap_or_default(),
            None => Vec::new(),
        };
        self.reading_lines = !lines.is_empty();
        for line in lines {
            self.position.line = line.no;
            let data = serde_json::to_string(&log_reply(line)).expect("a line has only string keys");
            self.push("log", data);
        }
        if !self.reading_lines
            && let Some(event) = self.after_lines.take()
        {
            self.position.event = event.seq;
            let shape = EventReply::from(&event);
            let data = serde_json::to_string(&shape).expect("an event has only string keys");
            self.push(&shape.r#type, data);
        }
    }

    fn push(&mut self, kind: &str, data: String) {
        let bytes = data.len();
        self.ready.push_back((Frame::default().id(self.id()).event(kind).data(data), bytes));
    }
}

async fn tick(logs: &mut Option<LogTail>) {
    match logs {
        Some(logs) => {
            logs.interval.tick().await;
        }
        None => std::future::pending().await,
    }
}

/// The log of a run, looked at from time to time.
struct LogTail {
    app: AppState,
    run: RunId,
    interval: Interval,
}

impl LogTail {
    fn new(app: &AppState, run: &RunId) -> Self {
        let mut interval = tokio::time::interval(LOG_LOOK);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { app: app.clone(), run: run.clone(), interval }
    }

    async fn lines_after(&self, line: u64, limit: usize) -> Result<Vec<LogLine>, RunError> {
        let filter = LogFilter { after: Some(line), limit: Some(limit), ..LogFilter::default() };
        self.app.engine.logs(&self.run, &filter).await
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LiveQuery {
    /// Only runs of this workflow.
    workflow: Option<String>,
}

/// Follow all runs
///
/// A summary as `event: run` when a run starts and when its status changes. `event: reset` when some were missed: list
/// the runs again. A client that comes back gets no earlier summary again.
#[utoipa::path(get, path = "/api/stream", operation_id = "streamRuns", tag = "live", params(LiveQuery),
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
