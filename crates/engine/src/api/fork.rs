//! Runs that go on from others: retry, fork, and the retry that a run does by itself.

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::sync::Arc;

use futures::future::BoxFuture;
use rival_core::event::EventKind;
use rival_core::fork::{self, HistoryReader};
use rival_core::joined::build;
use rival_core::machine::RunStart;
use rival_core::plan::is_system_workflow;
use rival_core::{Event, FailureRecord, NodeStatus, Path, RunId, RunState, RunStatus, Seq, Value};
use rival_store::{NewRun, RunRow, StoreError};
use serde::Serialize;

use crate::api::engine::Engine;
use crate::api::error::StartError;
use crate::api::handle::RunHandle;
use crate::api::start::{accept_input, fingerprint, run_id};
use crate::inspect::view::EventSource;
use crate::json;
use crate::registry::system::system_workflow;
use crate::registry::workflows::RegisteredWorkflow;
use crate::run::actor::Actor;
use crate::run::launch::{RunSpec, first_commit, launch};
use crate::run::load::{self, LoadError};
use crate::schedule::shared::EngineShared;

/// A new run about to be started from an old one: await it, or say more about it first. `O` is what it gives.
#[must_use = "a fork is started by awaiting it"]
#[derive(Debug)]
pub struct ForkRequest<O = Value> {
    engine: Engine,
    run: RunId,
    from: Option<Path>,
    input: Option<Result<Value, json::EncodeError>>,
    id: Option<String>,
    /// Only what failed or was cancelled.
    retry: bool,
    output: PhantomData<fn() -> O>,
}

impl<O> ForkRequest<O> {
    pub(crate) fn new(engine: Engine, run: RunId) -> Self {
        Self { engine, run, from: None, input: None, id: None, retry: false, output: PhantomData }
    }

    pub(crate) fn retry(engine: Engine, run: RunId) -> Self {
        Self { retry: true, ..Self::new(engine, run) }
    }

    /// The node that runs again, with everything after it: `charge`, `items[3]/charge`. Without it the new run goes on
    /// where the old one failed.
    pub fn from(mut self, node: impl AsRef<str>) -> Self {
        self.from = Some(Path::from(node.as_ref()));
        self
    }

    /// Another input than the old run had. Results that were recorded before the node are taken over all the same.
    pub fn input(mut self, input: &impl Serialize) -> Self {
        self.input = Some(json::encode(input));
        self
    }

    /// Names the new run. Asking for the same again under the same id gives the same run; anything else is
    /// [`StartError::Conflict`].
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Says who asks, see [`Engine::asked_by`].
    pub fn by(mut self, caller: impl Into<Arc<str>>) -> Self {
        self.engine = self.engine.asked_by(caller);
        self
    }

    /// What the new run will be called: the given id, or one that is made up now. After an error that does not tell
    /// whether the run was started, such as one of the store, asking again under this id is harmless.
    pub fn run_id(&mut self) -> &str {
        self.id.get_or_insert_with(|| uuid::Uuid::now_v7().to_string())
    }
}

impl<O: Send + 'static> IntoFuture for ForkRequest<O> {
    type Output = Result<RunHandle<O>, StartError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let engine = self.engine.clone();
            let (run, workflow, status) = start(self).await?;
            Ok(RunHandle::new(&engine, run, workflow, status))
        })
    }
}

impl<O> ForkRequest<O> {
    fn submitted(&self, workflow: &str) -> Result<Option<Value>, StartError> {
        let input = self.input.clone().transpose();
        input.map_err(|error| StartError::InputNotJson { workflow: workflow.to_owned(), error })
    }

    /// Names everything that makes this request, so that no other one is taken for it.
    fn fingerprint(&self, workflow: &str) -> Result<Vec<u8>, StartError> {
        let kind = if self.retry { "retry" } else { "fork" };
        let from = self.from.as_ref().map(Path::as_str);
        let input = self.submitted(workflow)?;
        let request = (kind, self.run.as_str(), from, input);
        let request = Value::encode(&request).expect("texts and JSON are JSON");
        // A name that no workflow has, so that no start is taken for it either.
        Ok(fingerprint(&format!("\0{workflow}"), &request))
    }

