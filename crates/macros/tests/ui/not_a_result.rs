// A step that returns no `Result`, and an error that is none.
use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Order {
    id: u32,
}

#[derive(Serialize, Deserialize)]
struct Tree {
    height: u32,
}

#[step]
async fn find_tree(Input(order): Input<Order>) -> Result<Tree, StepError> {
    Ok(Tree { height: order.id })
}

#[step]
async fn chop() -> u32 {
    1
}

struct Oops;

#[step]
fn saw() -> Result<u32, Oops> {
    Err(Oops)
}

fn main() {}
