//! The workflows that an engine knows, and the plans that its runs keep.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rival_core::plan::{FunctionRef, NestedNode, NodeKind, PlanBlock, is_system_workflow};
use rival_core::{IndexedPlan, Path, Plan, PlanHash, Time, Value};

use crate::api::error::{RegisterError, Violation};
use crate::call::function::UserFunction;
use crate::registry::bound_plan::BoundPlan;
use crate::registry::builtins::{BindError, BuiltinSet};
use crate::registry::definition::{CheckError, Definition, FormerPlan};
use crate::registry::generations::{GenerationSpan, WorkflowGenerations};
use crate::registry::resources::ResourceMap;
use crate::registry::system::is_system_builtin;
use crate::registry::trigger_builtin::check_trigger;

/// A registered workflow.
pub(crate) struct RegisteredWorkflow {
    pub(crate) name: Arc<str>,
    pub(crate) definition: Definition,
    pub(crate) plan: Arc<BoundPlan>,
    input: Option<jsonschema::Validator>,
    /// By the function that maps the input, see [`mapper_key`].
    nested: BTreeMap<String, jsonschema::Validator>,
    signals: BTreeMap<String, jsonschema::Validator>,
}

impl RegisteredWorkflow {
    /// Checks a definition, all of it, before anything is kept.
    pub(crate) fn new(
        definition: Definition,
        resources: &ResourceMap,
        builtins: &BuiltinSet,
    ) -> Result<Self, RegisterError> {
        let workflow = definition.plan.workflow.clone();
        let errors = definition.plan.check();
        if !errors.is_empty() {
            return Err(RegisterError::Plan { workflow, errors });
        }
        if let Some(function) = missing_function(&definition.plan, &definition) {
            return Err(RegisterError::FunctionMissing { workflow, function });
        }
        if let Some(need) = definition.resources.iter().find(|need| !resources.contains(&need.resource)) {
            let (function, resource) = (need.function.clone(), need.resource.name);
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
        let mut mappers = BTreeMap::new();
        mappers_of(&definition.plan.block, &Path::root(), &mut mappers);
        for (path, schema) in &definition.nested_schemas {
            if let Some(mapper) = mappers.get(path) {
                nested.insert(mapper_key(path, mapper), validator(schema)?);
            }
        }
        let mut signals = BTreeMap::new();
        for (name, schema) in &definition.signal_schemas {
            signals.insert(name.clone(), validator(schema)?);
        }
        let plan = Arc::new(BoundPlan::new(definition.plan.clone()));
        check_builtins(&plan, builtins)?;
        check_triggers(&plan)?;
        Ok(Self { name: workflow.into(), definition, plan, input, nested, signals })
    }

    /// What a plan alone tells of a workflow that is not registered: its runs can be ended, and call nothing but built-in
    /// functions.
    pub(crate) fn without_functions(plan: &Arc<BoundPlan>) -> Self {
        let definition = Definition::new(plan.plan().clone(), BTreeMap::new());
        let name = definition.plan.workflow.as_str().into();
        let (nested, signals) = (BTreeMap::new(), BTreeMap::new());
        Self { name, definition, plan: Arc::clone(plan), input: None, nested, signals }
    }

    /// The function that a plan names.
    pub(crate) fn function(&self, plan: &IndexedPlan, name: &str) -> Option<&Arc<dyn UserFunction>> {
        let name = match self.former(plan) {
            Some(former) => former.functions.get(name)?,
            None => name,
        };
        self.definition.functions.get(name)
    }

    /// What a plan calls the function that has this name today.
    pub(crate) fn name_in<'a>(&'a self, plan: &IndexedPlan, name: &'a str) -> &'a str {
        let former =
            self.former(plan).and_then(|former| former.functions.iter().find(|(_, now)| *now == name));
        former.map_or(name, |(before, _)| before)
    }

    fn former(&self, plan: &IndexedPlan) -> Option<&FormerPlan> {
        self.definition.former.as_ref().filter(|former| former.hash == *plan.hash())
    }

    /// Whether it has all functions that a plan names.
    pub(crate) fn has_functions_of(&self, plan: &IndexedPlan) -> bool {
        self.is_plan(plan) || missing_function(plan.plan(), &self.definition).is_none()
    }

    /// Whether a plan is its own, perhaps as version 0.1 made it.
    pub(crate) fn is_plan(&self, plan: &IndexedPlan) -> bool {
        plan.hash() == self.plan.hash() || self.former(plan).is_some()
    }

    /// The input that a run is given: what the workflow's own check makes of it; without one, as it is, if it matches
    /// the schema.
    pub(crate) async fn accept(&self, input: Value) -> Result<Value, CheckError> {
        if let Some(check) = &self.definition.input_check {
            return check.check(input).await;
        }
        let violations = self.check_input(&input);
        if violations.is_empty() {
            return Ok(input);
        }
        // No input is an empty one, for a workflow that needs nothing of it.
        let empty = Value::from(serde_json::json!({}));
        let is_absent = input.is_null() && self.check_input(&empty).is_empty();
        if is_absent { Ok(empty) } else { Err(CheckError::Refused(violations)) }
    }

    /// Everything in which an input does not match the schema.
    pub(crate) fn check_input(&self, input: &Value) -> Vec<Violation> {
        self.input.as_ref().map_or_else(Vec::new, |validator| violations(validator, input))
    }

    /// The same for the mapped input of a nested workflow.
    pub(crate) fn check_nested_input(
        &self,
        plan: &IndexedPlan,
        node: &Path,
        mapper: &FunctionRef,
        input: &Value,
    ) -> Vec<Violation> {
        let key = mapper_key(node, mapper);
        let former = self.former(plan).and_then(|former| former.functions.get(&key));
        let validator = self.nested.get(former.unwrap_or(&key));
        validator.map_or_else(Vec::new, |validator| violations(validator, input))
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

/// What the schema of a mapped input is found by. A function of the workflow has its name wherever its node is in the
/// plan of a run; a built-in one may stand in many places, so its node counts, too.
fn mapper_key(node: &Path, mapper: &FunctionRef) -> String {
    match mapper {
        FunctionRef::Named(name) => name.clone(),
        FunctionRef::Builtin(builtin) => {
            format!("{} {} {}", node.in_plan(), builtin.name(), builtin.with().as_json())
        }
    }
}

/// The functions that map the input of nested workflows, by the path of the node.
fn mappers_of<'a>(block: &'a PlanBlock, at: &Path, mappers: &mut BTreeMap<Path, &'a FunctionRef>) {
    for node in &block.nodes {
        let path = at.child(&node.id);
        if let NodeKind::Workflow(NestedNode { input: Some(mapper), .. }) = &node.kind {
            mappers.insert(path.clone(), mapper);
        }
        for (lane, block) in node.blocks() {
            let path = lane.map_or_else(|| path.clone(), |lane| path.child(lane));
            mappers_of(block, &path, mappers);
        }
    }
}

/// The first function that a plan names and the definition does not have.
fn missing_function(plan: &Plan, definition: &Definition) -> Option<String> {
    let names = plan.functions().into_iter().filter_map(FunctionRef::named);
    names.into_iter().find(|name| !definition.functions.contains_key(*name)).map(str::to_owned)
}

/// Built-in functions may be missing now, and come later, but all must be known and have data that makes sense.
fn check_builtins(plan: &BoundPlan, builtins: &BuiltinSet) -> Result<(), RegisterError> {
    for builtin in plan.builtins() {
        let workflow = plan.plan().workflow.clone();
        if !builtins.knows(builtin) || is_system_builtin(builtin.name()) {
            return Err(RegisterError::FunctionMissing { workflow, function: builtin.name().to_owned() });
        }
        match builtins.bind(builtin) {
            Ok(_) | Err(BindError::Missing { .. }) => {}
            Err(error @ BindError::Invalid { .. }) => {
                return Err(RegisterError::Builtin { workflow, error });
            }
        }
    }
    Ok(())
}

fn check_triggers(plan: &BoundPlan) -> Result<(), RegisterError> {
    for (number, trigger) in (1..).zip(&plan.plan().triggers) {
        check_trigger(trigger).map_err(|message| {
            let (workflow, target) = (plan.plan().workflow.clone(), trigger.workflow.clone());
            RegisterError::Trigger { workflow, number, target, message }
        })?;
    }
    Ok(())
}

/// Workflows by name, and plans by hash.
#[derive(Default)]
pub(crate) struct DefinitionRegistry {
    workflows: RwLock<BTreeMap<String, WorkflowGenerations>>,
    /// Plans of older versions that live runs keep.
    plans: RwLock<BTreeMap<PlanHash, Arc<BoundPlan>>>,
}

impl DefinitionRegistry {
    /// Adds a workflow under a name that is not taken.
    pub(crate) fn insert(&self, registered: Arc<RegisteredWorkflow>, now: Time) -> Result<(), RegisterError> {
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
    pub(crate) fn replace(&self, registered: Arc<RegisteredWorkflow>, now: Time) {
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
    pub(crate) fn get(&self, name: &str) -> Option<Arc<RegisteredWorkflow>> {
        read(&self.workflows).get(name)?.current().cloned()
    }

    /// See [`WorkflowGenerations::set_clock_back`].
    pub(crate) fn set_clock_back(&self, now: Time) {
        write(&self.workflows).values_mut().for_each(|known| known.set_clock_back(now));
    }

    /// See [`WorkflowGenerations::created_at_for`].
    pub(crate) fn created_at_for(&self, registered: &Arc<RegisteredWorkflow>, now: Time) -> Option<Time> {
        // There is only one of Rival's own.
        if is_system_workflow(&registered.name) {
            return Some(now);
        }
        read(&self.workflows).get(&*registered.name)?.created_at_for(registered, now)
    }

    /// See [`WorkflowGenerations::at`].
    pub(crate) fn at(&self, name: &str, created: Time) -> Option<Arc<RegisteredWorkflow>> {
        read(&self.workflows).get(name)?.at(created).cloned()
    }

    /// See [`WorkflowGenerations::of_run`].
    pub(crate) fn of_run(
        &self,
        name: &str,
        created: Time,
        plan: &IndexedPlan,
    ) -> Option<Arc<RegisteredWorkflow>> {
        read(&self.workflows).get(name)?.of_run(created, plan).cloned()
    }

    /// See [`WorkflowGenerations::unheld`].
    pub(crate) fn unheld(&self, name: &str) -> Vec<GenerationSpan> {
        read(&self.workflows).get(name).map_or_else(Vec::new, WorkflowGenerations::unheld)
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

    pub(crate) fn all(&self) -> Vec<Arc<RegisteredWorkflow>> {
        read(&self.workflows).values().filter_map(WorkflowGenerations::current).cloned().collect()
    }

    /// A plan, if a generation of the workflow has it or it was read before.
    pub(crate) fn plan(&self, name: &str, hash: &PlanHash) -> Option<Arc<BoundPlan>> {
        let registered = read(&self.workflows).get(name).and_then(|known| known.plan(hash)).cloned();
        registered.or_else(|| read(&self.plans).get(hash).cloned())
    }

    pub(crate) fn keep_plan(&self, hash: &PlanHash, plan: Plan) -> Arc<BoundPlan> {
        let plan = Arc::new(BoundPlan::new(plan));
        write(&self.plans).entry(hash.clone()).or_insert(plan).clone()
    }
}

fn succeed(
    workflows: &mut BTreeMap<String, WorkflowGenerations>,
    registered: Arc<RegisteredWorkflow>,
    now: Time,
) {
    match workflows.get_mut(&*registered.name) {
        Some(known) => known.succeed(Some(registered), now),
        None => {
            workflows.insert(registered.name.to_string(), WorkflowGenerations::first(registered, now));
        }
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
