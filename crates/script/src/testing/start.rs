//! One run that a test asks for: its workflows, on an engine of its own, with parts replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rival_core::plan::{Builtin, FunctionRef, Node, NodeKind, PlanBlock, StepNode, VALUE_BUILTIN};
use rival_core::{Plan, RunId, Value};
use rival_engine::testing::PlannedSignals;
use rival_engine::{Clock, Definition, Engine, RunError, VirtualClock};
use rival_script_host::frame::ScriptError;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::doubles::{TestDoubles, TestPlace};
use crate::definition::DescribedWorkflow;
use crate::files::Scripts;
use crate::ops::refusal;
use crate::registry::{RunLauncher, start_error};

/// What a test says of a run.
#[derive(Deserialize)]
pub(super) struct StartArgs {
    /// The number that the test knows it by.
    pub(super) run: u32,
    /// The workflow that runs, and others that it needs.
    sources: Vec<WorkflowSource>,
    /// One of the workflows of the first source; the only one unless told otherwise.
    workflow: Option<String>,
    input: Box<RawValue>,
    mocks: Vec<String>,
    children: Vec<String>,
    signals: Vec<SignalPlan>,
}

/// A file, or a workflow that the test has built: exactly one of the two.
#[derive(Deserialize)]
struct WorkflowSource {
    file: Option<PathBuf>,
    workflow: Option<String>,
    built: Option<BuiltWorkflow>,
}

#[derive(Deserialize)]
struct BuiltWorkflow {
    /// The name that the test's realm has its functions under.
    key: String,
    description: DescribedWorkflow,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SignalPlan {
    name: String,
    payload: Box<RawValue>,
    after_ms: u64,
}

/// A run of a test.
pub(super) struct TestRun {
    pub(super) engine: Engine,
    pub(super) id: RunId,
    pub(super) signals: PlannedSignals,
}

impl TestRun {
    /// What it does. A test knows it by other means than its id.
    pub(super) async fn explain(&self) -> Result<String, RunError> {
        let told = self.engine.explain(&self.id).await?;
        Ok(told.replacen(&format!("run `{}`", self.id), "the run", 1))
    }
}

/// Registers what the run needs, and starts it.
pub(super) async fn start(
    place: TestPlace,
    clock: VirtualClock,
    args: StartArgs,
) -> Result<TestRun, ScriptError> {
    let builder = Engine::builder().clock(Clock::Virtual(clock.clone()));
    let engine = builder.build().await.map_err(said)?;
    engine.extension(|| TestDoubles::new(&place, args.run));
    let mut replaced = Replacements {
        launcher: RunLauncher(engine.downgrade()),
        place,
        run: args.run,
        mocks: args.mocks,
        children: args.children.into_iter().collect(),
        steps: Vec::new(),
    };
    let name = register(&engine, args.sources, args.workflow, &mut replaced).await?;
    replaced.check()?;
    let handle =
        engine.run(name.as_str(), Value::from(args.input)).await.map_err(|error| start_error(&error))?;
    let signals = PlannedSignals::default();
    for SignalPlan { name, payload, after_ms } in args.signals {
        signals.add(clock.now().plus_ms(after_ms), handle.id(), name, Value::from(payload));
    }
    let id = handle.id().clone();
    Ok(TestRun { engine, id, signals })
}

/// Registers all workflows, and gives the name of the one that is to run.
async fn register(
    engine: &Engine,
    sources: Vec<WorkflowSource>,
    asked: Option<String>,
    replaced: &mut Replacements,
) -> Result<String, ScriptError> {
    let scripts = Scripts::of_test(&replaced.place.pool);
    let mut first = None;
    for source in sources {
        let wanted = asked.clone().or_else(|| source.workflow.clone());
        let names = match (source.file, source.built) {
            (Some(file), _) => register_file(engine, &scripts, &file, replaced).await?,
            (None, Some(built)) => vec![register_built(engine, built, replaced).await?],
            (None, None) => Vec::new(),
        };
        if first.is_none() {
            first = Some(chosen(wanted, &names)?);
        }
    }
    for child in std::mem::take(&mut replaced.children) {
        engine.register(replaced.child(&child)).await.map_err(said)?;
    }
    for target in unknown_targets(engine) {
        engine.register(stand_in(&target)).await.map_err(said)?;
    }
    first.ok_or_else(|| refusal("there is no workflow to run"))
}

/// The workflows that triggers start, and that the test has not brought.
fn unknown_targets(engine: &Engine) -> BTreeSet<String> {
    let known = engine.list();
    let targets = known.iter().flat_map(|workflow| &workflow.plan.triggers).map(|trigger| &trigger.workflow);
    targets.filter(|target| known.iter().all(|workflow| workflow.name != **target)).cloned().collect()
}

/// A workflow that takes anything and does nothing.
fn stand_in(name: &str) -> Definition {
    let nothing = Builtin::new(VALUE_BUILTIN, &Value::null()).map(FunctionRef::from).unwrap_or_default();
    let step = StepNode { function: nothing, ..StepNode::default() };
    let plan = Plan {
        workflow: name.to_owned(),
        block: PlanBlock::sequence(vec![Node::new("stand-in", NodeKind::Step(step))]),
        on_error: None,
        timeout_ms: None,
        max_retries: 0,
        triggers: Vec::new(),
    };
    Definition::new(plan, BTreeMap::new())
}

async fn register_file(
    engine: &Engine,
    scripts: &Scripts,
    file: &std::path::Path,
    replaced: &mut Replacements,
) -> Result<Vec<String>, ScriptError> {
    let change = |definition: &mut Definition| replaced.put_into(definition);
    let loaded = scripts.register_with(engine, file, change).await.map_err(said)?;
    match loaded.problems.first() {
        Some(problem) => Err(refusal(problem.to_string())),
        None => Ok(loaded.changed),
    }
}

async fn register_built(
    engine: &Engine,
    built: BuiltWorkflow,
    replaced: &mut Replacements,
) -> Result<String, ScriptError> {
    let BuiltWorkflow { key, description } = built;
    let name = description.name.clone();
    if let Some(message) = description.mistakable() {
        return Err(refusal(format!("workflow `{name}`: {message}; give the nodes names: `name: '…'`")));
    }
    let mut definition = description.define(&replaced.place.target(&key, &replaced.launcher));
    replaced.put_into(&mut definition);
    engine.register(definition).await.map_err(said)?;
    Ok(name)
}

fn chosen(asked: Option<String>, known: &[String]) -> Result<String, ScriptError> {
    let list = || known.join(", ");
    match (asked, known) {
        (Some(name), _) if known.contains(&name) => Ok(name),
        (Some(name), _) => Err(refusal(format!("the file has no workflow `{name}`; there are: {}", list()))),
        (None, [name]) => Ok(name.clone()),
        (None, _) => Err(refusal(format!("say which `workflow` of the file is to run: {}", list()))),
    }
}

/// What a test replaces in the workflows of one run.
struct Replacements {
    place: TestPlace,
    launcher: RunLauncher,
    run: u32,
    /// Names of steps.
    mocks: Vec<String>,
    /// Names of workflows that are not registered yet.
    children: BTreeSet<String>,
    /// The steps of all workflows.
    steps: Vec<StepPlace>,
}

/// A step of one of the workflows.
struct StepPlace {
    workflow: String,
    path: String,
    function: String,
}

impl StepPlace {
    /// A step is called by its id, or by as much of its path and workflow as tells it from others: `send`, `each/send`,
    /// `invoice/each/send`.
    fn is_called(&self, name: &str) -> bool {
        let full = format!("/{}/{}", self.workflow, self.path);
        full.ends_with(&format!("/{name}"))
    }
}

impl Replacements {
    fn child(&self, name: &str) -> Definition {
        self.place.child(name, self.run, &self.launcher)
    }

