//! The examples that the format was designed with, completed where they were fragments.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::fakes::{FakeWorld, list, object, shown, text};

pub(crate) fn world() -> FakeWorld {
    let data = || object(json!({ "data": { "type": "object" } }));
    let user = object(json!({
        "id": text(), "name": text(), "email": text(), "active": { "type": "boolean" }
    }));
    let order = object(json!({
        "success": { "type": "boolean" }, "order?": { "type": "object" },
        "customer?": object(json!({ "email": text() })), "error?": text(), "orderId?": text()
    }));
    let mut world = FakeWorld::default()
        .tool("api", "get-data", object(json!({})), data())
        .tool("api", "fetch", object(json!({})), data())
        .tool("api", "list-users", object(json!({})), object(json!({ "users": list(user) })))
        .tool(
            "api",
            "list",
            object(json!({})),
            object(json!({ "items": list(object(json!({ "id": text() }))) })),
        )
        .tool("api", "start", object(json!({})), Value::Null)
        .tool("api", "status", object(json!({})), Value::Null)
        .tool("processor", "run", object(json!({})), Value::Null)
        .tool(
            "processor",
            "process",
            object(json!({ "data": {} })),
            object(json!({ "ok": { "type": "boolean" } })),
        )
        .tool("db", "insert", object(json!({})), Value::Null)
        .tool("email", "send", object(json!({ "recipients": list(text()) })), Value::Null)
        .tool("email", "send-batch", object(json!({ "recipients": list(text()) })), Value::Null)
        .tool("orders", "process", object(json!({})), order)
        .tool(
            "svc",
            "aggregate",
            object(json!({ "fromB": text(), "fromC": text(), "original": { "type": "object" } })),
            Value::Null,
        )
        .workflow(
            "send-confirmation",
            object(json!({ "orderDetails": { "type": "object" }, "email": text() })),
            &[],
        )
        .workflow("handle-failure", object(json!({ "errorMessage": text(), "orderId": text() })), &[])
        .workflow(
            "process-single-item",
            object(json!({ "item": object(json!({ "id": text() })), "batchId": text() })),
            &[],
        );
    for letter in ["B", "C", "D", "E"] {
        let tool = format!("process{letter}");
        world = world.tool("svc", &tool, data(), object(json!({ "xpto": text() })));
    }
    world
}

/// The examples, each with a name where it has none.
pub(crate) fn examples() -> Vec<Value> {
    let tool = |connection: &str, tool: &str| json!({ "connectionId": connection, "toolName": tool });
    let with_data = |name: &str| json!({ "name": name, "tool": tool("svc", &format!("process{name}")), "input": { "data": "@A.output.data" } });
    vec![
        json!({ "name": "simple-pipeline", "steps": [
            [{ "name": "fetch", "tool": tool("api", "get-data") }],
            [{ "name": "process", "tool": tool("processor", "run") }],
            [{ "name": "save", "tool": tool("db", "insert") }]
        ] }),
        json!({ "name": "parallel-pipeline", "steps": [
            [{ "name": "A", "tool": tool("api", "fetch") }],
            [with_data("B"), with_data("C"), with_data("D"), with_data("E")],
            [{ "name": "F", "tool": tool("svc", "aggregate"), "input": {
                "fromB": "@B.output.xpto", "fromC": "@C.output.xpto", "original": "@A.output.data" } }]
        ] }),
        json!({ "name": "emails", "steps": [
            [{ "name": "fetch", "tool": tool("api", "list-users") }],
            [{ "name": "extract-emails",
               "transform": "interface Input { users: Array<{ email: string; active: boolean }> }\ninterface Output { emails: string[] }\nexport default (input: Input): Output => ({ emails: input.users.filter(u => u.active).map(u => u.email) })",
               "input": { "users": "@fetch.output.users" } }],
            [{ "name": "send-batch", "tool": tool("email", "send"), "input": { "recipients": "@extract-emails.output.emails" } }]
        ] }),
        json!({ "name": "for-each", "steps": [
            [{ "name": "get-items", "tool": tool("api", "list") }],
            [{ "name": "process-item", "forEach": "@get-items.output.items", "as": "item",
               "tool": tool("processor", "process"), "input": { "data": "@item" } }]
        ] }),
        json!({ "name": "sleeper", "steps": [
            [{ "name": "start-job", "tool": tool("api", "start") }],
            [{ "name": "wait", "sleep": { "ms": 30000 } }],
            [{ "name": "check-status", "tool": tool("api", "status") }]
        ] }),
        order_processor(),
        json!({ "name": "type-safe", "steps": [
            [{ "name": "fetch-users", "tool": tool("api", "list-users") }],
            [{ "name": "filter-active",
               "transform": "\n interface Input {\n users: Array<{ id: string; name: string; email: string; active: boolean }>;\n }\n interface Output {\n activeEmails: string[];\n }\n export default (input: Input): Output => ({\n activeEmails: input.users.filter(u => u.active).map(u => u.email)\n });\n",
               "input": { "users": "@fetch-users.output.users" } }],
            [{ "name": "send-emails", "tool": tool("email", "send-batch"), "input": { "recipients": "@filter-active.output.activeEmails" } }]
        ] }),
    ]
}

