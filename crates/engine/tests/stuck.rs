//! Functions that do not return, on a virtual clock: tests of timeouts come to their end.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{RunStatus, TypedStep};
use tokio::sync::Notify;

const HOUR: Duration = Duration::from_secs(3_600);

async fn engine_of(step: TypedStep<u32>) -> TestEngine {
    let workflow = Workflow::new("w").step(step).build().unwrap();
    TestEngine::builder().workflow(&workflow).build().await.unwrap()
}

fn never() -> TypedStep<u32> {
    (|| async { pending::<Result<u32, StepError>>().await }).named("never")
}

fn told(notify: &Arc<Notify>) -> TypedStep<u32> {
    let notify = Arc::clone(notify);
    let step = move || {
        let notify = Arc::clone(&notify);
        async move {
            notify.notified().await;
            Ok::<_, StepError>(7)
        }
    };
    step.named("told")
}

#[tokio::test]
async fn a_step_that_never_returns_times_out() {
    let engine = engine_of(never().timeout(HOUR).retry(3).on_timeout_retry()).await;
    let began = engine.now();
    let run = engine.run("w", ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.error.unwrap().code, "timeout");
    // Three attempts, and the pauses of one and two seconds between them.
    assert_eq!(engine.now().ms_since(began), 3 * 3_600_000 + 3_000);
}

#[tokio::test]
async fn a_step_that_never_returns_times_out_when_its_time_has_passed() {
    let engine = engine_of(never().timeout(HOUR)).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.advance(HOUR - Duration::from_millis(1)).await.unwrap();
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Running);
    engine.advance(Duration::from_millis(1)).await.unwrap();
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Failed);
}

#[tokio::test]
async fn a_step_that_the_test_answers_goes_on_at_once() {
    let notify = Arc::new(Notify::new());
    let engine = engine_of(told(&notify).timeout(HOUR)).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.advance(HOUR / 2).await.unwrap();
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Running);
    let now = engine.now();
    notify.notify_one();
    // It was taken for stuck, and is waited for again now that it is woken.
    engine.come_to_rest().await.unwrap();
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Completed);
    assert_eq!(engine.now(), now);
}

#[tokio::test]
async fn a_step_that_sleeps_a_little_in_real_time_is_waited_for() {
    let step = || async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        Ok::<_, StepError>(1)
    };
    let engine = engine_of(step.named("naps").timeout(Duration::from_millis(1))).await;
    let run = engine.run("w", ()).await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Completed);
}

#[tokio::test]
async fn a_step_that_waits_for_something_durable_beside_something_else_is_stuck_in_the_same_way() {
    let step = |durable: Durable| async move {
        durable.sleep(HOUR).await?;
        pending::<Result<u32, StepError>>().await
    };
    let engine = engine_of(step.named("both").timeout(HOUR)).await;
    let began = engine.now();
    let run = engine.run("w", ()).await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().error.unwrap().code, "timeout");
    // Its own time does not run while it sleeps.
    assert!(engine.now().ms_since(began) >= 2 * 3_600_000);
}
