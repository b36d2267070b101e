//! The real store and engine on a disk that is full or read-only, or on a file that another program holds or edits.
//!
//! Mounting needs rights. Where they are missing, the tests that mount say so and are skipped.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rival::prelude::*;
use rival::{Page, RunFilter, RunHandle, RunId, RunStatus, SqliteStore, StartError, StoreError};
use rival_crash::{TestFolder, WorkerProcess};
use rival_engine::verify::check_store;
use rival_store::Store;
use tokio::sync::Semaphore;

const FILE: &str = "RIVAL_CRASH_FILE";

/// The file that this process was started for, if it is a second one.
fn file_of_child() -> Option<PathBuf> {
    std::env::var_os(FILE).map(PathBuf::from)
}

/// This test program again, with only the given test, on a disk of its own.
fn on_a_disk_of_its_own(size: &str, test: &str) {
    let dir = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size={size} none '{}'", dir.path().display());
    let allowed = Command::new("unshare").args(["-m", "sh", "-c", &mount]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        println!("skipped: mounting is not allowed here");
        return;
    }
    let script = format!("{mount} && exec \"$0\" --exact {test} --nocapture");
    let mut child = Command::new("unshare");
    child.args(["-m", "sh", "-c", &script]).arg(std::env::current_exe().unwrap());
    let output = child.env(FILE, dir.path().join("rival.db")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// Which steps began, and how often.
#[derive(Default)]
struct Starts(Mutex<BTreeMap<(RunId, String), u32>>);

impl Starts {
    fn note(&self, run: &Run) {
        let step = (run.run_id().unwrap().clone(), run.node().to_string());
        *self.0.lock().unwrap().entry(step).or_default() += 1;
    }

    fn of(&self, step: &str) -> usize {
        self.0.lock().unwrap().keys().filter(|(_, node)| node == step).count()
    }

    fn repeated(&self) -> Vec<(RunId, String)> {
        let starts = self.0.lock().unwrap();
        starts.iter().filter(|(_, count)| **count > 1).map(|(step, _)| step.clone()).collect()
    }
}

/// Shared with the steps: which began, and who may go on.
#[derive(Clone, Default)]
struct Scene {
    starts: Arc<Starts>,
    gate: Arc<Gate>,
}

struct Gate(Semaphore);

impl Default for Gate {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

#[step]
async fn hold(run: Run, scene: Res<Scene>) -> Result<String, StepError> {
    scene.starts.note(&run);
    let _pass = scene.gate.0.acquire().await?;
    Ok("held".into())
}

#[step]
async fn after(run: Run, scene: Res<Scene>) -> Result<u32, StepError> {
    scene.starts.note(&run);
    Ok(1)
}

#[step]
async fn last(run: Run, scene: Res<Scene>) -> Result<u32, StepError> {
    scene.starts.note(&run);
    Ok(2)
}

async fn engine(store: &Arc<SqliteStore>, scene: &Scene) -> Engine {
    let gated = Workflow::new("gated").input::<String>().steps((hold, after, last)).build().unwrap();
    let idle = Workflow::new("idle").input::<String>().step(last).build().unwrap();
    let store: Arc<dyn Store> = Arc::<SqliteStore>::clone(store);
    let builder = Engine::builder().store(store).provide(scene.clone());
    builder.workflow(gated).workflow(idle).build().await.unwrap()
}

/// Runs that are in the middle of their first step.
async fn under_way(engine: &Engine, scene: &Scene, count: usize) -> Vec<RunHandle> {
    let mut runs = Vec::new();
    for _ in 0..count {
        runs.push(engine.run("gated", String::from("x")).await.unwrap());
    }
    while scene.starts.of("hold") < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    runs
}

async fn all_complete(runs: &[RunHandle], scene: &Scene) {
    for run in runs {
        let outcome = run.wait_for(Duration::from_secs(60)).await.unwrap();
        assert_eq!(outcome.status, RunStatus::Completed);
    }
    assert_eq!(scene.starts.repeated(), [], "steps were called again");
}

async fn assert_sound(store: &dyn Store, acknowledged: usize) {
    let report = check_store(store).await.unwrap();
    assert!(report.is_sound(), "{:#?}", report.breaches);
    assert_eq!(report.run_count(), acknowledged as u64, "what was acknowledged, and nothing else");
}

/// Takes all the room that there is.
fn fill(ballast: &Path) {
    let mut file = OpenOptions::new().create(true).append(true).open(ballast).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
}

/// Starts runs until there is no room for even one more; gives those that were acknowledged, and the refusal.
async fn start_until_refused(engine: &Engine, ballast: &Path) -> (Vec<RunHandle>, StartError) {
    let mut runs = Vec::new();
    fill(ballast);
    for _ in 0..10_000 {
        match engine.run("idle", "y".repeat(2_000)).await {
            Ok(run) => runs.push(run),
            Err(error) => {
                fill(ballast);
                return (runs, error);
            }
        }
    }
    panic!("the disk is never full");
}

/// The other process, with little room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_on_a_full_disk() {
    let Some(file) = file_of_child() else { return };
    let scene = Scene::default();
    let store = Arc::new(SqliteStore::open(&file).unwrap());
    let engine = engine(&store, &scene).await;
    let mut runs = under_way(&engine, &scene, 8).await;

    let ballast = file.with_file_name("ballast");
    let (more, refusal) = start_until_refused(&engine, &ballast).await;
    assert!(matches!(refusal, StartError::Store(StoreError::Full(_))), "{refusal:?}");
    assert_eq!(refusal.code(), "store_full");
    assert!(refusal.to_string().contains("rival.db"), "it does not name the file: {refusal}");

    // Their results cannot be made durable, so nothing that depends on them begins.
    let idle = more.len();
    scene.gate.0.add_permits(1_000);
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(scene.starts.of("after"), 0, "a step began that depends on a result which is not durable");
    assert!(matches!(store.check_writable().await, Err(StoreError::Full(_))));
    for run in &runs {
        let view = engine.get(run.id()).await.unwrap();
        assert!(!view.status.is_terminal(), "reading must go on, and the run must hold: {view:?}");
    }

    std::fs::remove_file(&ballast).unwrap();
    runs.extend(more);
    all_complete(&runs, &scene).await;
    engine.run("idle", String::from("z")).await.unwrap().wait().await.unwrap();
    engine.shutdown(Duration::from_secs(5)).await;
    assert_sound(&*store, 8 + idle + 1).await;
}

#[test]
fn on_a_full_disk_runs_hold_and_go_on_by_themselves() {
    on_a_disk_of_its_own("4m", "child_on_a_full_disk");
}

/// The other process: a start of ordinary size has found no room, and less than that is left.
#[tokio::test]
async fn child_with_room_for_a_probe_only() {
    let Some(file) = file_of_child() else { return };
    let store = Arc::new(SqliteStore::open(&file).unwrap());
    let ballast = file.with_file_name("ballast");
    let engine = engine(&store, &Scene::default()).await;
    fill(&ballast);
    let refused = engine.run("idle", "y".repeat(1 << 20)).await.unwrap_err();
    assert_eq!(refused.code(), "store_full");
    // Some room, for less than a start needs.
    let left = std::fs::metadata(&ballast).unwrap().len() - 100_000;
    OpenOptions::new().write(true).open(&ballast).unwrap().set_len(left).unwrap();
    let error = engine.check_writable().await.unwrap_err();
    assert_eq!(error.code(), "store_full");
    std::fs::remove_file(&ballast).unwrap();
    engine.check_writable().await.unwrap();
    engine.run("idle", "y".repeat(1 << 20)).await.unwrap();
}

#[test]
fn a_disk_with_room_for_a_probe_only_is_full() {
    on_a_disk_of_its_own("4m", "child_with_room_for_a_probe_only");
}

/// The other process: the engine goes away while the disk is full, as if it were killed.
#[test]
fn child_dies_on_a_full_disk() {
    let Some(file) = file_of_child() else { return };
    let ballast = file.with_file_name("ballast");
    let acknowledged = run_to_end(async {
        let scene = Scene::default();
        let store = Arc::new(SqliteStore::open(&file).unwrap());
        let engine = engine(&store, &scene).await;
        under_way(&engine, &scene, 8).await;
        let (more, _) = start_until_refused(&engine, &ballast).await;
        scene.gate.0.add_permits(1_000);
        tokio::time::sleep(Duration::from_millis(100)).await;
        8 + more.len()
    });
    // The next engine begins on the full disk: it reads, refuses what is new, and goes on when there is room.
    run_to_end(async {
        let scene = Scene::default();
        scene.gate.0.add_permits(1_000);
        let store = Arc::new(SqliteStore::open(&file).unwrap());
        let engine = engine(&store, &scene).await;
        let later = Workflow::new("later").input::<String>().step(last).build().unwrap();
        engine.register(later).await.unwrap();
        assert_eq!(
            engine.runs(&RunFilter::default(), &Page::default()).await.unwrap().len(),
            acknowledged.min(100)
        );
        for workflow in ["idle", "later"] {
            let refusal = engine.run(workflow, "y".repeat(20_000)).await.unwrap_err();
            assert!(matches!(refusal, StartError::Store(StoreError::Full(_))), "{refusal:?}");
        }
        std::fs::remove_file(&ballast).unwrap();
        let late = engine.run("later", String::from("z")).await.unwrap();
        assert_eq!(late.wait_for(Duration::from_secs(60)).await.unwrap().status, RunStatus::Completed);
        engine.shutdown(Duration::from_secs(5)).await;
    });
    let acknowledged = acknowledged + 1;
    run_to_end(async {
        let scene = Scene::default();
        scene.gate.0.add_permits(1_000);
        let store = Arc::new(SqliteStore::open(&file).unwrap());
        let engine = engine(&store, &scene).await;
        rival_crash::drain(&engine, None, Duration::from_secs(30)).await.unwrap();
        assert_eq!(scene.starts.repeated(), []);
        engine.shutdown(Duration::from_secs(5)).await;
        assert_sound(&*store, acknowledged).await;
    });
}

/// In a runtime of its own: when it ends, all that is left of the engine is dropped.
fn run_to_end<F: Future>(part: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let result = runtime.block_on(part);
    runtime.shutdown_timeout(Duration::from_secs(10));
    result
}

#[test]
fn a_process_that_dies_on_a_full_disk_loses_nothing() {
    on_a_disk_of_its_own("4m", "child_dies_on_a_full_disk");
}

/// The other process: its disk takes writes once, and then no more.
#[test]
fn child_on_a_read_only_disk() {
    let Some(file) = file_of_child() else { return };
    run_to_end(async {
        let scene = Scene::default();
        scene.gate.0.add_permits(1_000);
        let store = Arc::new(SqliteStore::open(&file).unwrap());
        let engine = engine(&store, &scene).await;
        engine.run("gated", String::from("x")).await.unwrap().wait().await.unwrap();
        engine.shutdown(Duration::from_secs(5)).await;
    });
    let before = std::fs::read(&file).unwrap();
    let remount = |how: &str| {
        let dir = file.parent().unwrap();
        assert!(Command::new("mount").args(["-o", how]).arg(dir).status().unwrap().success());
    };
    remount("remount,ro");
    run_to_end(async {
        let scene = Scene::default();
        let store = Arc::new(SqliteStore::open(&file).unwrap());
        let engine = engine(&store, &scene).await;
        let rows = engine.runs(&RunFilter::default(), &Page::default()).await.unwrap();
        let view = engine.get(&rows[0].id).await.unwrap();
        assert_eq!(view.status, RunStatus::Completed, "reading goes on");
        let refusal = engine.run("idle", String::from("x")).await.unwrap_err();
        assert!(matches!(refusal, StartError::Store(StoreError::ReadOnly(_))), "{refusal:?}");
        assert_eq!(refusal.code(), "store_read_only");
        assert!(refusal.to_string().contains("rival.db"), "it does not name the file: {refusal}");
        engine.shutdown(Duration::ZERO).await;
    });
    remount("remount,rw");
    assert!(std::fs::read(&file).unwrap() == before, "the file changed");
    run_to_end(async { assert_sound(&SqliteStore::open(&file).unwrap(), 1).await });
}

#[test]
fn on_a_read_only_disk_an_engine_reads_and_loses_nothing() {
    on_a_disk_of_its_own("4m", "child_on_a_read_only_disk");
}

#[test]
fn a_file_that_a_running_engine_has_is_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let folder = TestFolder(dir.path().to_owned());
    let program = Path::new(env!("CARGO_BIN_EXE_rival-crash-worker"));
    let mut worker = WorkerProcess::start(program, &folder, &["work", "1"]).unwrap();
    assert!(worker.says("ready").unwrap());
    let StoreError::Locked(text) = SqliteStore::open(folder.store()).unwrap_err() else {
        panic!("it is not locked")
    };
    assert!(text.contains("rival.db") && text.contains(&format!("process {}", worker.id())), "{text}");
    drop(worker);
    drop(SqliteStore::open(folder.store()).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_wait_for_a_program_that_holds_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rival.db");
    let scene = Scene::default();
    let store = Arc::new(SqliteStore::open(&file).unwrap());
    let engine = engine(&store, &scene).await;
    let runs = under_way(&engine, &scene, 4).await;

    let shell = rusqlite::Connection::open(&file).unwrap();
    shell.execute_batch("BEGIN IMMEDIATE").unwrap();
    scene.gate.0.add_permits(1_000);
    let refusal = engine.run("idle", String::from("x")).await.unwrap_err();
    assert!(matches!(refusal, StartError::Store(StoreError::Locked(_))), "{refusal:?}");
    assert!(refusal.to_string().contains("rival.db"), "it does not name the file: {refusal}");
    assert_eq!(scene.starts.of("after"), 0, "a step began that depends on a result which is not durable");

    shell.execute_batch("ROLLBACK").unwrap();
    all_complete(&runs, &scene).await;
    engine.shutdown(Duration::from_secs(5)).await;
    assert_sound(&*store, runs.len()).await;
}

#[test]
fn an_edited_history_blocks_its_run_and_no_other_and_verify_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rival.db");
    let ids: Vec<RunId> = run_to_end(async {
        let scene = Scene::default();
        let store = Arc::new(SqliteStore::open(&file).unwrap());
        let engine = engine(&store, &scene).await;
        let runs = under_way(&engine, &scene, 2).await;
        engine.shutdown(Duration::ZERO).await;
        runs.iter().map(|run| run.id().clone()).collect()
    });
    let shell = rusqlite::Connection::open(&file).unwrap();
    let edit = "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), '\"x\"', '\"y\"') AS BLOB)
         WHERE run = (SELECT no FROM runs WHERE id = ?1)";
    assert!(shell.execute(edit, [ids[0].as_str()]).unwrap() > 0);
    drop(shell);
    run_to_end(async {
        let scene = Scene::default();
        scene.gate.0.add_permits(1_000);
        let store = Arc::new(SqliteStore::open(&file).unwrap());
        let engine = engine(&store, &scene).await;
        let whole = engine.wait(&ids[1]).await.unwrap();
        assert_eq!(whole.status, RunStatus::Completed);
        let mut row = engine.summary(&ids[0]).await.unwrap();
        while row.status != RunStatus::Blocked {
            tokio::time::sleep(Duration::from_millis(1)).await;
            row = engine.summary(&ids[0]).await.unwrap();
        }
        let why = engine.explain(&ids[0]).await.unwrap();
        assert!(why.contains("not what was written"), "{why}");
        engine.shutdown(Duration::from_secs(5)).await;
        let report = check_store(&*store).await.unwrap();
        assert!(!report.is_sound());
        assert!(report.breaches.iter().all(|breach| breach.run == ids[0]), "{report:#?}");
    });
}
