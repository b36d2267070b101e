//! An input to begin with, made from a schema.

use serde_json::{Map, Value, json};

/// Something that a schema may accept: what is required, as small as it can be.
pub(crate) fn sample(schema: &Value) -> Value {
    of(schema, schema, 0)
}

/// `depth` is an end for schemas that contain themselves.
fn of(schema: &Value, root: &Value, depth: u32) -> Value {
    let given = [&schema["examples"][0], &schema["default"], &schema["const"], &schema["enum"][0]];
    if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
        return given.clone();
    }
    if let Some(other) = other(schema, root).filter(|_| depth < 20) {
        return of(other, root, depth + 1);
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match kind {
        Some("string") => json!("text"),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(true),
        Some("array") if schema["minItems"].as_u64().is_some_and(|least| least > 0) && depth < 20 => {
            json!([of(&schema["items"], root, depth + 1)])
        }
        Some("array") => json!([]),
        Some("object") if depth < 20 => Value::Object(fields(schema, root, depth)),
        Some("object") => json!({}),
        _ => Value::Null,
    }
}

/// The schema that this one stands for.
fn other<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a Value> {
    let named = schema["$ref"].as_str().and_then(|name| root.pointer(name.strip_prefix('#')?));
    named.or_else(|| ["anyOf", "oneOf", "allOf"].into_iter().find_map(|word| schema[word].get(0)))
}

fn fields(schema: &Value, root: &Value, depth: u32) -> Map<String, Value> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    // What has a default is filled in.
    let needed = required.filter(|name| schema["properties"][name].get("default").is_none());
    needed.map(|name| (name.to_owned(), of(&schema["properties"][name], root, depth + 1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_what_is_required() {
        let schema = json!({
            "type": "object",
            "required": ["name", "age", "tags", "kind", "inner", "filled"],
            "properties": {
                "name": { "type": "string" },
                "age": { "type": "integer", "minimum": 18 },
                "tags": { "type": "array", "minItems": 1, "items": { "type": ["string", "null"] } },
                "kind": { "enum": ["a", "b"] },
                "inner": { "$ref": "#/$defs/inner" },
                "filled": { "type": "string", "default": "x" },
                "left_out": { "type": "string" },
            },
            "$defs": { "inner": { "anyOf": [{ "type": "boolean" }] } },
        });
        let expected = json!({ "name": "text", "age": 18, "tags": ["text"], "kind": "a", "inner": true });
        assert_eq!(sample(&schema), expected);
        assert_eq!(sample(&json!({ "type": "number", "examples": [7] })), 7);
    }

    #[test]
    fn a_schema_that_contains_itself_has_a_sample() {
        let schema =
            json!({ "type": "object", "required": ["again"], "properties": { "again": { "$ref": "#" } } });
        assert!(sample(&schema).is_object());
    }
}
