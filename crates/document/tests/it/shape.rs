//! The shape of documents: everything that is wrong, with its place.

use expect_test::expect;

use crate::fakes::{FakeWorld, shown};

fn world() -> FakeWorld {
    FakeWorld::default().tool("c", "t", serde_json::json!({}), serde_json::json!({}))
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let text = r#"{
  "nmae": "x",
  "description": 3,
  "steps": [
    [],
    {},
    [ 7,
      { "name": "a" },
      { "name": "b", "tool": { "connectionId": "c", "toolname": "t" }, "sleep": { "ms": 1 } },
      { "name": "c", "tool": { "connectionId": "c", "toolname": "t" }, "retry": { "maxAttempts": 0, "backoff": 1 } },
      { "name": "d", "sleep": {}, "retry": {}, "timeout": 5, "input": {} },
      { "name": "e", "sleep": { "ms": 1, "until": "x" } },
      { "name": "f", "sleep": { "until": "tomorrow" }, "concurrency": 2 },
      { "name": "g", "transform": "", "maxIterations": 0, "onerror": "continue", "onError": "ignore" },
      { "name": "item", "sleep": { "ms": 1 } },
      { "name": "two words", "sleep": { "ms": 1 } },
      { "sleep": { "ms": -1 } },
      { "name": "h", "waitForSignal": { "schema": 3 }, "forEach": "list", "as": "input" },
      { "name": "h", "waitForSignal": { "name": "s", "schema": 3 }, "input": [] }
    ],
    [ { "name": "h", "sleep": { "ms": 1.5 }, "forEach": ["@input"] } ]
  ],
  "triggers": [ { "workflow": "w", "inputs": "@output" }, 3 ]
}"#;
    expect![[r#"
        error invalid_document name 1:1: a document has a `name`
        error unknown_field nmae 2:3: a document has no field `nmae`; did you mean `name`?
        error invalid_document description 3:18: `description` is a text, and this is a number
        error invalid_document steps[0] 5:5: a phase has at least one step
        error invalid_document steps[1] 6:5: a phase is a list of steps, and this is an object
        error invalid_document - 7:7: a step is an object, and this is a number
        error invalid_document - 8:7: step `a`: a step has exactly one of `tool`, `transform`, `sleep`, `waitForSignal`, and this one has none of them
        error invalid_document - 9:7: step `b`: a step has exactly one of `tool`, `transform`, `sleep`, `waitForSignal`, and this one has `tool`, `sleep`
        error invalid_document toolName 10:30: step `c`: `tool` has a `toolName`
        error unknown_field tool.toolname 10:53: step `c`: `tool` has no field `toolname`; did you mean `toolName`?
        error invalid_document retry.maxAttempts 10:98: step `c`: `retry.maxAttempts` is a whole number from 1 to 4294967295
        error unknown_field retry.backoff 10:101: step `c`: `retry` has no field `backoff`; did you mean `backoffMs`?
        error invalid_document sleep 11:31: step `d`: `sleep` has either `ms` or `until`
        error invalid_document sleep 12:31: step `e`: `sleep` has either `ms` or `until`
        error invalid_document sleep.until 13:42: step `f`: `sleep.until` is a moment such as `2027-01-31T09:00:00Z`, or a ref to one
        error invalid_document concurrency 13:71: step `f`: `concurrency` is for a step with `forEach`
        error invalid_document transform 14:35: step `g`: `transform` is empty
        error invalid_document maxIterations 14:56: step `g`: `maxIterations` is a whole number from 1 to 4294967295
        error unknown_field onerror 14:59: step `g`: a step has no field `onerror`; did you mean `onError`?
        error invalid_document onError 14:93: step `g`: `onError` is `fail` or `continue`, not `ignore`
        error invalid_document name 15:17: step `item`: a step cannot be called `item`: refs use the name for something else
        error invalid_document name 16:17: step `two words`: `two words` is not a name for a step: use 1 to 128 letters, digits, `_` or `-`
        error invalid_document name 17:7: a step has a `name`
        error invalid_document sleep.ms 17:26: `sleep.ms` is a whole number from 0 to 9007199254740991
        error invalid_document name 18:39: step `h`: `waitForSignal` has a `name`
        error invalid_document forEach 18:67: step `h`: `forEach` is a ref to a list, as `@input.users`
        error invalid_document as 18:81: step `h`: `input` is not a name for an item: use 1 to 128 letters, digits, `_` or `-`, and no word of refs
        error duplicate_name name 19:17: step `h`: two steps are called `h`: give one of them another name
        error invalid_schema waitForSignal.schema 19:64: step `h`: a schema is an object or a boolean
        error invalid_document input 19:78: step `h`: `input` is an object, and this is a list
        error invalid_document input 19:78: step `h`: a `waitForSignal` step takes no `input`
        error duplicate_name name 21:17: step `h`: two steps are called `h`: give one of them another name
        error invalid_document sleep.ms 21:39: step `h`: `sleep.ms` is a whole number from 0 to 9007199254740991
        error invalid_document forEach 21:57: step `h`: `forEach` is a text, and this is a list
        error invalid_document workflowId 23:17: trigger 0: a trigger has a `workflowId`
        error unknown_field workflow 23:19: trigger 0: a trigger has no field `workflow`; did you mean `workflowId`?
        error invalid_document inputs 23:46: trigger 0: `inputs` is an object, and this is a text
        error invalid_document - 23:59: trigger 1: a trigger is an object, and this is a number
    "#]].assert_eq(&shown(&world().check(text)));
}

#[test]
fn what_is_no_document_at_all_is_said_in_one_line() {
    for (text, expected) in [
        ("[]", "error invalid_document - 1:1: a document is an object, and this is a list\n"),
        ("{", "error invalid_json - 1:2: expected a key in quotes, found the end of the text\n"),
        (
            "{\"name\": \"a\", \"steps\": []}",
            "error invalid_document steps 1:24: a document has at least one step\n",
        ),
        ("{\"name\": \"a\"}", "error invalid_document steps 1:1: a document has `steps`\n"),
        (
            "{\"name\": \"a/b\", \"steps\": [[{\"name\": \"s\", \"sleep\": {\"ms\": 0}}]]}",
            "error invalid_document name 1:10: `a/b` is not a name for a workflow: use 1 to 128 letters, digits, `_`, `-`, `.`, `:` or spaces inside\n",
        ),
        (
            "{\"name\": \"a\", \"inputSchema\": 3, \"steps\": [[{\"name\": \"s\", \"sleep\": {\"ms\": 0}}]]}",
            "error invalid_schema inputSchema 1:30: a schema is an object or a boolean\n",
        ),
    ] {
        assert_eq!(shown(&world().check(text)), expected, "{text}");
    }
}

#[test]
fn defaults_and_moments() {
    let text = r#"{ "name": "a", "steps": [
      [{ "name": "s", "tool": { "connectionId": "c", "toolName": "t" }, "retry": {} }],
      [{ "name": "u", "sleep": { "until": "2027-01-31T09:00:00+01:00" } }],
      [{ "name": "w", "sleep": { "until": "@{input.day}T00:00:00Z" } }],
      [{ "name": "f", "tool": { "connectionId": "c", "toolName": "t" }, "forEach": "@input.list" }]
    ] }"#;
    let document = world().check(text).document.unwrap();
    let steps: Vec<_> =
        document.phases.iter().flatten().map(|step| serde_json::to_value(step).unwrap()).collect();
    assert_eq!(steps[0]["retry"], serde_json::json!({ "maxAttempts": 3, "backoffMs": 1000 }));
    assert_eq!(steps[1]["action"]["sleepUntil"]["atMs"], serde_json::json!(1_801_382_400_000_i64));
    let moment = serde_json::json!({ "$text": [{ "$": ["input", "day"] }, "T00:00:00Z"] });
    assert_eq!(steps[2]["action"]["sleepUntilComputed"]["moment"], moment);
    assert_eq!(steps[3]["forEach"]["maxIterations"], 100);
    assert_eq!(steps[3]["forEach"]["concurrency"], 1);
    assert_eq!(steps[3]["action"]["tool"]["input"], serde_json::json!({}));
}

