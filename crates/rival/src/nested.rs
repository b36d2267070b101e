//! Workflows as nodes of other workflows.

use std::sync::Arc;

use crate::after::{Dependencies, Dependency};
use crate::build::BuiltWorkflow;
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
    fn into_nested(self) -> (NestedDraft, Vec<Dependency>);
}

/// What the builder holds of a nested workflow until `build()`.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct NestedDraft {
    pub(crate) built: Arc<BuiltWorkflow>,
    pub(crate) named: Option<String>,
}

/// A workflow with the options of the place where it is a node.
#[derive(Debug)]
pub struct WorkflowNode<I, O> {
    workflow: Workflow<I, O>,
    name: Option<String>,
    after: Vec<Dependency>,
}

impl<I, O> Workflow<I, O> {
    /// This workflow as a node with another id than its name.
    pub fn named(&self, name: impl Into<String>) -> WorkflowNode<I, O> {
        WorkflowNode { workflow: self.clone(), name: Some(name.into()), after: Vec::new() }
    }

    /// This workflow as a node of a graph, with what it comes after.
    pub fn after<M>(&self, nodes: impl Dependencies<M>) -> WorkflowNode<I, O> {
        WorkflowNode { workflow: self.clone(), name: None, after: Vec::new() }.after(nodes)
    }
}

impl<I, O> WorkflowNode<I, O> {
    /// In a graph: what it comes after.
    #[must_use]
    pub fn after<M>(mut self, nodes: impl Dependencies<M>) -> Self {
        nodes.add_to(&mut self.after);
        self
    }
}

impl<I: Data, O: Data> NestedWorkflow for &Workflow<I, O> {
    type In = I;
    type Out = O;

    fn into_nested(self) -> (NestedDraft, Vec<Dependency>) {
        (NestedDraft { built: Arc::clone(&self.built), named: None }, Vec::new())
    }
}

impl<I: Data, O: Data> NestedWorkflow for WorkflowNode<I, O> {
    type In = I;
    type Out = O;

    fn into_nested(self) -> (NestedDraft, Vec<Dependency>) {
        (NestedDraft { built: self.workflow.built, named: self.name }, self.after)
    }
}
