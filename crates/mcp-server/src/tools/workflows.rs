//! What can be run: `list_workflows`, `describe_workflow`.

use rival_api::{Graph, path_segment};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{list, number, text};
use crate::api::Api;
use crate::caller::UNREADABLE;
use crate::failure::ToolFailure;
use crate::shown::{RESULT_MAX_BYTES, fitting};
use crate::spec::{ToolAnswer, ToolCall, ToolEffect, ToolSpec};

pub(crate) fn tools() -> Vec<ToolSpec> {
    vec![list_workflows(), describe_workflow()]
}

/// How much of a description a list shows.
const ABOUT_CHARS: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListWorkflows {
    /// Only workflows whose name or description contains this.
    containing: Option<String>,
    /// Go on after this name: what `next` of the last answer said.
    after: Option<String>,
}

fn list_workflows() -> ToolSpec {
    let output = json!({
        "workflows": list("name, description, and how many steps each has"),
        "next": text("there are more: ask again with this as `after`"),
        "problems": list("files that workflows come from and that could not be loaded, with line and advice"),
    });
    ToolSpec::new(
        ("list_workflows", "List workflows"),
        "Lists the workflows that can be run. Call describe_workflow for what one takes and does.",
        ToolEffect::Reads,
        &output,
        |call, given: ListWorkflows| async move { listed(&call.api, given).await },
    )
}

async fn listed(api: &Api, given: ListWorkflows) -> ToolAnswer {
    let all = api.get("/api/workflows").await?;
    let is_meant = |workflow: &&Value| {
        let has = |key: &str, part: &str| workflow[key].as_str().is_some_and(|text| text.contains(part));
        let contains =
            given.containing.as_deref().is_none_or(|part| has("name", part) || has("description", part));
        let is_next = given.after.as_deref().is_none_or(|after| workflow["name"].as_str() > Some(after));
        contains && is_next
    };
    let mut found: Vec<&Value> = items(&all).filter(is_meant).collect();
    found.sort_by_key(|workflow| workflow["name"].as_str());
    let lines = found.into_iter().map(in_short).collect();
    let (workflows, left) = fitting(lines, RESULT_MAX_BYTES * 3 / 4);
    let mut answer = Map::new();
    if left > 0
        && let Some(last) = workflows.last()
    {
        answer.insert("next".to_owned(), last["name"].clone());
    }
    answer.insert("workflows".to_owned(), workflows.into());
    let problems = all["problems"].as_array().filter(|problems| !problems.is_empty());
    if let Some(problems) = problems {
        answer.insert("problems".to_owned(), fitting(problems.clone(), RESULT_MAX_BYTES / 4).0.into());
    }
    Ok(answer.into())
}

/// The workflows of an answer.
pub(crate) fn items(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["items"].as_array().into_iter().flatten()
}

fn in_short(workflow: &Value) -> Value {
    let about =
        workflow["description"].as_str().map(|about| about.chars().take(ABOUT_CHARS).collect::<String>());
    json!({
        "name": workflow["name"], "description": about, "steps": workflow["stepCount"],
        "takesInput": !workflow["inputSchema"].is_null(),
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DescribeWorkflow {
    /// The workflow's name.
    workflow: String,
}

fn describe_workflow() -> ToolSpec {
    let output = json!({
        "name": text("its name"),
        "description": super::anything("what it is for"),
        "inputSchema": super::anything("JSON Schema of its input; absent if it takes anything"),
        "signals": super::anything("the signals that its steps wait for, by name, with the JSON Schema of the payload"),
        "triggers": list("the workflows that its completion starts"),
        "plan": text("its steps as a tree, one per line: name and kind"),
        "steps": number("how many steps it has"),
        "planHash": text("changes when its structure does"),
    });
    ToolSpec::new(
        ("describe_workflow", "Describe a workflow"),
        "Shows what a workflow takes (JSON Schema of its input), its steps as a tree, the signals that it waits for, and what \
         it triggers. Read this before run_workflow.",
        ToolEffect::Reads,
        &output,
        |call, given: DescribeWorkflow| async move { described(&call, &given.workflow).await },
    )
}

async fn described(call: &ToolCall, name: &str) -> ToolAnswer {
    let detail = call.api.get(&format!("/api/workflows/{}", path_segment(name))).await?;
    let mut answer = Map::new();
    let mut say = |key: &str, value: Value| {
        let is_empty = value.is_null() || value.as_object().is_some_and(Map::is_empty);
        if !is_empty {
            answer.insert(key.to_owned(), value);
        }
    };
    say("name", detail["name"].clone());
    say("description", detail["description"].clone());
    say("inputSchema", detail["inputSchema"].clone());
    say("signals", detail["signalSchemas"].clone());
    say("triggers", detail["plan"]["triggers"].clone());
    say("plan", drawn(call, &detail["graph"])?.into());
    say("steps", detail["stepCount"].clone());
    say("planHash", detail["planHash"].clone());
    Ok(answer.into())
}

fn drawn(call: &ToolCall, graph: &Value) -> Result<String, ToolFailure> {
    let graph: Graph = serde_json::from_value(graph.clone())
        .map_err(|error| ToolFailure::new(UNREADABLE, format!("the plan cannot be drawn: {error}")))?;
    Ok((call.words.plan)(&graph).join("\n"))
}
