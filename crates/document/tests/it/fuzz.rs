//! Random refs, templates, schemas and whole documents: whatever they are, they mean what they say, or are refused where they are
//! wrong. `RIVAL_DOCUMENT_TIMES=10` tries ten times as many.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rival_core::Plan;
use rival_document::{DOCUMENT_DEPTH_MAX, DocumentRef, PathSegment, RefText, TextPiece};
use rival_engine::template::Template;
use serde_json::{Map, Value, json};

use crate::fakes::FakeWorld;
use crate::published::full;
use crate::random::any_json;

/// How many of each are tried.
pub(crate) fn cases() -> ProptestConfig {
    let times = std::env::var("RIVAL_DOCUMENT_TIMES").ok().and_then(|it| it.parse().ok()).unwrap_or(1);
    ProptestConfig { cases: 256 * times, failure_persistence: None, ..ProptestConfig::default() }
}

/// Texts in which refs, places and escapes are frequent.
fn ref_like() -> impl Strategy<Value = String> {
    let words = [
        "@",
        "@@",
        "@{",
        "@@{",
        "}",
        "{",
        "[",
        "]",
        ".",
        "'",
        "\"",
        "input",
        "item",
        "output",
        "0",
        "007",
        "ä",
        "😀",
        "__proto__",
        "\u{202e}",
        "\u{0}",
        " ",
    ];
    let word = prop_oneof![4 => prop::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => "[a-z0-9_.@{}-]{0,6}"];
    prop::collection::vec(word, 0..14).prop_map(|words| words.concat())
}

/// What was read of a text is in it, where it says.
fn is_read_from(reference: &DocumentRef, text: &str) {
    assert!(text[reference.at..].starts_with(&reference.written), "{reference:?} in {text:?}");
    assert!(!reference.root.is_empty() && reference.written.starts_with('@'));
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_-]{1,5}",
        Just("__proto__".to_owned()),
        Just("constructor".to_owned()),
        Just("007".to_owned()),
        Just("$".to_owned()),
        Just("größe 名前".to_owned()),
        "[ .@{}\\[\\]'a0]{0,6}",
    ]
}

fn segment() -> impl Strategy<Value = PathSegment> {
    prop_oneof![key().prop_map(PathSegment::Key), (0_usize..4).prop_map(PathSegment::Index)]
}

/// A path as a ref writes it, with keys in whatever quotes they allow.
fn written_path(path: &[PathSegment]) -> String {
    let part = |segment: &PathSegment| match segment {
        PathSegment::Index(index) => format!("[{index}]"),
        PathSegment::Key(key) if key.contains('\'') => format!("[\"{key}\"]"),
        PathSegment::Key(key) => format!("['{key}']"),
        PathSegment::AnyKey | PathSegment::AnyIndex => unreachable!("refs have neither"),
    };
    path.iter().map(part).collect()
}

/// What a part of a template means.
#[derive(Clone, Debug)]
enum Meaning {
    Scalar(Value),
    Literal(String),
    Ref(&'static str, Vec<PathSegment>),
    Text(Vec<(String, &'static str, Vec<PathSegment>)>, String),
    List(Vec<Meaning>),
    Object(BTreeMap<String, Meaning>),
}

fn meaning() -> impl Strategy<Value = Meaning> {
    let root = || prop::sample::select(vec!["input", "first", "item"]);
    let path = || prop::collection::vec(segment(), 0..3);
    // A `@` right before a place would be its escape.
    let words = || ref_like().prop_map(|words| words.trim_end_matches('@').to_owned());
    let place = (words(), root(), path());
    let leaf = prop_oneof![
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from)
        ]
        .prop_map(Meaning::Scalar),
        ref_like().prop_map(Meaning::Literal),
        (root(), path()).prop_map(|(root, path)| Meaning::Ref(root, path)),
        (prop::collection::vec(place, 1..3), words()).prop_map(|(places, end)| Meaning::Text(places, end)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![4 => key(), 1 => prop::sample::select(vec!["$".to_owned(), "$text".to_owned(), "$quote".to_owned()])];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Meaning::List),
            prop::collection::btree_map(key, inner, 0..4).prop_map(Meaning::Object),
        ]
    })
}

/// A text that means itself.
fn escaped(text: &str) -> String {
    let inside = text.replace("@{", "@@{");
    if text.starts_with('@') && !text.starts_with("@{") { format!("@{inside}") } else { inside }
}

fn written_root(root: &str) -> String {
    if root == "first" { "first.output".to_owned() } else { root.to_owned() }
}

