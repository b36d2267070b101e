//! Asking runs for something.

use serde_json::{Value, json};

use crate::lab::Lab;

#[tokio::test]
async fn a_run_is_cancelled_with_a_reason() {
    let lab = Lab::new().await;
    let run = lab.start("approval", Value::Null).await;
    let answer = lab.post(&format!("/api/runs/{run}/cancel"), json!({"reason": "no longer wanted"})).await;
    assert_eq!((answer.status.as_u16(), &answer.body), (202, &json!({"runId": run, "status": "cancelled"})));
    assert_eq!(lab.get(&format!("/api/runs/{run}")).await.body["reason"], "no longer wanted");
    assert_eq!(lab.post(&format!("/api/runs/{run}/cancel"), json!({})).await.status, 202);
}

#[tokio::test]
async fn a_finished_run_takes_no_requests() {
    let lab = Lab::new().await;
    let run = lab.finish("order", json!({"customer": "Ada", "amount": 1})).await;
    for what in ["cancel", "kill", "pause", "resume", "signals/approval"] {
        let told = lab.post(&format!("/api/runs/{run}/{what}"), json!({})).await;
        assert_eq!(
            told.is_problem(409, "run_finished"),
            format!("run `{run}` is completed already"),
            "{what}"
        );
    }
    lab.post(&format!("/api/runs/{run}/retry"), json!({})).await.is_problem(409, "not_retryable");
    lab.post(&format!("/api/runs/{run}/fork"), json!({})).await.is_problem(400, "no_fork_point");
    lab.post(&format!("/api/runs/{run}/fork"), json!({"from": "x"})).await.is_problem(400, "unknown_node");
}

#[tokio::test]
async fn a_run_is_killed() {
    let lab = Lab::new().await;
    let run = lab.start("held", json!(1)).await;
    let answer = lab.post(&format!("/api/runs/{run}/kill"), json!({"reason": "stuck"})).await;
    assert_eq!((answer.status.as_u16(), &answer.body["status"]), (202, &json!("cancelled")));
}

#[tokio::test]
async fn a_run_is_paused_and_goes_on() {
    let lab = Lab::new().await;
    let run = lab.start("approval", Value::Null).await;
    assert_eq!(lab.post(&format!("/api/runs/{run}/pause"), json!({})).await.body["status"], "paused");
    lab.post(&format!("/api/runs/{run}/signals/approval"), json!({"payload": {"approved": true}})).await;
    lab.post(&format!("/api/runs/{run}/resume"), json!({})).await;
    assert_eq!(lab.get(&format!("/api/runs/{run}/wait")).await.body["status"], "completed");
}

#[tokio::test]
async fn a_failed_run_is_retried_and_forked() {
    let lab = Lab::new().await;
    let run = lab.finish("order", json!({"customer": "Ada", "amount": 1001})).await;
    let again = lab.post(&format!("/api/runs/{run}/retry"), json!({})).await;
    assert_eq!(again.status, 202);
    let place = again.header("location").to_owned();
    assert_eq!(lab.get(&format!("{place}/wait")).await.body["status"], "failed");
    assert_eq!(lab.get(&place).await.body["source"], run);
    let body = json!({"from": "charge", "input": {"customer": "Ada", "amount": 5}, "runId": "mended"});
    assert_eq!(lab.post(&format!("/api/runs/{run}/fork"), body).await.header("location"), "/api/runs/mended");
    let outcome = lab.get("/api/runs/mended/wait").await.body;
    assert_eq!(outcome["status"], "completed");
    assert_eq!(outcome["results"]["reserve"]["result"], 1001, "taken over");
    let null = json!({"from": "charge", "input": null});
    lab.post(&format!("/api/runs/{run}/fork"), null).await.is_problem(400, "invalid_input");
}

#[tokio::test]
async fn a_signal_is_taken_once_and_must_fit() {
    let lab = Lab::new().await;
    let run = lab.start("approval", Value::Null).await;
    let send = async |body: Value| lab.post(&format!("/api/runs/{run}/signals/approval"), body).await;
    let told = send(json!({"payload": {"approved": "yes"}})).await;
    told.is_problem(400, "invalid_signal");
    assert_eq!(told.body["errors"][0]["path"], "/approved");
    lab.post(&format!("/api/runs/{run}/pause"), json!({})).await;
    for _ in 0..2 {
        assert_eq!(send(json!({"payload": {"approved": true}, "id": "s1"})).await.status, 202);
    }
    lab.post(&format!("/api/runs/{run}/resume"), json!({})).await;
    assert_eq!(lab.get(&format!("/api/runs/{run}/wait")).await.body["output"], json!({"approved": true}));
    let events = lab.get(&format!("/api/runs/{run}/events")).await.body;
    let received =
        events["events"].as_array().unwrap().iter().filter(|event| event["type"] == "signalReceived");
    assert_eq!(received.count(), 1);
}

#[tokio::test]
async fn unknown_fields_are_refused() {
    let lab = Lab::new().await;
    let run = lab.start("approval", Value::Null).await;
    for what in ["cancel", "kill", "pause", "resume", "retry", "fork", "signals/approval"] {
        let told = lab.post(&format!("/api/runs/{run}/{what}"), json!({"raeson": 1})).await;
        assert!(told.is_problem(400, "bad_request").contains("raeson"), "{what}");
    }
}
