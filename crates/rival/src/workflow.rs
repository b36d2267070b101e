//! The builder, and what it builds.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use rival_core::{Plan, PlanHash};
use rival_engine::{Definition, RunTarget};
use serde::Serialize;

use crate::batch::IntoSteps;
use crate::build::{Built, Draft, InputType, NodePart, Part};
use crate::config::whole_ms;
use crate::data::{Data, InputData};
use crate::error::BuildErrors;
use crate::nested::NestedWorkflow;
use crate::step::{IntoStep, NodeDraft, StepFn};

/// A workflow that takes an `I` and gives an `O`. It never changes once it is built; cloning is cheap.
pub struct Workflow<I, O> {
    pub(crate) built: Arc<Built>,
    types: PhantomData<fn(I) -> O>,
}

impl Workflow<(), ()> {
    /// Begins a workflow. It takes no input until [`input`](WorkflowBuilder::input) says so.
    #[allow(clippy::new_ret_no_self, reason = "a workflow begins with its name and ends with `build()`")]
    #[track_caller]
    pub fn new(name: impl Into<String>) -> WorkflowBuilder<(), ()> {
        WorkflowBuilder { draft: Draft::new(name.into(), Location::caller()), types: PhantomData }
    }
}

impl<I, O> Workflow<I, O> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.built.plan.workflow
    }

    /// Its structure as data.
    pub fn plan(&self) -> &Plan {
        &self.built.plan
    }

    /// Names this version of its structure.
    pub fn hash(&self) -> PlanHash {
        self.built.plan.hash()
    }

    /// The JSON Schema of its input; `None` if it takes none.
    pub fn input_schema(&self) -> Option<&serde_json::Value> {
        self.built.input_schema()
    }

    /// Who reads whose output: ids of the outermost nodes, in the order of the workflow.
    pub fn edges(&self) -> &[(String, String)] {
        &self.built.edges
    }

    /// What the engine registers.
    pub fn definition(&self) -> Definition {
        self.built.definition()
    }
}

impl<I, O> Clone for Workflow<I, O> {
    fn clone(&self) -> Self {
        Self { built: Arc::clone(&self.built), types: PhantomData }
    }
}

impl<I, O> fmt::Debug for Workflow<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Workflow").field(&self.name()).finish()
    }
}

impl<I, O> From<&Workflow<I, O>> for Definition {
    fn from(workflow: &Workflow<I, O>) -> Self {
        workflow.definition()
    }
}

impl<I, O> From<Workflow<I, O>> for Definition {
    fn from(workflow: Workflow<I, O>) -> Self {
        workflow.definition()
    }
}

impl<I: Serialize, O> RunTarget<I> for &Workflow<I, O> {
    type Output = O;

    fn workflow(&self) -> &str {
        self.name()
    }
}

/// A workflow in the making. Its type follows the input and what the last node gives.
#[must_use = "a workflow is made by `build()`"]
#[derive(Debug)]
pub struct WorkflowBuilder<I, O> {
    draft: Draft,
    types: PhantomData<fn(I) -> O>,
}

impl<O> WorkflowBuilder<(), O> {
    /// Declares the input. Launches are checked against its JSON Schema.
    pub fn input<T: InputData>(mut self) -> WorkflowBuilder<T, O> {
        self.draft.input = Some(InputType::of::<T>());
        self.retyped()
    }
}

impl<I, O> WorkflowBuilder<I, O> {
    fn retyped<J, P>(self) -> WorkflowBuilder<J, P> {
        WorkflowBuilder { draft: self.draft, types: PhantomData }
    }

    /// One line for people.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.draft.description = Some(text.into());
        self
    }

    /// A run that is older fails. Counts for runs, not where the workflow is nested in another.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.draft.timeout_ms = Some(whole_ms(timeout));
        self
    }

    /// How often a failed run is retried by itself, from the failed step. Counts for runs, not where the workflow
    /// is nested in another.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.draft.max_retries = retries;
        self
    }

    /// Called once when a run fails, or when its input is refused. It may ask for [`Failure`](crate::Failure).
    #[track_caller]
    pub fn on_error<M>(mut self, handler: impl StepFn<M>) -> Self {
        self.draft.on_error = Some((handler.into_step().draft, Location::caller()));
        self
    }

    /// Adds a step: a function, a function with options, or a delay.
    #[track_caller]
    pub fn step<M, S: IntoStep<M>>(mut self, step: S) -> WorkflowBuilder<I, S::Out> {
        self.draft.push(step.into_draft(), Location::caller());
        self.retyped()
    }

    /// Adds several steps at once: `.steps((find_tree, chop_tree.retry(3)))`.
    #[track_caller]
    pub fn steps<M, S: IntoSteps<M>>(mut self, steps: S) -> WorkflowBuilder<I, S::Out> {
        let location = Location::caller();
        let mut drafts = Vec::new();
        steps.into_drafts(&mut drafts);
        drafts.into_iter().for_each(|draft: NodeDraft| self.draft.push(draft, location));
        self.retyped()
    }

    /// Adds a workflow that runs in place, with this one's input. Its id is its name.
    #[track_caller]
    pub fn workflow<N: NestedWorkflow>(mut self, nested: N) -> WorkflowBuilder<I, N::Out> {
        let part = NodePart::Nested { nested: nested.into_nested(), input: None };
        self.draft.parts.push(Part { part, location: Location::caller() });
        self.retyped()
    }

    /// Adds a workflow that runs in place, with the input that a function gives.
    #[track_caller]
    pub fn workflow_with<M, N: NestedWorkflow>(
        mut self,
        nested: N,
        input: impl StepFn<M, Out = N::In>,
    ) -> WorkflowBuilder<I, N::Out> {
        let input = Some(input.into_step().draft);
        let part = NodePart::Nested { nested: nested.into_nested(), input };
        self.draft.parts.push(Part { part, location: Location::caller() });
        self.retyped()
    }
}

impl<I: Data, O: Data> WorkflowBuilder<I, O> {
    /// Checks everything that the types could not, and builds.
    pub fn build(self) -> Result<Workflow<I, O>, BuildErrors> {
        let built = self.draft.build()?;
        Ok(Workflow { built: Arc::new(built), types: PhantomData })
    }
}
