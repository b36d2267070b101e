//! What llms.txt teaches is true: its documents are valid, and it names all that a document may have.
#![allow(clippy::unwrap_used, reason = "a test")]

use rival_document::{
    CheckContext, ToolCatalog, ToolLookup, ToolSchemas, TypescriptTransforms, WorkflowCatalog,
    WorkflowLookup, check_document,
};
use rival_mcp_server::LLMS_TXT;
use serde_json::{Value, json};

/// What the examples of the page refer to.
struct World;

impl ToolCatalog for World {
    fn tool(&self, connection: &str, tool: &str) -> ToolLookup {
        assert_eq!((connection, tool), ("mail", "send"));
        let input = json!({
            "type": "object",
            "properties": {"to": {"type": "string"}, "subject": {"type": "string"}, "text": {"type": "string"}},
            "required": ["to", "subject", "text"],
        });
        let output = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
        ToolLookup::Known(ToolSchemas { input, output: Some(output) })
    }
}

impl WorkflowCatalog for World {
    fn workflow(&self, name: &str) -> WorkflowLookup {
        let input_schema = match name {
            "pay" => json!({
                "type": "object", "properties": {"orderId": {"type": "string"}, "amount": {"type": "number"}},
                "required": ["orderId", "amount"],
            }),
            "refuse" => json!({
                "type": "object", "properties": {"orderId": {"type": "string"}}, "required": ["orderId"],
            }),
            other => panic!("{other}"),
        };
        WorkflowLookup::Known { input_schema: Some(input_schema), triggers: Vec::new() }
    }
}

#[test]
fn every_document_on_the_page_is_valid_without_a_warning() {
    let documents: Vec<&str> =
        LLMS_TXT.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(documents.len() >= 2);
    for text in documents {
        let context = CheckContext { tools: &World, transforms: &TypescriptTransforms, workflows: &World };
        let check = check_document(text, context);
        assert!(
            check.errors.is_empty() && check.warnings.is_empty(),
            "{:#?} {:#?}",
            check.errors,
            check.warnings
        );
        check.document.unwrap().plan().unwrap();
    }
}

#[test]
fn the_page_names_every_field() {
    let schema: Value = serde_json::from_str(include_str!("../../document/document.schema.json")).unwrap();
    let objects = [&schema, &schema["$defs"]["step"], &schema["$defs"]["trigger"]];
    let nested =
        ["tool", "sleep", "waitForSignal", "retry"].map(|name| &schema["$defs"]["step"]["properties"][name]);
    let mut fields: Vec<&String> = Vec::new();
    for object in objects.into_iter().chain(nested) {
        fields.extend(object["properties"].as_object().unwrap().keys());
    }
    assert!(fields.len() > 25);
    for field in fields.into_iter().filter(|field| *field != "_schemas") {
        let named = LLMS_TXT.contains(&format!("`{field}`")) || LLMS_TXT.contains(&format!("\"{field}\":"));
        assert!(named, "{field}");
    }
}
