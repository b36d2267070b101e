// The right step, but its output has another type.
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
async fn chop(tree: Output<find_tree>) -> Result<u32, StepError> {
    let name: String = tree.height;
    Ok(tree.width + name.len() as u32)
}

fn main() {
    let _ = Workflow::new("w").input::<Order>().step(find_tree).step(chop).build();
}
