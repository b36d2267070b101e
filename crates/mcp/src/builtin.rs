//! The built-in function `tool`: calls the tools of connections.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use rival_core::event::LostReason;
use rival_core::{FailureRecord, Value};
use rival_document::TOOL_BUILTIN;
use rival_engine::template::Template;
use rival_engine::{BindError, Builtins, CallContext, CallError, FunctionNeeds, RunInfo, UserFunction};
use rmcp::model::RequestMetaObject;
use serde::Deserialize;
use serde_json::json;

use crate::code;
use crate::connections::Connections;
use crate::result::ToolFailure;

/// Brings `tool` along: `{connection, tool, input}`, where `input` is a template for an object.
#[derive(Clone, Debug)]
pub struct ToolBuiltins {
    connections: Connections,
}

impl ToolBuiltins {
    /// Calls the tools of these connections.
    pub fn new(connections: Connections) -> Self {
        Self { connections }
    }
}

/// What a plan has for a tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolData {
    connection: String,
    tool: String,
    #[serde(default)]
    input: Value,
}

impl Builtins for ToolBuiltins {
    fn names(&self) -> Vec<String> {
        vec![TOOL_BUILTIN.to_owned()]
    }

    fn bind(&self, name: &str, with: &Value) -> Result<Arc<dyn UserFunction>, BindError> {
        let invalid = |message: String| BindError::Invalid { function: name.to_owned(), message };
        let ToolData { connection, tool, input } =
            with.decode().map_err(|error| invalid(error.to_string()))?;
        let input = Template::parse(&input).map_err(|error| invalid(error.to_string()))?;
        if !self.connections.has(&connection) {
            let why = format!("no connection is called `{connection}`; an operator can add one");
            return Err(BindError::Missing { function: format!("{TOOL_BUILTIN}:{connection}"), why });
        }
        let needs = FunctionNeeds { elsewhere: true, ..input.needs() };
        let connections = self.connections.clone();
        Ok(Arc::new(ToolFunction { connections, connection, tool, input, needs }))
    }
}

/// A tool with the template of its input.
struct ToolFunction {
    connections: Connections,
    connection: String,
    tool: String,
    input: Template,
    needs: FunctionNeeds,
}

impl UserFunction for ToolFunction {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        let input = match self.input.fill_in_call(&context, &self.needs) {
            Ok(input) => input.unwrap_or_default(),
            Err(error) => return std::future::ready(Err(error.into_step_error().into())).boxed(),
        };
        let (connections, connection, tool) =
            (self.connections.clone(), self.connection.clone(), self.tool.clone());
        let meta = meta(&context.run);
        async move {
            let answer = connections.call_with(&connection, &tool, &input, meta).await;
            answer.map_err(|failure| call_error(&failure))
        }
        .boxed()
    }
}

/// What a server is told of the step that calls: with the key it can see that a call is made again.
fn meta(run: &RunInfo) -> RequestMetaObject {
    let mut meta = RequestMetaObject::new();
    let mut add = |key: &str, value: serde_json::Value| _ = meta.insert(format!("rival/{key}"), value);
    add("idempotencyKey", run.idempotency_key().into());
    add("workflow", json!(&*run.workflow));
    add("step", run.node.as_str().into());
    add("attempt", run.attempt.into());
    if let Some(id) = &run.run_id {
        add("runId", id.as_str().into());
    }
    meta
}

fn call_error(failure: &ToolFailure) -> CallError {
    // It was there when the function was bound: it is bound again, and the node waits for the connection to come back.
    if failure.code == code::UNKNOWN_CONNECTION {
        return CallError::Lost(LostReason::Crash);
    }
    let record = FailureRecord::new(failure.code, failure.message.clone());
    CallError::Failed(if failure.is_final { record.stop() } else { record.plain() })
}