fn order_processor() -> Value {
    let of = |field: &str| format!("@process-order.output.{field}");
    json!({ "name": "order-processor", "steps": [
        [{ "name": "process-order", "tool": { "connectionId": "orders", "toolName": "process" } }],
        [{ "name": "decide-next",
           "transform": "interface Input { success: boolean; order?: object; customer?: { email: string }; error?: string; orderId?: string }\ninterface Output { confirmation?: { order: object; email: string }; failure?: { error: string; orderId: string } }\nexport default (input: Input): Output => input.success ? { confirmation: { order: input.order!, email: input.customer!.email } } : { failure: { error: input.error!, orderId: input.orderId! } }",
           "input": { "success": of("success"), "order": of("order"), "customer": of("customer"), "error": of("error"), "orderId": of("orderId") } }]
    ], "triggers": [
        { "workflowId": "send-confirmation", "inputs": { "orderDetails": "@output.confirmation.order", "email": "@output.confirmation.email" } },
        { "workflowId": "handle-failure", "inputs": { "errorMessage": "@output.failure.error", "orderId": "@output.failure.orderId" },
          "max_retries": 5, "workflow_timeout_ms": 60000 }
    ] })
}

#[test]
fn every_example_is_right() {
    for example in examples() {
        let check = world().check_json(&example);
        assert_eq!(shown(&check), "", "{example:#}");
        assert!(check.document.is_some());
    }
}

#[test]
fn what_may_be_absent_is_left_out_of_optional_fields_and_skips_triggers() {
    let check = world().check_json(&order_processor());
    let document = check.document.unwrap();
    let decide = serde_json::to_value(&document.phases[1][0].action).unwrap();
    let expected = json!({
        "success": { "$": ["process-order", "success"] },
        "order": { "$": ["process-order", "order"], "missing": "omit" },
        "customer": { "$": ["process-order", "customer"], "missing": "omit" },
        "error": { "$": ["process-order", "error"], "missing": "omit" },
        "orderId": { "$": ["process-order", "orderId"], "missing": "omit" }
    });
    assert_eq!(decide["transform"]["input"], expected);
    assert_eq!(document.triggers[1].inputs["orderId"], json!({ "$": ["output", "failure", "orderId"] }));
    assert_eq!(document.triggers[1].max_retries, Some(5));
    assert_eq!(document.triggers[1].workflow_timeout_ms, Some(60_000));
}

fn problems(document: Value, expected: &Expect) {
    expected.assert_eq(&shown(&world().check_json(&document)));
}

