//! An engine's hold on its store, which it can release while others still hold the engine.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use rival_core::{PlanHash, RunId, Seq, Time};
use rival_store::{
    Claim, Commit, CommitError, EngineId, EventBatch, LogFilter, LogLine, Message, NewMessage, NewRun, Page,
    RunFilter, RunRow, SendResult, Snapshot, Store, StoreDamage, StoreError,
};

/// The store that it was given, until it is released. Afterwards every question is answered with [`StoreError::Closed`].
pub(crate) struct StoreSlot {
    store: RwLock<Option<Arc<dyn Store>>>,
}

impl StoreSlot {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store: RwLock::new(Some(store)) }
    }

    /// Lets the store go, if so. Calls that are under way hold it until they end.
    pub(crate) fn take_if(&self, so: bool) -> Option<Arc<dyn Store>> {
        so.then(|| self.store.write().unwrap_or_else(PoisonError::into_inner).take()).flatten()
    }

    fn get(&self) -> Result<Arc<dyn Store>, StoreError> {
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        store.clone().ok_or(StoreError::Closed)
    }
}

#[async_trait]
impl Store for StoreSlot {
    async fn join(&self) -> Result<EngineId, StoreError> {
        self.get()?.join().await
    }

    async fn leave(&self, engine: EngineId) -> Result<(), StoreError> {
        self.get()?.leave(engine).await
    }

    async fn start(&self, run: NewRun) -> Result<Option<RunRow>, StoreError> {
        self.get()?.start(run).await
    }

    async fn commit(&self, commit: Commit) -> Result<(), CommitError> {
        self.get()?.commit(commit).await
    }

    async fn send(&self, run: &RunId, message: NewMessage, now: Time) -> Result<SendResult, StoreError> {
        self.get()?.send(run, message, now).await
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, StoreError> {
        self.get()?.messages(run).await
    }

    async fn claim(&self, run: &RunId, engine: EngineId) -> Result<Option<Claim>, StoreError> {
        self.get()?.claim(run, engine).await
    }

    async fn claim_due(&self, engine: EngineId, now: Time, limit: usize) -> Result<Vec<Claim>, StoreError> {
        self.get()?.claim_due(engine, now, limit).await
    }

    async fn claim_queued(&self, engine: EngineId, limit: usize) -> Result<Vec<Claim>, StoreError> {
        self.get()?.claim_queued(engine, limit).await
    }

    async fn next_wake(&self) -> Result<Option<Time>, StoreError> {
        self.get()?.next_wake().await
    }

    async fn wake_blocked(&self, workflow: &str, now: Time) -> Result<u64, StoreError> {
        self.get()?.wake_blocked(workflow, now).await
    }

    async fn load(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<EventBatch>, StoreError> {
        self.get()?.load(run, after, limit).await
    }

    async fn last_batch(&self, run: &RunId) -> Result<Option<EventBatch>, StoreError> {
        self.get()?.last_batch(run).await
    }

    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError> {
        self.get()?.snapshot(run).await
    }

    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.get()?.run(run).await
    }

    async fn runs(&self, filter: &RunFilter, page: &Page) -> Result<Vec<RunRow>, StoreError> {
        self.get()?.runs(filter, page).await
    }

    async fn put_plan(&self, hash: &PlanHash, json: &str) -> Result<(), StoreError> {
        self.get()?.put_plan(hash, json).await
    }

    async fn plan(&self, hash: &PlanHash) -> Result<Option<String>, StoreError> {
        self.get()?.plan(hash).await
    }

    async fn plans(&self) -> Result<Vec<(PlanHash, String)>, StoreError> {
        self.get()?.plans().await
    }

    async fn append_logs(&self, lines: Vec<LogLine>) -> Result<(), StoreError> {
        self.get()?.append_logs(lines).await
    }

    async fn logs(&self, run: &RunId, filter: &LogFilter) -> Result<Vec<LogLine>, StoreError> {
        self.get()?.logs(run, filter).await
    }

    async fn purge(&self, ended_before: Time, limit: usize) -> Result<u64, StoreError> {
        self.get()?.purge(ended_before, limit).await
    }

    async fn check_writable(&self) -> Result<(), StoreError> {
        self.get()?.check_writable().await
    }

    async fn check(&self) -> Result<Vec<StoreDamage>, StoreError> {
        self.get()?.check().await
    }

    async fn failed(&self) -> StoreError {
        match self.get() {
            Ok(store) => store.failed().await,
            Err(closed) => closed,
        }
    }

    async fn close(&self) {
        if let Some(store) = self.take_if(true) {
            store.close().await;
        }
    }
}
