//! Earlier steps that functions take for granted: a function that reads `steps.nmae.result` fails whenever it gets there.
//!
//! A function may be part of several workflows, and a file's own workflow of another one that runs it in place. What it names
//! is wrong only if none of them has it.

use std::collections::{BTreeMap, BTreeSet};

use rival_core::event::CallRole;
use rival_core::plan::{FunctionRef, IndexedPlan, PlanBlock, fingerprint};
use rival_core::{Path, Plan};
use rival_schema::nearest;
use rival_typescript::WantedStep;

use crate::definition::{DescribedFunction, DescribedWorkflow};

/// How many names a message lists.
const NAMES_SHOWN: usize = 8;

/// The names that functions see of those that they want, by the fingerprint of their texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenSteps(BTreeMap<String, BTreeSet<String>>);

impl SeenSteps {
    /// What the functions of a workflow see.
    pub(crate) fn of(workflow: &DescribedWorkflow) -> Self {
        let mut seen = Self::default();
        for_each_wanted(workflow, |plan, place, text, wanted| {
            if plan.sees(place, &wanted.name) {
                seen.0.entry(fingerprint(text)).or_default().insert(wanted.name.clone());
            }
        });
        seen
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (text, names) in other.0 {
            self.0.entry(text).or_default().extend(names);
        }
    }

    fn has(&self, text: &str, name: &str) -> bool {
        self.0.get(&fingerprint(text)).is_some_and(|names| names.contains(name))
    }
}

/// A step that a function wants and that is not there.
#[derive(Clone, Debug)]
pub(crate) struct MissingStep {
    /// The function.
    pub(crate) text: String,
    /// Where in its text it names the step.
    pub(crate) at: u32,
    pub(crate) message: String,
    pub(crate) advice: String,
    /// Whether the workflow itself shows what was meant. Otherwise another workflow that runs this one in place may have the step.
    pub(crate) is_certain: bool,
}

impl MissingStep {
    /// What the functions of a workflow want, and neither it nor another workflow with the same functions has.
    pub(crate) fn all(workflow: &DescribedWorkflow, seen: &SeenSteps) -> Vec<Self> {
        let (mut missing, mut told) = (Vec::new(), BTreeSet::new());
        let mut wanted = workflow.functions.values().flat_map(DescribedFunction::wanted);
        if wanted.all(|(text, wanted)| seen.has(text, &wanted.name)) {
            return missing;
        }
        for_each_wanted(workflow, |plan, place, text, wanted| {
            if !seen.has(text, &wanted.name) && told.insert((text.to_owned(), wanted.name.clone())) {
                missing.push(plan.missing(place, text, wanted));
            }
        });
        missing
    }
}

/// Where a plan calls a function.
struct CallPlace<'p> {
    path: Path,
    role: CallRole,
    function: &'p str,
}

/// A plan whose functions want steps.
struct WantingPlan<'w> {
    workflow: &'w DescribedWorkflow,
    index: IndexedPlan,
}

/// Does something with each step that a function wants, at each place where the function is called.
fn for_each_wanted(
    workflow: &DescribedWorkflow,
    mut found: impl FnMut(&WantingPlan<'_>, &CallPlace<'_>, &str, &WantedStep),
) {
    if workflow.functions.values().all(|function| function.wanted().next().is_none()) {
        return;
    }
    let plan = WantingPlan { workflow, index: IndexedPlan::new(workflow.plan.clone()) };
    for place in places(&workflow.plan) {
        let wanted = workflow.functions.get(place.function).into_iter().flat_map(DescribedFunction::wanted);
        wanted.for_each(|(text, wanted)| found(&plan, &place, text, wanted));
    }
}

