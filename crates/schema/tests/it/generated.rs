//! Random pairs of schemas: no verdict is wrong.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use crate::dice::Dice;
use crate::oracle::{SchemaOracle, VerdictCount, fault, verdict};

const DRAFTS: [Option<&str>; 6] = [
    None,
    Some("https://json-schema.org/draft/2020-12/schema"),
    Some("https://json-schema.org/draft/2019-09/schema"),
    Some("http://json-schema.org/draft-07/schema#"),
    Some("http://json-schema.org/draft-06/schema#"),
    Some("http://json-schema.org/draft-04/schema#"),
];

fn scalars() -> impl Strategy<Value = Value> {
    let words = ["string", "number", "integer", "boolean", "null", "object", "array"];
    let values = || {
        prop::sample::select(vec![
            json!("a"),
            json!("b"),
            json!("ab"),
            json!(""),
            json!(0),
            json!(1),
            json!(2),
            json!(1.5),
            json!(true),
            json!(false),
            json!(null),
            json!([]),
            json!({}),
            json!({"a": 1}),
        ])
    };
    prop_oneof![
        4 => prop::sample::select(words.to_vec()).prop_map(|word| json!({"type": word})),
        1 => prop::sample::subsequence(words.to_vec(), 2..4).prop_map(|words| json!({"type": words})),
        2 => values().prop_map(|value| json!({"const": value})),
        2 => prop::collection::vec(values(), 1..4).prop_map(|values| json!({"enum": values})),
        2 => numbers(),
        2 => texts(),
        1 => Just(json!({})),
        1 => Just(json!({"$ref": "#/$defs/node"})),
        1 => Just(json!({"$ref": "#/$defs/leaf"})),
    ]
}

fn numbers() -> impl Strategy<Value = Value> {
    let bound = || prop::option::of(prop_oneof![(-3i64..12).prop_map(Value::from), Just(json!(2.5))]);
    (
        prop::bool::ANY,
        bound(),
        bound(),
        prop::option::weighted(0.2, bound()),
        prop::option::weighted(0.3, 1u64..4),
    )
        .prop_map(|(integer, low, high, exclusive, multiple)| {
            let mut map = Map::new();
            map.insert("type".into(), json!(if integer { "integer" } else { "number" }));
            map.extend(low.map(|it| ("minimum".into(), it)));
            map.extend(high.map(|it| ("maximum".into(), it)));
            map.extend(exclusive.flatten().map(|it| ("exclusiveMinimum".into(), it)));
            map.extend(multiple.map(|it| ("multipleOf".into(), json!(it))));
            Value::Object(map)
        })
}

fn texts() -> impl Strategy<Value = Value> {
    let patterns = ["^a", "^[a-z]+$", "1", "^[a-c]{1,3}$", "^(a|b)?$"];
    let formats = ["date-time", "email", "uri", "other"];
    (
        prop::option::of(0u64..5),
        prop::option::of(0u64..7),
        prop::option::weighted(0.3, prop::sample::select(patterns.to_vec())),
        prop::option::weighted(0.15, prop::sample::select(formats.to_vec())),
    )
        .prop_map(|(min, max, pattern, format)| {
            let mut map = Map::new();
            map.insert("type".into(), json!("string"));
            map.extend(min.map(|it| ("minLength".into(), json!(it))));
            map.extend(max.map(|it| ("maxLength".into(), json!(it))));
            map.extend(pattern.map(|it| ("pattern".into(), json!(it))));
            map.extend(format.map(|it| ("format".into(), json!(it))));
            Value::Object(map)
        })
}

fn schemas() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            5 => objects(inner.clone()),
            3 => arrays(inner.clone()),
            2 => prop::collection::vec(inner.clone(), 1..4).prop_map(|all| json!({"anyOf": all})),
            1 => prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"oneOf": all})),
            1 => prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"allOf": all})),
            1 => (inner.clone(), inner.clone()).prop_map(|(kept, not)| json!({"allOf": [kept], "not": not})),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(test, then, otherwise)| json!({"if": test, "then": then, "else": otherwise})),
            1 => prop::collection::vec(inner, 1..3).prop_map(tagged),
        ]
    })
}

/// A discriminated union.
fn tagged(members: Vec<Value>) -> Value {
    let members = members.into_iter().zip(["a", "b", "c"]).map(|(member, tag)| {
        json!({"type": "object", "properties": {"kind": {"const": tag}, "x1": member}, "required": ["kind"]})
    });
    json!({"oneOf": members.collect::<Vec<_>>()})
}

