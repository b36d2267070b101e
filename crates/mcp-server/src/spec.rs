//! What a tool is: its name, its schemas, what it does to the world, and the function that answers.

use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::api::Api;
use crate::failure::ToolFailure;
use crate::progress::ProgressTeller;
use crate::words::Words;

/// What a tool does to the world, as clients tell their users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolEffect {
    /// It only looks.
    Reads,
    /// It adds something: a run, a document, a signal.
    Adds,
    /// It starts functions of workflows, which may do anything.
    Runs,
    /// It changes or removes what is there.
    Changes,
}

impl ToolEffect {
    fn annotations(self, title: &str) -> ToolAnnotations {
        ToolAnnotations::with_title(title)
            .read_only(self == Self::Reads)
            .destructive(self == Self::Changes)
            .idempotent(self == Self::Reads)
            .open_world(self == Self::Runs)
    }
}

/// What a tool is given besides its arguments.
#[derive(Clone)]
pub(crate) struct ToolCall {
    pub(crate) api: Api,
    pub(crate) words: Words,
    /// Where the client asked for it: tells how a wait is going.
    pub(crate) progress: Option<ProgressTeller>,
}

pub(crate) type ToolAnswer = Result<Value, ToolFailure>;
type ToolFn = Box<dyn Fn(ToolCall, JsonObject) -> BoxFuture<'static, ToolAnswer> + Send + Sync>;

/// A tool.
pub(crate) struct ToolSpec {
    pub(crate) tool: Tool,
    pub(crate) answer: ToolFn,
}

impl ToolSpec {
    /// A tool with arguments of this type, and with what its results have besides an error.
    pub(crate) fn new<T, F>(
        (name, title): (&'static str, &'static str),
        description: &'static str,
        effect: ToolEffect,
        output: &Value,
        answer: fn(ToolCall, T) -> F,
    ) -> Self
    where
        T: DeserializeOwned + JsonSchema + Send + 'static,
        F: Future<Output = ToolAnswer> + Send + 'static,
    {
        let tool = tool(name.to_owned(), title, description.to_owned(), effect, input_schema::<T>(), output);
        let answer = move |call, given: JsonObject| -> BoxFuture<'static, ToolAnswer> {
            match serde_json::from_value(Value::Object(given)) {
                Ok(arguments) => Box::pin(answer(call, arguments)),
                Err(error) => Box::pin(async move { Err(ToolFailure::arguments(error.to_string())) }),
            }
        };
        Self { tool, answer: Box::new(answer) }
    }
}

pub(crate) fn tool(
    name: String,
    title: &str,
    description: String,
    effect: ToolEffect,
    input: JsonObject,
    output: &Value,
) -> Tool {
    Tool::new(name, description, Arc::new(input))
        .with_title(title)
        .with_raw_output_schema(Arc::new(output_schema(output)))
        .with_annotations(effect.annotations(title))
}

/// The schema of a result: any of these fields, or an error.
fn output_schema(fields: &Value) -> JsonObject {
    let mut properties = fields.as_object().cloned().unwrap_or_default();
    let error = json!({
        "type": "object",
        "description": "why there is no result; `whatToDo` says what to do about it",
        "properties": {
            "code": {"type": "string"}, "message": {"type": "string"},
            "errors": {"type": "array", "items": {"type": "object"}}, "whatToDo": {"type": "string"},
        },
        "required": ["code", "message"],
    });
    properties.insert("error".to_owned(), error);
    let cut = json!({"type": "string", "description": "what was left out because it was too large"});
    properties.insert("cut".to_owned(), cut);
    let Value::Object(schema) = json!({"type": "object", "properties": properties}) else {
        unreachable!("it is written as an object")
    };
    schema
}

/// The schema of arguments, in a form that all clients read: nothing by reference, no `null` for what can be left out.
fn input_schema<T: JsonSchema>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let Value::Object(mut schema) = schema.to_value() else { return JsonObject::default() };
    schema.remove("title");
    schema.remove("description");
    schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(without_null);
    }
    schema
}

fn without_null(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|word| word != "null");
        if let [only] = &**types {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    fields.remove("default");
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Given {
        /// The run.
        run_id: String,
        /// How long.
        wait_seconds: Option<u32>,
        /// Anything.
        input: Option<Value>,
    }

    #[test]
    fn a_schema_is_plain() {
        let schema = Value::Object(input_schema::<Given>());
        let expected = json!({
            "type": "object", "additionalProperties": false, "required": ["runId"],
            "properties": {
                "runId": {"type": "string", "description": "The run."},
                "waitSeconds": {"type": "integer", "format": "uint32", "minimum": 0, "description": "How long."},
                "input": {"description": "Anything."},
            },
        });
        assert_eq!(schema, expected);
    }
}
