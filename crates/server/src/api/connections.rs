//! Connections: looked at, tried, and defined by admins.

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use rival_api::{
    ConnectionBody, ConnectionListReply, ConnectionReply, EmptyBody, ToolCallBody, ToolCallReply,
    ToolListReply,
};

use super::extract::{JsonBody, PathParams};
use crate::app::{AppState, AskedApp};
use crate::connections::ConnectionControl;
use crate::problem::{HttpProblem, code};

impl AppState {
    /// What looks after connections, or that there is nothing that does.
    fn connections(&self) -> Result<&dyn ConnectionControl, HttpProblem> {
        let none =
            || HttpProblem::new(StatusCode::NOT_FOUND, code::NOT_FOUND, "this server has no connections");
        self.connections.as_deref().ok_or_else(none)
    }
}

/// List connections
///
/// The MCP servers whose tools steps call, each with how it is doing. Secrets are never shown.
#[utoipa::path(get, path = "/api/connections", operation_id = "listConnections", tag = "connections",
    responses((status = 200, description = "All connections", body = ConnectionListReply), (status = 404, description = "The server has none")))]
pub(crate) async fn list(State(app): State<AppState>) -> Result<Answer<ConnectionListReply>, HttpProblem> {
    Ok(Answer(ConnectionListReply { items: app.connections()?.list(), cursor: None }))
}

/// Show a connection
#[utoipa::path(get, path = "/api/connections/{name}", operation_id = "getConnection", tag = "connections",
    params(("name" = String, Path, description = "The connection")),
    responses((status = 200, description = "The connection", body = ConnectionReply), (status = 404, description = "There is no such connection")))]
pub(crate) async fn show(
    State(app): State<AppState>,
    PathParams(name): PathParams<String>,
) -> Result<Answer<ConnectionReply>, HttpProblem> {
    app.connections()?.get(&name).map(Answer)
}

/// Define a connection
///
/// Defines a connection, or puts it in the place of the one that is called so. It is made in the background. Programs are started
/// only where the setting `connection_commands` allows it, and secrets are those that `connection_secrets` lists.
#[utoipa::path(put, path = "/api/connections/{name}", operation_id = "putConnection", tag = "connections",
    params(("name" = String, Path, description = "The connection")), request_body = ConnectionBody,
    responses((status = 200, description = "It takes the place of the one that was there", body = ConnectionReply),
        (status = 201, description = "It is new", body = ConnectionReply),
        (status = 404, description = "The server has none"),
        (status = 409, description = "It is defined in the settings")))]
pub(crate) async fn put(
    AskedApp(app): AskedApp,
    PathParams(name): PathParams<String>,
    JsonBody(body): JsonBody<ConnectionBody>,
) -> Result<(StatusCode, Answer<ConnectionReply>), HttpProblem> {
    let (connection, is_new) = app.connections()?.put(&app.engine, &name, body).await?;
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Answer(connection)))
}

/// Remove a connection
///
/// Removes a connection. Steps that need it are blocked until there is one of this name again.
#[utoipa::path(delete, path = "/api/connections/{name}", operation_id = "deleteConnection", tag = "connections",
    params(("name" = String, Path, description = "The connection")),
    responses((status = 204, description = "It is gone"), (status = 404, description = "There is no such connection"),
        (status = 409, description = "It is defined in the settings")))]
pub(crate) async fn delete(
    AskedApp(app): AskedApp,
    PathParams(name): PathParams<String>,
) -> Result<StatusCode, HttpProblem> {
    app.connections()?.delete(&app.engine, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List the tools of a connection
///
/// The tools that may be called, with their schemas as they were when they were read last.
#[utoipa::path(get, path = "/api/connections/{name}/tools", operation_id = "listTools", tag = "connections",
    params(("name" = String, Path, description = "The connection")),
    responses((status = 200, description = "Its tools", body = ToolListReply), (status = 404, description = "There is no such connection")))]
pub(crate) async fn tools(
    State(app): State<AppState>,
    PathParams(name): PathParams<String>,
) -> Result<Answer<ToolListReply>, HttpProblem> {
    app.connections()?.tools(&name).map(Answer)
}

/// Test a connection
///
/// Waits until the connection has been made or has failed to be, asks its server for a sign of life, and says how it is doing.
#[utoipa::path(post, path = "/api/connections/{name}/test", operation_id = "testConnection", tag = "connections",
    params(("name" = String, Path, description = "The connection")), request_body = Option<EmptyBody>,
    responses((status = 200, description = "How it is doing", body = ConnectionReply), (status = 404, description = "There is no such connection")))]
pub(crate) async fn test(
    State(app): State<AppState>,
    PathParams(name): PathParams<String>,
    JsonBody(EmptyBody {}): JsonBody<EmptyBody>,
) -> Result<Answer<ConnectionReply>, HttpProblem> {
    app.connections()?.test(&name).await.map(Answer)
}

/// Call a tool
///
/// Calls a tool by hand, as a step would. What it does it does: no run remembers it.
#[utoipa::path(post, path = "/api/connections/{name}/tools/{tool}/call", operation_id = "callTool", tag = "connections",
    params(("name" = String, Path, description = "The connection"), ("tool" = String, Path, description = "The tool")),
    request_body = Option<ToolCallBody>,
    responses((status = 200, description = "What it gave", body = ToolCallReply),
        (status = 404, description = "There is no such connection or tool"),
        (status = 502, description = "The tool failed, or its server was lost"),
        (status = 504, description = "The tool did not answer in time")))]
pub(crate) async fn call(
    State(app): State<AppState>,
    PathParams((name, tool)): PathParams<(String, String)>,
    JsonBody(ToolCallBody { input }): JsonBody<ToolCallBody>,
) -> Result<Answer<ToolCallReply>, HttpProblem> {
    let output = app.connections()?.call(&name, &tool, &input).await?;
    Ok(Answer(ToolCallReply { output }))
}
