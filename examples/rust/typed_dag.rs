//! An order as a graph: each step starts as soon as what it reads is there.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    customer: String,
    logs: u32,
}

#[step]
async fn validate(Input(order): Input<Order>) -> Result<u32, StepError> {
    if order.logs == 0 {
        return Err(StepError::stop("an order of nothing"));
    }
    Ok(order.logs)
}

/// Reads `validate`, so it comes after it. `check_stock` reads it too: the two run at the same time.
#[step]
async fn check_fraud(Input(order): Input<Order>, logs: Output<validate>) -> Result<bool, StepError> {
    Ok(order.customer != "Mallory" || *logs < 10)
}

#[step]
async fn check_stock(logs: Output<validate>) -> Result<u32, StepError> {
    Ok((*logs).min(5))
}

#[step]
async fn charge(trusted: Output<check_fraud>, logs: Output<check_stock>) -> Result<u32, StepError> {
    if !*trusted {
        return Err(StepError::stop("this looks like fraud"));
    }
    Ok(*logs * 25)
}

/// Reads nothing of the others. That it comes after `charge` is said where it is used.
#[step]
async fn ship(Input(order): Input<Order>) -> Result<String, StepError> {
    Ok(format!("shipped to {}", order.customer))
}

#[step]
async fn close(paid: Output<charge>, shipped: Output<ship>) -> Result<String, StepError> {
    Ok(format!("{}, paid {}", *shipped, *paid))
}

fn workflow() -> Result<Workflow<Order, String>, rival::BuildErrors> {
    Workflow::dag("order")
        .input::<Order>()
        .steps((validate, check_fraud, check_stock, charge.retry(3), ship.after(charge), close))
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    println!("{}", workflow.graph().to_mermaid().trim_end());
    let engine = Engine::builder().workflow(&workflow).build().await?;
    println!("{}", engine.run(&workflow, Order { customer: "Ada".into(), logs: 7 }).await?.output().await?);
    Ok(())
}

#[test]
fn the_graph_says_what_comes_after_what() -> Result<(), rival::BuildErrors> {
    let edges = workflow()?.graph().edges;
    assert!(edges.iter().any(|edge| edge.from == "check_stock" && edge.to == "charge"));
    assert!(!edges.iter().any(|edge| edge.from == "check_stock" && edge.to == "check_fraud"));
    Ok(())
}
