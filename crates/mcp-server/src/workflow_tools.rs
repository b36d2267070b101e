//! Each workflow as a tool of its own, with the workflow's input schema.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use rival_api::StartRun;
use rival_core::Value as Recorded;
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::api::Api;
use crate::failure::ToolFailure;
use crate::spec::{ToolAnswer, ToolCall, ToolEffect, tool};
use crate::tools::TOOLS;
use crate::tools::start::{outcome_schema, started};
use crate::tools::workflows::items;

/// How many workflows are tools: a model reads all tools before each of its answers. All others are run by `run_workflow`.
const TOOLS_MAX: usize = 50;
/// How much the schemas of these tools take in all.
const SCHEMAS_MAX_BYTES: usize = 96 << 10;
/// The largest schema of one tool.
const SCHEMA_MAX_BYTES: usize = 12 << 10;
/// How long a tool's name is: clients put the server's name before it, and take 64 characters in all.
const NAME_MAX: usize = 48;
const ABOUT_CHARS: usize = 400;
/// How long a call waits for the end of its run.
const WAIT: Duration = Duration::from_secs(25);

/// A workflow as a tool.
pub(crate) struct WorkflowTool {
    pub(crate) tool: Tool,
    pub(crate) workflow: String,
    /// The input is an argument, because it is not an object itself.
    is_wrapped: bool,
}

/// The workflows that are tools.
pub(crate) async fn all(api: &Api) -> Result<Vec<WorkflowTool>, ToolFailure> {
    Ok(of(&api.get("/api/workflows").await?))
}

fn of(listed: &Value) -> Vec<WorkflowTool> {
    let mut workflows: Vec<(&str, &Value)> =
        items(listed).filter_map(|workflow| Some((workflow["name"].as_str()?, workflow))).collect();
    workflows.sort_by_key(|(name, _)| *name);
    let mut taken: BTreeSet<String> = TOOLS.iter().map(|spec| spec.tool.name.to_string()).collect();
    let (mut tools, mut bytes) = (Vec::new(), 0);
    for (name, workflow) in workflows.into_iter().take(TOOLS_MAX) {
        let Some(tool_name) = free_name(name, &mut taken) else { continue };
        let (schema, is_wrapped) = input_schema(&workflow["inputSchema"]);
        bytes += Value::from(schema.clone()).to_string().len();
        if bytes > SCHEMAS_MAX_BYTES {
            break;
        }
        let about = about(name, &workflow["description"]);
        let tool =
            tool(tool_name, &format!("Run {name}"), about, ToolEffect::Runs, schema, &outcome_schema());
        tools.push(WorkflowTool { tool, workflow: name.to_owned(), is_wrapped });
    }
    tools
}

fn about(name: &str, description: &Value) -> String {
    let said: String = description.as_str().unwrap_or_default().chars().take(ABOUT_CHARS).collect();
    let said = if said.is_empty() { String::new() } else { format!("{said}\n") };
    format!(
        "{said}Runs the workflow `{name}` and waits up to {} seconds for its output. If it takes longer, the answer has its \
         runId for wait_for_run.",
        WAIT.as_secs()
    )
}

/// A name that clients take and no other tool has.
fn free_name(workflow: &str, taken: &mut BTreeSet<String>) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let plain: String = workflow.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let mut name = format!("run_{plain}");
    if plain != workflow || name.len() > NAME_MAX || taken.contains(&name) {
        let mut hash = String::new();
        for byte in Sha256::digest(workflow).iter().take(4) {
            // Writing to a string cannot fail.
            let _ = write!(hash, "{byte:02x}");
        }
        name.truncate(NAME_MAX - hash.len() - 1);
        name = format!("{name}_{hash}");
    }
    taken.insert(name.clone()).then_some(name)
}

/// The schema of a tool's arguments, and whether the input is one of them. Arguments are an object: so an input that is one
/// is the arguments, and any other is an argument.
fn input_schema(schema: &Value) -> (JsonObject, bool) {
    let is_small = schema.to_string().len() <= SCHEMA_MAX_BYTES;
    match schema {
        Value::Object(fields) if is_small && fields.get("type") == Some(&json!("object")) => {
            (fields.clone(), false)
        }
        Value::Object(fields) if is_small => (wrapped(fields.clone()), true),
        Value::Object(_) => {
            (wrapped(described("the input; describe_workflow shows its schema, which is large")), true)
        }
        _ => (wrapped(described("the input; anything")), true),
    }
}

