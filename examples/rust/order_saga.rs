//! An order whose steps are undone when a later one fails: a saga.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::{Arc, Mutex};

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Order {
    customer: String,
    amount: u32,
    stock: u32,
}

#[derive(Serialize, Deserialize)]
struct Receipt {
    payment: String,
    amount: u32,
}

/// Stands for the services outside, which know nothing of workflows: each entry is something they did.
#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Vec<String>>>);

impl Ledger {
    fn write(&self, entry: String) {
        self.0.lock().expect("no step panics while it holds the lock").push(entry);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("no step panics while it holds the lock"))
    }
}

#[step]
async fn reserve(Input(order): Input<Order>, ledger: Res<Ledger>) -> Result<u32, StepError> {
    ledger.write(format!("reserved {} logs", order.stock));
    Ok(order.stock)
}

/// A compensation is told what the step returned, if it did: a step that timed out may have acted or not.
#[step]
async fn release(undo: Undo<u32>, ledger: Res<Ledger>) -> Result<(), StepError> {
    match undo.result {
        Some(logs) => ledger.write(format!("released {logs} logs")),
        None => ledger.write("asked whether anything was reserved".to_owned()),
    }
    Ok(())
}

#[step]
async fn charge(Input(order): Input<Order>, run: Run, ledger: Res<Ledger>) -> Result<Receipt, StepError> {
    ledger.write(format!("charged {} to {}", order.amount, order.customer));
    let _key = run.idempotency_key(); // a real service is given this, and acts once
    Ok(Receipt { payment: "p-1".into(), amount: order.amount })
}

/// It is tried again like a step, because an undone order with a payment left is worse than a late one.
#[step]
async fn refund(undo: Undo<Receipt>, run: Run, ledger: Res<Ledger>) -> Result<(), StepError> {
    if run.attempt() == 1 {
        return Err(StepError::new("the bank is closed"));
    }
    if let Some(receipt) = undo.result {
        ledger.write(format!("refunded {} of {}", receipt.amount, receipt.payment));
    }
    Ok(())
}

#[step]
async fn ship(Input(order): Input<Order>, ledger: Res<Ledger>) -> Result<String, StepError> {
    if order.customer == "Ben" {
        return Err(StepError::stop("there is no road to Ben"));
    }
    ledger.write(format!("shipped to {}", order.customer));
    Ok(format!("{} has {} logs", order.customer, order.stock))
}

fn workflow() -> Result<Workflow<Order, String>, rival::BuildErrors> {
    Workflow::new("order")
        .input::<Order>()
        .step(reserve.compensate(release))
        .step(charge.compensate(refund.retry(5)))
        .step(ship)
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    let ledger = Ledger::default();
    let engine = Engine::builder().provide(ledger.clone()).workflow(&workflow).build().await?;
    for customer in ["Ada", "Ben"] {
        let order = Order { customer: customer.into(), amount: 50, stock: 2 };
        let outcome = engine.run(&workflow, order).await?.wait().await?;
        let why = outcome.error.map_or_else(String::new, |error| format!(": {error}"));
        println!("{customer}: {}{why}", outcome.status);
        ledger.take().iter().for_each(|entry| println!("  {entry}"));
    }
    Ok(())
}

#[tokio::test]
async fn an_order_that_cannot_be_shipped_leaves_nothing_behind() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    let ledger = Ledger::default();
    let engine =
        rival::testing::TestEngine::builder().provide(ledger.clone()).workflow(&workflow).build().await?;
    let order = Order { customer: "Ben".into(), amount: 50, stock: 2 };
    let run = engine.run(&workflow, order).await?;
    engine.finish(run.id()).await?;
    let expected = ["reserved 2 logs", "charged 50 to Ben", "refunded 50 of p-1", "released 2 logs"];
    assert_eq!(ledger.take(), expected);
    Ok(())
}

#[tokio::test]
async fn a_compensation_is_a_function_too() -> Result<(), StepError> {
    let ledger = Ledger::default();
    release(Undo::unknown(), Res::new(ledger.clone())).await?;
    assert_eq!(ledger.take(), ["asked whether anything was reserved"]);
    Ok(())
}
