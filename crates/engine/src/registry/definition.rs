//! A workflow as the engine holds it: a plan, its functions, its input schema.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use rival_core::plan::{Node, NodeKind, PlanBlock, StepNode};
use rival_core::{Path, Plan, PlanHash, Value};

use crate::api::error::Violation;
use crate::call::function::UserFunction;
use crate::registry::origin::WorkflowOrigin;
use crate::registry::resources::ResourceType;

/// A workflow that can be registered.
#[derive(Clone)]
pub struct Definition {
    /// Its structure.
    pub plan: Plan,
    /// Its functions, by the names that the plan uses.
    pub functions: BTreeMap<String, Arc<dyn UserFunction>>,
    /// Its plan as version 0.1 made it, where that named functions differently.
    pub former: Option<FormerPlan>,
    /// JSON Schema of its input; absent means that any input will do.
    pub input_schema: Option<serde_json::Value>,
    /// Checks the input of runs, also of children, instead of the schema. Nested workflows keep to the schema.
    pub input_check: Option<Arc<dyn InputCheck>>,
    /// JSON Schemas of nested workflows whose input is mapped, by the path of the node.
    pub nested_schemas: BTreeMap<Path, serde_json::Value>,
    /// JSON Schemas of the signals that its runs wait for, by name.
    pub signal_schemas: BTreeMap<String, serde_json::Value>,
    /// One line for people.
    pub description: Option<String>,
    /// What its functions expect to be provided.
    pub resources: Vec<ResourceNeed>,
    /// What it is written in, and where.
    pub origin: WorkflowOrigin,
}

impl Definition {
    /// A workflow that takes any input, and expects nothing to be provided.
    pub fn new(plan: Plan, functions: BTreeMap<String, Arc<dyn UserFunction>>) -> Self {
        Self {
            plan,
            functions,
            former: None,
            input_schema: None,
            input_check: None,
            nested_schemas: BTreeMap::new(),
            signal_schemas: BTreeMap::new(),
            description: None,
            resources: Vec::new(),
            origin: WorkflowOrigin::default(),
        }
    }

    /// A workflow of one step, which has the name of its function.
    pub fn of_step(workflow: &str, step: &str, function: Arc<dyn UserFunction>) -> Self {
        let node = StepNode { function: step.into(), ..StepNode::default() };
        let plan = Plan {
            workflow: workflow.to_owned(),
            block: PlanBlock::sequence(vec![Node::new(step, NodeKind::Step(node))]),
            on_error: None,
            timeout_ms: None,
            max_retries: 0,
            triggers: Vec::new(),
        };
        Self::new(plan, [(step.to_owned(), function)].into())
    }
}

/// A plan that differs from today's in the names of functions alone. Version 0.1 named what has no name of its own by its
/// place, so those names are right only for a workflow that has not changed since.
#[derive(Clone, Debug)]
pub struct FormerPlan {
    /// Names it.
    pub hash: PlanHash,
    /// Today's names of the functions, by those in it.
    pub functions: BTreeMap<String, String>,
}

/// A workflow's own way to check its input.
#[async_trait]
pub trait InputCheck: Send + Sync + 'static {
    /// Gives the input that the run is to have: as it is, or with what the check fills in or changes.
    async fn check(&self, input: Value) -> Result<Value, CheckError>;
}

/// An input was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckError {
    /// Everything that is wrong with it.
    Refused(Vec<Violation>),
    /// It could not be checked; it may be, later.
    Unavailable(String),
}

/// A shared resource that a function asks for.
#[derive(Clone, Debug)]
pub struct ResourceNeed {
    /// The function.
    pub function: String,
    /// What it asks for.
    pub resource: ResourceType,
}

impl fmt::Debug for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Definition")
            .field("workflow", &self.plan.workflow)
            .field("functions", &self.functions.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
