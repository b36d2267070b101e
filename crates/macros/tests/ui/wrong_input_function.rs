// A nested workflow is given another type than it takes.
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

async fn wrong(tree: Output<find_tree>) -> Result<u32, StepError> {
    Ok(tree.height)
}

fn main() {
    let nested = Workflow::new("nested").input::<Order>().step(find_tree).build().unwrap();
    let _ = Workflow::new("w").input::<Order>().step(find_tree).workflow_with(&nested, wrong).build();
}
