//! Test files of `rival/test`, in `tests/js`: what scripts find in the global object, and `rival/test` itself.

use std::fmt::Write as _;
use std::path::Path;

use rival_core::LogLevel;
use rival_script_host::frame::{FromHost, ToHost};

use crate::lab::{Lab, Place, file};
use crate::server::Server;

/// A host with a test file; gives its tests, as pairs of name and key.
fn opened(name: &str) -> (Lab, Vec<(String, String)>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/js").join(name);
    let code = std::fs::read_to_string(path).unwrap();
    let mut lab = Lab::with_env(Place::Thread, &[("SERVER", &Server::start())]);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file(&format!("/{name}"), &code)] });
    let described = lab.describe(&format!("/{name}")).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let tests = described["tests"].as_array().unwrap();
    assert!(!tests.is_empty());
    let tests = tests.iter().map(|test| (text(&test["name"]), text(&test["key"]))).collect();
    (lab, tests)
}

/// Runs all tests of a file; gives what they wrote.
fn run(name: &str) -> Vec<(LogLevel, String)> {
    let (mut lab, tests) = opened(name);
    let mut lines = Vec::new();
    let mut failures = String::new();
    for (test, key) in tests {
        lab.begin_at(1, &format!("/{name}"), "", &key, serde_json::json!(null));
        loop {
            match lab.hear() {
                FromHost::Log { level, message, .. } => lines.push((level, message)),
                FromHost::Done { .. } => break,
                FromHost::Failed { error, .. } => {
                    let stack = error.stack.unwrap_or_default();
                    let _ = writeln!(failures, "{test}: {}: {}\n{stack}", error.name, error.message);
                    break;
                }
                other => panic!("{test}: {other:?}"),
            }
        }
    }
    assert!(failures.is_empty(), "{failures}\n{lines:#?}");
    lines
}

#[test]
fn urls() {
    assert!(run("url.test.js").is_empty());
}

#[test]
fn languages_and_time_zones() {
    assert!(run("intl.test.js").is_empty());
}

#[test]
fn keys_and_signatures() {
    assert!(run("crypto.test.js").is_empty());
}

#[test]
fn texts_and_bytes() {
    assert!(run("text.test.js").is_empty());
}

#[test]
fn copies() {
    assert!(run("clone.test.js").is_empty());
}

#[test]
fn events_and_timers() {
    assert!(run("events.test.js").is_empty());
}

#[test]
fn requests() {
    assert!(run("fetch.test.js").is_empty());
}

#[test]
fn expectations() {
    assert!(run("expect.test.js").is_empty());
}

#[test]
fn names_of_tests_say_where_they_are() {
    let (_, tests) = opened("expect.test.js");
    let first = tests.first().unwrap();
    assert_eq!((first.0.as_str(), first.1.as_str()), ("expect > compares", "test:0"));
}

#[test]
fn values_are_printed_for_people() {
    let lines = run("console.test.js");
    let mut expected = PRINTED.trim_matches('\n').split("\n---\n");
    let (plain, with_stacks) = lines.split_at(lines.len() - 3);
    for (level, line) in plain {
        let expected = expected.next().unwrap_or("nothing");
        assert_eq!(format!("{level:?} {line}"), expected);
    }
    assert_eq!(expected.next(), None);
    let [(_, error), (_, trace), (_, time)] = with_stacks else { panic!("{with_stacks:?}") };
    assert!(error.starts_with("TypeError: no\n    at ") && error.contains("/console.test.js:"), "{error}");
    assert!(error.contains("code: 'E1'") && error.contains("[cause]: Error: deep"), "{error}");
    assert!(trace.starts_with("Trace: here\n    at ") && trace.contains("/console.test.js:"), "{trace}");
    assert!(time.starts_with("t: ") && time.ends_with("ms"), "{time}");
}

const PRINTED: &str = r#"
Info text 1 true null undefined -0 10n Symbol(s)
---
Info {
  a: 'it',
  'b-c': [ 1, <1 empty item>, 'x' ],
  f: [Function: f],
  g: [Function: g],
  C: [class Point]
}
---
Info [
  Map(1) { 'k' => { v: 1 } },
  Set(1) { 1 },
  1970-01-01T00:00:00.000Z,
  /x/g,
  Uint8Array(2) [ 1, 2 ]
]
---
Info { deep: { deeper: { deepest: [Object] } } }
---
Info { name: 'round', self: [Circular *] }
---
Info Ada is 36 years, 1, 2.5, {"a":1} [ 1 ] % !
---
Info { toString: [Function: toString] } more
---
Info [Object: null prototype] {} Tree { kind: 'oak' } [] {}
---
Info it's [ "it's", '"quoted"', 'line\nbreak' ]
---
Info [
  0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10000, 11000, 12000,
  13000, 14000, 15000, 16000, 17000, 18000, 19000, 20000, 21000, 22000, 23000,
  24000, 25000, 26000, 27000, 28000, 29000
]
---
Debug d
---
Info i
---
Warn w
---
Error e
---
Error Assertion failed: wrong 7
---
Info default: 1
---
Info default: 2
---
Info x: 1
---
Info default: 1
---
Info outer
---
Info   inner
  lines
---
Info after
---
Info ┌─────────┬───┬─────┐
│ (index) │ a │ b   │
├─────────┼───┼─────┤
│ 0       │ 1 │ 'x' │
│ 1       │ 2 │     │
└─────────┴───┴─────┘
---
Warn No such label 'never' for console.timeEnd()
---
Info { a: [Object] }
"#;
