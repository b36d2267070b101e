//! What is durable is a yes: the answer to a request says what became of that request, whatever happens to the run,
//! the engine or the store between the request and its answer.

use std::time::Duration;

use rival::event::EventKind;
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{RunId, RunStatus, Store, StoreError, signal};
use serde_json::json;

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape, output};

facts![
    a_signal_that_another_senders_letter_brought_in_is_a_yes,
    a_kill_that_another_senders_letter_brought_in_is_a_yes,
    a_cancel_that_another_senders_letter_brought_in_is_a_yes,
    a_known_signal_is_a_yes_after_the_end,
    a_known_signal_is_a_yes_after_the_end_and_a_restart,
    an_unknown_signal_after_the_end_is_refused,
    a_signal_that_was_dropped_by_the_end_is_refused,
    a_signal_that_was_refused_can_be_sent_again,
    a_known_signal_that_says_something_else_is_a_conflict,
    a_signal_without_an_id_is_given_one,
    a_signal_that_is_durable_is_a_yes_although_the_run_cannot_be_claimed,
    a_signal_that_is_durable_is_a_yes_while_the_engine_stops,
    killing_a_killed_run_does_nothing,
    two_waits_and_two_senders_are_two_yeses,
    what_comes_while_others_are_read_is_read_too,
];

/// Two signals end it.
fn two_waits() -> Workflow<(), rival::Joined> {
    let workflow = Workflow::new("w").parallel("p", |p| {
        p.branch("a", |branch| branch.step(signal::<u32>("a")))
            .branch("b", |branch| branch.step(signal::<u32>("b")))
    });
    workflow.build().unwrap()
}

async fn started(engine: &TestEngine) -> RunId {
    let run = engine.run("w", ()).await.unwrap().id().clone();
    engine.come_to_rest().await.unwrap();
    run
}

async fn received(engine: &TestEngine, run: &RunId) -> usize {
    let history = engine.history(run).await.unwrap();
    history.iter().filter(|event| matches!(event.kind, EventKind::SignalReceived { .. })).count()
}

async fn a_signal_that_another_senders_letter_brought_in_is_a_yes(lab: Lab) {
    let engine = lab.engine(&two_waits()).await;
    let run = started(&engine).await;
    let gate = Gate::default();
    lab.store().hold_next_send(&gate);
    let other = async {
        gate.arrived(1).await;
        let told = engine.signal(&run, "b", 2).await;
        gate.open();
        told
    };
    let (one, other) = tokio::join!(engine.signal(&run, "a", 1).into_future(), other);
    assert_eq!((one.unwrap(), other.unwrap()), (RunStatus::Completed, RunStatus::Completed));
    assert_eq!(output(&engine.wait(&run).await.unwrap()), json!({"a": 1, "b": 2}));
}

async fn a_kill_that_another_senders_letter_brought_in_is_a_yes(lab: Lab) {
    let engine = lab.engine(&two_waits()).await;
    let run = started(&engine).await;
    let gate = Gate::default();
    lab.store().hold_next_send(&gate);
    let other = async {
        gate.arrived(1).await;
        let told = engine.signal(&run, "b", 2).await;
        gate.open();
        told
    };
    let (killed, signalled) = tokio::join!(engine.kill(&run, "enough"), other);
    assert_eq!(killed.unwrap(), RunStatus::Cancelled);
    // The kill was sent first, so the signal came too late.
    assert_eq!(signalled.unwrap_err().code(), "run_finished");
}

async fn a_cancel_that_another_senders_letter_brought_in_is_a_yes(lab: Lab) {
    let engine = lab.engine(&two_waits()).await;
    let run = started(&engine).await;
    let gate = Gate::default();
    lab.store().hold_next_send(&gate);
    let other = async {
        gate.arrived(1).await;
        let told = engine.pause(&run).await;
        gate.open();
        told
    };
    let (cancelled, paused) = tokio::join!(engine.cancel(&run, "enough"), other);
    assert_eq!(cancelled.unwrap(), RunStatus::Cancelled);
    assert_eq!(paused.unwrap_err().code(), "run_finished");
}

fn one_wait() -> Workflow<(), u32> {
    Workflow::new("w").step(signal::<u32>("go")).build().unwrap()
}