    /// The run that this request has led to before, if its id is given. What has changed since does not matter: the
    /// source may be gone, and the workflow another one.
    async fn known(&self, shared: &EngineShared) -> Result<Option<RunRow>, StartError> {
        let Some(id) = self.id.as_deref() else { return Ok(None) };
        let Some(row) = shared.store.get()?.run(&run_id(Some(id))?).await? else { return Ok(None) };
        if row.source.as_ref() == Some(&self.run) && row.fingerprint == self.fingerprint(&row.workflow)? {
            Ok(Some(row))
        } else {
            Err(StartError::Conflict(row.id))
        }
    }
}

async fn start<O>(request: ForkRequest<O>) -> Result<(RunId, String, RunStatus), StartError> {
    let shared = Arc::clone(&request.engine.shared);
    let _open = request.engine.take_request().ok_or(StartError::ShuttingDown)?;
    if let Some(row) = request.known(&shared).await? {
        return Ok((row.id, row.workflow, row.status));
    }
    let row = source(&shared, &request).await?;
    let mut registered = workflow_of(&shared, &row)?;
    check_point(&registered, &request, &row)?;
    let history = load::load_history(&*shared.store.get()?, &row.id).await.map_err(|error| match error {
        LoadError::Store(error) => StartError::Store(error),
        LoadError::Decode(error) => StartError::History { run: row.id.clone(), error },
        other => StartError::Store(StoreError::Damaged(other.to_string())),
    })?;
    let mut start = RunStart { by: request.engine.by(), ..start_of(&row.id, &history) };
    let submitted = request.submitted(&row.workflow)?;
    let fingerprint = request.fingerprint(&row.workflow)?;
    let state = RunState::of_whole_run(&history);
    loop {
        if let Some(input) = &submitted {
            start.input = accept_input(&shared, &registered, input).await?;
        }
        // The run that starts what another triggers is found by its id, whatever id a retry of it is asked for with.
        let run = match is_system_workflow(&row.workflow) {
            true => row.id.next_retry(),
            false => run_id(request.id.as_deref())?,
        };
        let Some(now) = shared.registry.created_at_for(&registered, shared.clock.now()) else {
            // Another definition has taken its place meanwhile.
            registered = workflow_of(&shared, &row)?;
            check_point(&registered, &request, &row)?;
            continue;
        };
        start.imports =
            fork::imports(&registered.plan, &state, &points(&request, &row, &state), &ForkHistory(&history));
        check_imports(&shared, &registered, &row, &start.imports).await?;
        let spec = RunSpec { id: run, start, fingerprint, tags: row.tags, created_at: now };
        let (run, status) = launch(&request.engine, registered, spec).await?;
        return Ok((run, row.workflow, status));
    }
}

/// The workflow that the new run takes.
fn workflow_of(shared: &EngineShared, row: &RunRow) -> Result<Arc<RegisteredWorkflow>, StartError> {
    match system_workflow(&row.workflow) {
        Some(system) => Ok(Arc::clone(system)),
        None => shared.registered(&row.workflow),
    }
}

/// The nodes that run again. In a run of Rival's own what failed softly is what a retry is for.
fn points<O>(request: &ForkRequest<O>, row: &RunRow, state: &RunState) -> Vec<Path> {
    let failed = || state.nodes.iter().filter(|(_, node)| node.soft && node.status() == NodeStatus::Failed);
    match &request.from {
        Some(node) => vec![node.clone()],
        None if is_system_workflow(&row.workflow) => failed().map(|(path, _)| path.clone()).collect(),
        None => Vec::new(),
    }
}

