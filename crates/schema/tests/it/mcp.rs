//! The schemas that real MCP servers publish, as `tools/list` gave them; an address in a default was replaced.

use std::fs;

use rival_schema::AssignVerdict;
use serde_json::{Map, Value, json};

use crate::cases::{Case, cases, folder, judge};
use crate::oracle::{SchemaOracle, VerdictCount, check};
use crate::types;

/// All schemas, as `server/tool/in` and `server/tool/out`.
fn schemas() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for file in fs::read_dir(folder("fixtures/mcp")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let server: Value = serde_json::from_str(&text).unwrap();
        for tool in server["tools"].as_array().unwrap() {
            let name = format!("{}/{}", server["server"].as_str().unwrap(), tool["name"].as_str().unwrap());
            found.push((format!("{name}/in"), tool["inputSchema"].clone()));
            if let Some(schema) = tool.get("outputSchema") {
                found.push((format!("{name}/out"), schema.clone()));
            }
        }
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    found
}

/// What a line of a table means: a schema of a tool, a property of it, or a type.
fn schema(all: &[(String, Value)], text: &str) -> Value {
    if text.contains([' ', '\'', '[']) || !text.contains('/') {
        return types::schema(text, &[]);
    }
    let (name, property) = match text.rsplit_once('.') {
        Some((name, property)) => (name, Some(property)),
        None => (text, None),
    };
    let found = all.iter().find(|(known, _)| known == name);
    let (_, schema) = found.unwrap_or_else(|| panic!("there is no {name}"));
    let Some(property) = property else { return schema.clone() };
    assert!(schema["properties"].get(property).is_some(), "there is no {text}");
    let mut definitions = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    definitions.insert("tool".into(), schema.clone());
    let mut root = Map::new();
    root.extend(schema.get("$schema").map(|draft| ("$schema".into(), draft.clone())));
    root.insert("$ref".into(), json!(format!("#/$defs/tool/properties/{property}")));
    root.insert("$defs".into(), Value::Object(definitions));
    Value::Object(root)
}

#[test]
fn tools_are_judged_as_the_tables_say() {
    let all = schemas();
    let (cases, _) = cases("cases/mcp");
    let mut count = VerdictCount::default();
    judge(&cases, |_: &Case, text| schema(&all, text), &mut count);
    println!("mcp: {} cases, {count:?}", cases.len());
}

#[test]
fn every_tool_schema_is_assignable_to_itself() {
    for (name, schema) in schemas() {
        let oracle = SchemaOracle::new(&schema);
        let verdict = check(&oracle, &oracle, &mut VerdictCount::default());
        assert_eq!(verdict, AssignVerdict::Yes, "{name}");
    }
}

#[test]
fn no_verdict_between_any_two_tools_is_wrong() {
    let all: Vec<SchemaOracle> = schemas().iter().map(|(_, schema)| SchemaOracle::new(schema)).collect();
    let mut count = VerdictCount::default();
    for from in &all {
        for to in &all {
            check(from, to, &mut count);
        }
    }
    println!("all pairs of {} schemas of tools: {count:?}", all.len());
    assert!(all.len() > 100, "{}", all.len());
}
