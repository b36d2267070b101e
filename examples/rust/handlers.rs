//! Error handlers: of one step, and of the whole workflow. They are functions like steps, and may ask for `Failure`.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    logs: u32,
}

#[step]
async fn reserve(Input(order): Input<Order>) -> Result<u32, StepError> {
    Ok(order.logs)
}

#[step]
async fn load_truck(logs: Output<reserve>, state: State) -> Result<(), StepError> {
    state.set("loaded", 3)?;
    if *logs > 3 {
        return Err(StepError::stop("the truck is full").code("truck_full"));
    }
    Ok(())
}

/// Called when `load_truck` has failed for good. It sees what came before, and how far the step came.
#[step]
async fn unload_truck(failure: Failure, logs: Output<reserve>, log: Log) -> Result<(), StepError> {
    let loaded = failure.failed_step.state.to_json()["loaded"].clone();
    log.warn((), format_args!("unloading {loaded} of {} logs: {}", *logs, failure.error));
    Ok(())
}

/// Called once when a run fails, also for input that was refused: then there is no run, and no step has run.
#[step]
async fn tell_forester(failure: Failure, logs: Option<Output<reserve>>, log: Log) -> Result<(), StepError> {
    let (step, state) = (&failure.failed_step.step_name, &failure.workflow_state);
    let reserved = logs.map_or(0, Output::into_inner);
    match &state.run_id {
        Some(run) => log.error((), format_args!("run {run} failed at {step} with {reserved} logs reserved")),
        None => log.error((), format_args!("refused {:?}: {}", state.input, failure.error)),
    }
    Ok(())
}

fn workflow() -> Result<Workflow<Order, ()>, rival::BuildErrors> {
    Workflow::new("loading")
        .input::<Order>()
        .on_error(tell_forester)
        .step(reserve)
        .step(load_truck.on_error(unload_truck))
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    let engine = Engine::builder().workflow(&workflow).build().await?;
    let run = engine.run(&workflow, Order { logs: 5 }).await?;
    let outcome = run.wait().await?;
    println!("{}: {}", outcome.status, outcome.error.map_or_else(String::new, |error| error.to_string()));
    for line in engine.logs(run.id(), &rival::LogFilter::default()).await? {
        println!("{:?}: {}", line.level, line.message.replace(run.id().as_str(), "<id>"));
    }
    Ok(())
}

#[tokio::test]
async fn a_handler_is_a_function() -> Result<(), StepError> {
    let log = rival::testing::log();
    unload_truck(Failure::test("load_truck", "the truck is full"), Output::new(5), log.clone()).await?;
    assert_eq!(log.take()[0].message, "unloading null of 5 logs: the truck is full");
    Ok(())
}

#[test]
fn the_workflow_builds() {
    assert!(workflow().is_ok());
}
