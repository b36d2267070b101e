//! Documents that mean no good.

use rival_document::{
    CheckContext, ToolCatalog, ToolLookup, TransformProblem, TransformReader, TransformSchemas,
    TypescriptTransforms, WorkflowCatalog, WorkflowLookup, check_document,
};
use serde_json::{Value, json};

use crate::fakes::{FakeWorld, object, shown, text};

fn world() -> FakeWorld {
    FakeWorld::default().tool("c", "t", object(json!({ "a?": text() })), object(json!({ "a": text() })))
}

fn tool(name: &str, input: Value) -> Value {
    json!({ "name": name, "tool": { "connectionId": "c", "toolName": "t" }, "input": input })
}

#[test]
fn a_thousand_steps() {
    let chain: Vec<Value> = (0..1_000)
        .map(|n| {
            let before = format!("@s{}.output.a", n - 1);
            json!([tool(&format!("s{n}"), if n == 0 { json!({}) } else { json!({ "a": before }) })])
        })
        .collect();
    let check = world().check_json(&json!({ "name": "d", "steps": chain }));
    assert_eq!(shown(&check), "");
    let beside: Vec<Value> =
        (0..1_000).map(|n| tool(&format!("t{n}"), json!({ "a": "x @{s.output.a}" }))).collect();
    let check = world().check_json(&json!({ "name": "d", "steps": [[tool("s", json!({}))], beside] }));
    assert_eq!(shown(&check), "");
}

#[test]
fn a_thousand_transforms() {
    let steps: Vec<Value> = (0..1_000)
        .map(|n| {
            let source = format!("interface Input {{ a: string }}\ninterface Output {{ n{n}: string }}\nexport default (input: Input): Output => ({{ n{n}: input.a }})");
            json!({ "name": format!("t{n}"), "transform": source, "input": { "a": "@s.output.a" } })
        })
        .collect();
    let check = world().check_json(&json!({ "name": "d", "steps": [[tool("s", json!({}))], steps] }));
    assert_eq!(shown(&check), "");
}

#[test]
fn ten_thousand_refs_right_and_wrong() {
    let right = vec!["@input.a"; 10_000];
    let wrong: Vec<String> = (0..10_000).map(|n| format!("@step{n}.output")).collect();
    let paths: Vec<String> = (0..10_000).map(|n| format!("@s.output.a{n}")).collect();
    let long = "@{nothing.output} ".repeat(10_000);
    let check = world().check_json(&json!({ "name": "d", "inputSchema": object(json!({ "a": text() })), "steps": [
        [tool("s", json!({}))],
        [tool("b", json!({ "x": right })), tool("c", json!({ "x": wrong })), tool("e", json!({ "x": paths })), tool("f", json!({ "x": long }))]
    ] }));
    assert_eq!(check.errors.len(), 1_000);
    assert!(check.left_out > 25_000, "{}", check.left_out);
    assert!(check.errors.iter().all(|problem| problem.place.line > 1));
}

#[test]
fn a_wide_type_fed_field_by_field() {
    let fields: Vec<String> = (0..3_000).map(|n| format!("f{n}: string")).collect();
    let source = format!(
        "interface Input {{ {} }}\ninterface Output {{ a: string }}\nexport default (input: Input): Output => ({{ a: '' }})",
        fields.join("; ")
    );
    let input: serde_json::Map<String, Value> =
        (0..3_000).map(|n| (format!("f{n}"), json!("@s.output.a"))).collect();
    let document = json!({ "name": "d", "steps": [
        [tool("s", json!({}))], [{ "name": "t", "transform": source, "input": input }]
    ] });
    let check = world().check_json(&document);
    assert!(check.errors.is_empty(), "{:?}", check.errors.first());
}

