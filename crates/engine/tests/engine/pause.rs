//! Pausing and resuming runs.

use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{NodeStatus, RunError, RunStatus};

use crate::lab::{Lab, facts, told, until_status};
use crate::steps::{Gate, Tape, output};

facts![
    a_call_at_work_finishes_and_nothing_new_starts,
    resume_lets_the_run_go_on,
    resume_before_the_call_has_finished_changes_nothing,
    a_paused_sleep_ends_on_resume,
    a_paused_retry_is_made_on_resume,
    a_queued_run_can_be_paused,
    a_blocked_run_can_be_paused,
    pausing_twice_is_pausing_once,
    resuming_what_goes_on_does_nothing,
    a_pause_survives_a_crash,
    a_pause_survives_an_orderly_stop,
    a_finished_run_cannot_be_paused,
    a_paused_run_leaves_memory,
    a_handle_pauses_resumes_and_explains,
];

const MINUTE: Duration = Duration::from_secs(60);

/// A run of two steps that was paused while the first was at work, and the gate that holds it.
async fn paused_at_work(lab: &Lab, tape: &Tape) -> (TestEngine, rival::RunId, Gate) {
    let gate = Gate::default();
    let workflow = two_steps(tape, &gate);
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    gate.arrived(1).await;
    assert_eq!(engine.pause(&run).await.unwrap(), RunStatus::Paused);
    (engine, run, gate)
}

fn two_steps(tape: &Tape, gate: &Gate) -> Workflow<(), u32> {
    Workflow::new("w").step(tape.gated("first", gate)).step(tape.step("second")).build().unwrap()
}

async fn a_call_at_work_finishes_and_nothing_new_starts(lab: Lab) {
    let tape = Tape::default();
    let (engine, run, gate) = paused_at_work(&lab, &tape).await;
    gate.open();
    engine.come_to_rest().await.unwrap();
    engine.advance(MINUTE).await.unwrap();
    let view = engine.get(&run).await.unwrap();
    assert_eq!((view.status, view.steps[0].status), (RunStatus::Paused, NodeStatus::Completed));
    assert_eq!(tape.entries(), ["first"]);
}

async fn resume_lets_the_run_go_on(lab: Lab) {
    let tape = Tape::default();
    let (engine, run, gate) = paused_at_work(&lab, &tape).await;
    gate.open();
    engine.come_to_rest().await.unwrap();
    engine.resume(&run).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["first", "second"]);
    let told = told(&engine, &run).await;
    let from = told.iter().position(|line| line == "runPaused").unwrap();
    let expected = [
        "runPaused",
        "callSucceeded first#1",
        "nodeHeld second",
        "runResumed",
        "callStarted second#1",
        "callSucceeded second#1",
        "runCompleted",
    ];
    assert_eq!(told[from..], expected);
}

async fn resume_before_the_call_has_finished_changes_nothing(lab: Lab) {
    let tape = Tape::default();
    let (engine, run, gate) = paused_at_work(&lab, &tape).await;
    assert_eq!(engine.resume(&run).await.unwrap(), RunStatus::Running);
    gate.open();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["first", "second"]);
}