#[test]
fn numbers_that_lose_digits_are_named() {
    let text = r#"{ "name": "a", "steps": [[{ "name": "s", "tool": { "connectionId": "c", "toolName": "t" },
  "input": { "a": [0.1, 1.50e2, 100, -0.0], "b": 12345678901234567890123, "c": 0.1000000000000000055 } }]] }"#;
    expect![[r#"
        warning rounded_number b 2:50: step `s`: the number is kept as 1.2345678901234568e+22: digits are lost; a text keeps them
        warning rounded_number c 2:80: step `s`: the number is kept as 0.1: digits are lost; a text keeps them
    "#]].assert_eq(&shown(&world().check(text)));
}

#[test]
fn a_signal_carries_the_same_for_all_steps() {
    let text = r#"{ "name": "a", "steps": [[
      { "name": "a", "waitForSignal": { "name": "go", "schema": { "type": "string" } } },
      { "name": "b", "waitForSignal": { "name": "go" } },
      { "name": "c", "waitForSignal": { "name": "go", "schema": { "type": "string" } } },
      { "name": "d", "waitForSignal": { "name": "go", "schema": { "type": "number" } } },
      { "name": "e", "waitForSignal": { "name": "a/b" } }
    ]] }"#;
    expect![[r#"
        error invalid_document waitForSignal.schema 5:65: step `d`: another step waits for signal `go` with another `schema`
        error invalid_document waitForSignal.name 6:49: step `e`: `a/b` is not a name for a signal: use 1 to 128 letters, digits, `_`, `-`, `.`, `:` or spaces inside
    "#]].assert_eq(&shown(&world().check(text)));
}

#[test]
fn what_is_not_for_this_kind_of_step_is_refused() {
    let text = r#"{ "name": "a", "steps": [[
      { "name": "a", "sleep": { "ms": 1 }, "retry": {} },
      { "name": "b", "waitForSignal": { "name": "s" }, "retry": { "maxAttempts": 2 } },
      { "name": "c", "transform": "interface Input {}\ninterface Output {}\nexport default (input: Input): Output => ({})", "retry": {} },
      { "name": "d", "transform": "interface Input {}\ninterface Output {}\nconst f = (input: Input): Output => ({})" }
    ]] }"#;
    expect![[r#"
        error invalid_document retry 2:53: step `a`: only a `tool` step is retried, and this is a `sleep` step
        error invalid_document retry 3:65: step `b`: only a `tool` step is retried, and this is a `waitForSignal` step
        error invalid_document retry 4:134: step `c`: only a `tool` step is retried, and this is a `transform` step
        error invalid_typescript transform 5:36: step `d`: in the transform, at 1:1: a transform exports one function as its default. Write `export default (input: Input): Output => …`.
    "#]].assert_eq(&shown(&world().check(text)));
}
