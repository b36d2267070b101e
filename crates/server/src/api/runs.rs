//! Looking at runs.

use std::sync::Arc;

use axum::Json as Answer;
use axum::extract::State;
use axum::response::Response;
use rival_api::{
    EventListReply, EventReply, ExplanationReply, LogListReply, RunGraph, RunListReply, RunOutcome,
    RunSummary, RunView, StepListReply, TimeParam,
};
use rival_core::{RunId, RunStatus, Seq};
use rival_engine::{RunError, WAIT_DEFAULT};
use rival_store::{LogFilter, LogLevel, RunFilter, RunRow};
use serde::Deserialize;
use utoipa::IntoParams;

use super::convert::{log_reply, run_graph, run_summary};
use super::extract::{PathParams, QueryParams, bad_request};
use super::select::{RunSelection, SelectedRuns, leaves_out_system};
use super::words::{self, InputCondition};
use super::workflows::{GraphFormat, drawn};
use crate::app::AppState;
use crate::problem::HttpProblem;

/// About how many bytes a page has at most.
const PAGE_BYTES: usize = 4 << 20;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunsQuery {
    /// Only with ids that begin so.
    id_prefix: Option<String>,
    /// Only of this workflow.
    workflow: Option<String>,
    /// Only with one of these statuses: `status=failed&status=cancelled`, or `status=failed,cancelled`.
    #[param(value_type = Option<Vec<RunStatus>>, style = Form, explode = true, min_items = 1)]
    status: Option<String>,
    /// Only started at or after: milliseconds since 1970, or RFC 3339.
    #[param(value_type = Option<TimeParam>)]
    from: Option<String>,
    /// Only started before.
    #[param(value_type = Option<TimeParam>)]
    to: Option<String>,
    /// Only children of this run.
    parent: Option<String>,
    /// Only runs that are no children; each then says how many it has.
    #[serde(default)]
    #[param(default = false)]
    roots: bool,
    /// Only runs that go on from this one: its retries and forks, and what its triggers started.
    source: Option<String>,
    /// Also runs of Rival's own workflows, such as `rival:triggers`, which are left out otherwise unless `workflow` names one.
    #[serde(default)]
    #[param(default = false)]
    system: bool,
    /// Only with this tag.
    tag: Option<String>,
    /// Only where a field of the input has this value: `customer.id=42`. Inputs are read one by one: a page may have
    /// fewer runs than its limit, or none, and a cursor to go on with.
    #[param(pattern = "^[^=]+=", example = "customer.id=42")]
    input: Option<String>,
    /// How many at most, up to 1,000.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
    /// Where the last page ended.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
}

/// List runs
///
/// Runs that match every filter, the newest first.
#[utoipa::path(get, path = "/api/runs", operation_id = "listRuns", tag = "runs", params(RunsQuery),
    responses((status = 200, description = "A page of runs", body = RunListReply)))]
pub(crate) async fn list(
    State(app): State<AppState>,
    QueryParams(query): QueryParams<RunsQuery>,
) -> Result<Answer<RunListReply>, HttpProblem> {
    let limit = limited(query.limit, 100, 1_000)?;
    let before = query.cursor.as_deref().map(words::cursor).transpose()?;
    let no_system = leaves_out_system(query.system, query.workflow.as_deref());
    let filter = RunFilter {
        id_prefix: query.id_prefix,
        workflow: query.workflow,
        statuses: query.status.as_deref().map_or(Ok(Vec::new()), words::statuses)?,
        created_from: query.from.as_deref().map(|from| words::time("from", from)).transpose()?,
        created_to: query.to.as_deref().map(|to| words::time("to", to)).transpose()?,
        parent: query.parent.map(RunId::from),
        roots: query.roots,
        source: query.source.map(RunId::from),
        tag: query.tag,
        no_system,
    };
    let input = query.input.as_deref().map(InputCondition::parse).transpose()?;
    let SelectedRuns { rows, next } = RunSelection { filter, input }.page(&app, before, limit).await?;
    let (mut runs, next) = fitting(rows, next);
    if query.roots {
        count_children(&app, &mut runs).await?;
    }
    Ok(Answer(RunListReply { items: runs, cursor: next.map(|no| no.to_string()) }))
}

/// Says of each run how many children it has.
async fn count_children(app: &AppState, runs: &mut [RunSummary]) -> Result<(), HttpProblem> {
    let ids: Vec<RunId> = runs.iter().map(|run| run.run_id.clone()).collect();
    for (run, count) in runs.iter_mut().zip(app.engine.count_children(&ids).await?) {
        run.children = Some(count);
    }
    Ok(())
}

