//! Schemas as types.

use rival_schema::JsonSchema;
use serde_json::{Value, json};

use crate::types;

fn text(schema: &Value) -> String {
    JsonSchema::read(schema).unwrap().to_string()
}

#[test]
fn types_are_written_as_they_were_read() {
    let named = [("Tree".to_owned(), "{ kids: Tree[]; value: string }".to_owned())];
    let same = [
        "string",
        "number",
        "integer",
        "boolean",
        "null",
        "object",
        "never",
        "string | number",
        "string[]",
        "(string | null)[]",
        "[string, number?]",
        "[string, ...number[]]",
        "{ a: string; b?: number }",
        "{ a: { b: string[] }[] }",
        "{ [key: string]: number }",
        "{ a: string } | { b: number }",
        "({ a: string } | { b: number })[]",
        "{ \"full name\": string }",
    ];
    for ty in same {
        let written = text(&types::schema(&ty.replace('"', "'"), &named));
        assert_eq!(written, ty);
    }
    let others = [
        ("any", "unknown"),
        ("any[]", "unknown[]"),
        ("'a' | 'b' | null", r#""a" | "b" | null"#),
        ("exact { a: 1 }", "{ a: 1 }"),
        ("exact {}", "{}"),
        ("[]", "[]"),
        ("Tree", "{ kids: Tree[]; value: string }"),
        ("{ a: string } & { b: 1 }", "{ a: string } & { b: 1 }"),
    ];
    for (ty, expected) in others {
        assert_eq!(text(&types::schema(ty, &named)), expected, "{ty}");
    }
    assert_eq!(text(&json!({"type": "string", "format": "uri"})), "string<uri>");
    assert_eq!(text(&json!({"minimum": 1})), "number");
    assert_eq!(text(&json!(false)), "never");
}

#[test]
fn types_have_a_bounded_length() {
    let properties: serde_json::Map<String, Value> =
        (0..1000).map(|at| (format!("property{at}"), json!({"enum": ["a".repeat(100), "b"]}))).collect();
    let schema = JsonSchema::read(&json!({"type": "object", "properties": properties})).unwrap();
    for length in [1, 10, 60, 200] {
        let text = schema.type_text(length);
        assert!(text.chars().count() <= length, "{length}: {text}");
        assert!(text.ends_with('…'), "{text}");
    }
}
