//! What can be run.

use axum::Json as Answer;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rival_api::{CheckBody, CheckReply, PlanVersion, WorkflowDetail, WorkflowListReply};
use rival_core::Value;
use rival_core::plan::Graph;
use serde::Deserialize;
use utoipa::ToSchema;

use super::convert::{violations, workflow_summary};
use super::extract::{JsonBody, PathParams};
use crate::app::AppState;
use crate::problem::HttpProblem;

/// List workflows
///
/// All registered workflows, with the schemas of their inputs and signals, and files that could not be loaded.
#[utoipa::path(get, path = "/api/workflows", operation_id = "listWorkflows", tag = "workflows", responses((status = 200, description = "All workflows", body = WorkflowListReply)))]
pub(crate) async fn list(State(app): State<AppState>) -> Answer<WorkflowListReply> {
    let workflows = app.engine.list().into_iter().map(workflow_summary).collect();
    Answer(WorkflowListReply { items: workflows, cursor: None, problems: app.engine.problems() })
}

/// Show a workflow
///
/// A workflow with its plan, its graph and the versions that it has had in this store.
#[utoipa::path(get, path = "/api/workflows/{name}", operation_id = "getWorkflow", tag = "workflows",
    params(("name" = String, Path, description = "The workflow")),
    responses((status = 200, description = "The workflow", body = WorkflowDetail), (status = 404, description = "There is no such workflow")))]
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
    let problems = app.engine.problems().into_iter().filter(|problem| problem.workflows.contains(&name));
    let problems = problems.collect();
    Ok(Answer(WorkflowDetail { summary: workflow_summary(info), plan, graph, versions, problems }))
}

/// Draw a workflow
///
/// The graph of a workflow: its nodes, and which comes after which.
#[utoipa::path(get, path = "/api/workflows/{name}/graph", operation_id = "getWorkflowGraph", tag = "workflows",
    params(("name" = String, Path, description = "The workflow")),
    responses((status = 200, description = "The graph", body = Graph),
        (status = 404, description = "There is no such workflow")))]
pub(crate) async fn graph(
    State(app): State<AppState>,
    PathParams(name): PathParams<String>,
) -> Result<Answer<Graph>, HttpProblem> {
    Ok(Answer(app.engine.workflow(&name)?.plan.graph()))
}

/// A language that graphs are written in.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GraphFormat {
    Mermaid,
    Dot,
}

/// Draw a workflow as text
///
/// The graph of a workflow, in a language that tools draw.
#[utoipa::path(get, path = "/api/workflows/{name}/graph/{format}", operation_id = "getWorkflowGraphText", tag = "workflows",
    params(("name" = String, Path, description = "The workflow"), ("format" = inline(GraphFormat), Path, description = "The language")),
    responses((status = 200, description = "The graph", body = String, content_type = "text/plain"),
        (status = 404, description = "There is no such workflow")))]
pub(crate) async fn graph_text(
    State(app): State<AppState>,
    PathParams((name, format)): PathParams<(String, GraphFormat)>,
) -> Result<Response, HttpProblem> {
    Ok(drawn(&app.engine.workflow(&name)?.plan.graph(), format))
}

/// A graph as text.
pub(crate) fn drawn(graph: &Graph, format: GraphFormat) -> Response {
    let text = match format {
        GraphFormat::Mermaid => graph.to_mermaid(),
        GraphFormat::Dot => graph.to_dot(),
    };
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

/// Check an input
///
/// Checks an input against the schema of a workflow. Nothing is started.
#[utoipa::path(post, path = "/api/workflows/{name}/validate", operation_id = "validateInput", tag = "workflows",
    params(("name" = String, Path, description = "The workflow")), request_body = Option<CheckBody>,
    responses((status = 200, description = "Whether a run would take it, and what is wrong", body = CheckReply),
        (status = 404, description = "There is no such workflow")))]
pub(crate) async fn validate(
    State(app): State<AppState>,
    PathParams(name): PathParams<String>,
    JsonBody(check): JsonBody<CheckBody>,
) -> Result<Answer<CheckReply>, HttpProblem> {
    let errors = violations(app.engine.check_input(&name, &check.input).await?);
    Ok(Answer(CheckReply { valid: errors.is_empty(), errors }))
}
