//! Connections: `connections` with its verbs.

use std::sync::Arc;

use anyhow::Result;
use rival_api::{
    ConnectionBody, ConnectionListReply, ConnectionReply, ConnectionStatus, EmptyBody, ToolCallBody,
    ToolCallReply, ToolListReply, path_segment,
};
use rival_schema::JsonSchema;
use serde_json::value::RawValue;

use super::VerbContext;
use crate::args::{ConnectionsArgs, ConnectionsVerb};
use crate::client::{ApiClient, OfflineNeed};
use crate::exit::ExitError;
use crate::out::{DataOutput, OutputFormat, clean};
use crate::table::TextTable;

/// How much of a type is shown.
const TYPE_CHARS: usize = 400;

pub(crate) async fn connections(context: &VerbContext, args: &ConnectionsArgs) -> Result<()> {
    match &args.verb {
        None | Some(ConnectionsVerb::List) => list(context).await,
        Some(ConnectionsVerb::Test { name }) => test(context, name).await,
        Some(ConnectionsVerb::Tools { name }) => tools(context, name).await,
        Some(ConnectionsVerb::Call { name, tool, input }) => {
            call(context, name, tool, input.as_deref()).await
        }
        Some(ConnectionsVerb::Add { name, definition, address }) => {
            add(context, name, definition.as_deref(), address.as_deref()).await
        }
        Some(ConnectionsVerb::Remove { name }) => remove(context, name).await,
    }
}

fn path(name: &str) -> String {
    format!("/api/connections/{}", path_segment(name))
}

/// A client, with the connections that are meant.
async fn client(context: &VerbContext, only: Option<&str>) -> Result<Arc<ApiClient>> {
    let client = context.client(OfflineNeed::Connections).await?;
    client.open_connections(only).await?;
    Ok(client)
}

/// Where no server runs, makes a connection and waits until its tools are known, or cannot be.
pub(crate) async fn read_tools(client: &ApiClient, name: &str) -> Result<()> {
    if !client.is_served() {
        client.open_connections(Some(name)).await?;
        // What keeps it from being known is said where the tools are asked for.
        let _ = tested(client, name).await;
    }
    Ok(())
}

async fn list(context: &VerbContext) -> Result<()> {
    let client = client(context, None).await?;
    let mut answer = client.get("/api/connections").await?;
    if !client.is_served() {
        // They were begun by this command: it waits for what comes of them.
        let names: Vec<String> =
            answer.read::<ConnectionListReply>()?.items.into_iter().map(|it| it.name).collect();
        let tests = names.iter().map(|name| tested(&client, name));
        futures::future::try_join_all(tests).await?;
        answer = client.get("/api/connections").await?;
    }
    let out = &context.out;
    if out.format == OutputFormat::Json {
        let listed: serde_json::Value = answer.read()?;
        return out.json(&listed["items"].to_string());
    }
    let listed: ConnectionListReply = answer.read()?;
    let mut table = TextTable::new(&["CONNECTION", "STATUS", "TOOLS", "CALLS", "SERVER"]).whole(&[0, 1]);
    for connection in &listed.items {
        if out.format == OutputFormat::Ids {
            out.line(&connection.name)?;
        }
        table.row(row(connection));
    }
    if out.format != OutputFormat::Table {
        return Ok(());
    }
    out.table(&table)?;
    for connection in &listed.items {
        for problem in &connection.problems {
            out.line(format_args!("{}: {}", connection.name, clean(problem)))?;
        }
    }
    Ok(())
}

fn row(connection: &ConnectionReply) -> [String; 5] {
    let tools = connection.tools.map_or_else(|| "?".to_owned(), |tools| tools.to_string());
    let calls = match connection.waiting {
        0 => format!("{}/{}", connection.calls, connection.definition.concurrency),
        waiting => format!("{}/{}, {waiting} wait", connection.calls, connection.definition.concurrency),
    };
    [
        connection.name.clone(),
        status(connection.health.status).to_owned(),
        tools,
        calls,
        clean(&about(connection)),
    ]
}

/// What is at the other end, or why nothing is.
fn about(connection: &ConnectionReply) -> String {
    let definition = &connection.definition;
    let target = definition.url.as_deref().or(definition.command.as_deref()).unwrap_or_default();
    match (&connection.health.why, &connection.server) {
        (Some(why), _) => why.clone(),
        (None, Some(server)) => format!("{} {} ({target})", server.name, server.version),
        (None, None) => target.to_owned(),
    }
}

fn status(status: ConnectionStatus) -> &'static str {
    match status {
        ConnectionStatus::Connecting => "connecting",
        ConnectionStatus::Ready => "ready",
        ConnectionStatus::Failed => "failed",
        ConnectionStatus::Stopped => "stopped",
    }
}

async fn tested(client: &ApiClient, name: &str) -> Result<(ConnectionReply, String)> {
    let answer = client.post(&format!("{}/test", path(name)), &EmptyBody {}).await?;
    Ok((answer.read()?, answer.text))
}

