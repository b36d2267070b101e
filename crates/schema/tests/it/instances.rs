//! Random values that a schema may take. It knows nothing of the crate under test, and many of its values are wrong: the
//! validator sorts them out.

use serde_json::{Map, Number, Value, json};

use crate::dice::Dice;

const DEPTH_MAX: usize = 6;
const NAMES: [&str; 6] = ["a", "b", "c", "kind", "x1", "more"];

pub fn instance(root: &Value, schema: &Value, dice: &mut Dice, depth: usize) -> Value {
    let Value::Object(map) = schema else { return anything(dice, depth) };
    if depth > DEPTH_MAX {
        return scalar(dice);
    }
    if let Some(value) = map.get("const").filter(|_| !dice.one_in(8)) {
        return value.clone();
    }
    if let Some(Value::Array(values)) = map.get("enum").filter(|_| !dice.one_in(8))
        && !values.is_empty()
    {
        return dice.pick(values).clone();
    }
    let mut parts: Vec<&Value> = Vec::new();
    let target =
        map.get("$ref").and_then(Value::as_str).and_then(|text| root.pointer(text.strip_prefix('#')?));
    parts.extend(target);
    parts.extend(map.get("allOf").and_then(Value::as_array).into_iter().flatten());
    for union in ["anyOf", "oneOf"] {
        let members = map.get(union).and_then(Value::as_array).filter(|members| !members.is_empty());
        parts.extend(members.map(|members| dice.pick(members)));
    }
    for branch in ["then", "else", "if"] {
        parts.extend(map.get(branch).filter(|_| dice.one_in(3)));
    }
    let mut found: Vec<Value> = parts.iter().map(|part| instance(root, part, dice, depth + 1)).collect();
    if map.keys().any(|key| is_own(key)) || found.is_empty() {
        found.push(own(root, map, dice, depth));
    }
    let mut objects = found.iter().filter_map(Value::as_object);
    if let Some(first) = objects.next() {
        let merged = objects.fold(first.clone(), |mut all, more| {
            all.extend(more.clone());
            all
        });
        return Value::Object(merged);
    }
    dice.pick(&found).clone()
}

fn is_own(key: &str) -> bool {
    !matches!(
        key,
        "$ref"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "$defs"
            | "$schema"
            | "definitions"
    )
}

fn own(root: &Value, map: &Map<String, Value>, dice: &mut Dice, depth: usize) -> Value {
    let word = match map.get("type") {
        Some(Value::String(word)) => word.as_str(),
        Some(Value::Array(words)) if !words.is_empty() => dice.pick(words).as_str().unwrap_or("null"),
        _ => implied(map, dice),
    };
    match word {
        "null" => Value::Null,
        "boolean" => json!(dice.one_in(2)),
        "integer" | "number" => number(map, word == "integer", dice),
        "string" => text(map, dice),
        "array" => array(root, map, dice, depth),
        "object" => object(root, map, dice, depth),
        _ => anything(dice, depth),
    }
}

