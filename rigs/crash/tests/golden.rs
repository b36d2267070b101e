//! Store files of every schema, kept: every later version opens them, finds the same runs in them, and finishes them.
//!
//! `cargo test -p rival-crash --test golden -- --ignored` records the newest anew, for a version with another schema;
//! files of older versions stay beside it.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{Definition, Page, RunFilter, RunId, RunStatus, SqliteStore, Time, Value, VirtualClock};
use rival_core::event;
use rival_core::state::FOLD_VERSION;
use rival_engine::verify::{ExaminedRun, check_runs, check_store};
use rival_store::{
    Commit, ExpectedVersion, LogFilter, NewMessage, NewRecord, RowUpdate, RunHold, Snapshot, Store,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

/// The schemas that there have been; the last one is written today.
const VERSIONS: [&str; 4] = ["v1", "v2", "v3", "v4"];

/// When it was recorded.
const T0: Time = Time(1_800_000_000_000);

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/sqlite/tests/fixtures").join(name)
}

/// With a blunt one, some steps fail or never end.
struct Axe {
    sharp: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Tree {
    species: String,
    rings: u64,
}

#[step]
async fn find(log: Log, state: State) -> Result<Tree, StepError> {
    log.info((), "looked for a tree");
    state.describe("found an oak");
    Ok(Tree { species: "oak \u{1F333} \"old\"".into(), rings: u64::MAX })
}

#[step]
async fn chop(tree: Output<find>) -> Result<u64, StepError> {
    Ok(tree.rings / 2)
}

#[step]
async fn split(axe: Res<Axe>) -> Result<String, StepError> {
    if axe.sharp { Ok("split".into()) } else { Err(StepError::new("the axe is blunt").code("blunt")) }
}

#[step]
async fn saw(axe: Res<Axe>) -> Result<String, StepError> {
    if !axe.sharp {
        std::future::pending::<()>().await;
    }
    Ok("sawn".into())
}

#[step]
async fn by_hand() -> Result<String, StepError> {
    Ok("by hand".into())
}

#[step]
async fn sweep(failed: Failure) -> Result<String, StepError> {
    Ok(failed.error.code.clone())
}

#[step]
async fn perhaps(state: State) -> Result<(), StepError> {
    state.skip();
    Ok(())
}

const MINUTE: Duration = Duration::from_secs(60);

fn trees() -> Definition {
    let pile = Workflow::new("pile").step(by_hand).build().unwrap();
    let soft = split.continue_on_error().on_error(sweep);
    Workflow::new("trees").steps((find, chop, perhaps, soft)).workflow(&pile).build().unwrap().into()
}

fn night() -> Definition {
    Workflow::new("night").step(find).step(delay_step(60 * MINUTE)).step(chop).build().unwrap().into()
}

fn stubborn() -> Definition {
    let split = split.retry(3).backoff(BackoffKind::Exponential, 10 * MINUTE);
    Workflow::new("stubborn").step(find).step(split).build().unwrap().into()
}

fn hopeless() -> Definition {
    let flow = Workflow::new("hopeless").max_retries(1).on_error(sweep);
    flow.step(find).step(split).build().unwrap().into()
}

fn long() -> Definition {
    Workflow::new("long").step(find).step(saw).build().unwrap().into()
}

fn old() -> Definition {
    Workflow::new("old").step(find).step(delay_step(MINUTE)).step(by_hand).build().unwrap().into()
}

/// What `old` became meanwhile: its last function is gone.
fn new() -> Definition {
    Workflow::new("old").step(find).build().unwrap().into()
}

struct Setting {
    old: Definition,
    sharp: bool,
    minute: u32,
    live_max: usize,
}

async fn engine(store: Arc<dyn Store>, setting: Setting) -> TestEngine {
    let clock = VirtualClock::at(T0.plus_ms(u64::from(setting.minute) * 60_000));
    let mut builder = TestEngine::builder().store(store).clock(clock).provide(Axe { sharp: setting.sharp });
    builder = builder.configure(|engine| engine.max_live_runs(setting.live_max));
    for workflow in [trees(), night(), stubborn(), hopeless(), long(), setting.old] {
        builder = builder.workflow(workflow);
    }
    builder.build().await.unwrap()
}

fn open(path: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(path).unwrap())
}

