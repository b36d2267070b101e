// What `#[step]` itself refuses.
use rival::prelude::*;

#[step(name = "x")]
async fn with_options() -> Result<(), StepError> {
    Ok(())
}

#[step]
async fn generic<T>() -> Result<(), StepError> {
    Ok(())
}

#[step]
async fn hidden_generic(it: impl Send) -> Result<(), StepError> {
    Ok(())
}

#[step]
async fn without_return_type() {}

struct Saw;

impl Saw {
    #[step]
    async fn method(&self) -> Result<(), StepError> {
        Ok(())
    }
}

#[step]
struct NotAFunction;

fn main() {}
