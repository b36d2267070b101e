//! Looking at runs.

use serde_json::{Value, json};

use crate::lab::Lab;

fn ids(answer: &Value) -> Vec<&str> {
    answer["items"].as_array().unwrap().iter().map(|run| run["runId"].as_str().unwrap()).collect()
}

/// Three orders of Ada, Bob and Ada, the last one failed; and one that waits.
async fn some_runs(lab: &Lab) {
    for (id, customer, amount) in [("a", "Ada", 1), ("b", "Bob", 2), ("c", "Ada", 1001)] {
        let input = json!({"customer": customer, "amount": amount});
        let body = json!({"input": input, "runId": id, "tags": [format!("tag-{id}")]});
        assert_eq!(lab.post("/api/workflows/order/runs?wait=30s", body).await.status, 200);
    }
    lab.post("/api/workflows/approval/runs", json!({"runId": "d"})).await;
    lab.until("d", "waiting").await;
}

#[tokio::test]
async fn runs_are_listed_newest_first_by_every_filter() {
    let lab = Lab::new().await;
    some_runs(&lab).await;
    let created = lab.get("/api/runs/c").await.body["createdAt"].as_i64().unwrap();
    let list = async |query: String| ids(&lab.get(&format!("/api/runs?{query}")).await.body).join(" ");
    assert_eq!(list(String::new()).await, "d c b a");
    assert_eq!(list("workflow=order".into()).await, "c b a");
    assert_eq!(list("status=failed,waiting".into()).await, "d c");
    assert_eq!(list("status=failed&limit=9&status=waiting".into()).await, "d c");
    assert_eq!(list("status=completed&workflow=order".into()).await, "b a");
    assert_eq!(list("tag=tag-b".into()).await, "b");
    assert_eq!(list("input=customer=Ada".into()).await, "c a");
    assert_eq!(list("input=amount%3D2".into()).await, "b");
    assert_eq!(list("input=customer=Ada&limit=1".into()).await, "c");
    assert!(!list(format!("to={created}&workflow=order")).await.contains('c'));
    assert!(list(format!("from={created}")).await.starts_with("d c"));
    assert_eq!(list("from=2100-01-01T00:00:00Z".into()).await, "");
    assert_eq!(list("workflow=nobody".into()).await, "");
}

#[tokio::test]
async fn pages_follow_each_other() {
    let lab = Lab::new().await;
    some_runs(&lab).await;
    for filter in ["", "&input=customer=Ada"] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = lab.get(&format!("/api/runs?limit=1{filter}{cursor}")).await.body;
            found.extend(ids(&page).into_iter().map(str::to_owned));
            match page["cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(found.join(" "), if filter.is_empty() { "d c b a" } else { "c a" });
    }
}

#[tokio::test]
async fn children_are_found_by_their_parent() {
    let lab = Lab::new().await;
    lab.gate.open();
    lab.post("/api/workflows/parent/runs?wait=30s", json!({"input": 1, "runId": "p"})).await;
    assert_eq!(ids(&lab.get("/api/runs?parent=p").await.body), ["p~c1"]);
    let all = lab.get("/api/runs").await.body;
    assert!(ids(&all).contains(&"p~c1") && all["items"][0]["children"].is_null(), "{all}");
    let roots = lab.get("/api/runs?roots=true&limit=1").await.body;
    assert_eq!((ids(&roots), &roots["items"][0]["children"]), (vec!["p"], &json!(1)));
    assert_eq!(ids(&lab.get("/api/runs?roots=true&parent=p").await.body), Vec::<&str>::new());
    lab.get("/api/runs?roots=maybe").await.is_problem(400, "bad_request");
    let step = &lab.get("/api/runs/p/steps").await.body["items"][0];
    assert_eq!(step["operations"][0]["children"][0]["runId"], "p~c1");
}

