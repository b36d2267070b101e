//! A store that does as a test says: it fails, damages snapshots, and counts what is read.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use rival::{LogFilter, LogLine, Page, PlanHash, RunFilter, RunId, RunRow, Seq, Store, StoreError, Time};
use rival_store::{
    Claim, Commit, CommitError, EngineId, EventBatch, Message, NewMessage, NewRecord, NewRun, PutResult,
    Record, SendResult, Snapshot, StoreFigures,
};

use crate::steps::Gate;

/// Another store, and what the test wants of it.
pub(crate) struct TestStore {
    inner: Arc<dyn Store>,
    engines: Mutex<Vec<EngineId>>,
    /// What the next commits do; `None` lets one through.
    commits: Mutex<VecDeque<Option<StoreError>>>,
    starts: Mutex<VecDeque<StoreError>>,
    loads: Mutex<VecDeque<StoreError>>,
    messages: Mutex<VecDeque<StoreError>>,
    next_wakes: Mutex<VecDeque<StoreError>>,
    /// Where the next commit waits.
    committing: Mutex<Option<Gate>>,
    /// Where the next claim waits, after it was made.
    claimed: Mutex<Option<Gate>>,
    /// Where the next look at messages waits, after it was made.
    looked: Mutex<Option<Gate>>,
    /// Where the next reading of one event waits.
    reading: Mutex<Option<Gate>>,
    /// Where the next message waits, after it was written.
    sent: Mutex<Option<Gate>>,
    claims: Mutex<VecDeque<StoreError>>,
    /// What snapshots are read as.
    snapshots: Mutex<Snapshots>,
    /// How many runs may still be started and transitions committed before the process dies.
    lifetime: Mutex<Option<Lifetime>>,
    events_read: AtomicU64,
    commits_written: AtomicU64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Snapshots {
    #[default]
    Kept,
    Dropped,
    Damaged,
}

impl TestStore {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Self {
        Self {
            inner,
            engines: Mutex::default(),
            commits: Mutex::default(),
            starts: Mutex::default(),
            loads: Mutex::default(),
            messages: Mutex::default(),
            next_wakes: Mutex::default(),
            committing: Mutex::default(),
            claimed: Mutex::default(),
            looked: Mutex::default(),
            reading: Mutex::default(),
            sent: Mutex::default(),
            claims: Mutex::default(),
            snapshots: Mutex::default(),
            lifetime: Mutex::default(),
            events_read: AtomicU64::default(),
            commits_written: AtomicU64::default(),
        }
    }

    /// The engines that joined are dead.
    pub(crate) async fn bury(&self) {
        let engines = std::mem::take(&mut *self.engines.lock().unwrap());
        for engine in engines {
            self.inner.leave(engine).await.unwrap();
        }
    }

    /// Lets `after` commits through and fails the `count` that follow.
    pub(crate) fn fail_commits(&self, after: usize, count: usize, error: &StoreError) {
        let mut commits = self.commits.lock().unwrap();
        commits.clear();
        commits.extend(std::iter::repeat_n(None, after));
        commits.extend(std::iter::repeat_n(Some(error.clone()), count));
    }

    /// Dies after so many starts and commits. With `unheard` what comes next is written, and its writer dies before it hears
    /// of that.
    #[allow(dead_code, reason = "`tests/triggers` uses it")]
    pub(crate) fn die_after(&self, writes: usize, unheard: bool) {
        *self.lifetime.lock().unwrap() = Some(Lifetime { writes, unheard, died: false });
    }

    /// Whether it came to that.
    #[allow(dead_code, reason = "`tests/triggers` uses it")]
    pub(crate) fn has_died(&self) -> bool {
        self.lifetime.lock().unwrap().as_ref().is_some_and(|life| life.died)
    }

    /// What becomes of a write.
    fn live(&self) -> WriteFate {
        let mut lifetime = self.lifetime.lock().unwrap();
        let Some(life) = lifetime.as_mut() else { return WriteFate::Made };
        if life.died {
            return WriteFate::Lost;
        }
        life.died = life.writes == 0;
        life.writes = life.writes.saturating_sub(1);
        match (life.died, life.unheard) {
            (false, _) => WriteFate::Made,
            (true, true) => WriteFate::Unheard,
            (true, false) => WriteFate::Lost,
        }
    }

    pub(crate) fn fail_next_start(&self, error: StoreError) {
        self.starts.lock().unwrap().push_back(error);
    }

    pub(crate) fn fail_next_load(&self, error: StoreError) {
        self.loads.lock().unwrap().push_back(error);
    }

