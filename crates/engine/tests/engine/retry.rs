//! Attempts: how often, how long between, and what counts.

use std::time::Duration;

use rival::event::EventKind;
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{BackoffKind, NodeStatus, RunId, RunStatus, TypedStep};

use crate::lab::{Lab, facts, next_moment, since_start};
use crate::steps::{Gate, Tape, failure, output};

facts![
    a_flaky_step_succeeds_within_its_attempts,
    a_plain_error_in_a_plain_step_is_not_retried,
    attempts_run_out,
    stop_ends_the_step_even_if_attempts_remain,
    the_step_caps_what_an_error_asks_for,
    an_error_may_ask_for_attempts_where_the_step_says_nothing,
    retry_without_a_number_is_one_attempt,
    delays_grow_linearly_by_default,
    delays_may_grow_exponentially,
    delays_are_capped_at_five_minutes,
    an_errors_own_backoff_wins,
    jitter_only_shortens,
    between_attempts_the_run_leaves_memory,
    attempts_survive_an_orderly_stop,
    attempts_survive_a_crash,
    a_crash_while_waiting_to_retry_costs_nothing,
    metrics_tell_the_attempts,
    without_a_pause_every_retry_is_taken,
];

async fn run_of(lab: &Lab, step: TypedStep<u32>) -> (TestEngine, RunId) {
    let workflow = Workflow::new("w").step(step).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap().id().clone();
    (engine, run)
}

/// When each call began, in milliseconds since the run's start.
async fn call_times(engine: &TestEngine, run: &RunId) -> Vec<u64> {
    let history = engine.history(run).await.unwrap();
    let calls = history.iter().filter(|event| matches!(event.kind, EventKind::CallStarted { .. }));
    calls.map(|event| since_start(event.at)).collect()
}

fn flaky(tape: &Tape, until: u32) -> TypedStep<u32> {
    tape.doing("flaky", move |attempt| {
        if attempt < until { Err(StepError::new(format!("no {attempt}"))) } else { Ok(attempt) }
    })
}

async fn a_flaky_step_succeeds_within_its_attempts(lab: Lab) {
    let (engine, run) = run_of(&lab, flaky(&Tape::default(), 3).retry(3)).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 3);
}

async fn a_plain_error_in_a_plain_step_is_not_retried(lab: Lab) {
    let tape = Tape::default();
    let (engine, run) = run_of(&lab, flaky(&tape, 2)).await;
    assert_eq!(failure(&engine.finish(&run).await.unwrap()), "flaky: no 1");
    assert_eq!(tape.count("flaky"), 1);
}

async fn attempts_run_out(lab: Lab) {
    let tape = Tape::default();
    let (engine, run) = run_of(&lab, flaky(&tape, 9).retry(3)).await;
    assert_eq!(failure(&engine.finish(&run).await.unwrap()), "flaky: no 3");
    assert_eq!(tape.count("flaky"), 3);
}

async fn stop_ends_the_step_even_if_attempts_remain(lab: Lab) {
    let tape = Tape::default();
    let step = tape.doing("stops", |_| Err(StepError::stop("no use").code("gone")));
    let (engine, run) = run_of(&lab, step.retry(5)).await;
    let outcome = engine.finish(&run).await.unwrap();
    assert_eq!((failure(&outcome).as_str(), tape.count("stops")), ("stops: no use", 1));
    assert_eq!(outcome.error.unwrap().code, "gone");
}

async fn the_step_caps_what_an_error_asks_for(lab: Lab) {
    let tape = Tape::default();
    let step = tape.doing("asks", |_| Err(StepError::retry("busy").max_attempts(10)));
    let (engine, run) = run_of(&lab, step.retry(2)).await;
    assert_eq!(failure(&engine.finish(&run).await.unwrap()), "asks: busy");
    assert_eq!(tape.count("asks"), 2);
}

async fn an_error_may_ask_for_attempts_where_the_step_says_nothing(lab: Lab) {
    let tape = Tape::default();
    let step = tape.doing("asks", |_| Err(StepError::retry("busy").max_attempts(3)));
    let (engine, run) = run_of(&lab, step).await;
    assert_eq!(failure(&engine.finish(&run).await.unwrap()), "asks: busy");
    assert_eq!(tape.count("asks"), 3);
}

async fn retry_without_a_number_is_one_attempt(lab: Lab) {
    let tape = Tape::default();
    let (engine, run) = run_of(&lab, tape.doing("asks", |_| Err(StepError::retry("busy")))).await;
    engine.finish(&run).await.unwrap();
    assert_eq!(tape.count("asks"), 1);
}

async fn delays_grow_linearly_by_default(lab: Lab) {
    let (engine, run) = run_of(&lab, flaky(&Tape::default(), 4).retry(4)).await;
    engine.finish(&run).await.unwrap();
    assert_eq!(call_times(&engine, &run).await, [0, 1_000, 3_000, 6_000]);
}

async fn delays_may_grow_exponentially(lab: Lab) {
    let step = flaky(&Tape::default(), 4).retry(4);
    let step = step.backoff(BackoffKind::Exponential, Duration::from_secs(10));
    let (engine, run) = run_of(&lab, step).await;
    engine.finish(&run).await.unwrap();
    assert_eq!(call_times(&engine, &run).await, [0, 10_000, 30_000, 70_000]);
}

