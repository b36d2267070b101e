// A future that cannot move between threads.
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
async fn chop() -> Result<u32, StepError> {
    let shared = std::rc::Rc::new(1);
    std::future::ready(()).await;
    Ok(*shared)
}

fn main() {}
