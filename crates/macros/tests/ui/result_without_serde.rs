// A result that cannot be recorded.
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

struct Bare;

#[step]
async fn chop() -> Result<Bare, StepError> {
    Ok(Bare)
}

fn main() {
    let _ = Workflow::new("w").input::<Order>().step(find_tree).step(chop).build();
}
