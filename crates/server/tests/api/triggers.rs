//! What a completed run triggers, over HTTP.

use rival::prelude::*;
use serde_json::{Value, json};

use crate::lab::Lab;

async fn gives(Input(value): Input<Value>) -> Result<Value, StepError> {
    Ok(value)
}

/// `source` triggers `target` for each of its `items`, and `later`, which is not there.
async fn with_triggers(lab: &Lab) {
    let each =
        Trigger::to("target").for_each(TriggerValue::output().at("items")).input("n", TriggerValue::item());
    let later = Trigger::to("later").input_from(TriggerValue::output().at("later"));
    let source = Workflow::new("source").input::<Value>().step(gives).trigger(each).trigger(later);
    lab.engine.register(source.build().unwrap()).await.unwrap();
    let target = Workflow::new("target").input::<Value>().step(gives);
    lab.engine.register(target.build().unwrap()).await.unwrap();
}

/// Runs `source`, and the run that starts what it triggers, to their ends.
async fn completed(lab: &Lab, input: Value) -> String {
    let run = lab.finish("source", input).await;
    lab.get(&format!("/api/runs/{run}~triggers/wait")).await;
    run
}

async fn ids(lab: &Lab, query: &str) -> Vec<String> {
    let page = lab.get(&format!("/api/runs?{query}")).await.body;
    let mut ids: Vec<String> =
        page["items"].as_array().unwrap().iter().map(|it| it["runId"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn a_run_shows_what_it_triggered() {
    let lab = Lab::new().await;
    with_triggers(&lab).await;
    let run = completed(&lab, json!({"items": [4, 5]})).await;
    let shown = lab.get(&format!("/api/runs/{run}")).await.body;
    assert_eq!((&shown["status"], &shown["triggerStatus"]), (&json!("completed"), &json!("triggered")));
    assert_eq!(shown["triggerRun"], format!("{run}~triggers"));
    assert_eq!(
        shown["triggers"],
        json!([
            {"index": 0, "workflow": "target", "status": "triggered", "started": 2,
                "runs": [format!("{run}~t0.0"), format!("{run}~t0.1")]},
            {"index": 1, "workflow": "later", "status": "skipped", "started": 0, "runs": [],
                "reason": {"code": "missing_ref", "message": "`output.later` is not there"}},
        ])
    );
    let started = lab.get(&format!("/api/runs/{run}~t0.1")).await.body;
    assert_eq!(started["input"], json!({"n": 5}));
    assert_eq!(started["trigger"], json!({"run": run, "index": 0, "item": 1, "depth": 1}));
    assert_eq!((&started["source"], started.get("triggerStatus")), (&json!(run), None));
    let graph = lab.get("/api/workflows/source/graph").await.body;
    assert_eq!(graph["triggers"], json!([{"workflow": "target", "forEach": true}, {"workflow": "later"}]));
}

#[tokio::test]
async fn system_runs_are_listed_only_if_they_are_asked_for() {
    let lab = Lab::new().await;
    with_triggers(&lab).await;
    let run = completed(&lab, json!({"items": [1]})).await;
    let (system, started) = (format!("{run}~triggers"), format!("{run}~t0.0"));
    let mut authored = vec![run.clone(), started.clone()];
    authored.sort();
    assert_eq!(ids(&lab, "").await, authored);
    assert_eq!(ids(&lab, "roots=true").await, authored);
    assert_eq!(ids(&lab, "workflow=rival:triggers").await, std::slice::from_ref(&system));
    let mut all = vec![run.clone(), started.clone(), system.clone()];
    all.sort();
    assert_eq!(ids(&lab, "system=true").await, all);
    assert_eq!(ids(&lab, &format!("source={run}")).await, std::slice::from_ref(&started));
    assert!(lab.get("/api/workflows").await.body["items"].to_string().find("rival:").is_none());
    lab.get("/api/workflows/rival:triggers").await.is_problem(404, "unknown_workflow");
    let refused = lab.post("/api/workflows/rival:triggers/runs", json!({"input": {"source": run}})).await;
    refused.is_problem(404, "unknown_workflow");
}

#[tokio::test]
async fn failed_triggers_are_done_again() {
    let lab = Lab::new().await;
    with_triggers(&lab).await;
    let run = completed(&lab, json!({"items": [], "later": 9})).await;
    let shown = lab.get(&format!("/api/runs/{run}")).await.body;
    assert_eq!(shown["triggerStatus"], "failed");
    assert_eq!(shown["triggers"][1]["reason"]["code"], "unknown_workflow");
    let later = Workflow::new("later").input::<Value>().step(gives);
    lab.engine.register(later.build().unwrap()).await.unwrap();

    let again = lab.post(&format!("/api/runs/{run}/triggers/retry"), json!({})).await;
    assert_eq!((again.status.as_u16(), &again.body["runId"]), (202, &json!(format!("{run}~triggers~1"))));
    assert_eq!(lab.get(&format!("{}/wait", again.header("location"))).await.body["status"], "completed");
    assert_eq!(lab.get(&format!("/api/runs/{run}")).await.body["triggerStatus"], "triggered");
    assert_eq!(lab.get(&format!("/api/runs/{run}~t1")).await.body["input"], 9);

    let done = lab.post(&format!("/api/runs/{run}/triggers/retry"), json!({})).await;
    done.is_problem(409, "not_retryable");
    let none = lab.post(&format!("/api/runs/{run}~t1/triggers/retry"), json!({})).await;
    none.is_problem(404, "run_not_found");
    lab.post("/api/runs/nobody/triggers/retry", json!({})).await.is_problem(404, "run_not_found");
}
