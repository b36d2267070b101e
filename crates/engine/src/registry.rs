//! The workflows that an engine knows, and the plans that its runs keep.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rival_core::plan::{Block, LoopTest, NodeKind, Wait};
use rival_core::{IndexedPlan, Path, Plan, PlanHash, Time, Value};

use crate::definition::{CheckError, Definition};
use crate::error::{RegisterError, Violation};
use crate::function::Function;
use crate::generations::{Generations, Span};
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
        if let Some(function) = missing_function(&definition.plan, &definition) {
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

    /// What a plan alone tells of a workflow that is not registered: its runs can be ended, and call nothing.
    pub(crate) fn without_functions(plan: &Arc<IndexedPlan>) -> Self {
        let definition = Definition {
            plan: plan.plan().clone(),
            functions: BTreeMap::new(),
            input_schema: None,
            input_check: None,
            nested_schemas: BTreeMap::new(),
            signal_schemas: BTreeMap::new(),
            description: None,
            resources: Vec::new(),
        };
        let name = definition.plan.workflow.as_str().into();
        let (nested, signals) = (BTreeMap::new(), BTreeMap::new());
        Self { name, definition, plan: Arc::clone(plan), input: None, nested, signals }
    }

    pub(crate) fn function(&self, name: &str) -> Option<&Arc<dyn Function>> {
        self.definition.functions.get(name)
    }

    /// Whether it has all functions that a plan names.
    pub(crate) fn has_functions_of(&self, plan: &IndexedPlan) -> bool {
        plan.hash() == self.plan.hash() || missing_function(plan.plan(), &self.definition).is_none()
    }

    /// The input that a run is given: what the workflow's own check makes of it; without one, as it is, if it matches
    /// the schema.
    pub(crate) async fn accept(&self, input: Value) -> Result<Value, CheckError> {
        if let Some(check) = &self.definition.input_check {
            return check.check(input).await;
        }
        match self.check_input(&input) {
            violations if violations.is_empty() => Ok(input),
            violations => Err(CheckError::Refused(violations)),
        }
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

/// The first function that a plan names and the definition does not have.
fn missing_function(plan: &Plan, definition: &Definition) -> Option<String> {
    let mut names: Vec<&String> = plan.on_error.iter().collect();
    function_names(&plan.block, &mut names);
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
    workflows: RwLock<BTreeMap<String, Generations>>,
    /// Plans of older versions that live runs keep.
    plans: RwLock<BTreeMap<PlanHash, Arc<IndexedPlan>>>,
}

impl Registry {
    /// Adds a workflow, whose name nobody has.
    pub(crate) fn insert(&self, registered: Arc<Registered>, now: Time) -> Result<(), RegisterError> {
        let mut workflows = write(&self.workflows);
        match workflows.get(&*registered.name) {
            Some(known) if known.current().is_some() => {
                Err(RegisterError::Duplicate(registered.name.to_string()))
            }
            _ => {
                succeed(&mut workflows, registered, now);
                Ok(())
            }
        }
    }

    /// Adds a workflow, in the place of the one that had its name.
    pub(crate) fn replace(&self, registered: Arc<Registered>, now: Time) {
        succeed(&mut write(&self.workflows), registered, now);
    }

    /// Takes a workflow away; gives whether it was there. What runs need of it stays.
    pub(crate) fn retire(&self, name: &str, now: Time) -> bool {
        let mut workflows = write(&self.workflows);
        let known = workflows.get_mut(name).filter(|known| known.current().is_some());
        known.map(|known| known.succeed(None, now)).is_some()
    }

    /// Whether new runs can be started.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether runs can go on.
    pub(crate) fn knows(&self, name: &str) -> bool {
        read(&self.workflows).contains_key(name)
    }

    /// What new runs take.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Registered>> {
        read(&self.workflows).get(name)?.current().cloned()
    }

    /// See [`Generations::set_clock_back`].
    pub(crate) fn set_clock_back(&self, now: Time) {
        write(&self.workflows).values_mut().for_each(|known| known.set_clock_back(now));
    }

    /// See [`Generations::birth`].
    pub(crate) fn birth(&self, registered: &Arc<Registered>, now: Time) -> Option<Time> {
        read(&self.workflows).get(&*registered.name)?.birth(registered, now)
    }

    /// See [`Generations::at`].
    pub(crate) fn at(&self, name: &str, created: Time) -> Option<Arc<Registered>> {
        read(&self.workflows).get(name)?.at(created).cloned()
    }

    /// See [`Generations::of_run`].
    pub(crate) fn of_run(&self, name: &str, created: Time, plan: &IndexedPlan) -> Option<Arc<Registered>> {
        read(&self.workflows).get(name)?.of_run(created, plan).cloned()
    }

    /// See [`Generations::unheld`].
    pub(crate) fn unheld(&self, name: &str) -> Vec<Span> {
        read(&self.workflows).get(name).map_or_else(Vec::new, Generations::unheld)
    }

    /// Drops a past generation.
    pub(crate) fn forget(&self, name: &str, until: Time) {
        let mut workflows = write(&self.workflows);
        if let Some(known) = workflows.get_mut(name) {
            known.forget(until);
            if known.is_empty() {
                workflows.remove(name);
            }
        }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.all().iter().map(|registered| registered.name.to_string()).collect()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Registered>> {
        read(&self.workflows).values().filter_map(Generations::current).cloned().collect()
    }

    /// A plan, if a generation of the workflow has it or it was read before.
    pub(crate) fn plan(&self, name: &str, hash: &PlanHash) -> Option<Arc<IndexedPlan>> {
        let registered = read(&self.workflows).get(name).and_then(|known| known.plan(hash)).cloned();
        registered.or_else(|| read(&self.plans).get(hash).cloned())
    }

    pub(crate) fn keep_plan(&self, hash: &PlanHash, plan: Plan) -> Arc<IndexedPlan> {
        let plan = Arc::new(IndexedPlan::new(plan));
        write(&self.plans).entry(hash.clone()).or_insert(plan).clone()
    }
}

fn succeed(workflows: &mut BTreeMap<String, Generations>, registered: Arc<Registered>, now: Time) {
    match workflows.get_mut(&*registered.name) {
        Some(known) => known.succeed(Some(registered), now),
        None => {
            workflows.insert(registered.name.to_string(), Generations::first(registered, now));
        }
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
