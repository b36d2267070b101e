//! Runs that begin: the first commit, and the actor of a run that goes on at once.

use std::sync::Arc;
use std::time::Duration;

use rival_core::bound::{NOTE_MAX, cut};
use rival_core::event;
use rival_core::machine::{self, BrokenInvariant, Decision, DecisionEnv, MachineInput, NoStates, RunStart};
use rival_core::{IndexedPlan, RunId, RunState, RunStatus, Seq, Time};
use rival_store::{EngineId, EventBatch, NewRun, RowUpdate, RunHold, StoreError};
use tokio::sync::oneshot;

use crate::api::engine::Engine;
use crate::api::error::StartError;
use crate::api::observer::Committed;
use crate::api::start::is_same;
use crate::registry::workflows::RegisteredWorkflow;
use crate::run::actor::Actor;
use crate::run::mailbox::Mailbox;
use crate::schedule::shared::{EngineShared, RunPermit};

/// A run that begins: what its first commit is made of.
#[derive(Clone)]
pub(crate) struct RunSpec {
    pub(crate) id: RunId,
    pub(crate) start: RunStart,
    pub(crate) fingerprint: Vec<u8>,
    pub(crate) tags: Vec<String>,
    /// When; see [`crate::registry::generations`].
    pub(crate) created_at: Time,
}

/// Decides what a run begins with: the run as the store takes it, its state, and what else was decided.
pub(crate) fn first_commit(
    engine: EngineId,
    plan: &IndexedPlan,
    spec: RunSpec,
    admit: bool,
) -> (NewRun, RunState, Decision) {
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
        (state, decision) = decide(start.clone(), false);
    }
    // What a commit puts in beside the run needs an actor: the run begins with its first node held.
    if !decision.extras.is_empty() {
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
        None => RowUpdate::new(state.status(), hold, state.ended_at(), note),
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
    (new, state, decision)
}

/// Writes the first events and makes the run live, in a task of its own: a caller that goes away half-way
/// leaves no run without an actor.
pub(crate) async fn launch(
    engine: &Engine,
    registered: Arc<RegisteredWorkflow>,
    spec: RunSpec,
) -> Result<(RunId, RunStatus), StartError> {
    let shared = &engine.shared;
    // Counted first, looked second: an engine that stops waits for this start, or this start sees that it stops.
    shared.in_flight.add();
    if engine.refuses_requests() {
        shared.in_flight.remove(1);
        return Err(StartError::ShuttingDown);
    }
    let permit = shared.admit_new();
    let begun = first_commit(shared.id, &registered.plan, spec, permit.is_some());
    let (answer, answered) = oneshot::channel();
    tokio::spawn(Box::pin(write_and_live(Arc::clone(shared), registered, begun, permit, answer)));
    answered.await.unwrap_or(Err(StartError::Store(StoreError::Closed)))
}

/// Writes the first commit of a run, answers its starter, and becomes its actor if there is something to do.
async fn write_and_live(
    shared: Arc<EngineShared>,
    registered: Arc<RegisteredWorkflow>,
    (new, state, decision): (NewRun, RunState, Decision),
    permit: Option<RunPermit>,
    answer: oneshot::Sender<Result<(RunId, RunStatus), StartError>>,
) {
    let (run, created_at, row_update) = (new.id.clone(), new.created_at, new.row_update.clone());
    let (fingerprint, source) = (new.fingerprint.clone(), new.source.clone());
    let (status, began) = (row_update.status(), shared.observers.stopwatch());
    let written = async {
        let store = shared.store.get()?;
        shared.unsaved.save(&*store).await?;
        store.start(new).await
    };
    // The same request may have led to a run before.
    let instead = match written.await {
        Ok(None) => None,
        Ok(Some(row)) if is_same(&row, &fingerprint, source.as_ref()) => Some(Ok((row.id, row.status))),
        Ok(Some(row)) => Some(Err(StartError::Conflict(row.id))),
        Err(error) => Some(Err(error.into())),
    };
    if let Some(instead) = instead {
        // A caller that is gone needs no answer.
        let _ = answer.send(instead);
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
    let permit = permit.unwrap_or_else(|| shared.admit());
    let actor = first_actor(&shared, registered, (run.clone(), row_update), state, permit);
    actor.enter();
    let _ = answer.send(Ok((run, status)));
    actor.begin(decision).await;
}

/// The actor of a run that goes on as soon as its first commit is durable.
fn first_actor(
    shared: &Arc<EngineShared>,
    registered: Arc<RegisteredWorkflow>,
    (run, row_update): (RunId, RowUpdate),
    state: RunState,
    permit: RunPermit,
) -> Box<Actor> {
    let mailbox = Mailbox::new(Arc::clone(&shared.in_flight));
    let plan = Arc::clone(&registered.plan);
    let new = Actor::new(Arc::clone(shared), run, registered, plan, mailbox, permit);
    Box::new(Actor { state, row_update, ..new })
}

/// A child as its parent's commit takes it. If there is room for it, with the actor that goes on as soon as that is
/// durable, and what it has decided; otherwise it is queued, and so is one that has nothing to call.
pub(crate) fn child(
    shared: &Arc<EngineShared>,
    registered: Arc<RegisteredWorkflow>,
    spec: RunSpec,
) -> (NewRun, Option<(Box<Actor>, Decision)>) {
    let queued = |spec: RunSpec| (first_commit(shared.id, &registered.plan, spec, false).0, None);
    let Some(permit) = shared.admit_new() else { return queued(spec) };
    let (new, state, decision) = first_commit(shared.id, &registered.plan, spec.clone(), true);
    if !new.row_update.is_owned() {
        return queued(spec);
    }
    let row = (new.id.clone(), new.row_update.clone());
    (new, Some((first_actor(shared, registered, row, state, permit), decision)))
}