async fn a_paused_sleep_ends_on_resume(lab: Lab) {
    let workflow = Workflow::new("w").step(delay_step(MINUTE)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.pause(run.id()).await.unwrap();
    engine.advance(MINUTE * 10).await.unwrap();
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Paused);
    engine.resume(run.id()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(lab.elapsed(), 600_000);
}

async fn a_paused_retry_is_made_on_resume(lab: Lab) {
    let tape = Tape::default();
    let flaky = tape.doing("flaky", |n| if n == 1 { Err(StepError::new("no")) } else { Ok(n) });
    let workflow = Workflow::new("w").step(flaky.retry(2)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    until_status(&engine, run.id(), RunStatus::Waiting).await;
    engine.pause(run.id()).await.unwrap();
    engine.advance(MINUTE).await.unwrap();
    assert_eq!(tape.count("flaky"), 1);
    engine.resume(run.id()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 2);
}

async fn a_queued_run_can_be_paused(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let builder = lab.builder().configure(|it| it.max_live_runs(1)).workflow(two_steps(&tape, &gate));
    let engine = builder.build().await.unwrap();
    let first = engine.run("w", ()).await.unwrap();
    let queued = engine.run("w", ()).await.unwrap();
    assert_eq!(engine.pause(queued.id()).await.unwrap(), RunStatus::Paused);
    gate.open();
    first.wait().await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert_eq!((engine.status(queued.id()).await.unwrap(), tape.count("first")), (RunStatus::Paused, 1));
    engine.resume(queued.id()).await.unwrap();
    assert_eq!(output(&engine.finish(queued.id()).await.unwrap()), 1);
}

async fn a_blocked_run_can_be_paused(lab: Lab) {
    let text = (|| async { Ok::<_, StepError>("text".to_owned()) }).named("text");
    let reads = (|last: LastStep| async move { last.get::<u32>() }).named("reads");
    let engine = lab.engine(Workflow::new("w").step(text).step(reads).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    until_status(&engine, run.id(), RunStatus::Blocked).await;
    assert_eq!(engine.pause(run.id()).await.unwrap(), RunStatus::Paused);
    engine.resume(run.id()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Blocked);
}

async fn pausing_twice_is_pausing_once(lab: Lab) {
    let (engine, run, _gate) = paused_at_work(&lab, &Tape::default()).await;
    engine.pause(&run).await.unwrap();
    let told = told(&engine, &run).await;
    assert_eq!(told.iter().filter(|line| *line == "runPaused").count(), 1);
}

async fn resuming_what_goes_on_does_nothing(lab: Lab) {
    let gate = Gate::default();
    let engine = lab.engine(two_steps(&Tape::default(), &gate)).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    assert_eq!(engine.resume(run.id()).await.unwrap(), RunStatus::Running);
    assert_eq!(told(&engine, run.id()).await, ["runStarted", "callStarted first#1"]);
}

async fn a_pause_survives_a_crash(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = two_steps(&tape, &gate);
    let held = gate.clone();
    let life = async move |engine: TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        held.arrived(1).await;
        engine.pause(&run).await.unwrap();
        run
    };
    let run = lab.life_of(&workflow, life).await;
    gate.open();
    let engine = lab.engine(&workflow).await;
    engine.advance(MINUTE).await.unwrap();
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Paused);
    assert_eq!(tape.entries(), ["first"]);
    engine.resume(&run).await.unwrap();
    engine.finish(&run).await.unwrap();
    assert_eq!(tape.entries(), ["first", "first", "second"]);
}

async fn a_pause_survives_an_orderly_stop(lab: Lab) {
    let tape = Tape::default();
    let (engine, run, gate) = paused_at_work(&lab, &tape).await;
    gate.open();
    engine.shutdown(MINUTE).await;
    let engine = lab.engine(two_steps(&tape, &gate)).await;
    engine.advance(MINUTE).await.unwrap();
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Paused);
    engine.resume(&run).await.unwrap();
    engine.finish(&run).await.unwrap();
    assert_eq!(tape.entries(), ["first", "second"]);
}

async fn a_finished_run_cannot_be_paused(lab: Lab) {
    let engine = lab.engine(Workflow::new("w").step(Tape::default().step("a")).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    run.wait().await.unwrap();
    let status = RunStatus::Completed;
    assert!(matches!(engine.pause(run.id()).await, Err(RunError::Finished { status: s, .. }) if s == status));
    assert!(
        matches!(engine.resume(run.id()).await, Err(RunError::Finished { status: s, .. }) if s == status)
    );
}

async fn a_paused_run_leaves_memory(lab: Lab) {
    let (engine, run, gate) = paused_at_work(&lab, &Tape::default()).await;
    assert_eq!(engine.active_runs(), [run]);
    gate.open();
    engine.come_to_rest().await.unwrap();
    assert!(engine.active_runs().is_empty());
}

async fn a_handle_pauses_resumes_and_explains(lab: Lab) {
    let workflow = Workflow::new("w").step(delay_step(MINUTE)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(run.pause().await.unwrap(), RunStatus::Paused);
    assert_eq!(run.explain().await.unwrap(), engine.explain(run.id()).await.unwrap());
    assert!(run.explain().await.unwrap().contains("paused"));
    assert_eq!(run.resume().await.unwrap(), RunStatus::Waiting);
    engine.finish(run.id()).await.unwrap();
}
