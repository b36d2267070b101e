//! Error handlers: called once, told everything, changing nothing.

use std::sync::{Arc, Mutex};

use rival::prelude::*;
use rival::{NodeStatus, RunId, StartError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::lab::{Lab, facts, told};
use crate::steps::{Tape, failure, output};

facts![
    the_steps_handler_comes_first_then_the_workflows,
    a_handler_is_told_everything,
    a_handler_is_not_called_for_an_attempt_that_is_retried,
    a_soft_failure_calls_only_the_steps_handler,
    a_handler_that_fails_changes_nothing,
    a_handler_that_panics_changes_nothing,
    refused_input_calls_the_workflows_handler,
    a_handler_for_refused_input_that_panics_changes_nothing,
    a_nested_workflows_handler_comes_before_the_outer_one,
    a_handler_is_in_the_history,
    a_completed_run_calls_no_handler,
];

async fn the_steps_handler_comes_first_then_the_workflows(lab: Lab) {
    let tape = Tape::default();
    let bad = tape.failing("bad").retry(2).on_error(tape.handler("step"));
    let workflow = Workflow::new("w").on_error(tape.handler("run")).step(tape.step("a")).step(bad);
    let workflow = workflow.step(tape.step("never")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(failure(&engine.finish(run.id()).await.unwrap()), "bad: bad failed in attempt 2");
    let told = ["a", "bad", "bad", "step(bad: bad failed in attempt 2)", "run(bad: bad failed in attempt 2)"];
    assert_eq!(tape.entries(), told);
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    id: u32,
}

/// Writes down all that a handler is told.
fn collecting(told: &Arc<Mutex<Vec<Value>>>) -> rival::TypedStep<()> {
    let told = Arc::clone(told);
    let handler = move |failure: Failure, run: Run| {
        let told = Arc::clone(&told);
        async move {
            let (step, state) = (&failure.failed_step, &failure.workflow_state);
            let earlier = state.steps.get("earlier").await?;
            told.lock().unwrap().push(json!({
                "error": { "code": failure.error.code, "message": failure.error.message },
                "failedStep": {
                    "stepName": step.step_name, "path": step.path, "status": step.status,
                    "state": step.state.to_json(), "result": step.result.as_ref().map(|it| it.to_json()),
                },
                "workflowState": {
                    "runId": state.run_id, "workflowName": state.workflow_name, "status": state.status,
                    "input": state.input.to_json(),
                    "earlier": earlier.map(|it| json!([it.result.map(|it| it.to_json()), it.status])),
                    "runOfTheCall": run.run_id(),
                },
            }));
            Ok::<_, StepError>(())
        }
    };
    handler.named("collect")
}

async fn a_handler_is_told_everything(lab: Lab) {
    let seen = Arc::default();
    let bad = |state: State| async move {
        state.set("reached", 1)?;
        Err::<u32, _>(StepError::stop("no").code("gone"))
    };
    let workflow = Workflow::new("w").input::<Order>().on_error(collecting(&seen));
    let workflow = workflow.step(Tape::default().step("earlier")).step(bad.named("bad")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, Order { id: 7 }).id("r").await.unwrap();
    engine.finish(run.id()).await.unwrap();
    let expected = json!([{
        "error": { "code": "gone", "message": "no" },
        "failedStep": {
            "stepName": "bad", "path": "bad", "status": "failed", "state": { "reached": 1 }, "result": null,
        },
        "workflowState": {
            "runId": "r", "workflowName": "w", "status": "running", "input": { "id": 7 },
            "earlier": [1, "completed"], "runOfTheCall": "r",
        },
    }]);
    assert_eq!(json!(*seen.lock().unwrap()), expected);
}

async fn a_handler_is_not_called_for_an_attempt_that_is_retried(lab: Lab) {
    let tape = Tape::default();
    let flaky = tape.doing("flaky", |n| if n == 1 { Err(StepError::new("no")) } else { Ok(n) });
    let workflow = Workflow::new("w").step(flaky.retry(2).on_error(tape.handler("step"))).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 2);
    assert_eq!(tape.entries(), ["flaky", "flaky"]);
}

async fn a_soft_failure_calls_only_the_steps_handler(lab: Lab) {
    let tape = Tape::default();
    let soft = tape.failing("soft").on_error(tape.handler("step")).continue_on_error();
    let workflow = Workflow::new("w").on_error(tape.handler("run")).step(soft).step(tape.step("next"));
    let workflow = workflow.build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["soft", "step(soft: soft failed in attempt 1)", "next"]);
}

