//! What Rival needs of a store, and one store that keeps everything in memory.
//!
//! A transition of a run is one [`Commit`]: its events, its row, the messages it sends and consumes, the
//! runs it starts. All of it becomes durable or none. A store knows nothing of plans or of what events
//! mean: it keeps bytes in order and refuses writers that do not own the run.
//!
//! The suite in `conformance` (a feature of that name) says what every store must do; each store runs all of it.

#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod given;
mod memory;
mod record;
mod types;

use std::sync::Arc;

use rival_core::{PlanHash, RunId, Seq, Time};

/// Stores are written with it: `#[async_trait] impl Store for …`.
pub use async_trait::async_trait;
pub use error::{CommitError, StoreError};
pub use given::GivenStore;
pub use memory::MemoryStore;
pub use record::{ExpectedVersion, KEY_MAX_BYTES, KIND_MAX_BYTES, NewRecord, PutResult, Record};
pub use rival_core::LogLevel;
pub use types::{
    Claim, Commit, EngineId, Epoch, EventBatch, LogFilter, LogLine, Message, MessageNo, NewMessage, NewRun,
    Page, RowUpdate, RunFilter, RunHold, RunRow, SendResult, Snapshot, StoreDamage, StoreFigures,
};

/// About how many bytes of events or log lines are read at once: what holds a page holds no more than that, and one batch
/// or line.
pub const LOAD_MAX_BYTES: usize = 1 << 20;

