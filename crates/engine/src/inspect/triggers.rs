//! What a completed run triggers: what it left for that, and what became of it.

use std::collections::BTreeMap;

use rival_core::event::EventKind;
use rival_core::failure::code;
use rival_core::joined::parts_of;
use rival_core::plan::{TRIGGERS_WORKFLOW, Trigger};
use rival_core::view::{RunView, TriggerStatus, TriggerView, TriggersView};
use rival_core::{Event, FailureRecord, NodeStatus, RunId, RunState, RunStatus, Seq, StepError, Value};
use rival_store::{Page, RunFilter, RunRow, StoreError};
use serde::Deserialize;

use crate::api::engine::Engine;
use crate::api::error::{RunError, StartError};
use crate::api::handle::RunHandle;
use crate::call::values::{ReadError, load_event, load_joined};
use crate::inspect::view::EventSource;
use crate::registry::bound_plan::BoundPlan;
use crate::registry::system::trigger_node;
use crate::registry::trigger_builtin::TriggerResult;
use crate::run::load::{self, LoadError};
use rival_core::joined::build;
use std::sync::Arc;

/// How many runs are looked at to name a chain: the way back to a child's parent counts, too.
const CHAIN_LOOK: usize = 100;

/// Why a completed run cannot be read.
pub(crate) enum SourceError {
    /// It is gone.
    Gone(RunId),
    /// The store fails, now or for good.
    Store(StoreError),
    /// Its output is more than a value may be.
    TooLarge(String),
}

impl From<StoreError> for SourceError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<LoadError> for SourceError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Store(error) => Self::Store(error),
            other => Self::Store(StoreError::Damaged(other.to_string())),
        }
    }
}

impl From<ReadError> for SourceError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Store(error) => Self::Store(error),
            error @ ReadError::TooLarge { .. } => Self::TooLarge(error.to_string()),
            other => Self::Store(StoreError::Damaged(other.to_string())),
        }
    }
}

impl SourceError {
    /// The failure of the step that reads it: tried again if that may help.
    pub(crate) fn into_step_error(self) -> StepError {
        match self {
            Self::Gone(run) => {
                FailureRecord::new("run_not_found", format!("run `{run}` is no longer in the store")).stop()
            }
            Self::Store(error) => FailureRecord::new(error.code(), error.to_string()).plain(),
            Self::TooLarge(message) => FailureRecord::new(code::TOO_LARGE, message).stop(),
        }
    }
}

/// A completed run that has triggers.
pub(crate) struct SourceRun {
    row: RunRow,
    plan: Arc<BoundPlan>,
    values: BTreeMap<&'static str, Value>,
}

impl SourceRun {
    pub(crate) async fn read(engine: &Engine, run: &RunId) -> Result<Self, SourceError> {
        let shared = &engine.shared;
        let row = shared.store.get()?.run(run).await?.ok_or_else(|| SourceError::Gone(run.clone()))?;
        let plan = shared.plan(&row.workflow, &row.plan).await?;
        let missing = || StoreError::Damaged(format!("the plan of run `{run}` is not in the store"));
        Ok(Self { plan: plan.ok_or_else(missing)?, row, values: BTreeMap::new() })
    }

    pub(crate) fn id(&self) -> &RunId {
        &self.row.id
    }

    pub(crate) fn trigger(&self, index: u32) -> Option<Trigger> {
        self.plan.plan().triggers.get(usize::try_from(index).ok()?).cloned()
    }

    /// Reads those of the named values that are the run's.
    pub(crate) async fn load(&mut self, engine: &Engine, names: &[String]) -> Result<(), SourceError> {
        let wants = |name: &str| names.iter().any(|wanted| wanted == name);
        if wants("input") {
            let first = first_event(engine, self.id()).await?;
            self.values.insert("input", first.kind.value().cloned().unwrap_or_default());
        }
        if wants("output") {
            let output = self.output(engine).await?;
            self.values.insert("output", output);
        }
        Ok(())
    }

