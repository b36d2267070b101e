//! Orderly stops: nothing is lost, nothing is charged, everything goes on.

use std::time::Duration;

use rival::event::{EventKind, LostReason};
use rival::prelude::*;
use rival::{RunError, RunStatus, StartError};

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure, output};

facts![
    calls_at_work_finish_and_nothing_new_starts,
    long_calls_are_let_go_without_being_charged,
    an_orderly_stop_never_leads_to_quarantine,
    an_at_most_once_step_that_is_let_go_fails,
    new_runs_and_requests_are_refused,
    what_sleeps_and_queues_goes_on,
    stopping_twice_is_stopping_once,
    waiters_are_told,
    lines_of_a_call_that_is_let_go_are_kept,
    a_map_that_a_stop_cut_short_goes_on,
    a_function_that_only_waits_does_not_hold_up_a_stop,
];

const LONG: Duration = Duration::from_secs(20);

fn two_steps(tape: &Tape, gate: &Gate) -> Workflow<(), u32> {
    Workflow::new("w").step(tape.gated("first", gate)).step(tape.step("second")).build().unwrap()
}

async fn calls_at_work_finish_and_nothing_new_starts(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let engine = lab.engine(two_steps(&tape, &gate)).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    gate.arrived(1).await;
    let mut stopping = Box::pin(engine.shutdown(LONG));
    assert!(futures::poll!(&mut stopping).is_pending());
    gate.open();
    stopping.await;
    assert_eq!(tape.count("second"), 0);
    assert!(engine.active_runs().is_empty());

    let next = lab.engine(two_steps(&tape, &gate)).await;
    assert_eq!(output(&next.finish(&run).await.unwrap()), 1);
    assert_eq!((tape.count("first"), tape.count("second")), (1, 1));
}

async fn long_calls_are_let_go_without_being_charged(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let engine = lab.engine(two_steps(&tape, &gate)).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    gate.arrived(1).await;
    engine.shutdown(Duration::ZERO).await;
    assert!(engine.active_runs().is_empty());

    gate.open();
    let next = lab.engine(two_steps(&tape, &gate)).await;
    next.finish(&run).await.unwrap();
    let history = next.history(&run).await.unwrap();
    let lost =
        |event: &rival::Event| matches!(event.kind, EventKind::CallLost { reason: LostReason::Shutdown, .. });
    assert_eq!(history.iter().filter(|event| lost(event)).count(), 1);
    let step = &next.get(&run).await.unwrap().steps[0];
    assert_eq!((step.calls, step.retry_count), (2, 0));
}

async fn an_orderly_stop_never_leads_to_quarantine(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = two_steps(&tape, &gate);
    let first = lab.engine(&workflow).await;
    let run = first.run("w", ()).await.unwrap().id().clone();
    gate.arrived(1).await;
    first.shutdown(Duration::ZERO).await;
    for count in 2..=7 {
        let engine = lab.engine(&workflow).await;
        gate.arrived(count).await;
        engine.shutdown(Duration::ZERO).await;
    }
    gate.open();
    assert_eq!(output(&lab.engine(&workflow).await.finish(&run).await.unwrap()), 1);
}

async fn an_at_most_once_step_that_is_let_go_fails(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::new("w").step(tape.gated("pay", &gate).at_most_once()).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    gate.arrived(1).await;
    engine.shutdown(Duration::ZERO).await;
    let outcome = lab.engine(&workflow).await.finish(&run).await.unwrap();
    assert!(failure(&outcome).contains("must not be called again"));
    assert_eq!(tape.count("pay"), 1);
}

async fn new_runs_and_requests_are_refused(lab: Lab) {
    let workflow = Workflow::new("w").step(delay_step(LONG)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.shutdown(LONG).await;
    assert!(matches!(engine.run("w", ()).await, Err(StartError::ShuttingDown)));
    assert!(matches!(run.cancel("").await, Err(RunError::ShuttingDown)));
    assert!(matches!(engine.pause(run.id()).await, Err(RunError::ShuttingDown)));
    assert!(matches!(engine.signal(run.id(), "m", 1).await, Err(RunError::ShuttingDown)));
    assert!(matches!(engine.retry(run.id()).await, Err(StartError::ShuttingDown)));
    // What is there can still be read.
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Waiting);
}