async fn a_handler_that_fails_changes_nothing(lab: Lab) {
    let tape = Tape::default();
    let bad = tape.failing("bad").on_error(tape.failing("step"));
    let workflow = Workflow::new("w").on_error(tape.failing("run")).step(bad).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(failure(&outcome), "bad: bad failed in attempt 1");
    assert_eq!(outcome.result("bad").unwrap().status, NodeStatus::Failed);
    let error = engine.get(run.id()).await.unwrap().steps[0].error.clone().unwrap();
    assert_eq!(error.failure.message, "bad failed in attempt 1");
    assert_eq!(tape.entries(), ["bad", "step", "run"]);
}

async fn a_handler_that_panics_changes_nothing(lab: Lab) {
    let tape = Tape::default();
    let bad = tape.failing("bad").on_error(tape.doing("step", |_| panic!("oh")));
    let workflow = Workflow::new("w").on_error(tape.doing("run", |_| panic!("oh"))).step(bad);
    let engine = lab.engine(workflow.build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    assert_eq!(failure(&engine.finish(run.id()).await.unwrap()), "bad: bad failed in attempt 1");
    assert_eq!(tape.entries(), ["bad", "step", "run"]);
}

async fn refused_input_calls_the_workflows_handler(lab: Lab) {
    let seen = Arc::default();
    let workflow = Workflow::new("w").input::<Order>().on_error(collecting(&seen));
    let workflow = workflow.step(Tape::default().step("earlier")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let error = engine.run("w", json!({ "id": "x" })).await.unwrap_err();
    assert!(matches!(error, StartError::InvalidInput { .. }));
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0]["error"]["code"], "invalid_input");
    let failed = json!({
        "stepName": "__input__", "path": "__input__", "status": "failed", "state": {}, "result": null,
    });
    assert_eq!(seen[0]["failedStep"], failed);
    let state = json!({
        "runId": null, "workflowName": "w", "status": "failed", "input": { "id": "x" }, "earlier": null,
        "runOfTheCall": null,
    });
    assert_eq!(seen[0]["workflowState"], state);
}

async fn a_handler_for_refused_input_that_panics_changes_nothing(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w").input::<Order>().on_error(tape.doing("run", |_| panic!("oh")));
    let engine = lab.engine(workflow.step(tape.step("a")).build().unwrap()).await;
    let error = engine.run("w", json!({})).await.unwrap_err();
    assert_eq!(error.code(), "invalid_input");
    assert_eq!(tape.entries(), ["run"]);
}

async fn a_nested_workflows_handler_comes_before_the_outer_one(lab: Lab) {
    let tape = Tape::default();
    let inner = Workflow::new("inner").on_error(tape.handler("inner")).step(tape.failing("bad"));
    let inner = inner.build().unwrap();
    let workflow = Workflow::new("w").on_error(tape.handler("outer")).workflow(&inner).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    // The outer one is told its own step; the path beside the name leads inside.
    let told = ["bad", "inner(bad: bad failed in attempt 1)", "outer(inner: bad failed in attempt 1)"];
    assert_eq!(tape.entries(), told);
}

async fn a_handler_is_in_the_history(lab: Lab) {
    let tape = Tape::default();
    let workflow =
        Workflow::new("w").on_error(tape.handler("run")).step(tape.failing("bad")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run: RunId = engine.run(&workflow, ()).await.unwrap().id().clone();
    engine.finish(&run).await.unwrap();
    let expected = [
        "runStarted",
        "callStarted bad#1",
        "callFailed bad#1",
        "runFailing bad",
        "callStarted#1",
        "callSucceeded#1",
        "runFailed bad",
    ];
    assert_eq!(told(&engine, &run).await, expected);
}

async fn a_completed_run_calls_no_handler(lab: Lab) {
    let tape = Tape::default();
    let step = tape.step("a").on_error(tape.handler("step"));
    let workflow = Workflow::new("w").on_error(tape.handler("run")).step(step).build().unwrap();
    let engine = lab.engine(&workflow).await;
    engine.run(&workflow, ()).await.unwrap().wait().await.unwrap();
    assert_eq!(tape.entries(), ["a"]);
}