async fn test(context: &VerbContext, name: &str) -> Result<()> {
    let client = client(context, Some(name)).await?;
    let (connection, text) = tested(&client, name).await?;
    show(&context.out, &connection, &text)?;
    match (connection.health.status, &connection.health.why) {
        (ConnectionStatus::Ready, _) => Ok(()),
        (_, why) => {
            let why = why.as_deref().unwrap_or("it is not ready");
            Err(ExitError::error(format!("connection `{name}` does not work: {why}")).into())
        }
    }
}

fn show(out: &DataOutput, connection: &ConnectionReply, text: &str) -> Result<()> {
    match out.format {
        OutputFormat::Json => out.json(text),
        OutputFormat::Ids => out.line(&connection.name),
        OutputFormat::Table => {
            let mut table =
                TextTable::new(&["CONNECTION", "STATUS", "TOOLS", "CALLS", "SERVER"]).whole(&[0, 1]);
            table.row(row(connection));
            out.table(&table)?;
            connection.problems.iter().try_for_each(|problem| out.line(clean(problem)))
        }
    }
}

async fn tools(context: &VerbContext, name: &str) -> Result<()> {
    let client = client(context, Some(name)).await?;
    if !client.is_served() {
        tested(&client, name).await?;
    }
    let answer = client.get(&format!("{}/tools", path(name))).await?;
    let out = &context.out;
    if out.format == OutputFormat::Json {
        let listed: serde_json::Value = answer.read()?;
        return out.json(&listed["items"].to_string());
    }
    let listed: ToolListReply = answer.read()?;
    for tool in &listed.items {
        if out.format == OutputFormat::Ids {
            out.line(&tool.name)?;
            continue;
        }
        let gives = tool.output_schema.as_ref().map_or_else(|| "unknown".to_owned(), type_text);
        let line = format!("{}(input: {}): {gives}", tool.name, type_text(&tool.input_schema));
        out.line(clean(&line))?;
        let about =
            tool.description.as_deref().and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
        if let Some(about) = about {
            out.line(out.style.dim(format_args!("    {}", clean(about.trim()))))?;
        }
    }
    Ok(())
}

/// A schema as a type of TypeScript.
fn type_text(schema: &serde_json::Value) -> String {
    JsonSchema::read(schema).map_or_else(|_| "unknown".to_owned(), |schema| schema.type_text(TYPE_CHARS))
}

async fn call(context: &VerbContext, name: &str, tool: &str, input: Option<&str>) -> Result<()> {
    let input = super::optional_json(input, "input").await?.unwrap_or_default();
    let client = client(context, Some(name)).await?;
    let path = format!("{}/tools/{}/call", path(name), path_segment(tool));
    let answer = client.post(&path, &ToolCallBody { input }).await?;
    let out = &context.out;
    match out.format {
        OutputFormat::Json | OutputFormat::Ids => {
            let reply: Box<RawValue> = answer.read()?;
            let reply: ToolCallReply = serde_json::from_str(reply.get())?;
            out.json(reply.output.as_json())
        }
        OutputFormat::Table => out.json(answer.read::<ToolCallReply>()?.output.as_json()),
    }
}

async fn add(
    context: &VerbContext,
    name: &str,
    definition: Option<&str>,
    address: Option<&str>,
) -> Result<()> {
    let given = super::optional_json(definition, "definition").await?;
    let mut body = match &given {
        Some(given) => given.decode::<ConnectionBody>().map_err(|error| {
            ExitError::usage(format!("the definition is not that of a connection: {error}"))
                .hint(r#"{"url": "https://mcp.example/mcp", "headers": {"Authorization": {"env": "TOKEN", "prefix": "Bearer "}}}"#)
        })?,
        None => ConnectionBody::default(),
    };
    if let Some(address) = address {
        body.url = Some(address.to_owned());
    }
    let client = ApiClient::to_configured(&context.config)?;
    let answer = client.put(&path(name), &body).await.map_err(needs_server)?;
    show(&context.out, &answer.read()?, &answer.text)
}

async fn remove(context: &VerbContext, name: &str) -> Result<()> {
    let client = ApiClient::to_configured(&context.config)?;
    client.delete(&path(name), None).await.map_err(needs_server)?;
    match context.out.format {
        OutputFormat::Json => context.out.json(&serde_json::json!({ "removed": name }).to_string()),
        OutputFormat::Ids | OutputFormat::Table => context.out.line(name),
    }
}

/// What is added or removed over the API is kept by a server.
fn needs_server(error: anyhow::Error) -> anyhow::Error {
    match (crate::exit::silence(&error).is_some(), error.downcast::<ExitError>()) {
        (true, Ok(failed)) => {
            failed.hint("start a server, or write [connections.NAME] into rival.toml").into()
        }
        (false, Ok(failed)) => failed.into(),
        (_, Err(other)) => other,
    }
}
