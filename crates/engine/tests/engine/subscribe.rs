//! Following a run's events.

use std::time::Duration;

use futures::stream::{BoxStream, StreamExt};
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{Event, RunError, RunId, Seq};

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape};

facts![
    a_subscription_from_the_start_has_everything,
    a_subscription_from_the_middle_has_the_rest,
    a_subscription_from_the_end_ends_at_once,
    events_arrive_while_the_run_goes_on,
    only_durable_events_arrive,
    two_subscribers_see_the_same,
    a_subscription_outlasts_a_sleep,
    an_unknown_run_is_an_error,
];

type Events = BoxStream<'static, Result<Event, RunError>>;

async fn all(events: Events) -> Vec<Event> {
    events.map(Result::unwrap).collect().await
}

fn numbers(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.seq.0).collect()
}

async fn ended(lab: &Lab) -> (TestEngine, RunId) {
    let tape = Tape::default();
    let workflow =
        Workflow::new("w").steps((tape.step("a"), tape.step("b"), tape.step("c"))).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap().id().clone();
    engine.finish(&run).await.unwrap();
    (engine, run)
}

async fn a_subscription_from_the_start_has_everything(lab: Lab) {
    let (engine, run) = ended(&lab).await;
    let events = all(engine.subscribe(&run, Seq::ZERO)).await;
    assert_eq!(numbers(&events), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(events, engine.history(&run).await.unwrap());
}

async fn a_subscription_from_the_middle_has_the_rest(lab: Lab) {
    let (engine, run) = ended(&lab).await;
    for after in 0..8 {
        let events = all(engine.subscribe(&run, Seq(after))).await;
        assert_eq!(numbers(&events), ((after + 1)..=8).collect::<Vec<_>>());
    }
}

async fn a_subscription_from_the_end_ends_at_once(lab: Lab) {
    let (engine, run) = ended(&lab).await;
    assert!(all(engine.subscribe(&run, Seq(8))).await.is_empty());
    assert!(all(engine.subscribe(&run, Seq(99))).await.is_empty());
}

async fn events_arrive_while_the_run_goes_on(lab: Lab) {
    let gate = Gate::default();
    let workflow = Workflow::new("w").step(Tape::default().gated("held", &gate)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let mut events = run.events();
    for seq in 1..=2 {
        assert_eq!(events.next().await.unwrap().unwrap().seq, Seq(seq));
    }
    gate.open();
    let rest = all(events).await;
    assert_eq!(numbers(&rest), [3, 4]);
    assert!(rest[1].kind.is_terminal());
}

async fn only_durable_events_arrive(lab: Lab) {
    async fn again() -> Result<u32, StepError> {
        Ok(1)
    }
    let workflow = (1..50).fold(Workflow::new("w").step(again), |workflow, _| workflow.step(again));
    let workflow = workflow.build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let mut events = run.events();
    let mut last = 0;
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        assert_eq!(event.seq.0, last + 1);
        last = event.seq.0;
        assert!(engine.history(run.id()).await.unwrap().contains(&event));
    }
    assert_eq!(last, 102);
}

async fn two_subscribers_see_the_same(lab: Lab) {
    let gate = Gate::default();
    let workflow = Workflow::new("w").step(Tape::default().gated("held", &gate)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let one = tokio::spawn(all(run.events()));
    let two = tokio::spawn(all(run.events()));
    gate.open();
    assert_eq!(one.await.unwrap(), two.await.unwrap());
}

async fn a_subscription_outlasts_a_sleep(lab: Lab) {
    let workflow = Workflow::new("w").step(delay_step(Duration::from_secs(60))).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let events = tokio::spawn(all(run.events()));
    engine.finish(run.id()).await.unwrap();
    assert_eq!(numbers(&events.await.unwrap()), [1, 2, 3, 4]);
}

async fn an_unknown_run_is_an_error(lab: Lab) {
    let (engine, _) = ended(&lab).await;
    let mut events = engine.subscribe(&"nobody".into(), Seq::ZERO);
    assert!(matches!(events.next().await, Some(Err(RunError::NotFound(_)))));
    assert!(events.next().await.is_none());
}
