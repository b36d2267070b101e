//! What the parts of one engine share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rival_core::plan::PlanReadError;
use rival_core::{Plan, PlanHash, RunId};
use rival_store::{Commit, CommitError, EngineId, GivenStore, Store, StoreError};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::api::error::StartError;
use crate::api::figures::HostList;
use crate::api::observer::ObserverList;
use crate::registry::bound_plan::BoundPlan;
use crate::registry::builtins::BuiltinSet;
use crate::registry::extensions::EngineExtensions;
use crate::registry::problem::SourceProblems;
use crate::registry::resources::ResourceMap;
use crate::registry::system::triggers_workflow;
use crate::registry::workflows::{DefinitionRegistry, RegisteredWorkflow};
use crate::run::mailbox::{ActorMessage, Mailbox};
use crate::schedule::clock::Clock;
use crate::schedule::clock_review::ClockReview;
use crate::schedule::in_flight::InFlightCount;
use crate::schedule::scheduler::Scheduler;
use crate::schedule::siblings::SiblingEngines;
use crate::schedule::store_slot::StoreSlot;
use crate::schedule::waiters::RunWaiters;

/// How long a store that is being closed waits for those who ask it.
const CLOSE_PATIENCE: Duration = Duration::from_secs(10);

/// Settings of an engine.
#[derive(Clone, Debug)]
pub(crate) struct EngineLimits {
    /// How many runs may be in memory at a time; more are queued.
    pub(crate) live_max: usize,
    /// The largest input or result, in bytes.
    pub(crate) payload_max: usize,
    /// Nothing is run here.
    pub(crate) passive: bool,
    /// Calls take the newest functions, also for runs that began with others.
    pub(crate) newest_functions: bool,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self { live_max: 1_000, payload_max: 16 * 1024 * 1024, passive: false, newest_functions: false }
    }
}

pub(crate) struct EngineShared {
    pub(crate) store: Arc<StoreSlot>,
    /// Whether the store is this engine's alone, and is closed when the engine stops.
    owns_store: bool,
    /// Where the engine's tasks run.
    runtime: Handle,
    pub(crate) id: EngineId,
    pub(crate) clock: Clock,
    pub(crate) review: ClockReview,
    pub(crate) limits: EngineLimits,
    pub(crate) registry: DefinitionRegistry,
    pub(crate) builtins: BuiltinSet,
    pub(crate) problems: SourceProblems,
    pub(crate) extensions: EngineExtensions,
    /// The scheduler at work.
    scheduler_task: Mutex<Option<JoinHandle<()>>>,
    pub(crate) resources: Arc<ResourceMap>,
    pub(crate) waiters: RunWaiters,
    pub(crate) scheduler: Scheduler,
    pub(crate) in_flight: Arc<InFlightCount>,
    pub(crate) observers: ObserverList,
    pub(crate) hosts: HostList,
    pub(crate) siblings: Arc<SiblingEngines>,
    pub(crate) unsaved: UnsavedPlans,
    /// Whether [`Self::keep_triggers_plan`] was asked before.
    triggers_plan: AtomicBool,
    live: Mutex<HashMap<RunId, Mailbox>>,
    admitted: AtomicUsize,
    begun: AtomicBool,
    stopping: AtomicBool,
    /// Whether it has signed off from the store.
    left: AtomicBool,
}

impl EngineShared {
    pub(crate) fn new(
        GivenStore { store, is_owned }: GivenStore,
        id: EngineId,
        clock: Clock,
        limits: EngineLimits,
        resources: Arc<ResourceMap>,
        builtins: BuiltinSet,
    ) -> Self {
        let siblings = SiblingEngines::on(&store);
        let in_flight = InFlightCount::on(&clock);
        Self {
            store: Arc::new(StoreSlot::new(store)),
            owns_store: is_owned,
            runtime: Handle::current(),
            id,
            clock,
            review: ClockReview::default(),
            limits,
            registry: DefinitionRegistry::default(),
            builtins,
            problems: SourceProblems::default(),
            extensions: EngineExtensions::default(),
            scheduler_task: Mutex::default(),
            resources,
            waiters: RunWaiters::default(),
            scheduler: Scheduler::default(),
            in_flight: Arc::new(in_flight),
            observers: ObserverList::default(),
            hosts: HostList::default(),
            siblings,
            unsaved: UnsavedPlans::default(),
            triggers_plan: AtomicBool::new(false),
            live: Mutex::default(),
            admitted: AtomicUsize::new(0),
            begun: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            left: AtomicBool::new(false),
        }
    }

