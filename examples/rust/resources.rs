//! Shared things, and an argument of one's own made from them.
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::collections::BTreeMap;
use std::sync::Mutex;

use rival::prelude::*;
use rival::{Asks, Call};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    customer: String,
}

/// Provided once to the engine, and shared by all steps. It is never recorded.
#[derive(Default)]
struct Accounts(Mutex<BTreeMap<String, u32>>);

impl Accounts {
    fn charge(&self, customer: &str, price: u32) -> u32 {
        let mut accounts = self.0.lock().expect("no step panics while it holds the lock");
        let account = accounts.entry(customer.to_owned()).or_default();
        *account += price;
        *account
    }
}

/// An argument that knows whose account it is.
struct Account {
    customer: String,
    accounts: Res<Accounts>,
}

impl FromStep for Account {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        let Input(Order { customer }) = Input::from_step(call)?;
        Ok(Account { customer, accounts: Res::from_step(call)? })
    }

    fn asks(asks: &mut Asks) {
        Input::<Order>::asks(asks);
        Res::<Accounts>::asks(asks);
    }
}

#[step]
async fn charge(account: Account) -> Result<u32, StepError> {
    Ok(account.accounts.charge(&account.customer, 25))
}

fn workflow() -> Result<Workflow<Order, u32>, rival::BuildErrors> {
    Workflow::new("charging").input::<Order>().step(charge.at_most_once()).build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workflow = workflow()?;
    // Without `provide`, the engine refuses the workflow here.
    let engine = Engine::builder().provide(Accounts::default()).workflow(&workflow).build().await?;
    for customer in ["Ada", "Ada", "Ben"] {
        let run = engine.run(&workflow, Order { customer: customer.into() }).await?;
        println!("{customer} owes {}", run.output().await?);
    }
    Ok(())
}

#[tokio::test]
async fn resources_can_be_given_in_a_test() -> Result<(), StepError> {
    let account = Account { customer: "Ada".into(), accounts: Res::new(Accounts::default()) };
    assert_eq!(charge(account).await?, 25);
    Ok(())
}

#[test]
fn the_workflow_builds() {
    assert!(workflow().is_ok());
}
