//! A store and an observer of a user's own, written with what `rival` itself exports.

use std::sync::{Arc, Mutex};

use rival::event::CallRole;
use rival::prelude::*;
use rival::store::{
    Claim, Commit, CommitError, EngineId, EventBatch, LogFilter, LogLine, MemoryStore, Message, NewMessage,
    NewRecord, NewRun, Page, PutResult, Record, RunRow, SendResult, Snapshot, Store, StoreError,
    StoreFigures, async_trait,
};
use rival::{CallEnd, Called, Committed, Observer, PlanHash, RunId, RunStatus, Seq, Time};

struct OwnStore(MemoryStore);

#[async_trait]
impl Store for OwnStore {
    async fn join(&self) -> Result<EngineId, StoreError> {
        self.0.join().await
    }

    async fn leave(&self, engine: EngineId) -> Result<(), StoreError> {
        self.0.leave(engine).await
    }

    async fn start(&self, run: NewRun) -> Result<Option<RunRow>, StoreError> {
        self.0.start(run).await
    }

    async fn commit(&self, commit: Arc<Commit>) -> Result<Vec<usize>, CommitError> {
        self.0.commit(commit).await
    }

    async fn send(&self, run: &RunId, message: NewMessage, now: Time) -> Result<SendResult, StoreError> {
        self.0.send(run, message, now).await
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, StoreError> {
        self.0.messages(run).await
    }

    async fn claim(&self, run: &RunId, engine: EngineId) -> Result<Option<Claim>, StoreError> {
        self.0.claim(run, engine).await
    }

    async fn claim_due(&self, engine: EngineId, now: Time, limit: usize) -> Result<Vec<Claim>, StoreError> {
        self.0.claim_due(engine, now, limit).await
    }

    async fn claim_queued(&self, engine: EngineId, limit: usize) -> Result<Vec<Claim>, StoreError> {
        self.0.claim_queued(engine, limit).await
    }

    async fn next_wake(&self) -> Result<Option<Time>, StoreError> {
        self.0.next_wake().await
    }

    async fn wake_blocked(&self, workflow: &str, now: Time) -> Result<u64, StoreError> {
        self.0.wake_blocked(workflow, now).await
    }

    async fn load(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<EventBatch>, StoreError> {
        self.0.load(run, after, limit).await
    }

    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError> {
        self.0.snapshot(run).await
    }

    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.0.run(run).await
    }

    async fn runs(&self, filter: &RunFilter, page: &Page) -> Result<Vec<RunRow>, StoreError> {
        self.0.runs(filter, page).await
    }

    async fn count_children(&self, runs: &[RunId]) -> Result<Vec<u64>, StoreError> {
        self.0.count_children(runs).await
    }

    async fn figures(&self, now: Time) -> Result<StoreFigures, StoreError> {
        self.0.figures(now).await
    }

    async fn put_plan(&self, hash: &PlanHash, json: &str) -> Result<(), StoreError> {
        self.0.put_plan(hash, json).await
    }

    async fn plan(&self, hash: &PlanHash) -> Result<Option<String>, StoreError> {
        self.0.plan(hash).await
    }

    async fn plans(&self) -> Result<Vec<(PlanHash, String)>, StoreError> {
        self.0.plans().await
    }

    async fn put_record(&self, record: NewRecord) -> Result<PutResult, StoreError> {
        self.0.put_record(record).await
    }

    async fn record(
        &self,
        kind: &str,
        key: &str,
        version: Option<u64>,
    ) -> Result<Option<Record>, StoreError> {
        self.0.record(kind, key, version).await
    }

    async fn records(
        &self,
        kind: &str,
        after_key: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.0.records(kind, after_key, limit).await
    }

    async fn record_versions(
        &self,
        kind: &str,
        key: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.0.record_versions(kind, key, before, limit).await
    }

    async fn append_logs(&self, lines: Vec<LogLine>) -> Result<(), StoreError> {
        self.0.append_logs(lines).await
    }

    async fn logs(&self, run: &RunId, filter: &LogFilter) -> Result<Vec<LogLine>, StoreError> {
        self.0.logs(run, filter).await
    }

    async fn purge(&self, ended_before: Time, limit: usize) -> Result<u64, StoreError> {
        self.0.purge(ended_before, limit).await
    }

    async fn check_writable(&self) -> Result<(), StoreError> {
        self.0.check_writable().await
    }
}

#[derive(Default)]
struct OwnObserver(Mutex<Vec<String>>);

impl Observer for OwnObserver {
    fn committed(&self, commit: &Committed<'_>) {
        if commit.status == RunStatus::Completed {
            self.0.lock().unwrap().push(format!("{} events", commit.state.seq));
        }
    }

    fn called(&self, call: &Called<'_>) {
        if let (CallRole::Step, CallEnd::Succeeded) = (call.role, call.end) {
            self.0.lock().unwrap().push(format!("{} called", call.node));
        }
    }
}

#[step]
async fn count() -> Result<u32, StepError> {
    Ok(12)
}

#[tokio::test]
async fn a_store_and_an_observer_need_no_other_crate() {
    let trees = Workflow::new("trees").step(count).build().unwrap();
    let observer = Arc::new(OwnObserver::default());
    let builder = Engine::builder().store(OwnStore(MemoryStore::default())).observe(observer.clone());
    let engine = builder.workflow(&trees).build().await.unwrap();
    assert_eq!(engine.run(&trees, ()).await.unwrap().output().await.unwrap(), 12);
    engine.shutdown(std::time::Duration::from_secs(5)).await;
    assert_eq!(*observer.0.lock().unwrap(), ["count called", "4 events"]);
}
