//! Runs, commits and pictures of a store, in few words.

use std::sync::Arc;

use rival_core::{PlanHash, RunId, RunStatus, Seq, Time, Value};

use crate::{
    Claim, Commit, CommitError, EngineId, Epoch, EventBatch, LogFilter, LogLevel, LogLine, NewMessage,
    NewRun, Page, RowUpdate, RunFilter, RunHold, RunRow, Snapshot, Store,
};

/// A moment on the suite's own clock.
pub(super) fn at(ms: i64) -> Time {
    Time(1_700_000_000_000 + ms)
}

/// More than any fact writes.
pub(super) const MANY: usize = 10_000;

pub(super) fn id(text: &str) -> RunId {
    RunId::new(text)
}

pub(super) fn batch(first: u64, count: u32) -> EventBatch {
    let body = format!("events {first} to {}", first + u64::from(count)).into_bytes();
    EventBatch { first: Seq(first), count, body }
}

pub(super) fn row_update(status: RunStatus) -> RowUpdate {
    released(status, None)
}

pub(super) fn owned(status: RunStatus) -> RowUpdate {
    RowUpdate::new(status, RunHold::Keep, at(0), None)
}

pub(super) fn released(status: RunStatus, wake_at: Option<Time>) -> RowUpdate {
    RowUpdate::new(status, RunHold::Release(wake_at), at(0), None)
}

pub(super) fn kept() -> RowUpdate {
    owned(RunStatus::Running)
}

pub(super) fn waiting(wake_at: Option<Time>) -> RowUpdate {
    released(RunStatus::Waiting, wake_at)
}

pub(super) fn ended(ended_at: Time) -> RowUpdate {
    RowUpdate::new(RunStatus::Completed, RunHold::Keep, ended_at, None)
}

pub(super) fn plan_hash() -> PlanHash {
    PlanHash::new("c0ffee")
}

/// A run with one event, owned by `engine`.
pub(super) fn new_run(run: &str, engine: EngineId) -> NewRun {
    NewRun {
        id: id(run),
        workflow: "orders".to_owned(),
        plan: plan_hash(),
        fingerprint: vec![0, 1, 254, 255],
        created_at: at(0),
        parent: None,
        source: None,
        tags: Vec::new(),
        events: batch(1, 1),
        row_update: kept(),
        engine,
    }
}

pub(super) fn message(message_id: Option<&str>, body: &str) -> NewMessage {
    NewMessage { id: message_id.map(str::to_owned), body: text(body) }
}

pub(super) fn text(body: &str) -> Value {
    Value::encode(&body).unwrap()
}

pub(super) fn snapshot(seq: u64, body: &str) -> Snapshot {
    Snapshot { seq: Seq(seq), fold: 3, plan: plan_hash(), body: body.as_bytes().to_vec() }
}

pub(super) fn line(run: &str, message: &str) -> LogLine {
    LogLine {
        no: 0,
        run: id(run),
        node: "charge".to_owned(),
        attempt: 1,
        call: 1,
        at: at(0),
        level: LogLevel::Info,
        message: message.to_owned(),
        fields: None,
    }
}

/// A commit by the first owner.
pub(super) fn commit(run: &str) -> Commit {
    commit_at(run, 1)
}

pub(super) fn commit_at(run: &str, epoch: i64) -> Commit {
    Commit::new(id(run), Epoch(epoch), at(1))
}

pub(super) async fn create(store: &impl Store, run: NewRun) {
    let run_id = run.id.clone();
    let started = store.start(run).await.unwrap();
    assert!(started.is_none(), "run `{run_id}` was there already");
}

/// Creates a run with this row update; it has no owner unless `keep` is set.
pub(super) async fn create_with_row(store: &impl Store, run: &str, engine: EngineId, row_update: RowUpdate) {
    create(store, NewRun { row_update, ..new_run(run, engine) }).await;
}

/// A store with an engine that owns the run `r`, which has one event.
pub(super) async fn one_run<H: super::StoreHarness>(h: &H) -> (H::Store, EngineId) {
    let store = h.open().await;
    let engine = store.join().await.unwrap();
    create(&store, new_run("r", engine)).await;
    (store, engine)
}

pub(super) async fn end(store: &impl Store, run: &str, ended_at: Time) {
    let ending = Commit { row_update: Some(ended(ended_at)), ..commit(run) };
    store.commit(Arc::new(ending)).await.unwrap();
}

pub(super) async fn release(store: &impl Store, run: &str, wake_at: Option<Time>) {
    let releasing = Commit { row_update: Some(waiting(wake_at)), ..commit(run) };
    store.commit(Arc::new(releasing)).await.unwrap();
}

pub(super) async fn row(store: &impl Store, run: &str) -> RunRow {
    store.run(&id(run)).await.unwrap().expect("the run is there")
}

pub(super) async fn all(store: &impl Store) -> Vec<RunRow> {
    store.runs(&RunFilter::default(), &Page { before: None, limit: MANY }).await.unwrap()
}

pub(super) async fn due(store: &impl Store, engine: EngineId, now: Time) -> Vec<String> {
    claimed(&store.claim_due(engine, now, MANY).await.unwrap())
}

pub(super) fn claimed(claims: &[Claim]) -> Vec<String> {
    claims.iter().map(|claim| claim.row.id.to_string()).collect()
}

pub(super) fn ids(rows: &[RunRow]) -> Vec<&str> {
    rows.iter().map(|row| row.id.as_str()).collect()
}

/// The texts of the messages that wait for a run.
pub(super) async fn inbox(store: &impl Store, run: &str) -> Vec<String> {
    let messages = store.messages(&id(run)).await.unwrap();
    messages.iter().map(|message| message.body.decode().unwrap()).collect()
}

pub(super) async fn send(store: &impl Store, run: &str, body: &str, now: Time) -> crate::MessageNo {
    store.send(&id(run), message(None, body), now).await.unwrap().no().expect("the message is kept")
}

/// The numbers in a refusal: expected and actual.
pub(super) fn sequence(result: Result<Vec<usize>, CommitError>) -> (u64, u64) {
    match result {
        Err(CommitError::Sequence { expected, actual, .. }) => (expected.0, actual.0),
        other => panic!("should be refused for its sequence: {other:?}"),
    }
}

pub(super) fn assert_fenced(result: &Result<Vec<usize>, CommitError>) {
    assert!(matches!(result, Err(CommitError::Fenced { .. })), "should be fenced: {result:?}");
}

/// Everything that can be read of a store and its runs, to see that nothing changed.
pub(super) async fn picture(store: &impl Store) -> String {
    let mut parts = vec![format!("{:?}", store.next_wake().await.unwrap())];
    for row in all(store).await {
        let events = store.load(&row.id, Seq::ZERO, MANY).await.unwrap();
        let messages = store.messages(&row.id).await.unwrap();
        let snapshot = store.snapshot(&row.id).await.unwrap();
        let logs = store.logs(&row.id, &LogFilter::default()).await.unwrap();
        parts.push(format!("{row:?} {events:?} {messages:?} {snapshot:?} {logs:?}"));
    }
    parts.join("\n")
}
