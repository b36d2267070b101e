//! What a function is given when it is called.

use std::sync::{Arc, Mutex, PoisonError};

use rival_core::failure::code;
use rival_core::{FailureRecord, NodeStatus, Path, RunId, StepError, TraceParent, Value};
use serde_json::Map;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::api::engine::Engine;
use crate::call::exchange::HttpExchange;
use crate::call::log::Log;
use crate::call::values::ReadError;
use crate::durable::handle::DurableHandle;
use crate::registry::resources::ResourceMap;
use crate::run::actor::RunLinks;
use crate::run::mailbox::ActorMessage;
use crate::schedule::shared::EngineLimits;

/// Everything that a function may ask for.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The workflow's input; inside a nested workflow, its own.
    pub input: Value,
    /// The results that [`crate::FunctionNeeds::outputs`] names, in the same order; `None` where that step does
    /// not come before this one in the run's plan.
    pub outputs: Vec<Option<StepView>>,
    /// The nodes that [`crate::FunctionNeeds::steps`] names, in the same order; `None` where none of that id comes before.
    pub seen: Vec<Option<StepView>>,
    /// The node before this one, if [`crate::FunctionNeeds::last_step`] asks for it and there is one.
    pub last_step: Option<StepView>,
    /// Any earlier step by name, loaded when asked for.
    pub steps: StepsReader,
    /// The step's own state.
    pub state: StateCell,
    /// The step's log.
    pub log: Log,
    /// Which run, and which call of it.
    pub run: Arc<RunInfo>,
    /// Triggered when the call is cancelled or has timed out, if [`crate::FunctionNeeds::cancellation`] is set.
    pub cancellation: CancellationToken,
    /// What was provided at registration.
    pub resources: Arc<ResourceMap>,
    /// For error handlers: what went wrong.
    pub failure: Option<Arc<FailureContext>>,
    /// Where the function stands in the loops and forEach blocks around it, if [`crate::FunctionNeeds::iteration`] asks
    /// for it.
    pub iteration: Option<IterationContext>,
    /// For a `finally`: the joined result of its parallel block.
    pub joined: Option<Value>,
    /// For durable operations, if [`crate::FunctionNeeds::durable`] asks for them and the function is a step.
    pub durable: Option<DurableHandle>,
    /// For a compensation: what became of the step that it undoes.
    pub undo: Option<UndoContext>,
}

/// An iteration, as a function inside it sees it: of the nearest loop or forEach that has what is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IterationContext {
    /// Which iteration of the nearest one it is, from 0.
    pub index: u32,
    /// The item of the nearest forEach.
    pub item: Option<Value>,
    /// All its items, if [`crate::FunctionNeeds::items`] asks for them.
    pub items: Option<Value>,
    /// The result of the iteration before this one in the nearest loop; absent in the first.
    pub last: Option<Value>,
}

/// What a compensation is told of the step that it undoes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoContext {
    /// What the step returned, if it completed.
    pub result: Option<Value>,
    /// How it ended.
    pub outcome: UndoOutcome,
}

/// How a step that is undone had ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoOutcome {
    /// With a result.
    Completed,
    /// It timed out or was cut short: it may have acted or not.
    Unknown,
}

/// Which run a function works for, and which call of it this is.
#[derive(Clone, Debug)]
pub struct RunInfo {
    /// The run; absent only in a handler for input that was refused.
    pub run_id: Option<RunId>,
    /// The workflow's name.
    pub workflow: Arc<str>,
    /// The node.
    pub node: Path,
    /// The charged attempt, from 1.
    pub attempt: u32,
    /// The call, from 1.
    pub call: u32,
    /// The call's span, if its run is part of a trace.
    pub trace: Option<TraceParent>,
    /// The request that the function sends, if it does nothing else.
    pub http: HttpExchange,
}

impl CallContext {
    /// The engine, for a function that starts other runs, or asks for them; absent in a handler for input that was refused.
    /// What it asks for is taken while the engine stops, too.
    pub fn engine(&self) -> Option<Engine> {
        let StepsSource::Run { links, .. } = &self.steps.0 else { return None };
        links.engine.upgrade().map(Engine::of_step)
    }

    /// The largest result that is recorded, in bytes.
    pub fn payload_max(&self) -> usize {
        match &self.steps.0 {
            StepsSource::Run { links, .. } => links.payload_max,
            StepsSource::Fixed(_) => EngineLimits::default().payload_max,
        }
    }
}

impl RunInfo {
    /// An id for the nth thing of a kind that this node makes outside of its run: the same in every call of it.
    pub fn derived_id(&self, kind: &str, n: u32) -> String {
        let hash = Sha256::digest(format!("{}\0{kind}\0{n}", self.idempotency_key()));
        let bytes = std::array::from_fn(|at| hash[at]);
        uuid::Uuid::from_bytes(bytes).to_string()
    }

    /// The same for every call of this node in this run: pass it to services that deduplicate.
    pub fn idempotency_key(&self) -> String {
        match &self.run_id {
            Some(run) => format!("{run}/{}", self.node),
            None => format!("{}/{}", self.workflow, self.node),
        }
    }
}

