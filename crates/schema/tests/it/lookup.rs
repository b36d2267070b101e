//! Schemas at paths.

use rival_schema::{JsonSchema, PathSegment, SchemaLookup, path_text, schema_at};
use serde_json::{Value, json};

use crate::types;

/// `a[0].b` as a path.
fn path(text: &str) -> Vec<PathSegment> {
    let text = text.replace('[', ".").replace(']', "");
    let parts = text.split('.').filter(|part| !part.is_empty());
    parts
        .map(|part| match part.parse() {
            Ok(index) => PathSegment::Index(index),
            Err(_) => PathSegment::Key(part.to_owned()),
        })
        .collect()
}

fn shown(schema: &Value, at: &str) -> String {
    match schema_at(&JsonSchema::read(schema).unwrap(), &path(at)) {
        SchemaLookup::Found { schema, optional } => {
            format!("{schema}{}", if optional { " | undefined" } else { "" })
        }
        SchemaLookup::Missing { why, nearest, excluded } => {
            let meant = nearest.map(|name| format!(", meant: {name}")).unwrap_or_default();
            format!("missing: {why}{meant}{}", if excluded { ", excluded" } else { "" })
        }
        SchemaLookup::Unknown { why } => format!("unknown: {why}"),
    }
}

#[track_caller]
fn types(cases: &[(&str, &str, &str)]) {
    let named = [("Tree".to_owned(), "{ value: string; kids: Tree[] }".to_owned())];
    for (ty, at, expected) in cases {
        assert_eq!(shown(&types::schema(ty, &named), at), *expected, "{ty} at {at}");
    }
}

#[test]
fn properties_and_elements() {
    types(&[
        ("{ a: string }", "", "{ a: string }"),
        ("{ a: string }", "a", "string"),
        ("{ a?: string }", "a", "string | undefined"),
        ("{ a: { b: { c: 1 } } }", "a.b.c", "1"),
        ("{ a?: { b: number } }", "a.b", "number | undefined"),
        ("string[]", "[0]", "string | undefined"),
        ("[string, number?]", "[0]", "string"),
        ("[string, number?]", "[1]", "number | undefined"),
        ("[string, ...number[]]", "[5]", "number | undefined"),
        ("{ users: { name: string }[] }", "users[0].name", "string | undefined"),
        ("Record<number>", "any", "number | undefined"),
        ("{ id: string; [key: string]: string | number }", "other", "string | number | undefined"),
        ("{ a: any }", "a", "unknown"),
        ("Tree", "kids[0].kids[1].value", "string | undefined"),
        ("{ a: string } & { a: 'x'; b: 1 }", "a", "\"x\""),
        ("{ '0': string }", "0", "string"),
    ]);
}

#[test]
fn what_is_not_there_is_missing_with_the_name_that_was_meant() {
    types(&[
        ("{ name: string }", "nmae", "missing: the value declares no property `nmae`, meant: name"),
        ("{ name: string }", "zzzzzz", "missing: the value declares no property `zzzzzz`"),
        ("exact { name: string }", "nam", "missing: the value has no property `nam`, meant: name, excluded"),
        (
            "{ a: { fileName: 1 } }",
            "a.filename",
            "missing: `a` declares no property `filename`, meant: fileName",
        ),
        ("string", "a", "missing: the value is `string`, which has no properties, excluded"),
        ("{ a: string }", "a.b", "missing: `a` is `string`, which has no properties, excluded"),
        ("{ a: string[] }", "a.b", "missing: `a` is `unknown[]`, which has no properties, excluded"),
        ("[string]", "[1]", "missing: the value has no element 1, excluded"),
        ("{ a?: never }", "a", "missing: the value has no property `a`, excluded"),
        ("never", "a", "missing: no value satisfies the schema, excluded"),
    ]);
}

#[test]
fn what_the_schema_does_not_say_is_unknown() {
    types(&[
        ("any", "a", "unknown: the schema says nothing about the value"),
        ("{ a: any }", "a.b", "unknown: the schema says nothing about `a`"),
        ("object", "a", "unknown: the properties of the value are not declared"),
        ("{ a: string } | any", "a", "unknown: the schema says nothing about the value"),
    ]);
    let external = json!({"$ref": "https://example.com/x.json"});
    assert!(
        shown(&external, "a").starts_with("unknown: the value is not fully understood"),
        "{}",
        shown(&external, "a")
    );
    assert_eq!(
        shown(&json!({"type": "array"}), "[0]"),
        "unknown: the elements of the value are not declared"
    );
    let pattern = json!({"type": "object", "patternProperties": {"\\p{L}": {"type": "string"}}});
    assert!(shown(&pattern, "a").starts_with("unknown: it cannot be decided"), "{}", shown(&pattern, "a"));
}

#[test]
fn through_unions_a_value_is_of_the_members_that_have_it() {
    types(&[
        ("{ a: string } | null", "a", "string | undefined"),
        ("{ a: string } | { a: number }", "a", "string | number"),
        ("{ a: string } | { b: number }", "a", "string | undefined"),
        ("{ a: string } | { b: number }", "c", "missing: the value declares no property `c`"),
        ("{ k: 'x'; v: string } | { k: 'y'; v: number }", "v", "string | number"),
        ("{ k: 'x'; v: string } | { k: 'y'; v: number }", "k", "\"x\" | \"y\""),
        ("{ a: { b: string } | null }", "a.b", "string | undefined"),
        (
            "string | number",
            "a",
            "missing: the value is `string | number`, which has no properties, excluded",
        ),
        ("({ a: string } | null)[]", "[0].a", "string | undefined"),
        ("string[] | [number]", "[0]", "string | number | undefined"),
    ]);
}

#[test]
fn other_drafts_and_references() {
    let tuple = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [{"type": "string"}], "minItems": 1});
    assert_eq!(shown(&tuple, "[0]"), "string");
    let min = json!({"type": "array", "items": {"$ref": "#/definitions/n"}, "minItems": 3, "definitions": {"n": {"type": "number"}}});
    assert_eq!(shown(&min, "[2]"), "number");
    assert_eq!(shown(&min, "[3]"), "number | undefined");
    let pattern = json!({"type": "object", "patternProperties": {"^x": {"type": "string"}}});
    assert_eq!(shown(&pattern, "x1"), "string | undefined");
}

#[test]
fn paths_are_written_as_in_programs() {
    assert_eq!(path_text(&path("users[0].name")), "users[0].name");
    let odd = [PathSegment::Key("full name".into()), PathSegment::AnyIndex, PathSegment::AnyKey];
    assert_eq!(path_text(&odd), "[\"full name\"][][*]");
}
