//! Blocks that run for each item of a list, in the making.

use std::marker::PhantomData;
use std::panic::Location;

use crate::after::{Dependencies, Dependency};
use crate::block::Block;
use crate::build::EachDraft;
use crate::data::Data;
use crate::extract::TypeAsk;
use crate::step::StepDraft;

/// What the function of a `.for_each(..)` returns: a `Vec`, or JSON that is a list.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of items",
    label = "not a list",
    note = "the function of a `for_each` returns `Result<Vec<T>, E>`"
)]
pub trait ItemList: Data {
    /// What one item is.
    type Item: Data;
}

impl<T: Data> ItemList for Vec<T> {
    type Item = T;
}

/// That it is a list is seen when the run gets there; if not, the node fails.
impl ItemList for serde_json::Value {
    type Item = serde_json::Value;
}

/// A forEach in the making: first what runs for each item.
#[must_use = "give it a body"]
#[derive(Debug)]
pub struct EachBuilder {
    name: String,
    items: StepDraft,
    item: TypeAsk,
}

/// A forEach with a body.
#[must_use = "return it from the closure"]
#[derive(Debug)]
pub struct EachWithBody<P> {
    pub(crate) draft: EachDraft,
    pub(crate) after: Vec<Dependency>,
    out: PhantomData<fn() -> P>,
}

impl EachBuilder {
    pub(crate) fn new(name: String, items: StepDraft, item: TypeAsk) -> Self {
        Self { name, items, item }
    }

    /// What runs for each item: nodes of any kind. They may ask for [`Item`](crate::Item),
    /// [`Iteration`](crate::Iteration) and [`Items`](crate::Items).
    #[track_caller]
    pub fn body<P>(self, nodes: impl FnOnce(Block<()>) -> Block<P>) -> EachWithBody<P> {
        let body = Block::fill(Location::caller(), nodes);
        let Self { name, items, item } = self;
        let draft = EachDraft { name, items, item, body, concurrency: 1, max_iterations: None };
        EachWithBody { draft, after: Vec::new(), out: PhantomData }
    }
}

impl<P> EachWithBody<P> {
    /// How many items run at a time; without it, one after the other.
    pub fn concurrency(mut self, items: u32) -> Self {
        self.draft.concurrency = items;
        self
    }

    /// A longer list is a failure, before anything runs.
    pub fn max_iterations(mut self, items: u32) -> Self {
        self.draft.max_iterations = Some(items);
        self
    }

    /// In a graph: what the forEach comes after.
    pub fn after<M>(mut self, nodes: impl Dependencies<M>) -> Self {
        nodes.add_to(&mut self.after);
        self
    }
}
