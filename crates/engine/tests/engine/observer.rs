//! Passive engines, and observers that hear of what engines do.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use rival::prelude::*;
use rival::{CallEnd, Called, Committed, EngineBuilder, Observer, RunId, RunStatus, Time, Value};

use crate::lab::{Lab, facts};
use crate::steps::Gate;

facts![
    a_passive_engine_queues_runs_and_runs_none,
    a_passive_engine_keeps_requests,
    a_passive_engine_lets_the_runs_of_others_be,
    observers_hear_of_starts_calls_and_ends,
    children_are_heard_of_too,
    a_call_that_times_out_is_heard_of_once,
    a_call_that_a_crash_cut_short_is_heard_of_in_the_next_life,
    calls_that_are_let_go_are_heard_of,
    a_run_that_queued_is_heard_of,
    versions_are_the_plans_of_a_workflow,
    events_come_in_pages,
];

#[step]
async fn one() -> Result<u32, StepError> {
    Ok(1)
}

#[step]
async fn two() -> Result<u32, StepError> {
    Err(StepError::new("no").code("broken"))
}

fn simple() -> Workflow<(), u32> {
    Workflow::new("w").step(one).build().unwrap()
}

async fn a_passive_engine_queues_runs_and_runs_none(lab: Lab) {
    let passive = lab.builder().configure(EngineBuilder::passive).workflow(simple()).build().await.unwrap();
    let run = passive.run("w", ()).id("r").await.unwrap();
    assert_eq!(run.status(), RunStatus::Queued);
    passive.shutdown(Duration::ZERO).await;
    let engine = lab.engine(simple()).await;
    assert_eq!(engine.wait(run.id()).await.unwrap().status, RunStatus::Completed);
}

async fn a_passive_engine_keeps_requests(lab: Lab) {
    let wait = || Workflow::new("w").step(delay_step(Duration::from_secs(9))).build().unwrap();
    let first = lab.engine(wait()).await;
    let run = first.run("w", ()).await.unwrap();
    first.come_to_rest().await.unwrap();
    first.shutdown(Duration::ZERO).await;
    let passive = lab.builder().configure(EngineBuilder::passive).build().await.unwrap();
    assert_eq!(passive.cancel(run.id(), "enough").await.unwrap(), RunStatus::Waiting);
    passive.shutdown(Duration::ZERO).await;
    let engine = lab.engine(wait()).await;
    assert_eq!(engine.wait(run.id()).await.unwrap().reason.as_deref(), Some("enough"));
}

