//! Steps that do not know each other: earlier results by name, skipping, and options from one struct.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::time::Duration;

use rival::TypedStep;
use rival::prelude::*;
use serde_json::{Value, json};

/// Takes the input as it comes.
#[step]
async fn parse(Input(input): Input<Value>) -> Result<Value, StepError> {
    Ok(json!({ "trees": input["trees"].as_u64().unwrap_or(0) }))
}

/// A step that has nothing to do marks itself as skipped. What it returns is still its result.
#[step]
async fn fell(steps: Steps, state: State) -> Result<u64, StepError> {
    let parsed: Value = steps.get("parse").await?;
    let trees = parsed["trees"].as_u64().unwrap_or(0);
    if trees == 0 {
        state.skip();
        state.describe("nothing to fell");
    }
    state.set("saw", "chainsaw")?;
    Ok(trees)
}

/// Works after any step: it looks at whichever came before it.
#[step]
async fn report(last: LastStep, log: Log) -> Result<String, StepError> {
    let Some(step) = last.record() else { return Ok("nothing yet".into()) };
    log.info(json!({ "status": step.status() }), "reporting");
    Ok(format!("{} is {} with {}", step.name(), step.status(), last.get::<Value>()?))
}

/// The same function is there twice, so its results are told apart by id.
#[step]
async fn compare(steps: Steps) -> Result<bool, StepError> {
    let first: String = steps.get("report").await?;
    let second: String = steps.get("report_2").await?;
    let saw = steps.find("fell").await?.and_then(|step| step.state::<String>("saw"));
    Ok(first == second || saw.is_none())
}

/// Options that several steps share.
fn patient() -> StepConfig {
    StepConfig {
        timeout: Some(Duration::from_secs(30)),
        max_attempts: Some(5),
        jitter: true,
        ..Default::default()
    }
}

/// Options as a function of the step.
fn once<M, S: StepFn<M>>(step: S) -> TypedStep<S::Out> {
    step.retry(1).at_most_once()
}

fn workflow() -> Result<Workflow<Value, bool>, rival::BuildErrors> {
    Workflow::new("dynamic")
        .input::<Value>()
        .steps((parse.config(patient()), report, once(fell), report))
        .step(compare.config(patient()))
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    let engine = Engine::builder().workflow(&workflow).build().await?;
    let outcome = engine.run(&workflow, json!({ "trees": 0 })).await?.wait().await?;
    for (name, step) in &outcome.results {
        println!(
            "{name:<9} {:<9} {}",
            step.status,
            step.result.as_ref().map_or("-", |result| result.as_json())
        );
    }
    Ok(())
}

#[test]
fn the_workflow_builds() {
    assert!(workflow().is_ok());
}