    /// Takes a permit for a live run, if there is one.
    pub(crate) fn try_admit(self: &Arc<Self>) -> Option<RunPermit> {
        let taken = self.admitted.fetch_update(Ordering::AcqRel, Ordering::Acquire, |admitted| {
            (admitted < self.limits.live_max).then_some(admitted + 1)
        });
        taken.is_ok().then(|| RunPermit(Arc::clone(self)))
    }

    /// Takes a permit for a run that begins, if it may begin at once. It must not overtake queued runs, and what a step of an
    /// engine that stops has started is for the next one.
    pub(crate) fn admit_new(self: &Arc<Self>) -> Option<RunPermit> {
        let queues = self.limits.passive || self.is_stopping() || self.scheduler.has_admission_queue();
        if queues { None } else { self.try_admit() }
    }

    /// Takes a permit even beyond the limit: a caller waits for the answer.
    pub(crate) fn admit(self: &Arc<Self>) -> RunPermit {
        self.admitted.fetch_add(1, Ordering::AcqRel);
        RunPermit(Arc::clone(self))
    }

    /// Takes up to `most` permits for runs that are about to be claimed.
    pub(crate) fn reserve(self: &Arc<Self>, most: usize) -> ReservedPermits {
        let mut count = 0;
        let _ = self.admitted.fetch_update(Ordering::AcqRel, Ordering::Acquire, |admitted| {
            count = self.limits.live_max.saturating_sub(admitted).min(most);
            Some(admitted + count)
        });
        ReservedPermits { shared: Arc::clone(self), count }
    }

    /// Whether a run that wants to start finds no permit.
    pub(crate) fn is_short_of_room(&self) -> bool {
        self.scheduler.has_admission_queue() && self.room() == 0
    }

    /// How many more runs may become live.
    pub(crate) fn room(&self) -> usize {
        self.limits.live_max.saturating_sub(self.admitted.load(Ordering::Acquire))
    }

    pub(crate) fn scheduler_task(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.scheduler_task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn live(&self) -> MutexGuard<'_, HashMap<RunId, Mailbox>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn mailbox(&self, run: &RunId) -> Option<Mailbox> {
        self.live().get(run).cloned()
    }

    /// The run with this mailbox is live no more. If it is live again already, that is another actor's, and stays.
    pub(crate) fn deregister(&self, run: &RunId, mailbox: &Mailbox) {
        let mut live = self.live();
        if live.get(run).is_some_and(|known| known.is_same(mailbox)) {
            live.remove(run);
            self.scheduler.forget_run(run);
        }
    }

    /// Notes that runs are taken up; gives whether they were already.
    pub(crate) fn begin(&self) -> bool {
        self.begun.swap(true, Ordering::AcqRel)
    }

    /// Signs off from the store.
    pub(crate) async fn leave(&self, store: &dyn Store) {
        match store.leave(self.id).await {
            Ok(()) => self.left.store(true, Ordering::Release),
            Err(error) => tracing::warn!(%error, "the engine could not sign off"),
        }
        self.notify_siblings();
    }

    /// Lets the store go after an orderly stop, if it is this engine's alone: once this returns, the next engine can
    /// open the same file, whatever handles are still there.
    pub(crate) async fn close_store(&self) {
        let Some(store) = self.store.take_if(self.owns_store) else { return };
        if tokio::time::timeout(CLOSE_PATIENCE, store.close()).await.is_err() {
            tracing::warn!("the store is still at work, and is closed when that ends");
        }
        // It may be the last to hold the store, and dropping that may wait for threads.
        let _ = tokio::task::spawn_blocking(move || drop(store)).await;
    }

    /// The last engine value is gone without an orderly stop: stops as a crash would, but leaves nothing behind in
    /// this process.
    fn abandon(self: &Arc<Self>) {
        self.stop();
        if let Some(scheduler) = self.scheduler_task().take() {
            scheduler.abort();
        }
        self.waiters.close();
        let store = self.store.take_if(true);
        // Live runs find the store closed, and end.
        let live: Vec<Mailbox> = self.live().values().cloned().collect();
        live.iter().for_each(|mailbox| _ = mailbox.send(ActorMessage::ReleaseNow));
        let has_left = self.left.load(Ordering::Acquire);
        let Some(store) = store.filter(|_| !self.owns_store && !has_left) else { return };
        let shared = Arc::clone(self);
        self.runtime.spawn(async move { shared.leave(&*store).await });
    }

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    /// Writes a commit. A store that cannot take it now is asked again: nothing that ended is lost. Gives the places of the
    /// runs in it that were there already.
    pub(crate) async fn commit(&self, commit: Commit) -> Result<Vec<usize>, CommitError> {
        let commit = Arc::new(commit);
        let mut retry = self.store_retry(&commit.run, "the store takes no writes");
        loop {
            let written = async {
                let store = self.store.get()?;
                // The plans of the runs that it starts come first, where they are not kept yet.
                if !commit.runs.is_empty() {
                    self.unsaved.save(&*store).await?;
                }
                store.commit(Arc::clone(&commit)).await
            };
            match written.await {
                Ok(known) => return Ok(known),
                Err(error) => retry.after(error).await?,
            }
        }
    }

