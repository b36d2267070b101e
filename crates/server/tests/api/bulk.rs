//! One request to many runs.

use reqwest::Method;
use serde_json::{Value, json};

use crate::lab::{Answer, Lab};

async fn waiting(lab: &Lab, ids: &[&str]) {
    for id in ids {
        lab.post("/api/workflows/approval/runs", json!({"runId": id, "tags": ["batch"]})).await;
        lab.until(id, "waiting").await;
    }
}

#[tokio::test]
async fn a_dry_run_says_whom_it_would_reach() {
    let lab = Lab::new().await;
    waiting(&lab, &["a", "b"]).await;
    lab.finish("order", json!({"customer": "Ada", "amount": 1})).await;
    let body = json!({"action": "cancel", "filter": {}, "dryRun": true});
    let answer = lab.post("/api/runs/bulk", body).await;
    assert_eq!(answer.status, 200);
    let results = json!([{"runId": "b", "status": "waiting"}, {"runId": "a", "status": "waiting"}]);
    assert_eq!(
        answer.body,
        json!({"matched": 2, "more": false, "cursor": null, "dryRun": true, "results": results})
    );
    assert_eq!(lab.get("/api/runs?status=waiting").await.body["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn runs_are_cancelled_by_filter_and_counted() {
    let lab = Lab::new().await;
    waiting(&lab, &["a", "b", "c"]).await;
    let body = json!({"action": "cancel", "filter": {"tag": "batch", "status": ["waiting"]}, "reason": "over", "limit": 2});
    let answer = lab.post("/api/runs/bulk", body.clone()).await.body;
    assert_eq!((&answer["matched"], &answer["more"]), (&json!(2), &json!(true)));
    assert_eq!(answer["results"][0], json!({"runId": "c", "status": "cancelled"}));
    assert_eq!(lab.post("/api/runs/bulk", body.clone()).await.body["matched"], 1);
    assert_eq!(lab.post("/api/runs/bulk", body).await.body["matched"], 0);
    assert_eq!(lab.get("/api/runs/a").await.body["reason"], "over");
}

/// What a list can be filtered by, so can a request to many runs.
#[tokio::test]
async fn runs_are_reached_by_their_input_and_without_children() {
    let lab = Lab::new().await;
    for (id, customer) in [("a", "Ada"), ("b", "Bo"), ("c", "Ada")] {
        let order = json!({"runId": id, "input": {"customer": customer, "amount": 1001}});
        lab.post("/api/workflows/order/runs?wait=30s", order).await;
    }
    let reach = async |filter: Value, limit: u32, cursor: Value| {
        let mut body = json!({"action": "retry", "filter": filter, "dryRun": true, "limit": limit});
        if !cursor.is_null() {
            body["cursor"] = cursor;
        }
        lab.post("/api/runs/bulk", body).await.body
    };
    let ids = |body: &Value| {
        let results = body["results"].as_array().unwrap().iter();
        results.map(|run| run["runId"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ada = json!({"input": "customer=Ada"});
    assert_eq!(ids(&reach(ada.clone(), 9, Value::Null).await), ["c", "a"]);
    let first = reach(ada.clone(), 1, Value::Null).await;
    assert_eq!((ids(&first), &first["more"]), (vec!["c".to_owned()], &json!(true)));
    let second = reach(ada, 1, first["cursor"].clone()).await;
    assert_eq!((ids(&second), &second["more"]), (vec!["a".to_owned()], &json!(false)));
    let refused = lab.post("/api/runs/bulk", json!({"action": "retry", "filter": {"input": "x"}})).await;
    refused.is_problem(400, "bad_request");
    // A child that failed is asked for again by its parent, unless it is asked for itself.
    lab.post("/api/workflows/parent/runs", json!({"input": 1, "runId": "p"})).await;
    lab.until("p~c1", "running").await;
    lab.post("/api/runs/p~c1/kill", json!({})).await;
    let cancelled = json!({"status": ["cancelled"]});
    assert_eq!(ids(&reach(cancelled, 9, Value::Null).await), Vec::<String>::new());
    assert_eq!(ids(&reach(json!({"parent": "p"}), 9, Value::Null).await), ["p~c1"]);
    assert_eq!(
        ids(&reach(json!({"parent": "p", "roots": true}), 9, Value::Null).await),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn given_runs_are_answered_one_by_one() {
    let lab = Lab::new().await;
    waiting(&lab, &["a"]).await;
    let failed = lab.finish("order", json!({"customer": "Ada", "amount": 1001})).await;
    let body = json!({"action": "retry", "runIds": [failed, "a", "nobody"]});
    let results = lab.post("/api/runs/bulk", body).await.body["results"].clone();
    assert_eq!(results[0]["runId"], failed);
    assert!(results[0]["retriedAs"].is_string());
    assert_eq!(results[1]["error"]["code"], "not_retryable");
    assert_eq!(results[2]["error"]["code"], "run_not_found");
}

#[tokio::test]
async fn pause_and_resume_reach_only_those_that_they_make_sense_for() {
    let lab = Lab::new().await;
    waiting(&lab, &["a", "b"]).await;
    lab.post("/api/runs/a/pause", json!({})).await;
    let ask =
        async |action: &str| lab.post("/api/runs/bulk", json!({"action": action, "filter": {}})).await.body;
    let reached = |body: &Value| body["results"].as_array().unwrap().len();
    assert_eq!(reached(&ask("pause").await), 1);
    assert_eq!(reached(&ask("resume").await), 2);
    assert_eq!(reached(&ask("retry").await), 0);
    assert_eq!(reached(&ask("kill").await), 2);
}

#[tokio::test]
async fn a_request_to_nobody_in_particular_is_refused() {
    let lab = Lab::new().await;
    for (body, told) in [
        (json!({"action": "cancel"}), "either `runIds` or `filter`"),
        (json!({"action": "cancel", "runIds": ["a"], "filter": {}}), "either `runIds` or `filter`"),
        (json!({"action": "cancel", "filter": {}, "limit": 0}), "it can be 1 to 1000"),
        (json!({"action": "cancel", "runIds": ["a", "b"], "limit": 1}), "more than `limit`"),
        (json!({"action": "cancel", "filter": {"status": []}}), "leave it out for all"),
        (json!({"action": "explode", "filter": {}}), "unknown variant `explode`"),
        (json!({"action": "cancel", "filter": {"stauts": []}}), "unknown field `stauts`"),
        (json!({"action": "cancel", "filter": {"from": "soon"}}), "`from` is `soon`"),
    ] {
        let answer = lab.post("/api/runs/bulk", body).await;
        assert!(answer.is_problem(400, "bad_request").contains(told), "{}", answer.text);
    }
}

#[tokio::test]
async fn each_run_is_retried_once() {
    let lab = Lab::new().await;
    waiting(&lab, &["a", "b", "c"]).await;
    lab.post("/api/runs/bulk", json!({"action": "cancel", "filter": {"tag": "batch"}})).await;
    let mut retried = Vec::new();
    let mut body = json!({"action": "retry", "filter": {"tag": "batch"}, "limit": 2});
    loop {
        let answer = lab.post("/api/runs/bulk", body.clone()).await.body;
        retried.extend(answer["results"].as_array().unwrap().iter().map(|run| run["runId"].clone()));
        assert_eq!(answer["more"], !answer["cursor"].is_null());
        if answer["cursor"].is_null() {
            break;
        }
        body["cursor"] = answer["cursor"].clone();
    }
    assert_eq!(retried, ["c", "b", "a"]);
    let twice = json!({"action": "retry", "runIds": ["a", "a"]});
    assert_eq!(lab.post("/api/runs/bulk", twice).await.body["matched"], 1);
}

#[tokio::test]
async fn a_dry_run_says_what_would_be_refused() {
    let lab = Lab::new().await;
    waiting(&lab, &["a"]).await;
    let done = lab.finish("order", json!({"customer": "Ada", "amount": 1})).await;
    let body = json!({"action": "cancel", "runIds": ["a", done, "nobody"], "dryRun": true});
    let results = lab.post("/api/runs/bulk", body).await.body["results"].clone();
    assert_eq!(results[0], json!({"runId": "a", "status": "waiting"}));
    assert_eq!(results[1]["error"]["code"], "run_finished");
    assert_eq!(results[2]["error"]["code"], "run_not_found");
}

#[tokio::test]
async fn a_key_retries_each_run_once() {
    let lab = Lab::new().await;
    for _ in 0..2 {
        lab.finish("order", json!({"customer": "Ada", "amount": 1001})).await;
    }
    let ask = async |key: &str, runs: Value| {
        let body = json!({"action": "retry", "runIds": runs});
        let request = lab.request(Method::POST, "/api/runs/bulk").header("Idempotency-Key", key).json(&body);
        Answer::of(request.send().await.unwrap()).await.body["results"].clone()
    };
    let failed = lab.get("/api/runs?status=failed").await.body["items"].clone();
    let runs: Value = failed.as_array().unwrap().iter().map(|run| run["runId"].clone()).collect();
    let first = ask("k", runs.clone()).await;
    let next = |results: &Value, place: usize| results[place]["retriedAs"].as_str().unwrap().to_owned();
    let again = ask("k", runs.clone()).await;
    for place in [0, 1] {
        assert_eq!(next(&first, place), next(&again, place));
    }
    assert_ne!(next(&first, 0), next(&first, 1));
    assert_ne!(next(&first, 0), next(&ask("other", runs).await, 0));
}
