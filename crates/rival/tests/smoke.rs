//! A workflow from start to end, on the testing kit.

use rival::prelude::*;
use rival::testing::TestEngine;

#[step]
async fn one() -> Result<u32, StepError> {
    Ok(1)
}

#[step]
async fn two(one: Output<one>) -> Result<u32, StepError> {
    Ok(*one + 1)
}

#[tokio::test]
async fn a_workflow_runs_and_its_output_is_typed() {
    let workflow = Workflow::new("count")
        .step(one)
        .step(delay_step(std::time::Duration::from_secs(3600)))
        .step(two)
        .build()
        .unwrap();
    let engine = TestEngine::builder().workflow(&workflow).build().await.unwrap();
    let run = engine.run(&workflow, ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), 2);
}