async fn delays_are_capped_at_five_minutes(lab: Lab) {
    let step = flaky(&Tape::default(), 3).retry(3);
    let step = step.backoff(BackoffKind::Linear, Duration::from_secs(86_400));
    let (engine, run) = run_of(&lab, step).await;
    engine.finish(&run).await.unwrap();
    assert_eq!(call_times(&engine, &run).await, [0, 300_000, 600_000]);
}

async fn an_errors_own_backoff_wins(lab: Lab) {
    let busy = |_| {
        let second = Duration::from_secs(2);
        Err(StepError::retry("busy").max_attempts(3).backoff(BackoffKind::Exponential, second))
    };
    let (engine, run) = run_of(&lab, Tape::default().doing("busy", busy)).await;
    engine.finish(&run).await.unwrap();
    assert_eq!(call_times(&engine, &run).await, [0, 2_000, 6_000]);
}

async fn jitter_only_shortens(lab: Lab) {
    let (engine, run) = run_of(&lab, flaky(&Tape::default(), 3).retry(3).jitter()).await;
    engine.finish(&run).await.unwrap();
    let times = call_times(&engine, &run).await;
    assert!((500..=1_000).contains(&times[1]), "{times:?}");
    assert!((1_000..=2_000).contains(&(times[2] - times[1])), "{times:?}");
}

async fn between_attempts_the_run_leaves_memory(lab: Lab) {
    let step = flaky(&Tape::default(), 2).retry(2).backoff(BackoffKind::Linear, Duration::from_secs(60));
    let (engine, run) = run_of(&lab, step).await;
    engine.come_to_rest().await.unwrap();
    let view = engine.get(&run).await.unwrap();
    assert_eq!((view.status, view.steps[0].status), (RunStatus::Waiting, NodeStatus::WaitingRetry));
    assert_eq!(since_start(view.steps[0].wake_at.unwrap()), 60_000);
    assert!(engine.active_runs().is_empty());
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 2);
}

async fn attempts_survive_an_orderly_stop(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w").step(flaky(&tape, 9).retry(3)).build().unwrap();
    let first = lab.engine(&workflow).await;
    let run = first.run(&workflow, ()).await.unwrap().id().clone();
    first.come_to_rest().await.unwrap();
    first.shutdown(Duration::from_secs(5)).await;
    let second = lab.engine(&workflow).await;
    assert_eq!(failure(&second.finish(&run).await.unwrap()), "flaky: no 3");
    assert_eq!(tape.count("flaky"), 3);
}

/// The second attempt is cut short: it is made again as attempt 2 under a new call number.
async fn attempts_survive_a_crash(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let (noted, held) = (tape.clone(), gate.clone());
    let step = move |run: Run| {
        noted.note(format!("attempt {} call {}", run.attempt(), run.call()));
        let held = held.clone();
        async move {
            if run.call() == 2 {
                held.pass().await;
            }
            Err::<u32, _>(StepError::new("no"))
        }
    };
    let workflow = Workflow::new("w").step(step.named("step").retry(3)).build().unwrap();
    let run = lab
        .life_of(&workflow, async move |engine| {
            let run = engine.run("w", ()).await.unwrap().id().clone();
            next_moment(&engine).await;
            gate.arrived(1).await;
            run
        })
        .await;
    let engine = lab.engine(&workflow).await;
    assert_eq!(failure(&engine.finish(&run).await.unwrap()), "step: no");
    let expected = ["attempt 1 call 1", "attempt 2 call 2", "attempt 2 call 3", "attempt 3 call 4"];
    assert_eq!(tape.entries(), expected);
}

async fn a_crash_while_waiting_to_retry_costs_nothing(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w").step(flaky(&tape, 2).retry(2)).build().unwrap();
    let run = lab
        .life_of(&workflow, async |engine| {
            let run = engine.run("w", ()).await.unwrap().id().clone();
            engine.come_to_rest().await.unwrap();
            run
        })
        .await;
    let engine = lab.engine(&workflow).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 2);
    assert_eq!(call_times(&engine, &run).await, [0, 1_000]);
}

async fn metrics_tell_the_attempts(lab: Lab) {
    let (engine, run) = run_of(&lab, flaky(&Tape::default(), 3).retry(3)).await;
    engine.finish(&run).await.unwrap();
    let step = &engine.get(&run).await.unwrap().steps[0];
    assert_eq!((step.retry_count, step.calls, step.duration), (2, 3, Some(3_000)));
    let error = step.error.as_ref().unwrap();
    assert_eq!((error.failure.message.as_str(), error.attempt_number), ("no 2", 2));
    assert_eq!(since_start(error.occurred_at), 1_000);
}

/// A retry that is due at once is no rest, however the engine's threads take turns.
async fn without_a_pause_every_retry_is_taken(lab: Lab) {
    let step = flaky(&Tape::default(), 3).retry(3).backoff(BackoffKind::Linear, Duration::ZERO);
    let workflow = Workflow::new("w").step(step).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let runs = if lab.is_memory() { 500 } else { 100 };
    for _ in 0..runs {
        let run = engine.run(&workflow, ()).await.unwrap();
        assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 3);
    }
}
