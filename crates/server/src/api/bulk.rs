//! One request to many runs.

use axum::Json as Answer;
use axum::extract::State;
use futures::StreamExt;
use rival_core::{RunId, RunStatus};
use rival_store::{Page, RunFilter};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::extract::{Json, bad_request};
use super::words::{self, Moment};
use crate::app::App;
use crate::problem::Problem;

/// How many runs one request may reach.
const RUNS_MAX: usize = 1_000;
/// How many are asked at a time.
const AT_A_TIME: usize = 16;

/// A request to many runs.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Bulk {
    /// What is asked of each.
    action: Action,
    /// These runs. Either this or `filter`.
    run_ids: Option<Vec<String>>,
    /// The runs that match; `{}` for all. Only those that the action makes sense for.
    filter: Option<Filter>,
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
}

/// What can be asked of many runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Cancel,
    Kill,
    Pause,
    Resume,
    Retry,
}

impl Action {
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
struct Filter {
    /// Only of this workflow.
    workflow: Option<String>,
    /// Only with one of these statuses.
    #[schema(min_items = 1)]
    status: Option<Vec<RunStatus>>,
    /// Only started at or after: milliseconds since 1970, or RFC 3339.
    from: Option<Moment>,
    /// Only started before.
    to: Option<Moment>,
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
    /// Whether there are more that match: ask again.
    more: bool,
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
#[utoipa::path(post, path = "/api/runs/bulk", operation_id = "askRuns", tag = "control", request_body = Bulk,
    responses((status = 200, body = BulkDone)))]
pub(crate) async fn bulk(
    State(app): State<App>,
    Json(bulk): Json<Bulk>,
) -> Result<Answer<BulkDone>, Problem> {
    let limit = bulk.limit.unwrap_or(100);
    if !(1..=RUNS_MAX).contains(&limit) {
        return Err(bad_request(format!("`limit` is {limit}: it can be 1 to {RUNS_MAX}")));
    }
    let (runs, more) = match (bulk.run_ids, bulk.filter) {
        (Some(ids), None) if ids.len() <= limit => {
            (ids.into_iter().map(|id| (RunId::from(id), None)).collect(), false)
        }
        (Some(ids), None) => {
            return Err(bad_request(format!("`runIds` has {} runs, more than `limit`, {limit}", ids.len())));
        }
        (None, Some(filter)) => matching(&app, bulk.action, filter, limit).await?,
        _ => return Err(bad_request("give either `runIds` or `filter`; `\"filter\": {}` means all runs")),
    };
    let matched = runs.len();
    let results = if bulk.dry_run {
        let result = |(run_id, status)| BulkResult { run_id, status, retried_as: None, error: None };
        runs.into_iter().map(result).collect()
    } else {
        let asked = runs.into_iter().map(|(run, _)| ask(&app, bulk.action, run, &bulk.reason));
        futures::stream::iter(asked).buffered(AT_A_TIME).collect().await
    };
    Ok(Answer(BulkDone { matched, more, dry_run: bulk.dry_run, results }))
}

type Reached = Vec<(RunId, Option<RunStatus>)>;

/// The runs that match, and whether there are more.
async fn matching(
    app: &App,
    action: Action,
    filter: Filter,
    limit: usize,
) -> Result<(Reached, bool), Problem> {
    if filter.status.as_ref().is_some_and(Vec::is_empty) {
        return Err(words::no_status());
    }
    let named = |status: &RunStatus| filter.status.as_ref().is_none_or(|named| named.contains(status));
    let wanted = |status: &RunStatus| action.applies_to(*status) && named(status);
    let statuses: Vec<RunStatus> = RunStatus::ALL.into_iter().filter(wanted).collect();
    if statuses.is_empty() {
        return Ok((Vec::new(), false));
    }
    let filter = RunFilter {
        workflow: filter.workflow,
        statuses,
        created_from: filter.from.map(|from| from.time("from")).transpose()?,
        created_to: filter.to.map(|to| to.time("to")).transpose()?,
        parent: filter.parent.map(RunId::from),
        tag: filter.tag,
    };
    let mut rows = app.engine.runs(&filter, &Page { before: None, limit: limit + 1 }).await?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    Ok((rows.into_iter().map(|row| (row.id, Some(row.status))).collect(), more))
}

async fn ask(app: &App, action: Action, run: RunId, reason: &str) -> BulkResult {
    let engine = &app.engine;
    let answer: Result<(RunStatus, Option<RunId>), Problem> = match action {
        Action::Cancel => engine.cancel(&run, reason).await.map(|status| (status, None)).map_err(Into::into),
        Action::Kill => engine.kill(&run, reason).await.map(|status| (status, None)).map_err(Into::into),
        Action::Pause => engine.pause(&run).await.map(|status| (status, None)).map_err(Into::into),
        Action::Resume => engine.resume(&run).await.map(|status| (status, None)).map_err(Into::into),
        Action::Retry => match engine.retry(&run).await {
            Ok(next) => Ok((next.status(), Some(next.id().clone()))),
            Err(error) => Err(error.into()),
        },
    };
    match answer {
        Ok((status, retried_as)) => BulkResult { run_id: run, status: Some(status), retried_as, error: None },
        Err(problem) => {
            let error = BulkError { code: problem.code, error: problem.error };
            BulkResult { run_id: run, status: None, retried_as: None, error: Some(error) }
        }
    }
}
