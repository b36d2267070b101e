//! A step comes after steps.

use rival::prelude::*;

#[step]
async fn ship() -> Result<u32, StepError> {
    Ok(1)
}

fn main() {
    let _ = Workflow::dag("w").step(ship.after(7)).build();
}
