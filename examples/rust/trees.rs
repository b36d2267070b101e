//! From an order to chopped wood: steps are functions, and their arguments say what they need.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::time::Duration;

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    id: u32,
}

#[derive(Serialize, Deserialize)]
struct Tree {
    species: String,
    height: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct Chopped {
    logs: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct Receipt {
    order: u32,
    logs: u32,
}

#[step]
async fn find_tree(Input(order): Input<Order>, log: Log) -> Result<Tree, StepError> {
    log.info((), format_args!("looking for a tree for order {}", order.id));
    Ok(Tree { species: "oak".into(), height: 12 })
}

#[step]
async fn chop_tree(tree: Output<find_tree>, state: State) -> Result<Chopped, StepError> {
    state.describe(format!("chopped an {} of {} m", tree.species, tree.height));
    Ok(Chopped { logs: tree.height / 2 })
}

// A plain `fn` may block: it is given a thread of its own.
#[step]
fn write_receipt(Input(order): Input<Order>, chopped: Output<chop_tree>) -> Result<Receipt, StepError> {
    Ok(Receipt { order: order.id, logs: chopped.logs })
}

/// The workflow gives what its last step gives.
fn workflow() -> Result<Workflow<Order, Receipt>, rival::BuildErrors> {
    Workflow::new("treeProcessing")
        .input::<Order>()
        .step(find_tree)
        .step(chop_tree.timeout(Duration::from_secs(60)).retry(3))
        .step(write_receipt)
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    let engine = Engine::builder().workflow(&workflow).build().await?;
    let run = engine.run(&workflow, Order { id: 7 }).await?;
    let receipt = run.output().await?;
    println!("order {}: {} logs", receipt.order, receipt.logs);
    Ok(())
}

#[tokio::test]
async fn a_step_is_a_function() -> Result<(), StepError> {
    let tree = Tree { species: "elm".into(), height: 8 };
    let chopped = chop_tree(Output::new(tree), State::test()).await?;
    assert_eq!(chopped.logs, 4);
    Ok(())
}

#[test]
fn the_workflow_builds() {
    assert!(workflow().is_ok());
}
