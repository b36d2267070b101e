//! Workflows in answers.

use std::collections::BTreeMap;

use rival_core::Value;
use rival_core::plan::Graph;
use rival_core::view::SourceProblem;
use serde::{Deserialize, Serialize};

use crate::problem::ViolationReply;

/// A workflow as lists and launch forms show it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowSummary {
    /// Its name.
    pub name: String,
    /// One line for people.
    pub description: Option<String>,
    /// JSON Schema of its input.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub input_schema: Option<serde_json::Value>,
    /// JSON Schemas of the signals that its nodes wait for, by name.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, Object>))]
    pub signal_schemas: BTreeMap<String, serde_json::Value>,
    /// How many steps it has.
    pub step_count: usize,
    /// The hash of its plan.
    pub plan_hash: String,
    /// What it is written in: `rust`, `typescript` or `document`.
    #[serde(default)]
    pub kind: String,
    /// The file that defines it, if one does.
    #[serde(default)]
    pub file: Option<String>,
}

/// A workflow with its structure.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowDetail {
    #[allow(missing_docs, reason = "a doc would be in the OpenAPI document, and the name says it")]
    #[serde(flatten)]
    pub summary: WorkflowSummary,
    /// The plan as data.
    // As text: a client need not know every kind of node that a newer server has.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub plan: Value,
    /// The plan for drawing.
    pub graph: Graph,
    /// The plans that it has had in this store, the oldest first.
    pub versions: Vec<PlanVersion>,
    /// What is wrong in the file that it comes from, so that it is as it was before the file was changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<SourceProblem>,
}

/// A plan that a workflow has or had.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanVersion {
    /// The plan's hash.
    pub plan_hash: String,
    /// Whether new runs have it.
    pub current: bool,
}

/// All registered workflows.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WorkflowList))]
pub struct WorkflowListReply<W = WorkflowSummary> {
    #[allow(missing_docs, reason = "a doc would be in the OpenAPI document, and the name says it")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<WorkflowSummary>))]
    pub items: Vec<W>,
    /// Always `null`: the workflows are one page.
    pub cursor: Option<String>,
    /// What is wrong in files that workflows come from. What such a file defines is missing above, or is there as it
    /// was before the file was changed.
    pub problems: Vec<SourceProblem>,
}

/// Whether an input matches the schema.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ValidationResult))]
pub struct CheckReply {
    #[allow(missing_docs, reason = "a doc would be in the OpenAPI document, and the name says it")]
    pub valid: bool,
    /// Everything that is wrong.
    pub errors: Vec<ViolationReply>,
}