#[test]
fn the_example_of_errors_has_these_errors() {
    let document = json!({ "name": "my-workflow", "steps": [
        [{ "name": "fetch-users", "tool": { "connectionId": "api", "toolName": "list-users" } }],
        [{ "name": "filter-active",
           "transform": "interface Input { users: object[] }\ninterface Output { count: number }\nexport default (input: Input): Output => ({ count: input.users.length })",
           "input": { "users": "@fetch-users.output.users" } },
         { "name": "transform-data", "transform": "interface Input { a?: string }\nexport default (input: Input) => input" }],
        [{ "name": "send-emails", "tool": { "connectionId": "email", "toolName": "send-batch" },
           "input": { "recipients": "@filter-active.output.count" } },
         { "name": "aggregate", "tool": { "connectionId": "processor", "toolName": "process" },
           "input": { "data": "@nonexistent.output" } }]
    ] });
    problems(
        document,
        &expect![[r#"
            error invalid_typescript transform 23:23: step `transform-data`: in the transform, at 1:1: there is no interface or type `Output`. Write `interface Output { … }`.
            error type_mismatch recipients 34:26: step `send-emails`: expected `string[]`, but `@filter-active.output.count` is `number`
            error missing_ref data 44:20: step `aggregate`: step `nonexistent` is not found in previous phases; available: `fetch-users`, `filter-active`, `transform-data`
        "#]],
    );
}

#[test]
fn the_dispatcher_lacks_interfaces_and_refers_to_fields_of_a_list() {
    let dispatcher = |transform: &str, input: Value| {
        json!({ "name": "batch-dispatcher", "steps": [
            [{ "name": "fetch-items", "tool": { "connectionId": "api", "toolName": "list" } }],
            [{ "name": "prepare", "transform": transform, "input": input }]
        ], "triggers": [
            { "workflowId": "process-single-item", "forEach": "@output.items",
              "inputs": { "item": "@item", "batchId": "@output.batchId" } }
        ] })
    };
    let as_written = "export default (input) => input.items.map(x => ({ id: x.id, data: x }))";
    problems(
        dispatcher(as_written, json!({})),
        &expect![[r#"
            error invalid_typescript transform 16:23: step `prepare`: in the transform, at 1:1: there is no interface or type `Input`. Write `interface Input { … }`.
            error invalid_typescript transform 16:23: step `prepare`: in the transform, at 1:1: there is no interface or type `Output`. Write `interface Output { … }`.
        "#]],
    );
    let typed = "interface Item { id: string }\ninterface Input { items: Item[] }\ntype Output = Array<{ id: string; data: Item }>\nexport default (input: Input): Output => input.items.map(x => ({ id: x.id, data: x }))";
    problems(
        dispatcher(typed, json!({})),
        &expect![[r#"
        error type_mismatch items 17:18: step `prepare`: `items` is not there, and is required: `{ id: string }[]`
        error missing_ref forEach 24:19: trigger 0: `@output.items` leads to nothing: the value is `unknown[]`, which has no properties
        error missing_ref batchId 27:21: trigger 0: `@output.batchId` leads to nothing: the value is `unknown[]`, which has no properties
    "#]],
    );
    let mended = "interface Item { id: string }\ninterface Input { items: Item[] }\ninterface Output { items: Item[]; batchId: string }\nexport default (input: Input): Output => ({ items: input.items, batchId: 'b' })";
    problems(dispatcher(mended, json!({ "items": "@fetch-items.output.items" })), &expect![[r#""#]]);
}

#[test]
fn problems_have_the_fields_of_the_design_and_a_place() {
    let document = json!({ "name": "d", "steps": [
        [{ "name": "fetch-users", "tool": { "connectionId": "api", "toolName": "list-users" } }],
        [{ "name": "send-emails", "tool": { "connectionId": "email", "toolName": "send-batch" },
           "input": { "recipients": "@fetch-users.output.users[0].active" } }]
    ] });
    let check = serde_json::to_value(world().check(&document.to_string())).unwrap();
    let problem = &check["errors"][1];
    assert_eq!(problem["type"], "type_mismatch");
    assert_eq!(problem["step"], "send-emails");
    assert_eq!(problem["field"], "recipients");
    assert_eq!(problem["ref"], "@fetch-users.output.users[0].active");
    assert_eq!(problem["expected"], "string[]");
    assert_eq!(problem["actual"], "boolean");
    assert_eq!(problem["place"]["line"], 1);
    assert_eq!(check["warnings"], json!([]));
}
