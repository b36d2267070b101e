//! Starting runs: ids, inputs, conflicts, and what an engine knows.

use futures::future::join_all;
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{NodeStatus, RegisterError, RunStatus, StartError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape, output, results};

facts![
    run_returns_id_and_status_at_once,
    several_workflows_share_an_engine,
    an_unknown_workflow_lists_the_known_ones,
    generated_ids_are_uuids_in_time_order,
    a_given_id_is_used,
    an_id_that_cannot_be_one_is_refused,
    the_same_id_and_input_is_the_same_run,
    the_same_id_with_another_input_is_a_conflict,
    the_same_id_with_another_workflow_is_a_conflict,
    concurrent_starts_with_one_id_create_one_run,
    workflows_are_listed_with_their_schema,
    a_duplicate_name_is_refused,
    a_missing_resource_is_refused,
    state_is_readable_after_the_end,
    invalid_input_tells_every_violation_and_creates_nothing,
    input_that_is_too_large_is_refused,
    input_that_is_not_json_is_refused,
];

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    id: u32,
    note: Option<String>,
}

#[step]
async fn double(Input(order): Input<Order>) -> Result<u32, StepError> {
    Ok(order.id * 2)
}

fn orders() -> Workflow<Order, u32> {
    Workflow::new("orders").description("doubles").input::<Order>().step(double).build().unwrap()
}

fn other() -> Workflow<(), u32> {
    Workflow::new("other").step(Tape::default().step("only")).build().unwrap()
}

async fn both(lab: &Lab) -> TestEngine {
    lab.builder().workflow(orders()).workflow(other()).build().await.unwrap()
}

async fn run_returns_id_and_status_at_once(lab: Lab) {
    let gate = Gate::default();
    let workflow = Workflow::new("w").step(Tape::default().gated("wait", &gate)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(run.status(), RunStatus::Running);
    assert_eq!(engine.active_runs(), [run.id().clone()]);
    gate.open();
    assert_eq!(run.output().await.unwrap(), 1);
}

async fn several_workflows_share_an_engine(lab: Lab) {
    let engine = both(&lab).await;
    let order = engine.run(&orders(), Order { id: 4, note: None }).await.unwrap();
    let only = engine.run("other", ()).await.unwrap();
    assert_eq!(order.output().await.unwrap(), 8);
    assert_eq!(output(&only.wait().await.unwrap()), 1);
}

async fn an_unknown_workflow_lists_the_known_ones(lab: Lab) {
    let error = both(&lab).await.run("ordres", ()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "no workflow is called `ordres`; registered are: orders, other; did you mean `orders`?"
    );
    assert_eq!(error.code(), "unknown_workflow");
    let error = lab.builder().build().await.unwrap().run("ordres", ()).await.unwrap_err();
    assert_eq!(error.to_string(), "no workflow is called `ordres`; registered are: none");
}

async fn generated_ids_are_uuids_in_time_order(lab: Lab) {
    let engine = both(&lab).await;
    let first = engine.run("other", ()).await.unwrap();
    let second = engine.run("other", ()).await.unwrap();
    assert!(first.id() < second.id());
    for run in [first, second] {
        let id = run.id().as_str();
        assert_eq!((id.len(), &id[14..15]), (36, "7"), "{id}");
    }
}

async fn a_given_id_is_used(lab: Lab) {
    let engine = both(&lab).await;
    let run = engine.run("other", ()).id("order-7").tag("blue").await.unwrap();
    assert_eq!(run.id().as_str(), "order-7");
    engine.finish(run.id()).await.unwrap();
    let view = engine.get(run.id()).await.unwrap();
    assert_eq!((view.tags, view.workflow.as_str()), (vec!["blue".to_owned()], "other"));
}

async fn an_id_that_cannot_be_one_is_refused(lab: Lab) {
    let engine = both(&lab).await;
    for id in ["", "a b", "a/b", "a\n", "-", ".", "..", &"x".repeat(201)] {
        let error = engine.run("other", ()).id(id).await.unwrap_err();
        assert!(matches!(error, StartError::InvalidRunId(_)), "{id}: {error}");
    }
}

async fn the_same_id_and_input_is_the_same_run(lab: Lab) {
    let engine = both(&lab).await;
    let first = engine.run("orders", json!({ "id": 1, "note": "x" })).id("a").await.unwrap();
    engine.finish(first.id()).await.unwrap();
    // `json!` sorts keys, so this one is text.
    let swapped: Box<serde_json::value::RawValue> = serde_json::from_str(r#"{"note":"x", "id":1}"#).unwrap();
    let again = engine.run("orders", swapped).id("a").await.unwrap();
    assert_eq!((again.id(), again.status()), (first.id(), RunStatus::Completed));
    assert_eq!(engine.runs(&Default::default(), &Default::default()).await.unwrap().len(), 1);
}

async fn the_same_id_with_another_input_is_a_conflict(lab: Lab) {
    let engine = both(&lab).await;
    engine.run("orders", json!({ "id": 1 })).id("a").await.unwrap();
    let error = engine.run("orders", json!({ "id": 2 })).id("a").await.unwrap_err();
    assert_eq!(error.code(), "run_conflict");
    assert!(error.to_string().contains("`a`"), "{error}");
}

async fn the_same_id_with_another_workflow_is_a_conflict(lab: Lab) {
    let engine = both(&lab).await;
    engine.run("orders", json!({ "id": 1 })).id("a").await.unwrap();
    let error = engine.run("other", json!({ "id": 1 })).id("a").await.unwrap_err();
    assert!(matches!(error, StartError::Conflict(_)), "{error}");
}

async fn concurrent_starts_with_one_id_create_one_run(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w").step(tape.step("only")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let starts = (0..50).map(|_| {
        let request = engine.run(&workflow, ()).id("same");
        tokio::spawn(async move { request.await.unwrap().id().to_string() })
    });
    for started in join_all(starts).await {
        assert_eq!(started.unwrap(), "same");
    }
    engine.finish(&"same".into()).await.unwrap();
    assert_eq!(tape.count("only"), 1);
}