#[tokio::test]
async fn a_wrong_filter_says_what_would_be_right() {
    let lab = Lab::new().await;
    for (query, told) in [
        ("status=faild", "the statuses are queued, running"),
        ("from=yesterday", "2026-11-15T14:30:00Z"),
        ("status=", "leave it out for all"),
        ("status=failed,", "is not a run status"),
        ("status=failed&status", "is not a run status"),
        ("tag=a&tag=b", "duplicate field `tag`"),
        ("limit=0", "it can be 1 to 1000"),
        ("limit=1001", "it can be 1 to 1000"),
        ("limit=many", "limit"),
        ("cursor=x", "give the cursor of the page before"),
        ("input=customer", "customer.id=42"),
        ("stauts=failed", "unknown field `stauts`"),
    ] {
        let answer = lab.get(&format!("/api/runs?{query}")).await;
        assert!(answer.is_problem(400, "bad_request").contains(told), "{query}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_run_is_shown_with_everything() {
    let lab = Lab::new().await;
    some_runs(&lab).await;
    let run = lab.get("/api/runs/c").await.body;
    assert_eq!(run["status"], "failed");
    assert_eq!((&run["error"]["code"], &run["error"]["message"]), (&json!("too_much"), &json!("too much")));
    assert_eq!(run["error"]["origin"]["file"], "crates/server/tests/api/lab.rs");
    assert_eq!(run["failedStep"], json!({"stepName": "charge", "path": "charge"}));
    let [reserve, charge] = [&run["steps"][0], &run["steps"][1]];
    assert_eq!(
        (&reserve["result"], &reserve["status"], &reserve["retryCount"]),
        (&json!(1001), &json!("completed"), &json!(0))
    );
    assert_eq!(
        (&charge["error"]["code"], &charge["error"]["attemptNumber"]),
        (&json!("too_much"), &json!(1))
    );
    assert_eq!(lab.get("/api/runs/c/steps").await.body["items"], run["steps"]);
}

#[tokio::test]
async fn a_history_is_read_a_page_at_a_time() {
    let lab = Lab::new().await;
    some_runs(&lab).await;
    let all = lab.get("/api/runs/a/events").await.body;
    let events = all["items"].as_array().unwrap();
    assert_eq!(all["cursor"], Value::Null);
    let first = &events[0];
    assert_eq!(
        (&first["seq"], &first["type"], &first["cause"]),
        (&json!(1), &json!("runStarted"), &json!({"outside": "request"}))
    );
    assert_eq!(first["data"]["input"]["customer"], "Ada");
    let started = &events[1];
    assert_eq!(
        (&started["type"], &started["node"], &started["cause"]),
        (&json!("callStarted"), &json!("reserve"), &json!({"event": 1}))
    );
    let (mut read, mut after) = (Vec::new(), Some("0".to_owned()));
    while let Some(cursor) = after {
        let page = lab.get(&format!("/api/runs/a/events?cursor={cursor}&limit=2")).await.body;
        read.extend(page["items"].as_array().unwrap().clone());
        after = page["cursor"].as_str().map(str::to_owned);
    }
    assert_eq!(read, *events);
}

#[tokio::test]
async fn a_log_is_read_and_read_on() {
    let lab = Lab::new().await;
    some_runs(&lab).await;
    let all = lab.get("/api/runs/a/logs").await.body;
    let [reserved, charging] = [&all["items"][0], &all["items"][1]];
    assert_eq!(
        (&reserved["message"], &reserved["level"], &reserved["stepName"]),
        (&json!("reserved"), &json!("info"), &json!("reserve"))
    );
    assert_eq!(reserved["metadata"], json!({"customer": "Ada"}));
    assert_eq!((&charging["message"], charging.get("metadata")), (&json!("charging"), None));
    let after = &reserved["no"];
    assert_eq!(lab.get(&format!("/api/runs/a/logs?cursor={after}")).await.body["items"], json!([charging]));
    assert_eq!(lab.get("/api/runs/a/logs?level=warn").await.body["items"], json!([charging]));
    assert_eq!(lab.get("/api/runs/a/logs?step=reserve").await.body["items"], json!([reserved]));
    assert_eq!(lab.get("/api/runs/a/logs?limit=1").await.body["items"], json!([charging]));
    let end = lab.get(&format!("/api/runs/a/logs?cursor={}", all["cursor"].as_str().unwrap())).await.body;
    assert_eq!(end, json!({"items": [], "cursor": null}));
    lab.get("/api/runs/a/logs?level=loud").await.is_problem(400, "bad_request");
}

#[tokio::test]
async fn a_run_is_drawn_with_where_its_nodes_stand() {
    let lab = Lab::new().await;
    some_runs(&lab).await;
    let graph = lab.get("/api/runs/c/graph").await.body;
    assert_eq!(graph["nodes"][0]["path"], "reserve");
    assert_eq!(graph["statuses"], json!({"charge": "failed", "reserve": "completed"}));
    assert!(lab.get("/api/runs/c/graph/dot").await.text.starts_with("digraph"));
}

#[tokio::test]
async fn a_run_is_explained() {
    let lab = Lab::new().await;
    some_runs(&lab).await;
    let told = lab.get("/api/runs/d/explain").await.body["explanation"].as_str().unwrap().to_owned();
    assert!(told.contains("waits at `approval` for the signal `approval`"), "{told}");
}

#[tokio::test]
async fn a_run_is_waited_for() {
    let lab = Lab::new().await;
    some_runs(&lab).await;
    assert_eq!(lab.get("/api/runs/a/wait").await.body["output"], "paid");
    let told = lab.get("/api/runs/d/wait?timeout=1ms").await;
    assert!(told.is_problem(408, "wait_timeout").contains("for the signal `approval`"));
    let waits = lab.get("/api/runs/d/wait");
    let sends = lab.post("/api/runs/d/signals/approval", json!({"payload": {"approved": true}}));
    let (outcome, _) = tokio::join!(waits, sends);
    assert_eq!(outcome.body["output"], json!({"approved": true}));
}

#[tokio::test]
async fn an_unknown_run_is_not_found_anywhere() {
    let lab = Lab::new().await;
    for below in ["", "/steps", "/events", "/logs", "/graph", "/explain", "/wait", "/stream", "/export"] {
        let told = lab.get(&format!("/api/runs/nobody{below}")).await;
        assert_eq!(told.is_problem(404, "run_not_found"), "run `nobody` not found", "{below}");
    }
    for below in ["cancel", "kill", "pause", "resume", "retry", "fork", "signals/x"] {
        lab.post(&format!("/api/runs/nobody/{below}"), json!({})).await.is_problem(404, "run_not_found");
    }
}

#[tokio::test]
async fn a_run_goes_from_one_server_to_another() {
    let (here, there) = (Lab::new().await, Lab::new().await);
    some_runs(&here).await;
    let archive = here.get("/api/runs/c/export").await.body;
    let taken = there.post("/api/runs/import", archive.clone()).await;
    assert_eq!((taken.status.as_u16(), &taken.body), (201, &json!({"runId": "c", "status": "failed"})));
    assert_eq!(there.post("/api/runs/import", archive.clone()).await.status, 200);
    let mut run = here.get("/api/runs/c").await.body;
    run["tags"].as_array_mut().unwrap().push(json!("imported"));
    assert_eq!(there.get("/api/runs/c").await.body, run);
    let waits = here.get("/api/runs/d/export").await.body;
    there.post("/api/runs/import", waits).await.is_problem(400, "run_not_ended");
    there.post("/api/runs/import", json!({"format": "other"})).await.is_problem(400, "invalid_archive");
    there
        .post(
            "/api/workflows/order/runs?wait=30s",
            json!({"input": {"customer": "X", "amount": 1}, "runId": "b"}),
        )
        .await;
    let other = here.get("/api/runs/b/export").await.body;
    there.post("/api/runs/import", other).await.is_problem(409, "run_conflict");
}