fn objects(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Value> {
    let names = ["a", "b", "c", "kind"];
    let properties = prop::collection::vec((prop::sample::select(names.to_vec()), inner.clone()), 0..4);
    let others =
        prop_oneof![4 => Just(None), 2 => Just(Some(json!(false))), 1 => inner.clone().prop_map(Some)];
    let rare = prop_oneof![
        10 => Just(None),
        1 => Just(Some(("minProperties", json!(1)))),
        1 => Just(Some(("maxProperties", json!(2)))),
        1 => Just(Some(("propertyNames", json!({"maxLength": 1})))),
        1 => Just(Some(("propertyNames", json!({"enum": ["a", "b"]})))),
        1 => Just(Some(("dependentRequired", json!({"a": ["b"]})))),
        1 => Just(Some(("dependencies", json!({"a": ["b"], "c": {"minProperties": 2}})))),
        1 => inner.prop_map(|it| Some(("patternProperties", json!({"^x": it})))),
    ];
    (prop::bool::weighted(0.85), properties, prop::sample::subsequence(names.to_vec(), 0..3), others, rare)
        .prop_map(|(typed, properties, required, others, rare)| {
            let mut map = Map::new();
            if typed {
                map.insert("type".into(), json!("object"));
            }
            let properties: Map<String, Value> =
                properties.into_iter().map(|(name, it)| (name.into(), it)).collect();
            map.insert("properties".into(), Value::Object(properties));
            if !required.is_empty() {
                map.insert("required".into(), json!(required));
            }
            map.extend(others.map(|it| ("additionalProperties".into(), it)));
            map.extend(rare.map(|(key, it)| (key.into(), it)));
            Value::Object(map)
        })
}

fn arrays(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Value> {
    let rest = prop_oneof![3 => inner.clone().prop_map(Some), 1 => Just(Some(json!(false))), 1 => Just(None)];
    let rare = prop_oneof![
        6 => Just(None),
        1 => Just(Some(("uniqueItems", json!(true)))),
        1 => inner.clone().prop_map(|it| Some(("contains", it))),
    ];
    let bounds = (prop::option::of(0u64..3), prop::option::weighted(0.4, 0u64..4));
    (prop::collection::vec(inner, 0..3), rest, bounds, rare).prop_map(|(prefix, rest, (min, max), rare)| {
        let mut map = Map::new();
        map.insert("type".into(), json!("array"));
        if !prefix.is_empty() {
            map.insert("prefixItems".into(), json!(prefix));
        }
        map.extend(rest.map(|it| ("items".into(), it)));
        map.extend(min.map(|it| ("minItems".into(), json!(it))));
        map.extend(max.map(|it| ("maxItems".into(), json!(it))));
        map.extend(rare.map(|(key, it)| (key.into(), it)));
        Value::Object(map)
    })
}

/// A schema as a whole: with its draft, and what its `$ref`s lead to.
fn rooted(schema: &Value, leaf: &Value, draft: usize) -> Value {
    let mut root = match schema {
        Value::Object(map) => map.clone(),
        other => json!({"allOf": [other]}).as_object().unwrap().clone(),
    };
    let node = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}, "b": leaf}});
    root.insert("$defs".into(), json!({"node": node, "leaf": without_refs(leaf)}));
    root.extend(DRAFTS[draft].map(|draft| ("$schema".into(), json!(draft))));
    Value::Object(root)
}

/// A schema that leads nowhere: definitions that lead to each other have no meaning.
fn without_refs(schema: &Value) -> Value {
    match schema {
        Value::Object(map) if map.contains_key("$ref") => json!({"type": "string"}),
        Value::Object(map) => map.iter().map(|(key, it)| (key.clone(), without_refs(it))).collect(),
        Value::Array(items) => items.iter().map(without_refs).collect(),
        other => other.clone(),
    }
}