impl Meaning {
    /// As an author writes it.
    fn written(&self) -> Value {
        match self {
            Meaning::Scalar(value) => value.clone(),
            Meaning::Literal(text) => json!(escaped(text)),
            Meaning::Ref(root, path) => json!(format!("@{}{}", written_root(root), written_path(path))),
            Meaning::Text(places, end) => {
                let mut text = String::new();
                for (words, root, path) in places {
                    let words = if text.is_empty() { escaped(words) } else { words.replace("@{", "@@{") };
                    text += &format!("{words}@{{{}{}}}", written_root(root), written_path(path));
                }
                json!(text + &end.replace("@{", "@@{"))
            }
            Meaning::List(items) => items.iter().map(Meaning::written).collect(),
            Meaning::Object(fields) => {
                fields.iter().map(|(key, field)| (key.clone(), field.written())).collect::<Map<_, _>>().into()
            }
        }
    }

    /// What it becomes; none if a value is not there.
    fn value(&self, roots: &BTreeMap<&str, Value>) -> Option<Value> {
        match self {
            Meaning::Scalar(value) => Some(value.clone()),
            Meaning::Literal(text) => Some(json!(text)),
            Meaning::Ref(root, path) => found(&roots[root], path).cloned(),
            Meaning::Text(places, end) => {
                let mut text = String::new();
                for (words, root, path) in places {
                    text += words;
                    match found(&roots[root], path)? {
                        Value::String(words) => text += words,
                        other => text += &other.to_string(),
                    }
                }
                Some(json!(text + end))
            }
            Meaning::List(items) => items.iter().map(|item| item.value(roots)).collect(),
            Meaning::Object(fields) => {
                let fields = fields.iter().map(|(key, field)| Some((key.clone(), field.value(roots)?)));
                Some(Value::Object(fields.collect::<Option<Map<_, _>>>()?))
            }
        }
    }
}

fn found<'v>(value: &'v Value, path: &[PathSegment]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, segment| match segment {
        // A number is the key of an object, too.
        PathSegment::Index(index) => value.get(index).or_else(|| value.get(index.to_string())),
        PathSegment::Key(key) => value.get(key),
        PathSegment::AnyKey | PathSegment::AnyIndex => None,
    })
}

