//! The predefined delay.

use std::time::Duration;

use rival::prelude::*;
use rival::{RunStatus, Time, VirtualClock};

use crate::lab::{Lab, facts, told};
use crate::steps::{Tape, output};

facts![
    a_delay_takes_its_time,
    a_delay_of_zero_does_not_wait,
    a_delay_until_a_moment,
    a_delay_until_a_moment_that_has_passed_does_not_wait,
    a_computed_delay_is_asked_once,
    a_computed_delay_of_zero_does_not_wait,
    a_computed_delay_that_fails_fails_the_run,
    a_sleeping_run_leaves_memory,
    a_thousand_delays_end_in_order,
];

/// How long a workflow of this delay takes, in milliseconds.
async fn time_of<M>(lab: &Lab, delay: impl rival::IntoStep<M>) -> u64 {
    let workflow = Workflow::new("w").step(delay).step(Tape::default().step("after")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 1);
    lab.elapsed()
}

fn moment(ms: u64) -> Time {
    VirtualClock::default().now().plus_ms(ms)
}

async fn a_delay_takes_its_time(lab: Lab) {
    assert_eq!(time_of(&lab, delay_step(Duration::from_millis(1))).await, 1);
    assert_eq!(time_of(&Lab::clone(&lab), delay_step(Duration::from_secs(90)).named("later")).await, 90_001);
}

async fn a_delay_of_zero_does_not_wait(lab: Lab) {
    assert_eq!(time_of(&lab, delay_step(Duration::ZERO)).await, 0);
}

async fn a_delay_until_a_moment(lab: Lab) {
    assert_eq!(time_of(&lab, delay_until(moment(5_000))).await, 5_000);
}

async fn a_delay_until_a_moment_that_has_passed_does_not_wait(lab: Lab) {
    assert_eq!(time_of(&lab, delay_until(Time(0))).await, 0);
}

async fn a_computed_delay_is_asked_once(lab: Lab) {
    let tape = Tape::default();
    let asked = tape.clone();
    let how_long = move || {
        asked.note("asked");
        async { Ok::<_, StepError>(Duration::from_secs(86_400)) }
    };
    let workflow = Workflow::new("w").step(delay_by(how_long.named("how_long"))).build().unwrap();
    let life = async |engine: rival::testing::TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        engine.come_to_rest().await.unwrap();
        run
    };
    let run = lab.life_of(&workflow, life).await;
    lab.engine(&workflow).await.finish(&run).await.unwrap();
    assert_eq!((tape.count("asked"), lab.elapsed()), (1, 86_400_000));
}

async fn a_computed_delay_of_zero_does_not_wait(lab: Lab) {
    let none = || async { Ok::<_, StepError>(Duration::ZERO) };
    assert_eq!(time_of(&lab, delay_by(none.named("none"))).await, 0);
}

async fn a_computed_delay_that_fails_fails_the_run(lab: Lab) {
    let bad = || async { Err::<Duration, _>(StepError::new("no idea")) };
    let workflow = Workflow::new("w").step(delay_by(bad.named("bad"))).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    assert_eq!(crate::steps::failure(&engine.finish(run.id()).await.unwrap()), "delay: no idea");
}

async fn a_sleeping_run_leaves_memory(lab: Lab) {
    let workflow = Workflow::new("w").step(delay_step(Duration::from_secs(60))).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert!(engine.active_runs().is_empty());
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Waiting);
    assert_eq!(told(&engine, run.id()).await, ["runStarted", "sleepStarted delay"]);
}

async fn a_thousand_delays_end_in_order(lab: Lab) {
    let tape = Tape::default();
    let noted = tape.clone();
    let how_long =
        |Input(seconds): Input<u64>| async move { Ok::<_, StepError>(Duration::from_secs(seconds)) };
    let done = move |Input(seconds): Input<u64>| {
        noted.note(format!("{seconds:04}"));
        async { Ok::<_, StepError>(()) }
    };
    let workflow = Workflow::new("w").input::<u64>().step(delay_by(how_long.named("how_long")));
    let workflow = workflow.step(done.named("done")).build().unwrap();
    let engine =
        lab.builder().configure(|it| it.max_live_runs(50)).workflow(&workflow).build().await.unwrap();
    let starts = (0..1_000_u64).map(|n| engine.run(&workflow, 10 + n * 7 % 1_000).into_future());
    futures::future::try_join_all(starts).await.unwrap();
    engine.advance(Duration::from_secs(1_100)).await.unwrap();
    let order = tape.entries();
    assert_eq!(order.len(), 1_000);
    assert!(order.is_sorted());
    assert!(engine.active_runs().is_empty());
}