/// Runs a part of the recording in a runtime of its own. When it ends, all that is left of the engine is dropped, as
/// in a crash.
fn part<F: Future>(part: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let result = runtime.block_on(part);
    runtime.shutdown_timeout(Duration::from_secs(5));
    result
}

#[test]
#[ignore = "writes the fixture"]
fn record() {
    let dir = tempfile::tempdir().unwrap();
    let newest = VERSIONS[VERSIONS.len() - 1];
    let path = dir.path().join("recorded.db");
    part(many_runs(&path));
    part(a_function_goes_missing(&path));
    part(a_crash(&path));
    part(by_hand_into_the_store(&path));
    let found = part(summary(&path));
    let ends = part(finish(&path, dir.path()));
    std::fs::create_dir_all(fixture("")).unwrap();
    copy_store(&path, &fixture(&format!("{newest}.db")));
    let text = serde_json::to_string_pretty(&json!({ "found": found, "ends": ends })).unwrap();
    std::fs::write(fixture(&format!("{newest}.json")), text + "\n").unwrap();
}

async fn many_runs(path: &Path) {
    let setting = Setting { old: old(), sharp: false, minute: 0, live_max: 100 };
    let engine = engine(open(path), setting).await;
    // Before its first look at the store, an engine queues what is started.
    engine.come_to_rest().await.unwrap();
    for (workflow, id) in [
        ("trees", "completed"),
        ("night", "asleep"),
        ("night", "paused"),
        ("night", "cancelled"),
        ("night", "mailed"),
        ("night", "snapped"),
        ("stubborn", "waiting-retry"),
        ("hopeless", "failed"),
        ("old", "blocked"),
    ] {
        engine.run(workflow, ()).id(id).tag("golden").tag(workflow).await.unwrap();
    }
    engine.come_to_rest().await.unwrap();
    engine.pause(&RunId::from("paused")).await.unwrap();
    engine.cancel(&RunId::from("cancelled"), "no wood needed").await.unwrap();
    engine.come_to_rest().await.unwrap();
    engine.shutdown(Duration::ZERO).await;
}

async fn a_function_goes_missing(path: &Path) {
    let setting = Setting { old: new(), sharp: false, minute: 5, live_max: 100 };
    let engine = engine(open(path), setting).await;
    engine.come_to_rest().await.unwrap();
    assert_eq!(engine.status(&RunId::from("blocked")).await.unwrap(), RunStatus::Blocked);
    engine.shutdown(Duration::ZERO).await;
}

async fn a_crash(path: &Path) {
    let setting = Setting { old: new(), sharp: false, minute: 6, live_max: 1 };
    let engine = engine(open(path), setting).await;
    engine.come_to_rest().await.unwrap();
    let run = engine.run("long", ()).id("interrupted").await.unwrap();
    while engine.history(run.id()).await.unwrap().len() < 4 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let queued = engine.run("long", ()).id("queued").await.unwrap();
    assert_eq!(queued.status(), RunStatus::Queued);
}

/// What no engine does on demand: a message that no engine has read, and a snapshot of a short run.
async fn by_hand_into_the_store(path: &Path) {
    let store = open(path);
    let now = T0.plus_ms(7 * 60_000);
    let body = Value::from(json!({ "cancel": { "reason": "by mail" } }));
    let message = NewMessage { id: Some("m1".into()), body };
    store.send(&RunId::from("mailed"), message, now).await.unwrap();
    let run = RunId::from("snapped");
    let wake_at = store.run(&run).await.unwrap().unwrap().wake_at;
    let engine = store.join().await.unwrap();
    let claim = store.claim(&run, engine).await.unwrap().unwrap();
    let mut state = rival_core::RunState::default();
    for batch in store.load(&run, rival::Seq::ZERO, 1_000).await.unwrap() {
        event::decode(&batch.body).unwrap().iter().for_each(|event| state.apply(event));
    }
    let body = serde_json::to_vec(&state).unwrap();
    let mut commit = Commit::new(run, claim.epoch, now);
    commit.snapshot =
        Some(Snapshot { seq: state.seq, fold: FOLD_VERSION, plan: claim.row.plan.clone(), body });
    commit.row_update = Some(RowUpdate::new(claim.row.status, RunHold::Release(wake_at), now, None));
    store.commit(Arc::new(commit)).await.unwrap();
    store.leave(engine).await.unwrap();
    for (key, body) in RECORDS {
        let record = NewRecord {
            kind: "note".into(),
            key: key.into(),
            expected: ExpectedVersion::Any,
            body: body.map(str::to_owned),
            at: now,
            by: Some("ann".into()),
        };
        store.put_record(record).await.unwrap();
    }
}

