//! The test of a loop says yes or no.

use rival::prelude::*;

#[step]
async fn ask() -> Result<u32, StepError> {
    Ok(1)
}

#[step]
async fn how_often() -> Result<u32, StepError> {
    Ok(3)
}

fn main() {
    let _ = Workflow::new("w").repeat("poll", |l| l.body(|b| b.step(ask)).until(how_often)).build();
}
