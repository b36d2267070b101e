//! Runs that are run again: by request, and by themselves.

use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{NodeStatus, RunId, RunStatus, StartError};

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure, output};

facts![
    a_retry_begins_at_the_failed_step,
    a_retry_names_its_source,
    a_retry_imports_skips_soft_failures_and_states,
    a_retry_begins_inside_of_a_nested_workflow,
    a_retry_has_all_its_attempts_again,
    a_cancelled_run_can_be_retried,
    a_completed_run_cannot_be_retried,
    a_run_under_way_cannot_be_retried,
    an_unknown_run_cannot_be_retried,
    a_run_may_retry_itself,
    automatic_retries_run_out,
    a_request_may_ask_for_automatic_retries,
    an_automatic_retry_has_the_timeout_of_the_request,
    an_automatic_retry_survives_a_crash,
];

async fn ended(engine: &TestEngine) -> RunId {
    let run = engine.run("w", ()).id("r").tag("blue").await.unwrap();
    engine.finish(run.id()).await.unwrap();
    run.id().clone()
}

/// `a` counts its calls, `bad` fails in the first run that calls it and succeeds in the second.
fn healing(tape: &Tape) -> rival::WorkflowBuilder<(), u32> {
    let counted = tape.clone();
    let bad =
        tape.doing(
            "bad",
            move |_| {
                if counted.count("bad") == 1 { Err(StepError::new("not yet")) } else { Ok(7) }
            },
        );
    Workflow::new("w").step(tape.step("a")).step(bad)
}

async fn a_retry_begins_at_the_failed_step(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(healing(&tape).build().unwrap()).await;
    let run = ended(&engine).await;
    let again = engine.retry(&run).await.unwrap();
    let outcome = engine.finish(again.id()).await.unwrap();
    assert_eq!(output(&outcome), 7);
    assert_eq!(outcome.result("a").unwrap().result.as_ref().unwrap().to_json(), 1);
    assert_eq!(tape.entries(), ["a", "bad", "bad"]);
    let expected =
        ["runStarted", "nodeImported a", "callStarted bad#1", "callSucceeded bad#1", "runCompleted"];
    assert_eq!(told(&engine, again.id()).await, expected);
}

async fn a_retry_names_its_source(lab: Lab) {
    let engine = lab.engine(healing(&Tape::default()).build().unwrap()).await;
    let run = ended(&engine).await;
    let again = engine.retry(&run).await.unwrap();
    engine.finish(again.id()).await.unwrap();
    let view = engine.get(again.id()).await.unwrap();
    assert_eq!((view.source, view.tags), (Some(run.clone()), vec!["blue".to_owned()]));
    // The old run never changes.
    assert_eq!(engine.get(&run).await.unwrap().status, RunStatus::Failed);
}