/// Where runs live.
///
/// Every method that changes something returns only after the change is durable.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Registers an engine as an owner of runs. Runs owned by engines that are gone can be claimed. An id is
    /// never given twice, also not after the store was opened again; all engines from before are gone then.
    async fn join(&self) -> Result<EngineId, StoreError>;

    /// Says that an engine is gone; whatever it still owned can be claimed at once, and its own commits and
    /// claims are refused from now on. Leaving twice, or without having joined, does nothing.
    async fn leave(&self, engine: EngineId) -> Result<(), StoreError>;

    /// Creates a run with its first events and epoch 1. A run id that exists is no error: nothing is written, and the
    /// row that is there is given.
    async fn start(&self, run: NewRun) -> Result<Option<RunRow>, StoreError>;

    /// Writes one transition of a run, whole or not at all.
    ///
    /// Refused unless the run exists ([`CommitError::NotFound`]), its owner is alive and has it at the given
    /// epoch, it has not ended, the consumed messages still wait ([`CommitError::Fenced`]), and the events
    /// begin right after the last one ([`CommitError::Sequence`]). The checks are made in this order. The caller keeps a
    /// reference, to send the same commit again if the store did not answer.
    ///
    /// Gives the places in [`Commit::runs`] of the runs that were there already: nothing of those is written.
    async fn commit(&self, commit: Arc<Commit>) -> Result<Vec<usize>, CommitError>;

    /// Leaves a message for a run and makes the run due, so that an engine claims it: a run without an owner
    /// wakes at `now` or earlier. An owned run is left to its owner, and a queued one stays where it is in the
    /// queue.
    ///
    /// A message whose `id` the run knows is not kept twice: nothing changes, and it is [`SendResult::Known`], also after the
    /// run has ended. A run knows the ids of the messages that wait for it, and of those that it has acted on; not of
    /// those that were refused, or dropped at its end. So a sender that repeats an id learns what became of the
    /// first message.
    async fn send(&self, run: &RunId, message: NewMessage, now: Time) -> Result<SendResult, StoreError>;

    /// The messages that wait for a run, oldest first.
    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, StoreError>;

    /// Takes a run over if it has no live owner (the claiming engine included) and has not ended. A queued
    /// run becomes `running`. The epoch grows by one with every claim, so that the owner before is
    /// refused from now on; a claimed run has no wake-up.
    async fn claim(&self, run: &RunId, engine: EngineId) -> Result<Option<Claim>, StoreError>;

    /// Claims up to `limit` runs: those of engines that are gone (in any order; first, because there is an
    /// end to them), then those without an owner whose wake-up time has come, the earliest first. Their
    /// status stays as it is.
    async fn claim_due(&self, engine: EngineId, now: Time, limit: usize) -> Result<Vec<Claim>, StoreError>;

    /// Claims up to `limit` queued runs without an owner, the oldest first. They become `running`.
    async fn claim_queued(&self, engine: EngineId, limit: usize) -> Result<Vec<Claim>, StoreError>;

    /// The earliest wake-up time of a run without an owner; runs of engines that are gone have none.
    async fn next_wake(&self) -> Result<Option<Time>, StoreError>;

    /// Makes the blocked runs of a workflow that have no owner due at `now` or earlier, because its definition
    /// is there (again). Gives the number of such runs.
    async fn wake_blocked(&self, workflow: &str, now: Time) -> Result<u64, StoreError>;

    /// The batches that hold the events after `after`, in order, about `limit` events and about
    /// [`LOAD_MAX_BYTES`] at most (always at least one batch if there is one). The first batch may begin before
    /// `after + 1`.
    /// Unknown runs have no events.
    async fn load(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<EventBatch>, StoreError>;

    /// The batch that holds a run's last event.
    async fn last_batch(&self, run: &RunId) -> Result<Option<EventBatch>, StoreError> {
        let mut last: Option<EventBatch> = None;
        loop {
            let after = last.as_ref().map_or(Seq::ZERO, EventBatch::last);
            match self.load(run, after, 10_000).await?.pop() {
                Some(batch) => last = Some(batch),
                None => return Ok(last),
            }
        }
    }

    /// The latest snapshot of a run.
    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError>;

    /// A run's row.
    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError>;

    /// Rows of runs that match, the newest first, a page at a time. With a bound in time a store may go by the times of
    /// creation, which say another order than the creation here where a clock was set back; pages of one filter go together
    /// in any case.
    async fn runs(&self, filter: &RunFilter, page: &Page) -> Result<Vec<RunRow>, StoreError>;

    /// How many children each of these runs has, ended or not; runs that undo children are children too.
    async fn count_children(&self, runs: &[RunId]) -> Result<Vec<u64>, StoreError>;

    /// How much there is, at this time. It may walk over an index of all runs, so callers keep the answer for a while.
    async fn figures(&self, now: Time) -> Result<StoreFigures, StoreError>;

    /// Keeps a plan under its hash; keeping it again does nothing. Plans outlive the runs that had them.
    async fn put_plan(&self, hash: &PlanHash, json: &str) -> Result<(), StoreError>;

    /// A kept plan.
    async fn plan(&self, hash: &PlanHash) -> Result<Option<String>, StoreError>;

    /// All kept plans, the oldest first.
    async fn plans(&self) -> Result<Vec<(PlanHash, String)>, StoreError>;

    /// Writes a version of a record: the next one of its kind and key, if the newest one is what is expected. Of several
    /// callers who expect the same one, one writes. A kind or a key that cannot be one is [`StoreError::Invalid`]
    /// ([`NewRecord::check`]).
    async fn put_record(&self, record: NewRecord) -> Result<PutResult, StoreError>;

    /// A version of a record; without a number, the newest, also if it is one that deletes.
    async fn record(&self, kind: &str, key: &str, version: Option<u64>)
    -> Result<Option<Record>, StoreError>;

    /// The newest version of each record of a kind that is not deleted, in the order of the bytes of their keys, after this
    /// key. About [`LOAD_MAX_BYTES`] at most, and always one if there is one: an empty page is the end.
    async fn records(
        &self,
        kind: &str,
        after_key: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError>;

    /// The versions of a record before this one, the newest first, those that delete included. Pages are as long as those of
    /// [`Store::records`].
    async fn record_versions(
        &self,
        kind: &str,
        key: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError>;

    /// Adds log lines, also of runs that have ended. Lines of unknown runs are dropped.
    async fn append_logs(&self, lines: Vec<LogLine>) -> Result<(), StoreError>;

    /// Log lines of a run, oldest first: in the order in which they were added. With a `limit`, about
    /// [`LOAD_MAX_BYTES`] at most, and always one line if there is one.
    async fn logs(&self, run: &RunId, filter: &LogFilter) -> Result<Vec<LogLine>, StoreError>;

    /// Removes up to `limit` runs that ended before `ended_before`, with everything of theirs, oldest first. A run with a
    /// live child stays, and so does one whose parent lives, or the parent's parent, and so on: they may have to undo
    /// what it did; and so does one as long as a run lives that starts what it triggers, which reads what it left: that is called
    /// [`RunId::triggers`], retries of it begin so. Those that stay do not count. Gives the number of runs removed. Their ids are free again.
    async fn purge(&self, ended_before: Time, limit: usize) -> Result<u64, StoreError>;

    /// Fails if the store cannot take writes now; an engine asks before it tries again after a fault.
    async fn check_writable(&self) -> Result<(), StoreError>;

    /// Looks at everything that is kept, and gives what is not as it was written. A store that has no way to tell finds
    /// nothing.
    async fn check(&self) -> Result<Vec<StoreDamage>, StoreError> {
        Ok(Vec::new())
    }

    /// Ends when the store can never take writes again unless it is opened anew, and says why. A server has nothing
    /// left to do then.
    async fn failed(&self) -> StoreError {
        std::future::pending().await
    }

    /// Finishes what was asked for, and lets go of whatever the store holds, such as a file and its lock, also while
    /// values of it are still around. From then on it answers [`StoreError::Closed`]. Dropping a store does the same.
    async fn close(&self) {}
}
