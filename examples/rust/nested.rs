//! A workflow as a node of another, with an input of its own.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    customer: String,
    logs: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Parcel {
    to: String,
    weight: u32,
}

#[step]
async fn weigh(Input(parcel): Input<Parcel>) -> Result<u32, StepError> {
    Ok(parcel.weight)
}

#[step]
async fn post(Input(parcel): Input<Parcel>, weight: Output<weigh>) -> Result<String, StepError> {
    Ok(format!("{} kg to {}", *weight, parcel.to))
}

/// Posts a parcel: a workflow that can be run on its own, and be part of others.
fn shipping() -> Result<Workflow<Parcel, String>, rival::BuildErrors> {
    Workflow::new("shipping").input::<Parcel>().step(weigh).step(post).build()
}

#[step]
async fn chop(Input(order): Input<Order>) -> Result<u32, StepError> {
    Ok(order.logs * 25)
}

/// Gives the nested workflow its input. That it is a `Parcel` is checked when this is compiled.
#[step]
async fn pack(Input(order): Input<Order>, weight: Output<chop>) -> Result<Parcel, StepError> {
    Ok(Parcel { to: order.customer, weight: *weight })
}

/// From outside, a nested workflow is one node: its result is its last step's, read by the node's id.
#[step]
async fn bill(Input(order): Input<Order>, steps: Steps) -> Result<String, StepError> {
    let sent: String = steps.get("shipping").await?;
    Ok(format!("{} pays for {sent}", order.customer))
}

fn workflow() -> Result<Workflow<Order, String>, rival::BuildErrors> {
    Workflow::new("order").input::<Order>().step(chop).workflow_with(&shipping()?, pack).step(bill).build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    let engine = Engine::builder().workflow(&workflow).build().await?;
    let order = Order { customer: "Ada".into(), logs: 4 };
    println!("{}", engine.run(&workflow, order).await?.output().await?);
    Ok(())
}

#[tokio::test]
async fn steps_by_name_can_be_given_in_a_test() -> Result<(), StepError> {
    let steps = Steps::test([rival::StepRecord::test("shipping", "1 kg to Ada".to_owned())]);
    let bill = bill(Input(Order { customer: "Ada".into(), logs: 1 }), steps).await?;
    assert_eq!(bill, "Ada pays for 1 kg to Ada");
    Ok(())
}

#[test]
fn the_workflow_builds() {
    assert!(workflow().is_ok());
}
