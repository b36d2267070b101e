//! Workflows that check their input themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use rival::prelude::*;
use rival::{Definition, StartError, Value, Violation};
use rival_engine::{CheckError, InputCheck};
use serde_json::json;

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape, gives, output};

facts![
    a_run_records_what_the_check_gives,
    the_same_input_is_the_same_run_whatever_the_check_makes_of_it,
    a_refused_input_starts_nothing_and_is_told_to_the_handler,
    a_check_that_cannot_be_asked_starts_nothing,
    what_the_check_gives_may_be_too_large,
    a_fork_with_another_input_is_checked,
    children_are_given_what_the_check_makes_of_their_input,
    a_check_that_refuses_the_input_of_a_child_fails_the_operation,
    a_check_that_cannot_be_asked_about_a_child_fails_the_operation,
];

/// Lets everything through, when the gate is open.
pub(crate) struct At(pub(crate) Gate);

#[async_trait]
impl InputCheck for At {
    async fn check(&self, input: Value) -> Result<Value, CheckError> {
        self.0.pass().await;
        Ok(input)
    }
}

/// Adds how often it was asked.
#[derive(Default)]
struct Counting(AtomicU32);

#[async_trait]
impl InputCheck for Counting {
    async fn check(&self, input: Value) -> Result<Value, CheckError> {
        let asked = 1 + self.0.fetch_add(1, Ordering::AcqRel);
        Ok(Value::from(json!({"given": input.to_json(), "asked": asked})))
    }
}

/// Gives always the same.
struct Saying(Result<Value, CheckError>);

#[async_trait]
impl InputCheck for Saying {
    async fn check(&self, _: Value) -> Result<Value, CheckError> {
        self.0.clone()
    }
}

fn refusing() -> Saying {
    let violation = |path: &str, message: &str| Violation { path: path.into(), message: message.into() };
    Saying(Err(CheckError::Refused(vec![violation("/id", "Too small"), violation("", "Odd")])))
}

/// A workflow that gives its input.
fn echo(check: impl InputCheck) -> Definition {
    let echo = |Input(input): Input<serde_json::Value>| async move { Ok::<_, StepError>(input) };
    let workflow = Workflow::new("w").input::<serde_json::Value>().step(echo.named("echo")).build().unwrap();
    Definition { input_check: Some(Arc::new(check)), ..workflow.definition() }
}

async fn a_run_records_what_the_check_gives(lab: Lab) {
    let engine = lab.engine(echo(Counting::default())).await;
    let run = engine.run("w", json!({"a": 1})).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), json!({"given": {"a": 1}, "asked": 1}));
    assert_eq!(engine.input(run.id()).await.unwrap().to_json(), json!({"given": {"a": 1}, "asked": 1}));
}

async fn the_same_input_is_the_same_run_whatever_the_check_makes_of_it(lab: Lab) {
    let engine = lab.engine(echo(Counting::default())).await;
    let start = |input: serde_json::Value| engine.run("w", input).id("r").into_future();
    start(json!({"a": 1, "b": 2})).await.unwrap();
    let again = start(json!({"b": 2, "a": 1})).await.unwrap();
    assert_eq!(engine.input(again.id()).await.unwrap().to_json()["asked"], 1);
    let error = start(json!({"given": {"a": 1, "b": 2}, "asked": 1})).await.unwrap_err();
    assert!(matches!(error, StartError::Conflict(_)), "{error}");
}

async fn a_refused_input_starts_nothing_and_is_told_to_the_handler(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w").on_error(tape.handler("h")).step(gives("a", 1)).build().unwrap();
    let definition = Definition { input_check: Some(Arc::new(refusing())), ..workflow.definition() };
    let engine = lab.engine(definition).await;
    let error = engine.run("w", ()).id("r").await.unwrap_err();
    assert_eq!(error.to_string(), "the input of workflow `w` is not valid: /id: Too small; Odd");
    assert_eq!(tape.entries().len(), 1);
    assert!(tape.entries()[0].starts_with("h(__input__: "), "{:?}", tape.entries());
    assert!(engine.handle("r").await.is_err());
    assert_eq!(engine.check_input("w", &Value::null()).await.unwrap().len(), 2);
}

