//! The published schema of documents.

use rival_document::{ProblemCode, document_schema};
use serde_json::{Value, json};

pub(crate) fn validator() -> jsonschema::Validator {
    jsonschema::options().build(&document_schema()).unwrap()
}

#[test]
fn it_is_a_schema_and_every_example_satisfies_it() {
    jsonschema::meta::validate(&document_schema()).unwrap();
    let validator = validator();
    for example in crate::seed::examples() {
        let problems: Vec<String> = validator.iter_errors(&example).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{example:#}: {problems:?}");
    }
    assert!(validator.is_valid(&full()));
}

/// A document that uses every field.
pub(crate) fn full() -> Value {
    json!({
        "name": "everything", "description": "", "inputSchema": { "type": "object" }, "_schemas": {},
        "steps": [
            [{ "name": "a", "tool": { "connectionId": "c", "toolName": "t" }, "input": { "x": "@input.x" },
               "forEach": "@input.list", "as": "user", "maxIterations": 5, "concurrency": 2,
               "retry": { "maxAttempts": 2, "backoffMs": 0 }, "timeout": 1000, "onError": "continue" },
             { "name": "b-2_Ä", "sleep": { "ms": 5 }, "as": "item", "maxIterations": 100 }],
            [{ "name": "c", "sleep": { "until": "2027-01-31T09:00:00Z" } },
             { "name": "d", "waitForSignal": { "name": "approve", "schema": { "type": "string" } }, "timeout": 1, "onError": "fail" }],
            [{ "name": "e", "transform": "type Input = {}; type Output = string; export default (input: Input): Output => ''" }]
        ],
        "triggers": [{ "workflowId": "w", "inputs": { "e": "@output" }, "forEach": "@input.list", "workflow_timeout_ms": 1, "max_retries": 0 }]
    })
}

/// Documents, steps and triggers, and whether they are accepted. The zod schemas and the TypeScript types of the module
/// `rival/document` are held to the same list: `crates/script/tests/it/document_schemas.rs`, `crates/script-host/tests/types.rs`.
const CASES: &str = include_str!("../cases/documents.json");

/// The document of a case: itself, or one with the case's step or trigger.
fn document_of(case: &Value) -> Value {
    let nap = json!({ "name": "nap", "sleep": { "ms": 1 } });
    match (case.get("step"), case.get("trigger")) {
        (Some(step), _) => json!({ "name": "d", "steps": [[step]] }),
        (_, Some(trigger)) => json!({ "name": "d", "steps": [[nap]], "triggers": [trigger] }),
        (None, None) => case["document"].clone(),
    }
}

#[test]
fn the_schema_and_the_check_agree_with_the_list_of_cases() {
    let validator = validator();
    let world = crate::fakes::FakeWorld::default().tool("c", "t", json!({}), json!({}));
    let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
    assert!(cases.len() > 200);
    for case in &cases {
        let (about, document) = (&case["about"], document_of(case));
        let accepted = case["accepted"].as_bool().unwrap();
        assert_eq!(validator.is_valid(&document), accepted, "{about}");
        let check = world.check_json(&document);
        let is_of_shape = |code| matches!(code, ProblemCode::InvalidDocument | ProblemCode::UnknownField);
        let misshapen = check.errors.iter().find(|problem| is_of_shape(problem.code));
        // Of a moment and a ref the check says more than the schema.
        assert!(accepted || !check.errors.is_empty(), "{about}");
        assert!(!accepted || misshapen.is_none(), "{about}: {misshapen:?}");
    }
}

/// Every field, and values that it cannot have.
#[test]
fn what_the_schema_refuses_is_refused_by_the_check() {
    let validator = validator();
    let world = crate::fakes::FakeWorld::default().tool("c", "t", json!({}), json!({}));
    let check = world.check_json(&full());
    assert!(check.errors.is_empty(), "{:?}", check.errors);
    let mut pointers = Vec::new();
    collect(&full(), String::new(), &mut pointers);
    let mut refused = 0;
    for pointer in pointers {
        for value in [
            json!(null),
            json!(0),
            json!(-1),
            json!(1.5),
            json!(1e300),
            json!(""),
            json!("input"),
            json!([]),
            json!({}),
            json!({ "x": 1 }),
            json!(true),
        ] {
            let mut document = full();
            *document.pointer_mut(&pointer).unwrap() = value.clone();
            if !validator.is_valid(&document) {
                refused += 1;
                assert!(!world.check_json(&document).errors.is_empty(), "{pointer} = {value} is accepted");
            }
        }
    }
    assert!(refused > 200, "{refused}");
}

fn collect(value: &Value, at: String, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| collect(value, format!("{at}/{key}"), into));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| collect(value, format!("{at}/{index}"), into));
        }
        _ => {}
    }
    into.push(at);
}