    pub(crate) fn fail_next_messages(&self, error: StoreError) {
        self.messages.lock().unwrap().push_back(error);
    }

    pub(crate) fn fail_next_wake(&self, error: StoreError) {
        self.next_wakes.lock().unwrap().push_back(error);
    }

    /// Writes the next commit when the gate is open.
    pub(crate) fn hold_next_commit(&self, gate: &Gate) {
        *self.committing.lock().unwrap() = Some(gate.clone());
    }

    /// Makes the next claim, and answers it when the gate is open.
    pub(crate) fn hold_next_claim(&self, gate: &Gate) {
        *self.claimed.lock().unwrap() = Some(gate.clone());
    }

    /// Reads the messages that wait for the next caller, and answers that caller when the gate is open.
    pub(crate) fn hold_next_messages(&self, gate: &Gate) {
        *self.looked.lock().unwrap() = Some(gate.clone());
    }

    /// Reads the next event that is read alone when the gate is open.
    pub(crate) fn hold_next_event(&self, gate: &Gate) {
        *self.reading.lock().unwrap() = Some(gate.clone());
    }

    /// Writes the next message, and answers its sender when the gate is open.
    pub(crate) fn hold_next_send(&self, gate: &Gate) {
        *self.sent.lock().unwrap() = Some(gate.clone());
    }

    pub(crate) fn fail_next_claim(&self, error: StoreError) {
        self.claims.lock().unwrap().push_back(error);
    }

    /// How many of the failures asked for are still to come.
    pub(crate) fn failures_left(&self) -> usize {
        self.commits.lock().unwrap().iter().flatten().count()
    }

    pub(crate) fn read_snapshots_as(&self, how: Snapshots) {
        *self.snapshots.lock().unwrap() = how;
    }

    /// How many events have been read.
    pub(crate) fn events_read(&self) -> u64 {
        self.events_read.load(Ordering::SeqCst)
    }

    /// How many commits have been written.
    pub(crate) fn commits_written(&self) -> u64 {
        self.commits_written.load(Ordering::SeqCst)
    }

    /// Another engine takes a run over, as if its owner were dead.
    pub(crate) async fn steal(&self, run: &RunId) {
        self.bury().await;
        let thief = self.inner.join().await.unwrap();
        assert!(self.inner.claim(run, thief).await.unwrap().is_some(), "the run can be claimed");
    }
}

/// How long a process lives.
struct Lifetime {
    writes: usize,
    unheard: bool,
    died: bool,
}

/// What becomes of a write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteFate {
    Made,
    /// It is made, and its writer does not hear of that.
    Unheard,
    Lost,
}

fn dead() -> StoreError {
    StoreError::Poisoned("the process is dead".into())
}

#[async_trait]
impl Store for TestStore {
    async fn join(&self) -> Result<EngineId, StoreError> {
        let engine = self.inner.join().await?;
        self.engines.lock().unwrap().push(engine);
        Ok(engine)
    }

    async fn leave(&self, engine: EngineId) -> Result<(), StoreError> {
        self.inner.leave(engine).await
    }

    async fn start(&self, run: NewRun) -> Result<Option<RunRow>, StoreError> {
        let fault = self.starts.lock().unwrap().pop_front();
        match (fault, self.live()) {
            (Some(error), _) => Err(error),
            (None, WriteFate::Made) => self.inner.start(run).await,
            (None, WriteFate::Unheard) => self.inner.start(run).await.and(Err(dead())),
            (None, WriteFate::Lost) => Err(dead()),
        }
    }

    async fn commit(&self, commit: Arc<Commit>) -> Result<Vec<usize>, CommitError> {
        let fault = self.commits.lock().unwrap().pop_front().flatten();
        if let Some(error) = fault {
            return Err(error.into());
        }
        let gate = self.committing.lock().unwrap().take();
        if let Some(gate) = gate {
            gate.pass().await;
        }
        let fate = self.live();
        if fate == WriteFate::Lost {
            return Err(dead().into());
        }
        let known = self.inner.commit(commit).await?;
        if fate == WriteFate::Unheard {
            return Err(dead().into());
        }
        self.commits_written.fetch_add(1, Ordering::SeqCst);
        Ok(known)
    }

    async fn send(&self, run: &RunId, message: NewMessage, now: Time) -> Result<SendResult, StoreError> {
        let sent = self.inner.send(run, message, now).await;
        let gate = self.sent.lock().unwrap().take();
        if let Some(gate) = gate {
            gate.pass().await;
        }
        sent
    }