/// Keys and bodies of records, in the order of writing. Stores have had them since `v4`.
const RECORDS: [(&str, Option<&str>); 4] = [
    ("oak \u{1F333}", Some("{\"rings\": 1}")),
    ("elm", Some("2")),
    ("elm", None),
    ("oak \u{1F333}", Some("3")),
];

/// What is in a store, in words that later versions know too.
async fn summary(path: &Path) -> serde_json::Value {
    let store = open(path);
    let mut runs = Map::new();
    let report = check_runs(&*store, &RunFilter::default(), |run, _| {
        runs.insert(run.row.id.to_string(), describe(run));
    })
    .await
    .unwrap();
    assert!(report.is_sound(), "{:#?}", report.breaches);
    for (id, run) in &mut runs {
        let id = RunId::from(id.as_str());
        let logs = store.logs(&id, &LogFilter::default()).await.unwrap();
        run["logs"] = logs.iter().map(|line| line.message.clone()).collect();
        run["messages"] = store.messages(&id).await.unwrap().len().into();
        run["snapshot"] = store.snapshot(&id).await.unwrap().map(|it| it.seq.0).into();
    }
    runs.into()
}

fn describe(run: &ExaminedRun) -> serde_json::Value {
    let ExaminedRun { row, events, state } = run;
    let nodes = state.nodes.iter().map(|(path, node)| {
        let value = node.result.and_then(|seq| events[usize::try_from(seq.0).unwrap() - 1].kind.value());
        let node = json!({
            "status": node.status(),
            "calls": node.calls,
            "attempts": node.attempts,
            "imported": node.imported,
            "result": value.map(Value::as_json),
            "wakeAt": node.wake_at(),
            "blocked": node.blocked(),
            "due": node.due(),
        });
        (path.to_string(), node)
    });
    json!({
        "workflow": row.workflow,
        "status": row.status,
        "folded": state.status(),
        "no": row.no,
        "epoch": row.epoch.0,
        "owned": row.owner.is_some(),
        "createdAt": row.created_at,
        "endedAt": row.ended_at,
        "wakeAt": row.wake_at,
        "source": row.source,
        "tags": row.tags,
        "note": row.note,
        "events": events.len(),
        "nodes": nodes.collect::<Map<_, _>>(),
        "nextTimer": state.next_timer(),
        "failure": state.end.as_ref().and_then(|end| end.failure.clone()),
        "retriedAs": state.end.as_ref().and_then(|end| end.retried_as.clone()),
    })
}

/// Finishes everything in a copy of a store, and says how it all ended.
async fn finish(path: &Path, dir: &Path) -> serde_json::Value {
    let copy = dir.join("copy.db");
    copy_store(path, &copy);
    let store = open(&copy);
    let setting = Setting { old: old(), sharp: true, minute: 8, live_max: 100 };
    let engine = engine(Arc::clone(&store), setting).await;
    engine.come_to_rest().await.unwrap();
    engine.resume(&RunId::from("paused")).await.unwrap();
    engine.advance(120 * MINUTE).await.unwrap();
    let report = check_store(&*store).await.unwrap();
    assert!(report.is_sound(), "{:#?}", report.breaches);
    assert_eq!((report.unfinished(), report.owned), (0, 0), "{:?}", report.runs);
    let mut ends = Map::new();
    for row in engine.runs(&RunFilter::default(), &Page::default()).await.unwrap() {
        let outcome = engine.wait(&row.id).await.unwrap();
        let output = outcome.output.map(|value| value.as_json().to_owned());
        ends.insert(row.id.to_string(), json!({ "status": outcome.status, "output": output }));
    }
    engine.shutdown(Duration::ZERO).await;
    ends.into()
}

