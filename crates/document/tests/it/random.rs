//! Whatever the text is, it is checked to the end.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fakes::FakeWorld;

fn world() -> FakeWorld {
    FakeWorld::default().tool(
        "c",
        "t",
        json!({}),
        json!({ "type": "object", "properties": { "x": { "type": "string" } } }),
    )
}

pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        Just("@input.x".to_owned()),
        Just("@a.output[0]".to_owned()),
        Just("x @{item} y".to_owned()),
        Just("@@{".to_owned()),
        Just("c".to_owned()),
        Just("t".to_owned()),
        Just("continue".to_owned()),
        "[@{}.\\[\\]a-c'0-9 é\\\\\"]{0,12}",
        any::<String>()
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0..5_u8).prop_map(Value::from),
        words.prop_map(Value::from)
    ];
    let keys = prop_oneof![
        Just("name".to_owned()),
        Just("steps".to_owned()),
        Just("tool".to_owned()),
        Just("input".to_owned()),
        Just("$".to_owned()),
        Just("forEach".to_owned()),
        Just("type".to_owned()),
        Just("properties".to_owned()),
        "[a-z_]{0,6}"
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect()))
        ]
    })
}

/// All places of a value.
fn pointers(value: &Value, at: &str, into: &mut Vec<String>) {
    into.push(at.to_owned());
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            pointers(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), into);
        }),
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, value)| pointers(value, &format!("{at}/{index}"), into));
        }
        _ => {}
    }
}

/// A document that can be run has nothing in it that stands for an error.
fn is_sound(text: &str) {
    let check = world().check(text);
    assert_eq!(check.document.is_some(), check.errors.is_empty());
    for problem in check.errors.iter().chain(&check.warnings) {
        let lines: Vec<&str> = text.split('\n').collect();
        let line = lines.get(problem.place.line as usize - 1).unwrap_or_else(|| panic!("{problem}"));
        assert!(problem.place.column as usize <= line.encode_utf16().count() + 1, "{problem}");
        // Messages go to terminals, and are read by people.
        assert!(problem.message.len() < 4_000 && !problem.message.contains('\u{1b}'), "{problem}");
    }
    if let Some(document) = check.document {
        crate::fuzz::is_a_sound_plan(&document.plan().unwrap());
    }
}

proptest! {
    #![proptest_config(crate::fuzz::cases())]

    #[test]
    fn any_text(text in any::<String>()) {
        is_sound(&text);
    }

    #[test]
    fn text_like_json(text in "[\\[\\]{}:,\"\\\\a@ \n0-9.eu-]{0,40}") {
        is_sound(&text);
        let read: Result<Value, _> = serde_json::from_str(&text);
        if let Ok(ours) = rival_document::PlacedJson::read(&text) {
            prop_assert_eq!(ours.to_value(), read.unwrap());
        }
    }

    #[test]
    fn any_json_in_a_document(value in any_json()) {
        is_sound(&value.to_string());
        let mut document = crate::published::full();
        document["steps"][0][0]["input"] = value;
        is_sound(&serde_json::to_string_pretty(&document).unwrap());
    }

    #[test]
    fn documents_with_something_changed(changes in prop::collection::vec((any::<prop::sample::Index>(), any_json()), 1..4)) {
        let mut document = crate::published::full();
        for (index, value) in changes {
            let mut places = Vec::new();
            pointers(&document, "", &mut places);
            *document.pointer_mut(&places[index.index(places.len())]).unwrap() = value;
        }
        let text = serde_json::to_string_pretty(&document).unwrap();
        is_sound(&text);
        if !crate::published::validator().is_valid(&document) {
            prop_assert!(!world().check(&text).errors.is_empty(), "{text}");
        }
    }

    #[test]
    fn documents_with_bytes_changed(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..4)) {
        let mut text: Vec<char> = crate::published::full().to_string().chars().collect();
        for (index, c) in changes {
            let at = index.index(text.len());
            text[at] = c;
        }
        is_sound(&text.into_iter().collect::<String>());
    }
}
