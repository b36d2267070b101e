//! Cancelling runs, wherever they are.

use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{NodeStatus, RunError, RunId, RunStatus, TypedStep};

use crate::lab::{Lab, facts, told, until_status};
use crate::steps::{Gate, Tape};

facts![
    a_running_run_is_cancelled,
    a_run_that_waits_to_retry_is_cancelled,
    a_run_that_sleeps_is_cancelled,
    a_queued_run_is_cancelled,
    a_paused_run_is_cancelled,
    a_blocked_run_is_cancelled,
    a_run_inside_of_a_nested_workflow_is_cancelled,
    cancelling_twice_does_nothing,
    cancelling_while_cancelling_does_nothing,
    a_completed_run_cannot_be_cancelled,
    a_failed_run_cannot_be_cancelled,
    an_unknown_run_cannot_be_cancelled,
    a_cooperative_step_may_finish_and_is_recorded,
    a_step_that_does_not_settle_is_left_behind,
    cancelling_goes_on_after_a_crash,
    cancelling_calls_no_handler,
    stale_wake_ups_do_nothing,
];

const MINUTE: Duration = Duration::from_secs(60);

fn workflow<T: rival::Data>(step: TypedStep<T>) -> Workflow<(), u32> {
    Workflow::new("w").step(step).step(Tape::default().step("next")).build().unwrap()
}

/// Cancels, and checks that the run ends as cancelled, that the node was stopped and nothing followed.
async fn is_cancelled(engine: &TestEngine, run: &RunId, node: &str) {
    engine.cancel(run, "enough").await.unwrap();
    let outcome = engine.wait(run).await.unwrap();
    assert_eq!((outcome.status, outcome.reason.as_deref()), (RunStatus::Cancelled, Some("enough")));
    assert!(outcome.error.is_none() && outcome.result("next").is_none(), "{outcome:?}");
    let view = engine.get(run).await.unwrap();
    let step = view.steps.iter().find(|step| step.path.as_str() == node);
    assert_eq!(step.unwrap().status, NodeStatus::Cancelled);
    assert!(engine.active_runs().is_empty());
}

async fn a_running_run_is_cancelled(lab: Lab) {
    let gate = Gate::default();
    let engine = lab.engine(workflow(Tape::default().gated("held", &gate))).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    is_cancelled(&engine, run.id(), "held").await;
    let expected =
        ["runStarted", "callStarted held#1", "cancelRequested", "callCancelled held#1", "runCancelled"];
    assert_eq!(told(&engine, run.id()).await, expected);
}

async fn a_run_that_waits_to_retry_is_cancelled(lab: Lab) {
    let engine = lab.engine(workflow(Tape::default().failing("bad").retry(2))).await;
    let run = engine.run("w", ()).await.unwrap();
    until_status(&engine, run.id(), RunStatus::Waiting).await;
    is_cancelled(&engine, run.id(), "bad").await;
}