async fn a_known_signal_is_a_yes_after_the_end(lab: Lab) {
    let engine = lab.engine(&one_wait()).await;
    let run = started(&engine).await;
    for _ in 0..3 {
        assert_eq!(engine.signal(&run, "go", 1).id("once").await.unwrap(), RunStatus::Completed);
    }
    assert_eq!(received(&engine, &run).await, 1);
    assert_eq!(engine.summary(&run).await.unwrap().dropped_messages, 0);
}

async fn a_known_signal_is_a_yes_after_the_end_and_a_restart(lab: Lab) {
    let life = async |engine: TestEngine| {
        let run = started(&engine).await;
        engine.signal(&run, "go", 1).id("once").await.unwrap();
        run
    };
    let run = lab.life_of(&one_wait(), life).await;
    let engine = lab.engine(&one_wait()).await;
    assert_eq!(engine.signal(&run, "go", 1).id("once").await.unwrap(), RunStatus::Completed);
}

async fn an_unknown_signal_after_the_end_is_refused(lab: Lab) {
    let engine = lab.engine(&one_wait()).await;
    let run = started(&engine).await;
    engine.signal(&run, "go", 1).id("once").await.unwrap();
    assert_eq!(engine.signal(&run, "go", 1).id("twice").await.unwrap_err().code(), "run_finished");
    assert_eq!(engine.signal(&run, "go", 1).await.unwrap_err().code(), "run_finished");
}