    /// `output` or `input`, if it was read.
    pub(crate) fn value(&self, name: &str) -> Option<Value> {
        self.values.get(name).cloned()
    }

    async fn output(&self, engine: &Engine) -> Result<Value, SourceError> {
        let store = engine.shared.store.get()?;
        let run = self.id();
        let (state, _) = load::load_state(&*store, run, &self.row.plan).await?;
        let Some(seq) = state.end.and_then(|end| end.output) else { return Ok(Value::null()) };
        let event = load_event(&*store, run, seq).await?;
        if parts_of(&event.kind).is_some() {
            let limit = engine.shared.limits.payload_max;
            return Ok(load_joined(&*store, run, &event, limit, &|_| None).await?);
        }
        Ok(event.kind.value().cloned().unwrap_or_default())
    }

    /// How many runs came before it in the chain of triggers. A child is where its parent is: otherwise a chain that goes
    /// through children would have no end.
    pub(crate) async fn depth(&self, engine: &Engine) -> Result<u32, SourceError> {
        let mut run = self.id().clone();
        for _ in 0..CHAIN_LOOK {
            let first = match first_event(engine, &run).await {
                Err(SourceError::Gone(_)) => return Ok(0),
                first => first?,
            };
            match first.kind {
                EventKind::RunStarted { trigger: Some(trigger), .. } => return Ok(trigger.depth),
                EventKind::RunStarted { parent: Some(parent), .. } => run = parent,
                _ => return Ok(0),
            }
        }
        Ok(0)
    }

    /// The runs of the chain, the first one first, as people read them.
    pub(crate) async fn chain(&self, engine: &Engine) -> Vec<String> {
        let mut chain = Vec::new();
        let mut next = Some(self.id().clone());
        while let Some(run) = next.take().filter(|_| chain.len() < CHAIN_LOOK) {
            let Ok(first) = first_event(engine, &run).await else {
                chain.push(format!("a run `{run}` that is gone"));
                break;
            };
            if let EventKind::RunStarted { workflow, trigger, parent, .. } = first.kind {
                chain.push(format!("`{workflow}` ({run})"));
                next = trigger.map(|trigger| trigger.run).or(parent);
            }
        }
        chain.reverse();
        chain
    }
}

async fn first_event(engine: &Engine, run: &RunId) -> Result<Event, SourceError> {
    let store = engine.shared.store.get()?;
    let events = load::load_events(&*store, run, Seq::ZERO, 1).await?;
    events.into_iter().next().ok_or_else(|| SourceError::Gone(run.clone()))
}

impl Engine {
    /// What a completed run triggered, and what became of it. `None` for a run that triggers nothing, or has not completed.
    pub async fn triggers(&self, run: &RunId) -> Result<Option<TriggersView>, RunError> {
        let row = self.row(run).await?;
        if row.status != RunStatus::Completed {
            return Ok(None);
        }
        let plan = self.indexed_plan(&row).await?;
        self.triggers_of(run, &plan).await
    }

    /// The same for a run that has completed.
    async fn triggers_of(&self, run: &RunId, plan: &BoundPlan) -> Result<Option<TriggersView>, RunError> {
        let triggers = &plan.plan().triggers;
        if triggers.is_empty() {
            return Ok(None);
        }
        // One whose run is gone, or that came from another store without it, is not known.
        let Some(last) = self.last_trigger_run(run).await? else { return Ok(None) };
        let (history, state) = self.folded(&last.id).await?;
        Ok(Some(triggers_view(&last, triggers, &state, &history)))
    }

    /// Adds what became of its triggers to what is shown of a run.
    pub(crate) async fn with_triggers(&self, view: RunView, plan: &BoundPlan) -> Result<RunView, RunError> {
        if view.status != RunStatus::Completed {
            return Ok(view);
        }
        let Some(it) = self.triggers_of(&view.run_id, plan).await? else { return Ok(view) };
        let (trigger_run, trigger_status) = (Some(it.run), Some(it.status));
        Ok(RunView { trigger_run, trigger_status, triggers: it.triggers, ..view })
    }

