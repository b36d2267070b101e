//! Workflows as nodes of other workflows.

use std::sync::Arc;

use crate::build::Built;
use crate::data::Data;
use crate::workflow::Workflow;

/// A workflow that can be a node of another: `&nested`, or `nested.named("..")`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as a nested workflow",
    label = "not a workflow",
    note = "build it first, then pass a reference: `.workflow(&nested)`"
)]
pub trait NestedWorkflow {
    /// What it takes.
    type In: Data;
    /// What it gives.
    type Out: Data;

    #[doc(hidden)]
    fn into_nested(self) -> NestedDraft;
}

/// What the builder holds of a nested workflow until `build()`.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct NestedDraft {
    pub(crate) built: Arc<Built>,
    pub(crate) named: Option<String>,
}

/// A workflow with the id that its node has.
#[derive(Debug)]
pub struct NamedWorkflow<I, O> {
    workflow: Workflow<I, O>,
    name: String,
}

impl<I, O> Workflow<I, O> {
    /// This workflow as a node with another id than its name.
    pub fn named(&self, name: impl Into<String>) -> NamedWorkflow<I, O> {
        NamedWorkflow { workflow: self.clone(), name: name.into() }
    }
}

impl<I: Data, O: Data> NestedWorkflow for &Workflow<I, O> {
    type In = I;
    type Out = O;

    fn into_nested(self) -> NestedDraft {
        NestedDraft { built: Arc::clone(&self.built), named: None }
    }
}

impl<I: Data, O: Data> NestedWorkflow for NamedWorkflow<I, O> {
    type In = I;
    type Out = O;

    fn into_nested(self) -> NestedDraft {
        NestedDraft { built: self.workflow.built, named: Some(self.name) }
    }
}