async fn workflows_are_listed_with_their_schema(lab: Lab) {
    let list = both(&lab).await.list();
    let names: Vec<_> = list.iter().map(|it| (it.name.as_str(), it.step_count)).collect();
    assert_eq!(names, [("orders", 1), ("other", 1)]);
    assert_eq!(list[0].description.as_deref(), Some("doubles"));
    assert_eq!(list[0].input_schema.as_ref().unwrap()["properties"]["id"]["type"], "integer");
    assert_eq!(list[0].plan_hash, orders().hash().to_string());
    assert!(list[1].input_schema.is_none());
}

async fn a_duplicate_name_is_refused(lab: Lab) {
    let engine = both(&lab).await;
    let error = engine.register(orders()).await.unwrap_err();
    assert!(matches!(&error, RegisterError::Duplicate(name) if name == "orders"), "{error}");
    let error = lab.builder().workflow(orders()).workflow(orders()).build().await.unwrap_err();
    assert!(error.to_string().starts_with("a workflow called `orders` is registered already"), "{error}");
}

async fn a_missing_resource_is_refused(lab: Lab) {
    async fn needs(_forest: Res<String>) -> Result<(), StepError> {
        Ok(())
    }
    let workflow = Workflow::new("w").step(needs).build().unwrap();
    let error = lab.builder().workflow(&workflow).build().await.unwrap_err();
    assert!(error.to_string().contains("asks for Res<alloc::string::String>"), "{error}");
    assert!(lab.builder().provide(String::new()).workflow(&workflow).build().await.is_ok());
}

async fn state_is_readable_after_the_end(lab: Lab) {
    let engine = both(&lab).await;
    let run = engine.run("orders", json!({ "id": 3 })).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    let view = run.state().await.unwrap();
    assert_eq!((view.status, view.output.unwrap().to_json()), (RunStatus::Completed, json!(6)));
    assert_eq!((view.input.to_json(), view.steps[0].status), (json!({ "id": 3 }), NodeStatus::Completed));
    assert_eq!(results(&outcome), json!({ "double": { "result": 6, "state": {}, "status": "completed" } }));
    assert!(engine.active_runs().is_empty());
}

async fn invalid_input_tells_every_violation_and_creates_nothing(lab: Lab) {
    let engine = both(&lab).await;
    let error = engine.run("orders", json!({ "id": "x", "note": 1 })).await.unwrap_err();
    let StartError::InvalidInput { violations, .. } = &error else { panic!("{error}") };
    let mut paths: Vec<_> = violations.iter().map(|it| it.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/id", "/note"]);
    assert!(engine.runs(&Default::default(), &Default::default()).await.unwrap().is_empty());
}

async fn input_that_is_too_large_is_refused(lab: Lab) {
    let builder = lab.builder().configure(|it| it.max_payload_bytes(64)).workflow(other());
    let error = builder.build().await.unwrap().run("other", "x".repeat(64)).await.unwrap_err();
    assert_eq!(error.to_string(), "the input of workflow `other` has 66 bytes, more than the limit of 64");
}

async fn input_that_is_not_json_is_refused(lab: Lab) {
    let engine = both(&lab).await;
    let error = engine.run("other", [1.0, f64::NAN]).await.unwrap_err();
    assert_eq!(error.code(), "not_json");
    assert!(error.to_string().contains("NaN"), "{error}");
}