    /// Does those triggers of a completed run again that have failed, in a new run, which is given. What was started stays,
    /// and is not started again.
    pub async fn retry_triggers(&self, run: &RunId) -> Result<RunHandle, StartError> {
        let last = self.last_trigger_run(run).await?.ok_or_else(|| StartError::NotFound(run.triggers()))?;
        self.retry(&last.id).await
    }

    /// The run that starts what a run triggers: the latest, if it was retried.
    async fn last_trigger_run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        let filter = RunFilter {
            id_prefix: Some(run.triggers().as_str().to_owned()),
            workflow: Some(TRIGGERS_WORKFLOW.to_owned()),
            ..RunFilter::default()
        };
        Ok(self.shared.store.get()?.runs(&filter, &Page { before: None, limit: 1 }).await?.pop())
    }
}

fn triggers_view(row: &RunRow, triggers: &[Trigger], state: &RunState, history: &[Event]) -> TriggersView {
    let triggers: Vec<TriggerView> =
        (0..).zip(triggers).map(|(index, trigger)| trigger_view(index, trigger, state, history)).collect();
    let status = match row.status {
        RunStatus::Completed if triggers.iter().all(|it| it.status == TriggerStatus::Skipped) => {
            TriggerStatus::Skipped
        }
        RunStatus::Completed => TriggerStatus::Triggered,
        RunStatus::Failed | RunStatus::Cancelled => TriggerStatus::Failed,
        RunStatus::Queued
        | RunStatus::Running
        | RunStatus::Waiting
        | RunStatus::Paused
        | RunStatus::Blocked
        | RunStatus::Cancelling
        | RunStatus::Compensating => TriggerStatus::Pending,
    };
    TriggersView { run: row.id.clone(), status, triggers }
}

/// What a trigger that failed says in its state of what it has started.
#[derive(Default, Deserialize)]
struct StartedSoFar {
    #[serde(default)]
    started: usize,
    #[serde(default)]
    runs: Vec<RunId>,
}

fn trigger_view(index: u32, trigger: &Trigger, state: &RunState, history: &[Event]) -> TriggerView {
    let event = |seq: Seq| history.event(seq);
    let mut view = TriggerView {
        index,
        workflow: trigger.workflow.clone(),
        status: TriggerStatus::Pending,
        started: 0,
        runs: Vec::new(),
        skipped_items: 0,
        reason: None,
    };
    let node = state.node(&trigger_node(index));
    let result = node.and_then(|node| node.result).and_then(|seq| build(event(seq)?, &event));
    if let Some(result) = result.and_then(|result| result.decode::<TriggerResult>().ok()) {
        view.status = result.status;
        (view.started, view.runs, view.skipped_items) = (result.started, result.runs, result.skipped_items);
        let missing =
            |value: String| FailureRecord::new(code::MISSING_REF, format!("`{value}` is not there"));
        view.reason = result.missing.map(missing);
        return view;
    }
    let failure = node.filter(|node| node.status() == NodeStatus::Failed).and_then(|node| node.failure);
    let failure = failure.and_then(|seq| event(seq)?.kind.failure().cloned());
    let never = || FailureRecord::new(code::CANCELLED, "it was not done: the run that does it has ended");
    view.reason = failure.or_else(|| state.is_terminal().then(never));
    if view.reason.is_some() {
        view.status = TriggerStatus::Failed;
    }
    let held = node.and_then(|node| node.state).and_then(|seq| event(seq)?.kind.state().cloned());
    let so_far = held.and_then(|held| held.decode::<StartedSoFar>().ok()).unwrap_or_default();
    (view.started, view.runs) = (so_far.started, so_far.runs);
    view
}
