//! From what the builder collected to a plan with its functions, or to everything that is wrong with it.

mod compile;
mod flow;
mod keys;
mod names;
mod problems;
mod uses;

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::sync::Arc;

use rival_core::{Path, Plan};
use rival_engine::{Definition, Function, ResourceNeed};

use crate::data::InputData;
use crate::delay::Delay;
use crate::error::BuildErrors;
use crate::extract::TypeAsk;
use crate::function::Bound;
use crate::nested::NestedDraft;
use crate::step::{NodeDraft, StepDraft};

/// Where a part of a workflow was written.
pub(crate) type Place = &'static Location<'static>;

/// A workflow in the making, without its types.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) location: Place,
    pub(crate) description: Option<String>,
    pub(crate) input: Option<InputType>,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) max_retries: u32,
    pub(crate) on_error: Option<(StepDraft, Place)>,
    pub(crate) parts: Vec<Part>,
}

/// A node in the making.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) part: NodePart,
    pub(crate) location: Place,
}

/// What a node in the making is.
#[derive(Debug)]
pub(crate) enum NodePart {
    Step(StepDraft),
    Sleep(Delay),
    Nested { nested: NestedDraft, input: Option<StepDraft> },
}

/// The declared input.
#[derive(Clone, Debug)]
pub(crate) struct InputType {
    ty: TypeAsk,
    schema: serde_json::Value,
}

impl InputType {
    pub(crate) fn of<T: InputData>() -> Self {
        Self { ty: TypeAsk::of::<T>(), schema: schemars::schema_for!(T).to_value() }
    }

    fn is(&self, id: TypeId) -> bool {
        self.ty.id == id
    }
}

impl Draft {
    pub(crate) fn new(name: String, location: Place) -> Self {
        Self {
            name,
            location,
            description: None,
            input: None,
            timeout_ms: None,
            max_retries: 0,
            on_error: None,
            parts: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, draft: NodeDraft, location: Place) {
        let part = match draft {
            NodeDraft::Step(step) => NodePart::Step(step),
            NodeDraft::Sleep(delay) => NodePart::Sleep(delay),
        };
        self.parts.push(Part { part, location });
    }

    /// Builds, or says everything that is wrong at once.
    pub(crate) fn build(self) -> Result<Built, BuildErrors> {
        let mut problems = Vec::new();
        let ids = names::ids(&self.parts);
        let uses = uses::uses(&self, &ids);
        let mut keys = keys::Keys::assign(&uses, &mut problems);
        let edges = flow::check(&self, &ids, &uses, &mut problems);
        let plan = compile::plan(&self, &ids, &mut keys);
        problems::of_plan(&self, &ids, &plan, &mut problems);
        if !problems.is_empty() {
            return Err(BuildErrors { workflow: self.name, errors: problems });
        }
        let nested_schemas = nested_schemas(&self.parts, &ids);
        let (input, description) = (self.input, self.description);
        Ok(Built { plan, functions: keys.bind(), input, nested_schemas, description, edges })
    }
}

/// The schemas of nested workflows whose input is mapped: only those can differ from what was checked at launch.
fn nested_schemas(parts: &[Part], ids: &[String]) -> BTreeMap<Path, serde_json::Value> {
    let mut schemas = BTreeMap::new();
    for (part, id) in parts.iter().zip(ids) {
        let NodePart::Nested { nested, input } = &part.part else { continue };
        if let (Some(_), Some(taken)) = (input, &nested.built.input) {
            schemas.insert(Path::root().child(id), taken.schema.clone());
        }
        for (path, schema) in &nested.built.nested_schemas {
            schemas.insert(Path::root().child(id).child(path.as_str()), schema.clone());
        }
    }
    schemas
}

/// A built workflow, without its types.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) plan: Plan,
    functions: BTreeMap<String, Bound>,
    input: Option<InputType>,
    nested_schemas: BTreeMap<Path, serde_json::Value>,
    description: Option<String>,
    pub(crate) edges: Vec<(String, String)>,
}

impl Built {
    pub(crate) fn input_schema(&self) -> Option<&serde_json::Value> {
        self.input.as_ref().map(|input| &input.schema)
    }

    pub(crate) fn definition(&self) -> Definition {
        let functions = self.functions.iter().map(|(key, function)| {
            let function: Arc<dyn Function> = Arc::new(function.clone());
            (key.clone(), function)
        });
        Definition {
            plan: self.plan.clone(),
            functions: functions.collect(),
            input_schema: self.input_schema().cloned(),
            nested_schemas: self.nested_schemas.clone(),
            description: self.description.clone(),
            resources: self.resources(),
        }
    }

    fn resources(&self) -> Vec<ResourceNeed> {
        let mut seen = BTreeSet::new();
        let mut needs = Vec::new();
        for (key, bound) in &self.functions {
            for ask in &bound.function.asks.resources {
                if seen.insert((key, ask.id)) {
                    needs.push(ResourceNeed { function: key.clone(), type_id: ask.id, type_name: ask.name });
                }
            }
        }
        needs
    }
}
