//! Requests to runs: acted on before they are answered, kept when they cannot be, even if the caller goes away.

use std::time::Duration;

use rival::prelude::*;
use rival::{BackoffKind, RunStatus, Store, StoreError};

use crate::lab::{Lab, facts, told as told_events, until_status};
use crate::steps::{Gate, Tape};

facts![
    a_request_is_answered_only_after_it_was_read,
    a_request_to_a_run_without_its_workflow_is_kept,
    a_caller_that_goes_away_leaves_the_run_within_reach,
    what_comes_with_the_end_is_refused,
    live_runs_have_their_moments_also_when_the_engine_is_full,
    a_run_that_could_neither_be_loaded_nor_given_back_comes_back,
    a_failed_look_at_the_next_moment_forgets_nobody,
    who_asked_is_in_the_history,
];

/// What was asked for, and by which caller; other events must not say it.
async fn asked(engine: &rival::testing::TestEngine, run: &rival::RunId) -> Vec<(String, Option<String>)> {
    let history = engine.history(run).await.unwrap();
    let lines = told_events(engine, run).await;
    let asked = lines.into_iter().zip(history).filter(|(line, event)| {
        let is_request = matches!(
            line.as_str(),
            "runStarted" | "runPaused" | "runResumed" | "signalReceived" | "cancelRequested"
        );
        assert!(is_request || event.by.is_none(), "{line}");
        is_request
    });
    asked.map(|(line, event)| (line, event.by)).collect()
}

async fn who_asked_is_in_the_history(lab: Lab) {
    let engine = lab.engine(sleepy()).await;
    let ann = engine.asked_by("ann");
    let run = ann.run("w", ()).await.unwrap();
    run.pause().await.unwrap();
    engine.resume(run.id()).await.unwrap();
    ann.signal(run.id(), "word", 1).by("bob").await.unwrap();
    // Kept as a message, and acted on by another engine.
    engine.shutdown(Duration::ZERO).await;
    let passive = lab.builder().configure(rival::EngineBuilder::passive).build().await.unwrap();
    passive.asked_by("x".repeat(300)).cancel(run.id(), "enough").await.unwrap();
    let engine = lab.engine(sleepy()).await;
    engine.come_to_rest().await.unwrap();
    let by = |name: &str| Some(name.to_owned());
    let mut found = asked(&engine, run.id()).await;
    let (line, long) = found.pop().unwrap();
    assert_eq!(line, "cancelRequested");
    assert!(long.is_some_and(|long| long.len() == 256 && long.ends_with("(300 bytes in all)")));
    let expected = [
        ("runStarted", by("ann")),
        ("runPaused", by("ann")),
        ("runResumed", None),
        ("signalReceived", by("bob")),
    ];
    assert_eq!(found, expected.map(|(line, by)| (line.to_owned(), by)));
    let retried = engine.retry(run.id()).by("ci").await.unwrap();
    let forked = engine.asked_by("").retry(run.id()).await.unwrap();
    assert_eq!(asked(&engine, retried.id()).await, [("runStarted".to_owned(), by("ci"))]);
    assert_eq!(asked(&engine, forked.id()).await, [("runStarted".to_owned(), None)]);
}

fn sleepy() -> Workflow<(), ()> {
    Workflow::new("w").step(delay_step(Duration::from_secs(3600))).build().unwrap()
}

async fn a_request_is_answered_only_after_it_was_read(lab: Lab) {
    let engine = lab.engine(sleepy()).await;
    let run = engine.run("w", ()).await.unwrap();
    lab.store().fail_next_messages(StoreError::Io("test".into()));
    assert_eq!(run.cancel("enough").await.unwrap(), RunStatus::Cancelled);
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Cancelled);
}

/// What is kept is a yes. To go on is what it cannot, so that is refused.
async fn a_request_to_a_run_without_its_workflow_is_kept(lab: Lab) {
    // It names a function: what names none goes on without its workflow.
    let late = || {
        let delay = delay_step(Duration::from_secs(3600));
        Workflow::new("w").step(delay).step(Tape::default().step("late")).build().unwrap()
    };
    let first = lab.engine(late()).await;
    let run = first.run("w", ()).id("r").await.unwrap();
    first.shutdown(Duration::ZERO).await;
    let engine = lab.builder().build().await.unwrap();
    let error = engine.resume(run.id()).await.unwrap_err();
    assert_eq!(error.code(), "run_unreachable");
    let told = "run `r` cannot act on the request: workflow `w` is not here: the run goes on when its file is loaded, or its program registers it";
    assert_eq!(error.to_string(), told);
    assert_eq!(engine.signal(run.id(), "word", 1).id("s").await.unwrap(), RunStatus::Blocked);
    assert_eq!(engine.pause(run.id()).await.unwrap(), RunStatus::Blocked);
    engine.register(late()).await.unwrap();
    until_status(&engine, run.id(), RunStatus::Paused).await;
    let told = told_events(&engine, run.id()).await;
    assert_eq!(told, ["runStarted", "sleepStarted delay", "signalReceived", "runPaused"]);
}

