//! Runs that begin: the first commit, and the actor of a run that goes on at once.

use std::sync::Arc;
use std::time::Duration;

use rival_core::bound::{NOTE_MAX, cut};
use rival_core::event;
use rival_core::machine::{self, BrokenInvariant, Decision, DecisionEnv, MachineInput, NoStates, RunStart};
use rival_core::{IndexedPlan, RunId, RunState, RunStatus, Seq, Time};
use rival_store::{EngineId, Epoch, EventBatch, NewRun, RowUpdate, RunHold, StoreError};
use tokio::sync::oneshot;

use crate::api::error::StartError;
use crate::api::observer::Committed;
use crate::api::start::is_same;
use crate::call::values::RecordedValues;
use crate::registry::workflows::RegisteredWorkflow;
use crate::run::actor::{Actor, ActorParts, PendingCommit};
use crate::run::mailbox::Mailbox;
use crate::run::row::row_update;
use crate::schedule::shared::{EngineShared, RunPermit};

/// A run that begins: what its first commit is made of.
pub(crate) struct RunSpec {
    pub(crate) id: RunId,
    pub(crate) start: RunStart,
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) tags: Vec<String>,
    /// When; see [`crate::registry::generations`].
    pub(crate) created_at: Time,
}

/// The first commit of a run, and what it leads to.
pub(crate) struct FirstCommit {
    pub(crate) new: NewRun,
    state: RunState,
    decision: Decision,
}

/// Decides what a run begins with, and makes the row that goes with it.
pub(crate) fn first_commit(engine: EngineId, plan: &IndexedPlan, spec: RunSpec, admit: bool) -> FirstCommit {
    let RunSpec { id, start, fingerprint, tags, created_at } = spec;
    let (source, parent) = (start.source.clone(), start.parent.clone());
    let decide = |start: RunStart, admit: bool| {
        let mut state = RunState::default();
        let env = DecisionEnv { run: &id, now: created_at, admit, states: &NoStates };
        let decision = machine::decide(plan, &mut state, MachineInput::Start(start), env);
        (state, decision)
    };
    let (mut state, mut decision) = decide(start.clone(), admit);
    let broken = decision.broken.take();
    if let Some(BrokenInvariant { node, what }) = &broken {
        tracing::error!(run = %id, %node, what, "an invariant is broken; please report it");
        // The run begins with its first node held, and the next look at it finds the same.
        (state, decision) = decide(start, false);
    }
    let hold =
        if state.index().calls.is_empty() { RunHold::Release(state.next_timer()) } else { RunHold::Keep };
    let failure = state.end.as_ref().and_then(|end| end.failure.as_ref());
    let note = failure.map(|failure| cut(failure.message.clone(), NOTE_MAX));
    let row_update = match broken {
        Some(broken) => {
            let note = Some(cut(broken.to_string(), NOTE_MAX));
            RowUpdate::new(RunStatus::Blocked, RunHold::Release(None), created_at, note)
        }
        None => row_update(&state, hold, note),
    };
    let count = u32::try_from(decision.events.len()).unwrap_or(u32::MAX);
    let new = NewRun {
        id,
        workflow: plan.plan().workflow.clone(),
        plan: plan.hash().clone(),
        fingerprint,
        created_at,
        parent,
        source,
        tags,
        events: EventBatch { first: Seq(1), count, body: event::encode(&decision.events) },
        row_update,
        engine,
    };
    FirstCommit { new, state, decision }
}

/// Writes the first events and makes the run live, in a task of its own: a caller that goes away half-way
/// leaves no run without an actor.
pub(crate) async fn launch(
    shared: &Arc<EngineShared>,
    registered: Arc<RegisteredWorkflow>,
    spec: RunSpec,
) -> Result<(RunId, RunStatus), StartError> {
    // Counted first, looked second: an engine that stops waits for this start, or this start sees that it stops.
    shared.in_flight.add();
    if shared.is_stopping() {
        shared.in_flight.remove(1);
        return Err(StartError::ShuttingDown);
    }
    // A later start must not overtake queued runs.
    let queues = shared.limits.passive || shared.scheduler.has_admission_queue();
    let permit = if queues { None } else { shared.try_admit() };
    let first = first_commit(shared.id, &registered.plan, spec, permit.is_some());
    let (answer, answered) = oneshot::channel();
    let pending = PendingRun { shared: Arc::clone(shared), registered, first, permit };
    tokio::spawn(Box::pin(pending.begin(answer)));
    answered.await.unwrap_or(Err(StartError::Store(StoreError::Closed)))
}

/// A run before its first events are durable.
struct PendingRun {
    shared: Arc<EngineShared>,
    registered: Arc<RegisteredWorkflow>,
    first: FirstCommit,
    permit: Option<RunPermit>,
}

impl PendingRun {
    async fn begin(self, answer: oneshot::Sender<Result<(RunId, RunStatus), StartError>>) {
        let Self { shared, registered, first: FirstCommit { new, state, decision }, permit } = self;
        let (run, created_at, row_update) = (new.id.clone(), new.created_at, new.row_update.clone());
        let (status, began) = (row_update.status(), shared.observers.stopwatch());
        if let Some(other) = write(&shared, new).await.transpose() {
            // A caller that is gone needs no answer.
            let _ = answer.send(other);
            return shared.in_flight.remove(1);
        }
        shared.waiters.durable(&run, state.seq);
        let took = began.map_or(Duration::ZERO, |began| began.elapsed());
        shared.observers.tell(|observer| {
            let (workflow, events) = (&registered.name, &decision.events);
            observer.started(&run, workflow, created_at);
            observer.committed(&Committed { run: &run, workflow, status, state: &state, events, took });
        });
        if !row_update.is_owned() {
            if status == RunStatus::Queued {
                shared.scheduler.run_queued();
            }
            shared.scheduler.note_wake(row_update.wake_at());
            let _ = answer.send(Ok((run, status)));
            return shared.in_flight.remove(1);
        }
        let (mailbox, inbox) = Mailbox::new(Arc::clone(&shared.in_flight));
        shared.live().insert(run.clone(), mailbox.clone());
        let _ = answer.send(Ok((run.clone(), status)));
        let permit = permit.unwrap_or_else(|| shared.admit());
        let mut values = RecordedValues::default();
        values.keep(decision.events);
        let (plan, snapshot) = (Arc::clone(&registered.plan), Seq::ZERO);
        let parts = ActorParts {
            run,
            epoch: Epoch(1),
            registered,
            plan,
            state,
            values,
            row_update,
            snapshot,
            permit,
        };
        let actor = Actor::new(shared, parts, mailbox, inbox);
        actor.live(PendingCommit { effects: decision.effects, ..PendingCommit::default() }).await;
    }
}

/// Writes the first commit. Gives the run that the same request has led to before, if there is one.
async fn write(shared: &EngineShared, new: NewRun) -> Result<Option<(RunId, RunStatus)>, StartError> {
    shared.unsaved.save(&*shared.store).await?;
    let (fingerprint, source) = (new.fingerprint.clone(), new.source.clone());
    match shared.store.start(new).await? {
        None => Ok(None),
        Some(row) if is_same(&row, &fingerprint, source.as_ref()) => Ok(Some((row.id, row.status))),
        Some(row) => Err(StartError::Conflict(row.id)),
    }
}