/// As many of these as fit into an answer, and where the page ended. Runs of before there were bounds may have any tags.
fn fitting(rows: Vec<RunRow>, last: Option<i64>) -> (Vec<RunSummary>, Option<i64>) {
    let (mut runs, mut bytes) = (Vec::with_capacity(rows.len()), 0);
    let mut end = None;
    for row in rows {
        if bytes > PAGE_BYTES {
            return (runs, end);
        }
        end = Some(row.no);
        let summary = run_summary(row);
        bytes += summary.tags.iter().map(String::len).sum::<usize>()
            + summary.note.as_ref().map_or(0, String::len);
        runs.push(summary);
    }
    (runs, last)
}

pub(super) fn limited(asked: Option<usize>, usual: usize, most: usize) -> Result<usize, HttpProblem> {
    match asked.unwrap_or(usual) {
        limit if (1..=most).contains(&limit) => Ok(limit),
        limit => Err(bad_request(format!("`limit` is {limit}: it can be 1 to {most}"))),
    }
}

/// Show a run
///
/// A run with everything that is known of it: status, input, output, and each step with its result, state, metrics and
/// error. Values that are larger than 1 MiB, or that would make the answer larger than 8 MiB, are left out: an object
/// with the key `$omitted` stands in their place, with their size, their beginning, and the address to read them at.
#[utoipa::path(get, path = "/api/runs/{id}", operation_id = "getRun", tag = "runs", params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "The run", body = RunView), (status = 404, description = "There is no such run")))]
pub(crate) async fn show(
    State(app): State<AppState>,
    PathParams(id): PathParams<String>,
) -> Result<Response, HttpProblem> {
    app.answer_with(overview(&app, &RunId::from(id))).await
}

async fn overview(app: &AppState, run: &RunId) -> Result<RunView, HttpProblem> {
    Ok(app.engine.overview(run, app.limits.clone()).await?)
}

/// List a run's steps
///
/// The steps that have begun, in plan order, with results, states, metrics and errors.
#[utoipa::path(get, path = "/api/runs/{id}/steps", operation_id = "listRunSteps", tag = "runs", params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "The steps", body = StepListReply), (status = 404, description = "There is no such run")))]
pub(crate) async fn steps(
    State(app): State<AppState>,
    PathParams(id): PathParams<String>,
) -> Result<Response, HttpProblem> {
    let steps =
        async { Ok(StepListReply { items: overview(&app, &RunId::from(id)).await?.steps, cursor: None }) };
    app.answer_with(steps).await
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    /// Only events after this one: where the last page ended, or the number of any event.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
    /// How many at most, up to 10,000.
    #[param(minimum = 1, maximum = 10000, default = 1000)]
    limit: Option<usize>,
}

/// Read a run's history
///
/// The events of a run, in order, a page at a time. A page has fewer events than its limit if they are large; its
/// `cursor` says where to read on.
#[utoipa::path(get, path = "/api/runs/{id}/events", operation_id = "listRunEvents", tag = "runs",
    params(("id" = String, Path, description = "The run"), EventsQuery),
    responses((status = 200, description = "A page of events", body = EventListReply),
        (status = 404, description = "There is no such run")))]
pub(crate) async fn events(
    State(app): State<AppState>,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<EventsQuery>,
) -> Result<Response, HttpProblem> {
    let limit = limited(query.limit, 1_000, 10_000)?;
    let after = query.cursor.as_deref().map_or(Ok(Seq::ZERO), words::seq_cursor)?;
    app.answer_with(page_of_events(&app, &RunId::from(id), after, limit)).await
}

/// The store gives events in small pages: as many of them as fit.
async fn page_of_events(
    app: &AppState,
    run: &RunId,
    after: Seq,
    limit: usize,
) -> Result<EventListReply, HttpProblem> {
    let (mut events, mut bytes, mut next) = (Vec::<EventReply>::new(), 0, after);
    while events.len() < limit && bytes < PAGE_BYTES {
        let page = app.engine.page_of_events(run, next, limit - events.len()).await?;
        let Some(last) = page.last() else { return Ok(EventListReply { items: events, cursor: None }) };
        next = last.seq;
        events.extend(page.iter().map(EventReply::from).inspect(|event| bytes += event.data.len_bytes()));
    }
    Ok(EventListReply { items: events, cursor: Some(next.to_string()) })
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogsQuery {
    /// Only lines after this one: where the last page ended, or the `no` of any line. Without it, the latest ones.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
    /// How many at most, up to 10,000.
    #[param(minimum = 1, maximum = 10000, default = 1000)]
    limit: Option<usize>,
    /// Only of the step at this path.
    step: Option<String>,
    /// Only this level and above.
    #[param(inline)]
    level: Option<LogLevel>,
}

/// Read a run's log
///
/// What a run's steps wrote, the oldest first: the latest lines, or those after a given one. A page has fewer lines than
/// its limit if they are long; to read all, begin with the cursor `0` and read on while there is one.
#[utoipa::path(get, path = "/api/runs/{id}/logs", operation_id = "listRunLogs", tag = "runs",
    params(("id" = String, Path, description = "The run"), LogsQuery),
    responses((status = 200, description = "A page of lines", body = LogListReply),
        (status = 404, description = "There is no such run")))]