/// Copies a store that is closed, with its mark if it has one.
fn copy_store(from: &Path, to: &Path) {
    std::fs::copy(from, to).unwrap();
    let mark = |path: &Path| path.with_extension("db-mark");
    if mark(from).exists() {
        std::fs::copy(mark(from), mark(to)).unwrap();
    }
}

fn recorded(version: &str) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(fixture(&format!("{version}.json"))).unwrap()).unwrap()
}

/// A copy: opening a file writes to it.
fn copied(version: &str, dir: &Path) -> PathBuf {
    let path = dir.join("kept.db");
    copy_store(&fixture(&format!("{version}.db")), &path);
    path
}

#[test]
fn a_store_of_every_version_holds_what_it_held() {
    for version in VERSIONS {
        let dir = tempfile::tempdir().unwrap();
        let path = copied(version, dir.path());
        let found = part(summary(&path));
        let recorded = recorded(version);
        for (id, run) in recorded["found"].as_object().unwrap() {
            assert_eq!(&found[id], run, "{version}: run `{id}`");
        }
        assert_eq!(found, recorded["found"], "{version}");
        let report = part(async { check_store(&*open(&path)).await.unwrap() });
        assert!(report.is_sound(), "{version}: {report:#?}");
    }
}

/// What is read can be written in today's form, and nothing of it is lost.
#[test]
fn events_of_every_version_survive_being_written_again() {
    for version in VERSIONS {
        let dir = tempfile::tempdir().unwrap();
        let path = copied(version, dir.path());
        part(async {
            let store = open(&path);
            for row in store.runs(&RunFilter::default(), &Page::default()).await.unwrap() {
                for batch in store.load(&row.id, rival::Seq::ZERO, usize::MAX).await.unwrap() {
                    let events = event::decode(&batch.body).unwrap();
                    let again = event::decode(&event::encode(&events)).unwrap();
                    assert_eq!(again, events, "{version}: run `{}`, event {}", row.id, batch.first);
                }
            }
        });
    }
}

#[test]
fn a_store_of_every_version_holds_its_records() {
    for version in VERSIONS {
        let dir = tempfile::tempdir().unwrap();
        let path = copied(version, dir.path());
        let found = part(async {
            let store = open(&path);
            let mut found = Vec::new();
            for key in ["elm", "oak \u{1F333}"] {
                let versions = store.record_versions("note", key, None, 10).await.unwrap();
                found.extend(versions.into_iter().map(|it| (it.key, it.version, it.body, it.at, it.by)));
            }
            found
        });
        let record = |key: &str, version, body: Option<&str>| {
            let at = T0.plus_ms(7 * 60_000);
            (key.to_owned(), version, body.map(str::to_owned), at, Some("ann".to_owned()))
        };
        let [(oak, first), (elm, kept), (_, deleted), (_, second)] = RECORDS;
        let all =
            [record(elm, 2, deleted), record(elm, 1, kept), record(oak, 2, second), record(oak, 1, first)];
        let expected = if ["v1", "v2", "v3"].contains(&version) { Vec::new() } else { all.to_vec() };
        assert_eq!(found, expected, "{version}");
    }
}

#[test]
fn runs_of_a_store_of_every_version_come_to_their_ends() {
    for version in VERSIONS {
        let dir = tempfile::tempdir().unwrap();
        let ends = part(finish(&copied(version, dir.path()), dir.path()));
        assert_eq!(ends, recorded(version)["ends"], "{version}");
    }
}

#[test]
fn a_store_of_every_version_has_runs_in_every_state() {
    for version in VERSIONS {
        let recorded = recorded(version);
        let found = recorded["found"].as_object().unwrap();
        let statuses: Vec<&str> = found.values().map(|run| run["status"].as_str().unwrap()).collect();
        for status in
            ["completed", "failed", "cancelled", "paused", "waiting", "blocked", "queued", "running"]
        {
            assert!(statuses.contains(&status), "{version}: no run is {status}");
        }
        assert!(std::fs::metadata(fixture(&format!("{version}.db"))).unwrap().len() < 300 * 1024);
    }
}
