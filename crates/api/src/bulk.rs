//! One request to many runs.

use std::borrow::Cow;

use rival_core::{RunId, RunStatus};
use serde::{Deserialize, Serialize};

/// A request to many runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = BulkRequest))]
pub struct BulkRequest {
    /// What is asked of each.
    pub action: BulkAction,
    /// These runs. Either this or `filter`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_ids: Option<Vec<String>>,
    /// The runs that match; `{}` for all. Only those that the action makes sense for: to be retried, children must be
    /// asked for by `parent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<BulkFilter>,
    /// Why, for `cancel` and `kill`.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub reason: String,
    /// Says which runs it would reach, and asks none.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub dry_run: bool,
    /// How many runs at most, up to 1,000; 100 if not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub limit: Option<usize>,
    /// Where the last answer to the same filter ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What can be asked of many runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = BulkAction))]
pub enum BulkAction {
    /// Stop, and undo what was done.
    Cancel,
    /// End at once.
    Kill,
    /// Start nothing new.
    Pause,
    /// Go on.
    Resume,
    /// Go on as a new run.
    Retry,
}

impl BulkAction {
    /// Whether it makes sense for a run that stands here.
    pub fn applies_to(self, status: RunStatus) -> bool {
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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = BulkFilter))]
pub struct BulkFilter {
    /// Only with ids that begin so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_prefix: Option<String>,
    /// Only of this workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Only with one of these statuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(min_items = 1))]
    pub status: Option<Vec<RunStatus>>,
    /// Only started at or after: milliseconds since 1970, or RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<TimeParam>,
    /// Only started before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<TimeParam>,
    /// Only children of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Only runs that are no children.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub roots: bool,
    /// Only runs that go on from this one: its retries and forks, and what its triggers started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Also runs of Rival's own workflows, such as `rival:triggers`, which are left out otherwise unless `workflow` names one.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub system: bool,
    /// Only with this tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Only where a field of the input has this value: `customer.id=42`. Inputs are read one by one: an answer may reach
    /// fewer runs than its limit, or none, and have a cursor to go on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(pattern = "^[^=]+=", example = "customer.id=42"))]
    pub input: Option<String>,
}

/// Milliseconds since 1970, or RFC 3339.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Timestamp))]
#[allow(missing_docs, reason = "a doc would be in the OpenAPI document, and the name says it")]
pub enum TimeParam {
    Ms(i64),
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    Text(String),
}

/// What became of a request to many runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BulkDone {
    /// How many runs it reached, or would have.
    pub matched: usize,
    /// Whether there are more that match: ask again, with `cursor`.
    pub more: bool,
    /// Where this answer ended, if there are more.
    pub cursor: Option<String>,
    /// Whether nothing was asked.
    pub dry_run: bool,
    /// Run by run.
    pub results: Vec<BulkResult>,
}

/// What became of one of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BulkResult {
    /// The run.
    pub run_id: RunId,
    /// Where it stands.
    pub status: Option<RunStatus>,
    /// The run that retries it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub retried_as: Option<RunId>,
    /// Why nothing came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub error: Option<BulkError>,
}

/// Why nothing came of a request to a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BulkError {
    /// A stable word for programs.
    pub code: Cow<'static, str>,
    /// One sentence for people.
    pub error: String,
}
