//! A store that forgets: everything is in memory behind one lock.
//!
//! For tests, the simulator and programs that need no durability. One lock makes every method a
//! transaction; a commit checks everything before it writes anything.

mod append;
mod claim;
mod logs;
mod messages;
mod query;
mod records;
mod retention;
mod state;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use rival_core::{PlanHash, RunId, Seq, Time};

use crate::{
    Claim, Commit, CommitError, EngineId, EventBatch, LogFilter, LogLine, Message, NewMessage, NewRecord,
    NewRun, Page, PutResult, Record, RunFilter, RunRow, SendResult, Snapshot, Store, StoreError,
    StoreFigures,
};
use state::MemoryState;

/// Keeps everything in memory, until it is dropped.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<MemoryState>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing in here runs foreign code under the lock, so that a poisoned one is as good as any.
    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryStore {
    /// The number of runs; the runs themselves would fill pages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("runs", &self.lock().runs.len()).finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn join(&self) -> Result<EngineId, StoreError> {
        Ok(self.lock().join())
    }

    async fn leave(&self, engine: EngineId) -> Result<(), StoreError> {
        self.lock().leave(engine);
        Ok(())
    }

    async fn start(&self, run: NewRun) -> Result<Option<RunRow>, StoreError> {
        self.lock().start(run)
    }

    async fn commit(&self, commit: Arc<Commit>) -> Result<Vec<usize>, CommitError> {
        self.lock().commit(Arc::unwrap_or_clone(commit))
    }

    async fn send(&self, run: &RunId, message: NewMessage, now: Time) -> Result<SendResult, StoreError> {
        Ok(self.lock().send(run, message, now))
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, StoreError> {
        Ok(self.lock().messages(run))
    }

    async fn claim(&self, run: &RunId, engine: EngineId) -> Result<Option<Claim>, StoreError> {
        Ok(self.lock().claim(run, engine))
    }

    async fn claim_due(&self, engine: EngineId, now: Time, limit: usize) -> Result<Vec<Claim>, StoreError> {
        Ok(self.lock().claim_due(engine, now, limit))
    }

    async fn claim_queued(&self, engine: EngineId, limit: usize) -> Result<Vec<Claim>, StoreError> {
        Ok(self.lock().claim_queued(engine, limit))
    }

    async fn next_wake(&self) -> Result<Option<Time>, StoreError> {
        Ok(self.lock().next_wake())
    }

    async fn wake_blocked(&self, workflow: &str, now: Time) -> Result<u64, StoreError> {
        Ok(self.lock().wake_blocked(workflow, now))
    }

    async fn load(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<EventBatch>, StoreError> {
        Ok(self.lock().load(run, after, limit))
    }

    async fn last_batch(&self, run: &RunId) -> Result<Option<EventBatch>, StoreError> {
        Ok(self.lock().get(run).and_then(|run| run.history.last().cloned()))
    }

    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError> {
        Ok(self.lock().snapshot(run))
    }

    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        Ok(self.lock().row(run))
    }

    async fn runs(&self, filter: &RunFilter, page: &Page) -> Result<Vec<RunRow>, StoreError> {
        Ok(self.lock().rows(filter, page))
    }

    async fn count_children(&self, runs: &[RunId]) -> Result<Vec<u64>, StoreError> {
        Ok(self.lock().count_children(runs))
    }

    async fn figures(&self, now: Time) -> Result<StoreFigures, StoreError> {
        Ok(self.lock().figures(now))
    }

    async fn put_plan(&self, hash: &PlanHash, json: &str) -> Result<(), StoreError> {
        self.lock().put_plan(hash, json);
        Ok(())
    }

    async fn plan(&self, hash: &PlanHash) -> Result<Option<String>, StoreError> {
        Ok(self.lock().plan(hash))
    }

    async fn plans(&self) -> Result<Vec<(PlanHash, String)>, StoreError> {
        Ok(self.lock().plans.clone())
    }

    async fn put_record(&self, record: NewRecord) -> Result<PutResult, StoreError> {
        self.lock().put_record(record)
    }

    async fn record(
        &self,
        kind: &str,
        key: &str,
        version: Option<u64>,
    ) -> Result<Option<Record>, StoreError> {
        Ok(self.lock().record(kind, key, version))
    }

    async fn records(
        &self,
        kind: &str,
        after_key: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        Ok(self.lock().records(kind, after_key, limit))
    }

    async fn record_versions(
        &self,
        kind: &str,
        key: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        Ok(self.lock().record_versions(kind, key, before, limit))
    }

    async fn append_logs(&self, lines: Vec<LogLine>) -> Result<(), StoreError> {
        self.lock().append_logs(lines);
        Ok(())
    }

    async fn logs(&self, run: &RunId, filter: &LogFilter) -> Result<Vec<LogLine>, StoreError> {
        Ok(self.lock().logs(run, filter))
    }

    async fn purge(&self, ended_before: Time, limit: usize) -> Result<u64, StoreError> {
        Ok(self.lock().purge(ended_before, limit))
    }

    async fn check_writable(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
