//! An order, with much that can happen to one: retries, a sleep, a failure that does not matter. `rival demo` shows it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The workflow's name.
pub(crate) const NAME: &str = "order";

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(example = Order::sample())]
pub(crate) struct Order {
    pub(crate) customer: String,
    pub(crate) items: Vec<String>,
}

impl Order {
    /// One to begin with.
    pub(crate) fn sample() -> Self {
        let items = ["a kettle", "two cups", "Assam, 250 g"].map(str::to_owned).to_vec();
        Self { customer: "Ada".into(), items }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Shipped {
    pub(crate) to: String,
    pub(crate) tracking: String,
}

/// Where the steps leave their marks outside of Rival, a line when a call begins and one when it ends: what was
/// really done, whatever the engine says. It also sets the pace.
#[derive(Debug)]
pub(crate) struct Shop {
    pub(crate) ledger: PathBuf,
    /// How long a unit of work takes.
    pub(crate) pace: Duration,
}

impl Shop {
    fn note(&self, run: &Run, what: &str) -> Result<(), StepError> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.ledger)?;
        let id = run.run_id().map_or("-", |id| id.as_str());
        // One write, so that a kill leaves whole lines.
        file.write_all(format!("{id} {} call {} {what}\n", run.node(), run.call()).as_bytes())?;
        Ok(())
    }

    /// Takes its time, and leaves a mark before and after.
    async fn work(&self, run: &Run, units: u32) -> Result<(), StepError> {
        self.note(run, "begins")?;
        tokio::time::sleep(self.pace * units).await;
        self.note(run, "ends")
    }
}

#[step]
async fn check_stock(
    Input(order): Input<Order>,
    shop: Res<Shop>,
    run: Run,
    log: Log,
    state: State,
) -> Result<usize, StepError> {
    for item in &order.items {
        log.info((), format_args!("looking for {item}"));
    }
    shop.work(&run, 10).await?;
    state.describe(format!("{} items are in stock", order.items.len()));
    Ok(order.items.len())
}

#[step]
async fn reserve(
    items: Output<check_stock>,
    shop: Res<Shop>,
    run: Run,
    state: State,
) -> Result<String, StepError> {
    shop.work(&run, 12).await?;
    state.describe(format!("{} items put aside on shelf B4", *items));
    Ok("B4".into())
}

/// Fails twice: the bank is busy. What it sends is the same in every attempt, so the bank books it once.
#[step]
async fn charge_card(
    Input(order): Input<Order>,
    shop: Res<Shop>,
    run: Run,
    log: Log,
    state: State,
) -> Result<u32, StepError> {
    log.info((), format_args!("asking the bank, attempt {}", run.attempt()));
    shop.work(&run, 6).await?;
    if run.attempt() < 3 {
        return Err(StepError::new("the bank is busy").code("bank_busy"));
    }
    state.describe(format!("{} paid 39.90", order.customer));
    Ok(3_990)
}

#[step]
async fn pack_parcel(
    shelf: Output<reserve>,
    shop: Res<Shop>,
    run: Run,
    log: Log,
    state: State,
) -> Result<u32, StepError> {
    log.info((), format_args!("taking the items from shelf {}", *shelf));
    shop.work(&run, 20).await?;
    log.info((), "the parcel weighs 1.2 kg");
    state.describe("1.2 kg, taped and labelled");
    Ok(1_200)
}

/// Fails, and the order goes on without it.
#[step]
async fn send_postcard(shop: Res<Shop>, run: Run) -> Result<(), StepError> {
    shop.work(&run, 3).await?;
    Err(StepError::new("out of stamps").code("no_stamps"))
}

#[step]
async fn ship(
    Input(order): Input<Order>,
    grams: Output<pack_parcel>,
    shop: Res<Shop>,
    run: Run,
    state: State,
) -> Result<Shipped, StepError> {
    shop.work(&run, 15).await?;
    let tracking = format!("RV-{}-{}", *grams, order.items.len());
    state.describe(format!("handed over as {tracking}"));
    Ok(Shipped { to: order.customer, tracking })
}

pub(crate) fn workflow(pace: Duration) -> Result<Workflow<Order, Shipped>, rival::BuildErrors> {
    Workflow::new(NAME)
        .description("From the shelf to the postman")
        .input::<Order>()
        .step(check_stock)
        .step(reserve)
        .step(charge_card.retry(5).backoff(BackoffKind::Linear, pace * 10).timeout(Duration::from_secs(30)))
        .step(delay_step(pace * 40).named("cooling_off"))
        .step(pack_parcel)
        .step(send_postcard.continue_on_error())
        .step(ship)
        .build()
}