fn described(text: &str) -> JsonObject {
    JsonObject::from_iter([("description".to_owned(), text.into())])
}

fn wrapped(mut schema: JsonObject) -> JsonObject {
    let mut outer = JsonObject::from_iter([("type".to_owned(), "object".into())]);
    schema.remove("$schema");
    // References lead to definitions from the root.
    for key in ["$defs", "definitions"] {
        outer.extend(schema.remove(key).map(|definitions| (key.to_owned(), definitions)));
    }
    let text = Value::from(schema.clone()).to_string();
    let refers_to_itself = text.contains(r##""$ref":"#""##) || text.contains(r##""$ref":"#/properties"##);
    if schema.contains_key("$id") || refers_to_itself {
        schema = described("the input; describe_workflow shows its schema");
    }
    outer.insert("properties".to_owned(), json!({ "input": schema }));
    outer.insert("additionalProperties".to_owned(), false.into());
    outer
}

impl WorkflowTool {
    pub(crate) async fn run(&self, call: &ToolCall, mut arguments: JsonObject) -> ToolAnswer {
        let input = match self.is_wrapped {
            true => arguments.remove("input").unwrap_or_default(),
            false => Value::Object(arguments),
        };
        let start = StartRun { input: Recorded::from(input), ..StartRun::default() };
        started(call, &self.workflow, start, None, WAIT).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(workflows: &[(&str, Value)]) -> Value {
        let items = workflows.iter().map(|(name, schema)| json!({"name": name, "inputSchema": schema}));
        json!({"items": items.collect::<Vec<_>>()})
    }

    #[test]
    fn names_are_plain_short_and_unlike() {
        let long = "x".repeat(200);
        let names = ["order", "workflow", "a b", "a_b", "a/b", "größe", &long, &format!("{long}y")];
        let tools = of(&listed(&names.map(|name| (name, Value::Null))));
        let named: BTreeSet<&str> = tools.iter().map(|tool| &*tool.tool.name).collect();
        assert_eq!(named.len(), names.len());
        assert!(named.contains("run_order") && named.contains("run_a_b"));
        // The tool that runs any workflow keeps its name.
        assert!(!named.contains("run_workflow"));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(named.iter().all(|name| name.len() <= NAME_MAX && name.chars().all(is_plain)));
    }

    #[test]
    fn an_input_that_is_an_object_is_the_arguments_and_any_other_is_one() {
        let object = json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": "number"}}});
        assert_eq!(input_schema(&object), (object.as_object().unwrap().clone(), false));
        let list =
            json!({"type": "array", "items": {"$ref": "#/$defs/N"}, "$defs": {"N": {"type": "number"}}});
        let (schema, is_wrapped) = input_schema(&list);
        let expected = json!({
            "type": "object", "additionalProperties": false, "$defs": {"N": {"type": "number"}},
            "properties": {"input": {"type": "array", "items": {"$ref": "#/$defs/N"}}},
        });
        assert_eq!((Value::from(schema), is_wrapped), (expected, true));
        let tree = json!({"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]});
        assert!(input_schema(&tree).0["properties"]["input"].get("anyOf").is_none());
        let huge = json!({"type": "object", "description": "x".repeat(SCHEMA_MAX_BYTES)});
        assert!(input_schema(&huge).1);
    }

    #[test]
    fn there_are_not_more_tools_than_a_model_reads() {
        let many: Vec<String> = (0..500).map(|n| format!("w{n:03}")).collect();
        let many: Vec<(&str, Value)> = many.iter().map(|name| (name.as_str(), Value::Null)).collect();
        assert_eq!(of(&listed(&many)).len(), TOOLS_MAX);
        let large = json!({"type": "object", "description": "x".repeat(SCHEMA_MAX_BYTES - 100)});
        let large: Vec<(&str, Value)> = many.iter().map(|(name, _)| (*name, large.clone())).collect();
        assert!(of(&listed(&large)).len() < 10);
    }
}