pub(crate) async fn logs(
    State(app): State<AppState>,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<LogsQuery>,
) -> Result<Response, HttpProblem> {
    let limit = Some(limited(query.limit, 1_000, 10_000)?);
    let after = query.cursor.as_deref().map(words::seq_cursor).transpose()?.map(|seq| seq.0);
    let filter = LogFilter { node: query.step, level: query.level, after, limit };
    let logs = async {
        let lines = app.engine.logs(&RunId::from(id), &filter).await?;
        let cursor = lines.last().map(|line| line.no.to_string());
        Ok(LogListReply { items: lines.into_iter().map(log_reply).collect(), cursor })
    };
    app.answer_with(logs).await
}

/// Draw a run
///
/// The graph of the plan that the run keeps, with where each node stands.
#[utoipa::path(get, path = "/api/runs/{id}/graph", operation_id = "getRunGraph", tag = "runs",
    params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "The graph", body = RunGraph),
        (status = 404, description = "There is no such run")))]
pub(crate) async fn graph(
    State(app): State<AppState>,
    PathParams(id): PathParams<String>,
) -> Result<Response, HttpProblem> {
    let run = RunId::from(id);
    let drawing = async {
        let graph = app.engine.plan(&run).await?.graph();
        Ok(run_graph(graph, &overview(&app, &run).await?.steps))
    };
    app.answer_with(drawing).await
}

/// Draw a run as text
///
/// The graph of the plan that the run keeps, in a language that tools draw.
#[utoipa::path(get, path = "/api/runs/{id}/graph/{format}", operation_id = "getRunGraphText", tag = "runs",
    params(("id" = String, Path, description = "The run"), ("format" = inline(GraphFormat), Path, description = "The language")),
    responses((status = 200, description = "The graph", body = String, content_type = "text/plain"),
        (status = 404, description = "There is no such run")))]
pub(crate) async fn graph_text(
    State(app): State<AppState>,
    PathParams((id, format)): PathParams<(String, GraphFormat)>,
) -> Result<Response, HttpProblem> {
    Ok(drawn(&app.engine.plan(&RunId::from(id)).await?.graph(), format))
}

/// Explain a run
///
/// What a run is waiting for and since when, in one sentence.
#[utoipa::path(get, path = "/api/runs/{id}/explain", operation_id = "explainRun", tag = "runs", params(("id" = String, Path, description = "The run")),
    responses((status = 200, description = "What it waits for", body = ExplanationReply), (status = 404, description = "There is no such run")))]
pub(crate) async fn explain(
    State(app): State<AppState>,
    PathParams(id): PathParams<String>,
) -> Result<Answer<ExplanationReply>, HttpProblem> {
    Ok(Answer(ExplanationReply { explanation: app.engine.explain(&RunId::from(id)).await? }))
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WaitQuery {
    /// How long: `500ms`, `30s`, `5m`; five minutes if not said, one hour at most.
    #[param(pattern = "^[0-9]+(ms|s|m|h)$", example = "30s")]
    timeout: Option<String>,
}

/// Wait for a run
///
/// Answers when the run has ended, or with 408 when that takes too long. The run goes on either way. The output is whole;
/// what steps left is left out where it is too large, as when the run is shown.
#[utoipa::path(get, path = "/api/runs/{id}/wait", operation_id = "waitForRun", tag = "runs",
    params(("id" = String, Path, description = "The run"), WaitQuery),
    responses((status = 200, description = "How it ended", body = RunOutcome),
        (status = 404, description = "There is no such run"),
        (status = 408, description = "It has not ended in time")))]
pub(crate) async fn wait(
    State(app): State<AppState>,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<WaitQuery>,
) -> Result<Response, HttpProblem> {
    let timeout = query.timeout.map_or(Ok(WAIT_DEFAULT), |timeout| words::wait("timeout", &timeout))?;
    let run = RunId::from(id);
    let ended = tokio::select! {
        ended = app.engine.wait_for_end(&run, timeout) => ended?,
        () = app.stop.cancelled() => return Err(RunError::ShuttingDown.into()),
    };
    // Apart, because it is large and thousands of requests may wait here without it.
    Box::pin(outcome(&app, &run, ended)).await
}

/// How a run ended: as it is at hand, if it is small, or else as far as it fits into an answer.
pub(crate) async fn outcome(
    app: &AppState,
    run: &RunId,
    at_hand: Option<Arc<RunOutcome>>,
) -> Result<Response, HttpProblem> {
    let outcome = async {
        match at_hand {
            Some(outcome) => Ok(outcome),
            None => Ok(Arc::new(app.engine.outcome_within(run, app.limits.clone()).await?)),
        }
    };
    app.answer_with(outcome).await
}
