//! The engine: the one thing that users hold.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::stream::{self, BoxStream, StreamExt};
use rival_core::view::{RunOutcome, RunView, SourceProblem};
use rival_core::{Event, Plan, PlanHash, RunId, RunState, RunStatus, Seq, Value};
use rival_store::{GivenStore, LogFilter, LogLine, Page, RunFilter, RunRow, StoreError};
use serde::Serialize;

use crate::api::control::{self, RunCommand};
use crate::api::error::{self, EngineError, RegisterError, RunError, StartError, Violation};
use crate::api::fork::ForkRequest;
use crate::api::handle::RunHandle;
use crate::api::observer::{Observer, ServedRequest};
use crate::api::signal::SignalRequest;
use crate::api::start::{RunRequest, RunTarget};
use crate::call::panics;
use crate::call::values::ReadValues;
use crate::inspect::bounded::{self, ValueBudget, ValueLimits};
use crate::inspect::explain;
use crate::inspect::view::{self, OutcomeSource};
use crate::json;
use crate::registry::bound_plan::BoundPlan;
use crate::registry::builtins::{BuiltinSet, Builtins};
use crate::registry::definition::{CheckError, Definition};
use crate::registry::generations::GenerationSpan;
use crate::registry::origin::WorkflowOrigin;
use crate::registry::resources::ResourceMap;
use crate::registry::workflows::RegisteredWorkflow;
use crate::run::load::{self, LoadError};
use crate::run::mailbox::ActorMessage;
use crate::schedule::clock::Clock;
use crate::schedule::in_flight::InFlightGuard;
use crate::schedule::scheduler;
use crate::schedule::shared::{EngineHold, EngineLimits, EngineShared};
use crate::schedule::waiters::{EndWaiter, RunWatch};

/// How long [`Engine::wait`] waits.
pub const WAIT_DEFAULT: Duration = Duration::from_secs(300);

/// How often an engine that stops looks for runs that became live meanwhile.
const DRAIN_LOOK: Duration = Duration::from_millis(10);

/// Runs workflows. Cheap to clone; all clones are the same engine.
///
/// With the last clone the engine stops, as in a crash: calls at work are dropped and made again by the next engine.
/// Handles of runs do not keep it. [`Engine::shutdown`] stops in order.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<EngineShared>,
    /// Not in handles and streams, which do not keep an engine going.
    hold: Option<Arc<EngineHold>>,
    /// A step asks. Requests of steps are taken while the engine stops, too: it waits for its steps.
    is_of_step: bool,
    /// Who asks.
    by: Option<Arc<str>>,
}

/// An engine that it does not keep alive: for what an engine holds, and that asks it for something.
#[derive(Clone)]
pub struct WeakEngine {
    shared: Weak<EngineShared>,
    hold: Weak<EngineHold>,
}

impl WeakEngine {
    /// The engine, if it has not stopped because nothing holds it any more.
    pub fn upgrade(&self) -> Option<Engine> {
        Some(Engine {
            shared: self.shared.upgrade()?,
            hold: Some(self.hold.upgrade()?),
            is_of_step: false,
            by: None,
        })
    }
}

impl fmt::Debug for WeakEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakEngine")
    }
}

/// A registered workflow, for lists and launch forms.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowInfo {
    /// Its name.
    pub name: String,
    /// One line for people.
    pub description: Option<String>,
    /// JSON Schema of its input.
    pub input_schema: Option<serde_json::Value>,
    /// JSON Schemas of the signals that its nodes wait for, by name.
    pub signal_schemas: BTreeMap<String, serde_json::Value>,
    /// How many steps it has.
    pub step_count: usize,
    /// The hash of its plan.
    pub plan_hash: String,
    /// What it is written in, and where.
    #[serde(skip)]
    pub origin: WorkflowOrigin,
    /// Its structure.
    pub plan: Plan,
}

/// Puts an engine together. Everything has a default; without a store, runs live in memory only.
#[derive(Default)]
pub struct EngineBuilder {
    store: GivenStore,
    clock: Clock,
    limits: EngineLimits,
    resources: ResourceMap,
    workflows: Vec<Definition>,
    observers: Vec<Arc<dyn Observer>>,
    builtins: Vec<Arc<dyn Builtins>>,
}

impl EngineBuilder {
    /// Where runs live. A store that is given itself is the engine's alone, and is closed when the engine stops. One
    /// that is given in an [`Arc`] may be used elsewhere too, and is open as long as anything holds it.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use rival_engine::Engine;
    /// use rival_engine::store::MemoryStore;
    ///
    /// let alone = Engine::builder().store(MemoryStore::default());
    /// let shared = Arc::new(MemoryStore::default());
    /// let both = [Engine::builder().store(shared.clone()), Engine::builder().store(shared)];
    /// ```
    #[must_use]
    pub fn store(mut self, store: impl Into<GivenStore>) -> Self {
        self.store = store.into();
        self
    }

