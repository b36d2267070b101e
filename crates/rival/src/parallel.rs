//! Parallel blocks in the making.

use std::marker::PhantomData;
use std::panic::Location;

use rival_core::plan::{Join, OnFailure};

use crate::after::{Dependencies, Dependency};
use crate::block::Block;
use crate::build::{LaneDraft, ParallelDraft};
use crate::step::StepFn;

/// A parallel block in the making: named branches that run side by side, and how they are joined.
#[must_use = "return it from the closure"]
#[derive(Debug)]
pub struct ParallelBuilder<P> {
    pub(crate) draft: ParallelDraft,
    pub(crate) after: Vec<Dependency>,
    out: PhantomData<fn() -> P>,
}

impl<P> ParallelBuilder<P> {
    pub(crate) fn new(name: String) -> Self {
        let (branches, finally) = (Vec::new(), None);
        let draft = ParallelDraft { name, branches, join: Join::All, on_failure: OnFailure::Fail, finally };
        Self { draft, after: Vec::new(), out: PhantomData }
    }

    /// Adds a branch: nodes of any kind, one after the other.
    #[track_caller]
    pub fn branch<Q>(mut self, name: impl Into<String>, nodes: impl FnOnce(Block<()>) -> Block<Q>) -> Self {
        let block = Block::fill(Location::caller(), nodes);
        self.draft.branches.push(LaneDraft { name: name.into(), block });
        self
    }

    /// Adds a branch for each name: `.branches(regions, |region, b| b.step(deploy))`.
    #[track_caller]
    pub fn branches<N: Into<String>, Q>(
        mut self,
        names: impl IntoIterator<Item = N>,
        mut nodes: impl FnMut(&str, Block<()>) -> Block<Q>,
    ) -> Self {
        let location = Location::caller();
        for name in names {
            let name = name.into();
            let block = Block::fill(location, |block| nodes(&name, block));
            self.draft.branches.push(LaneDraft { name, block });
        }
        self
    }

    /// What it waits for: all branches by default, the first success, or a number of them. Branches that
    /// are not waited for are cancelled and compensated.
    pub fn join(mut self, join: Join) -> Self {
        self.draft.join = join;
        self
    }

    /// A failing branch does not fail the block: all finish, and [`Joined`](crate::Joined) shows which have failed.
    pub fn collect(mut self) -> Self {
        self.draft.on_failure = OnFailure::Collect;
        self
    }

    /// A function that makes the block's result from what was joined; it asks for [`Joined`](crate::Joined).
    pub fn finally<M, Q>(mut self, finally: impl StepFn<M, Out = Q>) -> ParallelBuilder<Q> {
        self.draft.finally = Some(finally.into_step().draft);
        ParallelBuilder { draft: self.draft, after: self.after, out: PhantomData }
    }

    /// In a graph: what the block comes after.
    pub fn after<M>(mut self, nodes: impl Dependencies<M>) -> Self {
        nodes.add_to(&mut self.after);
        self
    }
}