fn implied(map: &Map<String, Value>, dice: &mut Dice) -> &'static str {
    const OBJECT: [&str; 7] = [
        "properties",
        "required",
        "additionalProperties",
        "minProperties",
        "maxProperties",
        "patternProperties",
        "propertyNames",
    ];
    let kinds: [(&'static str, &[&str]); 4] = [
        ("object", &OBJECT),
        ("array", &["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]),
        ("string", &["minLength", "maxLength", "pattern", "format"]),
        ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    ];
    let found = kinds.iter().filter(|(_, keys)| keys.iter().any(|key| map.contains_key(*key)));
    let found: Vec<&'static str> = found.map(|(word, _)| *word).collect();
    let all: [&'static str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let words: &[&'static str] = if found.is_empty() || dice.one_in(4) { &all } else { &found };
    dice.pick::<&'static str>(words)
}

fn number(map: &Map<String, Value>, is_integer: bool, dice: &mut Dice) -> Value {
    let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    let bounds: Vec<f64> = bounds.iter().filter_map(|key| map.get(*key)?.as_f64()).collect();
    let base = if bounds.is_empty() || dice.one_in(5) {
        *dice.pick(&[0.0, 1.0, -1.0, 10.0, 3.0])
    } else {
        *dice.pick(&bounds)
    };
    let near = base + *dice.pick(&[0.0, 0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, 10.0, -7.0]);
    let near = if is_integer { near.round() } else { near };
    if near.fract() == 0.0 && !dice.one_in(6) {
        return json!(near as i64);
    }
    Number::from_f64(near).map_or(Value::Null, Value::Number)
}

fn text(map: &Map<String, Value>, dice: &mut Dice) -> Value {
    let samples = [
        "",
        "a",
        "ab",
        "abc",
        "A1",
        "12",
        "x-1",
        "2024-02-03T04:05:06Z",
        "2024-02-03",
        "a@example.com",
        "https://example.com/",
        "aaaaaaaa",
        "日本",
        "123e4567-e89b-12d3-a456-426614174000",
    ];
    let lengths: Vec<u64> =
        ["minLength", "maxLength"].iter().filter_map(|key| map.get(*key)?.as_u64()).collect();
    if !lengths.is_empty() && !dice.one_in(4) {
        let length = *dice.pick(&lengths) + dice.below(2) as u64;
        let letter = *dice.pick(&["a", "1", "é"]);
        return json!(letter.repeat(length.min(300) as usize));
    }
    json!(dice.pick(&samples))
}

fn array(root: &Value, map: &Map<String, Value>, dice: &mut Dice, depth: usize) -> Value {
    let lengths: Vec<usize> =
        ["minItems", "maxItems"].iter().filter_map(|key| Some(map.get(*key)?.as_u64()? as usize)).collect();
    let length = if lengths.is_empty() || dice.one_in(4) { dice.below(4) } else { *dice.pick(&lengths) };
    let empty = Vec::new();
    let lists = [map.get("prefixItems"), map.get("items")];
    let prefix = lists.into_iter().flatten().find_map(Value::as_array).unwrap_or(&empty);
    let rest = map.get("items").filter(|items| !items.is_array()).or_else(|| map.get("additionalItems"));
    let items = (0..length.min(8)).map(|at| {
        let contained = map.get("contains").filter(|_| dice.one_in(3));
        match contained.or(prefix.get(at)).or(rest) {
            Some(schema) => instance(root, schema, dice, depth + 1),
            None => anything(dice, depth + 1),
        }
    });
    items.collect()
}

fn object(root: &Value, map: &Map<String, Value>, dice: &mut Dice, depth: usize) -> Value {
    let mut found = Map::new();
    let required: Vec<&str> = map
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let empty = Map::new();
    let properties = map.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let others = map.get("additionalProperties");
    for (name, schema) in properties {
        if required.contains(&name.as_str()) || dice.one_in(2) {
            found.insert(name.clone(), instance(root, schema, dice, depth + 1));
        }
    }
    let mut add = |name: &str, dice: &mut Dice| {
        if !found.contains_key(name) && !properties.contains_key(name) {
            let value = match others {
                Some(schema) => instance(root, schema, dice, depth + 1),
                None => anything(dice, depth + 1),
            };
            found.insert(name.to_owned(), value);
        }
    };
    required.iter().for_each(|name| add(name, dice));
    let count = match others {
        Some(Value::Bool(false)) => usize::from(dice.one_in(6)),
        _ => dice.below(3),
    };
    for _ in 0..count {
        let name = *dice.pick(&NAMES);
        add(name, dice);
    }
    Value::Object(found)
}

fn scalar(dice: &mut Dice) -> Value {
    dice.pick(&[json!(null), json!(true), json!(0), json!(1.5), json!("a"), json!(""), json!([]), json!({})])
        .clone()
}

fn anything(dice: &mut Dice, depth: usize) -> Value {
    if depth > DEPTH_MAX || dice.one_in(2) {
        return scalar(dice);
    }
    let values = [
        json!({"a": 1}),
        json!(["a"]),
        json!({"a": "x", "b": [1]}),
        json!([1, 1]),
        json!(-3),
        json!("text"),
        json!({"kind": "a"}),
        json!({"more": true}),
    ];
    dice.pick(&values).clone()
}
