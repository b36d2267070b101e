//! Servers that do what no server should.

use std::time::Duration;

use rival_mcp::{ConnectionHealth, ConnectionLimits, code};
use serde_json::json;

use crate::support::{HttpServer, Lab, limits, scripted};

/// A lab whose connections give up soon.
fn impatient(definition: rival_mcp::ConnectionDefinition) -> Lab {
    let lab = Lab::new();
    let limits =
        ConnectionLimits { connect_timeout: Duration::from_secs(3), answer_bytes_max: 1 << 20, ..limits() };
    lab.define_with("s", definition, limits);
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_logs_and_garbage_change_nothing() {
    let lab = impatient(scripted(json!({"env": {"SCRIPT_MODE": "flood"}})));
    assert_eq!(lab.ask("flood", json!({})).await, json!("flooded"));
    assert_eq!(lab.ask("garbage", json!({})).await, json!("after garbage"));
    assert_eq!(lab.ask("text", json!({"text": "x"})).await, json!("x"));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_too_large_fails_its_call_and_no_other() {
    let lab = impatient(scripted(json!({})));
    let pid = lab.ask("pid", json!({})).await;
    let other = lab.ask("work", json!({"ms": 500}));
    let (other, (code, message)) = tokio::join!(other, lab.fail("big", json!({"bytes": 50 << 20})));
    assert_eq!(
        (code, message.as_str()),
        ("payload_too_large", "tool `big`: the answer has more than 1048576 bytes")
    );
    assert_eq!((other, lab.ask("pid", json!({})).await), (json!("worked"), pid));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_too_large_fails_over_http_too() {
    for mode in ["", "events"] {
        let server = HttpServer::start(&[("SCRIPT_MODE", mode)]).await;
        let lab = impatient(server.definition(json!({})));
        let (code, message) = lab.fail("big", json!({"bytes": 5 << 20})).await;
        assert!(["payload_too_large", code::CONNECTION_LOST].contains(&code), "{code}: {message}");
        assert_eq!(lab.ask("text", json!({"text": "x"})).await, json!("x"));
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_any_depth_is_refused_with_its_reason() {
    let lab = impatient(scripted(json!({})));
    for levels in [1_000, 100_000] {
        let (code, message) = lab.fail("levels", json!({"levels": levels})).await;
        assert_eq!(code, code::BAD_TOOL_ANSWER);
        assert!(message.contains("nests deeper than 120 levels"), "{message}");
    }
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_of_ten_thousand_levels_costs_its_tool_only() {
    let lab = impatient(scripted(json!({"env": {"SCRIPT_MODE": "deep-schema"}})));
    let view = lab.0.settled("s").await.unwrap();
    assert_eq!(view.problems, ["tool `deep` cannot be used: its input schema has more than 64 levels"]);
    assert_eq!(lab.ask("text", json!({"text": "x"})).await, json!("x"));
    assert_eq!(lab.fail("deep", json!({})).await.0, code::UNKNOWN_TOOL);
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_answers_fails() {
    for (mode, why) in [
        ("no-handshake", "the server did not answer within 3s"),
        ("endless-list", "the list of its tools has more than 200 pages"),
    ] {
        let lab = impatient(scripted(json!({"env": {"SCRIPT_MODE": mode}})));
        lab.until(
            "it fails",
            |health| matches!(health, ConnectionHealth::Failed { why: said, .. } if said.starts_with(why)),
        )
        .await;
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_an_answer_ends_and_a_server_without_a_sign_of_life_is_replaced() {
    let lab = impatient(scripted(json!({"timeoutMs": 300, "env": {"SCRIPT_MODE": "no-ping"}})));
    lab.until_ready().await;
    let pid = lab.ask("pid", json!({})).await;
    assert_eq!(lab.fail("hang", json!({})).await.0, code::TOOL_TIMEOUT);
    let replaced = async {
        loop {
            match lab.call("pid", json!({})).await {
                Ok(now) if now != pid => return,
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    tokio::time::timeout(crate::support::PATIENCE, replaced).await.expect("another process answers");
    lab.end().await;
}
