//! The steps that the other tests use, as in the readme.

use rival::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Order {
    pub(crate) id: u32,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Tree {
    pub(crate) species: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Chopped {
    pub(crate) logs: u32,
}

pub(crate) struct Forest {
    pub(crate) trees: u32,
}

/// Looks for a tree.
#[step]
pub(crate) async fn find_tree(
    Input(order): Input<Order>,
    forest: Res<Forest>,
    log: Log,
) -> Result<Tree, StepError> {
    if forest.trees == 0 {
        return Err(StepError::stop("no trees left"));
    }
    log.info((), format_args!("order {}", order.id));
    Ok(Tree { species: "oak".into() })
}

// An argument may be called like the step it reads.
#[step]
pub(crate) async fn chop_tree(
    Input(order): Input<Order>,
    find_tree: Output<find_tree>,
    state: State,
) -> Result<Chopped, StepError> {
    state.set("species", &find_tree.species)?;
    Ok(Chopped { logs: order.id })
}

#[step]
pub(crate) fn count(chopped: Output<chop_tree>) -> Result<u32, std::num::ParseIntError> {
    format!("{}", chopped.logs).parse()
}

pub(crate) async fn sweep(log: Log) -> Result<(), String> {
    log.info((), "no macro");
    Ok(())
}

#[step]
pub(crate) async fn tell_forester(failure: Failure, log: Log) -> Result<(), StepError> {
    log.error((), &failure.error);
    Ok(())
}
