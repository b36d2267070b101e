//! What happens in a run, in words: `watch_run`.

use std::time::Duration;

use futures::StreamExt;
use http::header::HeaderName;
use http::{Method, StatusCode};
use rival_api::{EventListReply, EventReply, SseReader};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::runs::{explanation, moment, run_path, standing};
use super::{list, number, text, truth, wait_of};
use crate::api::{Api, whole};
use crate::caller::{ApiRequest, ApiResponse};
use crate::failure::ToolFailure;
use crate::progress::telling;
use crate::shown::RESULT_MAX_BYTES;
use crate::spec::{ToolAnswer, ToolCall, ToolEffect, ToolSpec};

const WAIT_USUAL_SECONDS: u64 = 20;
const EVENTS_USUAL: usize = 100;
const EVENTS_MAX: usize = 400;
/// How many events before the cursor are read, so that those after it are told with their names.
const CONTEXT: u64 = 500;
/// What happens this soon after an event that was waited for is told with it.
const TOGETHER: Duration = Duration::from_millis(100);
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(crate) fn tools() -> Vec<ToolSpec> {
    vec![watch_run()]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WatchRun {
    /// The run.
    run_id: String,
    /// Only what happened after this: what `cursor` of the last answer said. 0 for all.
    #[serde(default)]
    cursor: u64,
    /// If nothing has happened since, how long to wait for something: 20 seconds if not said, at most 300.
    wait_seconds: Option<u64>,
    /// How many events at most: 100 if not said, up to 400.
    max_events: Option<usize>,
}

fn watch_run() -> ToolSpec {
    let output = json!({
        "runId": text("the run"),
        "events": list("what happened, in words: number, time and a line each"),
        "cursor": number("ask again with this for what happens next"),
        "more": truth("there is more to read at once"),
        "status": text("where the run stands now"),
        "ended": truth("whether it has ended, so that nothing will follow"),
        "waitingFor": text("what it waits for, if nothing happened"),
    });
    ToolSpec::new(
        ("watch_run", "Watch a run"),
        "Tells what happened in a run since a cursor, in words; if nothing has, waits a bounded time for something. Call it \
         again with the `cursor` that it returns, until `ended` is true.",
        ToolEffect::Reads,
        &output,
        |call, given: WatchRun| async move { watched(&call, given).await },
    )
}

async fn watched(call: &ToolCall, given: WatchRun) -> ToolAnswer {
    let max = given.max_events.unwrap_or(EVENTS_USUAL).clamp(1, EVENTS_MAX);
    let wait = wait_of(given.wait_seconds, WAIT_USUAL_SECONDS);
    let mut page = page_of_events(&call.api, &given.run_id, given.cursor, max).await?;
    if page.is_empty() && !wait.is_zero() {
        let next = next_events(&call.api, &given.run_id, given.cursor, max, Instant::now() + wait);
        page = telling(call, &given.run_id, wait, next).await?;
    }
    let (events, cursor) = tell(call, &given, &page).await?;
    let run = standing(&call.api, &given.run_id).await?;
    let more = page.len() >= max || page.last().is_some_and(|last| last.seq.0 > cursor);
    let ended = !more && run["endedAt"].is_i64();
    let mut answer = json!({
        "runId": given.run_id, "events": events, "cursor": cursor, "more": more, "status": run["status"], "ended": ended,
    });
    if page.is_empty() && !ended {
        answer["waitingFor"] = explanation(&call.api, &given.run_id).await?.into();
    }
    Ok(answer)
}

async fn page_of_events(
    api: &Api,
    run: &str,
    after: u64,
    max: usize,
) -> Result<Vec<EventReply>, ToolFailure> {
    let path = run_path(run, &format!("/events?cursor={after}&limit={max}"));
    let page: EventListReply = api.send(ApiRequest::new(Method::GET, path)).await?.read()?;
    Ok(page.items)
}

/// The lines of events, and the last event that they tell.
async fn tell(
    call: &ToolCall,
    given: &WatchRun,
    page: &[EventReply],
) -> Result<(Vec<Value>, u64), ToolFailure> {
    let mut words = (call.words.events)();
    if given.cursor > 0 && !page.is_empty() {
        let from = given.cursor.saturating_sub(CONTEXT);
        let many = usize::try_from(given.cursor - from).unwrap_or_default().max(1);
        for event in page_of_events(&call.api, &given.run_id, from, many).await? {
            // A page may have fewer events than its limit: those of the page that is told must not be told twice.
            if event.seq.0 <= given.cursor {
                words.tell(&event);
            }
        }
    }
    let (mut lines, mut bytes, mut cursor) = (Vec::new(), 0, given.cursor);
    for event in page {
        if let Some(line) = words.tell(event) {
            bytes += line.len() + 64;
            if bytes > RESULT_MAX_BYTES * 3 / 4 && !lines.is_empty() {
                break;
            }
            lines.push(json!({"no": event.seq, "at": moment(&event.at.0.into()), "what": line}));
        }
        cursor = event.seq.0;
    }
    Ok((lines, cursor))
}

/// Waits for an event, and takes those that come with it.
async fn next_events(
    api: &Api,
    run: &str,
    after: u64,
    max: usize,
    deadline: Instant,
) -> Result<Vec<EventReply>, ToolFailure> {
    let request =
        ApiRequest::new(Method::GET, run_path(run, "/stream")).header(LAST_EVENT_ID, Some(after.to_string()));
    let response = api.open(request).await?;
    match response.status {
        // There are no more.
        StatusCode::NO_CONTENT => return Ok(Vec::new()),
        status if status.is_success() => {}
        status => return Err(ToolFailure::of_answer(status, &whole(response).await?)),
    }
    let mut stream = EventStream { response, reader: SseReader::default() };
    let mut events = Vec::new();
    let mut until = deadline;
    while events.len() < max {
        let Ok(next) = timeout_at(until, stream.next()).await else { break };
        let Some(event) = next? else { break };
        events.push(event);
        until = deadline.min(Instant::now() + TOGETHER);
    }
    Ok(events)
}

/// The events of a live stream.
struct EventStream {
    response: ApiResponse,
    reader: SseReader,
}

impl EventStream {
    /// The next one; `None` at the end of the stream.
    async fn next(&mut self) -> Result<Option<EventReply>, ToolFailure> {
        loop {
            while let Some(message) = self.reader.take() {
                if let Ok(event) = serde_json::from_str(&message.data) {
                    return Ok(Some(event));
                }
            }
            match self.response.body.next().await {
                Some(bytes) => self.reader.push(&bytes?),
                None => return Ok(None),
            }
        }
    }
}
