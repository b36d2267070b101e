// The output of a function that has no `#[step]`.
use rival::prelude::*;

async fn find_tree() -> Result<u32, StepError> {
    Ok(7)
}

#[step]
async fn chop(tree: Output<find_tree>) -> Result<u32, StepError> {
    Ok(*tree)
}

fn main() {}
