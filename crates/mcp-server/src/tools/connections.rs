//! What steps of documents can call: `list_connections`, `list_tools`.

use rival_api::path_segment;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::workflows::items;
use super::{list, text};
use crate::failure::ToolFailure;
use crate::shown::{RESULT_MAX_BYTES, fitting, shown};
use crate::spec::{ToolAnswer, ToolCall, ToolEffect, ToolSpec};

/// How much of one schema a list of tools shows.
const SCHEMA_MAX_BYTES: usize = 6 << 10;

pub(crate) fn tools() -> Vec<ToolSpec> {
    vec![list_connections(), list_tools()]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListConnections {}

fn list_connections() -> ToolSpec {
    ToolSpec::new(
        ("list_connections", "List connections"),
        "Lists the connections to MCP servers whose tools steps of documents can call, and how they are. Only the operator adds \
         one. Then list_tools shows the tools of one with their types.",
        ToolEffect::Reads,
        &json!({"connections": list("name, status, how many tools it has, and why it cannot be used")}),
        |call, ListConnections {}| async move {
            let answer = call.api.get("/api/connections").await?;
            let found = items(&answer).map(health).collect();
            let (connections, left) = fitting(found, RESULT_MAX_BYTES * 3 / 4);
            let mut answer = json!({ "connections": connections });
            if left > 0 {
                answer["cut"] = format!("{left} more connections").into();
            }
            Ok(answer)
        },
    )
}

/// How a connection is doing. How it is reached is the operator's business.
fn health(connection: &Value) -> Value {
    let mut answer = json!({
        "name": connection["name"], "status": connection["health"]["status"], "tools": connection["tools"],
    });
    for (key, value) in [("why", &connection["health"]["why"]), ("server", &connection["server"]["name"])] {
        if !value.is_null() {
            answer[key] = value.clone();
        }
    }
    answer
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListTools {
    /// The connection, as list_connections names it: what a step writes as connectionId.
    connection: String,
    /// Only this tool, with its whole schemas.
    tool: Option<String>,
    /// Go on after this tool: what `next` of the last answer said.
    after: Option<String>,
}

fn list_tools() -> ToolSpec {
    let output = json!({
        "connection": text("the connection"),
        "tools": list("name, description, inputSchema and outputSchema"),
        "next": text("there are more: ask again with this as `after`"),
    });
    ToolSpec::new(
        ("list_tools", "List tools of a connection"),
        "Shows the tools of a connection with the JSON Schemas of what they take and give: what steps of documents can call, as \
         {\"tool\": {\"connectionId\": …, \"toolName\": …}}, and what their @refs can read.",
        ToolEffect::Reads,
        &output,
        |call, given: ListTools| async move { listed(&call, given).await },
    )
}

async fn listed(call: &ToolCall, given: ListTools) -> ToolAnswer {
    let path = format!("/api/connections/{}/tools", path_segment(&given.connection));
    let mut tools: Vec<Value> = items(&call.api.get(&path).await?).cloned().collect();
    tools.sort_by(|one, other| one["name"].as_str().cmp(&other["name"].as_str()));
    if let Some(name) = &given.tool {
        let found = tools.into_iter().find(|tool| tool["name"] == **name).ok_or_else(|| {
            ToolFailure::arguments(format!("connection `{}` has no tool `{name}`", given.connection))
                .hint("call list_tools without `tool` for those that it has")
        })?;
        return Ok(json!({"connection": given.connection, "tools": [found]}));
    }
    tools.retain(|tool| given.after.as_deref().is_none_or(|after| tool["name"].as_str() > Some(after)));
    let tools = tools.into_iter().map(|tool| in_short(tool, &given.connection)).collect();
    let (tools, left) = fitting(tools, RESULT_MAX_BYTES * 3 / 4);
    let next = tools.last().map(|last| last["name"].clone()).filter(|_| left > 0);
    let mut answer = json!({"connection": given.connection, "tools": tools});
    if let Some(next) = next {
        answer["next"] = next;
    }
    Ok(answer)
}

fn in_short(mut tool: Value, connection: &str) -> Value {
    let name = tool["name"].as_str().unwrap_or_default().to_owned();
    let read_with = format!("list_tools with connection `{connection}` and tool `{name}`");
    for key in ["inputSchema", "outputSchema"] {
        if tool[key].is_null() {
            continue;
        }
        tool[key] = shown(&tool[key], SCHEMA_MAX_BYTES, &read_with);
    }
    tool
}