    /// A workflow to register.
    #[must_use]
    pub fn workflow(mut self, workflow: impl Into<Definition>) -> Self {
        self.workflows.push(workflow.into());
        self
    }

    /// Something that steps ask for with `Res<T>`: a `T`, or an `Arc<T>`.
    #[must_use]
    pub fn provide<T: Send + Sync + 'static>(mut self, resource: T) -> Self {
        self.resources.insert(resource);
        self
    }

    /// How many runs may be in memory at a time (1,000 by default). Runs beyond it are queued; runs that
    /// only wait do not count.
    #[must_use]
    pub fn max_live_runs(mut self, runs: usize) -> Self {
        self.limits.live_max = runs.max(1);
        self
    }

    /// The largest input or result in bytes (16 MiB by default).
    #[must_use]
    pub fn max_payload_bytes(mut self, bytes: usize) -> Self {
        self.limits.payload_max = bytes;
        self
    }

    /// Looks and asks, but runs nothing: for tools on a store that no engine has open. New runs are queued and
    /// requests are kept; the next engine acts on them.
    #[must_use]
    pub fn passive(mut self) -> Self {
        self.limits.passive = true;
        self
    }

    /// Lets runs that are under way call the functions of their workflow's newest definition, from their next call on,
    /// where it has them: for developers, who mend what fails. Runs keep their plan.
    #[must_use]
    pub fn newest_functions(mut self) -> Self {
        self.limits.newest_functions = true;
        self
    }

    /// Adds an observer that hears of everything from the engine's start: also of what becomes of runs that were under
    /// way.
    #[must_use]
    pub fn observe(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Adds built-in functions: those that plans refer to with their data. The engine's own are `value` and `moment`.
    #[must_use]
    pub fn builtins(mut self, builtins: Arc<dyn Builtins>) -> Self {
        self.builtins.push(builtins);
        self
    }

    /// Where the engine's time comes from.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Registers the workflows and starts the engine; runs that were under way go on.
    pub async fn build(self) -> Result<Engine, EngineError> {
        let engine = self.prepare().await?;
        engine.begin().await;
        Ok(engine)
    }

    /// The same, but runs that were under way go on only after [`Engine::begin`]: for workflows that are registered with
    /// the engine itself, such as those in files, before their runs are looked for.
    pub async fn prepare(self) -> Result<Engine, EngineError> {
        panics::note_places();
        let builtins = BuiltinSet::new(self.builtins)?;
        let id = self.store.store.join().await?;
        let resources = Arc::new(self.resources);
        let shared = EngineShared::new(self.store, id, self.clock, self.limits, resources, builtins);
        let shared = Arc::new(shared);
        shared.siblings.join(&shared);
        let engine = Engine { hold: Some(EngineHold::on(&shared)), shared, is_of_step: false, by: None };
        self.observers.into_iter().for_each(|observer| engine.observe(observer));
        for workflow in self.workflows {
            engine.add(workflow).await?;
        }
        Ok(engine)
    }
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder").field("workflows", &self.workflows).finish_non_exhaustive()
    }
}

impl Engine {
    /// Puts an engine together.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Takes up the runs that were under way, once; [`EngineBuilder::build`] has done it.
    pub async fn begin(&self) {
        if self.shared.limits.passive || self.shared.begin() {
            return;
        }
        self.shared.scheduler.run_queued();
        // What was missing may have come with this start. Workflows that are registered have woken their runs.
        if let Err(error) = self.wake_for_builtins().await {
            tracing::warn!(%error, "the store cannot be asked for blocked runs yet");
        }
        // Runs that are queued in the store come first. Only then is it known that new runs need not queue behind them.
        if let Err(error) = scheduler::scan_in_task(&self.shared).await {
            tracing::warn!(%error, "the store cannot be asked for due runs yet");
        }
        let scheduler = tokio::spawn(scheduler::run_scheduler(Arc::clone(&self.shared)));
        *self.shared.scheduler_task() = Some(scheduler);
    }

    /// The engine, without keeping it alive.
    pub fn downgrade(&self) -> WeakEngine {
        let hold = self.hold.as_ref().map_or_else(Weak::new, Arc::downgrade);
        WeakEngine { shared: Arc::downgrade(&self.shared), hold }
    }

    /// The engine, for a handle or a stream: one that can be asked, and is not kept going by it.
    pub(crate) fn unheld(&self) -> Self {
        Self { hold: None, ..self.clone() }
    }

