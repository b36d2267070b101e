//! Waits that hold no thread and survive a restart: of a fixed length, and as long as a function says.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::time::{Duration, Instant};

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Tea {
    name: String,
    steep_ms: u64,
}

#[step]
async fn pour(Input(tea): Input<Tea>, state: State) -> Result<(), StepError> {
    state.describe(format!("poured {}", tea.name));
    Ok(())
}

/// Asked once; its answer is recorded, so that a restart does not begin the wait anew.
async fn steep(Input(tea): Input<Tea>) -> Result<Duration, StepError> {
    Ok(Duration::from_millis(tea.steep_ms))
}

#[step]
async fn serve(Input(tea): Input<Tea>) -> Result<String, StepError> {
    Ok(format!("{} is ready", tea.name))
}

fn workflow() -> Result<Workflow<Tea, String>, rival::BuildErrors> {
    Workflow::new("tea")
        .input::<Tea>()
        .step(pour)
        .step(delay_by(steep).named("steep"))
        .step(delay_step(Duration::from_millis(100)).named("cool"))
        .step(serve)
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    let engine = Engine::builder().workflow(&workflow).build().await?;
    let start = Instant::now();
    let run = engine.run(&workflow, Tea { name: "Assam".into(), steep_ms: 200 }).await?;
    println!("{}", run.output().await?);
    println!("it took its time: {}", start.elapsed() >= Duration::from_millis(300));
    Ok(())
}

#[tokio::test]
async fn a_week_passes_at_once_in_a_test() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    let engine = rival::testing::TestEngine::builder().workflow(&workflow).build().await?;
    let tea = Tea { name: "Pu-erh".into(), steep_ms: 7 * 24 * 3_600_000 };
    let run = engine.run(&workflow, tea).await?;
    engine.finish(run.id()).await?;
    assert_eq!(run.output().await?, "Pu-erh is ready");
    Ok(())
}
