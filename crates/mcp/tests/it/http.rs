//! Servers that are asked at an address.

use std::time::{Duration, Instant};

use rival_mcp::{ConnectionHealth, ConnectionLimits, code};
use rival_outgoing::OutgoingPolicy;
use serde_json::json;

use crate::support::{HttpServer, Lab, limits, lines, until};

/// A server, and a lab with a connection to it as `s`.
async fn lab(env: &[(&str, &str)], more: serde_json::Value) -> (HttpServer, Lab) {
    let server = HttpServer::start(env).await;
    let lab = Lab::new();
    lab.define("s", server.definition(more));
    (server, lab)
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_called_however_the_server_answers() {
    for mode in ["", "events"] {
        let (_server, lab) = lab(&[("SCRIPT_MODE", mode)], json!({})).await;
        assert_eq!(lab.ask("text", json!({"text": "{\"n\": 1}"})).await, json!({"n": 1}));
        assert_eq!(lab.fail("fail", json!({})).await.0, code::TOOL_FAILED);
        let (code, message) = lab.fail("rpc_error", json!({})).await;
        assert_eq!(
            (code, message.as_str()),
            (code::TOOL_FAILED, r#"tool `rpc_error` failed: out of order ({"n":1})"#)
        );
        let digits = rival_core::Value::from_json(r#"{"n": 12345678901234567890123.10}"#.to_owned()).unwrap();
        let output = lab.0.call("s", "echo", &digits).await.unwrap();
        // The server reads doubles; what it was sent has all digits.
        assert_eq!(output.to_json()["input"], json!({"n": 1.2345678901234568e22}));
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_call_does_not_hold_up_others() {
    let (_server, lab) = lab(&[], json!({"timeoutMs": 60_000})).await;
    let slow = lab.call("wait", json!({"ms": 60_000}));
    let quick = async {
        for _ in 0..20 {
            lab.ask("text", json!({"text": "x"})).await;
        }
    };
    tokio::select! {
        answer = slow => panic!("{answer:?}"),
        () = quick => {}
    }
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_started_again_is_asked_again_without_a_failure() {
    for mode in ["", "events"] {
        let (mut server, lab) = lab(&[("SCRIPT_MODE", mode)], json!({})).await;
        let pid = lab.ask("pid", json!({})).await;
        server.restart().await;
        let begun = Instant::now();
        assert_ne!(lab.ask("pid", json!({})).await, pid);
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_lost_with_its_server() {
    for mode in ["", "events"] {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let (mut server, lab) =
            lab(&[("SCRIPT_MODE", mode), ("SCRIPT_LOG", log.to_str().unwrap())], json!({})).await;
        let call = lab.fail("wait", json!({"ms": 60_000}));
        let kill = async {
            until("the tool waits", || lines(&log).iter().any(|line| line == "waits ")).await;
            server.restart().await;
        };
        let ((code, message), ()) = tokio::join!(call, kill);
        assert_eq!(code, code::CONNECTION_LOST, "{mode}: {message}");
        assert_eq!(lab.ask("text", json!({"text": "x"})).await, json!("x"));
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_is_waited_for() {
    let (mut server, lab) = lab(&[], json!({})).await;
    lab.until_ready().await;
    server.kill().await;
    lab.until("it is missed", |health| matches!(health, ConnectionHealth::Failed { .. })).await;
    let (code, message) = lab.fail("text", json!({"text": "x"})).await;
    assert_eq!(code, code::CONNECTION_FAILED, "{message}");
    server.restart().await;
    lab.until_ready().await;
    assert_eq!(lab.ask("text", json!({"text": "x"})).await, json!("x"));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_time_out_is_cancelled_and_sessions_end_with_their_connections() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let (_server, lab) = lab(&[("SCRIPT_LOG", log.to_str().unwrap())], json!({"timeoutMs": 300})).await;
    assert_eq!(lab.fail("wait", json!({"ms": 60_000})).await.0, code::TOOL_TIMEOUT);
    until("the server is told", || lines(&log).iter().any(|line| line.starts_with("cancelled"))).await;
    lab.end().await;
    assert!(lines(&log).contains(&"deleted".to_owned()), "{:?}", lines(&log));
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_tools_come_over_the_stream_of_the_session() {
    let (_server, lab) = lab(&[("SCRIPT_MODE", "events")], json!({})).await;
    lab.until_ready().await;
    let has_fresh = || lab.0.get("s").unwrap().tools.unwrap().tools.contains_key("fresh");
    // The stream is opened beside the calls: the first word of a change may come before it.
    let grown = async {
        while !has_fresh() {
            lab.ask("grow", json!({"name": "fresh"})).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(crate::support::PATIENCE, grown).await.expect("the change is heard");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_go_only_where_the_policy_says() {
    let server = HttpServer::start(&[]).await;
    let lab = Lab::new();
    let public = ConnectionLimits { outgoing: OutgoingPolicy::public(), ..limits() };
    lab.define_with("s", server.definition(json!({})), public);
    let (code, message) = lab.fail("text", json!({})).await;
    assert_eq!(code, code::CONNECTION_FAILED);
    assert!(message.contains("outgoing_allow"), "{message}");
    lab.end().await;
}
