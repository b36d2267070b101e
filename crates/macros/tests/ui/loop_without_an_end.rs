//! A loop says when it ends.

use rival::prelude::*;

#[step]
async fn ask() -> Result<u32, StepError> {
    Ok(1)
}

fn main() {
    let _ = Workflow::new("w").repeat("poll", |l| l.body(|b| b.step(ask))).build();
}