async fn a_run_that_sleeps_is_cancelled(lab: Lab) {
    let workflow = Workflow::new("w").step(delay_step(MINUTE)).step(Tape::default().step("next"));
    let engine = lab.engine(workflow.build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    is_cancelled(&engine, run.id(), "delay").await;
}

async fn a_queued_run_is_cancelled(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let builder = lab.builder().configure(|it| it.max_live_runs(1));
    let engine = builder.workflow(workflow(tape.gated("held", &gate))).build().await.unwrap();
    let first = engine.run("w", ()).await.unwrap();
    let queued = engine.run("w", ()).await.unwrap();
    assert_eq!(queued.status(), RunStatus::Queued);
    engine.cancel(queued.id(), "").await.unwrap();
    let outcome = queued.wait().await.unwrap();
    assert_eq!((outcome.status, outcome.reason, outcome.results.len()), (RunStatus::Cancelled, None, 0));
    gate.open();
    assert_eq!(first.wait().await.unwrap().status, RunStatus::Completed);
    assert_eq!(tape.count("held"), 1);
}

async fn a_paused_run_is_cancelled(lab: Lab) {
    let workflow = Workflow::new("w").step(delay_step(MINUTE)).step(Tape::default().step("next"));
    let engine = lab.engine(workflow.build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.pause(run.id()).await.unwrap();
    is_cancelled(&engine, run.id(), "delay").await;
}

async fn a_blocked_run_is_cancelled(lab: Lab) {
    // A result that no later step can read blocks that step.
    let texts = (|| async { Ok::<_, StepError>("text".to_owned()) }).named("text");
    let reads = (|last: LastStep| async move { last.get::<u32>() }).named("reads");
    let workflow = Workflow::new("w").step(texts).step(reads).step(Tape::default().step("next"));
    let engine = lab.engine(workflow.build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    until_status(&engine, run.id(), RunStatus::Blocked).await;
    is_cancelled(&engine, run.id(), "reads").await;
}

async fn a_run_inside_of_a_nested_workflow_is_cancelled(lab: Lab) {
    let inner = Workflow::new("inner").step(delay_step(MINUTE)).build().unwrap();
    let workflow = Workflow::new("w").workflow(&inner).step(Tape::default().step("next"));
    let engine = lab.engine(workflow.build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    is_cancelled(&engine, run.id(), "inner").await;
    let nodes = engine.get(run.id()).await.unwrap().steps;
    assert!(nodes.iter().all(|node| node.status == NodeStatus::Cancelled), "{nodes:?}");
}

async fn cancelling_twice_does_nothing(lab: Lab) {
    let workflow = Workflow::new("w").step(delay_step(MINUTE)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    assert_eq!(run.cancel("first").await.unwrap(), RunStatus::Cancelled);
    let history = told(&engine, run.id()).await;
    assert_eq!(run.cancel("second").await.unwrap(), RunStatus::Cancelled);
    assert_eq!(told(&engine, run.id()).await, history);
    assert_eq!(run.wait().await.unwrap().reason.as_deref(), Some("first"));
}

/// A cooperative step that settles only when its gate is opened.
fn stubborn(gate: &Gate) -> TypedStep<u32> {
    let gate = gate.clone();
    let function = move |_told: Cancellation| {
        let gate = gate.clone();
        async move {
            gate.pass().await;
            Ok::<_, StepError>(1_u32)
        }
    };
    function.named("stubborn")
}

async fn cancelling_while_cancelling_does_nothing(lab: Lab) {
    let gate = Gate::default();
    let engine = lab.engine(workflow(stubborn(&gate))).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    assert_eq!(run.cancel("first").await.unwrap(), RunStatus::Cancelling);
    assert_eq!(run.cancel("second").await.unwrap(), RunStatus::Cancelling);
    gate.open();
    assert_eq!(run.wait().await.unwrap().reason.as_deref(), Some("first"));
}

async fn a_completed_run_cannot_be_cancelled(lab: Lab) {
    let engine = lab.engine(workflow(Tape::default().step("a"))).await;
    let run = engine.run("w", ()).id("r").await.unwrap();
    run.wait().await.unwrap();
    let error = run.cancel("late").await.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.code()),
        ("run `r` has ended: it completed", "run_finished")
    );
}

async fn a_failed_run_cannot_be_cancelled(lab: Lab) {
    let engine = lab.engine(workflow(Tape::default().failing("bad"))).await;
    let run = engine.run("w", ()).await.unwrap();
    run.wait().await.unwrap();
    let error = run.cancel("late").await.unwrap_err();
    assert!(matches!(error, RunError::Finished { status: RunStatus::Failed, .. }), "{error}");
}

async fn an_unknown_run_cannot_be_cancelled(lab: Lab) {
    let engine = lab.engine(workflow(Tape::default().step("a"))).await;
    let error = engine.cancel(&"nobody".into(), "").await.unwrap_err();
    assert_eq!(error.to_string(), "run `nobody` not found");
}

async fn a_cooperative_step_may_finish_and_is_recorded(lab: Lab) {
    let gate = Gate::default();
    let engine = lab.engine(workflow(stubborn(&gate))).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    run.cancel("enough").await.unwrap();
    gate.open();
    let outcome = run.wait().await.unwrap();
    let step = outcome.result("stubborn").unwrap();
    assert_eq!((outcome.status, step.status), (RunStatus::Cancelled, NodeStatus::Completed));
    assert!(outcome.result("next").is_none());
}

async fn a_step_that_does_not_settle_is_left_behind(lab: Lab) {
    let gate = Gate::default();
    let engine = lab.engine(workflow(stubborn(&gate))).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    assert_eq!(run.cancel("enough").await.unwrap(), RunStatus::Cancelling);
    lab.pass(Duration::from_secs(30));
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.result("stubborn").unwrap().status, NodeStatus::Cancelled);
    let history = engine.history(run.id()).await.unwrap();
    let forced = |event: &rival::Event| {
        matches!(event.kind, rival::event::EventKind::CallCancelled { forced: true, .. })
    };
    assert!(history.iter().any(forced));
}

async fn cancelling_goes_on_after_a_crash(lab: Lab) {
    let gate = Gate::default();
    let workflow = workflow(stubborn(&gate));
    let life = async move |engine: TestEngine| {
        let run = engine.run("w", ()).await.unwrap();
        gate.arrived(1).await;
        assert_eq!(run.cancel("enough").await.unwrap(), RunStatus::Cancelling);
        run.id().clone()
    };
    let run = lab.life_of(&workflow, life).await;
    let outcome = lab.engine(&workflow).await.finish(&run).await.unwrap();
    assert_eq!((outcome.status, outcome.reason.as_deref()), (RunStatus::Cancelled, Some("enough")));
}

async fn cancelling_calls_no_handler(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let step = tape.gated("held", &gate).on_error(tape.handler("step"));
    let workflow = Workflow::new("w").on_error(tape.handler("run")).step(step).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    run.cancel("enough").await.unwrap();
    run.wait().await.unwrap();
    assert_eq!(tape.entries(), ["held"]);
}

async fn stale_wake_ups_do_nothing(lab: Lab) {
    let engine = lab.engine(workflow(Tape::default().failing("bad").retry(2))).await;
    let run = engine.run("w", ()).await.unwrap();
    until_status(&engine, run.id(), RunStatus::Waiting).await;
    is_cancelled(&engine, run.id(), "bad").await;
    let history = told(&engine, run.id()).await;
    engine.advance(MINUTE).await.unwrap();
    assert_eq!(told(&engine, run.id()).await, history);
}