/// A step as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepView {
    /// The node's id.
    pub name: String,
    /// What it returned; absent if it has not, or failed.
    pub result: Option<Value>,
    /// What it put into its state; an empty object if nothing.
    pub state: Value,
    /// Where it stands.
    pub status: NodeStatus,
}

/// Finds earlier steps by name.
#[derive(Clone)]
pub struct StepsReader(StepsSource);

/// Where a [`StepsReader`] looks.
#[derive(Clone)]
enum StepsSource {
    /// It asks the actor of a live run, so that nothing is copied for functions that do not ask.
    Run {
        links: Arc<RunLinks>,
        from: Path,
    },
    Fixed(Arc<[StepView]>),
}

impl StepsReader {
    /// The steps that a function at `from` sees.
    pub(crate) fn of_run(links: Arc<RunLinks>, from: Path) -> Self {
        Self(StepsSource::Run { links, from })
    }

    /// A reader over fixed steps, for tests and handlers.
    pub fn fixed(steps: Vec<StepView>) -> Self {
        Self(StepsSource::Fixed(steps.into()))
    }

    /// The step with this name: earlier in the same block, then in enclosing ones. `None` if no such step
    /// comes before.
    pub async fn get(&self, name: &str) -> Result<Option<StepView>, StepError> {
        match &self.0 {
            StepsSource::Run { links, from } => find_in_run(links, from, name).await,
            StepsSource::Fixed(steps) => Ok(steps.iter().find(|step| step.name == name).cloned()),
        }
    }

    /// The names of all steps that can be found: those before in the same block, in their order, then those of
    /// enclosing ones, nearest first.
    pub fn names(&self) -> Vec<String> {
        match &self.0 {
            StepsSource::Run { links, from } => {
                links.plan.visible_ids(from).into_iter().map(ToOwned::to_owned).collect()
            }
            StepsSource::Fixed(steps) => steps.iter().map(|step| step.name.clone()).collect(),
        }
    }
}

async fn find_in_run(links: &RunLinks, from: &Path, name: &str) -> Result<Option<StepView>, StepError> {
    let (answer, answered) = oneshot::channel();
    links.mailbox.send(ActorMessage::ReadStep { from: from.clone(), name: name.to_owned(), answer });
    let Ok(Some(mut step)) = answered.await else { return Ok(None) };
    let fetched = async { step.fetch(&*links.store.get()?, &links.run, links.payload_max).await };
    fetched.await.map_err(|error: ReadError| match error {
        ReadError::TooLarge { .. } => FailureRecord::new(code::TOO_LARGE, error.to_string()).stop(),
        other => FailureRecord::new(code::ERROR, other.to_string()).plain(),
    })?;
    Ok(Some(step.view()))
}

impl std::fmt::Debug for StepsReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StepsReader")
    }
}

/// A step's own state: an object that starts empty at each call and is recorded with its outcome.
///
/// Two keys have a meaning: `description` is shown to people, and `skipped: true` makes the step skipped.
#[derive(Clone, Debug, Default)]
pub struct StateCell(Arc<Mutex<Map<String, serde_json::Value>>>);

impl StateCell {
    /// Sets a key.
    pub fn set(&self, key: impl Into<String>, value: serde_json::Value) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.into(), value);
    }

    /// Puts this in the place of all keys.
    pub fn replace(&self, fields: Map<String, serde_json::Value>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = fields;
    }

    /// A key's value.
    pub fn get(&self, key: &str) -> Option<serde_json::Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Whether the step asked to be skipped.
    pub fn is_skipped(&self) -> bool {
        self.get("skipped") == Some(serde_json::Value::Bool(true))
    }

    /// What is to be recorded; `None` if nothing was set.
    pub fn to_value(&self) -> Option<Value> {
        let map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if map.is_empty() { None } else { Some(Value::from(serde_json::Value::Object(map.clone()))) }
    }
}

/// What an error handler is told.
#[derive(Clone, Debug)]
pub struct FailureContext {
    /// What went wrong.
    pub error: FailureRecord,
    /// Where.
    pub failed_step: FailedStep,
    /// The workflow around it.
    pub workflow_state: WorkflowState,
}

/// The step that failed.
#[derive(Clone, Debug)]
pub struct FailedStep {
    /// Its id in the workflow whose handler is told; `__input__` if the input was refused. If it is inside of a nested
    /// workflow, this is the nested workflow's node, and `path` leads to the step.
    pub step_name: String,
    /// Its whole path.
    pub path: Path,
    /// What it returned, if it did.
    pub result: Option<Value>,
    /// What it put into its state.
    pub state: Value,
    /// Where it stands.
    pub status: NodeStatus,
}

/// The workflow around a failure.
#[derive(Clone, Debug)]
pub struct WorkflowState {
    /// The run; absent if the input was refused and no run exists.
    pub run_id: Option<RunId>,
    /// The workflow's name.
    pub workflow_name: String,
    /// The input.
    pub input: Value,
    /// Earlier steps by name.
    pub steps: StepsReader,
    /// Where the run stands.
    pub status: rival_core::RunStatus,
}
