//! Schemas that are meant to do harm: comparisons end, and say that they cannot know.

use proptest::prelude::*;
use rival_schema::{AssignVerdict, JsonSchema, PathSegment, SchemaError, assignable, schema_at};
use serde_json::{Value, json};

use crate::oracle::verdict;

/// On a stack of the size that threads of a server have.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap();
    assert!(thread.join().is_ok(), "it panicked, or had no room");
}

fn nested(depth: usize, wrap: impl Fn(Value) -> Value, inner: Value) -> Value {
    (0..depth).fold(inner, |schema, _| wrap(schema))
}

fn is_open(verdict: &AssignVerdict) -> bool {
    matches!(verdict, AssignVerdict::Unknown { .. })
}

#[test]
fn deep_schemas_end() {
    on_a_small_stack(|| {
        let wraps: [fn(Value) -> Value; 7] = [
            |it| json!({"type": "object", "properties": {"a": it}, "required": ["a"]}),
            |it| json!({"type": "array", "items": it, "minItems": 1}),
            |it| json!({"allOf": [it]}),
            |it| json!({"anyOf": [it, {"type": "null"}]}),
            |it| json!({"not": it}),
            |it| json!({"oneOf": [it, {"type": "null"}]}),
            |it| json!({"if": it, "then": {"type": "string"}, "else": {"type": "number"}}),
        ];
        for (at, wrap) in wraps.into_iter().enumerate() {
            let from = nested(400, wrap, json!({"type": "string"}));
            let to = nested(400, wrap, json!({"type": "number"}));
            verdict(&from, &to);
            verdict(&from, &from);
            assert!(!matches!(verdict(&from, &json!({"type": "string"})), AssignVerdict::Yes) || at == 2);
            schema_at(&JsonSchema::read(&from).unwrap(), &vec![PathSegment::Key("a".into()); 400]);
            JsonSchema::read(&from).unwrap().type_text(10_000);
        }
    });
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    let loops = [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#"}]}),
        json!({"oneOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"not": {"$ref": "#"}}),
        json!({"if": {"$ref": "#"}, "then": {"$ref": "#"}, "else": {"$ref": "#"}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}),
        json!({"items": {"$ref": "#"}, "contains": {"$ref": "#"}, "type": "array"}),
        json!({"propertyNames": {"$ref": "#"}, "dependentSchemas": {"a": {"$ref": "#"}}}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"not": {"anyOf": [{"$ref": "#"}, {"type": "string"}]}}),
    ];
    for from in &loops {
        for to in &loops {
            verdict(from, to);
        }
        verdict(from, &json!({"type": "string"}));
        verdict(&json!({"type": "string"}), from);
    }
    // What has no meaning is never an answer.
    assert!(is_open(&verdict(&json!({"type": "string"}), &loops[4])));
    assert!(is_open(&verdict(&json!({"type": "string"}), &loops[0])));
}

#[test]
fn unions_that_multiply_end_as_unknown() {
    let union = |at: usize, to: &str| {
        let members: Vec<Value> = (0..10)
            .map(|n| json!({"required": [format!("p{at}_{n}")], "properties": {format!("p{at}_{n}"): {"type": to}}}))
            .collect();
        json!({"anyOf": members})
    };
    let all =
        |to: &str| json!({"type": "object", "allOf": (0..12).map(|at| union(at, to)).collect::<Vec<_>>()});
    let verdict = verdict(&all("integer"), &all("number"));
    assert!(!matches!(verdict, AssignVerdict::No(_)), "{verdict:?}");
    let doubling = |leaf: &str| {
        let mut definitions = serde_json::Map::new();
        for at in 0..40 {
            let next = json!({"$ref": format!("#/$defs/n{}", at + 1)});
            let node =
                json!({"type": "object", "properties": {"l": next, "r": next}, "required": ["l", "r"]});
            definitions.insert(format!("n{at}"), node);
        }
        definitions.insert("n40".into(), json!({"type": leaf}));
        json!({"$ref": "#/$defs/n0", "$defs": definitions})
    };
    assert_eq!(self::verdict(&doubling("integer"), &doubling("number")), AssignVerdict::Yes);
    assert!(!matches!(self::verdict(&doubling("string"), &doubling("number")), AssignVerdict::Yes));
}

#[test]
fn large_schemas_end() {
    let wide = |ty: &str| {
        let properties: serde_json::Map<String, Value> =
            (0..3000).map(|at| (format!("p{at}"), json!({"type": ty, "description": "x"}))).collect();
        json!({"type": "object", "properties": properties, "additionalProperties": false})
    };
    assert_eq!(verdict(&wide("integer"), &wide("number")), AssignVerdict::Yes);
    assert!(matches!(verdict(&wide("string"), &wide("number")), AssignVerdict::No(_)));
    let values: Vec<Value> = (0..20_000).map(Value::from).collect();
    verdict(&json!({"enum": values}), &json!({"enum": values}));
    let huge = json!({"minLength": u64::MAX, "maxItems": 1e300, "minimum": -1e308, "multipleOf": 1e-300, "minItems": 1_000_000_000_u64});
    verdict(&huge, &json!({"type": "string"}));
    verdict(&json!({"type": ["string", "array", "number"]}), &huge);
    verdict(&huge, &huge);
    let many: Vec<Value> = (0..60_000).map(|_| json!({})).collect();
    assert!(matches!(JsonSchema::read(&json!({"anyOf": many})), Err(SchemaError::TooLarge { .. })));
    assert_eq!(JsonSchema::read(&json!("text")).unwrap_err(), SchemaError::NotASchema);
}

const KEYS: &str = "type enum const properties required items prefixItems anyOf oneOf allOf not if then else $ref $defs \
    definitions additionalProperties patternProperties minimum maximum multipleOf minLength pattern format minItems \
    uniqueItems contains $id $anchor propertyNames dependencies dependentRequired unevaluatedProperties $schema a";

const TEXTS: &str = "string object array # #/$defs/a #/properties/a #a a ^a ( date x.json #/%zz \\ \
    http://json-schema.org/draft-04/schema# http://json-schema.org/draft-07/schema#";

/// Any JSON, with keywords of JSON Schema as keys.
fn chaos() -> impl Strategy<Value = Value> {
    let keys: Vec<&str> = KEYS.split_whitespace().collect();
    let texts: Vec<&str> = TEXTS.split_whitespace().collect();
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|it| json!(it)),
        (0u64..5).prop_map(Value::from),
        prop::sample::select(texts).prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let key = prop::sample::select(keys.clone()).prop_map(str::to_owned);
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            4 => prop::collection::vec((key, inner), 0..6).prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_json_is_compared_without_harm(from in chaos(), to in chaos()) {
        if let (Ok(from), Ok(to)) = (JsonSchema::read(&from), JsonSchema::read(&to)) {
            assignable(&from, &to);
            assignable(&to, &from);
            schema_at(&from, &[PathSegment::Key("a".into()), PathSegment::Index(0)]);
            prop_assert!(from.type_text(80).chars().count() <= 80);
        }
    }
}
