//! The builder, and what it builds.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use rival_core::plan::{BlockOrder, Graph};
use rival_core::{Plan, PlanHash};
use rival_engine::{Definition, RunTarget};
use serde::Serialize;

use crate::block::BlockBuilder;
use crate::build::{BlockDraft, BuiltWorkflow, HeadDraft, InputType, SourceLocation, WorkflowDraft};
use crate::config::whole_ms;
use crate::data::{Data, InputData};
use crate::error::BuildErrors;
use crate::step::StepFn;
use crate::trigger::Trigger;

/// A workflow that takes an `I` and gives an `O`. It never changes once it is built; cloning is cheap.
pub struct Workflow<I, O> {
    pub(crate) built: Arc<BuiltWorkflow>,
    types: PhantomData<fn(I) -> O>,
}

impl Workflow<(), ()> {
    /// Begins a workflow. It takes no input until [`input`](WorkflowBuilder::input) says so.
    #[allow(clippy::new_ret_no_self, reason = "a workflow begins with its name and ends with `build()`")]
    #[track_caller]
    pub fn new(name: impl Into<String>) -> WorkflowBuilder<(), ()> {
        begin(name.into(), BlockOrder::Sequence, Location::caller())
    }

    /// Begins a workflow whose nodes are a graph: each starts as soon as what it comes after is done.
    ///
    /// What a step asks for with `Output<..>`, it comes after; anything else is said with `.after(..)`. The order in
    /// which steps are added does not matter, but that the one whose result is the workflow's is added last.
    ///
    /// ```
    /// use rival::prelude::*;
    ///
    /// # #[step] async fn validate() -> Result<u32, StepError> { Ok(1) }
    /// # #[step] async fn fraud() -> Result<u32, StepError> { Ok(2) }
    /// #[step]
    /// async fn charge(valid: Output<validate>, risk: Output<fraud>) -> Result<u32, StepError> {
    ///     Ok(*valid + *risk)
    /// }
    ///
    /// # fn main() -> Result<(), rival::BuildErrors> {
    /// let order: Workflow<(), u32> = Workflow::dag("order").steps((validate, fraud, charge)).build()?;
    /// let same = Workflow::dag("order").step(validate).step(fraud).step(charge.after((validate, fraud))).build()?;
    /// assert_eq!(order.hash(), same.hash());
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn dag(name: impl Into<String>) -> WorkflowBuilder<(), ()> {
        begin(name.into(), BlockOrder::Graph, Location::caller())
    }
}

fn begin(name: String, order: BlockOrder, location: SourceLocation) -> WorkflowBuilder<(), ()> {
    BlockBuilder::new(Head::new(HeadDraft::new(name, location)), BlockDraft::new(order, location))
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

    /// Its structure for drawing: `.to_mermaid()`, `.to_dot()`, `.to_json()`.
    pub fn graph(&self) -> Graph {
        self.built.plan.graph()
    }

    /// Names this version of its structure.
    pub fn hash(&self) -> PlanHash {
        self.built.plan.hash()
    }

    /// The JSON Schema of its input; `None` if it takes none.
    pub fn input_schema(&self) -> Option<&serde_json::Value> {
        self.built.input_schema()
    }

    /// Who reads whose output, as paths of nodes, in the order of the workflow.
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
pub type WorkflowBuilder<I, O> = BlockBuilder<Head<I>, O>;

/// Marks a workflow's own block, and holds what is the workflow's.
#[derive(Debug)]
pub struct Head<I> {
    draft: HeadDraft,
    input: PhantomData<fn(I)>,
}

impl<I> Head<I> {
    fn new(draft: HeadDraft) -> Self {
        Self { draft, input: PhantomData }
    }
}

impl<O> WorkflowBuilder<(), O> {
    /// Declares the input. Launches are checked against its JSON Schema.
    pub fn input<T: InputData>(mut self) -> WorkflowBuilder<T, O> {
        self.head.draft.input = Some(InputType::of::<T>());
        BlockBuilder::new(Head::new(self.head.draft), self.block)
    }
}

impl<I, O> WorkflowBuilder<I, O> {
    /// One line for people.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.head.draft.description = Some(text.into());
        self
    }

    /// A run that is older fails. Counts for runs, not where the workflow is nested in another.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.head.draft.timeout_ms = Some(whole_ms(timeout));
        self
    }

    /// How often a failed run is retried by itself, from the failed step. Counts for runs, not where the workflow
    /// is nested in another.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.head.draft.max_retries = retries;
        self
    }

    /// What a run starts when it has completed. Counts for runs, not where the workflow is nested in another.
    pub fn trigger(mut self, trigger: Trigger) -> Self {
        self.head.draft.triggers.push(trigger);
        self
    }

    /// Called once when a run fails, or when its input is refused. It may ask for [`Failure`](crate::Failure).
    #[track_caller]
    pub fn on_error<M>(mut self, handler: impl StepFn<M>) -> Self {
        self.head.draft.on_error = Some((handler.into_step().draft, Location::caller()));
        self
    }
}

impl<I: Data, O: Data> WorkflowBuilder<I, O> {
    /// Checks everything that the types could not, and builds.
    pub fn build(self) -> Result<Workflow<I, O>, BuildErrors> {
        let draft = WorkflowDraft { head: self.head.draft, block: self.block };
        Ok(Workflow { built: Arc::new(draft.build()?), types: PhantomData })
    }
}
