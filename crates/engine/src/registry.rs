//! The workflows that an engine knows, and the plans that its runs keep.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rival_core::plan::{Block, LoopTest, NodeKind, Wait};
use rival_core::{IndexedPlan, Path, Plan, PlanHash, Value};

use crate::definition::Definition;
use crate::error::{RegisterError, Violation};
use crate::function::Function;
use crate::resources::Resources;

/// A registered workflow.
pub(crate) struct Registered {
    pub(crate) name: Arc<str>,
    pub(crate) definition: Definition,
    pub(crate) plan: Arc<IndexedPlan>,
    input: Option<jsonschema::Validator>,
    nested: BTreeMap<Path, jsonschema::Validator>,
    signals: BTreeMap<String, jsonschema::Validator>,
}

impl Registered {
    /// Checks a definition, all of it, before anything is kept.
    pub(crate) fn new(definition: Definition, resources: &Resources) -> Result<Self, RegisterError> {
        let workflow = definition.plan.workflow.clone();
        let errors = definition.plan.check();
        if !errors.is_empty() {
            return Err(RegisterError::Plan { workflow, errors });
        }
        if let Some(function) = missing_function(&definition) {
            return Err(RegisterError::FunctionMissing { workflow, function });
        }
        if let Some(need) = definition.resources.iter().find(|need| !resources.contains(need.type_id)) {
            let (function, resource) = (need.function.clone(), need.type_name);
            return Err(RegisterError::ResourceMissing { workflow, function, resource });
        }
        let validator = |schema: &serde_json::Value| {
            jsonschema::validator_for(schema).map_err(|error| RegisterError::Schema {
                workflow: workflow.clone(),
                message: error.to_string(),
            })
        };
        let input = definition.input_schema.as_ref().map(validator).transpose()?;
        let mut nested = BTreeMap::new();
        for (path, schema) in &definition.nested_schemas {
            nested.insert(path.clone(), validator(schema)?);
        }
        let mut signals = BTreeMap::new();
        for (name, schema) in &definition.signal_schemas {
            signals.insert(name.clone(), validator(schema)?);
        }
        let plan = Arc::new(IndexedPlan::new(definition.plan.clone()));
        Ok(Self { name: workflow.into(), definition, plan, input, nested, signals })
    }

    pub(crate) fn function(&self, name: &str) -> Option<&Arc<dyn Function>> {
        self.definition.functions.get(name)
    }

    /// Everything in which an input does not match the schema.
    pub(crate) fn check_input(&self, input: &Value) -> Vec<Violation> {
        self.input.as_ref().map_or_else(Vec::new, |validator| violations(validator, input))
    }

    /// The same for the mapped input of a nested workflow.
    pub(crate) fn check_nested_input(&self, node: &Path, input: &Value) -> Vec<Violation> {
        let node = Path::new(node.in_plan());
        self.nested.get(&node).map_or_else(Vec::new, |validator| violations(validator, input))
    }

    /// The same for the payload of a signal; one that the workflow does not know may say anything.
    pub(crate) fn check_signal(&self, name: &str, payload: &Value) -> Vec<Violation> {
        self.signals.get(name).map_or_else(Vec::new, |validator| violations(validator, payload))
    }
}

fn violations(validator: &jsonschema::Validator, input: &Value) -> Vec<Violation> {
    let input = input.to_json();
    if validator.is_valid(&input) {
        return Vec::new();
    }
    validator
        .iter_errors(&input)
        .map(|error| Violation { path: error.instance_path().to_string(), message: error.to_string() })
        .collect()
}

/// The first function that the plan names and the definition does not have.
fn missing_function(definition: &Definition) -> Option<String> {
    let mut names: Vec<&String> = definition.plan.on_error.iter().collect();
    function_names(&definition.plan.block, &mut names);
    names.into_iter().find(|name| !definition.functions.contains_key(*name)).cloned()
}

fn function_names<'a>(block: &'a Block, names: &mut Vec<&'a String>) {
    for node in &block.nodes {
        match &node.kind {
            NodeKind::Step(step) => {
                names.push(&step.function);
                names.extend(&step.on_error);
                names.extend(step.compensate.as_ref().map(|compensation| &compensation.function));
            }
            NodeKind::Sleep(sleep) => {
                if let Wait::Computed(function) = &sleep.wait {
                    names.push(function);
                }
            }
            NodeKind::Workflow(nested) => {
                names.extend(&nested.input);
                names.extend(&nested.on_error);
            }
            NodeKind::Signal(_) => {}
            NodeKind::Branch(branch) => names.push(&branch.choose),
            NodeKind::Loop(each) => match &each.test {
                LoopTest::Until(function) | LoopTest::While(function) => names.push(function),
            },
            NodeKind::ForEach(each) => names.push(&each.items),
            NodeKind::Parallel(parallel) => names.extend(&parallel.finally),
        }
        for (_, block) in node.blocks() {
            function_names(block, names);
        }
    }
}

/// Workflows by name, and indexed plans by hash.
#[derive(Default)]
pub(crate) struct Registry {
    workflows: RwLock<BTreeMap<String, Arc<Registered>>>,
    /// Plans of older versions that live runs keep.
    plans: RwLock<BTreeMap<PlanHash, Arc<IndexedPlan>>>,
}

impl Registry {
    pub(crate) fn insert(&self, registered: Arc<Registered>) -> Result<(), RegisterError> {
        let name = registered.definition.plan.workflow.clone();
        let mut workflows = write(&self.workflows);
        if workflows.contains_key(&name) {
            return Err(RegisterError::Duplicate(name));
        }
        workflows.insert(name, registered);
        Ok(())
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        read(&self.workflows).contains_key(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<Registered>> {
        read(&self.workflows).get(name).cloned()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        read(&self.workflows).keys().cloned().collect()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Registered>> {
        read(&self.workflows).values().cloned().collect()
    }

    pub(crate) fn plan(&self, hash: &PlanHash) -> Option<Arc<IndexedPlan>> {
        read(&self.plans).get(hash).cloned()
    }

    pub(crate) fn keep_plan(&self, hash: &PlanHash, plan: Plan) -> Arc<IndexedPlan> {
        let plan = Arc::new(IndexedPlan::new(plan));
        write(&self.plans).entry(hash.clone()).or_insert(plan).clone()
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
