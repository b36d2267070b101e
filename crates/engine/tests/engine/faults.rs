//! Stores that fail: nothing that was recorded is done again, and nothing is lost.

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{RunStatus, StartError, StoreError};

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, output};

facts![
    a_commit_is_tried_again_until_the_store_takes_it,
    a_start_that_fails_creates_nothing,
    a_run_is_let_go_when_the_store_is_gone,
    a_run_that_somebody_else_has_is_let_go,
    nothing_is_called_before_it_is_durable,
    a_history_that_cannot_be_read_now_is_read_later,
];

fn retryable() -> [StoreError; 4] {
    let text = || "test".to_owned();
    [
        StoreError::Full(text()),
        StoreError::ReadOnly(text()),
        StoreError::Locked(text()),
        StoreError::Io(text()),
    ]
}

fn final_ones() -> [StoreError; 3] {
    let text = || "test".to_owned();
    [StoreError::Poisoned(text()), StoreError::Damaged(text()), StoreError::Closed]
}

fn three_steps(tape: &Tape) -> Workflow<(), u32> {
    Workflow::new("w").steps((tape.step("a"), tape.step("b"), tape.step("c"))).build().unwrap()
}

/// Every commit of a run fails once, with every error that may pass.
async fn a_commit_is_tried_again_until_the_store_takes_it(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(three_steps(&tape)).await;
    let mut runs = 0;
    for (nth, error) in [0, 1, 2, 0].into_iter().zip(retryable()) {
        lab.store().fail_commits(nth, 1, &error);
        let run = engine.run("w", ()).await.unwrap();
        assert_eq!(output(&run.wait().await.unwrap()), 1, "{error}");
        assert_eq!(lab.store().failures_left(), 0);
        runs += 1;
        for step in ["a", "b", "c"] {
            assert_eq!(tape.count(step), runs, "{error} at commit {nth}");
        }
        assert_eq!(told(&engine, run.id()).await.len(), 8);
    }
}

async fn a_start_that_fails_creates_nothing(lab: Lab) {
    let engine = lab.engine(three_steps(&Tape::default())).await;
    for error in retryable().into_iter().chain(final_ones()) {
        lab.store().fail_next_start(error.clone());
        let failed = engine.run("w", ()).id(error.code()).await.unwrap_err();
        assert!(matches!(&failed, StartError::Store(_)) && failed.code() == error.code(), "{failed}");
        assert!(engine.handle(error.code()).await.is_err());
        let run = engine.run("w", ()).id(error.code()).await.unwrap();
        assert_eq!(output(&run.wait().await.unwrap()), 1);
    }
}

/// The engine cannot go on with it, but the next one does.
async fn a_run_is_let_go_when_the_store_is_gone(lab: Lab) {
    for error in final_ones() {
        let (tape, id) = (Tape::default(), error.code());
        let workflow = three_steps(&tape);
        let life = async move |lab: Lab| {
            let engine = lab.engine(&workflow).await;
            lab.store().fail_commits(1, 1, &error);
            engine.run("w", ()).id(error.code()).await.unwrap();
            while !engine.active_runs().is_empty() || lab.store().failures_left() > 0 {
                tokio::task::yield_now().await;
            }
            assert!(!engine.status(&error.code().into()).await.unwrap().is_terminal());
        };
        lab.life(life).await;
        let life = async move |engine: TestEngine| engine.finish(&id.into()).await.unwrap();
        assert_eq!(output(&lab.life_of(three_steps(&tape), life).await), 1);
        // What was recorded before the fault is not called again.
        assert_eq!((tape.count("a"), tape.count("b"), tape.count("c")), (1, 2, 1));
    }
}

async fn a_run_that_somebody_else_has_is_let_go(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::new("w").step(tape.gated("a", &gate)).step(tape.step("b")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    gate.arrived(1).await;
    lab.store().steal(run.id()).await;
    let before = lab.store().commits_written();
    gate.open();
    while !engine.active_runs().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(lab.store().commits_written(), before);
    assert_eq!(told(&engine, run.id()).await, ["runStarted", "callStarted a#1"]);
    assert_eq!(tape.count("b"), 0);
}

/// While the store does not take the end of `a`, `b` does not begin.
async fn nothing_is_called_before_it_is_durable(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::new("w").step(tape.gated("a", &gate)).step(tape.step("b")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    gate.arrived(1).await;
    lab.store().fail_commits(0, 3, &StoreError::Full("test".to_owned()));
    gate.open();
    while lab.store().failures_left() > 0 {
        assert_eq!(tape.count("b"), 0);
        tokio::task::yield_now().await;
    }
    assert_eq!(output(&run.wait().await.unwrap()), 1);
    assert_eq!(tape.entries(), ["a", "b"]);
}

async fn a_history_that_cannot_be_read_now_is_read_later(lab: Lab) {
    let minute = std::time::Duration::from_secs(60);
    let workflow = Workflow::new("w").step(delay_step(minute)).build().unwrap();
    let run = lab
        .life_of(&workflow, async |engine: TestEngine| engine.run("w", ()).await.unwrap().id().clone())
        .await;
    let engine = lab.engine(&workflow).await;
    lab.store().fail_next_load(StoreError::Io("test".to_owned()));
    engine.advance(minute).await.unwrap();
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Waiting);
    assert_eq!(engine.finish(&run).await.unwrap().status, RunStatus::Completed);
}
