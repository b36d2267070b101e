//! Brings a run from the store into memory: snapshot, tail, messages, and what a crash left behind.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rival_core::event::{self, DecodeError};
use rival_core::state::FOLD_VERSION;
use rival_core::{Event, RunId, RunStatus, Seq, State};
use rival_store::{Claim, Commit, Epoch, Standing, Store, StoreError};

use crate::actor::{Actor, SNAPSHOT_EVERY, Work};
use crate::call::Calls;
use crate::control::{Answer, Refusal};
use crate::items::Lists;
use crate::mail::{self, Mailbox};
use crate::shared::{Place, Shared};
use crate::values::Values;

/// How many events are read from the store at once.
pub(crate) const PAGE: usize = 2_000;

/// Why a run cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("workflow `{0}` is not registered: register it and the run goes on")]
    NotRegistered(String),
    #[error("its plan is not in the store")]
    PlanMissing,
    #[error("event {0} is missing from its history")]
    Gap(Seq),
}

/// Makes a claimed run live, in a task of its own. `answer` is told the run's status after its first turn.
pub(crate) fn activate(shared: &Arc<Shared>, claim: Claim, place: Place, answer: Option<Answer>) {
    let shared = Arc::clone(shared);
    shared.gauge.add();
    let (mailbox, mut inbox) = Mailbox::new(Arc::clone(&shared.gauge));
    shared.live().insert(claim.row.id.clone(), mailbox.clone());
    tokio::spawn(async move {
        let loaded = load(&shared, &claim).await;
        let (registered, plan, state, snapshot) = match loaded {
            Ok(loaded) => loaded,
            Err(error) => {
                set_aside(&shared, &claim, &error).await;
                shared.left(&claim.row.id, &mailbox);
                if let Some(answer) = answer {
                    answer.send(Err(Refusal::Unloadable(error.to_string())));
                }
                return shared.gauge.remove(1 + mail::refuse(&mut inbox).count);
            }
        };
        let standing = Standing {
            status: claim.row.status,
            keep: true,
            wake_at: None,
            ended_at: None,
            note: claim.row.note.clone(),
        };
        let mut actor = Box::new(Actor {
            run: claim.row.id.clone(),
            epoch: claim.epoch,
            registered,
            plan,
            state,
            values: Values::default(),
            lists: Lists::default(),
            asked_maps: HashMap::new(),
            talking: BTreeSet::new(),
            idle_look: None,
            refused: Vec::new(),
            mailbox,
            inbox,
            calls: Calls::default(),
            standing,
            snapshot,
            snapshot_after: SNAPSHOT_EVERY,
            admit: !shared.is_stopping(),
            _place: place,
            shared,
        });
        actor.tell_dequeued();
        let mut work = Work { answers: answer.into_iter().collect(), ..Work::default() };
        actor.activate(&mut work).await;
        actor.live(work).await;
    });
}

type Loaded = (Arc<crate::registry::Registered>, Arc<rival_core::IndexedPlan>, State, Seq);

async fn load(shared: &Shared, claim: &Claim) -> Result<Loaded, LoadError> {
    let row = &claim.row;
    let not_registered = || LoadError::NotRegistered(row.workflow.clone());
    if !shared.registry.knows(&row.workflow) {
        return Err(not_registered());
    }
    let plan = shared.plan(&row.workflow, &row.plan).await?.ok_or(LoadError::PlanMissing)?;
    let registered = shared.registry.of_run(&row.workflow, row.created_at, &plan);
    let registered = registered.ok_or_else(not_registered)?;
    let (state, snapshot) = load_state(&*shared.store, &row.id, &row.plan).await?;
    Ok((registered, plan, state, snapshot))
}

/// Folds a run's state from its latest usable snapshot and what came after it.
pub(crate) async fn load_state(
    store: &dyn Store,
    run: &RunId,
    plan: &rival_core::PlanHash,
) -> Result<(State, Seq), LoadError> {
    let usable = store.snapshot(run).await?.filter(|it| it.fold == FOLD_VERSION && it.plan == *plan);
    // A snapshot that does not decode is worth nothing, and nothing is lost with it.
    let snapshot = usable.and_then(|it| serde_json::from_slice::<State>(&it.body).ok());
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

/// A run that cannot be loaded is blocked, with the reason in its row, and looked at again when its
/// workflow is registered or somebody resumes it.
async fn set_aside(shared: &Arc<Shared>, claim: &Claim, error: &LoadError) {
    let run = &claim.row.id;
    tracing::error!(%run, %error, "the run cannot go on");
    let now = shared.clock.now();
    let mut commit = Commit::new(run.clone(), claim.epoch, now);
    // A store that fails now may work later; what is wrong in the run itself needs help.
    let (status, wake_at) = match error {
        LoadError::Store(error) if error.is_retryable() => (claim.row.status, Some(now.plus_ms(1_000))),
        LoadError::Store(_)
        | LoadError::Decode(_)
        | LoadError::NotRegistered(_)
        | LoadError::PlanMissing
        | LoadError::Gap(_) => (RunStatus::Blocked, None),
    };
    commit.standing =
        Some(Standing { status, keep: false, wake_at, ended_at: None, note: Some(error.to_string()) });
    write(shared, commit).await;
    shared.keeper.expect(wake_at);
    // The workflow may have been registered while the run was still being looked at.
    if matches!(error, LoadError::NotRegistered(_)) && shared.registry.knows(&claim.row.workflow) {
        match shared.store.wake_blocked(&claim.row.workflow, shared.clock.now()).await {
            Ok(_) => shared.keeper.look_again(),
            Err(error) => {
                tracing::error!(%run, %error, "the run is blocked although its workflow is registered");
            }
        }
    }
}

/// Gives a run back that cannot be written, blocked and with the reason in its row.
pub(crate) async fn give_back(shared: &Shared, run: &RunId, epoch: Epoch, reason: &str) {
    let mut commit = Commit::new(run.clone(), epoch, shared.clock.now());
    let note = Some(reason.to_owned());
    commit.standing =
        Some(Standing { status: RunStatus::Blocked, keep: false, wake_at: None, ended_at: None, note });
    write(shared, commit).await;
}

/// Nobody else can touch the run until this is written.
async fn write(shared: &Shared, commit: Commit) {
    let run = commit.run.clone();
    if let Err(error) = shared.commit(commit).await {
        tracing::error!(%run, %error, "the run could not be given back; it is found again at the next start");
    }
}
