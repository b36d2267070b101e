//! Waiting for runs.

use std::time::Duration;

use futures::future::join_all;
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{RunError, RunStatus, Workflow};

use crate::lab::{Lab, facts, until_status};
use crate::steps::{Gate, Tape, output};

facts![
    a_timeout_names_workflow_run_and_time,
    waiting_for_a_finished_run_returns_at_once,
    waiting_for_an_unknown_run_is_an_error,
    many_waiters_are_all_told,
    waiters_outlast_a_sleep,
    waiters_of_a_queued_run_are_told,
    a_waiter_that_gave_up_does_not_harm_the_others,
    the_output_of_a_failed_run_is_an_error,
];

fn gated(gate: &Gate) -> Workflow<(), u32> {
    Workflow::new("w").step(Tape::default().gated("wait", gate)).build().unwrap()
}

fn sleepy() -> Workflow<(), u32> {
    let delay = delay_step(Duration::from_secs(3600));
    Workflow::new("w").step(delay).step(Tape::default().step("last")).build().unwrap()
}

async fn a_timeout_names_workflow_run_and_time(lab: Lab) {
    let engine = lab.engine(sleepy()).await;
    let run = engine.run("w", ()).id("r").await.unwrap();
    let error = run.wait_for(Duration::from_millis(3)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "run `r` of workflow `w` is still waiting after 3 ms: it sleeps at `delay` for another 60 min; it began 0 ms ago"
    );
    assert_eq!(error.code(), "wait_timeout");
}

async fn waiting_for_a_finished_run_returns_at_once(lab: Lab) {
    let gate = Gate::default();
    let engine = lab.engine(gated(&gate)).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.open();
    let first = run.wait().await.unwrap();
    assert_eq!(first, run.wait_for(Duration::ZERO).await.unwrap_or_else(|_| panic!("it has ended")));
}

async fn waiting_for_an_unknown_run_is_an_error(lab: Lab) {
    let engine = lab.engine(sleepy()).await;
    let error = engine.wait(&"nobody".into()).await.unwrap_err();
    assert_eq!(error.to_string(), "run `nobody` not found");
}

fn waiters(engine: &TestEngine, count: usize) -> Vec<tokio::task::JoinHandle<u64>> {
    let wait = |engine: TestEngine| async move {
        output(&engine.wait(&"r".into()).await.unwrap()).as_u64().unwrap()
    };
    (0..count).map(|_| tokio::spawn(wait(engine.clone()))).collect()
}

async fn all_are_told(waiters: Vec<tokio::task::JoinHandle<u64>>) {
    for told in join_all(waiters).await {
        assert_eq!(told.unwrap(), 1);
    }
}

async fn many_waiters_are_all_told(lab: Lab) {
    let gate = Gate::default();
    let engine = lab.engine(gated(&gate)).await;
    engine.run("w", ()).id("r").await.unwrap();
    gate.arrived(1).await;
    let waiters = waiters(&engine, 100);
    gate.open();
    all_are_told(waiters).await;
}

async fn waiters_outlast_a_sleep(lab: Lab) {
    let engine = lab.engine(sleepy()).await;
    let run = engine.run("w", ()).id("r").await.unwrap();
    let waiters = waiters(&engine, 5);
    engine.come_to_rest().await.unwrap();
    assert!(engine.active_runs().is_empty());
    engine.finish(run.id()).await.unwrap();
    all_are_told(waiters).await;
}

async fn waiters_of_a_queued_run_are_told(lab: Lab) {
    let gate = Gate::default();
    let builder = lab.builder().configure(|it| it.max_live_runs(1)).workflow(gated(&gate));
    let engine = builder.build().await.unwrap();
    engine.run("w", ()).await.unwrap();
    let queued = engine.run("w", ()).id("r").await.unwrap();
    assert_eq!(queued.status(), RunStatus::Queued);
    let waiters = waiters(&engine, 5);
    gate.open();
    all_are_told(waiters).await;
}

async fn a_waiter_that_gave_up_does_not_harm_the_others(lab: Lab) {
    let gate = Gate::default();
    let engine = lab.engine(gated(&gate)).await;
    let run = engine.run("w", ()).id("r").await.unwrap();
    let waiters = waiters(&engine, 3);
    assert!(matches!(run.wait_for(Duration::from_millis(1)).await, Err(RunError::WaitTimeout { .. })));
    gate.open();
    all_are_told(waiters).await;
}

async fn the_output_of_a_failed_run_is_an_error(lab: Lab) {
    let workflow = Workflow::new("w").step(Tape::default().failing("bad")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).id("r").await.unwrap();
    let error = run.output().await.unwrap_err();
    assert_eq!(error.to_string(), "run `r` failed at `bad`: bad failed in attempt 1");
    until_status(&engine, run.id(), RunStatus::Failed).await;
}
