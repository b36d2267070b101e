//! Starting runs.

use reqwest::Method;
use serde_json::{Value, json};

use crate::lab::{Answer, Lab};

fn good() -> Value {
    json!({"customer": "Ada", "amount": 7})
}

#[tokio::test]
async fn a_start_is_accepted_and_says_where_the_run_is() {
    let lab = Lab::new().await;
    let answer = lab.post("/api/workflows/order/runs", json!({"input": good(), "tags": ["a", "b"]})).await;
    assert_eq!(answer.status, 202);
    assert_eq!(answer.body["status"], "running");
    let place = answer.header("location");
    assert_eq!(place, format!("/api/runs/{}", answer.body["runId"].as_str().unwrap()));
    let run = lab.get(place).await.body;
    assert_eq!(
        (&run["workflow"], &run["input"], &run["tags"]),
        (&json!("order"), &good(), &json!(["a", "b"]))
    );
}

#[tokio::test]
async fn whoever_waits_gets_the_outcome() {
    let lab = Lab::new().await;
    let answer = lab.post("/api/workflows/order/runs?wait=30s", json!({"input": good()})).await;
    assert_eq!(answer.status, 200);
    assert_eq!((&answer.body["status"], &answer.body["output"]), (&json!("completed"), &json!("paid")));
    assert_eq!(answer.body["results"]["reserve"], json!({"result": 7, "state": {}, "status": "completed"}));
    assert!(answer.header("location").starts_with("/api/runs/"));
}

#[tokio::test]
async fn whoever_waits_too_short_is_told_where_it_stands() {
    let lab = Lab::new().await;
    let answer = lab.post("/api/workflows/approval/runs?wait=1ms", json!({})).await;
    assert_eq!((answer.status.as_u16(), &answer.body["status"]), (202, &json!("waiting")));
}

#[tokio::test]
async fn a_failed_run_is_an_outcome_too() {
    let lab = Lab::new().await;
    let input = json!({"customer": "Ada", "amount": 1001});
    let answer = lab.post("/api/workflows/order/runs?wait=30s", json!({"input": input})).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.body["status"], "failed");
    assert_eq!(answer.body["error"]["code"], "too_much");
    assert_eq!(answer.body["failedStep"]["stepName"], "charge");
}

#[tokio::test]
async fn a_wrong_input_is_refused_with_everything_that_is_wrong() {
    let lab = Lab::new().await;
    let answer = lab.post("/api/workflows/order/runs", json!({"input": {"amount": 0}})).await;
    answer.is_problem(400, "invalid_input");
    let errors = answer.body["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors.iter().any(|error| error["path"] == "/amount"));
    assert_eq!(lab.get("/api/runs").await.body["items"], json!([]));
}

#[tokio::test]
async fn the_same_key_is_the_same_run() {
    let lab = Lab::new().await;
    let start = async |key: &'static str, input: Value| {
        let request = lab.request(Method::POST, "/api/workflows/order/runs").header("Idempotency-Key", key);
        Answer::of(request.json(&json!({"input": input})).send().await.unwrap()).await
    };
    assert_eq!(start("k1", good()).await.body["runId"], "k1");
    assert_eq!(start("k1", json!({"amount": 7, "customer": "Ada"})).await.status, 202);
    assert_eq!(start("\"k1\"", good()).await.body["runId"], "k1");
    start("k1", json!({"customer": "Bob", "amount": 7})).await.is_problem(409, "run_conflict");
    // A key that is no run id leads to one: those of other services have slashes and more.
    let strange = start("run-7/charge 1", good()).await.body["runId"].clone();
    assert_eq!(start("run-7/charge 1", good()).await.body["runId"], strange);
    start("", good()).await.is_problem(400, "bad_request");
    assert_eq!(lab.get("/api/runs").await.body["items"].as_array().unwrap().len(), 2);
}

