//! Asking runs for something.

use reqwest::Method;
use serde_json::{Value, json};

use crate::lab::{Answer, Lab};

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
            format!("run `{run}` has ended: it completed"),
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
        events["items"].as_array().unwrap().iter().filter(|event| event["type"] == "signalReceived");
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

async fn post_with_key(lab: &Lab, path: &str, key: &str, body: Value) -> Answer {
    let request = lab.request(Method::POST, path).header("Idempotency-Key", key).json(&body);
    Answer::of(request.send().await.unwrap()).await
}

#[tokio::test]
async fn a_key_makes_one_retry_and_one_fork() {
    let lab = Lab::new().await;
    let run = lab.finish("order", json!({"customer": "Ada", "amount": 1001})).await;
    let other = lab.finish("order", json!({"customer": "Ada", "amount": 1002})).await;
    for what in ["retry", "fork"] {
        let path = format!("/api/runs/{run}/{what}");
        let (key, strange) = (format!("{what}-1"), format!("run/{what} 2"));
        for key in [&key, &strange] {
            let first = post_with_key(&lab, &path, key, json!({})).await;
            assert_eq!(first.status, 202, "{}", first.body);
            assert_eq!(post_with_key(&lab, &path, key, json!({})).await.body["runId"], first.body["runId"]);
            let elsewhere = post_with_key(&lab, &format!("/api/runs/{other}/{what}"), key, json!({})).await;
            elsewhere.is_problem(409, "run_conflict");
        }
        assert_eq!(lab.get(&format!("/api/runs/{key}")).await.body["source"], run);
    }
    let path = format!("/api/runs/{run}/fork");
    post_with_key(&lab, &path, "retry-1", json!({})).await.is_problem(409, "run_conflict");
    post_with_key(&lab, &path, "fork-1", json!({"from": "charge"})).await.is_problem(409, "run_conflict");
    post_with_key(&lab, &path, "fork-1", json!({"runId": "other"})).await.is_problem(400, "bad_request");
    let runs = lab.get("/api/runs?limit=100").await.body["items"].as_array().unwrap().len();
    assert_eq!(runs, 6, "two orders, two retries, two forks");
}

#[tokio::test]
async fn a_key_makes_one_signal_also_after_the_end() {
    let lab = Lab::new().await;
    let run = lab.start("approval", Value::Null).await;
    let path = format!("/api/runs/{run}/signals/approval");
    let body = json!({"payload": {"approved": true}});
    for _ in 0..3 {
        let told = post_with_key(&lab, &path, "mail-17", body.clone()).await;
        assert_eq!((told.status.as_u16(), &told.body["signalId"]), (202, &json!("mail-17")), "{}", told.body);
    }
    let other = json!({"payload": {"approved": false}});
    post_with_key(&lab, &path, "mail-17", other).await.is_problem(409, "signal_conflict");
    post_with_key(&lab, &path, "mail-18", body.clone()).await.is_problem(409, "run_finished");
    post_with_key(&lab, &path, "mail-17", json!({"id": "mail-18"})).await.is_problem(400, "bad_request");
    lab.post(&path, body).await.is_problem(409, "run_finished");
}

#[tokio::test]
async fn a_signal_without_an_id_is_told_its_own() {
    let lab = Lab::new().await;
    let run = lab.start("approval", Value::Null).await;
    let path = format!("/api/runs/{run}/signals/approval");
    let told = lab.post(&path, json!({"payload": {"approved": true}})).await;
    let again = json!({"payload": {"approved": true}, "id": told.body["signalId"]});
    assert_eq!(lab.post(&path, again).await.status, 202);
}

/// A misspelt signal is kept, and its sender hears what was probably meant.
#[tokio::test]
async fn a_misspelt_signal_is_answered_with_the_one_that_was_meant() {
    let lab = Lab::new().await;
    let run = lab.start("approval", Value::Null).await;
    let sent = async |name: &str| lab.post(&format!("/api/runs/{run}/signals/{name}"), json!({})).await;
    let misspelt = sent("aproval").await;
    assert_eq!(misspelt.status, 202);
    let hint = "nothing in the plan of the run waits for `aproval`; did you mean `approval`?";
    assert_eq!(misspelt.body["hint"], hint);
    assert_eq!(sent("something_else").await.body["hint"], Value::Null);
    let payload = json!({"payload": {"approved": true}});
    let right = lab.post(&format!("/api/runs/{run}/signals/approval"), payload).await;
    assert_eq!(right.body.get("hint"), None);
}
