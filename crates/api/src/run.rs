//! Runs in answers.

use std::collections::BTreeMap;

use rival_core::plan::Graph;
use rival_core::view::StepMetrics;
use rival_core::{NodeStatus, RunId, RunStatus, Time, UndoStatus};
use serde::{Deserialize, Serialize};

/// A run that was started, or acted on a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = AcceptedRun))]
pub struct RunStatusReply {
    /// The run.
    pub run_id: RunId,
    /// Where it stands.
    pub status: RunStatus,
    /// What a signal is called: sending it again under this id is harmless.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub signal_id: Option<String>,
    /// What was probably meant, where nothing in the run's plan waits for a signal of this name: it is kept all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub hint: Option<String>,
}

/// A run as lists show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunSummary {
    /// The run.
    pub run_id: RunId,
    /// Its workflow.
    pub workflow: String,
    /// The hash of its plan.
    pub plan: String,
    /// Where it stands.
    pub status: RunStatus,
    /// When it was started.
    pub created_at: Time,
    /// When it ended.
    pub ended_at: Option<Time>,
    /// When it goes on by itself.
    pub wake_at: Option<Time>,
    /// The run that started it as a child.
    pub parent: Option<RunId>,
    /// The run that it goes on from.
    pub source: Option<RunId>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// One line: why it failed or is blocked.
    pub note: Option<String>,
    /// How many children it has, with the runs that undo some; only where `roots` asks for runs that are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub children: Option<u64>,
}

/// A page of runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = RunList))]
pub struct RunListReply<R = RunSummary> {
    /// The newest first.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<RunSummary>))]
    pub items: Vec<R>,
    /// Where to read on, if there may be more.
    pub cursor: Option<String>,
}

/// The steps of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StepList))]
pub struct StepListReply {
    /// Those that have begun, in plan order.
    pub items: Vec<StepMetrics>,
    /// Always `null`: a run's steps are one page.
    pub cursor: Option<String>,
}

/// A run's plan for drawing, with where each node stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunGraph {
    /// The plan.
    #[serde(flatten)]
    pub graph: Graph,
    /// Where each node stands that has begun, by its path; of nodes inside of loops, each iteration by itself.
    pub statuses: BTreeMap<String, NodeStatus>,
    /// What became of what nodes did, by their paths, if the run took that back or tries to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub undo: BTreeMap<String, UndoStatus>,
}

/// What a run is waiting for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Explanation))]
pub struct ExplanationReply {
    /// In one sentence.
    pub explanation: String,
}
