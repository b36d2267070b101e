//! An input to begin with, made from a schema.

use serde_json::{Map, Value, json};

/// No sample has more items in a list, or more characters in a text.
const ITEMS_MAX: u64 = 20;
const TEXT_MAX: usize = 200;
/// Bounds beyond are those of the number type, as zod writes them.
const LARGE: f64 = 9_007_199_254_740_991.0;

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
        Some("string") => json!(text(schema)),
        Some("integer") => json!(whole_number(schema)),
        Some("number") => number(schema),
        Some("boolean") => json!(true),
        Some("array") if depth < 20 => {
            let least = schema["minItems"].as_u64().unwrap_or(0).min(ITEMS_MAX);
            (0..least).map(|_| of(&schema["items"], root, depth + 1)).collect()
        }
        Some("array") => json!([]),
        Some("object") if depth < 20 => Value::Object(fields(schema, root, depth)),
        Some("object") => json!({}),
        _ => Value::Null,
    }
}

/// A text of the format and the length that are wanted. What a pattern wants is not known.
fn text(schema: &Value) -> String {
    let text = match schema["format"].as_str().unwrap_or_default() {
        "email" | "idn-email" => "ada@example.com",
        "uri" | "url" | "iri" => "https://example.com/",
        "uuid" | "guid" => "0190163d-8694-739b-aea5-966c26f8ad90",
        "date-time" => "2030-01-01T00:00:00Z",
        "date" => "2030-01-01",
        "time" => "12:00:00Z",
        "duration" => "PT1H",
        "hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        _ => return sized(schema),
    };
    text.to_owned()
}

fn sized(schema: &Value) -> String {
    let length = |name: &str| schema[name].as_u64().and_then(|length| usize::try_from(length).ok());
    let least = length("minLength").unwrap_or(0).min(TEXT_MAX);
    let words = "text ".repeat(least / 5 + 1);
    let most = length("maxLength").unwrap_or(usize::MAX);
    words.chars().take(least.max(4).min(most)).collect()
}

/// The least whole number that is allowed; 1 if that is.
fn whole_number(schema: &Value) -> i64 {
    let bound = |name: &str| schema[name].as_f64().filter(|bound| bound.abs() < LARGE);
    let above = bound("exclusiveMinimum").map(|bound| bound.floor() + 1.0);
    let least = bound("minimum").map(f64::ceil).into_iter().chain(above).reduce(f64::max);
    let below = bound("exclusiveMaximum").map(|bound| bound.ceil() - 1.0);
    let most = bound("maximum").map(f64::floor).into_iter().chain(below).reduce(f64::min);
    let step = bound("multipleOf").filter(|step| *step >= 1.0);
    let begin = least.unwrap_or_else(|| most.map_or(1.0, |most| most.min(1.0)));
    let number = step.map_or(begin, |step| (begin / step).ceil() * step);
    #[expect(clippy::cast_possible_truncation, reason = "bounds that large are left out")]
    let number = number as i64;
    number
}