async fn a_check_that_cannot_be_asked_starts_nothing(lab: Lab) {
    let engine = lab.engine(echo(Saying(Err(CheckError::Unavailable("no host".into()))))).await;
    let error = engine.run("w", ()).id("r").await.unwrap_err();
    assert_eq!(error.code(), "check_unavailable");
    assert!(engine.handle("r").await.is_err());
    let error = engine.check_input("w", &Value::null()).await.unwrap_err();
    assert_eq!(error.to_string(), "the input of workflow `w` cannot be checked now: no host");
}

async fn what_the_check_gives_may_be_too_large(lab: Lab) {
    let definition = echo(Saying(Ok(Value::from(json!("x".repeat(100))))));
    let builder = lab.builder().configure(|it| it.max_payload_bytes(100)).workflow(definition);
    let engine = builder.build().await.unwrap();
    let error = engine.run("w", ()).await.unwrap_err();
    assert!(matches!(error, StartError::InputTooLarge { size: 102, .. }), "{error}");
}

async fn a_fork_with_another_input_is_checked(lab: Lab) {
    let engine = lab.engine(echo(Counting::default())).await;
    let run = engine.run("w", 1).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    let same = engine.fork(run.id()).from("echo").await.unwrap();
    assert_eq!(output(&engine.finish(same.id()).await.unwrap()), json!({"given": 1, "asked": 1}));
    let other = engine.fork(run.id()).from("echo").input(&2).await.unwrap();
    assert_eq!(output(&engine.finish(other.id()).await.unwrap()), json!({"given": 2, "asked": 2}));
    engine.replace(echo(refusing())).await.unwrap();
    let error = engine.fork(run.id()).from("echo").input(&3).await.unwrap_err();
    assert!(matches!(error, StartError::InvalidInput { .. }), "{error}");
}

async fn children_are_given_what_the_check_makes_of_their_input(lab: Lab) {
    let asks = |durable: Durable| async move {
        let one: Value = durable.run("w", 1).await?;
        let all: Vec<Value> = durable.map(vec![2, 3], "w").await?;
        Ok::<_, StepError>((one, all))
    };
    let parent = Workflow::new("parent").step(asks.named("asks")).build().unwrap();
    let engine = lab.builder().workflow(echo(Counting::default())).workflow(&parent).build().await.unwrap();
    let run = engine.run(&parent, ()).await.unwrap();
    let outcome = output(&engine.finish(run.id()).await.unwrap());
    let given = |it: &serde_json::Value| it["given"].clone();
    assert_eq!(
        (given(&outcome[0]), given(&outcome[1][0]), given(&outcome[1][1])),
        (json!(1), json!(2), json!(3))
    );
    assert!(outcome[0].get("asked").is_some(), "{outcome}");
}

/// The code of what a step is told that asks for a child with this check.
async fn told_of_a_child(lab: &Lab, check: impl InputCheck) -> serde_json::Value {
    let double = |Input(n): Input<u32>| async move { Ok::<_, StepError>(2 * n) };
    let child = Workflow::new("child").input::<u32>().step(double.named("double")).build().unwrap();
    let child = Definition { input_check: Some(Arc::new(check)), ..child.definition() };
    let asks = |durable: Durable| async move {
        let answer = durable.run("child", 4).await;
        Ok::<_, StepError>(answer.err().map(|error| error.failure.code))
    };
    let parent = Workflow::new("parent").step(asks.named("asks")).build().unwrap();
    let engine = lab.builder().workflow(child).workflow(&parent).build().await.unwrap();
    let run = engine.run(&parent, ()).await.unwrap();
    output(&engine.finish(run.id()).await.unwrap())
}

async fn a_check_that_refuses_the_input_of_a_child_fails_the_operation(lab: Lab) {
    assert_eq!(told_of_a_child(&lab, refusing()).await, json!("invalid_input"));
}

async fn a_check_that_cannot_be_asked_about_a_child_fails_the_operation(lab: Lab) {
    let silent = Saying(Err(CheckError::Unavailable("not now".into())));
    assert_eq!(told_of_a_child(&lab, silent).await, json!("check_unavailable"));
}
