//! A store that dies with its process: what it had written stays.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rival_core::{PlanHash, RunId, Seq, Time};
use rival_store::{
    Claim, Commit, CommitError, EngineId, EventBatch, LogFilter, LogLine, Message, NewMessage, NewRecord,
    NewRun, Page, PutResult, Record, RunFilter, RunRow, SendResult, Snapshot, Store, StoreError,
    StoreFigures,
};

use crate::crash::{CrashSchedule, CrashSide};

/// Another store, as a process sees it that may die.
pub struct MortalStore {
    inner: Arc<dyn Store>,
    crashes: Arc<CrashSchedule>,
    engines: Mutex<Vec<EngineId>>,
}

impl std::fmt::Debug for MortalStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MortalStore")
    }
}

impl MortalStore {
    /// A store, and when its process dies.
    pub fn new(inner: Arc<dyn Store>, crashes: Arc<CrashSchedule>) -> Self {
        Self { inner, crashes, engines: Mutex::default() }
    }

    /// The engines that joined are dead.
    pub async fn bury(&self) -> Result<(), StoreError> {
        let engines = std::mem::take(&mut *self.engines.lock().unwrap_or_else(PoisonError::into_inner));
        for engine in engines {
            self.inner.leave(engine).await?;
        }
        Ok(())
    }

    async fn read<T>(&self, reading: impl Future<Output = T>) -> T {
        let flight = self.crashes.enter().await;
        let read = reading.await;
        drop(flight);
        if self.crashes.is_dead() { std::future::pending().await } else { read }
    }

    async fn write<T>(&self, writing: impl Future<Output = T>) -> T {
        let flight = self.crashes.enter().await;
        let side = self.crashes.boundary();
        if side == Some(CrashSide::Before) {
            drop(flight);
            return self.crashes.die().await;
        }
        let written = writing.await;
        drop(flight);
        match side {
            Some(_) => self.crashes.die().await,
            None if self.crashes.is_dead() => std::future::pending().await,
            None => written,
        }
    }
}

#[async_trait]
impl Store for MortalStore {
    async fn join(&self) -> Result<EngineId, StoreError> {
        let engine = self.read(self.inner.join()).await?;
        self.engines.lock().unwrap_or_else(PoisonError::into_inner).push(engine);
        Ok(engine)
    }

    async fn leave(&self, engine: EngineId) -> Result<(), StoreError> {
        self.read(self.inner.leave(engine)).await
    }

    async fn start(&self, run: NewRun) -> Result<Option<RunRow>, StoreError> {
        self.write(self.inner.start(run)).await
    }

    async fn commit(&self, commit: Arc<Commit>) -> Result<Vec<usize>, CommitError> {
        self.write(self.inner.commit(commit)).await
    }

    async fn send(&self, run: &RunId, message: NewMessage, now: Time) -> Result<SendResult, StoreError> {
        self.write(self.inner.send(run, message, now)).await
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, StoreError> {
        self.read(self.inner.messages(run)).await
    }

    async fn claim(&self, run: &RunId, engine: EngineId) -> Result<Option<Claim>, StoreError> {
        self.read(self.inner.claim(run, engine)).await
    }

    async fn claim_due(&self, engine: EngineId, now: Time, limit: usize) -> Result<Vec<Claim>, StoreError> {
        self.read(self.inner.claim_due(engine, now, limit)).await
    }

    async fn claim_queued(&self, engine: EngineId, limit: usize) -> Result<Vec<Claim>, StoreError> {
        self.read(self.inner.claim_queued(engine, limit)).await
    }

    async fn next_wake(&self) -> Result<Option<Time>, StoreError> {
        self.read(self.inner.next_wake()).await
    }

    async fn wake_blocked(&self, workflow: &str, now: Time) -> Result<u64, StoreError> {
        self.read(self.inner.wake_blocked(workflow, now)).await
    }

    async fn load(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<EventBatch>, StoreError> {
        self.read(self.inner.load(run, after, limit)).await
    }

    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError> {
        self.read(self.inner.snapshot(run)).await
    }

    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.read(self.inner.run(run)).await
    }

    async fn runs(&self, filter: &RunFilter, page: &Page) -> Result<Vec<RunRow>, StoreError> {
        self.read(self.inner.runs(filter, page)).await
    }

    async fn count_children(&self, runs: &[RunId]) -> Result<Vec<u64>, StoreError> {
        self.read(self.inner.count_children(runs)).await
    }

    async fn figures(&self, now: Time) -> Result<StoreFigures, StoreError> {
        self.read(self.inner.figures(now)).await
    }

    async fn put_plan(&self, hash: &PlanHash, json: &str) -> Result<(), StoreError> {
        self.read(self.inner.put_plan(hash, json)).await
    }

    async fn plan(&self, hash: &PlanHash) -> Result<Option<String>, StoreError> {
        self.read(self.inner.plan(hash)).await
    }

    async fn plans(&self) -> Result<Vec<(PlanHash, String)>, StoreError> {
        self.read(self.inner.plans()).await
    }

    async fn put_record(&self, record: NewRecord) -> Result<PutResult, StoreError> {
        self.write(self.inner.put_record(record)).await
    }

    async fn record(
        &self,
        kind: &str,
        key: &str,
        version: Option<u64>,
    ) -> Result<Option<Record>, StoreError> {
        self.read(self.inner.record(kind, key, version)).await
    }

    async fn records(
        &self,
        kind: &str,
        after_key: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.read(self.inner.records(kind, after_key, limit)).await
    }

    async fn record_versions(
        &self,
        kind: &str,
        key: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.read(self.inner.record_versions(kind, key, before, limit)).await
    }

    async fn append_logs(&self, lines: Vec<LogLine>) -> Result<(), StoreError> {
        self.read(self.inner.append_logs(lines)).await
    }

    async fn logs(&self, run: &RunId, filter: &LogFilter) -> Result<Vec<LogLine>, StoreError> {
        self.read(self.inner.logs(run, filter)).await
    }

    async fn purge(&self, ended_before: Time, limit: usize) -> Result<u64, StoreError> {
        self.read(self.inner.purge(ended_before, limit)).await
    }

    async fn check_writable(&self) -> Result<(), StoreError> {
        self.read(self.inner.check_writable()).await
    }
}