    async fn messages(&self, run: &RunId) -> Result<Vec<Message>, StoreError> {
        let fault = self.messages.lock().unwrap().pop_front();
        if let Some(error) = fault {
            return Err(error);
        }
        let messages = self.inner.messages(run).await;
        let gate = self.looked.lock().unwrap().take();
        if let Some(gate) = gate {
            gate.pass().await;
        }
        messages
    }

    async fn claim(&self, run: &RunId, engine: EngineId) -> Result<Option<Claim>, StoreError> {
        let fault = self.claims.lock().unwrap().pop_front();
        if let Some(error) = fault {
            return Err(error);
        }
        let claim = self.inner.claim(run, engine).await;
        let gate = self.claimed.lock().unwrap().take();
        if let Some(gate) = gate {
            gate.pass().await;
        }
        claim
    }

    async fn claim_due(&self, engine: EngineId, now: Time, limit: usize) -> Result<Vec<Claim>, StoreError> {
        self.inner.claim_due(engine, now, limit).await
    }

    async fn claim_queued(&self, engine: EngineId, limit: usize) -> Result<Vec<Claim>, StoreError> {
        self.inner.claim_queued(engine, limit).await
    }

    async fn next_wake(&self) -> Result<Option<Time>, StoreError> {
        let fault = self.next_wakes.lock().unwrap().pop_front();
        match fault {
            Some(error) => Err(error),
            None => self.inner.next_wake().await,
        }
    }

    async fn wake_blocked(&self, workflow: &str, now: Time) -> Result<u64, StoreError> {
        self.inner.wake_blocked(workflow, now).await
    }

    async fn load(&self, run: &RunId, after: Seq, limit: usize) -> Result<Vec<EventBatch>, StoreError> {
        if let Some(error) = self.loads.lock().unwrap().pop_front() {
            return Err(error);
        }
        let gate = if limit == 1 { self.reading.lock().unwrap().take() } else { None };
        if let Some(gate) = gate {
            gate.pass().await;
        }
        let batches = self.inner.load(run, after, limit).await?;
        let read = batches.iter().map(|batch| u64::from(batch.count)).sum();
        self.events_read.fetch_add(read, Ordering::SeqCst);
        Ok(batches)
    }

    async fn snapshot(&self, run: &RunId) -> Result<Option<Snapshot>, StoreError> {
        let snapshot = self.inner.snapshot(run).await?;
        let how = *self.snapshots.lock().unwrap();
        Ok(match how {
            Snapshots::Kept => snapshot,
            Snapshots::Dropped => None,
            Snapshots::Damaged => {
                snapshot.map(|snapshot| Snapshot { body: b"{\"seq\":".to_vec(), ..snapshot })
            }
        })
    }

    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, StoreError> {
        self.inner.run(run).await
    }

    async fn runs(&self, filter: &RunFilter, page: &Page) -> Result<Vec<RunRow>, StoreError> {
        self.inner.runs(filter, page).await
    }

    async fn count_children(&self, runs: &[RunId]) -> Result<Vec<u64>, StoreError> {
        self.inner.count_children(runs).await
    }

    async fn figures(&self, now: Time) -> Result<StoreFigures, StoreError> {
        self.inner.figures(now).await
    }

    async fn put_plan(&self, hash: &PlanHash, json: &str) -> Result<(), StoreError> {
        self.inner.put_plan(hash, json).await
    }

    async fn plan(&self, hash: &PlanHash) -> Result<Option<String>, StoreError> {
        self.inner.plan(hash).await
    }

    async fn plans(&self) -> Result<Vec<(PlanHash, String)>, StoreError> {
        self.inner.plans().await
    }

    async fn put_record(&self, record: NewRecord) -> Result<PutResult, StoreError> {
        self.inner.put_record(record).await
    }

    async fn record(
        &self,
        kind: &str,
        key: &str,
        version: Option<u64>,
    ) -> Result<Option<Record>, StoreError> {
        self.inner.record(kind, key, version).await
    }

    async fn records(
        &self,
        kind: &str,
        after_key: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.inner.records(kind, after_key, limit).await
    }

    async fn record_versions(
        &self,
        kind: &str,
        key: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.inner.record_versions(kind, key, before, limit).await
    }

    async fn append_logs(&self, lines: Vec<LogLine>) -> Result<(), StoreError> {
        self.inner.append_logs(lines).await
    }

    async fn logs(&self, run: &RunId, filter: &LogFilter) -> Result<Vec<LogLine>, StoreError> {
        self.inner.logs(run, filter).await
    }

    async fn purge(&self, ended_before: Time, limit: usize) -> Result<u64, StoreError> {
        self.inner.purge(ended_before, limit).await
    }

    async fn check_writable(&self) -> Result<(), StoreError> {
        self.inner.check_writable().await
    }
}
