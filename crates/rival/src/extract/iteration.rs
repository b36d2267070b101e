//! Where a function stands in the forEach or loop around it.

use rival_core::{FailureRecord, StepError};
use rival_engine::IterationContext;

use super::{Asks, Call, FromStep, TypeAsk};
use crate::data::Data;

/// The item of the nearest forEach around the function: `Item(order): Item<Order>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<T>(pub T);

impl<T: Data> FromStep for Item<T> {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        let item = iteration(call)?.item.as_ref().ok_or_else(|| missing(call, "an item"))?;
        call.decode("the item", item).map(Item)
    }

    fn asks(asks: &mut Asks) {
        asks.items.push(TypeAsk::of::<T>());
    }
}

/// All items of the nearest forEach around the function: `Items(orders): Items<Order>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items<T>(pub Vec<T>);

impl<T: Data> FromStep for Items<T> {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        let items = iteration(call)?.items.as_ref().ok_or_else(|| missing(call, "items"))?;
        call.decode("the items", items).map(Items)
    }

    fn asks(asks: &mut Asks) {
        asks.all_items = true;
        asks.items.push(TypeAsk::of::<T>());
    }
}

/// Which iteration of the nearest forEach or loop around the function this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    pub(crate) index: u32,
}

impl Iteration {
    /// Its number, from 0. In a loop's test it is the one that has just ended, or with `while_true` the one that would
    /// begin.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Whether it is the first.
    pub fn is_first(&self) -> bool {
        self.index == 0
    }
}

#[diagnostic::do_not_recommend]
impl FromStep for Iteration {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        Ok(Self { index: iteration(call)?.index })
    }

    fn asks(asks: &mut Asks) {
        asks.iteration = true;
    }
}

/// What the iteration before this one gave, in the nearest loop around the function; `None` in the first:
/// `LastIteration(seen): LastIteration<u32>`. In the loop's test it is the iteration that was done last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastIteration<T>(pub Option<T>);

impl<T: Data> FromStep for LastIteration<T> {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        let last = iteration(call)?.last.as_ref();
        last.map(|last| call.decode("the last iteration", last)).transpose().map(LastIteration)
    }

    fn asks(asks: &mut Asks) {
        asks.last_iterations.push(TypeAsk::of::<T>());
    }
}

fn iteration(call: &Call) -> Result<&IterationContext, StepError> {
    call.context.iteration.as_ref().ok_or_else(|| missing(call, "an iteration"))
}

fn missing(call: &Call, what: &str) -> StepError {
    let message = format!("`{}` asks for {what}, but there is none around it", call.step());
    FailureRecord::new("missing_iteration", message).stop()
}