async fn a_passive_engine_lets_the_runs_of_others_be(lab: Lab) {
    let gate = Gate::default();
    let held = gate.clone();
    let step = move || {
        let gate = held.clone();
        async move {
            gate.pass().await;
            Ok::<_, StepError>(())
        }
    };
    let engine = lab.engine(Workflow::new("w").step(step.named("held")).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    let passive = lab.builder().configure(EngineBuilder::passive).build().await.unwrap();
    assert_eq!(passive.summary(run.id()).await.unwrap().status, RunStatus::Running);
    gate.open();
    assert_eq!(engine.wait(run.id()).await.unwrap().status, RunStatus::Completed);
}

/// Writes down what it hears.
#[derive(Default)]
struct Ears(Mutex<Vec<String>>);

impl Ears {
    fn hear(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn heard(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Observer for Ears {
    fn started(&self, run: &RunId, workflow: &str, _at: Time) {
        self.hear(format!("{run} of {workflow} started"));
    }

    fn dequeued(&self, run: &RunId, workflow: &str, waited: Duration) {
        self.hear(format!("{run} of {workflow} waited {waited:?}"));
    }

    fn committed(&self, commit: &Committed<'_>) {
        if commit.status.is_terminal() {
            self.hear(format!("{} {}", commit.run, commit.status));
        }
    }

    fn called(&self, call: &Called<'_>) {
        let end = match call.end {
            CallEnd::Succeeded => "succeeded".to_owned(),
            CallEnd::Failed(failure) => failure.code.clone(),
            CallEnd::Cancelled => "cancelled".to_owned(),
            CallEnd::Suspended => "suspended".to_owned(),
            CallEnd::Lost(reason) => format!("lost by {reason:?}"),
            CallEnd::Blocked(_) => "blocked".to_owned(),
        };
        self.hear(format!("{}#{} attempt {}: {end}", call.node, call.call, call.attempt));
    }
}

async fn observers_hear_of_starts_calls_and_ends(lab: Lab) {
    let ears = Arc::new(Ears::default());
    let workflow: Workflow<(), u32> = Workflow::new("w").step(one).step(two).build().unwrap();
    let engine = lab.engine(workflow).await;
    engine.observe(ears.clone());
    let run = engine.run("w", ()).id("r").await.unwrap();
    assert_eq!(run.wait().await.unwrap().status, RunStatus::Failed);
    engine.settled().await;
    let expected = ["r of w started", "one#1 attempt 1: succeeded", "two#1 attempt 1: broken", "r failed"];
    assert_eq!(ears.heard(), expected);
}

async fn children_are_heard_of_too(lab: Lab) {
    let ears = Arc::new(Ears::default());
    let child = simple();
    async fn start(durable: Durable) -> Result<Value, StepError> {
        durable.run("w", ()).await
    }
    let parent: Workflow<(), Value> = Workflow::new("p").step(start).build().unwrap();
    let engine = lab.builder().workflow(&parent).workflow(&child).build().await.unwrap();
    engine.observe(ears.clone());
    engine.run(&parent, ()).id("r").await.unwrap().wait().await.unwrap();
    let heard = ears.heard();
    assert!(heard.contains(&"r~c1 of w started".to_owned()), "{heard:?}");
    assert!(heard.contains(&"r~c1 completed".to_owned()), "{heard:?}");
}

fn held(
    gate: &Gate,
) -> impl Fn() -> BoxFuture<'static, Result<(), StepError>> + Clone + Send + Sync + 'static {
    let gate = gate.clone();
    move || {
        let gate = gate.clone();
        Box::pin(async move {
            gate.pass().await;
            Ok(())
        })
    }
}

async fn a_call_that_times_out_is_heard_of_once(lab: Lab) {
    let (ears, gate) = (Arc::new(Ears::default()), Gate::default());
    let held = held(&gate).named("held").timeout(Duration::from_secs(5));
    let engine = lab.engine(Workflow::new("w").step(held).build().unwrap()).await;
    engine.observe(ears.clone());
    let run = engine.run("w", ()).id("r").await.unwrap();
    gate.arrived(1).await;
    lab.pass(Duration::from_secs(5));
    engine.tick().await.unwrap();
    assert_eq!(run.wait().await.unwrap().status, RunStatus::Failed);
    engine.settled().await;
    assert_eq!(ears.heard(), ["r of w started", "held#1 attempt 1: timeout", "r failed"]);
}

async fn a_call_that_a_crash_cut_short_is_heard_of_in_the_next_life(lab: Lab) {
    let (ears, gate) = (Arc::new(Ears::default()), Gate::default());
    let workflow = || Workflow::new("w").step(held(&gate).named("held")).build().unwrap();
    let arrived = gate.clone();
    lab.life_of(workflow(), |engine| async move {
        engine.run("w", ()).id("r").await.unwrap();
        arrived.arrived(1).await;
    })
    .await;
    gate.open();
    let builder = lab.builder().configure(|builder| builder.observe(ears.clone()));
    let engine = builder.workflow(workflow()).build().await.unwrap();
    assert_eq!(engine.wait(&RunId::from("r")).await.unwrap().status, RunStatus::Completed);
    engine.settled().await;
    assert_eq!(
        ears.heard(),
        ["held#1 attempt 1: lost by Crash", "held#2 attempt 1: succeeded", "r completed"]
    );
}

async fn calls_that_are_let_go_are_heard_of(lab: Lab) {
    let (ears, gate) = (Arc::new(Ears::default()), Gate::default());
    let engine = lab.engine(Workflow::new("w").step(held(&gate).named("held")).build().unwrap()).await;
    engine.observe(ears.clone());
    engine.run("w", ()).id("r").await.unwrap();
    gate.arrived(1).await;
    engine.shutdown(Duration::ZERO).await;
    assert_eq!(ears.heard(), ["r of w started", "held#1 attempt 1: lost by Shutdown"]);
}

async fn a_run_that_queued_is_heard_of(lab: Lab) {
    let passive =
        lab.builder().configure(rival::EngineBuilder::passive).workflow(simple()).build().await.unwrap();
    passive.run("w", ()).id("r").await.unwrap();
    passive.shutdown(Duration::ZERO).await;
    lab.pass(Duration::from_secs(3));
    let ears = Arc::new(Ears::default());
    let builder = lab.builder().configure(|builder| builder.observe(ears.clone()));
    let engine = builder.workflow(simple()).build().await.unwrap();
    engine.wait(&RunId::from("r")).await.unwrap();
    engine.settled().await;
    assert_eq!(ears.heard(), ["r of w waited 3s", "one#1 attempt 1: succeeded", "r completed"]);
}

async fn versions_are_the_plans_of_a_workflow(lab: Lab) {
    let first = lab.engine(simple()).await;
    first.shutdown(Duration::ZERO).await;
    let longer: Workflow<(), u32> = Workflow::new("w").step(one).step(two).build().unwrap();
    let other: Workflow<(), u32> = Workflow::new("v").step(one).build().unwrap();
    let engine = lab.builder().workflow(&longer).workflow(&other).build().await.unwrap();
    let versions = engine.versions("w").await.unwrap();
    assert_eq!(versions.len(), 2);
    assert_eq!(versions[1].to_string(), engine.workflow("w").unwrap().plan_hash);
    assert!(engine.versions("nobody").await.unwrap().is_empty());
    assert_eq!(engine.workflow("nobody").unwrap_err().code(), "unknown_workflow");
}

async fn events_come_in_pages(lab: Lab) {
    let engine = lab.engine(simple()).await;
    let run = engine.run("w", ()).await.unwrap();
    run.wait().await.unwrap();
    let all = engine.history(run.id()).await.unwrap();
    let mut read = Vec::new();
    while let Some(event) = engine.events(run.id(), rival::Seq(read.len() as u64), 1).await.unwrap().pop() {
        read.push(event);
    }
    assert_eq!(read, all);
    assert_eq!(engine.input(run.id()).await.unwrap(), Value::null());
}
