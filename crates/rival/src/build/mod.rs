//! From what the builder collected to a plan with its functions, or to everything that is wrong with it.

mod compile;
mod draft;
mod flow;
mod graph;
mod keys;
mod names;
mod outline;
mod place;
mod problems;
mod rename;
mod signals;
mod uses;

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rival_core::{Path, Plan};
use rival_engine::{Definition, FormerPlan, ResourceNeed, UserFunction};

pub(crate) use draft::{
    BlockDraft, BlockResult, BranchDraft, DraftNode, EachDraft, HeadDraft, InputType, LaneDraft, LoopDraft,
    NodePart, ParallelDraft, SourceLocation, TestDraft, WorkflowDraft,
};

use self::keys::{FunctionKeys, KeyScheme};
use self::outline::PlanOutline;
use crate::error::{BuildError, BuildErrors};
use crate::extract::OutputAsk;
use crate::function::BoundFunction;

impl WorkflowDraft {
    /// Builds, or says everything that is wrong at once.
    pub(crate) fn build(self) -> Result<BuiltWorkflow, BuildErrors> {
        let Self { head, block } = self;
        let mut problems = Vec::new();
        let outline = PlanOutline::of(&block);
        let uses = uses::uses(&head, &outline);
        let mut keys = FunctionKeys::assign(&uses, &outline, &mut problems);
        problems::of_nested(&outline, &mut problems);
        place::check(&outline, &uses, &mut problems);
        let edges = flow::check(&head, &outline, &uses, &mut problems);
        let dependencies = graph::dependencies(&outline, &edges, &mut problems);
        // What a graph gives is known when all that its nodes come after is.
        if problems.is_empty() {
            graph::check_results(&outline, &dependencies, &mut problems);
        }
        let triggers: Vec<_> = head.triggers.iter().filter_map(|it| it.compile(&mut problems)).collect();
        let plan = compile::plan(&head, &outline, &dependencies, &triggers, &mut keys);
        let mut former_keys = FunctionKeys::former(&uses);
        let former = compile::plan(&head, &outline, &dependencies, &triggers, &mut former_keys);
        problems::of_plan(&head, &outline, &plan, &mut problems);
        let signal_schemas = signals::schemas(&outline, &mut problems);
        if !problems.is_empty() {
            // In the order of the code, whichever check found them.
            problems.sort_by_key(BuildError::location);
            return Err(BuildErrors { workflow: head.name, errors: problems });
        }
        let nested_schemas = nested_schemas(&outline);
        let path = |node: usize| outline.nodes[node].path.clone();
        let shown = edges.iter().filter(|edge| !edge.by_handler);
        let edges = shown.map(|edge| (path(edge.from), path(edge.to))).collect();
        let (input, description) = (head.input, head.description);
        let former = (former != plan).then(|| {
            let names = former_keys.names_in(&keys);
            FormerWorkflow { plan: former, names, functions: former_keys.bind() }
        });
        let functions = keys.bind();
        Ok(BuiltWorkflow {
            plan,
            functions,
            former,
            input,
            nested_schemas,
            signal_schemas,
            description,
            edges,
        })
    }
}

/// The schemas of nested workflows whose input is mapped: only those can differ from what was checked at launch.
fn nested_schemas(outline: &PlanOutline<'_>) -> BTreeMap<Path, serde_json::Value> {
    let mut schemas = BTreeMap::new();
    for site in &outline.nodes {
        let NodePart::Nested { nested, input } = &site.part.part else { continue };
        let at = Path::from(site.path.as_str());
        for (path, schema) in &nested.built.nested_schemas {
            schemas.insert(at.child(path.as_str()), schema.clone());
        }
        if let (Some(_), Some(taken)) = (input, &nested.built.input) {
            schemas.insert(at, taken.schema.clone());
        }
    }
    schemas
}

/// A built workflow, without its types.
#[derive(Debug)]
pub(crate) struct BuiltWorkflow {
    pub(crate) plan: Plan,
    functions: BTreeMap<String, BoundFunction>,
    /// The same as version 0.1 named its functions, if that differs.
    former: Option<FormerWorkflow>,
    input: Option<InputType>,
    nested_schemas: BTreeMap<Path, serde_json::Value>,
    signal_schemas: BTreeMap<String, serde_json::Value>,
    description: Option<String>,
    pub(crate) edges: Vec<(String, String)>,
}

/// A plan of version 0.1, with the functions by their names in it.
#[derive(Debug)]
struct FormerWorkflow {
    plan: Plan,
    /// Today's names, by those of then.
    names: BTreeMap<String, String>,
    functions: BTreeMap<String, BoundFunction>,
}

impl BuiltWorkflow {
    fn plan_of(&self, scheme: KeyScheme) -> &Plan {
        match (&self.former, scheme) {
            (Some(former), KeyScheme::Former) => &former.plan,
            (Some(_) | None, _) => &self.plan,
        }
    }

    fn functions_of(&self, scheme: KeyScheme) -> &BTreeMap<String, BoundFunction> {
        match (&self.former, scheme) {
            (Some(former), KeyScheme::Former) => &former.functions,
            (Some(_) | None, _) => &self.functions,
        }
    }

    /// What runs of version 0.1 need to find their functions.
    fn former_plan(&self) -> Option<FormerPlan> {
        let former = self.former.as_ref()?;
        Some(FormerPlan { hash: former.plan.hash(), functions: former.names.clone() })
    }

    pub(crate) fn input_schema(&self) -> Option<&serde_json::Value> {
        self.input.as_ref().map(|input| &input.schema)
    }

    /// What its functions ask of the steps around it: of those that it does not have itself.
    fn reads_around(&self) -> impl Iterator<Item = &OutputAsk> {
        let own: BTreeSet<TypeId> = self.functions.values().filter_map(BoundFunction::item).collect();
        let asks = self.functions.values().flat_map(|bound| &bound.function.asks.outputs);
        asks.filter(move |ask| !own.contains(&ask.step))
    }

    pub(crate) fn definition(&self) -> Definition {
        let functions = self.functions.iter().map(|(key, function)| {
            let function: Arc<dyn UserFunction> = Arc::new(function.clone());
            (key.clone(), function)
        });
        Definition {
            plan: self.plan.clone(),
            functions: functions.collect(),
            former: self.former_plan(),
            input_schema: self.input_schema().cloned(),
            input_check: None,
            nested_schemas: self.nested_schemas.clone(),
            signal_schemas: self.signal_schemas.clone(),
            description: self.description.clone(),
            resources: self.resources(),
            origin: rival_engine::WorkflowOrigin::default(),
        }
    }

    fn resources(&self) -> Vec<ResourceNeed> {
        let mut seen = BTreeSet::new();
        let mut needs = Vec::new();
        for (key, bound) in &self.functions {
            for ask in &bound.function.asks.resources {
                if seen.insert((key, ask.id())) {
                    needs.push(ResourceNeed { function: key.clone(), resource: *ask });
                }
            }
        }
        needs
    }
}
