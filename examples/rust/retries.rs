//! What a failing step can ask for, and what the workflow allows it.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::time::Duration;

use rival::prelude::*;

/// Any error converts with `?`. It is a plain one: tried again while the step's attempts last.
#[step]
async fn read_gauge(run: Run) -> Result<u32, StepError> {
    let reading = if run.attempt() < 3 { "??" } else { "42" };
    Ok(reading.parse::<u32>()?)
}

/// The step knows best how long its service needs to recover, and says so.
#[step]
async fn call_sawmill(gauge: Output<read_gauge>, run: Run, log: Log) -> Result<String, StepError> {
    // The same in every attempt, so that the sawmill books it once.
    let key = run.idempotency_key();
    log.debug(serde_json::json!({ "key": key }), "calling the sawmill");
    if run.attempt() == 1 {
        return Err(StepError::retry("the sawmill is closed")
            .code("closed")
            .max_attempts(3)
            .backoff(BackoffKind::Exponential, Duration::from_millis(200)));
    }
    Ok(format!("{} planks", *gauge))
}

/// `stop` ends the step even though attempts remain: trying again would not help.
#[step]
async fn check_planks(planks: Output<call_sawmill>) -> Result<(), StepError> {
    if planks.starts_with("0 ") {
        return Err(StepError::stop("no planks at all").code("no_planks"));
    }
    Ok(())
}

/// The run goes on without this one, so later steps ask for `Option<Output<send_postcard>>`.
#[step]
async fn send_postcard() -> Result<u32, StepError> {
    Err(StepError::new("out of stamps"))
}

#[step]
async fn sum_up(
    planks: Output<call_sawmill>,
    card: Option<Output<send_postcard>>,
) -> Result<String, StepError> {
    let card = if card.is_some() { "with" } else { "without" };
    Ok(format!("{}, {card} a postcard", *planks))
}

fn workflow() -> Result<Workflow<(), String>, rival::BuildErrors> {
    Workflow::new("sawmill")
        .timeout(Duration::from_secs(3600))
        .step(read_gauge.retry(5).backoff(BackoffKind::Linear, Duration::from_millis(100)).jitter())
        .step(call_sawmill.timeout(Duration::from_secs(10)).on_timeout_retry().retry(3))
        .step(check_planks.retry(10))
        .step(send_postcard.continue_on_error())
        .step(delay_step(Duration::from_millis(500)))
        .step(sum_up)
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    let engine = Engine::builder().workflow(&workflow).build().await?;
    let run = engine.run(&workflow, ()).await?;
    println!("{}", run.output().await?);
    for step in run.state().await?.steps {
        let error = step.error.map_or_else(String::new, |error| format!(" ({})", error.failure));
        println!("{:<13} {:<9} attempts: {}{error}", step.name, step.status, step.retry_count + 1);
    }
    Ok(())
}

#[test]
fn the_workflow_builds() {
    assert!(workflow().is_ok());
}