/// The run to go on from, if that can be done.
async fn source<O>(shared: &EngineShared, request: &ForkRequest<O>) -> Result<RunRow, StartError> {
    let run = &request.run;
    let row = shared.store.get()?.run(run).await?.ok_or_else(|| StartError::NotFound(run.clone()))?;
    let failed = matches!(row.status, RunStatus::Failed | RunStatus::Cancelled);
    if request.retry && !failed {
        return Err(StartError::NotRetryable { run: run.clone(), status: row.status });
    }
    if !row.status.is_terminal() {
        return Err(StartError::NotEnded { run: run.clone(), status: row.status });
    }
    if !failed && request.from.is_none() {
        return Err(StartError::NoForkPoint(run.clone()));
    }
    Ok(row)
}

fn check_point<O>(
    registered: &RegisteredWorkflow,
    request: &ForkRequest<O>,
    row: &RunRow,
) -> Result<(), StartError> {
    match &request.from {
        Some(node) if registered.plan.node(node).is_none() || node.as_iteration().is_some() => {
            Err(StartError::UnknownNode { workflow: row.workflow.clone(), node: node.clone() })
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses to take a recorded result for that of another node.
async fn check_imports(
    shared: &EngineShared,
    registered: &RegisteredWorkflow,
    row: &RunRow,
    imports: &[fork::ForkImport],
) -> Result<(), StartError> {
    let Some(old) = shared.plan(&row.workflow, &row.plan).await? else { return Ok(()) };
    if registered.is_plan(&old) {
        return Ok(());
    }
    match fork::mistaken(old.plan(), registered.plan.plan(), imports) {
        Some(node) => Err(StartError::NodeChanged { run: row.id.clone(), node }),
        None => Ok(()),
    }
}

/// What a run that goes on from another begins with, but for what it takes over.
fn start_of(run: &RunId, history: &[Event]) -> RunStart {
    let first = history.first();
    let mut start = RunStart::new(first.and_then(|event| event.kind.value().cloned()).unwrap_or_default());
    // As long as the run itself had, from the plan or the request.
    start.timeout_ms = first.and_then(|event| {
        let EventKind::RunStarted { deadline, .. } = &event.kind else { return None };
        deadline.map(|deadline| deadline.ms_since(event.at))
    });
    start.source = Some(run.clone());
    start.trigger = first.and_then(|event| {
        let EventKind::RunStarted { trigger, .. } = &event.kind else { return None };
        trigger.clone()
    });
    start
}

/// The run that retries a failed one by itself; it is queued in the same commit that ends the failed one. `last` are
/// the events of that commit.
pub(crate) async fn automatic_retry(actor: &Actor, id: &RunId, last: &[Event]) -> Result<NewRun, LoadError> {
    let shared = &actor.shared;
    let mut history = load::load_history(&*shared.store.get()?, &actor.links.run).await?;
    history.extend_from_slice(last);
    let tags = shared.store.get()?.run(&actor.links.run).await?.map_or_else(Vec::new, |row| row.tags);
    let mut start = start_of(&actor.links.run, &history);
    start.max_retries = actor.state.retries_left.checked_sub(1);
    // Callers that wait for the run wait for its retry.
    start.parent.clone_from(&actor.state.parent);
    let state = RunState::of_whole_run(&history);
    start.imports = fork::imports(&actor.links.plan, &state, &[], &ForkHistory(&history));
    let fingerprint = fingerprint(&actor.state.workflow, &start.input);
    let spec = RunSpec { id: id.clone(), start, fingerprint, tags, created_at: shared.clock.now() };
    let (retry, _, _) = first_commit(shared.id, &actor.links.plan, spec, false);
    Ok(retry)
}

/// A whole history, read by event.
struct ForkHistory<'a>(&'a [Event]);

impl HistoryReader for ForkHistory<'_> {
    fn value(&self, seq: Seq) -> Option<Value> {
        build(self.0.event(seq)?, &|seq| self.0.event(seq))
    }

    fn state(&self, seq: Seq) -> Option<Value> {
        self.0.event(seq)?.kind.state().cloned()
    }

    fn failure(&self, seq: Seq) -> Option<FailureRecord> {
        self.0.event(seq)?.kind.failure().cloned()
    }
}