impl WantingPlan<'_> {
    fn sees(&self, place: &CallPlace<'_>, name: &str) -> bool {
        match place.role {
            // By then anything may have run.
            CallRole::OnError => has_node(&self.workflow.plan.block, name),
            role => self.index.visible(&looking_from(&place.path, role), name).is_some(),
        }
    }

    fn missing(&self, place: &CallPlace<'_>, text: &str, wanted: &WantedStep) -> MissingStep {
        let WantedStep { name, at } = wanted;
        let ids = self.index.visible_ids(&looking_from(&place.path, place.role));
        let near = nearest(name, ids.iter().copied());
        let elsewhere = path_of(&self.workflow.plan.block, &Path::root(), name);
        let advice = match (&elsewhere, near) {
            (Some(path), _) if path.parent().is_some_and(|block| !block.is_root()) => {
                format!(
                    "`{path}` is inside of a block, and only the block is seen from here: {}",
                    listed(&ids)
                )
            }
            (Some(_), _) => format!("`{name}` does not come before it: {}", listed(&ids)),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => listed(&ids),
        };
        MissingStep {
            text: text.to_owned(),
            at: *at,
            message: format!("{} reads `steps.{name}`, and no earlier step has that name", place.words()),
            advice,
            is_certain: elsewhere.is_some() || near.is_some(),
        }
    }
}

impl CallPlace<'_> {
    fn words(&self) -> String {
        let path = &self.path;
        match self.role {
            CallRole::Step => format!("`{path}`"),
            CallRole::OnError if path.is_root() => "`onError`".to_owned(),
            CallRole::OnError => format!("`onError` of `{path}`"),
            CallRole::Input => format!("`input` of `{path}`"),
            CallRole::Wait => format!("the wait of `{path}`"),
            CallRole::Choose => format!("the choice of `{path}`"),
            CallRole::Test => format!("the test of `{path}`"),
            CallRole::Items => format!("`items` of `{path}`"),
            CallRole::Finally => format!("`finally` of `{path}`"),
            CallRole::Compensate => format!("`compensate` of `{path}`"),
        }
    }
}

/// As the engine has it: a loop's test looks back at the iteration that is done.
fn looking_from(path: &Path, role: CallRole) -> Path {
    if role == CallRole::Test { path.iteration(0) } else { path.clone() }
}

/// All calls of functions in a plan, in its order.
fn places(plan: &Plan) -> Vec<CallPlace<'_>> {
    let mut places = Vec::new();
    if let Some(function) = plan.on_error.as_ref().and_then(FunctionRef::named) {
        places.push(CallPlace { path: Path::root(), role: CallRole::OnError, function });
    }
    collect_places(&plan.block, &Path::root(), &mut places);
    places
}

fn collect_places<'p>(block: &'p PlanBlock, at: &Path, places: &mut Vec<CallPlace<'p>>) {
    const ROLES: [CallRole; 9] = [
        CallRole::Step,
        CallRole::Input,
        CallRole::Wait,
        CallRole::Choose,
        CallRole::Test,
        CallRole::Items,
        CallRole::Finally,
        CallRole::OnError,
        CallRole::Compensate,
    ];
    for node in &block.nodes {
        let path = at.child(&node.id);
        for role in ROLES {
            if let Some(function) = node.kind.function(role).and_then(FunctionRef::named) {
                places.push(CallPlace { path: path.clone(), role, function });
            }
        }
        for (lane, inner) in node.blocks() {
            let lane = lane.map_or_else(|| path.clone(), |lane| path.child(lane));
            collect_places(inner, &lane, places);
        }
    }
}

fn has_node(block: &PlanBlock, id: &str) -> bool {
    path_of(block, &Path::root(), id).is_some()
}

/// Where the first node with an id is.
fn path_of(block: &PlanBlock, at: &Path, id: &str) -> Option<Path> {
    block.nodes.iter().find_map(|node| {
        let path = at.child(&node.id);
        if node.id == id {
            return Some(path);
        }
        node.blocks().into_iter().find_map(|(lane, inner)| {
            let lane = lane.map_or_else(|| path.clone(), |lane| path.child(lane));
            path_of(inner, &lane, id)
        })
    })
}

fn listed(ids: &[&str]) -> String {
    let shown: Vec<String> = ids.iter().take(NAMES_SHOWN).map(|id| format!("`{id}`")).collect();
    match ids.len() {
        0 => "no step is before it".to_owned(),
        count if count > NAMES_SHOWN => {
            format!("before it are {} and {} more", shown.join(", "), count - NAMES_SHOWN)
        }
        _ => format!("before it are {}", shown.join(", ")),
    }
}