/// A near neighbour: one place of the schema is changed.
fn mutated(schema: &Value, dice: &mut Dice) -> Value {
    let Value::Object(map) = schema else { return json!({"type": "string"}) };
    let mut map = map.clone();
    let nested =
        ["properties", "items", "anyOf", "oneOf", "allOf", "prefixItems", "additionalProperties", "not"];
    let nested: Vec<&str> = nested.into_iter().filter(|key| map.contains_key(*key)).collect();
    if !nested.is_empty() && !dice.one_in(3) {
        let key = *dice.pick(&nested);
        let place = map.get_mut(key).expect("it is there");
        match place {
            Value::Object(parts) if key == "properties" => {
                let count = parts.len();
                let at = dice.below(count);
                if let Some((_, part)) = parts.iter_mut().nth(at) {
                    *part = mutated(part, dice);
                }
            }
            Value::Array(parts) if !parts.is_empty() => {
                let at = dice.below(parts.len());
                parts[at] = mutated(&parts[at], dice);
            }
            part => *part = mutated(part, dice),
        }
        return Value::Object(map);
    }
    mutated_here(map, dice)
}

fn mutated_here(mut map: Map<String, Value>, dice: &mut Dice) -> Value {
    match dice.below(11) {
        0 => return json!({"anyOf": [Value::Object(map), {"type": "null"}]}),
        1 => return json!({"allOf": [Value::Object(map)], "description": "a note"}),
        2 => {
            map.insert("additionalProperties".into(), json!(false));
        }
        3 => {
            map.insert("required".into(), json!([*dice.pick(&["a", "b", "kind"])]));
        }
        4 => {
            map.remove("required");
        }
        5 => match map.get("type") {
            Some(word) if word == "integer" => drop(map.insert("type".into(), json!("number"))),
            Some(word) if word == "number" => drop(map.insert("type".into(), json!("integer"))),
            Some(Value::String(word)) => drop(map.insert("type".into(), json!([word, "null"]))),
            _ => drop(map.remove("type")),
        },
        6 | 7 => {
            let bounds: Vec<String> =
                map.iter().filter(|(_, it)| it.is_u64()).map(|(key, _)| key.clone()).collect();
            if let Some(key) = bounds.first() {
                let changed = map[key].as_u64().unwrap_or(1) + 1;
                map.insert(key.clone(), json!(changed));
            }
        }
        8 => {
            let keys: Vec<String> = map.keys().filter(|key| !key.starts_with('$')).cloned().collect();
            if !keys.is_empty() {
                map.remove(dice.pick(&keys));
            }
        }
        9 => {
            if let Some(Value::Array(values)) = map.get_mut("enum") {
                values.push(json!("more"));
            }
            map.insert("title".into(), json!("A note"));
        }
        _ => {
            if let Some(Value::Object(properties)) = map.get_mut("properties") {
                properties.insert("c".into(), json!({"type": "boolean"}));
            }
        }
    }
    Value::Object(map)
}

/// Two schemas: strangers, or one that was changed in up to three places; either may be the source.
fn pairs() -> impl Strategy<Value = (Value, Value)> {
    let seeds = prop::collection::vec(any::<u64>(), 1..5);
    (schemas(), schemas(), scalars(), seeds, 0..DRAFTS.len(), 0..DRAFTS.len(), 0..5usize).prop_map(
        |(first, second, leaf, seeds, draft, other, way)| {
            let near = seeds.iter().fold(first.clone(), |it, seed| mutated(&it, &mut Dice::new(*seed)));
            let second = if way == 0 { second } else { near };
            let other = if way == 1 { other } else { draft };
            let pair = (rooted(&first, &leaf, draft), rooted(&second, &leaf, other));
            if way % 2 == 0 { pair } else { (pair.1, pair.0) }
        },
    )
}

fn config(cases: u32) -> Config {
    let times = std::env::var("RIVAL_SCHEMA_TIMES").ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    Config { cases: cases * times, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() }
}

#[test]
fn no_verdict_on_random_pairs_is_wrong() {
    let count = RefCell::new(VerdictCount::default());
    let mut runner = TestRunner::new(config(2500));
    let result = runner.run(&pairs(), |(from, to)| {
        let verdict = verdict(&from, &to);
        count.borrow_mut().add(&verdict);
        let (source, target) = (SchemaOracle::new(&from), SchemaOracle::new(&to));
        let fault = fault(&source, &target, &verdict, &mut count.borrow_mut());
        prop_assert!(fault.is_none(), "{}\nfrom: {from}\nto:   {to}", fault.unwrap_or_default());
        Ok(())
    });
    let count = count.into_inner();
    println!("random pairs: {count:?}");
    if let Err(error) = result {
        let text = error.to_string();
        panic!("{}", text.split("minimal failing input").next().unwrap_or_default());
    }
    // Else the generator would try little.
    assert!(count.yes * 7 > count.total() && count.no * 7 > count.total(), "{count:?}");
}
