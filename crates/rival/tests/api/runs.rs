//! Handles of runs, and runs that steps start.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rival::prelude::*;
use rival::store::MemoryStore;
use rival::testing::TestEngine;
use rival::{Page, RunError, RunStatus};

#[step]
async fn double(Input(n): Input<u32>, run: Run) -> Result<u32, StepError> {
    if n == 13 && !run.run_id().is_some_and(|id| id.as_str().starts_with("again")) {
        return Err(StepError::stop("unlucky"));
    }
    Ok(n * 2)
}

fn doubling() -> Workflow<u32, u32> {
    Workflow::new("doubling").input::<u32>().step(double).build().unwrap()
}

#[tokio::test]
async fn handles_of_forks_retries_and_found_runs_are_typed() {
    let doubling = doubling();
    let naming = Workflow::new("naming").step(signal::<String>("name")).build().unwrap();
    let engine = Engine::builder().workflow(&doubling).workflow(&naming).build().await.unwrap();
    let run = engine.run(&doubling, 4).id("four").await.unwrap();
    assert_eq!(run.output().await.unwrap(), 8);

    let fork: u32 = run.fork().from("double").input(&5).await.unwrap().output().await.unwrap();
    assert_eq!(fork, 10);
    let failed = engine.run(&doubling, 13).await.unwrap();
    failed.output().await.unwrap_err();
    let retried: u32 = failed.retry().id("again").await.unwrap().output().await.unwrap();
    assert_eq!(retried, 26);

    let found: u32 = engine.handle("four").await.unwrap().of(&doubling).unwrap().output().await.unwrap();
    assert_eq!(found, 8);
    let by_id = engine.fork(run.id()).from("double").await.unwrap().of(&doubling).unwrap();
    assert_eq!(by_id.output().await.unwrap(), 8);
    let other = engine.handle("four").await.unwrap().of(&naming).unwrap_err();
    assert!(matches!(other, RunError::Output { .. }));
    assert_eq!(other.code(), "output_mismatch");
    let said = "the output of run `four` is of another type: it is a run of `doubling`, not of `naming`";
    assert_eq!(other.to_string(), said);
}

/// Counts how often it is called, and fails the first time after it has acted.
#[step]
async fn delegate(
    runs: Runs,
    calls: Res<AtomicU32>,
    doubling: Res<Workflow<u32, u32>>,
) -> Result<String, StepError> {
    let first = runs.start(&*doubling, 3).await?;
    let second = runs.start(&*doubling, 4).id("named").tag("delegated").await?;
    runs.signal("waits", "name", first.id()).await?;
    if calls.fetch_add(1, Ordering::Relaxed) == 0 {
        return Err(StepError::new("the line broke"));
    }
    assert_eq!(runs.handle("named").await?.id(), second.id());
    Ok(first.id().to_string())
}

#[tokio::test]
async fn a_step_starts_and_signals_other_runs_once() {
    let doubling = doubling();
    let waiting = Workflow::new("waiting")
        .step(signal::<String>("name"))
        .step(signal::<String>("name").named("again").timeout_value(Duration::from_secs(60)))
        .build()
        .unwrap();
    let delegating = Workflow::new("delegating").step(delegate.retry(2)).build().unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let builder = TestEngine::builder().provide(Arc::clone(&calls)).provide(doubling.clone());
    let builder = builder.workflow(&doubling).workflow(&waiting).workflow(&delegating);
    let engine = builder.build().await.unwrap();
    let waits = engine.run(&waiting, ()).id("waits").await.unwrap();
    let run = engine.run(&delegating, ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    let first = run.output().await.unwrap();

    assert_eq!(calls.load(Ordering::Relaxed), 2);
    assert_eq!(engine.handle(first).await.unwrap().of(&doubling).unwrap().output().await.unwrap(), 6);
    assert_eq!(engine.handle("named").await.unwrap().of(&doubling).unwrap().output().await.unwrap(), 8);
    let started = RunFilter { workflow: Some("doubling".into()), ..RunFilter::default() };
    assert_eq!(engine.runs(&started, &Page::default()).await.unwrap().len(), 2);
    // The signal counted once: the second wait gets none.
    engine.finish(waits.id()).await.unwrap();
    assert_eq!(waits.output().await.unwrap(), None);
}

/// Begins, and acts only when the engine has begun to stop.
#[step]
async fn act_late(runs: Runs, gate: Res<tokio::sync::Notify>) -> Result<(), StepError> {
    gate.notified().await;
    runs.start("doubling", 21).id("late").await?;
    runs.signal("waits", "name", "Ada").await?;
    Ok(())
}

#[tokio::test]
async fn what_a_step_asks_for_while_the_engine_stops_is_for_the_next_one() {
    let doubling = doubling();
    let waiting = Workflow::new("waiting").step(signal::<String>("name")).build().unwrap();
    let acting = Workflow::new("acting").step(act_late).build().unwrap();
    let (store, gate) = (Arc::new(MemoryStore::default()), Arc::new(tokio::sync::Notify::new()));
    let builder = || {
        let builder = Engine::builder().store(Arc::clone(&store)).provide(Arc::clone(&gate));
        builder.workflow(&doubling).workflow(&waiting).workflow(&acting)
    };
    let engine = builder().build().await.unwrap();
    engine.run(&waiting, ()).id("waits").await.unwrap();
    engine.run(&acting, ()).id("acts").await.unwrap();
    let stopping = tokio::spawn({
        let engine = engine.clone();
        async move { engine.shutdown(Duration::from_secs(30)).await }
    });
    while engine.run(&doubling, 1).await.is_ok() {
        tokio::task::yield_now().await;
    }
    gate.notify_one();
    stopping.await.unwrap();

    let engine = builder().build().await.unwrap();
    let acts = engine.handle("acts").await.unwrap();
    assert_eq!(acts.wait().await.unwrap().status, RunStatus::Completed);
    assert_eq!(engine.handle("late").await.unwrap().of(&doubling).unwrap().output().await.unwrap(), 42);
    assert_eq!(engine.handle("waits").await.unwrap().of(&waiting).unwrap().output().await.unwrap(), "Ada");
}
