//! Servers that are started as programs.

use std::time::{Duration, Instant};

use rival_document::{ToolCatalog, ToolLookup};
use rival_mcp::{ConnectionHealth, ConnectionOrigin, code};
use serde_json::json;

use crate::support::{Lab, is_alive, is_there, limits, lines, scripted, until};

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_over_all_pages_and_called() {
    let lab = Lab::scripted(json!({}));
    let view = lab.0.settled("s").await.unwrap();
    let ConnectionHealth::Ready(Some(identity)) = &view.health else { panic!("{:?}", view.health) };
    assert_eq!((identity.name.as_str(), identity.version.as_str()), ("scripted", "1"));
    assert!(view.allowed_tools().len() > 10);
    assert_eq!(view.tools.unwrap().tools["echo"].description.as_deref(), Some("does echo"));
    let output = lab.ask("echo", json!({"a": [1, "x"]})).await;
    assert_eq!(output["input"], json!({"a": [1, "x"]}));
    assert_eq!(lab.ask("text", json!({"text": "plain"})).await, json!("plain"));
    assert_eq!(lab.ask("text", json!({"text": " [1, {}] "})).await, json!([1, {}]));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_digit_is_lost_on_the_way_there_and_back() {
    let lab = Lab::scripted(json!({}));
    let json = r#"{"n": 12345678901234567890123.10, "s": "\"n\""}"#;
    let input = rival_core::Value::from_json(format!(
        r#"{{"json": {}}}"#,
        serde_json::to_string(&format!(r#"{{"content":[],"structuredContent":{json}}}"#)).unwrap()
    ))
    .unwrap();
    let output = lab.0.call("s", "raw", &input).await.unwrap();
    assert_eq!(output.as_json(), json);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_tools_say_what_they_say() {
    let lab = Lab::scripted(json!({"tools": ["fail", "rpc_error", "text", "gone"]}));
    assert_eq!(
        lab.fail("fail", json!({"text": "no luck"})).await,
        (code::TOOL_FAILED, "tool `fail` failed: no luck".to_owned())
    );
    assert_eq!(
        lab.fail("rpc_error", json!({})).await,
        (code::TOOL_FAILED, r#"tool `rpc_error` failed: out of order ({"n":1})"#.to_owned())
    );
    assert_eq!(
        lab.fail("gone", json!({})).await,
        (code::UNKNOWN_TOOL, "connection `s` has no tool `gone`".to_owned())
    );
    let (code, message) = lab.fail("echo", json!({})).await;
    assert_eq!(
        (code, message.as_str()),
        (code::UNKNOWN_TOOL, "connection `s` does not allow tool `echo`: `tools` lists those that it does")
    );
    assert_eq!(
        lab.fail("text", json!([1])).await,
        ("invalid_input", "tool `text` takes an object, not [1]".to_owned())
    );
    let failure = lab.0.call("other", "text", &rival_core::Value::null()).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.to_string().as_str()),
        (code::UNKNOWN_CONNECTION, "there is no connection `other`: there are s")
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_is_not_what_its_tool_declares_is_none() {
    let lab = Lab::scripted(json!({}));
    assert_eq!(lab.ask("typed", json!({"n": 1.5})).await, json!({"n": 1.5}));
    let (code, message) = lab.fail("typed", json!({"n": "x"})).await;
    assert_eq!(code, code::BAD_TOOL_ANSWER);
    assert_eq!(message, r#"what tool `typed` gave is not what it declares: /n: "x" is not of type "number""#);
    assert_eq!(lab.fail("typed", json!({})).await.0, code::BAD_TOOL_ANSWER);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_takes_too_long_is_cancelled_and_the_server_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let lab = Lab::scripted(json!({"timeoutMs": 300, "env": {"SCRIPT_LOG": log}}));
    let pid = lab.ask("pid", json!({})).await;
    let begun = Instant::now();
    let (code, message) = lab.fail("wait", json!({"ms": 60_000})).await;
    assert_eq!(
        (code, message.as_str()),
        (code::TOOL_TIMEOUT, "tool `wait` of connection `s` did not answer in time; it may have acted")
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
    until("the server is told", || lines(&log).iter().any(|line| line == "cancelled the call has ended"))
        .await;
    assert_eq!(lab.ask("pid", json!({})).await, pid);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let lab = Lab::scripted(json!({"env": {"SCRIPT_LOG": log}}));
    let connections = lab.0.clone();
    let call = tokio::spawn(async move {
        connections.call("s", "wait", &rival_core::Value::from(json!({"ms": 60_000}))).await
    });
    until("the tool waits", || lines(&log).iter().any(|line| line == "waits ")).await;
    call.abort();
    until("the server is told", || lines(&log).iter().any(|line| line.starts_with("cancelled"))).await;
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_in_a_call_is_started_again() {
    let lab = Lab::scripted(json!({}));
    let pid = lab.ask("pid", json!({})).await.as_u64().unwrap();
    let (code, message) = lab.fail("exit", json!({})).await;
    assert_eq!(code, code::CONNECTION_LOST, "{message}");
    assert!(message.contains("which may have acted"), "{message}");
    // A call that comes while the connection is made again waits for it.
    let again = lab.ask("pid", json!({})).await.as_u64().unwrap();
    assert_ne!(again, pid);
    assert!(!is_there(pid), "it was waited for");
    lab.end().await;
    assert!(!is_there(again));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_killed_between_calls_is_started_again() {
    let lab = Lab::scripted(json!({}));
    let pid = lab.ask("pid", json!({})).await.as_u64().unwrap();
    let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(killed.success());
    until("it is gone", || !is_there(pid)).await;
    assert_ne!(lab.ask("pid", json!({})).await.as_u64().unwrap(), pid);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_leaves_behind_ends_with_it() {
    let lab = Lab::scripted(json!({}));
    let child = lab.ask("child", json!({})).await.as_u64().unwrap();
    assert!(is_alive(child));
    lab.end().await;
    until("its child is gone", || !is_alive(child)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_want_to_end_is_killed() {
    let lab = Lab::scripted(json!({"env": {"SCRIPT_MODE": "stubborn"}}));
    let pid = lab.ask("pid", json!({})).await.as_u64().unwrap();
    lab.end().await;
    assert!(!is_there(pid));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_be_started_is_tried_again_and_says_why() {
    let lab = Lab::new();
    lab.define("s", serde_json::from_value(json!({"command": "/no/such/program"})).unwrap());
    let (code, message) = lab.fail("text", json!({})).await;
    assert_eq!(code, code::CONNECTION_FAILED);
    assert!(
        message.starts_with("connection `s` is not there: `/no/such/program` cannot be started: "),
        "{message}"
    );
    lab.define("s", scripted(json!({"env": {"SCRIPT_MODE": "crash"}})));
    lab.until(
        "it says that it crashed",
        |health| matches!(health, ConnectionHealth::Failed { why, .. } if why.contains("exit status: 7")),
    )
    .await;
    assert!(matches!(lab.0.tool("s", "text"), ToolLookup::Unavailable { .. }));
    // A better definition takes its place, and calls work.
    lab.define("s", scripted(json!({})));
    assert_eq!(lab.ask("text", json!({"text": "x"})).await, json!("x"));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_calls_stay_within_the_limit() {
    let lab = Lab::scripted(json!({"concurrency": 7}));
    lab.until_ready().await;
    let calls = (0..1_000).map(|_| lab.ask("work", json!({"ms": 2})));
    let answers = futures::future::join_all(calls).await;
    assert!(answers.iter().all(|answer| answer == "worked"));
    assert_eq!(lab.ask("busiest", json!({})).await, json!(7));
    assert_eq!(lab.ask("calls", json!({})).await, json!(1_002));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_change_are_read_again_and_told() {
    let lab = Lab::scripted(json!({}));
    lab.until_ready().await;
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = heard.clone();
    lab.0.on_change(move |name, tools| {
        told.lock()
            .unwrap()
            .push((name.to_owned(), tools.is_some_and(|tools| tools.tools.contains_key("fresh"))));
    });
    assert!(matches!(lab.0.tool("s", "fresh"), ToolLookup::UnknownTool { .. }));
    lab.ask("grow", json!({"name": "fresh"})).await;
    until("the change is told", || heard.lock().unwrap().contains(&("s".to_owned(), true))).await;
    assert!(matches!(lab.0.tool("s", "fresh"), ToolLookup::Known(_)));
    let problems = lab.0.get("s").unwrap().problems;
    assert_eq!(problems, ["its tools have changed since they were first seen (new: fresh)"]);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_were_known_before_are_compared_with_those_that_are_there() {
    let lab = Lab::scripted(json!({}));
    let mut known = (*lab.0.settled("s").await.unwrap().tools.unwrap()).clone();
    known.tools.remove("echo");
    known.hash = "another".to_owned();
    lab.0.remove("s");
    lab.0.define("s", scripted(json!({})), ConnectionOrigin::Settings, limits(), Some(known)).unwrap();
    // Documents can be checked before the server is there.
    assert!(matches!(lab.0.tool("s", "text"), ToolLookup::Known(_)));
    let view = lab.0.settled("s").await.unwrap();
    assert_eq!(view.problems, ["its tools have changed since they were first seen (new: echo)"]);
    lab.end().await;
}
