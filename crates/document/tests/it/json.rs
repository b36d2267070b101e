//! JSON with places.

use rival_document::{JsonFault, PlacedJson};

fn faults(text: &str) -> Vec<String> {
    PlacedJson::read(text).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn every_value_knows_its_place() {
    let json =
        PlacedJson::read("{\n  \"a\": [1, {\"b/c\": \"é😀\", \"d\": true}],\n\t\"e\": null }").unwrap();
    let place = |pointer: &str| json.find(pointer).map(|value| value.place.to_string());
    assert_eq!(place("").as_deref(), Some("1:1"));
    assert_eq!(place("/a").as_deref(), Some("2:8"));
    assert_eq!(place("/a/0").as_deref(), Some("2:9"));
    assert_eq!(place("/a/1/b~1c").as_deref(), Some("2:20"));
    // Columns are counted as editors do: the last sign before it is two of them.
    assert_eq!(place("/a/1/d").as_deref(), Some("2:32"));
    assert_eq!(place("/e").as_deref(), Some("3:7"));
    assert_eq!(place("/a/2"), None);
    assert_eq!(place("/a/1/d/x"), None);
}

#[test]
fn what_is_read_is_what_another_reader_reads() {
    let texts = [
        r#"{"a": [1, -2.5, 1e3, 0, true, false, null, "\u00e9\n\"\\\ud83d\ude00"], "": {}, "b": []}"#,
        "[]",
        "\"x\"",
        " 12 ",
        "\u{feff}{}",
        "18446744073709551615",
    ];
    for text in texts {
        let other: serde_json::Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        assert_eq!(PlacedJson::read(text).unwrap().to_value(), other);
    }
}

#[test]
fn what_is_no_json_is_refused_where_it_is() {
    assert_eq!(faults(""), ["1:1: expected a value, found the end of the text"]);
    assert_eq!(faults("{\"a\": 1,}"), ["1:9: expected a key in quotes, found `}`"]);
    assert_eq!(faults("[1\n 2]"), ["2:2: expected `,` or `]`, found `2`"]);
    assert_eq!(faults("{} x"), ["1:4: expected the end of the document, found `x`"]);
    assert_eq!(faults("[01]"), ["1:2: `01` is no number that can be kept"]);
    assert_eq!(faults("[1e999]"), ["1:2: `1e999` is no number that can be kept"]);
    assert_eq!(faults("[\"a\\q\"]"), ["1:2: a text with an escape that is none"]);
    assert_eq!(faults("[\"\\ud800\"]"), ["1:2: a text with an escape that is none"]);
    assert_eq!(faults("[\"abc"), ["1:2: a text that does not end"]);
    assert!(faults("\"a\nb\"")[0].starts_with("1:3: a text has no line breaks"));
    assert!(faults("nul")[0].starts_with("1:1: expected a value"));
}

#[test]
fn all_keys_that_are_there_twice_are_named() {
    let text = "{\"a\": {\"b\": 1, \"\\u0062\": 2},\n \"c\": 1, \"c\": 2, \"c\": 3}";
    assert_eq!(
        faults(text),
        [
            "1:16: the key `b` is there twice",
            "2:10: the key `c` is there twice",
            "2:18: the key `c` is there twice"
        ]
    );
}

#[test]
fn size_and_depth_are_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(PlacedJson::read(&nested(rival_document::DOCUMENT_DEPTH_MAX)).is_ok());
    for depth in [rival_document::DOCUMENT_DEPTH_MAX + 1, 1_000_000] {
        let errors = PlacedJson::read(&nested(depth)).unwrap_err();
        assert_eq!(errors[0].fault, JsonFault::TooDeep);
    }
    let long = format!("\"{}\"", "x".repeat(rival_document::DOCUMENT_BYTES_MAX));
    assert!(matches!(PlacedJson::read(&long).unwrap_err()[0].fault, JsonFault::TooLong(_)));
}
