//! Functions whose code runs elsewhere: what they are given, and what becomes of calls that lose what ran them.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use rival::event::LostReason;
use rival::prelude::*;
use rival::{Definition, NodeStatus, RunStatus, Value};
use rival_engine::{CallContext, CallError, FunctionNeeds, UserFunction};
use serde_json::json;

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure, gives, output};

facts![
    a_call_that_lost_what_ran_it_is_made_again_uncharged,
    a_call_that_may_have_killed_what_ran_it_is_quarantined,
    a_step_that_must_not_be_called_again_fails_when_it_is_lost,
    a_call_that_is_lost_while_it_waits_is_made_again,
    the_handler_for_refused_input_is_called_again_when_it_is_lost,
    named_nodes_are_there_before_the_call,
    named_nodes_are_there_after_a_crash,
    a_call_that_does_something_elsewhere_is_not_let_go,
];

const HOUR: Duration = Duration::from_secs(3_600);

type Returned = BoxFuture<'static, Result<Value, CallError>>;

/// A function that another one stands in for.
struct Elsewhere {
    needs: FunctionNeeds,
    body: Box<dyn Fn(CallContext) -> Returned + Send + Sync>,
}

impl UserFunction for Elsewhere {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> Returned {
        (self.body)(context)
    }
}

/// The workflow with another function in the place of this one.
fn with<O>(
    workflow: &Workflow<(), O>,
    function: &str,
    needs: FunctionNeeds,
    body: impl Fn(CallContext) -> Returned + Send + Sync + 'static,
) -> Definition {
    let mut definition: Definition = workflow.into();
    let known =
        definition.functions.insert(function.into(), Arc::new(Elsewhere { needs, body: Box::new(body) }));
    assert!(known.is_some(), "{function}");
    definition
}

/// A workflow of one step, which loses its first calls.
fn losing(step: rival::TypedStep<u32>, reason: LostReason, calls: u32) -> Definition {
    let workflow = Workflow::new("w").step(step).build().unwrap();
    with(&workflow, "a", FunctionNeeds::default(), move |context| {
        let call = context.run.call;
        let returned =
            if call <= calls { Err(CallError::Lost(reason)) } else { Ok(Value::from(json!(call))) };
        std::future::ready(returned).boxed()
    })
}

async fn a_call_that_lost_what_ran_it_is_made_again_uncharged(lab: Lab) {
    let engine = lab.engine(losing(gives("a", 0), LostReason::Bystander, 9)).await;
    let run = engine.run("w", ()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 10);
    let step = &engine.get(run.id()).await.unwrap().steps[0];
    assert_eq!((step.calls, step.retry_count), (10, 0));
}

async fn a_call_that_may_have_killed_what_ran_it_is_quarantined(lab: Lab) {
    let engine = lab.engine(losing(gives("a", 0), LostReason::Crash, 5)).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    let view = engine.get(run.id()).await.unwrap();
    assert_eq!((view.status, view.steps[0].status), (RunStatus::Blocked, NodeStatus::Blocked));
    engine.resume(run.id()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 6);
}

async fn a_step_that_must_not_be_called_again_fails_when_it_is_lost(lab: Lab) {
    let engine = lab.engine(losing(gives("a", 0).at_most_once(), LostReason::Bystander, 1)).await;
    let run = engine.run("w", ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.error.unwrap().code, "interrupted");
}

async fn a_call_that_is_lost_while_it_waits_is_made_again(lab: Lab) {
    let workflow = Workflow::new("w").step(gives("a", 0)).build().unwrap();
    let gate = Gate::default();
    let needs = FunctionNeeds { durable: true, ..FunctionNeeds::default() };
    let host = gate.clone();
    let definition = with(&workflow, "a", needs, move |context| {
        let host = host.clone();
        async move {
            let durable = context.durable.clone().expect("it asked for it");
            let slept = durable.sleep(HOUR);
            if context.run.call == 1 {
                tokio::select! {
                    _ = slept => panic!("nobody has moved the clock"),
                    () = host.pass() => return Err(CallError::Lost(LostReason::Bystander)),
                }
            }
            slept.await?;
            Ok(Value::from(json!(context.run.call)))
        }
        .boxed()
    });
    let engine = lab.engine(definition).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    engine.come_to_rest().await.unwrap();
    gate.open();
    engine.come_to_rest().await.unwrap();
    // It has waited for nothing twice: the sleep goes on where it was.
    assert_eq!(engine.finish(run.id()).await.map(|outcome| outcome.status).unwrap(), RunStatus::Completed);
    assert_eq!(lab.elapsed(), 3_600_000);
    let told = told(&engine, run.id()).await;
    assert_eq!(
        told[..5],
        ["runStarted", "callStarted a#1", "opStarted a#1", "callSuspended a#1", "callStarted a#2"]
    );
    assert_eq!(told.iter().filter(|line| line.starts_with("opStarted")).count(), 1, "{told:?}");
}