/// The key that an HTTP step sends: its run and its node, of a child or a retry too.
#[tokio::test]
async fn a_key_that_is_no_run_id_stands_for_one() {
    let lab = Lab::new().await;
    let start = async |key: &[u8], input: Value| {
        let key = reqwest::header::HeaderValue::from_bytes(key).unwrap();
        let request = lab.request(Method::POST, "/api/workflows/order/runs").header("Idempotency-Key", key);
        Answer::of(request.json(&json!({"input": input})).send().await.unwrap()).await
    };
    for key in ["order-7~c1/setup/http", "größe:1/items[3]/http", "two words", &"x".repeat(1_000)] {
        let first = start(key.as_bytes(), good()).await;
        assert_eq!(first.status, 202, "{key}");
        let id = first.body["runId"].as_str().unwrap().to_owned();
        assert!(id.starts_with("key-") && id.len() == 36, "{id}");
        assert_eq!(start(key.as_bytes(), good()).await.body["runId"], id);
        start(key.as_bytes(), json!({"customer": "Bob", "amount": 7})).await.is_problem(409, "run_conflict");
    }
    assert_eq!(start("größe".as_bytes(), good()).await.body["runId"], "größe");
    start(b"\xff", good()).await.is_problem(400, "bad_request");
    start(b"", good()).await.is_problem(400, "bad_request");
    assert_eq!(lab.get("/api/runs").await.body["items"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn tags_are_few_and_short() {
    let lab = Lab::new().await;
    let start = async |tags: Value| {
        lab.post("/api/workflows/order/runs", json!({"input": good(), "tags": tags})).await
    };
    assert_eq!(start(json!(vec!["t"; 64])).await.status, 202);
    assert_eq!(start(json!(["x".repeat(256), "Größe 7", "😀"])).await.status, 202);
    let wrong = [
        json!(vec!["t"; 65]),
        json!(["x".repeat(257)]),
        json!([""]),
        json!(["a\u{202e}b"]),
        json!(["a\nb"]),
        json!(vec!["x".repeat(200); 21]),
    ];
    for tags in wrong {
        start(tags).await.is_problem(400, "invalid_tags");
    }
    assert_eq!(lab.get("/api/runs").await.body["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn ids_that_look_like_others_are_refused() {
    let lab = Lab::new().await;
    for id in ["a\u{202e}b", "a\u{200b}", "\u{feff}a", "a\u{9b}b", "a\u{7f}", "a\u{2066}b", "a\u{ad}b"] {
        let answer = lab.post("/api/workflows/order/runs", json!({"input": good(), "runId": id})).await;
        answer.is_problem(400, "invalid_run_id");
    }
}

#[tokio::test]
async fn a_chosen_id_is_the_runs_id() {
    let lab = Lab::new().await;
    let start = async |body: Value| lab.post("/api/workflows/order/runs", body).await;
    let answer = start(json!({"input": good(), "runId": "größe:1"})).await;
    assert_eq!(answer.body["runId"], "größe:1");
    assert_eq!(lab.get(answer.header("location")).await.body["runId"], "größe:1");
    start(json!({"input": good(), "runId": "a/b"})).await.is_problem(400, "invalid_run_id");
    let request = lab.request(Method::POST, "/api/workflows/order/runs").header("Idempotency-Key", "k");
    let both = Answer::of(request.json(&json!({"input": good(), "runId": "r"})).send().await.unwrap()).await;
    both.is_problem(400, "bad_request");
}

#[tokio::test]
async fn a_body_that_cannot_be_read_says_why() {
    let lab = Lab::new().await;
    let send = async |body: &'static str| {
        let request =
            lab.request(Method::POST, "/api/workflows/order/runs").header("content-type", "application/json");
        Answer::of(request.body(body).send().await.unwrap()).await
    };
    assert!(send("{\"input\":").await.is_problem(400, "bad_request").contains("is not JSON"));
    assert!(
        send(r#" [{"customer": "Ada", "amount": 1}]"#)
            .await
            .is_problem(400, "bad_request")
            .contains("a list")
    );
    let told = send(r#"{"inputs": {}}"#).await;
    assert!(told.is_problem(400, "bad_request").contains("unknown field `inputs`"), "{}", told.text);
    for input in [r#""\ud800""#, "1e999"] {
        let body: &'static str = format!(r#"{{"input": {input}}}"#).leak();
        assert!(send(body).await.is_problem(400, "not_json").contains("it is not JSON"), "{input}");
    }
    assert!(send(r#"{"tags": "a"}"#).await.is_problem(400, "bad_request").contains("expected a sequence"));
    let told = lab.post("/api/workflows/order/runs?wait=soon", json!({"input": good()})).await;
    assert!(told.is_problem(400, "bad_request").contains("500ms, 30s, 5m or 1h"));
    lab.post("/api/workflows/order/runs?wait=2h", json!({"input": good()}))
        .await
        .is_problem(400, "bad_request");
    let told = lab.post("/api/workflows/order/runs?await=2s", json!({"input": good()})).await;
    assert!(told.is_problem(400, "bad_request").contains("await"), "{}", told.text);
}

#[tokio::test]
async fn an_input_may_be_large_but_not_too_large() {
    let lab = Lab::new().await;
    let start =
        async |bytes: usize| lab.post("/api/workflows/held/runs", json!({"input": "x".repeat(bytes)})).await;
    assert_eq!(start(10 * 1024 * 1024).await.status, 202);
    start(16 * 1024 * 1024).await.is_problem(413, "payload_too_large");
    start(17 * 1024 * 1024).await.is_problem(413, "payload_too_large");
}

#[tokio::test]
async fn no_body_is_no_input() {
    let lab = Lab::new().await;
    let answer =
        Answer::of(lab.request(Method::POST, "/api/workflows/approval/runs").send().await.unwrap()).await;
    assert_eq!(answer.status, 202);
    let run = lab.get(answer.header("location")).await.body;
    assert_eq!(run["input"], Value::Null);
}

#[tokio::test]
async fn numbers_keep_their_digits() {
    let lab = Lab::new().await;
    let request =
        lab.request(Method::POST, "/api/workflows/held/runs").header("content-type", "application/json");
    let body = r#"{"input": {"n": 12345678901234567890123456789.0000000001}}"#;
    let answer = Answer::of(request.body(body).send().await.unwrap()).await;
    let place = answer.header("location").to_owned();
    assert!(lab.get(&place).await.text.contains(r#"{"n": 12345678901234567890123456789.0000000001}"#));
    assert!(
        lab.get(&format!("{place}/events")).await.text.contains("12345678901234567890123456789.0000000001")
    );
}

#[tokio::test]
async fn timeouts_and_retries_are_the_runs_own() {
    let lab = Lab::new().await;
    let body = json!({"input": 1, "timeoutMs": 1, "maxRetries": 1, "runId": "r"});
    lab.post("/api/workflows/held/runs", body).await;
    lab.until("r", "failed").await;
    assert_eq!(lab.get("/api/runs/r").await.body["error"]["code"], "run_timeout");
    assert_eq!(lab.get("/api/runs/r").await.body["retriedAs"], "r~1");
}
