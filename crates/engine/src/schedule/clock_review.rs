//! Runs that were written by a clock that was ahead: in what is the future now.
//!
//! A wait that such a clock began would last until the wall clock comes to where that one was, which may be years. So
//! once the wall clock can be trusted, live runs are told, and runs that sleep in the store are looked through and
//! brought in. Each has its own clock set back when it is there (`Input::ClockSetBack`).

use std::sync::{Arc, Mutex, PoisonError};

use rival_core::event;
use rival_core::{RunId, RunStatus, Time};
use rival_store::{Commit, CommitError, Page, RowUpdate, RunFilter, RunHold, RunRow, StoreError};

use crate::run::mailbox::ActorMessage;
use crate::schedule::shared::EngineShared;

/// Less than this is not worth an event: two processes may have read the clock in another order.
const AHEAD_MS: u64 = 5_000;
/// How many runs are looked at between two questions to the store.
const PAGE: usize = 500;

/// Whether runs have been looked through since time was last set back.
#[derive(Debug, Default)]
pub(crate) struct ClockReview {
    /// How often time had been set back at the last one.
    done_at: Mutex<Option<u64>>,
}

impl ClockReview {
    /// A run was left in the future after they were looked through: once more.
    pub(crate) fn again(&self) {
        *self.done_at.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn begins(&self, set_backs: u64) -> bool {
        let mut done_at = self.done_at.lock().unwrap_or_else(PoisonError::into_inner);
        done_at.replace(set_backs) != Some(set_backs)
    }

    fn is_due(&self, set_backs: u64) -> bool {
        *self.done_at.lock().unwrap_or_else(PoisonError::into_inner) != Some(set_backs)
    }
}

impl EngineShared {
    /// Whether a moment that was recorded lies in the future, by a wall clock that can be trusted.
    pub(crate) fn is_ahead(&self, at: Time) -> bool {
        at > self.clock.now().plus_ms(AHEAD_MS) && self.is_clock_trusted()
    }

    fn is_clock_trusted(&self) -> bool {
        self.clock.trusted_in().is_some_and(|left| left.is_zero())
    }

    /// Whether runs are to be looked through as soon as the clock can be trusted.
    pub(crate) fn is_review_due(&self) -> bool {
        self.review.is_due(self.clock.set_backs())
    }
}

/// Looks through the runs, in a task of its own, if it is time to.
pub(crate) fn look(shared: &Arc<EngineShared>) {
    if !shared.is_clock_trusted() || !shared.review.begins(shared.clock.set_backs()) {
        return;
    }
    let shared = Arc::clone(shared);
    shared.in_flight.add();
    tokio::spawn(async move {
        if let Err(error) = look_through(&shared).await {
            tracing::warn!(%error, "runs that were written in the future cannot be looked for; trying again");
            shared.review.again();
        }
        shared.in_flight.remove(1);
    });
}

async fn look_through(shared: &Arc<EngineShared>) -> Result<(), StoreError> {
    shared.registry.set_clock_back(shared.clock.now());
    let live: Vec<_> = shared.live().values().cloned().collect();
    live.iter().for_each(|mailbox| _ = mailbox.send(ActorMessage::Tick));
    let asleep = RunStatus::unfinished().filter(|status| *status != RunStatus::Queued);
    let filter = RunFilter { statuses: asleep.collect(), ..RunFilter::default() };
    let (mut before, mut found) = (None, 0_u64);
    loop {
        let rows = shared.store.get()?.runs(&filter, &Page { before, limit: PAGE }).await?;
        for row in &rows {
            if row.owner.is_none() && row.wake_at.is_some_and(|at| shared.is_ahead(at)) {
                found += u64::from(wake_if_ahead(shared, row).await?);
            }
        }
        let Some(last) = rows.last().filter(|_| rows.len() == PAGE && !shared.is_stopping()) else { break };
        before = Some(last.no);
    }
    if found > 0 {
        tracing::warn!(runs = found, "sleeping runs were written in the future: their clocks are set back");
        shared.scheduler.rescan();
    }
    Ok(())
}

/// Makes a sleeping run due if its last event lies in the future.
async fn wake_if_ahead(shared: &EngineShared, row: &RunRow) -> Result<bool, StoreError> {
    let Some(at) = last_moment(shared, &row.id).await? else { return Ok(false) };
    if !shared.is_ahead(at) {
        return Ok(false);
    }
    let Some(claim) = shared.store.get()?.claim(&row.id, shared.id).await? else { return Ok(false) };
    let now = shared.clock.now();
    let mut commit = Commit::new(row.id.clone(), claim.epoch, now);
    let (status, note) = (claim.row.status, claim.row.note);
    commit.row_update = Some(RowUpdate::new(status, RunHold::Release(Some(now)), now, note));
    match shared.commit(commit).await {
        Ok(_) => Ok(true),
        Err(CommitError::Store(error)) => Err(error),
        // Another owner has taken it since, and sees for itself.
        Err(_) => Ok(false),
    }
}

/// When the last event of a run was decided. One that cannot be read says nothing here; loading the run will.
async fn last_moment(shared: &EngineShared, run: &RunId) -> Result<Option<Time>, StoreError> {
    let batch = shared.store.get()?.last_batch(run).await?;
    let events = batch.and_then(|batch| event::decode(&batch.body).ok());
    Ok(events.and_then(|events| events.last().map(|event| event.at)))
}
