//! One request to many runs.

use std::collections::HashSet;

use axum::Json as Answer;
use axum::http::HeaderMap;
use futures::StreamExt;
use rival_api::{BulkAction, BulkDone, BulkError, BulkFilter, BulkRequest, BulkResult};
use rival_core::{RunId, RunStatus};
use rival_engine::{RunError, RunHandle, StartError};
use rival_store::RunFilter;

use super::extract::{JsonBody, bad_request};
use super::key;
use super::select::{RunSelection, SelectedRuns, leaves_out_system};
use super::words::{self, InputCondition};
use crate::app::{AppState, AskedApp};
use crate::problem::HttpProblem;

/// How many runs one request may reach.
const RUNS_MAX: usize = 1_000;
/// How many are asked at a time.
const AT_A_TIME: usize = 16;

/// Ask many runs
///
/// Cancels, kills, pauses, resumes or retries all runs that match. With `dryRun` it only says which these are.
#[utoipa::path(post, path = "/api/runs/bulk", operation_id = "bulkControlRuns", tag = "control",
    params(("Idempotency-Key" = Option<String>, Header, pattern = r#"[^\s"]"#, description = "With the same key, no run is retried twice")),
    request_body = BulkRequest,
    responses((status = 200, description = "What became of it, run by run", body = BulkDone)))]
pub(crate) async fn bulk(
    AskedApp(app): AskedApp,
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
    // A child belongs to its parent, and is asked for again when that is retried.
    let roots = filter.roots || action == BulkAction::Retry && filter.parent.is_none();
    let input = filter.input.as_deref().map(InputCondition::parse).transpose()?;
    let no_system = leaves_out_system(filter.system, filter.workflow.as_deref());
    let filter = RunFilter {
        id_prefix: filter.id_prefix,
        workflow: filter.workflow,
        statuses,
        created_from: filter.from.map(|from| words::moment("from", from)).transpose()?,
        created_to: filter.to.map(|to| words::moment("to", to)).transpose()?,
        parent: filter.parent.map(RunId::from),
        roots,
        source: filter.source.map(RunId::from),
        tag: filter.tag,
        no_system,
    };
    let SelectedRuns { mut rows, mut next } =
        RunSelection { filter, input }.page(app, before, limit + 1).await?;
    if rows.len() > limit {
        rows.truncate(limit);
        next = rows.last().map(|row| row.no);
    }
    Ok((rows.into_iter().map(|row| row.id).collect(), next.map(|no| no.to_string())))
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
    let error = BulkError { code: problem.code.into(), error: problem.error };
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