async fn a_retry_imports_skips_soft_failures_and_states(lab: Lab) {
    let tape = Tape::default();
    let skips = |state: State| async move {
        state.skip();
        Ok::<_, StepError>(3_u32)
    };
    let soft = tape.failing("soft").continue_on_error();
    let counted = tape.clone();
    let last = tape.doing("last", move |_| if counted.count("last") == 1 { Err("no".into()) } else { Ok(1) });
    let workflow = Workflow::new("w").step(skips.named("skips")).step(soft).step(last).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = ended(&engine).await;
    let again = engine.retry(&run).await.unwrap();
    let outcome = engine.finish(again.id()).await.unwrap();
    let skipped = outcome.result("skips").unwrap();
    assert_eq!((skipped.status, skipped.state.as_json()), (NodeStatus::Skipped, r#"{"skipped":true}"#));
    assert_eq!(outcome.result("soft").unwrap().status, NodeStatus::Failed);
    assert_eq!(tape.entries(), ["soft", "last", "last"]);
    let soft = &engine.get(again.id()).await.unwrap().steps[1];
    assert_eq!(soft.error.as_ref().unwrap().failure.message, "soft failed in attempt 1");
}

async fn a_retry_begins_inside_of_a_nested_workflow(lab: Lab) {
    let tape = Tape::default();
    let inner = healing(&tape).build().unwrap();
    let workflow =
        Workflow::new("w").workflow(inner.named("inner")).step(tape.step("after")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = ended(&engine).await;
    let again = engine.retry(&run).await.unwrap();
    assert_eq!(output(&engine.finish(again.id()).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["a", "bad", "bad", "after"]);
}

async fn a_retry_has_all_its_attempts_again(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(Workflow::new("w").step(tape.failing("bad").retry(2)).build().unwrap()).await;
    let run = ended(&engine).await;
    let again = engine.retry(&run).await.unwrap();
    assert_eq!(failure(&engine.finish(again.id()).await.unwrap()), "bad: bad failed in attempt 2");
    assert_eq!(tape.count("bad"), 4);
}

async fn a_cancelled_run_can_be_retried(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let steps = (tape.step("a"), tape.gated("b", &gate));
    let engine = lab.engine(Workflow::new("w").steps(steps).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    run.cancel("").await.unwrap();
    run.wait().await.unwrap();
    gate.open();
    let again = engine.retry(run.id()).await.unwrap();
    assert_eq!(output(&engine.finish(again.id()).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["a", "b", "b"]);
}

async fn a_completed_run_cannot_be_retried(lab: Lab) {
    let engine = lab.engine(Workflow::new("w").step(Tape::default().step("a")).build().unwrap()).await;
    let run = ended(&engine).await;
    let error = engine.retry(&run).await.unwrap_err();
    assert_eq!(error.to_string(), "run `r` is completed: only a failed or cancelled run can be retried");
    assert_eq!(error.code(), "not_retryable");
}

async fn a_run_under_way_cannot_be_retried(lab: Lab) {
    let engine =
        lab.engine(Workflow::new("w").step(delay_step(Duration::from_secs(60))).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    let error = engine.retry(run.id()).await.unwrap_err();
    assert!(matches!(error, StartError::NotRetryable { status: RunStatus::Waiting, .. }), "{error}");
}

async fn an_unknown_run_cannot_be_retried(lab: Lab) {
    let engine = lab.engine(healing(&Tape::default()).build().unwrap()).await;
    assert!(matches!(engine.retry(&"nobody".into()).await, Err(StartError::NotFound(_))));
}

async fn a_run_may_retry_itself(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(healing(&tape).max_retries(2).build().unwrap()).await;
    let run = engine.run("w", ()).id("r").tag("blue").await.unwrap();
    let first = engine.finish(run.id()).await.unwrap();
    let next = first.retried_as.clone().unwrap();
    assert_eq!((failure(&first).as_str(), next.as_str()), ("bad: not yet", "r~1"));
    let second = engine.finish(&next).await.unwrap();
    assert_eq!((output(&second), second.retried_as), (7.into(), None));
    assert_eq!(tape.entries(), ["a", "bad", "bad"]);
    let view = engine.get(&next).await.unwrap();
    assert_eq!((view.source, view.tags), (Some(run.id().clone()), vec!["blue".to_owned()]));
    assert_eq!(engine.get(run.id()).await.unwrap().retried_as, Some(next));
}

async fn automatic_retries_run_out(lab: Lab) {
    let tape = Tape::default();
    let engine =
        lab.engine(Workflow::new("w").max_retries(2).step(tape.failing("bad")).build().unwrap()).await;
    let mut run = ended(&engine).await;
    let mut runs = vec![run.to_string()];
    while let Some(next) = engine.finish(&run).await.unwrap().retried_as {
        runs.push(next.to_string());
        run = next;
    }
    assert_eq!(runs, ["r", "r~1", "r~2"]);
    assert_eq!(tape.count("bad"), 3);
}

async fn a_request_may_ask_for_automatic_retries(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(healing(&tape).build().unwrap()).await;
    let run = engine.run("w", ()).max_retries(1).await.unwrap();
    let next = engine.finish(run.id()).await.unwrap().retried_as.unwrap();
    assert_eq!(output(&engine.finish(&next).await.unwrap()), 7);
}

async fn an_automatic_retry_has_the_timeout_of_the_request(lab: Lab) {
    let hour = Duration::from_secs(3600);
    let engine = lab.engine(Workflow::new("w").step(delay_step(hour)).build().unwrap()).await;
    let run = engine.run("w", ()).timeout(Duration::from_secs(2)).max_retries(1).await.unwrap();
    let next = engine.finish(run.id()).await.unwrap().retried_as.unwrap();
    let outcome = engine.finish(&next).await.unwrap();
    assert_eq!((outcome.error.unwrap().code.as_str(), lab.elapsed()), ("run_timeout", 4_000));
}

/// The run that goes on is started by the commit that ends the other.
async fn an_automatic_retry_survives_a_crash(lab: Lab) {
    let tape = Tape::default();
    let workflow = healing(&tape).max_retries(1).build().unwrap();
    let life = async |engine: TestEngine| {
        engine.run("w", ()).await.unwrap().wait().await.unwrap().retried_as.unwrap()
    };
    let next = lab.life_of(&workflow, life).await;
    assert_eq!(output(&lab.engine(&workflow).await.finish(&next).await.unwrap()), 7);
}