/// It was durable, and the run ended without having read it. However often it is asked for, the answer is no.
async fn a_signal_that_was_dropped_by_the_end_is_refused(lab: Lab) {
    let (step, commit) = (Gate::default(), Gate::default());
    let workflow = Workflow::new("w").step(Tape::default().gated("held", &step)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    step.arrived(1).await;
    let store = lab.store();
    store.hold_next_commit(&commit);
    step.open();
    commit.arrived(1).await;
    let signal = async { engine.signal(&run, "word", 1).id("late").await };
    let release = async {
        while store.messages(&run).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        commit.open();
    };
    let (told, ()) = tokio::join!(signal, release);
    assert_eq!(told.unwrap_err().code(), "run_finished");
    assert_eq!(engine.signal(&run, "word", 1).id("late").await.unwrap_err().code(), "run_finished");
    assert_eq!(received(&engine, &run).await, 0);
}

async fn a_signal_that_was_refused_can_be_sent_again(lab: Lab) {
    let workflow = Workflow::new("w").step(signal::<u32>("go")).step(signal::<u32>("end")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    engine.pause(&run).await.unwrap();
    for n in 0..999 {
        engine.signal(&run, "other", n).await.unwrap();
    }
    engine.signal(&run, "go", 1).await.unwrap();
    assert_eq!(engine.signal(&run, "end", 2).id("end").await.unwrap_err().code(), "signals_full");
    // One is taken, so there is room for another.
    engine.resume(&run).await.unwrap();
    assert_eq!(engine.signal(&run, "end", 2).id("end").await.unwrap(), RunStatus::Completed);
}

async fn a_known_signal_that_says_something_else_is_a_conflict(lab: Lab) {
    let engine = lab.engine(&two_waits()).await;
    let run = started(&engine).await;
    engine.signal(&run, "a", 1).id("once").await.unwrap();
    for again in [engine.signal(&run, "a", 2).id("once"), engine.signal(&run, "b", 1).id("once")] {
        let refused = again.await.unwrap_err();
        assert_eq!(refused.code(), "signal_conflict");
        let told = format!(
            "run `{run}` was sent another signal with the id `once`: use another id, or send the same"
        );
        assert_eq!(refused.to_string(), told);
    }
    engine.signal(&run, "b", 2).await.unwrap();
    assert_eq!(engine.signal(&run, "b", 1).id("once").await.unwrap_err().code(), "signal_conflict");
    assert_eq!(engine.signal(&run, "a", 1).id("once").await.unwrap(), RunStatus::Completed);
}

async fn a_signal_without_an_id_is_given_one(lab: Lab) {
    let engine = lab.engine(&one_wait()).await;
    let run = started(&engine).await;
    let request = engine.signal(&run, "go", 1);
    let id = request.signal_id().to_owned();
    request.await.unwrap();
    // A client that has the id can send the same signal again.
    assert_eq!(engine.signal(&run, "go", 1).id(&id).await.unwrap(), RunStatus::Completed);
    let history = engine.history(&run).await.unwrap();
    let recorded = history.iter().find_map(|event| match &event.kind {
        EventKind::SignalReceived { id, .. } => id.clone(),
        _ => None,
    });
    assert_eq!(recorded, Some(id));
}

async fn a_signal_that_is_durable_is_a_yes_although_the_run_cannot_be_claimed(lab: Lab) {
    let engine = lab.engine(&one_wait()).await;
    let run = started(&engine).await;
    lab.store().fail_next_claim(StoreError::Full("test".into()));
    assert_eq!(engine.signal(&run, "go", 1).await.unwrap(), RunStatus::Waiting);
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 1);
    assert_eq!(received(&engine, &run).await, 1);
}

async fn a_signal_that_is_durable_is_a_yes_while_the_engine_stops(lab: Lab) {
    let run = lab
        .life(|lab| async move {
            let engine = lab.engine(&one_wait()).await;
            let run = started(&engine).await;
            let gate = Gate::default();
            lab.store().hold_next_send(&gate);
            let stop = async {
                gate.arrived(1).await;
                let open = async {
                    while engine.run("w", ()).await.is_ok() {
                        tokio::task::yield_now().await;
                    }
                    gate.open();
                };
                tokio::join!(engine.shutdown(Duration::from_secs(20)), open)
            };
            let (told, _) = tokio::join!(engine.signal(&run, "go", 7).into_future(), stop);
            told.unwrap();
            run
        })
        .await;
    let engine = lab.engine(&one_wait()).await;
    engine.come_to_rest().await.unwrap();
    assert_eq!(received(&engine, &run).await, 1);
}

async fn killing_a_killed_run_does_nothing(lab: Lab) {
    let engine = lab.engine(&one_wait()).await;
    let run = started(&engine).await;
    for _ in 0..2 {
        assert_eq!(engine.kill(&run, "enough").await.unwrap(), RunStatus::Cancelled);
    }
    let other = started(&engine).await;
    engine.signal(&other, "go", 1).await.unwrap();
    assert_eq!(engine.kill(&other, "enough").await.unwrap_err().code(), "run_finished");
}

/// Its message arrives before what was read is committed, and its message after it was read.
async fn what_comes_while_others_are_read_is_read_too(lab: Lab) {
    let (step, look) = (Gate::default(), Gate::default());
    let workflow = Workflow::new("w").step(Tape::default().gated("held", &step)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    step.arrived(1).await;
    lab.store().hold_next_messages(&look);
    let second = async {
        look.arrived(1).await;
        engine.signal(&run, "word", 2).await
    };
    let release = async {
        look.arrived(1).await;
        while lab.store().messages(&run).await.unwrap().len() < 2 {
            tokio::task::yield_now().await;
        }
        // The message follows its message.
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        look.open();
    };
    let first = engine.signal(&run, "word", 1).into_future();
    let (first, second, ()) = tokio::join!(first, second, release);
    assert_eq!((first.unwrap(), second.unwrap()), (RunStatus::Running, RunStatus::Running));
    assert_eq!(received(&engine, &run).await, 2);
    step.open();
}

/// Without gates: whatever the order is, both were taken.
async fn two_waits_and_two_senders_are_two_yeses(lab: Lab) {
    let engine = lab.engine(&two_waits()).await;
    for _ in 0..20 {
        let run = started(&engine).await;
        let (engine_a, engine_b) = (engine.clone(), engine.clone());
        let (a, b) = (run.clone(), run.clone());
        let one = tokio::spawn(async move { engine_a.signal(&a, "a", 1).await });
        let other = tokio::spawn(async move { engine_b.signal(&b, "b", 2).await });
        one.await.unwrap().unwrap();
        other.await.unwrap().unwrap();
        assert_eq!(output(&engine.wait(&run).await.unwrap()), json!({"a": 1, "b": 2}));
    }
}