/// Values in which the paths of refs often lead somewhere.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(null)), Just(json!("x @{input}")), any::<i16>().prop_map(Value::from)];
    leaf.prop_recursive(3, 20, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// A document whose second step is given this.
fn document(input: &Value) -> Value {
    let tool = json!({ "connectionId": "c", "toolName": "t" });
    json!({ "name": "d", "steps": [
        [{ "name": "first", "tool": tool }],
        [{ "name": "second", "tool": tool, "forEach": "@input.list", "input": { "x": input } }]
    ] })
}

/// JSON that looks like a schema, with refs that may lead anywhere.
fn schema() -> impl Strategy<Value = Value> {
    let target = prop_oneof![
        Just("#".to_owned()),
        Just("#/$defs/a".to_owned()),
        Just("#/properties/a/items".to_owned()),
        Just("https://elsewhere.example/x.json".to_owned()),
        "#[/a-z0-9~%$]{0,12}",
    ];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::sample::select(vec!["string", "number", "object", "array", "null", "nothing"])
            .prop_map(|kind| json!({ "type": kind })),
        target.prop_map(|target| json!({ "$ref": target })),
        "[\\[\\](){}+*?|a-z\\\\^$.0-9]{0,10}"
            .prop_map(|pattern| json!({ "type": "string", "pattern": pattern })),
        any::<i64>().prop_map(|bound| json!({ "minLength": bound, "maximum": bound, "maxItems": bound })),
        any_json(),
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        let keyword = prop::sample::select(vec!["items", "not", "additionalProperties", "if", "then", "contains", "propertyNames"]);
        let lists = prop::sample::select(vec!["anyOf", "allOf", "oneOf", "prefixItems"]);
        let maps = prop::sample::select(vec!["properties", "$defs", "patternProperties", "dependentSchemas"]);
        prop_oneof![
            (keyword, inner.clone()).prop_map(|(keyword, schema)| json!({ keyword: schema })),
            (lists, prop::collection::vec(inner.clone(), 0..4)).prop_map(|(keyword, schemas)| json!({ keyword: schemas })),
            (maps, prop::collection::btree_map("[a-c]", inner.clone(), 0..4), inner)
                .prop_map(|(keyword, schemas, other)| json!({ keyword: schemas, "required": ["a"], "$defs": { "a": other } })),
        ]
    })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn refs_are_read_from_where_they_say(text in prop_oneof![ref_like(), any::<String>()]) {
        match RefText::parse(&text) {
            Ok(RefText::Literal(literal)) => prop_assert!(literal.len() <= text.len()),
            Ok(RefText::Ref(reference)) => {
                is_read_from(&reference, &text);
                prop_assert_eq!(&reference.written, &text);
            }
            Ok(RefText::Text(pieces)) => {
                let refs = pieces.iter().filter_map(|piece| match piece {
                    TextPiece::Ref(reference) => Some(reference),
                    TextPiece::Words(_) => None,
                });
                refs.clone().for_each(|reference| is_read_from(reference, &text));
                prop_assert!(refs.map(|reference| reference.at).is_sorted());
            }
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                for error in errors {
                    prop_assert!(text.is_char_boundary(error.at), "{error:?}");
                    prop_assert!(error.message.len() < 400 && error.written.len() < 400);
                }
            }
        }
    }

    #[test]
    fn a_path_is_read_as_it_was_written(root in "[a-zä_-][a-z0-9_-]{0,8}", path in prop::collection::vec(segment(), 0..6)) {
        // A key that has both kinds of quotes cannot be written.
        let text = format!("@{root}{}", written_path(&path));
        match RefText::parse(&text) {
            Ok(RefText::Ref(reference)) => prop_assert_eq!((reference.root, reference.path), (root, path)),
            other => prop_assert!(false, "{text}: {other:?}"),
        }
    }

    #[test]
    fn a_text_can_be_escaped(text in prop_oneof![ref_like(), any::<String>()]) {
        prop_assert_eq!(RefText::parse(&escaped(&text)), Ok(RefText::Literal(text)));
    }

    /// What the engine makes of a checked template is what its author meant.
    #[test]
    fn templates_become_what_they_mean(meaning in meaning(), input in values(), first in values(), item in values()) {
        let written = meaning.written();
        let world = FakeWorld::default().tool("c", "t", json!({}), Value::Null);
        let check = world.check_json(&document(&written));
        let Some(checked) = check.document else { return Err(TestCaseError::fail(format!("{written}: {:?}", check.errors))) };
        let action = serde_json::to_value(&checked.phases[1][0].action).unwrap();
        let template = Template::parse(&action["tool"]["input"].clone().into()).unwrap();
        let roots = BTreeMap::from([("input", input), ("first", first), ("item", item)]);
        let values = |root: &str| roots.get(root).map(|value| rival_core::Value::from(value.clone()));
        let filled = template.fill(&values, 1 << 20);
        match meaning.value(&roots) {
            Some(value) => prop_assert_eq!(filled.unwrap().unwrap().to_json(), json!({ "x": value })),
            None => prop_assert!(filled.is_err(), "{written} {filled:?}"),
        }
    }

    /// What cannot be read as a schema is told, and what goes round in circles comes to an end.
    #[test]
    fn schemas_of_any_shape(ours in schema(), theirs in schema(), given in schema()) {
        let world = FakeWorld::default().tool("c", "t", theirs.clone(), given).workflow("w", theirs, &["d", "w"]);
        let mut document = full();
        document["inputSchema"] = ours.clone();
        document["steps"][1][1]["waitForSignal"]["schema"] = ours;
        document["steps"][1][1]["onError"] = json!("continue");
        document["steps"][2] = json!([{ "name": "z", "tool": { "connectionId": "c", "toolName": "t" },
            "forEach": "@a.output", "input": { "a": "@item.a", "b": "@d.output.a[0]", "c": ["@input.a", "x @{input.b}"] } }]);
        let check = world.check_json(&document);
        prop_assert_eq!(check.document.is_some(), check.errors.is_empty());
        if let Some(document) = check.document {
            is_a_sound_plan(&document.plan().unwrap());
        }
    }

    #[test]
    fn values_that_nest_deep(depth in 0..2 * DOCUMENT_DEPTH_MAX, list in any::<bool>()) {
        let (open, close) = if list { ("[", "]") } else { ("{\"a\":", "}") };
        let value = format!("{}\"@input\"{}", open.repeat(depth), close.repeat(depth));
        let text = document(&json!("here")).to_string().replace("\"here\"", &value);
        let check = FakeWorld::default().tool("c", "t", json!({}), Value::Null).check(&text);
        // The document, its steps, their phase, the step and its input are levels, too.
        prop_assert_eq!(check.errors.is_empty(), depth + 5 <= DOCUMENT_DEPTH_MAX, "{:?}", check.errors);
    }
}

/// A plan that an engine accepts, and reads again from its store.
pub(crate) fn is_a_sound_plan(plan: &Plan) {
    assert_eq!(plan.check(), []);
    assert_eq!(&Plan::from_json(&plan.to_json()).unwrap(), plan);
}
