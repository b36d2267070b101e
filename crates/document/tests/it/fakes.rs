//! Connections and workflows that documents of the tests refer to.

use std::collections::BTreeMap;

use rival_document::{
    CheckContext, DocumentCheck, ToolCatalog, ToolLookup, ToolSchemas, TypescriptTransforms, WorkflowCatalog,
    WorkflowLookup, check_document,
};
use serde_json::{Value, json};

/// Tools by connection and name, workflows by name.
#[derive(Default)]
pub(crate) struct FakeWorld {
    tools: BTreeMap<(String, String), ToolSchemas>,
    workflows: BTreeMap<String, (Option<Value>, Vec<String>)>,
}

impl FakeWorld {
    pub(crate) fn tool(mut self, connection: &str, tool: &str, input: Value, output: Value) -> Self {
        let output = Some(output).filter(|output| !output.is_null());
        let schemas = ToolSchemas { input, output };
        self.tools.insert((connection.to_owned(), tool.to_owned()), schemas);
        self
    }

    pub(crate) fn workflow(mut self, name: &str, input: Value, triggers: &[&str]) -> Self {
        let input = Some(input).filter(|input| !input.is_null());
        let triggers = triggers.iter().map(|&name| name.to_owned()).collect();
        self.workflows.insert(name.to_owned(), (input, triggers));
        self
    }

    pub(crate) fn check(&self, text: &str) -> DocumentCheck {
        check_document(text, CheckContext { tools: self, transforms: &TypescriptTransforms, workflows: self })
    }

    pub(crate) fn check_json(&self, document: &Value) -> DocumentCheck {
        self.check(&serde_json::to_string_pretty(document).unwrap())
    }
}

impl ToolCatalog for FakeWorld {
    fn tool(&self, connection: &str, tool: &str) -> ToolLookup {
        if let Some(schemas) = self.tools.get(&(connection.to_owned(), tool.to_owned())) {
            return ToolLookup::Known(schemas.clone());
        }
        let of_connection = self.tools.keys().filter(|(name, _)| name == connection);
        let known: Vec<String> = of_connection.map(|(_, tool)| tool.clone()).collect();
        if !known.is_empty() {
            return ToolLookup::UnknownTool { known };
        }
        let mut known: Vec<String> = self.tools.keys().map(|(connection, _)| connection.clone()).collect();
        known.dedup();
        ToolLookup::UnknownConnection { known }
    }
}

impl WorkflowCatalog for FakeWorld {
    fn workflow(&self, name: &str) -> WorkflowLookup {
        match self.workflows.get(name) {
            Some((input_schema, triggers)) => {
                WorkflowLookup::Known { input_schema: input_schema.clone(), triggers: triggers.clone() }
            }
            None => WorkflowLookup::Unknown { known: self.workflows.keys().cloned().collect() },
        }
    }
}

/// The schema of an object; names that end with `?` are optional.
pub(crate) fn object(properties: Value) -> Value {
    let Value::Object(properties) = properties else { panic!("{properties} is no object") };
    let required: Vec<String> = properties.keys().filter(|name| !name.ends_with('?')).cloned().collect();
    let properties: serde_json::Map<String, Value> = properties
        .into_iter()
        .map(|(name, schema)| (name.trim_end_matches('?').to_owned(), schema))
        .collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}

pub(crate) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// All problems, one per line.
pub(crate) fn shown(check: &DocumentCheck) -> String {
    let line = |kind: &str, problem: &rival_document::DocumentProblem| {
        let code = serde_json::to_value(problem.code).unwrap();
        let field = problem.field.as_deref().unwrap_or("-");
        format!("{kind} {} {field} {problem}\n", code.as_str().unwrap())
    };
    let errors = check.errors.iter().map(|problem| line("error", problem));
    errors.chain(check.warnings.iter().map(|problem| line("warning", problem))).collect()
}
