//! Brings a run from the store into memory: snapshot, tail, messages, and what a crash left behind.

use std::sync::Arc;

use rival_core::event::{self, DecodeError};
use rival_core::machine::BrokenInvariant;
use rival_core::state::FOLD_VERSION;
use rival_core::{Event, RunId, RunState, RunStatus, Seq};
use rival_store::{Claim, RowUpdate, RunHold, RunRow, Store, StoreError};

use crate::api::control::{CommandAck, RunCommand};
use crate::registry::bound_plan::BoundPlan;
use crate::registry::workflows::RegisteredWorkflow;
use crate::run::actor::{Actor, PendingCommit};
use crate::run::mailbox::Mailbox;
use crate::run::unloadable;
use crate::schedule::shared::{EngineShared, RunPermit};

/// How many events are read from the store at once.
pub(crate) const PAGE: usize = 2_000;

/// Why a run cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error(
        "workflow `{0}` is not here: the run goes on when its file is loaded, or its program registers it"
    )]
    NotRegistered(String),
    #[error("its plan is not in the store")]
    PlanMissing,
    #[error("event {0} is missing from its history")]
    Gap(Seq),
    /// It was loaded, and then came to something that cannot be.
    #[error("{0}")]
    Broken(BrokenInvariant),
}

/// Makes a claimed run live, in a task of its own. `ack` is told the run's status after its first commit.
pub(crate) fn activate(shared: &Arc<EngineShared>, claim: Claim, permit: RunPermit, ack: Option<CommandAck>) {
    let shared = Arc::clone(shared);
    shared.in_flight.add();
    let (mailbox, mut inbox) = Mailbox::new(Arc::clone(&shared.in_flight));
    shared.live().insert(claim.row.id.clone(), mailbox.clone());
    tokio::spawn(async move {
        let loaded = load(&shared, &claim).await;
        let (registered, plan, state, snapshot) = match loaded {
            Ok(loaded) => loaded,
            Err(error) => {
                let unloaded = unloadable::block_unloadable(&shared, &claim, &error).await;
                shared.deregister(&claim.row.id, &mailbox);
                if let (Some(ack), Some(unloaded)) = (ack, unloaded) {
                    unloaded.acknowledge(ack);
                }
                return shared.in_flight.remove(1 + inbox.close().count);
            }
        };
        let Claim { row, epoch } = claim;
        let row_update = RowUpdate::new(row.status, RunHold::Keep, row.created_at, row.note);
        let new = Actor::new(shared, row.id, registered, plan, (mailbox, inbox), permit);
        let mut actor = Box::new(Actor { epoch, state, row_update, snapshot, ..new });
        actor.observe_dequeued();
        let mut pending = PendingCommit { acks: ack.into_iter().collect(), ..PendingCommit::default() };
        actor.activate(&mut pending).await;
        actor.live(pending).await;
    });
}

type LoadedRun = (Arc<RegisteredWorkflow>, Arc<BoundPlan>, RunState, Seq);

async fn load(shared: &EngineShared, claim: &Claim) -> Result<LoadedRun, LoadError> {
    let row = &claim.row;
    let plan = shared.plan(&row.workflow, &row.plan).await?;
    // A plan of built-in functions says all that its runs need, also when its workflow was changed or is gone.
    let needs_definition = plan.as_ref().is_none_or(|plan| plan.names_functions());
    if needs_definition && !shared.registry.knows(&row.workflow) && !is_to_end(shared, row).await? {
        return Err(LoadError::NotRegistered(row.workflow.clone()));
    }
    let plan = plan.ok_or(LoadError::PlanMissing)?;
    let registered = shared.registry.of_run(&row.workflow, row.created_at, &plan);
    // To end, a run needs its plan; functions it needs only for what is to be undone.
    let registered = registered.unwrap_or_else(|| Arc::new(RegisteredWorkflow::without_functions(&plan)));
    let (state, snapshot) = load_state(&*shared.store.get()?, &row.id, &row.plan).await?;
    Ok((registered, plan, state, snapshot))
}

/// Whether a run is being cancelled, or is asked to end.
async fn is_to_end(shared: &EngineShared, row: &RunRow) -> Result<bool, StoreError> {
    if row.status == RunStatus::Cancelling {
        return Ok(true);
    }
    let messages = shared.store.get()?.messages(&row.id).await?;
    let commands = messages.iter().filter_map(|message| message.body.decode::<RunCommand>().ok());
    let mut asks =
        commands.map(|command| matches!(command, RunCommand::Cancel { .. } | RunCommand::Kill { .. }));
    Ok(asks.any(|asks| asks))
}

/// Folds a run's state from its latest usable snapshot and what came after it.
pub(crate) async fn load_state(
    store: &dyn Store,
    run: &RunId,
    plan: &rival_core::PlanHash,
) -> Result<(RunState, Seq), LoadError> {
    let kept = match store.snapshot(run).await {
        // The history holds everything that it held.
        Err(StoreError::Damaged(error)) => {
            tracing::warn!(%run, %error, "the snapshot is not used");
            None
        }
        kept => kept?,
    };
    let usable = kept.filter(|it| it.fold == FOLD_VERSION && it.plan == *plan);
    // A snapshot that does not decode is worth nothing, and nothing is lost with it.
    let snapshot = usable.and_then(|it| serde_json::from_slice::<RunState>(&it.body).ok());
    let mut state = snapshot.unwrap_or_default();
    let from = state.seq;
    loop {
        let events = load_events(store, run, state.seq, PAGE).await?;
        if events.is_empty() {
            return Ok((state, from));
        }
        for event in &events {
            if event.seq != state.seq.next() {
                return Err(LoadError::Gap(state.seq.next()));
            }
            state.apply(event);
        }
    }
}

/// The events after `after`, about `limit` of them.
pub(crate) async fn load_events(
    store: &dyn Store,
    run: &RunId,
    after: Seq,
    limit: usize,
) -> Result<Vec<Event>, LoadError> {
    let mut events = Vec::new();
    for batch in store.load(run, after, limit).await? {
        events.extend(event::decode(&batch.body)?.into_iter().filter(|event| event.seq > after));
    }
    Ok(events)
}

/// All events of a run.
pub(crate) async fn load_history(store: &dyn Store, run: &RunId) -> Result<Vec<Event>, LoadError> {
    let mut history: Vec<Event> = Vec::new();
    loop {
        let after = history.last().map_or(Seq::ZERO, |event| event.seq);
        let page = load_events(store, run, after, PAGE).await?;
        if page.is_empty() {
            return Ok(history);
        }
        history.extend(page);
    }
}
