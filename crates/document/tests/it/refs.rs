//! The grammar of refs, and what becomes of them.

use rival_document::{RefText, TextPiece};
use serde_json::{Value, json};

use crate::fakes::{FakeWorld, object, shown};

/// A text as refs divide it, short: refs are in angle brackets.
fn divided(text: &str) -> String {
    let reference = |it: &rival_document::DocumentRef| {
        let path: Vec<String> = it
            .path
            .iter()
            .map(|segment| match segment {
                rival_document::PathSegment::Key(key) => format!("/{key}"),
                other => format!("#{}", rival_document::path_text(std::slice::from_ref(other))),
            })
            .collect();
        format!("<{}{}>", it.root, path.concat())
    };
    match RefText::parse(text) {
        Ok(RefText::Literal(text)) => text,
        Ok(RefText::Ref(it)) => reference(&it),
        Ok(RefText::Text(pieces)) => {
            let piece = |piece: &TextPiece| match piece {
                TextPiece::Words(words) => words.clone(),
                TextPiece::Ref(it) => reference(it),
            };
            format!("text:{}", pieces.iter().map(piece).collect::<String>())
        }
        Err(errors) => errors.iter().map(|error| format!("{}: {error}; ", error.at)).collect(),
    }
}

#[test]
fn texts_are_divided_by_their_refs() {
    let cases = [
        ("", ""),
        ("plain", "plain"),
        ("@input", "<input>"),
        ("@input.a.b", "<input/a/b>"),
        ("@fetch-all_2.output.users[0].name", "<fetch-all_2/output/users#[0]/name>"),
        ("@a.output.0.b", "<a/output#[0]/b>"),
        ("@a.output.007", "<a/output/007>"),
        ("@a.output.99999999999", "<a/output/99999999999>"),
        ("@a.output['a key'][\"x.y\"].$id", "<a/output/a key/x.y/$id>"),
        ("@größe.output.名前", "<größe/output/名前>"),
        ("@inputData.output", "<inputData/output>"),
        ("@a.output.__proto__.constructor", "<a/output/__proto__/constructor>"),
        // Only braces make a ref inside of a text.
        ("a@b.example", "a@b.example"),
        ("mail to a@b.example, @input", "mail to a@b.example, @input"),
        ("Hello @{input.name}!", "text:Hello <input/name>!"),
        ("@{input.name}", "text:<input/name>"),
        ("@{item}@{index}", "text:<item><index>"),
        // Escapes.
        ("@@", "@"),
        ("@@input", "@input"),
        ("@@@", "@@"),
        ("a@@b", "a@@b"),
        ("@@{input}", "@{input}"),
        ("a @@{input} @{input}", "text:a @{input} <input>"),
        ("@@x @{input}", "text:@x <input>"),
    ];
    for (text, expected) in cases {
        assert_eq!(divided(text), expected, "{text}");
    }
}

#[test]
fn what_begins_as_a_ref_and_is_none_is_wrong_where_it_ends() {
    let cases = [
        ("@", "1: a ref begins with `input`, `item` or the name of a step, and here is the end"),
        ("@ x", "1: a ref begins with"),
        ("@input.", "7: a name is missing: here is the end"),
        ("@input..a", "7: a name is missing: here is `.`"),
        ("@input[x]", "7: brackets have a whole number in them"),
        ("@input[0", "8: a bracket ends with `]`, and here is the end"),
        ("@input['a]", "10: a key in quotes ends with `'`"),
        ("@input.a and more", "8: a ref cannot have ` ` here; inside of a text write `@{…}`"),
        ("@alice, hello", "6: a ref cannot have `,` here"),
        ("x @{input", "9: a ref in a text ends with `}`, and here is the end"),
        ("x @{} y @{input.} @{input}", "4: a ref begins with"),
    ];
    for (text, expected) in cases {
        let found = divided(text);
        assert!(found.starts_with(expected), "{text}: {found}");
    }
    assert_eq!(RefText::parse("x @{} y @{input.} @{input}").unwrap_err().len(), 2);
    assert!(RefText::parse(&format!("@input{}", ".a".repeat(101))).is_err());
    assert!(RefText::parse(&format!("@{}", "a".repeat(600))).is_err());
}

fn world() -> FakeWorld {
    FakeWorld::default().tool("c", "t", json!({ "type": "object" }), json!({ "type": "object" }))
}

fn template(input: Value) -> Value {
    let tool = json!({ "connectionId": "c", "toolName": "t" });
    let document = json!({ "name": "d", "inputSchema": object(json!({ "a": {}, "list": {} })), "steps": [
        [{ "name": "first", "tool": tool }],
        [{ "name": "second", "tool": tool, "forEach": "@input.list", "as": "user", "input": input }]
    ] });
    let check = world().check_json(&document);
    let document = check.document.unwrap_or_else(|| panic!("{:?}", check.errors));
    assert_eq!(document.phases[1][0].for_each.as_ref().unwrap().items, json!({ "$": ["input", "list"] }));
    let action = serde_json::to_value(&document.phases[1][0].action).unwrap();
    action["tool"]["input"].clone()
}

