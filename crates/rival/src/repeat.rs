//! Loops in the making.

use std::marker::PhantomData;
use std::panic::Location;

use crate::after::{Dependencies, Dependency};
use crate::block::Block;
use crate::build::{BlockDraft, LoopDraft, TestDraft};
use crate::data::Data;
use crate::extract::TypeAsk;
use crate::step::StepFn;

/// How often a loop without [`max_iterations`](RepeatedLoop::max_iterations) runs at most.
const MAX_ITERATIONS: u32 = 1_000;

/// A loop in the making: first what is repeated.
#[must_use = "give it a body"]
#[derive(Debug)]
pub struct LoopBuilder {
    name: String,
}

/// A loop with a body: then when it ends.
#[must_use = "say when it ends, with `until` or `while_true`"]
#[derive(Debug)]
pub struct LoopWithBody<T> {
    name: String,
    body: BlockDraft,
    gives: PhantomData<fn() -> T>,
}

/// A loop that knows when it ends.
#[must_use = "return it from the closure"]
#[derive(Debug)]
pub struct RepeatedLoop<P> {
    pub(crate) draft: LoopDraft,
    pub(crate) after: Vec<Dependency>,
    out: PhantomData<fn() -> P>,
}

impl LoopBuilder {
    pub(crate) fn new(name: String) -> Self {
        Self { name }
    }

    /// What is repeated: nodes of any kind. They may ask for [`Iteration`](crate::Iteration) and
    /// [`LastIteration`](crate::LastIteration).
    #[track_caller]
    pub fn body<T>(self, nodes: impl FnOnce(Block<()>) -> Block<T>) -> LoopWithBody<T> {
        let body = Block::fill(Location::caller(), nodes);
        LoopWithBody { name: self.name, body, gives: PhantomData }
    }
}

impl<T: Data> LoopWithBody<T> {
    /// Ends the loop when the function returns `true`. It is asked after each iteration, may ask for the outputs of
    /// the body's steps, and the loop gives what its last iteration gave.
    pub fn until<M>(self, done: impl StepFn<M, Out = bool>) -> RepeatedLoop<T> {
        self.ending(TestDraft::Until(done.into_step().draft))
    }

    /// Goes on as long as the function returns `true`. It is asked before each iteration, the first too, so there may
    /// be no result, which the type says.
    pub fn while_true<M>(self, more: impl StepFn<M, Out = bool>) -> RepeatedLoop<Option<T>> {
        self.ending(TestDraft::While(more.into_step().draft))
    }

    fn ending<P>(self, test: TestDraft) -> RepeatedLoop<P> {
        let Self { name, body, .. } = self;
        let draft = LoopDraft { name, body, gives: TypeAsk::of::<T>(), test, max_iterations: MAX_ITERATIONS };
        RepeatedLoop { draft, after: Vec::new(), out: PhantomData }
    }
}

impl<P> RepeatedLoop<P> {
    /// How often it runs at most; more is a failure. Without it, 1,000.
    pub fn max_iterations(mut self, iterations: u32) -> Self {
        self.draft.max_iterations = iterations;
        self
    }

    /// In a graph: what the loop comes after.
    pub fn after<M>(mut self, nodes: impl Dependencies<M>) -> Self {
        nodes.add_to(&mut self.after);
        self
    }
}
