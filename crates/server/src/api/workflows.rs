//! What can be run.

use axum::Json as Answer;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rival_api::{CheckBody, CheckReply, PlanVersion, WorkflowDetail, WorkflowListReply};
use rival_core::Value;
use rival_core::plan::Graph;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::convert::{violations, workflow_summary};
use super::extract::{JsonBody, PathParams, QueryParams};
use crate::app::AppState;
use crate::problem::HttpProblem;

/// List workflows
///
/// All registered workflows, with the schemas of their inputs and signals, and files that could not be loaded.
#[utoipa::path(get, path = "/api/workflows", operation_id = "listWorkflows", tag = "workflows", responses((status = 200, body = WorkflowListReply)))]
pub(crate) async fn list(State(app): State<AppState>) -> Answer<WorkflowListReply> {
    let workflows = app.engine.list().into_iter().map(workflow_summary).collect();
    Answer(WorkflowListReply { workflows, problems: app.engine.problems() })
}

/// Show a workflow
///
/// A workflow with its plan, its graph and the versions that it has had in this store.
#[utoipa::path(get, path = "/api/workflows/{name}", operation_id = "showWorkflow", tag = "workflows",
    params(("name" = String, Path, description = "The workflow")),
    responses((status = 200, body = WorkflowDetail), (status = 404, description = "There is no such workflow")))]
pub(crate) async fn show(
    State(app): State<AppState>,
    PathParams(name): PathParams<String>,
) -> Result<Answer<WorkflowDetail>, HttpProblem> {
    let info = app.engine.workflow(&name)?;
    let hashes = app.engine.versions(&name).await?.into_iter().map(|hash| hash.to_string());
    let versions =
        hashes.map(|hash| PlanVersion { current: hash == info.plan_hash, plan_hash: hash }).collect();
    let plan = Value::encode(&info.plan).expect("a plan has only string keys");
    let graph = info.plan.graph();
    Ok(Answer(WorkflowDetail { summary: workflow_summary(info), plan, graph, versions }))
}

/// How a graph is written.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Format)]
pub(crate) enum GraphFormat {
    #[default]
    Json,
    Mermaid,
    Dot,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct GraphQuery {
    /// `json` (if not said), `mermaid` or `dot`.
    #[serde(default)]
    #[param(inline, required = false)]
    pub(crate) format: GraphFormat,
}

/// Draw a workflow
///
/// The graph of a workflow, as JSON, Mermaid or DOT.
#[utoipa::path(get, path = "/api/workflows/{name}/graph", operation_id = "drawWorkflow", tag = "workflows",
    params(("name" = String, Path, description = "The workflow"), GraphQuery),
    responses((status = 200, content((Graph = "application/json"), (String = "text/plain"))),
        (status = 404, description = "There is no such workflow")))]
pub(crate) async fn graph(
    State(app): State<AppState>,
    PathParams(name): PathParams<String>,
    QueryParams(query): QueryParams<GraphQuery>,
) -> Result<Response, HttpProblem> {
    let graph = app.engine.workflow(&name)?.plan.graph();
    Ok(drawn(&graph, query.format).unwrap_or_else(|| Answer(graph).into_response()))
}

/// A graph as text; `None` if it is asked for as JSON.
pub(crate) fn drawn(graph: &Graph, format: GraphFormat) -> Option<Response> {
    let text = match format {
        GraphFormat::Json => return None,
        GraphFormat::Mermaid => graph.to_mermaid(),
        GraphFormat::Dot => graph.to_dot(),
    };
    Some(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

/// Check an input
///
/// Checks an input against the schema of a workflow. Nothing is started.
#[utoipa::path(post, path = "/api/workflows/{name}/validate", operation_id = "checkInput", tag = "workflows",
    params(("name" = String, Path, description = "The workflow")), request_body = Option<CheckBody>,
    responses((status = 200, body = CheckReply),
        (status = 404, description = "There is no such workflow")))]
pub(crate) async fn validate(
    State(app): State<AppState>,
    PathParams(name): PathParams<String>,
    JsonBody(check): JsonBody<CheckBody>,
) -> Result<Answer<CheckReply>, HttpProblem> {
    let errors = violations(app.engine.check_input(&name, &check.input).await?);
    Ok(Answer(CheckReply { valid: errors.is_empty(), errors }))
}
