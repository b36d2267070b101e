//! The function of a `for_each` gives a list.

use rival::prelude::*;

#[step]
async fn order() -> Result<u32, StepError> {
    Ok(1)
}

#[step]
async fn charge(Item(order): Item<u32>) -> Result<u32, StepError> {
    Ok(order)
}

fn main() {
    let _ = Workflow::new("w").for_each("charge all", order, |e| e.body(|b| b.step(charge))).build();
}
