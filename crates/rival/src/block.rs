//! Blocks in the making: the workflow's own, and those inside of branches, loops and parallel blocks.

use std::marker::PhantomData;
use std::panic::Location;

use rival_core::plan::BlockOrder;

use crate::after::Dependency;
use crate::batch::IntoSteps;
use crate::branch::{BranchBuilder, Cases, ChoiceDraft};
use crate::build::{BlockDraft, BlockResult, DraftNode, NodePart, SourceLocation};
use crate::data::Data;
use crate::each::{EachBuilder, EachWithBody, ItemList};
use crate::extract::{Joined, TypeAsk};
use crate::nested::NestedWorkflow;
use crate::parallel::ParallelBuilder;
use crate::repeat::{LoopBuilder, RepeatedLoop};
use crate::step::{IntoStep, NodeDraft, StepFn};

/// A block in the making. Its type follows what the last node gives.
///
/// `K` says whose it is: a workflow's ([`WorkflowBuilder`](crate::WorkflowBuilder)), or of a node ([`Block`]). Both
/// have all methods here, so everything nests in everything.
#[must_use = "a workflow is made by `build()`; a block by returning it"]
#[derive(Debug)]
pub struct BlockBuilder<K, O> {
    pub(crate) head: K,
    pub(crate) block: BlockDraft,
    out: PhantomData<fn() -> O>,
}

/// A block inside of a branch, loop, forEach or parallel block, in the making.
pub type Block<O> = BlockBuilder<Inner, O>;

/// Marks blocks that belong to a node.
#[derive(Debug)]
pub struct Inner(());

impl Block<()> {
    /// Fills a block.
    pub(crate) fn fill<P>(location: SourceLocation, nodes: impl FnOnce(Block<()>) -> Block<P>) -> BlockDraft {
        let empty = BlockBuilder::new(Inner(()), BlockDraft::new(BlockOrder::Sequence, location));
        nodes(empty).block
    }
}

impl<K, O> BlockBuilder<K, O> {
    pub(crate) fn new(head: K, block: BlockDraft) -> Self {
        Self { head, block, out: PhantomData }
    }

    fn retyped<P>(self) -> BlockBuilder<K, P> {
        BlockBuilder::new(self.head, self.block)
    }

    fn with<P>(
        mut self,
        part: NodePart,
        after: Vec<Dependency>,
        location: SourceLocation,
    ) -> BlockBuilder<K, P> {
        self.block.parts.push(DraftNode { part, after, location });
        self.retyped()
    }

    /// Adds a step: a function, a function with options, or a delay.
    #[track_caller]
    pub fn step<M, P>(mut self, step: impl IntoStep<M, Out = P>) -> BlockBuilder<K, P> {
        self.block.push(step.into_draft(), Location::caller());
        self.retyped()
    }

    /// Adds several steps at once: `.steps((find_tree, chop_tree.retry(3)))`.
    #[track_caller]
    pub fn steps<M, P>(mut self, steps: impl IntoSteps<M, Out = P>) -> BlockBuilder<K, P> {
        let location = Location::caller();
        let mut drafts = Vec::new();
        steps.into_drafts(&mut drafts);
        drafts.into_iter().for_each(|draft: NodeDraft| self.block.push(draft, location));
        self.retyped()
    }

    /// Adds a workflow that runs in place, with this one's input. Its id is its name.
    #[track_caller]
    pub fn workflow<N: NestedWorkflow>(self, nested: N) -> BlockBuilder<K, N::Out> {
        let (nested, after) = nested.into_nested();
        self.with(NodePart::Nested { nested, input: None }, after, Location::caller())
    }

    /// Adds a workflow that runs in place, with the input that a function gives.
    #[track_caller]
    pub fn workflow_with<M, N: NestedWorkflow>(
        self,
        nested: N,
        input: impl StepFn<M, Out = N::In>,
    ) -> BlockBuilder<K, N::Out> {
        let (nested, after) = nested.into_nested();
        let input = Some(Box::new(input.into_step().draft));
        self.with(NodePart::Nested { nested, input }, after, Location::caller())
    }

