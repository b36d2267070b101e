//! What is accepted without a word is right: random inputs through random templates into random targets, with the crate
//! `jsonschema` as the judge.

use serde_json::{Map, Value, json};

use crate::fakes::FakeWorld;

/// Random numbers that are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed ^ (mixed >> 27)) >> 16) % bound
    }

    fn chance(&mut self, of_ten: u64) -> bool {
        self.below(10) < of_ten
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[usize::try_from(self.below(all.len() as u64)).unwrap()]
    }
}

fn schema(dice: &mut Dice, depth: u32) -> Value {
    match dice.below(if depth == 0 { 8 } else { 12 }) {
        0 | 1 => json!({ "type": "string" }),
        2 => json!({ "type": "integer" }),
        3 => json!({ "type": "number", "minimum": 0 }),
        4 => json!({ "type": ["string", "null"] }),
        5 => json!({ "enum": ["x", "y"] }),
        6 => json!({ "type": "string", "minLength": 2 }),
        7 => json!({}),
        8 => json!({ "type": "array", "items": schema(dice, depth - 1), "minItems": dice.below(2) }),
        9 => json!({ "anyOf": [schema(dice, depth - 1), schema(dice, depth - 1)] }),
        _ => object(dice, depth - 1),
    }
}

fn object(dice: &mut Dice, depth: u32) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for name in ["a", "b", "c"] {
        if dice.chance(7) {
            properties.insert(name.to_owned(), schema(dice, depth));
            if dice.chance(6) {
                required.push(name);
            }
        }
    }
    let mut object = json!({ "type": "object", "properties": properties, "required": required });
    if dice.chance(4) {
        object["additionalProperties"] = json!(false);
    }
    object
}

/// An instance of a schema of this file.
fn instance(dice: &mut Dice, schema: &Value) -> Value {
    if let Some(members) = schema["anyOf"].as_array() {
        let member = dice.one_of(members);
        return instance(dice, member);
    }
    if let Some(values) = schema["enum"].as_array() {
        return dice.one_of(values).clone();
    }
    match schema["type"].as_str() {
        Some("string") if schema["minLength"].is_null() => json!(*dice.one_of(&["", "x", "äöü"])),
        Some("string") => json!(*dice.one_of(&["xy", "äöü"])),
        Some("integer") => json!(*dice.one_of(&[-1, 0, 3])),
        Some("number") => json!(*dice.one_of(&[0.0, 0.5, 7.0])),
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            (0..least + dice.below(3)).map(|_| instance(dice, &schema["items"])).collect()
        }
        Some("object") => {
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let mut fields = Map::new();
            for (name, schema) in schema["properties"].as_object().unwrap() {
                if required.contains(&json!(name)) || dice.chance(5) {
                    fields.insert(name.clone(), instance(dice, schema));
                }
            }
            Value::Object(fields)
        }
        Some(_) | None if schema["type"].is_array() => {
            dice.one_of(&[json!(null), json!("xy"), json!("")]).clone()
        }
        Some(_) | None => dice.one_of(&[json!(1), json!(null), json!("x"), json!({ "a": 1 })]).clone(),
    }
}

/// Refs into a source: mostly to what it declares.
fn refs(source: &Value) -> Vec<String> {
    let mut refs: Vec<String> =
        ["x@{input.a}", "@{input.b}", "@input.a.b", "@input.b[0]", "@input"].map(str::to_owned).to_vec();
    for name in source["properties"].as_object().unwrap().keys() {
        refs.extend([format!("@input.{name}"), format!("@input.{name}"), format!("@input.{name}")]);
    }
    refs
}

fn template(dice: &mut Dice, refs: &[String], target: &Value) -> Value {
    if target["type"] == "object" && dice.chance(7) {
        return template_object(dice, refs, target);
    }
    match dice.below(10) {
        0..6 => json!(dice.one_of(refs)),
        6 => dice.one_of(&[json!("x"), json!(""), json!("long"), json!("@@x")]).clone(),
        7 => dice.one_of(&[json!(0), json!(1.5), json!(-1), json!(null)]).clone(),
        8 => (0..dice.below(3)).map(|_| template(dice, refs, &target["items"])).collect(),
        _ => template_object(dice, refs, target),
    }
}