#[test]
fn refs_become_data() {
    let input = json!({
        "whole": "@first.output", "deep": ["@first.output.a[0]['b c'].1", { "x": "@item.name", "y": "@user", "n": "@index" }],
        "text": "Hello @{user.name}, number @{index} of a@b.example", "at": "@@input", "number": 1.5, "none": null
    });
    let expected = json!({
        "whole": { "$": ["first"] },
        "deep": [{ "$": ["first", "a", 0, "b c", 1] },
                 { "x": { "$": ["item", "name"] }, "y": { "$": ["item"] }, "n": { "$": ["index"] } }],
        "text": { "$text": ["Hello ", { "$": ["item", "name"] }, ", number ", { "$": ["index"] }, " of a@b.example"] },
        "at": "@input", "number": 1.5, "none": null
    });
    assert_eq!(template(input), expected);
}

#[test]
fn keys_that_mean_something_in_templates_are_quoted() {
    let input = json!({ "a": { "$": ["input"], "b": "@input.a" }, "c": [{ "$quote": 1 }], "d": { "$text": {"$": 2} }, "@input": 1 });
    let expected = json!({
        "a": { "$quote": { "$": ["input"], "b": { "$": ["input", "a"] } } },
        "c": [{ "$quote": { "$quote": 1 } }],
        "d": { "$quote": { "$text": { "$quote": { "$": 2 } } } },
        "@input": 1
    });
    assert_eq!(template(input), expected);
}

#[test]
fn refs_to_what_is_not_there_name_what_is() {
    let tool = json!({ "connectionId": "c", "toolName": "t" });
    let document = json!({ "name": "d", "steps": [
        [{ "name": "fetch", "tool": tool, "input": { "a": "@fetch.output", "b": "@item", "c": "@index", "d": "@output.x" } },
         { "name": "beside", "tool": tool, "input": { "a": "@fetch.output", "b": "@later.output" } }],
        [{ "name": "later", "tool": tool, "forEach": "@fetch.output.x", "as": "user",
           "input": { "a": "@fecth.output", "b": ["x @{usr.name} y @{fetch} z"], "c": "@unlike.output", "d": "@index.x", "e": "@input.\u{e9}\\\" x" } }]
    ] });
    let check = world().check_json(&document);
    expect_test::expect![[r#"
        error missing_ref a 12:17: step `fetch`: step `fetch` is in the same phase, and a step sees earlier phases only; available: none
        error missing_ref b 13:17: step `fetch`: `@item` is there only in a forEach
        error missing_ref c 14:17: step `fetch`: `@index` is there only in a forEach
        error missing_ref d 15:17: step `fetch`: `@output` is the output of the workflow, for triggers; a step's is `@name.output`
        error missing_ref a 25:17: step `beside`: step `fetch` is in the same phase, and a step sees earlier phases only; available: none
        error missing_ref b 26:17: step `beside`: step `later` is in a later phase, and a step sees earlier phases only; available: none
        error missing_ref a 40:17: step `later`: step `fecth` is not found in previous phases; did you mean `fetch`?
        error missing_ref b[0] 42:16: step `later`: step `usr` is not found in previous phases; did you mean `user`?
        error missing_ref b[0] 42:30: step `later`: what a step gave is its `output`: `@fetch.output`
        error missing_ref c 44:17: step `later`: step `unlike` is not found in previous phases; available: `fetch`, `beside`
        error missing_ref d 45:17: step `later`: `@index` is a number: there is nothing inside of it
        error invalid_ref e 46:27: step `later`: a ref cannot have `\"` here; inside of a text write `@{…}`, and for a text that begins with `@` write `@@`
        warning unproven forEach 37:21: step `later`: `@fetch.output.x` cannot be checked: the properties of the value are not declared
    "#]].assert_eq(&shown(&check));
}

#[test]
fn places_count_escapes_as_they_are_written() {
    let text = r#"{ "name": "d", "steps": [[{ "name": "s", "tool": { "connectionId": "c", "toolName": "t" },
      "input": { "a": "\ud83d\ude00\u00e9\n😀é\" @{x.output}@{y.output}", "b": "\u0040z.output" } }]] }"#;
    let places: Vec<String> =
        world().check(text).errors.iter().map(|problem| problem.place.to_string()).collect();
    let column = |of: &str| text.lines().nth(1).unwrap().split(of).next().unwrap().encode_utf16().count() + 1;
    let expected = ["@{x", "@{y", "\\u0040"].map(|of| format!("2:{}", column(of)));
    assert_eq!(places, expected);
}
