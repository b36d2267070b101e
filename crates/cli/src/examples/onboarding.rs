//! A new colleague: several things at a time, one of them a workflow of its own.

use std::time::Duration;

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(example = Colleague { name: "Cy".into() })]
pub(super) struct Colleague {
    name: String,
}

#[step]
async fn create_account(Input(colleague): Input<Colleague>) -> Result<String, StepError> {
    tokio::time::sleep(Duration::from_millis(300)).await;
    Ok(colleague.name.to_lowercase())
}

#[step]
async fn order_laptop(log: Log) -> Result<String, StepError> {
    log.info((), "asking the shop");
    tokio::time::sleep(Duration::from_millis(500)).await;
    Ok("a laptop".into())
}

#[step]
async fn reserve_desk() -> Result<u32, StepError> {
    tokio::time::sleep(Duration::from_millis(100)).await;
    Ok(17)
}

#[step]
async fn put_up_sign(desk: Output<reserve_desk>) -> Result<String, StepError> {
    Ok(format!("desk {}", *desk))
}

#[step]
async fn sum_up(joined: Joined) -> Result<String, StepError> {
    let (account, laptop) = (joined.get::<String>("account")?, joined.get::<String>("laptop")?);
    Ok(format!("{account} has {laptop} and {}", joined.get::<String>("desk")?))
}

pub(super) fn workflow() -> Result<Workflow<Colleague, String>, rival::BuildErrors> {
    let desk = Workflow::new("desk").step(reserve_desk).step(put_up_sign).build()?;
    Workflow::new("onboarding")
        .description("Three things at a time, one of them a nested workflow")
        .input::<Colleague>()
        .parallel("prepare", |p| {
            p.branch("account", |b| b.step(create_account))
                .branch("laptop", |b| b.step(order_laptop))
                .branch("desk", |b| b.workflow(&desk))
                .finally(sum_up)
        })
        .build()
}
