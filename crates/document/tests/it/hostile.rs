//! Documents that mean no good.

use serde_json::{Value, json};

use crate::fakes::{FakeWorld, object, shown, text};

fn world() -> FakeWorld {
    FakeWorld::default().tool("c", "t", object(json!({ "a?": text() })), object(json!({ "a": text() })))
}

fn tool(name: &str, input: Value) -> Value {
    json!({ "name": name, "tool": { "connectionId": "c", "toolName": "t" }, "input": input })
}

#[test]
fn a_thousand_steps() {
    let chain: Vec<Value> = (0..1_000)
        .map(|n| {
            let before = format!("@s{}.output.a", n - 1);
            json!([tool(&format!("s{n}"), if n == 0 { json!({}) } else { json!({ "a": before }) })])
        })
        .collect();
    let check = world().check_json(&json!({ "name": "d", "steps": chain }));
    assert_eq!(shown(&check), "");
    let beside: Vec<Value> =
        (0..1_000).map(|n| tool(&format!("t{n}"), json!({ "a": "x @{s.output.a}" }))).collect();
    let check = world().check_json(&json!({ "name": "d", "steps": [[tool("s", json!({}))], beside] }));
    assert_eq!(shown(&check), "");
}

#[test]
fn a_thousand_transforms() {
    let steps: Vec<Value> = (0..1_000)
        .map(|n| {
            let source = format!("interface Input {{ a: string }}\ninterface Output {{ n{n}: string }}\nexport default (input: Input): Output => ({{ n{n}: input.a }})");
            json!({ "name": format!("t{n}"), "transform": source, "input": { "a": "@s.output.a" } })
        })
        .collect();
    let check = world().check_json(&json!({ "name": "d", "steps": [[tool("s", json!({}))], steps] }));
    assert_eq!(shown(&check), "");
}

#[test]
fn ten_thousand_refs_right_and_wrong() {
    let right = vec!["@input.a"; 10_000];
    let wrong: Vec<String> = (0..10_000).map(|n| format!("@step{n}.output")).collect();
    let paths: Vec<String> = (0..10_000).map(|n| format!("@s.output.a{n}")).collect();
    let long = "@{nothing.output} ".repeat(10_000);
    let check = world().check_json(&json!({ "name": "d", "inputSchema": object(json!({ "a": text() })), "steps": [
        [tool("s", json!({}))],
        [tool("b", json!({ "x": right })), tool("c", json!({ "x": wrong })), tool("e", json!({ "x": paths })), tool("f", json!({ "x": long }))]
    ] }));
    assert_eq!(check.errors.len(), 1_000);
    assert!(check.left_out > 25_000, "{}", check.left_out);
    assert!(check.errors.iter().all(|problem| problem.place.line > 1));
}

#[test]
fn a_wide_type_fed_field_by_field() {
    let fields: Vec<String> = (0..3_000).map(|n| format!("f{n}: string")).collect();
    let source = format!(
        "interface Input {{ {} }}\ninterface Output {{ a: string }}\nexport default (input: Input): Output => ({{ a: '' }})",
        fields.join("; ")
    );
    let input: serde_json::Map<String, Value> =
        (0..3_000).map(|n| (format!("f{n}"), json!("@s.output.a"))).collect();
    let document = json!({ "name": "d", "steps": [
        [tool("s", json!({}))], [{ "name": "t", "transform": source, "input": input }]
    ] });
    let check = world().check_json(&document);
    assert!(check.errors.is_empty(), "{:?}", check.errors.first());
}

#[test]
fn names_that_mean_something_elsewhere() {
    let document = json!({ "name": "constructor", "steps": [
        [tool("__proto__", json!({})), tool("constructor", json!({ "__proto__": 1 })), tool("toString", json!({}))],
        [tool("a", json!({ "a": "@__proto__.output.a" })), tool("b", json!({ "a": "@constructor.output.__proto__" })),
         tool("c", json!({ "a": "@prototype.output" }))]
    ] });
    expect_test::expect![[r#"
        error missing_ref a 50:17: step `b`: `@constructor.output.__proto__` leads to nothing: the value declares no property `__proto__`
        error missing_ref a 60:17: step `c`: step `prototype` is not found in previous phases; available: `__proto__`, `constructor`, `toString`
        warning unknown_field __proto__ 20:11: step `constructor`: `__proto__` is not a field that is expected: the value declares no property `__proto__`
    "#]].assert_eq(&shown(&world().check_json(&document)));
}

#[test]
fn names_in_other_scripts() {
    let document = json!({ "name": "заказ", "steps": [
        [tool("получить-данные", json!({})), tool("データ取得", json!({})), tool("größe", json!({}))],
        [tool("a", json!({ "a": "@получить-данные.output.a" })), tool("b", json!({ "a": "@{データ取得.output.a}, @{größe.output.a}" })),
         tool("c", json!({ "a": "😀 @{größa.output.a}" })), tool("x\u{202e}y", json!({})), tool("\u{200b}", json!({}))]
    ] });
    expect_test::expect![[r#"
        error missing_ref a 58:20: step `c`: step `größa` is not found in previous phases; did you mean `größe`?
        error invalid_document name 62:17: step `x\u{202e}y`: `x\u{202e}y` is not a name for a step: use 1 to 128 letters, digits, `_` or `-`
        error invalid_document name 70:17: step `\u{200b}`: `\u{200b}` is not a name for a step: use 1 to 128 letters, digits, `_` or `-`
    "#]].assert_eq(&shown(&world().check_json(&document)));
}

#[test]
fn schemas_that_go_round_in_circles() {
    let input = json!({
        "$defs": { "n": { "type": "object", "properties": { "next": { "$ref": "#/$defs/n" }, "a": { "type": "string" } } } },
        "$ref": "#/$defs/n"
    });
    let far = format!("@input{}.a", ".next".repeat(90));
    let document = json!({ "name": "d", "inputSchema": input, "steps": [[tool("s", json!({ "a": far }))]] });
    assert_eq!(shown(&world().check_json(&document)), "");
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "anyOf": [{ "$ref": "#" }, { "not": { "$ref": "#" } }] }),
    ] {
        let document =
            json!({ "name": "d", "inputSchema": schema, "steps": [[tool("s", json!({ "a": "@input.x" }))]] });
        let check = world().check_json(&document);
        assert!(check.errors.len() + check.warnings.len() > 0, "{schema}");
    }
}

#[test]
fn a_literal_as_large_as_a_document() {
    let world = || {
        let numbers = json!({ "type": "array", "items": { "type": "number" } });
        FakeWorld::default().tool("c", "t", object(json!({ "a?": numbers, "b?": {} })), Value::Null)
    };
    let count = rival_document::DOCUMENT_BYTES_MAX / 2 - 200;
    for field in ["a", "b"] {
        let list = "1,".repeat(count);
        let text = format!(
            r#"{{"name":"d","steps":[[{{"name":"s","tool":{{"connectionId":"c","toolName":"t"}},"input":{{"{field}":[{list}1]}}}}]]}}"#
        );
        let check = world().check(&text);
        assert!(check.errors.is_empty(), "{:?}", check.errors.first());
        assert!(check.document.is_some());
        // Not all of it was looked at, and that is said.
        assert!(check.warnings.iter().any(|problem| problem.message.contains("too large")), "{field}");
    }
}
