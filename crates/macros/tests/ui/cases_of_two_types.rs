//! All cases of a choice give the same type: what comes after reads one of them.

use rival::prelude::*;

#[step]
async fn is_large() -> Result<bool, StepError> {
    Ok(true)
}

#[step]
async fn number() -> Result<u32, StepError> {
    Ok(1)
}

#[step]
async fn text() -> Result<String, StepError> {
    Ok("one".into())
}

fn main() {
    let _ = Workflow::new("w")
        .branch("size", is_large, |c| c.then(|b| b.step(number)).otherwise(|b| b.step(text)))
        .build();
}