    /// The engine, as a step of its runs asks it.
    pub(crate) fn of_step(shared: Arc<EngineShared>) -> Self {
        Self { shared, hold: None, is_of_step: true, by: None }
    }

    /// The same engine, for a caller with this name: that of a token, or of a user. What it asks of runs (to start, cancel,
    /// pause, resume, signal, retry, fork) says so in their histories, and so does what is asked through handles that it
    /// gives. It has at most 256 bytes; an empty one is none.
    #[must_use]
    pub fn asked_by(&self, caller: impl Into<Arc<str>>) -> Self {
        Self { by: Some(caller.into()).filter(|caller| !caller.is_empty()), ..self.clone() }
    }

    /// Who asks.
    pub(crate) fn by(&self) -> Option<String> {
        self.by.as_deref().map(str::to_owned)
    }

    /// Whether a request is refused because the engine stops.
    pub(crate) fn refuses_requests(&self) -> bool {
        self.shared.is_stopping() && !self.is_of_step
    }

    /// A request begins, if the engine takes any: the engine is open until the guard is dropped. Counted first, looked
    /// second: an engine that stops waits for this request, or the request sees that it stops.
    pub(crate) fn take_request(&self) -> Option<InFlightGuard<'_>> {
        let busy = self.shared.in_flight.busy();
        (!self.refuses_requests()).then_some(busy)
    }

    /// Says whether a definition can be registered under a name that is free, and registers nothing.
    pub fn check(&self, workflow: impl Into<Definition>) -> Result<(), RegisterError> {
        let shared = &self.shared;
        RegisteredWorkflow::new(workflow.into(), &shared.resources, &shared.builtins).map(drop)
    }

    /// Registers a workflow. Runs that were blocked because it was missing go on.
    pub async fn register(&self, workflow: impl Into<Definition>) -> Result<(), RegisterError> {
        self.add(workflow.into()).await
    }

    async fn add(&self, definition: Definition) -> Result<(), RegisterError> {
        let name = definition.plan.workflow.clone();
        if self.shared.registry.contains(&name) {
            return Err(RegisterError::Duplicate(name));
        }
        let registered = self.prepare(definition).await?;
        self.shared.registry.insert(registered, self.shared.clock.now())?;
        self.wake_blocked(&name).await
    }

    /// Registers a workflow, in the place of the one that has its name, if there is one. New runs, also children and
    /// forks, take the new definition; runs that have begun keep the functions that they began with until the process
    /// ends, unless the engine was built with [`EngineBuilder::newest_functions`].
    pub async fn replace(&self, workflow: impl Into<Definition>) -> Result<(), RegisterError> {
        let registered = self.prepare(workflow.into()).await?;
        let name = Arc::clone(&registered.name);
        self.shared.registry.replace(registered, self.shared.clock.now());
        self.forget_old(&name).await?;
        self.wake_blocked(&name).await
    }

    /// Takes a workflow away: it is not listed any more, and no run of it can be started. Runs that have begun go on.
    /// Gives whether it was there.
    pub async fn retire(&self, workflow: &str) -> Result<bool, RegisterError> {
        let was_there = self.shared.registry.retire(workflow, self.shared.clock.now());
        self.forget_old(workflow).await?;
        Ok(was_there)
    }

    /// Checks a definition, and makes its plan durable: runs refer to it.
    async fn prepare(&self, definition: Definition) -> Result<Arc<RegisteredWorkflow>, RegisterError> {
        let registered = RegisteredWorkflow::new(definition, &self.shared.resources, &self.shared.builtins)?;
        let (hash, plan) = (registered.plan.hash(), registered.plan.plan().to_json());
        match self.shared.store.get()?.put_plan(hash, &plan).await {
            // A full disk must not stop an engine from reading: no run is started with the plan before it is durable.
            Err(error) if error.is_retryable() => {
                tracing::warn!(workflow = %registered.name, %error, "its plan cannot be kept yet");
                self.shared.unsaved.add(hash.clone(), plan);
            }
            kept => kept?,
        }
        Ok(Arc::new(registered))
    }

    async fn wake_blocked(&self, workflow: &str) -> Result<(), RegisterError> {
        if self.shared.store.get()?.wake_blocked(workflow, self.shared.clock.now()).await? > 0 {
            self.shared.scheduler.rescan();
        }
        Ok(())
    }

    /// Forgets earlier definitions that no unfinished run was begun with.
    async fn forget_old(&self, workflow: &str) -> Result<(), RegisterError> {
        let unfinished = RunStatus::unfinished();
        let statuses: Vec<RunStatus> = unfinished.collect();
        for GenerationSpan { from, until } in self.shared.registry.unheld(workflow) {
            let filter = RunFilter {
                workflow: Some(workflow.to_owned()),
                statuses: statuses.clone(),
                created_from: from,
                created_to: Some(until),
                ..RunFilter::default()
            };
            if self.shared.store.get()?.runs(&filter, &Page { before: None, limit: 1 }).await?.is_empty() {
                self.shared.registry.forget(workflow, until);
            }
        }
        Ok(())
    }

    /// Says what is wrong now with the files that workflows come from, instead of what `source` said before.
    pub fn set_problems(&self, source: impl Into<String>, problems: Vec<SourceProblem>) {
        self.shared.problems.set(source.into(), problems);
    }

    /// What is wrong with the files that workflows come from; those are not registered, or not as the files are now.
    pub fn problems(&self) -> Vec<SourceProblem> {
        self.shared.problems.all()
    }

    /// The registered workflows.
    pub fn list(&self) -> Vec<WorkflowInfo> {
        self.shared.registry.all().iter().map(|registered| info(registered)).collect()
    }

    /// A registered workflow.
    pub fn workflow(&self, name: &str) -> Result<WorkflowInfo, StartError> {
        Ok(info(&*self.registered(name)?))
    }

    fn registered(&self, name: &str) -> Result<Arc<RegisteredWorkflow>, StartError> {
        self.shared.registered(name)
    }

    /// Everything that is wrong with an input for a run of a workflow.
    pub async fn check_input(&self, workflow: &str, input: &Value) -> Result<Vec<Violation>, StartError> {
        match self.registered(workflow)?.accept(input.clone()).await {
            Ok(_) => Ok(Vec::new()),
            Err(CheckError::Refused(violations)) => Ok(violations),
            Err(CheckError::Unavailable(message)) => {
                Err(StartError::CheckUnavailable { workflow: workflow.to_owned(), message })
            }
        }
    }

    /// The hashes of all plans that a workflow has had in this store, the oldest first.
    pub async fn versions(&self, workflow: &str) -> Result<Vec<PlanHash>, RunError> {
        #[derive(serde::Deserialize)]
        struct Named {
            workflow: String,
        }
        let named =
            |json: &str| serde_json::from_str::<Named>(json).is_ok_and(|plan| plan.workflow == workflow);
        let plans = self.shared.store.get()?.plans().await?.into_iter();
        Ok(plans.filter(|(_, json)| named(json)).map(|(hash, _)| hash).collect())
    }

    /// Adds an observer, which hears of what happens from now on.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        self.shared.observers.add(observer);
    }

    /// Whether an observer writes traces.
    pub fn is_traced(&self) -> bool {
        self.shared.observers.traces()
    }

    /// Tells observers of a request that a server in front of this engine has answered.
    pub fn observe_request(&self, request: &ServedRequest<'_>) {
        self.shared.observers.tell(|observer| observer.served(request));
    }

    /// Starts a run: `engine.run(&workflow, input).await`, or with more to say,
    /// `engine.run("order", input).id("order-7").await`. It returns as soon as the start is durable.
    #[expect(clippy::needless_pass_by_value, reason = "`run(&workflow, input)` is how it reads best")]
    pub fn run<I: Serialize, T: RunTarget<I>>(&self, workflow: T, input: I) -> RunRequest<T::Output> {
        RunRequest {
            engine: self.clone(),
            workflow: workflow.workflow().to_owned(),
            input: json::encode(&input),
            id: None,
            tags: Vec::new(),
            timeout: None,
            max_retries: None,
            trace: None,
            trigger: None,
            output: PhantomData,
        }
    }

    /// A handle for a run that exists; its output is typed with `.of(&workflow)?`, see [`RunHandle::of`].
    pub async fn handle(&self, run: impl Into<RunId>) -> Result<RunHandle, RunError> {
        let row = self.row(&run.into()).await?;
        Ok(RunHandle::new(self, row.id, row.workflow, row.status))
    }

    /// Waits for a run's end, up to five minutes.
    pub async fn wait(&self, run: &RunId) -> Result<RunOutcome, RunError> {
        self.wait_for(run, WAIT_DEFAULT).await
    }

    /// Waits for a run's end, up to a time of your own. The run goes on whether it is waited for or not.
    pub async fn wait_for(&self, run: &RunId, timeout: Duration) -> Result<RunOutcome, RunError> {
        match self.wait_for_end(run, timeout).await? {
            Some(outcome) => Ok(Arc::unwrap_or_clone(outcome)),
            None => self.outcome(run).await,
        }
    }

    /// How a run ended, in an answer of bounded size: the output is whole, and what steps left is left out where it is
    /// too large, as in [`Engine::overview`].
    pub async fn outcome_within(&self, run: &RunId, limits: ValueLimits) -> Result<RunOutcome, RunError> {
        self.outcome_with(run, &mut ValueBudget::new(run, limits)).await
    }

    /// Waits for a run's end; gives its outcome if that is at hand, and so small.
    pub async fn wait_for_end(
        &self,
        run: &RunId,
        timeout: Duration,
    ) -> Result<Option<Arc<RunOutcome>>, RunError> {
        let mut waiter = EndWaiter::new(&self.shared, run);
        // Registered first, looked second: an end between the two is not missed.
        if self.shared.mailbox(run).is_none() && self.row(run).await?.status.is_terminal() {
            return Ok(None);
        }
        match tokio::time::timeout(timeout, &mut waiter.notice).await {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(_)) => Err(RunError::ShuttingDown),
            // Apart, because it is large and thousands of callers may wait above.
            Err(_) => Err(Box::pin(self.still_not_ended(run, timeout)).await),
        }
    }

    /// Why a run has not ended in time.
    async fn still_not_ended(&self, run: &RunId, timeout: Duration) -> RunError {
        let looked = async {
            let row = self.row(run).await?;
            let explanation = self.explain(run).await?.replace(&format!("run `{run}` "), "");
            let (run, ms) = (run.clone(), timeout.as_millis());
            Ok(RunError::WaitTimeout { run, workflow: row.workflow, status: row.status, ms, explanation })
        };
        looked.await.unwrap_or_else(|error| error)
    }

    /// Asks a run to stop. Calls at work are told and given 30 seconds; nothing new starts. Gives the run's
    /// status once the request is in its history. Cancelling a cancelled run does nothing; a completed or
    /// failed one is an error.
    pub async fn cancel(&self, run: &RunId, reason: impl Into<String>) -> Result<RunStatus, RunError> {
        let reason = Some(reason.into()).filter(|reason| !reason.is_empty());
        match control::command(self, run, RunCommand::Cancel { reason, by: self.by() }, None).await {
            Err(RunError::Finished { status: RunStatus::Cancelled, .. }) => Ok(RunStatus::Cancelled),
            // The run ended before it saw the request, or its end was decided: say how.
            Ok(status @ (RunStatus::Completed | RunStatus::Failed)) => {
                Err(RunError::Finished { run: run.clone(), status })
            }
            other => other,
        }
    }

    /// Ends a run at once: calls at work are left behind, and nothing is undone. Gives the run's status. It works on
    /// runs that cannot be loaded too. Killing a cancelled run does nothing; a completed or failed one is an error.
    pub async fn kill(&self, run: &RunId, reason: impl Into<String>) -> Result<RunStatus, RunError> {
        let reason = Some(reason.into()).filter(|reason| !reason.is_empty());
        match control::command(self, run, RunCommand::Kill { reason, by: self.by() }, None).await {
            Err(RunError::Finished { status: RunStatus::Cancelled, .. }) => Ok(RunStatus::Cancelled),
            other => other,
        }
    }

    /// Holds a run: calls at work finish and are recorded, nothing new starts.
    pub async fn pause(&self, run: &RunId) -> Result<RunStatus, RunError> {
        control::command(self, run, RunCommand::Pause { by: self.by() }, None).await
    }

    /// Lets a paused or blocked run go on.
    pub async fn resume(&self, run: &RunId) -> Result<RunStatus, RunError> {
        control::command(self, run, RunCommand::Resume { by: self.by() }, None).await
    }

    /// Sends a run a signal: `engine.signal(&run, "approval", payload).await`, with `.id("..")` so that sending it
    /// again does nothing. Gives the run's status once the signal is in its history. A signal that no step waits for
    /// yet is kept; for a run that has ended it is an error.
    pub fn signal(&self, run: &RunId, name: impl Into<String>, payload: impl Serialize) -> SignalRequest {
        SignalRequest::new(self.clone(), run.clone(), name.into(), &payload)
    }

    /// Starts a new run from the failed step of an old one, with what was recorded before it. Steps that were undone
    /// run again, and so does what came after them.
    /// With `.id("..")` a retry that is asked for again gives the same run. A typed one is [`RunHandle::retry`].
    pub fn retry(&self, run: &RunId) -> ForkRequest {
        ForkRequest::retry(self.clone(), run.clone())
    }

    /// Starts a new run from any point of one that has ended, with what was recorded before it:
    /// `engine.fork(&run).from("charge").await`. It keeps to the workflow as it is registered now. A typed one
    /// is [`RunHandle::fork`].
    pub fn fork(&self, run: &RunId) -> ForkRequest {
        ForkRequest::new(self.clone(), run.clone())
    }

    /// The plan that a run began with and keeps, however its workflow has changed since. What is different now says
    /// [`Plan::diff`](rival_core::Plan::diff).
    pub async fn plan(&self, run: &RunId) -> Result<Plan, RunError> {
        let row = self.row(run).await?;
        Ok(self.indexed_plan(&row).await?.plan().clone())
    }

    /// The signal that was probably meant, if a name is none of those that the run's plan and its workflow know, and is
    /// nearly one of them. What steps wait for inside is in no plan.
    pub async fn probable_signal(&self, run: &RunId, name: &str) -> Option<String> {
        let row = self.row(run).await.ok()?;
        let plan = self.indexed_plan(&row).await.ok()?;
        let mut known = plan.plan().signals();
        let registered = self.shared.registry.get(&row.workflow);
        known
            .extend(registered.iter().flat_map(|it| it.definition.signal_schemas.keys().map(String::as_str)));
        if known.contains(name) {
            return None;
        }
        error::nearest(name, known).map(str::to_owned)
    }

    pub(crate) async fn indexed_plan(&self, row: &RunRow) -> Result<Arc<BoundPlan>, RunError> {
        let plan = self.shared.plan(&row.workflow, &row.plan).await?;
        plan.ok_or_else(|| RunError::Plan(row.id.clone()))
    }

    /// A run with everything that is known of it.
    pub async fn get(&self, run: &RunId) -> Result<RunView, RunError> {
        let row = self.row(run).await?;
        let plan = self.indexed_plan(&row).await?;
        let (history, state) = self.folded(run).await?;
        // The row was read first; if the run has moved on since, its own events are right.
        let row = RunRow { status: if state.is_terminal() { state.status() } else { row.status }, ..row };
        let view = view::run_view(&row, &plan, &state, &history, &mut ValueBudget::unlimited(run));
        self.with_triggers(view, &plan).await
    }

    /// Runs that match, the newest first, a page at a time.
    pub async fn runs(&self, filter: &RunFilter, page: &Page) -> Result<Vec<RunRow>, RunError> {
        Ok(self.shared.store.get()?.runs(filter, page).await?)
    }

    /// How many children each of these runs has, ended or not.
    pub async fn count_children(&self, runs: &[RunId]) -> Result<Vec<u64>, RunError> {
        Ok(self.shared.store.get()?.count_children(runs).await?)
    }

    /// A run as lists show it.
    pub async fn summary(&self, run: &RunId) -> Result<RunRow, RunError> {
        self.row(run).await
    }

    /// What a run was given.
    pub async fn input(&self, run: &RunId) -> Result<Value, RunError> {
        let first = self.events(run, Seq::ZERO, 1).await?;
        Ok(first.first().and_then(|event| event.kind.value().cloned()).unwrap_or_default())
    }

    /// Whether the store takes writes.
    pub async fn check_writable(&self) -> Result<(), RunError> {
        Ok(self.shared.store.get()?.check_writable().await?)
    }

    /// Ends when the store can never take writes again unless it is opened anew, and says why: a sync failed, or its file is
    /// gone. The engine can do nothing more then, and a server should end.
    pub async fn store_failed(&self) -> StoreError {
        match self.shared.store.get() {
            Ok(store) => store.failed().await,
            Err(closed) => closed,
        }
    }

    /// The runs that this engine has in memory.
    pub fn active_runs(&self) -> Vec<RunId> {
        let mut runs: Vec<RunId> = self.shared.live().keys().cloned().collect();
        runs.sort();
        runs
    }

    /// How many runs this engine has in memory.
    pub fn live_runs(&self) -> usize {
        self.shared.live().len()
    }

    /// A run's events, all of them.
    pub async fn history(&self, run: &RunId) -> Result<Vec<Event>, RunError> {
        self.row(run).await?;
        self.read(run, load::load_history(&*self.shared.store.get()?, run).await)
    }

    /// A page of a run's events after one of them: `limit` at most, and fewer where they are large, so that they need
    /// little memory. An empty page is the end.
    pub async fn page_of_events(
        &self,
        run: &RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Event>, RunError> {
        self.row(run).await?;
        let mut page = self.events_after(run, after, limit).await?;
        page.truncate(limit);
        Ok(page)
    }

    /// A run's events after one of them: `limit` of them, or as many as there are.
    pub async fn events(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<Event>, RunError> {
        self.row(run).await?;
        let (mut events, mut last) = (Vec::new(), after);
        // A store gives whole batches, and stops before one that is too large for the limit.
        while events.len() < limit {
            let wanted = limit - events.len();
            let page = self.events_after(run, last, wanted).await?;
            let Some(end) = page.last() else { break };
            last = end.seq;
            events.extend(page);
        }
        events.truncate(limit);
        Ok(events)
    }

    pub(crate) async fn events_after(
        &self,
        run: &RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Event>, RunError> {
        self.read(run, load::load_events(&*self.shared.store.get()?, run, after, limit).await)
    }

    /// What a run's steps wrote, oldest first. With a limit, fewer where lines are long.
    pub async fn logs(&self, run: &RunId, filter: &LogFilter) -> Result<Vec<LogLine>, RunError> {
        self.row(run).await?;
        Ok(self.shared.store.get()?.logs(run, filter).await?)
    }

    /// In one sentence, what a run is waiting for and since when.
    pub async fn explain(&self, run: &RunId) -> Result<String, RunError> {
        let row = self.row(run).await?;
        let loaded = load::load_state(&*self.shared.store.get()?, run, &row.plan).await;
        let state = match loaded {
            Ok((state, _)) => state,
            // The row says why a run that does not read is blocked.
            Err(LoadError::Store(error)) if !matches!(error, StoreError::Damaged(_)) => {
                return Err(error.into());
            }
            Err(_) => RunState::default(),
        };
        let explained = explain::explain(&row, &state, self.shared.clock.now());
        let triggers =
            if row.status == RunStatus::Completed { self.triggers(run).await.ok().flatten() } else { None };
        Ok(triggers
            .map_or_else(|| explained.clone(), |it| format!("{explained}; {}", explain::triggers(&it))))
    }

    /// A run's events after a sequence number, as they become durable; ends with the run.
    pub fn subscribe(&self, run: &RunId, after: Seq) -> BoxStream<'static, Result<Event, RunError>> {
        let follow = EventSubscription {
            engine: self.unheld(),
            durable: RunWatch::new(&self.shared, run),
            run: run.clone(),
            after,
            last_look: false,
            ended: false,
        };
        stream::unfold(follow, EventSubscription::next).flat_map(stream::iter).boxed()
    }

    /// Stops in order: no new runs, nothing new starts, calls at work are given `grace` to finish and are
    /// recorded; what still runs then is abandoned without being charged, and goes on at the next start. Afterwards the
    /// store that was given with [`EngineBuilder::store`] is closed, also if this engine and handles are still there.
    pub async fn shutdown(&self, grace: Duration) {
        self.shared.stop();
        self.shared.scheduler.wake();
        if tokio::time::timeout(grace, self.drained(|| ActorMessage::Drain)).await.is_err() {
            // Letting go is one commit per run: it ends unless the store is stuck.
            let _ = tokio::time::timeout(Duration::from_secs(10), self.drained(|| ActorMessage::ReleaseNow))
                .await;
        }
        if let Ok(store) = self.shared.store.get() {
            self.shared.leave(&*store).await;
        }
        self.shared.waiters.close();
        // It asks the store: whatever opens the same file next must find it closed.
        let scheduler = self.shared.scheduler_task().take();
        if let Some(scheduler) = scheduler {
            let _ = tokio::time::timeout(Duration::from_secs(10), scheduler).await;
        }
        self.shared.close_store().await;
    }

    fn broadcast(&self, message: impl Fn() -> ActorMessage) {
        let mailboxes: Vec<_> = self.shared.live().values().cloned().collect();
        for mailbox in mailboxes {
            mailbox.send(message());
        }
    }

    /// Tells every live run, until there is none. Again and again: a run that was being started or brought back
    /// when the others were told becomes live only now.
    async fn drained(&self, message: impl Fn() -> ActorMessage) {
        self.broadcast(&message);
        loop {
            let settled = tokio::time::timeout(DRAIN_LOOK, self.shared.in_flight.settled()).await.is_ok();
            if settled && self.shared.live().is_empty() {
                return;
            }
            self.broadcast(&message);
        }
    }

    /// Waits until no call is at work, no actor message is unread, and no run that could begin is queued. For tests: with
    /// a virtual clock, nothing happens after this until the clock is moved.
    pub async fn settled(&self) {
        loop {
            let passes = self.shared.scheduler.scans();
            self.shared.in_flight.settled().await;
            // A look for runs that began meanwhile may have taken what there was to do, and is busy with it.
            let idle = !scheduler::has_work(&self.shared) && self.shared.scheduler.scans() == passes;
            if self.shared.is_stopping() || idle {
                return;
            }
            // The scheduler has been told.
            tokio::task::yield_now().await;
        }
    }

    /// Does everything that is due at the clock's time. For tests with a virtual clock.
    pub async fn tick(&self) -> Result<(), RunError> {
        Ok(scheduler::scan_in_task(&self.shared).await?)
    }

    /// The next moment at which something is due. For tests with a virtual clock.
    pub async fn next_due(&self) -> Result<Option<rival_core::Time>, RunError> {
        let near = scheduler::next_moment(&self.shared);
        // Without room nothing can be brought back, however due it is.
        if self.shared.is_short_of_room() {
            return Ok(near);
        }
        let stored = self.shared.store.get()?.next_wake().await?;
        Ok([stored, near].into_iter().flatten().min())
    }

    /// The engine's clock.
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    pub(crate) async fn row(&self, run: &RunId) -> Result<RunRow, RunError> {
        self.shared.store.get()?.run(run).await?.ok_or_else(|| RunError::NotFound(run.clone()))
    }

    async fn outcome(&self, run: &RunId) -> Result<RunOutcome, RunError> {
        self.outcome_with(run, &mut ValueBudget::unlimited(run)).await
    }

    async fn outcome_with(&self, run: &RunId, budget: &mut ValueBudget<'_>) -> Result<RunOutcome, RunError> {
        let row = self.row(run).await?;
        let plan = self.indexed_plan(&row).await?;
        let store = self.shared.store.get()?;
        let (state, _) = self.read(run, load::load_state(&*store, run, &row.plan).await)?;
        // Not the whole history: a run may have a million events and one result.
        let wanted = view::outcome_events(&plan, &state);
        let output = state.end.as_ref().and_then(|end| end.output);
        let values =
            ReadValues::load(&*store, run, &wanted, output, self.shared.limits.payload_max, budget).await;
        let values = values.map_err(|error| bounded::unreadable(run, error))?;
        let (value, held) = (|seq: Seq| values.value(seq), |seq: Seq| values.state(seq));
        let look = OutcomeSource { value: &value, state: &held };
        view::outcome(run, &plan, &state, &look).ok_or(RunError::ShuttingDown)
    }

    pub(crate) async fn folded(&self, run: &RunId) -> Result<(Vec<Event>, RunState), RunError> {
        let history = self.read(run, load::load_history(&*self.shared.store.get()?, run).await)?;
        let state = RunState::of_whole_run(&history);
        Ok((history, state))
    }

    pub(crate) fn read<T>(&self, run: &RunId, loaded: Result<T, LoadError>) -> Result<T, RunError> {
        loaded.map_err(|error| match error {
            LoadError::Store(error) => RunError::Store(error),
            LoadError::Decode(error) => RunError::History { run: run.clone(), error },
            LoadError::NotRegistered(_)
            | LoadError::PlanMissing
            | LoadError::Gap(_)
            | LoadError::Broken(_) => RunError::Store(rival_store::StoreError::Damaged(error.to_string())),
        })
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("workflows", &self.shared.registry.names()).finish_non_exhaustive()
    }
}

fn info(registered: &RegisteredWorkflow) -> WorkflowInfo {
    let definition = &registered.definition;
    WorkflowInfo {
        name: definition.plan.workflow.clone(),
        description: definition.description.clone(),
        input_schema: definition.input_schema.clone(),
        signal_schemas: definition.signal_schemas.clone(),
        step_count: definition.plan.step_count(),
        plan_hash: registered.plan.hash().to_string(),
        origin: definition.origin.clone(),
        plan: definition.plan.clone(),
    }
}

/// A subscription: what has been read, and how to learn of more. The store is the only source of events,
/// so a subscriber that is slow misses nothing and holds nothing up.
struct EventSubscription {
    engine: Engine,
    run: RunId,
    after: Seq,
    durable: RunWatch,
    /// The row says that the run has ended, so what is not there now will never be.
    last_look: bool,
    ended: bool,
}

impl EventSubscription {
    async fn next(mut self) -> Option<(Vec<Result<Event, RunError>>, Self)> {
        if self.ended {
            return None;
        }
        loop {
            self.durable.mark_unchanged();
            let last_look = self.last_look;
            let events = match self.engine.events_after(&self.run, self.after, load::PAGE).await {
                Ok(events) => events,
                Err(error) => return Some(self.end_with(error)),
            };
            if let Some(last) = events.last() {
                self.after = last.seq;
                self.ended = last.kind.is_terminal();
                return Some((events.into_iter().map(Ok).collect(), self));
            }
            match self.engine.row(&self.run).await {
                Err(error) => return Some(self.end_with(error)),
                Ok(row) if row.status.is_terminal() && last_look => return None,
                // Its last events may have become durable after the look above.
                Ok(row) if row.status.is_terminal() => {
                    self.last_look = true;
                    continue;
                }
                Ok(_) => {}
            }
            if !self.durable.changed().await {
                return Some(self.end_with(RunError::ShuttingDown));
            }
        }
    }

    fn end_with(mut self, error: RunError) -> (Vec<Result<Event, RunError>>, Self) {
        self.ended = true;
        (vec![Err(error)], self)
    }
}