    /// The workflow that new runs of this name take.
    pub(crate) fn registered(&self, name: &str) -> Result<Arc<RegisteredWorkflow>, StartError> {
        let unknown = || StartError::UnknownWorkflow {
            name: name.to_owned(),
            known: self.registry.names(),
            problems: self.problems.all(),
        };
        self.registry.get(name).ok_or_else(unknown)
    }

    /// The plan of the runs that start what others trigger is kept before the first of them is written.
    pub(crate) fn keep_triggers_plan(&self) {
        if !self.triggers_plan.swap(true, Ordering::AcqRel) {
            let plan = &triggers_workflow().plan;
            self.unsaved.add(plan.hash().clone(), plan.plan().to_json());
        }
    }

    /// The plan with this hash, indexed: the registered one, one that was read before, or from the store.
    pub(crate) async fn plan(
        &self,
        workflow: &str,
        hash: &PlanHash,
    ) -> Result<Option<Arc<BoundPlan>>, StoreError> {
        if let Some(plan) = self.registry.plan(workflow, hash) {
            return Ok(Some(plan));
        }
        let Some(json) = self.store.get()?.plan(hash).await? else { return Ok(None) };
        let plan = Plan::from_json(&json).map_err(|error| match error {
            PlanReadError::Newer { .. } => StoreError::Newer(error.to_string()),
            PlanReadError::Damaged(error) => StoreError::Damaged(format!("plan {hash}: {error}")),
        })?;
        Ok(Some(self.registry.keep_plan(hash, plan)))
    }
}

/// Plans of workflows that were registered while the store took no writes. They are kept before any run refers to them.
#[derive(Default)]
pub(crate) struct UnsavedPlans {
    /// Whether there are any: asked at every start.
    any: AtomicBool,
    plans: Mutex<Vec<(PlanHash, String)>>,
}

impl UnsavedPlans {
    fn plans(&self) -> MutexGuard<'_, Vec<(PlanHash, String)>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, hash: PlanHash, json: String) {
        self.plans().push((hash, json));
        self.any.store(true, Ordering::Release);
    }

    pub(crate) async fn save(&self, store: &dyn Store) -> Result<(), StoreError> {
        if !self.any.load(Ordering::Acquire) {
            return Ok(());
        }
        let plans = self.plans().clone();
        for (hash, json) in &plans {
            store.put_plan(hash, json).await?;
        }
        let mut left = self.plans();
        left.retain(|plan| !plans.contains(plan));
        self.any.store(!left.is_empty(), Ordering::Release);
        Ok(())
    }
}

/// What all values of one engine hold together: with the last of them the engine stops.
pub(crate) struct EngineHold(Arc<EngineShared>);

impl EngineHold {
    pub(crate) fn on(shared: &Arc<EngineShared>) -> Arc<Self> {
        Arc::new(Self(Arc::clone(shared)))
    }
}

impl Drop for EngineHold {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

/// Permits reserved before a claim. Unused ones are returned without waking the scheduler: a run that was refused
/// meanwhile has already queued.
pub(crate) struct ReservedPermits {
    shared: Arc<EngineShared>,
    count: usize,
}

impl ReservedPermits {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn take(&mut self) -> Option<RunPermit> {
        self.count = self.count.checked_sub(1)?;
        Some(RunPermit(Arc::clone(&self.shared)))
    }
}

impl Drop for ReservedPermits {
    fn drop(&mut self) {
        self.shared.admitted.fetch_sub(self.count, Ordering::AcqRel);
    }
}

/// A live run's permit; given back when dropped.
pub(crate) struct RunPermit(Arc<EngineShared>);

impl Drop for RunPermit {
    fn drop(&mut self) {
        let before = self.0.admitted.fetch_sub(1, Ordering::AcqRel);
        // A queued run may wait for a permit. With plenty of them, none does.
        if before >= self.0.limits.live_max || self.0.scheduler.has_admission_queue() {
            self.0.scheduler.wake();
        }
    }
}