    /// Replaces a workflow, or steps of it.
    fn put_into(&mut self, definition: &mut Definition) {
        let workflow = definition.plan.workflow.clone();
        if self.children.remove(&workflow) {
            *definition = self.child(&workflow);
            return;
        }
        let mut steps = Vec::new();
        steps_of(&definition.plan.block, "", &workflow, &mut steps);
        for name in &self.mocks {
            for step in steps.iter().filter(|step| step.is_called(name)) {
                let mock = self.place.mock(format!("mock:{name}#{}", self.run), &self.launcher);
                definition.functions.insert(step.function.clone(), mock);
            }
        }
        self.steps.append(&mut steps);
    }

    /// With a typing error in its name, a mock would let the real step be called.
    fn check(&self) -> Result<(), ScriptError> {
        let is_missing = |name: &&String| !self.steps.iter().any(|step| step.is_called(name));
        let Some(name) = self.mocks.iter().find(is_missing) else { return Ok(()) };
        let workflows: BTreeSet<&str> = self.steps.iter().map(|step| step.workflow.as_str()).collect();
        let shown = |step: &StepPlace| match workflows.len() {
            1 => step.path.clone(),
            _ => format!("{}/{}", step.workflow, step.path),
        };
        let known: Vec<String> = self.steps.iter().map(shown).collect();
        Err(refusal(format!("no step is called `{name}`; there are: {}", known.join(", "))))
    }
}

/// The steps of a block and of those inside.
fn steps_of(block: &PlanBlock, at: &str, workflow: &str, steps: &mut Vec<StepPlace>) {
    let join = |at: &str, id: &str| if at.is_empty() { id.to_owned() } else { format!("{at}/{id}") };
    for node in &block.nodes {
        let path = join(at, &node.id);
        if let NodeKind::Step(StepNode { function: FunctionRef::Named(function), .. }) = &node.kind {
            let (workflow, function) = (workflow.to_owned(), function.clone());
            steps.push(StepPlace { workflow, path: path.clone(), function });
        }
        for (lane, block) in node.blocks() {
            let path = lane.map_or_else(|| path.clone(), |lane| join(&path, lane));
            steps_of(block, &path, workflow, steps);
        }
    }
}

pub(super) fn said(error: impl std::fmt::Display) -> ScriptError {
    refusal(error.to_string())
}
