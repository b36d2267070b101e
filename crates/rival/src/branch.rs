//! Choices in the making.

use std::marker::PhantomData;
use std::panic::Location;

use crate::after::{Dependencies, Dependency};
use crate::block::Block;
use crate::build::{BlockDraft, BranchDraft, LaneDraft};
use crate::data::Data;
use crate::step::StepDraft;

/// A choice in the making, by what its function returns: `true` and `false`, or the name of a case.
///
/// An enum without data is the name of one of its variants, as serde writes it.
#[must_use = "add a case"]
#[derive(Debug)]
pub struct BranchBuilder<C> {
    draft: BranchDraft,
    after: Vec<Dependency>,
    choice: PhantomData<fn() -> C>,
}

/// A choice with a block for `true`.
#[must_use = "return it from the closure"]
#[derive(Debug)]
pub struct ThenBuilder<P> {
    draft: BranchDraft,
    after: Vec<Dependency>,
    out: PhantomData<fn() -> P>,
}

/// A choice with cases.
#[must_use = "return it from the closure"]
#[derive(Debug)]
pub struct CaseBuilder<P> {
    draft: BranchDraft,
    after: Vec<Dependency>,
    out: PhantomData<fn() -> P>,
}

impl<C> BranchBuilder<C> {
    pub(crate) fn new(name: String, choose: StepDraft) -> Self {
        let draft = BranchDraft { name, choose, cases: Vec::new(), default: None };
        Self { draft, after: Vec::new(), choice: PhantomData }
    }
}

impl BranchBuilder<bool> {
    /// What runs if the function returns `true`. Without [`otherwise`](ThenBuilder::otherwise), nothing runs if it
    /// returns `false`, and there may be no result, which the type says.
    #[track_caller]
    pub fn then<P>(mut self, nodes: impl FnOnce(Block<()>) -> Block<P>) -> ThenBuilder<P> {
        self.draft.add("then", Block::fill(Location::caller(), nodes));
        ThenBuilder { draft: self.draft, after: self.after, out: PhantomData }
    }
}

impl<P> ThenBuilder<P> {
    /// What runs if the function returns `false`; it gives the same type.
    #[track_caller]
    pub fn otherwise(mut self, nodes: impl FnOnce(Block<()>) -> Block<P>) -> CaseBuilder<P> {
        self.draft.add("else", Block::fill(Location::caller(), nodes));
        CaseBuilder { draft: self.draft, after: self.after, out: PhantomData }
    }

    /// In a graph: what the choice comes after.
    pub fn after<M>(mut self, nodes: impl Dependencies<M>) -> Self {
        nodes.add_to(&mut self.after);
        self
    }
}

impl<C: Data> BranchBuilder<C> {
    /// What runs if the function returns this name.
    #[track_caller]
    pub fn case<P>(
        mut self,
        name: impl Into<String>,
        nodes: impl FnOnce(Block<()>) -> Block<P>,
    ) -> CaseBuilder<P> {
        self.draft.add(name, Block::fill(Location::caller(), nodes));
        CaseBuilder { draft: self.draft, after: self.after, out: PhantomData }
    }
}

impl<P> CaseBuilder<P> {
    /// What runs if the function returns this name; it gives the same type as the other cases.
    #[track_caller]
    pub fn case(mut self, name: impl Into<String>, nodes: impl FnOnce(Block<()>) -> Block<P>) -> Self {
        self.draft.add(name, Block::fill(Location::caller(), nodes));
        self
    }

    /// What runs if no case has the name. Without it, such a name is a failure.
    #[track_caller]
    pub fn default(mut self, nodes: impl FnOnce(Block<()>) -> Block<P>) -> Self {
        self.draft.default = Some(Block::fill(Location::caller(), nodes));
        self
    }

    /// In a graph: what the choice comes after.
    pub fn after<M>(mut self, nodes: impl Dependencies<M>) -> Self {
        nodes.add_to(&mut self.after);
        self
    }
}

impl BranchDraft {
    fn add(&mut self, name: impl Into<String>, block: BlockDraft) {
        self.cases.push(LaneDraft { name: name.into(), block });
    }
}

/// What the closure of `.branch(..)` returns: a choice with at least one block.
pub trait Cases {
    /// What the choice gives.
    type Out: Data;

    #[doc(hidden)]
    fn into_draft(self) -> ChoiceDraft;
}

/// What the builder holds of a choice until `build()`.
#[doc(hidden)]
#[derive(Debug)]
pub struct ChoiceDraft {
    pub(crate) draft: BranchDraft,
    pub(crate) after: Vec<Dependency>,
}

impl<P: Data> Cases for ThenBuilder<P> {
    type Out = Option<P>;

    fn into_draft(self) -> ChoiceDraft {
        ChoiceDraft { draft: self.draft, after: self.after }
    }
}

impl<P: Data> Cases for CaseBuilder<P> {
    type Out = P;

    fn into_draft(self) -> ChoiceDraft {
        ChoiceDraft { draft: self.draft, after: self.after }
    }
}