    /// Adds branches that run side by side:
    /// `.parallel("setup", |p| p.branch("db", |b| b.step(create_user)).branch("crm", |b| b.step(create_profile)))`.
    ///
    /// It gives a map of what the branches give ([`Joined`]), or what its
    /// [`finally`](ParallelBuilder::finally) makes of it.
    #[track_caller]
    pub fn parallel<P: Data>(
        self,
        name: impl Into<String>,
        branches: impl FnOnce(ParallelBuilder<Joined>) -> ParallelBuilder<P>,
    ) -> BlockBuilder<K, P> {
        let ParallelBuilder { draft, after, .. } = branches(ParallelBuilder::new(name.into()));
        self.with(NodePart::Parallel(Box::new(draft)), after, Location::caller())
    }

    /// Adds a choice. A function says which block runs: `true` or `false`, or the name of a case.
    ///
    /// ```
    /// use rival::prelude::*;
    ///
    /// # #[step] async fn is_large() -> Result<bool, StepError> { Ok(true) }
    /// # #[step] async fn route() -> Result<String, StepError> { Ok("sea".into()) }
    /// # #[step] async fn by_truck() -> Result<u32, StepError> { Ok(1) }
    /// # #[step] async fn by_ship() -> Result<u32, StepError> { Ok(2) }
    /// # fn main() -> Result<(), rival::BuildErrors> {
    /// let workflow: Workflow<(), u32> = Workflow::new("shipping")
    ///     .branch("size", is_large, |c| c.then(|b| b.step(by_ship)))
    ///     .branch("route", route, |c| c.case("sea", |b| b.step(by_ship)).default(|b| b.step(by_truck)))
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn branch<M, C: Data, B: Cases>(
        self,
        name: impl Into<String>,
        choose: impl StepFn<M, Out = C>,
        cases: impl FnOnce(BranchBuilder<C>) -> B,
    ) -> BlockBuilder<K, B::Out> {
        let choose = choose.into_step().draft;
        let ChoiceDraft { draft, after } = cases(BranchBuilder::new(name.into(), choose)).into_draft();
        self.with(NodePart::Branch(Box::new(draft)), after, Location::caller())
    }

    /// Adds a loop: `.repeat("poll", |l| l.body(|b| b.step(ask)).until(is_done))`.
    #[track_caller]
    pub fn repeat<P: Data>(
        self,
        name: impl Into<String>,
        body: impl FnOnce(LoopBuilder) -> RepeatedLoop<P>,
    ) -> BlockBuilder<K, P> {
        let RepeatedLoop { draft, after, .. } = body(LoopBuilder::new(name.into()));
        self.with(NodePart::Loop(Box::new(draft)), after, Location::caller())
    }

    /// Adds a block that runs for each item of the list that a function gives:
    /// `.for_each("charge all", orders, |e| e.body(|b| b.step(charge)).concurrency(8))`.
    #[track_caller]
    pub fn for_each<M, L: ItemList, P: Data>(
        self,
        name: impl Into<String>,
        items: impl StepFn<M, Out = L>,
        body: impl FnOnce(EachBuilder) -> EachWithBody<P>,
    ) -> BlockBuilder<K, Vec<P>> {
        let items = items.into_step().draft;
        let each = EachBuilder::new(name.into(), items, TypeAsk::of::<L::Item>());
        let EachWithBody { draft, after, .. } = body(each);
        self.with(NodePart::Each(Box::new(draft)), after, Location::caller())
    }

    /// The nodes of this block are a graph: each starts as soon as what it comes after is done, see
    /// [`Workflow::dag`](crate::Workflow::dag).
    #[track_caller]
    pub fn as_graph(mut self) -> Self {
        (self.block.order, self.block.location) = (BlockOrder::Graph, Location::caller());
        self
    }

    /// For a graph with several nodes that nothing comes after: it gives a map of what these give, by their ids.
    pub fn joined(mut self) -> BlockBuilder<K, Joined> {
        self.block.result = BlockResult::Joined;
        self.retyped()
    }
}
