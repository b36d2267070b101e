//! Traces: which span a call is in, and who tells whom.

use std::sync::Arc;

use rival::event::{CallRole, EventKind};
use rival::prelude::*;
use rival::{Observer, Path, RunId, RunStatus, TraceParent, Value};

use crate::lab::{Lab, facts};
use crate::steps::Gate;

facts![
    calls_of_a_run_that_was_started_in_a_trace_are_in_it,
    a_header_that_is_no_header_is_ignored,
    without_a_trace_nobody_is_told_of_one,
    an_engine_that_traces_gives_every_run_a_trace,
    a_trace_outlives_a_crash,
    a_child_is_in_the_trace_of_the_call_that_asked_for_it,
    a_retry_has_a_trace_of_its_own,
    a_trace_makes_no_other_run,
];

const GIVEN: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Says which span it is.
#[step]
async fn tell(run: Run) -> Result<Option<String>, StepError> {
    Ok(run.traceparent())
}

#[step]
async fn fail(run: Run) -> Result<(), StepError> {
    Err(StepError::stop(run.traceparent().unwrap_or_default()))
}

#[step]
async fn ask(durable: Durable) -> Result<Value, StepError> {
    durable.run("w", ()).await
}

/// Only says that it traces.
struct Tracer;

impl Observer for Tracer {
    fn traces(&self) -> bool {
        true
    }
}

fn telling() -> Workflow<(), Option<String>> {
    Workflow::new("w").step(tell).build().unwrap()
}

/// The span of a call, which a reader can compute from the run, its starter, the node and the call's number.
fn span(run: &str, starter: Option<&str>, node: &str, call: u32) -> String {
    let run = RunId::from(run);
    let starter = starter.map(|starter| TraceParent::parse(starter).unwrap());
    TraceParent::of_run(&run, starter).of_call(&run, &Path::from(node), CallRole::Step, call).to_string()
}

/// What a run's first event says of its trace.
async fn recorded(engine: &Engine, run: &RunId) -> Option<String> {
    let history = engine.history(run).await.unwrap();
    let EventKind::RunStarted { trace, .. } = &history[0].kind else {
        panic!("the first event is the start")
    };
    trace.map(|trace| trace.to_string())
}

async fn calls_of_a_run_that_was_started_in_a_trace_are_in_it(lab: Lab) {
    let engine = lab.engine(telling()).await;
    let run = engine.run(&telling(), ()).id("r").trace(GIVEN).await.unwrap();
    let told: Option<String> = run.output().await.unwrap();
    assert_eq!(told, Some(span("r", Some(GIVEN), "tell", 1)));
    assert!(told.unwrap().starts_with(&GIVEN[..36]));
    assert_eq!(recorded(&engine, run.id()).await.as_deref(), Some(GIVEN));
}

async fn a_header_that_is_no_header_is_ignored(lab: Lab) {
    let engine = lab.engine(telling()).await;
    let run = engine.run(&telling(), ()).trace("00-nonsense-01").await.unwrap();
    assert_eq!(run.output().await.unwrap(), None);
    assert_eq!(recorded(&engine, run.id()).await, None);
}

async fn without_a_trace_nobody_is_told_of_one(lab: Lab) {
    let parent: Workflow<(), Value> = Workflow::new("p").step(ask).build().unwrap();
    let engine = lab.builder().workflow(telling()).workflow(&parent).build().await.unwrap();
    let run = engine.run(&parent, ()).id("r").await.unwrap();
    assert_eq!(run.output().await.unwrap(), Value::null());
    assert_eq!(recorded(&engine, &RunId::from("r~c1")).await, None);
}

async fn an_engine_that_traces_gives_every_run_a_trace(lab: Lab) {
    let engine = lab.engine(telling()).await;
    engine.observe(Arc::new(Tracer));
    let run = engine.run(&telling(), ()).id("r").await.unwrap();
    assert_eq!(run.output().await.unwrap(), Some(span("r", None, "tell", 1)));
    assert_eq!(recorded(&engine, run.id()).await, None);
}

async fn a_trace_outlives_a_crash(lab: Lab) {
    let gate = Gate::default();
    let held = gate.clone();
    let step = move |run: Run| {
        let gate = held.clone();
        async move {
            gate.pass().await;
            Ok::<_, StepError>(run.traceparent())
        }
    };
    let workflow: Workflow<(), Option<String>> = Workflow::new("w").step(step.named("held")).build().unwrap();
    let arrived = gate.clone();
    lab.life_of(&workflow, |engine| async move {
        engine.run("w", ()).id("r").trace(GIVEN).await.unwrap();
        arrived.arrived(1).await;
    })
    .await;
    gate.open();
    let engine = lab.engine(&workflow).await;
    let outcome = engine.wait(&RunId::from("r")).await.unwrap();
    let told: Option<String> = outcome.output.unwrap().decode().unwrap();
    assert_eq!(told, Some(span("r", Some(GIVEN), "held", 2)));
}

async fn a_child_is_in_the_trace_of_the_call_that_asked_for_it(lab: Lab) {
    let parent: Workflow<(), Value> = Workflow::new("p").step(ask).build().unwrap();
    let engine = lab.builder().workflow(telling()).workflow(&parent).build().await.unwrap();
    let run = engine.run(&parent, ()).id("r").trace(GIVEN).await.unwrap();
    let told: Option<String> = run.output().await.unwrap().decode().unwrap();
    let asker = span("r", Some(GIVEN), "ask", 1);
    assert_eq!(recorded(&engine, &RunId::from("r~c1")).await.as_ref(), Some(&asker));
    assert_eq!(told, Some(span("r~c1", Some(&asker), "tell", 1)));
}

async fn a_retry_has_a_trace_of_its_own(lab: Lab) {
    let workflow: Workflow<(), ()> = Workflow::new("w").step(fail).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).trace(GIVEN).await.unwrap();
    assert_eq!(run.wait().await.unwrap().status, RunStatus::Failed);
    let retry = engine.retry(run.id()).await.unwrap();
    retry.wait().await.unwrap();
    assert_eq!(recorded(&engine, retry.id()).await, None);
}

async fn a_trace_makes_no_other_run(lab: Lab) {
    let engine = lab.engine(telling()).await;
    let first = engine.run("w", ()).id("r").trace(GIVEN).await.unwrap();
    first.wait().await.unwrap();
    let again = engine.run("w", ()).id("r").await.unwrap();
    assert_eq!(again.id(), first.id());
}
