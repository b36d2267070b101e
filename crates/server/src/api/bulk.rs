//! One request to many runs.

use std::collections::HashSet;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::HeaderMap;
use futures::StreamExt;
use rival_core::{RunId, RunStatus};
use rival_engine::{RunError, RunHandle, StartError};
use rival_store::{Page, RunFilter, RunRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{JsonBody, bad_request};
use super::key;
use super::words::{self, TimeParam};
use crate::app::AppState;
use crate::problem::HttpProblem;

/// How many runs one request may reach.
const RUNS_MAX: usize = 1_000;
/// How many are asked at a time.
const AT_A_TIME: usize = 16;

/// A request to many runs.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Bulk)]
pub(crate) struct BulkRequest {
    /// What is asked of each.
    action: BulkAction,
    /// These runs. Either this or `filter`.
    run_ids: Option<Vec<String>>,
    /// The runs that match; `{}` for all. Only those that the action makes sense for: to be retried, children must be
    /// asked for by `parent`.
    filter: Option<BulkFilter>,
    /// Why, for `cancel` and `kill`.
    #[serde(default)]
    #[schema(required = false)]
    reason: String,
    /// Says which runs it would reach, and asks none.
    #[serde(default)]
    #[schema(required = false)]
    dry_run: bool,
    /// How many runs at most, up to 1,000.
    #[schema(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
    /// Where the last answer to the same filter ended.
    cursor: Option<String>,
}

/// What can be asked of many runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Action)]
enum BulkAction {
    Cancel,
    Kill,
    Pause,
    Resume,
    Retry,
}

impl BulkAction {
    /// Whether it makes sense for a run that stands here.
    fn applies_to(self, status: RunStatus) -> bool {
        match self {
            Self::Cancel => !status.is_terminal() && status != RunStatus::Cancelling,
            Self::Kill => !status.is_terminal(),
            Self::Pause => !status.is_terminal() && status != RunStatus::Paused,
            Self::Resume => matches!(status, RunStatus::Paused | RunStatus::Blocked),
            Self::Retry => matches!(status, RunStatus::Failed | RunStatus::Cancelled),
        }
    }
}

/// Which runs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Filter)]
struct BulkFilter {
    /// Only of this workflow.
    workflow: Option<String>,
    /// Only with one of these statuses.
    #[schema(min_items = 1)]
    status: Option<Vec<RunStatus>>,
    /// Only started at or after: milliseconds since 1970, or RFC 3339.
    from: Option<TimeParam>,
    /// Only started before.
    to: Option<TimeParam>,
    /// Only children of this run.
    parent: Option<String>,
    /// Only with this tag.
    tag: Option<String>,
}

/// What became of a request to many runs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BulkDone {
    /// How many runs it reached, or would have.
    matched: usize,
    /// Whether there are more that match: ask again, with `cursor`.
    more: bool,
    /// Where this answer ended, if there are more.
    cursor: Option<String>,
    /// Whether nothing was asked.
    dry_run: bool,
    /// Run by run.
    results: Vec<BulkResult>,
}

/// What became of one of them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct BulkResult {
    /// The run.
    run_id: RunId,
    /// Where it stands.
    status: Option<RunStatus>,
    /// The run that retries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    retried_as: Option<RunId>,
    /// Why nothing came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    error: Option<BulkError>,
}

/// Why nothing came of a request to a run.
#[derive(Serialize, ToSchema)]
struct BulkError {
    /// A stable word for programs.
    code: &'static str,
    /// One sentence for people.
    error: String,
}

/// Ask many runs
///
/// Cancels, kills, pauses, resumes or retries all runs that match. With `dryRun` it only says which these are.
#[utoipa::path(post, path = "/api/runs/bulk", operation_id = "askRuns", tag = "control",
    params(("Idempotency-Key" = Option<String>, Header, pattern = r#"[^\s"]"#, description = "With the same key, no run is retried twice")),
    request_body = BulkRequest,
    responses((status = 200, body = BulkDone)))]
pub(crate) async fn bulk(
    State(app): State<AppState>,
    headers: HeaderMap,
    JsonBody(bulk): JsonBody<BulkRequest>,
) -> Result<Answer<BulkDone>, HttpProblem> {
    let key = key::key(&headers)?;
    let limit = bulk.limit.unwrap_or(100);
    if !(1..=RUNS_MAX).contains(&limit) {
        return Err(bad_request(format!("`limit` is {limit}: it can be 1 to {RUNS_MAX}")));
    }
    let before = bulk.cursor.as_deref().map(words::cursor).transpose()?;
    let (runs, cursor) = match (bulk.run_ids, bulk.filter) {
        (Some(ids), None) if ids.len() <= limit => (distinct(ids), None),
        (Some(ids), None) => {
            return Err(bad_request(format!("`runIds` has {} runs, more than `limit`, {limit}", ids.len())));
        }
        (None, Some(filter)) => matching(&app, bulk.action, filter, before, limit).await?,
        _ => return Err(bad_request("give either `runIds` or `filter`; `\"filter\": {}` means all runs")),
    };
    let matched = runs.len();
    let asked = runs.into_iter().map(async |run| match bulk.dry_run {
        true => would_ask(&app, bulk.action, run).await,
        false => ask(&app, bulk.action, run, &bulk.reason, key.as_deref()).await,
    });
    let results = futures::stream::iter(asked).buffered(AT_A_TIME).collect().await;
    Ok(Answer(BulkDone { matched, more: cursor.is_some(), cursor, dry_run: bulk.dry_run, results }))
}