fn number(schema: &Value) -> Value {
    match &schema["minimum"] {
        Value::Null => json!(whole_number(schema)),
        _ if schema.get("exclusiveMinimum").is_some() || schema.get("multipleOf").is_some() => {
            json!(whole_number(schema))
        }
        least => least.clone(),
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

/// How deep a type is shown: fields of fields of fields are `object`.
const TYPE_DEPTH: u32 = 3;
/// How many values of an enum are shown.
const VALUES_MAX: usize = 8;

/// What a schema accepts, as a type in a few words: `{customer: string, items: {sku: string}[]}`.
pub(crate) fn type_of(schema: &Value) -> String {
    named(schema, schema, 0)
}

fn named(schema: &Value, root: &Value, depth: u32) -> String {
    if let Some(only) = schema.get("const") {
        return only.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return joined(values.iter().take(VALUES_MAX).map(Value::to_string), values.len() > VALUES_MAX);
    }
    let others = ["anyOf", "oneOf"].into_iter().find_map(|word| schema[word].as_array());
    if let Some(others) = others.filter(|_| depth < TYPE_DEPTH) {
        return joined(
            others.iter().take(VALUES_MAX).map(|it| named(it, root, depth + 1)),
            others.len() > VALUES_MAX,
        );
    }
    if let Some(other) = other(schema, root).filter(|_| depth < TYPE_DEPTH) {
        return named(other, root, depth + 1);
    }
    match &schema["type"] {
        Value::String(word) => of_kind(word, schema, root, depth),
        Value::Array(words) => joined(
            words.iter().filter_map(Value::as_str).map(|word| of_kind(word, schema, root, depth)),
            false,
        ),
        _ if schema["properties"].is_object() => of_kind("object", schema, root, depth),
        _ => "any".to_owned(),
    }
}

fn of_kind(kind: &str, schema: &Value, root: &Value, depth: u32) -> String {
    match kind {
        "array" if schema["items"].is_object() => {
            let item = named(&schema["items"], root, depth);
            if item.contains(" or ") { format!("({item})[]") } else { format!("{item}[]") }
        }
        "object" if depth < TYPE_DEPTH => match schema["properties"].as_object() {
            Some(fields) => object(fields, schema, root, depth),
            None => kind.to_owned(),
        },
        _ => kind.to_owned(),
    }
}

fn object(fields: &Map<String, Value>, schema: &Value, root: &Value, depth: u32) -> String {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|required| required == name))
    };
    let fields = fields.iter().map(|(name, field)| {
        let mark = if required(name) { "" } else { "?" };
        format!("{name}{mark}: {}", named(field, root, depth + 1))
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

fn joined(types: impl Iterator<Item = String>, is_more: bool) -> String {
    let mut types: Vec<String> = types.collect();
    types.extend(is_more.then(|| "…".to_owned()));
    types.dedup();
    types.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_says_what_lists_are_made_of() {
        let schema = json!({
            "type": "object",
            "required": ["customer", "items"],
            "properties": {
                "customer": { "type": "string" },
                "items": { "type": "array", "items": { "$ref": "#/$defs/item" } },
                "tags": { "type": "array", "items": { "type": ["string", "null"] } },
                "size": { "enum": ["s", "m"] },
                "anything": { "type": "array" },
            },
            "$defs": { "item": { "type": "object", "properties": { "sku": { "type": "string" } }, "required": ["sku"] } },
        });
        let expected = r#"{customer: string, items: {sku: string}[], tags?: (string or null)[], size?: "s" or "m", anything?: array}"#;
        assert_eq!(type_of(&schema), expected);
        let endless = json!({ "type": "object", "properties": { "again": { "$ref": "#" } } });
        assert_eq!(type_of(&endless), "{again?: {again?: any}}");
    }

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

    /// What zod says of its checks is heeded, so that a sample can be sent as it is.
    #[test]
    fn a_sample_has_the_formats_and_sizes_that_are_wanted() {
        for (schema, expected) in [
            (json!({ "type": "string", "format": "email" }), json!("ada@example.com")),
            (json!({ "type": "string", "format": "uuid" }), json!("0190163d-8694-739b-aea5-966c26f8ad90")),
            (json!({ "type": "string", "minLength": 6 }), json!("text t")),
            (json!({ "type": "string", "maxLength": 2 }), json!("te")),
            (
                json!({ "type": "integer", "exclusiveMinimum": 0, "maximum": 9_007_199_254_740_991_i64 }),
                json!(1),
            ),
            (json!({ "type": "integer", "maximum": -3 }), json!(-3)),
            (json!({ "type": "integer", "minimum": 4, "multipleOf": 5 }), json!(5)),
            (json!({ "type": "number", "exclusiveMinimum": 0.5 }), json!(1)),
            (json!({ "type": "array", "minItems": 2, "items": { "type": "boolean" } }), json!([true, true])),
        ] {
            assert_eq!(sample(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_schema_that_contains_itself_has_a_sample() {
        let schema =
            json!({ "type": "object", "required": ["again"], "properties": { "again": { "$ref": "#" } } });
        assert!(sample(&schema).is_object());
    }
}
