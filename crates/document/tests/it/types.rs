//! Types that flow through refs.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::fakes::{FakeWorld, list, object, shown, text};

fn number() -> Value {
    json!({ "type": "number" })
}

fn world() -> FakeWorld {
    let user = object(
        json!({ "name": text(), "age?": number(), "tags": list(text()), "boss?": object(json!({ "name": text() })) }),
    );
    let mut closed = object(
        json!({ "to": text(), "count?": { "type": "integer" }, "user?": object(json!({ "name": text() })) }),
    );
    closed["additionalProperties"] = json!(false);
    let either = json!({ "type": "object", "anyOf": [
        { "properties": { "kind": { "const": "a" }, "a": { "type": "string" } }, "required": ["kind", "a"] },
        { "properties": { "kind": { "const": "b" }, "b": { "type": "number" } }, "required": ["kind", "b"] }
    ] });
    FakeWorld::default()
        .tool("c", "users", object(json!({})), object(json!({ "users": list(user.clone()), "first?": user, "total": number() })))
        .tool("c", "send", closed, json!({ "type": "string" }))
        .tool("c", "open", object(json!({ "to": text(), "list?": list(number()), "mode?": { "enum": ["x", "y"] }, "mail?": { "type": "string", "format": "email" } })), Value::Null)
        .tool("c", "either", either, Value::Null)
        .tool("c", "silent", json!({ "type": "object" }), Value::Null)
}

fn tool(name: &str, tool: &str, input: Value) -> Value {
    json!({ "name": name, "tool": { "connectionId": "c", "toolName": tool }, "input": input })
}

/// The problems of steps behind a step `fetch`.
fn problems(steps: Value, expected: &Expect) {
    let document = json!({
        "name": "d",
        "inputSchema": object(json!({ "name": text(), "nick?": text(), "when": { "type": ["string", "null"] }, "many": list(number()) })),
        "steps": [[tool("fetch", "users", json!({})), tool("quiet", "silent", json!({}))], steps]
    });
    expected.assert_eq(&shown(&world().check_json(&document)));
}

#[test]
fn what_fits_is_right() {
    let mut each = tool(
        "each",
        "send",
        json!({ "to": "@user.name", "count": "@index", "user": { "name": "@item.name" } }),
    );
    each["forEach"] = json!("@fetch.output.users");
    each["as"] = json!("user");
    problems(
        json!([
            tool("a", "send", json!({ "to": "@input.name", "count": 3 })),
            tool("b", "send", json!({ "to": "Dear @{input.name}, @{fetch.output.total}" })),
            tool("c", "open", json!({ "to": "x", "list": [1, "@fetch.output.total"], "mode": "x" })),
            tool("d", "either", json!({ "kind": "b", "b": "@fetch.output.total" })),
            each,
        ]),
        &expect![""],
    );
}