/// The claim of a run is not undone when its caller is dropped: the engine has to go on with the run.
async fn a_caller_that_goes_away_leaves_the_run_within_reach(lab: Lab) {
    let engine = lab.engine(sleepy()).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    let gate = Gate::default();
    lab.store().hold_next_claim(&gate);
    tokio::select! {
        _ = engine.pause(run.id()) => panic!("the claim is held"),
        () = gate.arrived(1) => {}
    }
    gate.open();
    assert_eq!(run.cancel("enough").await.unwrap(), RunStatus::Cancelled);
}

/// On the real clock: moving a virtual one would do by hand what the engine must do by itself.
async fn live_runs_have_their_moments_also_when_the_engine_is_full(lab: Lab) {
    let flaky =
        |run: Run| async move { if run.attempt() == 1 { Err(StepError::new("not yet")) } else { Ok(()) } };
    let flaky = flaky.named("flaky").retry(2).backoff(BackoffKind::Linear, Duration::from_millis(20));
    let workflow = Workflow::new("w").step(flaky).build().unwrap();
    let engine = Engine::builder().store(lab.store()).max_live_runs(1).workflow(&workflow);
    let engine = engine.build().await.unwrap();
    // The first waits for its next attempt in memory and keeps its place, so the second is queued.
    let first = engine.run(&workflow, ()).await.unwrap();
    let second = engine.run(&workflow, ()).await.unwrap();
    for run in [first, second] {
        assert_eq!(run.wait_for(Duration::from_secs(20)).await.unwrap().status, RunStatus::Completed);
    }
}

async fn a_run_that_could_neither_be_loaded_nor_given_back_comes_back(lab: Lab) {
    let engine = lab.engine(sleepy()).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    lab.store().fail_next_load(StoreError::Io("test".into()));
    lab.store().fail_commits(0, 2, &StoreError::Io("test".into()));
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Completed);
}

/// On the real clock too, with delays that are just too long to be waited for in memory.
async fn a_failed_look_at_the_next_moment_forgets_nobody(lab: Lab) {
    let delay =
        |ms| Workflow::new(format!("w{ms}")).step(delay_step(Duration::from_millis(ms))).build().unwrap();
    let engine = Engine::builder().store(lab.store()).workflow(delay(1_050)).workflow(delay(1_200));
    let engine = engine.build().await.unwrap();
    let first = engine.run("w1050", ()).await.unwrap();
    let second = engine.run("w1200", ()).await.unwrap();
    // The store is asked for the next moment when the first has been woken.
    lab.store().fail_next_wake(StoreError::Io("test".into()));
    for run in [first, second] {
        let outcome = run.wait_for(Duration::from_secs(20)).await.unwrap();
        assert_eq!(outcome.status, RunStatus::Completed);
    }
}

/// The run ends by one request, and reads the next one with it: that one has come too late, however often it was sent.
async fn what_comes_with_the_end_is_refused(lab: Lab) {
    let (step, commit) = (Gate::default(), Gate::default());
    let workflow = Workflow::new("w").step(Tape::default().gated("held", &step)).build().unwrap();
    let engine = lab.engine(workflow).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    step.arrived(1).await;
    let store = lab.store();
    store.hold_next_commit(&commit);
    let stored = async |count| {
        while store.messages(&run).await.unwrap().len() < count {
            tokio::task::yield_now().await;
        }
    };
    let kill = async {
        commit.arrived(1).await;
        engine.kill(&run, "enough").await
    };
    let signal = async {
        stored(2).await;
        let signal = || engine.signal(&run, "word", ()).id("once").into_future();
        tokio::join!(signal(), signal())
    };
    let release = async {
        stored(3).await;
        commit.open();
    };
    let (paused, killed, signalled, ()) = tokio::join!(engine.pause(&run), kill, signal, release);
    assert_eq!((paused.unwrap(), killed.unwrap()), (RunStatus::Paused, RunStatus::Cancelled));
    for told in [signalled.0, signalled.1] {
        assert_eq!(told.unwrap_err().code(), "run_finished");
    }
}
