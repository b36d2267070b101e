//! Templates: what they become, what is none, and that nothing makes them panic or run away.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rival_engine::core::{Segment, Value};
use rival_engine::template::{FillError, MissingValue, Template, TemplateRef, TextPart};
use serde_json::{Value as Json, json};

const MAX: usize = 1 << 20;

fn value(json: &str) -> Value {
    Value::from_json(json.to_owned()).expect("it is JSON")
}

fn template(data: Json) -> Template {
    Template::parse(&data.into()).expect("it is a template")
}

fn roots(root: &str) -> Option<Value> {
    Some(match root {
        "input" => {
            value(r#"{"name": "Ann", "n": 1.0, "big": 123456789012345678901234567890, "none": null, "$": 7}"#)
        }
        "fetch" => value(r#"{"users": [{"id": 1}, {"id": 2}]}"#),
        "index" => value("3"),
        _ => return None,
    })
}

fn filled(data: Json) -> Result<Option<String>, FillError> {
    let filled = template(data).fill(&roots, MAX)?;
    Ok(filled.map(|value| value.as_json().to_owned()))
}

#[test]
fn a_template_becomes_what_its_values_are() {
    let cases = [
        (json!(7), "7"),
        (json!({"a": [1, "x", null]}), r#"{"a":[1,"x",null]}"#),
        (json!({"$": ["fetch", "users", 1, "id"]}), "2"),
        (json!({"$": ["fetch", "users", 0]}), r#"{"id": 1}"#),
        (json!({"$": ["input", "big"]}), "123456789012345678901234567890"),
        (json!({"$": ["input", "n"]}), "1.0"),
        (json!({"$": ["input", "none"]}), "null"),
        (json!({"$": ["index"]}), "3"),
        (json!({"$text": ["Hello ", {"$": ["input", "name"]}, "!"]}), r#""Hello Ann!""#),
        (
            json!({"$text": [{"$": ["input", "n"]}, " ", {"$": ["input", "none"]}, {"$": ["fetch", "users", 0]}]}),
            r#""1.0 null{\"id\": 1}""#,
        ),
        (json!({"$text": []}), r#""""#),
        (json!([{"$": ["index"]}, {"b": {"$": ["index"]}}]), r#"[3,{"b":3}]"#),
        (json!({"$quote": {"$": {"$": ["index"]}, "a": 1}}), r#"{"$":3,"a":1}"#),
        (json!({"$quote": {"$quote": 1}}), r#"{"$quote":1}"#),
        (json!({"$ref": {"$id": 2}, "$schema": 1}), r#"{"$ref":{"$id":2},"$schema":1}"#),
        (json!({"$": ["input", "$"]}), "7"),
    ];
    for (data, expected) in cases {
        assert_eq!(filled(data.clone()).expect("all values are there").as_deref(), Some(expected), "{data}");
    }
}

#[test]
fn what_may_be_missing_leaves_its_place_out() {
    let gone = json!({"$": ["fetch", "users", 9], "missing": "omit"});
    let no_step = json!({"$": ["nothing"], "missing": "omit"});
    assert_eq!(filled(gone.clone()), Ok(None));
    let object = json!({"a": gone, "b": 1, "c": no_step, "d": {"e": no_step}});
    assert_eq!(filled(object), Ok(Some(r#"{"b":1,"d":{}}"#.to_owned())));
    assert_eq!(filled(json!([1, gone, 2])), Ok(Some("[1,null,2]".to_owned())));
    assert_eq!(filled(json!({"$text": ["<", gone, ">"]})), Ok(Some(r#""<>""#.to_owned())));
}

#[test]
fn what_must_not_be_missing_is_named() {
    let named = |data: Json| match filled(data) {
        Err(error @ FillError::Missing(_)) => error.into_step_error(),
        other => panic!("{other:?}"),
    };
    let error = named(json!({"a": [{"$": ["fetch", "users", 9, "id"]}]}));
    assert_eq!(
        (error.failure.code.as_str(), error.failure.message.as_str()),
        ("missing_ref", "`fetch.users[9].id` is not there")
    );
    assert_eq!(
        named(json!({"$text": [{"$": ["item"], "missing": "fail"}]})).failure.message,
        "`item` is not there"
    );
}

#[test]
fn what_is_no_template_is_refused() {
    for bad in [
        json!({"$": []}),
        json!({"$": "input"}),
        json!({"$": [0]}),
        json!({"$": ["input", -1]}),
        json!({"$": ["input", 1.5]}),
        json!({"$": ["input", null]}),
        json!({"$": ["input"], "missing": "guess"}),
        json!({"$": ["input"], "also": 1}),
        json!({"$": ["input"], "$text": []}),
        json!({"$text": "x"}),
        json!({"$text": [1]}),
        json!({"$text": [{"a": 1}]}),
        json!({"$text": ["x"], "a": 1}),
        json!({"$quote": [1]}),
        json!({"$quote": {}, "a": 1}),
        json!([[{"a": {"$": 1}}]]),
    ] {
        assert!(Template::parse(&bad.clone().into()).is_err(), "{bad}");
    }
}

#[test]
fn a_template_says_what_it_needs() {
    let both = template(
        json!({"a": {"$": ["fetch", "x"]}, "b": {"$text": [{"$": ["item", "id"]}, {"$": ["b2"]}]}, "c": {"$": ["input"]}}),
    );
    let needs = both.needs();
    assert_eq!(needs.steps, ["b2", "fetch"]);
    assert!(needs.iteration && !needs.items && needs.outputs.is_empty() && !needs.last_step);
    let needs = template(json!([{"$": ["input", "item"]}])).needs();
    assert!(needs.steps.is_empty() && !needs.iteration);
    assert!(template(json!({"$": ["index"]})).needs().iteration);
}

#[test]
fn nothing_grows_beyond_what_a_value_may_have() {
    let large = Value::from(json!("x".repeat(1_000)));
    let roots = |_: &str| Some(large.clone());
    let twice = template(json!([{"$": ["input"]}, {"$": ["input"]}]));
    assert!(twice.fill(&roots, 2_100).is_ok());
    assert_eq!(twice.fill(&roots, 2_000), Err(FillError::TooLarge(2_000)));
    let words = template(json!({"$text": vec![json!({"$": ["input"]}); 3]}));
    assert_eq!(words.fill(&roots, 2_000), Err(FillError::TooLarge(2_000)));
    // Many references into something large would be read for ever.
    let reads = template(json!(vec![json!({"$": ["input", "x"], "missing": "omit"}); 10_000]));
    assert_eq!(reads.fill(&roots, 100_000), Err(FillError::TooLarge(100_000)));
}

#[test]
fn what_nests_too_deep_is_refused() {
    let nested =
        |levels: usize, inside: &str| value(&format!("{}{inside}{}", "[".repeat(levels), "]".repeat(levels)));
    assert!(Template::parse(&nested(100_000, "")).is_err());
    assert!(Template::parse(&nested(121, r#"{"$":["input"]}"#)).is_err());
    let literal = Template::Literal(nested(100_000, ""));
    assert!(Template::parse(&literal.to_value()).is_err());
    let deep = Template::parse(&nested(100, r#"{"$":["input"]}"#)).expect("it is not too deep");
    assert_eq!(deep.fill(&|_| Some(nested(21, "")), MAX), Err(FillError::TooDeep));
    assert!(deep.fill(&|_| Some(nested(20, "")), MAX).is_ok());
}

fn any_json() -> impl Strategy<Value = Json> {
    let key = prop_oneof![3 => "[a-c]", 1 => Just("$".to_owned()), 1 => Just("$text".to_owned()), 1 => Just("$quote".to_owned()), 1 => Just("missing".to_owned())];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "\\PC{0,6}".prop_map(Json::from),
        prop_oneof![Just("input"), Just("fetch"), Just("users"), Just("omit")].prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 60, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            proptest::collection::btree_map(key.clone(), inner, 0..4)
                .prop_map(|fields| Json::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_ref() -> impl Strategy<Value = TemplateRef> {
    let segment = prop_oneof![(0_u32..3).prop_map(Segment::Index), "[a-c$]{0,2}".prop_map(Segment::Key)];
    let root = prop_oneof![Just("input"), Just("fetch"), Just("gone")];
    let missing = prop_oneof![Just(MissingValue::Fail), Just(MissingValue::Omit)];
    (root, proptest::collection::vec(segment, 0..3), missing).prop_map(|(root, way, missing)| TemplateRef {
        root: root.to_owned(),
        way,
        missing,
    })
}

fn any_template() -> impl Strategy<Value = Template> {
    let part = prop_oneof!["\\PC{0,4}".prop_map(TextPart::Words), any_ref().prop_map(TextPart::Ref)];
    let leaf = prop_oneof![
        any_json().prop_map(|json| Template::Literal(json.into())),
        any_ref().prop_map(Template::Ref),
        proptest::collection::vec(part, 0..4).prop_map(Template::Text),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Template::List),
            proptest::collection::btree_map("[a$]|\\$text|\\$quote", inner, 0..4).prop_map(Template::Object),
        ]
    })
}

/// What a template becomes, by a tree that forgets how values were written.
fn expected(template: &Template, values: &BTreeMap<&str, Json>) -> Result<Option<Json>, TemplateRef> {
    let find = |reference: &TemplateRef| {
        let mut at = values.get(reference.root.as_str());
        for segment in &reference.way {
            at = at.and_then(|at| match segment {
                Segment::Index(index) => at.get(*index as usize).or_else(|| at.get(index.to_string())),
                Segment::Key(key) => at.get(key),
            });
        }
        match (at, reference.missing) {
            (Some(at), _) => Ok(Some(at.clone())),
            (None, MissingValue::Omit) => Ok(None),
            (None, MissingValue::Fail) => Err(reference.clone()),
        }
    };
    Ok(Some(match template {
        Template::Literal(value) => value.to_json(),
        Template::Ref(reference) => return find(reference),
        Template::Text(parts) => {
            let mut words = String::new();
            for part in parts {
                match part {
                    TextPart::Words(text) => words.push_str(text),
                    TextPart::Ref(reference) => match find(reference)? {
                        Some(Json::String(text)) => words.push_str(&text),
                        Some(other) => words.push_str(&other.to_string()),
                        None => {}
                    },
                }
            }
            Json::String(words)
        }
        Template::List(items) => {
            let items = items.iter().map(|item| Ok(expected(item, values)?.unwrap_or_default()));
            Json::Array(items.collect::<Result<_, TemplateRef>>()?)
        }
        Template::Object(fields) => {
            let mut object = serde_json::Map::new();
            for (key, field) in fields {
                object.extend(expected(field, values)?.map(|field| (key.clone(), field)));
            }
            Json::Object(object)
        }
    }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the data is: it is refused, or it becomes something or nothing.
    #[test]
    fn no_data_makes_a_template_panic(data in any_json(), input in any_json()) {
        if let Ok(template) = Template::parse(&data.into()) {
            let input = Value::from(input);
            let values = |root: &str| (root == "input").then(|| input.clone());
            let written = Template::parse(&template.to_value()).expect("what is written can be read");
            let filled = |template: Template| template.fill(&values, MAX).map(|value| value.map(|value| value.to_json()));
            prop_assert_eq!(filled(template), filled(written));
        }
    }

    /// A template that was made becomes what a naive reading of it says, before and after it was written.
    #[test]
    fn a_template_means_the_same_after_it_was_written(
        template in any_template(),
        input in any_json(),
        fetch in any_json(),
    ) {
        let values: BTreeMap<&str, Json> = [("input", input), ("fetch", fetch)].into();
        let given = |root: &str| values.get(root).map(|value| value.clone().into());
        let read = Template::parse(&template.to_value()).expect("what is written can be read");
        let (one, other) = (template.fill(&given, MAX), read.fill(&given, MAX));
        let as_json = |filled: Result<Option<Value>, FillError>| filled.map(|value| value.map(|value| value.to_json()));
        let (one, other) = (as_json(one), as_json(other));
        match expected(&template, &values) {
            Ok(expected) => {
                prop_assert_eq!(one, Ok(expected.clone()));
                prop_assert_eq!(other, Ok(expected));
            }
            // Which of several is named is not said.
            Err(_) => prop_assert!(
                matches!(one, Err(FillError::Missing(_))) && matches!(other, Err(FillError::Missing(_)))
            ),
        }
    }
}
