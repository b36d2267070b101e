//! Triggers.

use expect_test::expect;
use serde_json::{Value, json};

use crate::fakes::{FakeWorld, list, object, shown, text};

fn world() -> FakeWorld {
    let output =
        object(json!({ "items": list(object(json!({ "id": text() }))), "ok?": { "type": "boolean" } }));
    FakeWorld::default()
        .tool("c", "t", json!({}), output)
        .workflow("item", object(json!({ "id": text(), "n?": { "type": "integer" } })), &["b"])
        .workflow("b", Value::Null, &["item", "d"])
        .workflow("lonely", json!({}), &["lonely"])
}

fn document(triggers: Value) -> Value {
    let step = |name: &str| json!({ "name": name, "tool": { "connectionId": "c", "toolName": "t" } });
    json!({ "name": "d", "inputSchema": object(json!({ "batch": text() })), "steps": [[step("one")]], "triggers": triggers })
}

#[test]
fn triggers_see_the_output_and_the_input() {
    let check = world().check_json(&document(json!([
        { "workflowId": "lonely", "forEach": "@output.items", "inputs": { "id": "@item.id", "n": "@index", "b": "@input.batch" } },
        { "workflowId": "lonely", "inputs": { "ok": "@output.ok" } },
        { "workflowId": "d", "inputs": { "batch": "@output.items[0].id" } }
    ])));
    expect![[r#"
        warning trigger_cycle workflowId 42:21: trigger 2: workflows trigger each other in a circle: `d` -> `d`; a chain ends after 10
    "#]].assert_eq(&shown(&check));
    let triggers = check.document.unwrap().triggers;
    assert_eq!(triggers[0].for_each, Some(json!({ "$": ["output", "items"] })));
    assert_eq!(triggers[0].inputs["n"], json!({ "$": ["index"] }));
}

#[test]
fn what_is_wrong_with_triggers() {
    let check = world().check_json(&document(json!([
        { "workflowId": "itme", "inputs": {} },
        { "workflowId": "item", "inputs": { "id": "@one.output.items", "n": "x", "m": "@output.itmes" } },
        { "workflowId": "item", "forEach": "@output.ok", "inputs": { "id": "@item" } },
        { "workflowId": "b", "inputs": { "a": "@item", "b": "@index" } },
        { "workflowId": "item", "inputs": { "n": 1 } }
    ])));
    expect![[r#"
        error missing_ref id 33:16: trigger 1: a trigger sees `@output` and `@input`; `one` is none of them: let the last phase give it on
        error type_mismatch n 34:14: trigger 1: expected `integer`, but the value is `"x"`
        error missing_ref m 35:15: trigger 1: `@output.itmes` leads to nothing: the value declares no property `itmes`; did you mean `items`?
        error type_mismatch forEach 40:19: trigger 2: expected `unknown[]`, but `@output.ok` is `boolean`
        error missing_ref a 48:15: trigger 3: `@item` is there only in a forEach
        error missing_ref b 49:15: trigger 3: `@index` is there only in a forEach
        error type_mismatch id 54:17: trigger 4: `id` is not there, and is required: `string`
        warning unknown_workflow workflowId 27:21: trigger 0: there is no workflow `itme` yet; did you mean `item`?
        warning trigger_cycle workflowId 31:21: trigger 1: workflows trigger each other in a circle: `d` -> `item` -> `b` -> `d`; a chain ends after 10
        warning unknown_field m 35:9: trigger 1: `m` is not a field that is expected: the value declares no property `m`
        warning missing_schema workflowId 46:21: trigger 3: workflow `b` does not say what it takes: what it is given is not checked
        warning trigger_cycle workflowId 46:21: trigger 3: workflows trigger each other in a circle: `d` -> `b` -> `d`; a chain ends after 10
    "#]].assert_eq(&shown(&check));
}

#[test]
fn the_output_of_several_steps_is_a_map() {
    let mut both = document(json!([
        { "workflowId": "lonely", "inputs": { "a": "@output.one.items", "b": "@output.two.items", "c": "@output.items" } }
    ]));
    both["steps"][0].as_array_mut().unwrap().push(json!({ "name": "two", "sleep": { "ms": 1 } }));
    expect![[r#"
        error missing_ref b 36:15: trigger 0: `@output.two.items` leads to nothing: `two` is `null`, which has no properties
        error missing_ref c 37:15: trigger 0: `@output.items` leads to nothing: the value has no property `items`
    "#]].assert_eq(&shown(&world().check_json(&both)));
}