/// Each run once: asking it twice would retry it twice.
fn distinct(ids: Vec<String>) -> Vec<RunId> {
    let mut seen = HashSet::new();
    ids.into_iter().map(RunId::from).filter(|run| seen.insert(run.clone())).collect()
}

/// The runs that match, and where to go on if there are more.
async fn matching(
    app: &AppState,
    action: BulkAction,
    filter: BulkFilter,
    before: Option<i64>,
    limit: usize,
) -> Result<(Vec<RunId>, Option<String>), HttpProblem> {
    if filter.status.as_ref().is_some_and(Vec::is_empty) {
        return Err(words::no_status());
    }
    let named = |status: &RunStatus| filter.status.as_ref().is_none_or(|named| named.contains(status));
    let wanted = |status: &RunStatus| action.applies_to(*status) && named(status);
    let statuses: Vec<RunStatus> = RunStatus::ALL.into_iter().filter(wanted).collect();
    if statuses.is_empty() {
        return Ok((Vec::new(), None));
    }
    let filter = RunFilter {
        workflow: filter.workflow,
        statuses,
        created_from: filter.from.map(|from| from.time("from")).transpose()?,
        created_to: filter.to.map(|to| to.time("to")).transpose()?,
        parent: filter.parent.map(RunId::from),
        tag: filter.tag,
    };
    let mut rows = app.engine.runs(&filter, &Page { before, limit: limit + 1 }).await?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let cursor = rows.last().filter(|_| more).map(|row| row.no.to_string());
    // A child belongs to its parent, and is asked for again when that is retried.
    let own = |row: &RunRow| action != BulkAction::Retry || filter.parent.is_some() || row.parent.is_none();
    Ok((rows.into_iter().filter(own).map(|row| row.id).collect(), cursor))
}

/// What asking a run would come to, as far as it can be told without asking.
async fn would_ask(app: &AppState, action: BulkAction, run: RunId) -> BulkResult {
    let status = match app.engine.summary(&run).await {
        Ok(row) => row.status,
        Err(error) => return failed(run, error.into()),
    };
    let refusal = match action {
        BulkAction::Retry if !action.applies_to(status) => {
            Some(StartError::NotRetryable { run: run.clone(), status }.into())
        }
        BulkAction::Retry => None,
        BulkAction::Cancel | BulkAction::Kill if status == RunStatus::Cancelled => None,
        _ if status.is_terminal() => Some(RunError::Finished { run: run.clone(), status }.into()),
        _ => None,
    };
    match refusal {
        Some(problem) => failed(run, problem),
        None => BulkResult { run_id: run, status: Some(status), retried_as: None, error: None },
    }
}

fn failed(run_id: RunId, problem: HttpProblem) -> BulkResult {
    let error = BulkError { code: problem.code, error: problem.error };
    BulkResult { run_id, status: None, retried_as: None, error: Some(error) }
}

async fn ask(app: &AppState, action: BulkAction, run: RunId, reason: &str, key: Option<&str>) -> BulkResult {
    let engine = &app.engine;
    let answer: Result<(RunStatus, Option<RunId>), HttpProblem> = match action {
        BulkAction::Cancel => {
            engine.cancel(&run, reason).await.map(|status| (status, None)).map_err(Into::into)
        }
        BulkAction::Kill => engine.kill(&run, reason).await.map(|status| (status, None)).map_err(Into::into),
        BulkAction::Pause => engine.pause(&run).await.map(|status| (status, None)).map_err(Into::into),
        BulkAction::Resume => engine.resume(&run).await.map(|status| (status, None)).map_err(Into::into),
        BulkAction::Retry => match retry(app, &run, key).await {
            Ok(next) => Ok((next.status(), Some(next.id().clone()))),
            Err(error) => Err(error.into()),
        },
    };
    match answer {
        Ok((status, retried_as)) => BulkResult { run_id: run, status: Some(status), retried_as, error: None },
        Err(problem) => failed(run, problem),
    }
}

async fn retry(app: &AppState, run: &RunId, key: Option<&str>) -> Result<RunHandle, StartError> {
    let request = app.engine.retry(run);
    match key {
        Some(key) => request.id(key::run_id_for(key, run)).await,
        None => request.await,
    }
}