async fn what_sleeps_and_queues_goes_on(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let sleepy = Workflow::new("sleepy").step(delay_step(LONG)).step(tape.step("awake")).build().unwrap();
    let busy = Workflow::new("busy").step(tape.gated("work", &gate)).build().unwrap();
    let builder = || lab.builder().configure(|it| it.max_live_runs(1)).workflow(&sleepy).workflow(&busy);
    let engine = builder().build().await.unwrap();
    let asleep = engine.run("sleepy", ()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    let held = engine.run("busy", ()).await.unwrap();
    gate.arrived(1).await;
    let queued = engine.run("busy", ()).await.unwrap();
    assert_eq!(queued.status(), RunStatus::Queued);
    engine.shutdown(Duration::ZERO).await;

    gate.open();
    let next = builder().build().await.unwrap();
    for run in [asleep.id(), held.id(), queued.id()] {
        assert_eq!(next.finish(run).await.unwrap().status, RunStatus::Completed);
    }
}

async fn stopping_twice_is_stopping_once(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = two_steps(&tape, &gate);
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    gate.arrived(1).await;
    tokio::join!(engine.shutdown(Duration::ZERO), engine.shutdown(Duration::ZERO));
    engine.shutdown(LONG).await;
    let lines = told(&engine, &run).await;
    assert_eq!(lines.iter().filter(|line| line.starts_with("callLost")).count(), 1, "{lines:?}");
    gate.open();
    lab.engine(&workflow).await.finish(&run).await.unwrap();
}

/// A caller that waits for a run or follows it learns that this engine has nothing more to tell.
async fn waiters_are_told(lab: Lab) {
    let workflow = Workflow::new("w").step(delay_step(LONG)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    let waiter = tokio::spawn({
        let run = run.clone();
        async move { run.wait().await }
    });
    let follower = tokio::spawn(futures::StreamExt::collect::<Vec<_>>(run.events()));
    engine.come_to_rest().await.unwrap();
    engine.shutdown(LONG).await;
    assert!(matches!(waiter.await.unwrap(), Err(RunError::ShuttingDown)));
    assert!(matches!(run.wait().await, Err(RunError::ShuttingDown)));
    assert!(matches!(follower.await.unwrap().last(), Some(Err(RunError::ShuttingDown))));
}

async fn lines_of_a_call_that_is_let_go_are_kept(lab: Lab) {
    let gate = Gate::default();
    let held = gate.clone();
    let step = move |log: Log| {
        let held = held.clone();
        async move {
            log.info((), "began");
            held.pass().await;
            Ok::<_, StepError>(())
        }
    };
    let engine = lab.engine(Workflow::new("w").step(step.named("s")).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    engine.shutdown(Duration::ZERO).await;
    let lines = engine.logs(run.id(), &Default::default()).await.unwrap();
    assert_eq!(lines.iter().map(|line| line.message.as_str()).collect::<Vec<_>>(), ["began"]);
}

/// While the engine stops, no child starts; only the next engine can start it.
async fn a_map_that_a_stop_cut_short_goes_on(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let child = Workflow::new("child").input::<u32>().step(tape.gated("work", &gate)).build().unwrap();
    let all = |durable: Durable| async move {
        let done = durable.map([1_u32, 2, 3], "child").concurrency(1).await?;
        Ok::<_, StepError>(done.len())
    };
    let parent = Workflow::new("w").step(all.named("all")).build().unwrap();
    let engine = lab.builder().workflow(&parent).workflow(&child).build().await.unwrap();
    let run = engine.run("w", ()).await.unwrap().id().clone();
    gate.arrived(1).await;
    let mut stopping = Box::pin(engine.shutdown(LONG));
    assert!(futures::poll!(&mut stopping).is_pending());
    gate.open();
    stopping.await;
    let next = lab.builder().workflow(&parent).workflow(&child).build().await.unwrap();
    assert_eq!(output(&next.finish(&run).await.unwrap()), 3);
    assert_eq!(tape.count("work"), 3);
}

async fn a_function_that_only_waits_does_not_hold_up_a_stop(lab: Lab) {
    let waits = |durable: Durable| async move { durable.signal::<u32>("go").await };
    let workflow = Workflow::new("w").step(waits.named("waits")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    engine.come_to_rest().await.unwrap();
    engine.shutdown(Duration::from_secs(3_600)).await;
    let history = engine.history(&run).await.unwrap();
    assert!(matches!(history.last().unwrap().kind, EventKind::CallSuspended { .. }), "{history:?}");
}