/// An object with most of the fields that the target declares, and sometimes others.
fn template_object(dice: &mut Dice, refs: &[String], target: &Value) -> Value {
    let mut fields = Map::new();
    for name in ["a", "b", "c", "$"] {
        let declared = &target["properties"][name];
        if dice.chance(if declared.is_null() { 1 } else { 8 }) {
            fields.insert(name.to_owned(), template(dice, refs, declared));
        }
    }
    Value::Object(fields)
}

enum Missing {
    Omit,
    Fail,
}

/// What the data of a template becomes, read as plainly as it can be.
fn fill(data: &Value, input: &Value) -> Result<Value, Missing> {
    match data {
        Value::Array(items) => items.iter().map(|item| or_null(fill(item, input))).collect(),
        Value::Object(fields) if fields.contains_key("$") => {
            let way = fields["$"].as_array().unwrap();
            assert_eq!(way[0], "input");
            let found = way[1..].iter().try_fold(input, |value, segment| match (value, segment) {
                (Value::Array(items), Value::Number(index)) => {
                    items.get(usize::try_from(index.as_u64()?).ok()?)
                }
                (Value::Object(fields), Value::String(key)) => fields.get(key),
                _ => None,
            });
            let missing = if fields.contains_key("missing") { Missing::Omit } else { Missing::Fail };
            found.cloned().ok_or(missing)
        }
        Value::Object(fields) if fields.contains_key("$text") => {
            let mut text = String::new();
            for part in fields["$text"].as_array().unwrap() {
                match fill(part, input)? {
                    Value::String(words) => text.push_str(&words),
                    other => text.push_str(&other.to_string()),
                }
            }
            Ok(Value::String(text))
        }
        Value::Object(fields) => {
            let fields = fields.get("$quote").and_then(Value::as_object).unwrap_or(fields);
            let mut filled = Map::new();
            for (key, value) in fields {
                match fill(value, input) {
                    Ok(value) => _ = filled.insert(key.clone(), value),
                    Err(Missing::Omit) => {}
                    Err(Missing::Fail) => return Err(Missing::Fail),
                }
            }
            Ok(Value::Object(filled))
        }
        other => Ok(other.clone()),
    }
}

fn or_null(filled: Result<Value, Missing>) -> Result<Value, Missing> {
    match filled {
        Err(Missing::Omit) => Ok(Value::Null),
        other => other,
    }
}

#[test]
fn what_is_accepted_without_a_word_is_right() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..4_000 {
        let mut dice = Dice(seed);
        let (source, mut target) = (object(&mut dice, 2), object(&mut dice, 2));
        if dice.chance(3) {
            target["minProperties"] = json!(2);
        }
        let input = template_object(&mut dice, &refs(&source), &target);
        let step = json!({ "name": "s", "tool": { "connectionId": "c", "toolName": "t" }, "input": input });
        let document = json!({ "name": "d", "inputSchema": source, "steps": [[step]] });
        let check = FakeWorld::default().tool("c", "t", target.clone(), Value::Null).check_json(&document);
        refused += usize::from(!check.errors.is_empty());
        let Some(checked) = check.document.filter(|_| check.warnings.is_empty()) else { continue };
        accepted += 1;
        let action = serde_json::to_value(&checked.phases[0][0].action).unwrap();
        let validator = jsonschema::validator_for(&target).unwrap();
        for _ in 0..20 {
            let input = instance(&mut dice, &source);
            let Ok(built) = fill(&action["tool"]["input"], &input) else {
                panic!("{seed}: a value is missing in {input} for {document:#}");
            };
            assert!(validator.is_valid(&built), "{seed}: {input} becomes {built}, no {target}: {document:#}");
        }
    }
    assert!(accepted > 150 && refused > 1_000, "{accepted} accepted, {refused} refused");
}