#[test]
fn what_does_not_fit_is_wrong_in_its_place() {
    problems(
        json!([
            tool("a", "send", json!({ "to": "@fetch.output.total", "count": 1.5, "user": { "name": 3 } })),
            tool("b", "send", json!({ "cc": "x", "usr": {}, "user": "@fetch.output.users" })),
            tool("c", "open", json!({ "to": "x", "list": ["a", 1, "@input.name"], "mode": "z" })),
            tool("d", "open", json!({ "to": ["x"], "list": {} })),
            tool("e", "either", json!({ "kind": "b", "a": "x" })),
            tool(
                "f",
                "users",
                json!({ "x": "@fetch.output.user[0].name", "y": "@fetch.output.users.name", "z": "@input.nmae" })
            ),
        ]),
        &expect![[r#"
            error type_mismatch to 58:18: step `a`: expected `string`, but `@fetch.output.total` is `number`
            error type_mismatch count 59:20: step `a`: expected `integer`, but the value is `1.5`
            error type_mismatch user.name 61:21: step `a`: expected `string`, but the value is `3`
            error type_mismatch to 71:18: step `b`: `to` is not there, and is required: `string`
            error type_mismatch cc 72:11: step `b`: `cc` is not a field that is expected: the value has no property `cc`
            error type_mismatch usr 73:11: step `b`: `usr` is not a field that is expected: the value has no property `usr`; did you mean `user`?
            error type_mismatch user 74:20: step `b`: expected `{ name: string }`, but `@fetch.output.users` is `{ name: string; age?: number; tags: string[]; boss?: { name: string } }[]`
            error type_mismatch list[0] 86:13: step `c`: expected `number`, but the value is `"a"`
            error type_mismatch list[2] 88:14: step `c`: expected `number`, but `@input.name` is `string`
            error type_mismatch mode 90:19: step `c`: expected `"x" | "y"`, but the value is `"z"`
            error type_mismatch to 100:17: step `d`: expected `string`, but the value is `unknown[]`
            error type_mismatch list 103:19: step `d`: expected `number[]`, but the value is `object`
            error type_mismatch input 112:18: step `e`: expected `{ kind: "a"; a: string } | { kind: "b"; b: number }`, but the value is `{ kind: "b"; a: "x" }`: `b` is not there, and is required
            error missing_ref x 124:17: step `f`: `@fetch.output.user[0].name` leads to nothing: the value declares no property `user`; did you mean `users`?
            error missing_ref y 125:17: step `f`: `@fetch.output.users.name` leads to nothing: `users` is `unknown[]`, which has no properties
            error missing_ref z 126:17: step `f`: `@input.nmae` leads to nothing: the value declares no property `nmae`; did you mean `name`?
        "#]],
    );
}

#[test]
fn what_may_be_absent_is_wrong_where_it_is_required_and_left_out_elsewhere() {
    problems(
        json!([
            tool("a", "send", json!({ "to": "@input.nick" })),
            tool("b", "send", json!({ "to": "x @{input.nick}" })),
            tool("c", "send", json!({ "to": "x", "user": "@fetch.output.first.boss" })),
            tool("d", "send", json!({ "to": "x", "user": { "name": "@input.nick" } })),
            tool(
                "e",
                "open",
                json!({ "to": "@fetch.output.users[0].name", "list": ["@fetch.output.users[0].age"] })
            ),
        ]),
        &expect![[r#"
            error type_mismatch to 58:18: step `a`: `@input.nick` may be absent, and a value is required here
            error type_mismatch to 68:20: step `b`: `@{input.nick}` may be absent, and a value is required here
            error type_mismatch user.name 91:22: step `d`: `@input.nick` may be absent, and a value is required here
            error type_mismatch to 102:18: step `e`: `@fetch.output.users[0].name` may be absent, and a value is required here
            error type_mismatch list[0] 104:14: step `e`: `@fetch.output.users[0].age` may be absent, and a value is required here
        "#]],
    );
}

#[test]
fn what_cannot_be_proven_is_a_warning_that_says_why() {
    problems(
        json!([
            tool("a", "send", json!({ "to": "@quiet.output.x" })),
            tool("b", "send", json!({ "to": "@quiet.output.y" })),
            tool("c", "open", json!({ "to": "x", "mail": "@input.name", "ot": 1 })),
        ]),
        &expect![[r#"
            warning missing_schema to 58:18: step `a`: tool `silent` of connection `c` does not say what it gives (it has no output schema): what refers to it is not checked
            warning unproven mail 79:20: step `c`: it is not proven that `string` always fits `string<email>`: it is not known to have the format `email`
            warning unknown_field ot 80:11: step `c`: `ot` is not a field that is expected: the value declares no property `ot`
        "#]],
    );
}

#[test]
fn lists_moments_and_what_follows_failures() {
    let mut no_list = tool("a", "send", json!({ "to": "@item" }));
    no_list["forEach"] = json!("@input.name");
    let mut optional = tool("b", "send", json!({ "to": "@item" }));
    optional["forEach"] = json!("@fetch.output.first.tags");
    let mut numbers = tool("c", "send", json!({ "to": "@n" }));
    numbers["forEach"] = json!("@input.many");
    numbers["as"] = json!("n");
    problems(
        json!([
            no_list, optional, numbers,
            { "name": "d", "sleep": { "until": "@input.when" } },
            { "name": "e", "sleep": { "until": "@fetch.output.users" } },
            { "name": "f", "sleep": { "until": "@fetch.output.total" } },
        ]),
        &expect![[r#"
            error type_mismatch forEach 60:21: step `a`: expected `unknown[]`, but `@input.name` is `string`
            error type_mismatch forEach 71:21: step `b`: `@fetch.output.first.tags` may be absent, and a list is required here
            error type_mismatch to 80:18: step `c`: expected `string`, but `@n` is `number`
            error type_mismatch sleep.until 88:21: step `d`: expected `string | number`, but `@input.when` is `string | null`
            error type_mismatch sleep.until 94:21: step `e`: expected `string | number`, but `@fetch.output.users` is `{ name: string; age?: number; tags: string[]; boss?: { name: string } }[]`
        "#]],
    );
}

#[test]
fn a_step_that_may_fail_softly_may_give_nothing() {
    let mut soft = tool("soft", "users", json!({}));
    soft["onError"] = json!("continue");
    let mut softly = tool("softly", "send", json!({ "to": "@item" }));
    softly["onError"] = json!("continue");
    softly["forEach"] = json!("@input.names");
    let document = json!({ "name": "d", "inputSchema": object(json!({ "names": list(text()) })), "steps": [
        [soft, softly],
        [tool("a", "send", json!({ "to": "@soft.output.users[0].name" })), tool("b", "send", json!({ "to": "@softly.output[0]" })),
         tool("c", "send", json!({ "to": "x", "count": "@soft.output.total" }))]
    ] });
    expect![[r#"
        error type_mismatch to 49:18: step `a`: `@soft.output.users[0].name` may be absent, and a value is required here
        error type_mismatch to 59:18: step `b`: `@softly.output[0]` may be absent, and a value is required here
        error type_mismatch to 59:18: step `b`: expected `string`, but `@softly.output[0]` is `string | null`
        error type_mismatch count 70:21: step `c`: expected `integer`, but `@soft.output.total` is `number`
    "#]].assert_eq(&shown(&world().check_json(&document)));
}

#[test]
fn tools_and_connections_that_are_not_there() {
    let document = json!({ "name": "d", "steps": [[
        { "name": "a", "tool": { "connectionId": "c", "toolName": "sned" }, "input": { "x": "@nothing.output" } },
        { "name": "b", "tool": { "connectionId": "githbu", "toolName": "x" } }
    ], [{ "name": "e", "tool": { "connectionId": "c", "toolName": "send" }, "input": { "to": "@a.output.x" } }]] });
    expect![[r#"
        error unknown_tool tool.toolName 9:23: step `a`: connection `c` has no tool `sned`; did you mean `send`?
        error missing_ref x 12:17: step `a`: step `nothing` is not found in previous phases; available: none
        error unknown_connection tool.connectionId 18:27: step `b`: there is no connection `githbu`; there is `c`
    "#]].assert_eq(&shown(&world().check_json(&document)));
}

#[test]
fn a_transform_is_wrong_where_its_source_is() {
    let source = "interface Input { a: string }\ninterface Output { b: number }\nexport default async (input: Input): Promise<Output> => ({ b: Math.random() })";
    let document = json!({ "name": "d", "steps": [[{ "name": "t", "transform": source }]] });
    expect![[r#"
        error invalid_typescript transform 1:126: step `t`: in the transform, at 3:16: a transform is synchronous. Leave `async` and `await` out; do I/O in a step.
        error invalid_typescript transform 1:173: step `t`: in the transform, at 3:63: a transform has no randomness. Take the value as input.
    "#]].assert_eq(&shown(&world().check(&document.to_string())));
    let broken = "interface Input {}\n\"é\" interface";
    let document = json!({ "name": "d", "steps": [[{ "name": "t", "transform": broken }]] });
    expect![[r#"
        error invalid_typescript transform 1:73: step `t`: in the transform, at 2:4: Expected a semicolon or an implicit semicolon after a statement, but found none. Try inserting a semicolon here
    "#]].assert_eq(&shown(&world().check(&document.to_string())));
}

#[test]
fn the_schemas_of_steps_are_kept() {
    let document = json!({ "name": "d", "steps": [
        [tool("fetch", "users", json!({})), { "name": "s", "sleep": { "ms": 1 } }],
        [{ "name": "t", "transform": "interface Input { n: number }\ninterface Output { m: number }\nexport default (input: Input): Output => ({ m: input.n })", "input": { "n": "@fetch.output.total" } }]
    ] });
    let document = world().check_json(&document).document.unwrap();
    assert_eq!(document.schemas.len(), 3);
    assert_eq!(document.schemas["t"].output["properties"]["m"], number());
    assert_eq!(document.schemas["s"].output, json!({ "type": "null" }));
}

/// TypeScript cannot say that a number is whole: that it may have a fraction is no error, and everything else still is.
#[test]
fn numbers_of_transforms_may_be_whole() {
    let source = "interface Input {}\ninterface Output { n: number; list: number[]; text: string }\nexport default (input: Input): Output => ({ n: 1, list: [], text: '' })";
    let mut each = tool("d", "send", json!({ "to": "x", "count": "@item" }));
    each["forEach"] = json!("@t.output.list");
    let document = json!({ "name": "d", "steps": [
        [{ "name": "t", "transform": source }],
        [tool("a", "send", json!({ "to": "x", "count": "@t.output.n" })), tool("b", "send", json!({ "to": "@t.output.n" })),
         tool("c", "send", json!({ "to": "x", "count": "@t.output.text" })), each]
    ] });
    expect![[r#"
        error type_mismatch to 29:18: step `b`: expected `string`, but `@t.output.n` is `number`
        error type_mismatch count 40:21: step `c`: expected `integer`, but `@t.output.text` is `string`
        warning unproven count 19:21: step `a`: it is not proven that `number` always fits `integer`: TypeScript's `number` may have a fraction, and whole numbers are expected
        warning unproven count 51:21: step `d`: it is not proven that `number` always fits `integer`: TypeScript's `number` may have a fraction, and whole numbers are expected
    "#]].assert_eq(&shown(&world().check_json(&document)));
}

/// What is not known of one part says nothing about the others.
#[test]
fn schemas_that_cost_much_to_compare_end_as_warnings() {
    let nasty = |depth: usize| {
        let mut schema = json!({ "type": "string" });
        for level in 0..depth {
            let other = json!({ "type": "object", "properties": { format!("p{level}"): schema.clone() } });
            schema =
                json!({ "anyOf": [other, { "not": schema }, { "oneOf": [schema, { "type": "number" }] }] });
        }
        schema
    };
    let world = FakeWorld::default().tool("c", "nasty", object(json!({ "x": nasty(4) })), Value::Null);
    let steps: Vec<Value> = (0..500)
        .map(|n| json!({ "name": format!("s{n}"), "tool": { "connectionId": "c", "toolName": "nasty" }, "input": { "x": "@input.x" } }))
        .collect();
    let document = json!({ "name": "d", "inputSchema": object(json!({ "x": nasty(3) })), "steps": [steps] });
    let check = world.check_json(&document);
    assert!(check.errors.len() + check.warnings.len() + check.left_out >= 500);
}