async fn the_handler_for_refused_input_is_called_again_when_it_is_lost(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w").input::<u32>().on_error(tape.handler("h")).step(gives("a", 0));
    let mut definition: Definition = (&workflow.build().unwrap()).into();
    let noted = tape.clone();
    let body = move |_: CallContext| {
        noted.note("h");
        let lost = noted.count("h") < 3;
        let returned = if lost { Err(CallError::Lost(LostReason::Bystander)) } else { Ok(Value::null()) };
        std::future::ready(returned).boxed()
    };
    definition
        .functions
        .insert("h".into(), Arc::new(Elsewhere { needs: FunctionNeeds::default(), body: Box::new(body) }));
    let engine = lab.engine(definition).await;
    assert!(engine.run("w", "no number").await.is_err());
    assert_eq!(tape.count("h"), 3);
}

/// `first`, and a nested workflow with `inner`, an hour of sleep and `a`, which gives the nodes that it sees.
fn seeing() -> Definition {
    let nested = Workflow::new("nested").step(gives("inner", 2)).step(delay_step(HOUR)).step(gives("a", 0));
    let nested = nested.build().unwrap();
    let workflow = Workflow::new("w").step(gives("first", 1)).workflow(&nested).build().unwrap();
    let function = workflow.definition().functions.keys().find(|key| key.ends_with("/a")).unwrap().clone();
    let steps = ["inner", "first", "nested", "nobody"].map(str::to_owned).to_vec();
    let needs = FunctionNeeds { steps, ..FunctionNeeds::default() };
    with(&workflow, &function, needs, |context| {
        let seen = context.seen.iter().map(|step| step.as_ref()?.result.clone()).collect::<Vec<_>>();
        let value = json!({"seen": seen, "names": context.steps.names()});
        std::future::ready(Ok(Value::from(value))).boxed()
    })
}

async fn named_nodes_are_there_before_the_call(lab: Lab) {
    let engine = lab.engine(seeing()).await;
    let run = engine.run("w", ()).await.unwrap();
    let seen = json!({"seen": [2, 1, null, null], "names": ["inner", "delay", "first"]});
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), seen);
}

async fn named_nodes_are_there_after_a_crash(lab: Lab) {
    let life = async |engine: rival::testing::TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        engine.come_to_rest().await.unwrap();
        run
    };
    let run = lab.life_of(seeing(), life).await;
    let engine = lab.engine(seeing()).await;
    let seen = json!({"seen": [2, 1, null, null], "names": ["inner", "delay", "first"]});
    assert_eq!(output(&engine.finish(&run).await.unwrap()), seen);
}

/// The engine has room for one run. What only waits inside makes room for the next; what does something elsewhere
/// meanwhile, only when it has done it.
async fn a_call_that_does_something_elsewhere_is_not_let_go(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::new("w").step(gives("a", 0)).build().unwrap();
    let (noted, work) = (tape.clone(), gate.clone());
    let definition =
        with(&workflow, "a", FunctionNeeds { durable: true, ..FunctionNeeds::default() }, move |context| {
            let (noted, work) = (noted.clone(), work.clone());
            async move {
                let durable = context.durable.expect("it asked for it");
                let busy = (context.run.call == 1).then(|| durable.busy());
                let elsewhere = tokio::spawn(async move {
                    if let Some(busy) = busy {
                        work.pass().await;
                        noted.note("done elsewhere");
                        drop(busy);
                    }
                });
                durable.sleep(HOUR).await?;
                elsewhere.await.unwrap();
                Ok(Value::null())
            }
            .boxed()
        });
    let other = Workflow::new("other").step(tape.step("other")).build().unwrap();
    let builder = lab.builder().configure(|it| it.max_live_runs(1)).workflow(definition).workflow(&other);
    let engine = builder.build().await.unwrap();
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    let next = engine.run(&other, ()).await.unwrap();
    // Time enough to make a mistake: without its mark it would be suspended at once.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    gate.open();
    assert_eq!(output(&engine.wait(next.id()).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["done elsewhere", "other"]);
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.status, RunStatus::Completed, "{}", failure(&outcome));
}