#[test]
fn names_that_mean_something_elsewhere() {
    let document = json!({ "name": "constructor", "steps": [
        [tool("__proto__", json!({})), tool("constructor", json!({ "__proto__": 1 })), tool("toString", json!({}))],
        [tool("a", json!({ "a": "@__proto__.output.a" })), tool("b", json!({ "a": "@constructor.output.__proto__" })),
         tool("c", json!({ "a": "@prototype.output" }))]
    ] });
    expect_test::expect![[r#"
        error missing_ref a 50:17: step `b`: `@constructor.output.__proto__` leads to nothing: the value declares no property `__proto__`
        error missing_ref a 60:17: step `c`: step `prototype` is not found in previous phases; available: `__proto__`, `constructor`, `toString`
        warning unknown_field __proto__ 20:11: step `constructor`: `__proto__` is not a field that is expected: the value declares no property `__proto__`
    "#]].assert_eq(&shown(&world().check_json(&document)));
}

#[test]
fn names_in_other_scripts() {
    let document = json!({ "name": "заказ", "steps": [
        [tool("получить-данные", json!({})), tool("データ取得", json!({})), tool("größe", json!({}))],
        [tool("a", json!({ "a": "@получить-данные.output.a" })), tool("b", json!({ "a": "@{データ取得.output.a}, @{größe.output.a}" })),
         tool("c", json!({ "a": "😀 @{größa.output.a}" })), tool("x\u{202e}y", json!({})), tool("\u{200b}", json!({}))]
    ] });
    expect_test::expect![[r#"
        error missing_ref a 58:20: step `c`: step `größa` is not found in previous phases; did you mean `größe`?
        error invalid_document name 62:17: step `x\u{202e}y`: `x\u{202e}y` is not a name for a step: use 1 to 128 letters, digits, `_` or `-`
        error invalid_document name 70:17: step `\u{200b}`: `\u{200b}` is not a name for a step: use 1 to 128 letters, digits, `_` or `-`
    "#]].assert_eq(&shown(&world().check_json(&document)));
}

#[test]
fn schemas_that_go_round_in_circles() {
    let input = json!({
        "$defs": { "n": { "type": "object", "properties": { "next": { "$ref": "#/$defs/n" }, "a": { "type": "string" } } } },
        "$ref": "#/$defs/n"
    });
    let far = format!("@input{}.a", ".next".repeat(90));
    let document = json!({ "name": "d", "inputSchema": input, "steps": [[tool("s", json!({ "a": far }))]] });
    assert_eq!(shown(&world().check_json(&document)), "");
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "anyOf": [{ "$ref": "#" }, { "not": { "$ref": "#" } }] }),
    ] {
        let document =
            json!({ "name": "d", "inputSchema": schema, "steps": [[tool("s", json!({ "a": "@input.x" }))]] });
        let check = world().check_json(&document);
        assert!(check.errors.len() + check.warnings.len() > 0, "{schema}");
    }
}

#[test]
fn a_literal_as_large_as_a_document() {
    let world = || {
        let numbers = json!({ "type": "array", "items": { "type": "number" } });
        FakeWorld::default().tool("c", "t", object(json!({ "a?": numbers, "b?": {} })), Value::Null)
    };
    let count = rival_document::DOCUMENT_BYTES_MAX / 2 - 200;
    for field in ["a", "b"] {
        let list = "1,".repeat(count);
        let text = format!(
            r#"{{"name":"d","steps":[[{{"name":"s","tool":{{"connectionId":"c","toolName":"t"}},"input":{{"{field}":[{list}1]}}}}]]}}"#
        );
        let check = world().check(&text);
        assert!(check.errors.is_empty(), "{:?}", check.errors.first());
        assert!(check.document.is_some());
        // Not all of it was looked at, and that is said.
        assert!(check.warnings.iter().any(|problem| problem.message.contains("too large")), "{field}");
    }
}

/// Each is refused, and told where.
#[test]
fn hostile_texts_are_told_their_place() {
    let around = |step: &str| {
        format!(
            "{{ \"name\": \"d\", \"steps\": [[\n{{ \"name\": \"s\", \"tool\": {{ \"connectionId\": \"c\", \"toolName\": \"t\" }}, {step} }}\n]] }}"
        )
    };
    let deep = |levels: usize| format!(r#""input": {}1{}"#, r#"{"a":"#.repeat(levels), "}".repeat(levels));
    let huge = "x".repeat(rival_document::DOCUMENT_BYTES_MAX);
    let cases = [
        ("too long", around(&format!(r#""input": {{ "a": "{huge}" }}"#)), "1:1: a document has at most"),
        ("too deep", around(&deep(10_000)), "2:305: a document nests at most"),
        ("an endless number", around(r#""timeout": 1e999"#), "2:77: `1e999` is no number that can be kept"),
        (
            "an endless number below zero",
            around(r#""input": { "a": -1e999 }"#),
            "2:82: `-1e999` is no number",
        ),
        (
            "a number of many digits",
            around(&format!(r#""timeout": {}"#, "9".repeat(5_000))),
            "2:77: `9999999999",
        ),
        (
            "a fraction of many digits",
            around(&format!(r#""timeout": 1.5{}"#, "9".repeat(5_000))),
            "2:77: step `s`: `timeout` is a whole number",
        ),
        (
            "half a character",
            around(r#""input": { "a": "@input.\ud800" }"#),
            "2:82: a text with an escape that is none",
        ),
        ("the other half", around(r#""input": { "\udc00": 1 }"#), "2:77: a text with an escape that is none"),
        (
            "halves in the wrong order",
            around(r#""input": { "\udc00\ud800": 1 }"#),
            "2:77: a text with an escape",
        ),
        (
            "a key twice",
            around(r#""input": { "a": 1, "b": { "a": 1, "a": 2 }, "a": 3 }"#),
            "2:100: the key `a` is there twice",
        ),
        (
            "a key twice, once escaped",
            around(r#""tool": 1, "t\u006fol": 2"#),
            "2:66: the key `tool` is there twice",
        ),
        (
            "a mark inside",
            around("\u{feff}\"timeout\": 1"),
            "2:66: expected a key in quotes, found `\\u{feff}`",
        ),
        ("a zero byte", around("\"input\": \u{0}"), "2:75: expected a value, found `\\0`"),
        ("a control character", around("\"input\": { \"a\": \"\u{1}\" }"), "2:83: a text has no line breaks"),
        (
            "a prototype",
            around(r#""__proto__": { "tool": 1 }"#),
            "2:66: step `s`: a step has no field `__proto__`",
        ),
        (
            "a constructor",
            around(r#""constructor": {}"#),
            "2:66: step `s`: a step has no field `constructor`",
        ),
        (
            "a prototype of a tool",
            around(r#""retry": { "__proto__": 1 }"#),
            "2:77: step `s`: `retry` has no field `__proto__`",
        ),
        (
            "a step that is a prototype",
            around(r#""input": { "a": "@__proto__.output" }"#),
            "2:83: step `s`: step `__proto__` is not found",
        ),
        (
            "a step that is a method",
            around(r#""input": { "a": "@toString.output" }"#),
            "2:83: step `s`: step `toString` is not found",
        ),
        (
            "a ref of many parts",
            around(&format!(r#""input": {{ "a": "@input{}" }}"#, ".a".repeat(5_000))),
            "2:291: step `s`: a ref has at most 100 parts",
        ),
        (
            "a ref of one long part",
            around(&format!(r#""input": {{ "a": "@{}" }}"#, "a".repeat(5_000))),
            "2:5084: step `s`: a part of a ref has at most 512 bytes",
        ),
        (
            "a ref that turns around",
            around("\"input\": { \"a\": \"@s\u{202e}.output\" }"),
            "2:85: step `s`: a ref cannot have `\\u{202e}` here",
        ),
        ("a comment", around("/* */ \"timeout\": 1"), "2:66: expected a key in quotes, found `/`"),
        (
            "two documents",
            format!("{}{{}}", around(r#""timeout": 1"#)),
            "3:5: expected the end of the document",
        ),
    ];
    let mut wrong = Vec::new();
    for (about, text, expected) in cases {
        let check = world().check(&text);
        let told: Vec<String> = check.errors.iter().map(ToString::to_string).collect();
        assert!(check.document.is_none(), "{about}");
        assert!(told.iter().all(|it| it.len() < 2_000), "{about}");
        if !told.iter().any(|it| it.starts_with(expected)) {
            wrong.push(format!("{about}: {expected}, not {told:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A mark at the beginning, as some editors write it, is no part of the text.
#[test]
fn a_mark_at_the_beginning_moves_nothing() {
    let text = "{ \"name\": \"d\", \"steps\": [[{ \"name\": \"s\", \"sleep\": { \"ms\": -1 } }]] }";
    let (plain, marked) = (world().check(text), world().check(&format!("\u{feff}{text}")));
    assert_eq!(shown(&plain), shown(&marked));
    assert!(shown(&plain).contains("1:59: step `s`: `sleep.ms`"), "{}", shown(&plain));
}

/// Counts what is asked of it.
struct CountingWorld {
    world: FakeWorld,
    asked: std::cell::RefCell<Vec<String>>,
}

impl CountingWorld {
    fn note(&self, what: String) {
        self.asked.borrow_mut().push(what);
    }
}

impl ToolCatalog for CountingWorld {
    fn tool(&self, connection: &str, tool: &str) -> ToolLookup {
        self.note(format!("tool {tool}"));
        ToolCatalog::tool(&self.world, connection, tool)
    }
}

impl TransformReader for CountingWorld {
    fn read(&self, source: &str) -> Result<TransformSchemas, Vec<TransformProblem>> {
        self.note("transform".to_owned());
        TypescriptTransforms.read(source)
    }
}

impl WorkflowCatalog for CountingWorld {
    fn workflow(&self, name: &str) -> WorkflowLookup {
        self.note(format!("workflow {name}"));
        WorkflowCatalog::workflow(&self.world, name)
    }
}

/// A tool, a transform and a target are looked at once, however many steps and triggers use them.
#[test]
fn the_work_for_a_thousand_steps_is_that_for_their_kinds() {
    let asked = |steps: usize| {
        let source = "interface Input { a: string }\ninterface Output { a: string }\nexport default (input: Input): Output => ({ a: input.a })";
        let phases: Vec<Value> = (0..steps)
            .map(|n| {
                let input = if n == 0 {
                    json!({ "a": "x" })
                } else {
                    json!({ "a": format!("@s{}.output.a", n - 1) })
                };
                let step = tool(&format!("s{n}"), input.clone());
                json!([if n % 2 == 0 {
                    step
                } else {
                    json!({ "name": format!("s{n}"), "transform": source, "input": input })
                }])
            })
            .collect();
        let triggers: Vec<Value> =
            (0..steps).map(|_| json!({ "workflowId": "w", "inputs": { "a": "@output.a" } })).collect();
        let input = object(json!({ "a?": text() }));
        let world = CountingWorld { world: world().workflow("w", input, &["w"]), asked: Default::default() };
        let text = json!({ "name": "d", "steps": phases, "triggers": triggers }).to_string();
        let check =
            check_document(&text, CheckContext { tools: &world, transforms: &world, workflows: &world });
        assert_eq!(shown(&check), "");
        world.asked.into_inner()
    };
    let (few, many) = (asked(10), asked(1_000));
    assert_eq!(few.iter().filter(|it| *it != "workflow w").count(), 2, "{few:?}");
    assert_eq!(many.iter().filter(|it| *it != "workflow w").count(), 2);
    // Each trigger asks for its target, and one of them for circles.
    assert_eq!((few.len(), many.len()), (13, 1_003));
}
