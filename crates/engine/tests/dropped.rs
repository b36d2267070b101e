//! Engines that are dropped, with and without an orderly stop: nothing of them stays in the process.
//!
//! One process and one test at a time: threads and open files are counted.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rival::prelude::*;
use rival::{Engine, RunError, RunHandle, RunStatus, SqliteStore, StoreError};
use tokio::sync::watch;

/// How many descriptors of this process lead into a folder.
fn open_files(folder: &Path) -> usize {
    let fds = fs::read_dir("/proc/self/fd").unwrap().flatten();
    fds.filter(|fd| fs::read_link(fd.path()).is_ok_and(|file| file.starts_with(folder))).count()
}

/// How many threads of stores this process has.
fn store_threads() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    let name = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
    threads.map(name).filter(|name| name.starts_with("rival-sqlite")).count()
}

/// Files are closed at once. The kernel may still list a thread for a moment after it was joined.
async fn nothing_is_left(folder: &Path) {
    assert_eq!(open_files(folder), 0);
    let ended = async {
        while store_threads() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), ended).await.expect("threads of stores end");
}

async fn engine(file: &Path, workflow: &Workflow<(), u32>) -> Engine {
    let store = SqliteStore::open(file).unwrap();
    Engine::builder().store(store).workflow(workflow).build().await.unwrap()
}

fn counting(calls: &Arc<AtomicU32>) -> Workflow<(), u32> {
    let calls = Arc::clone(calls);
    let step = move || {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        async move { Ok::<_, StepError>(call) }
    };
    Workflow::new("w").step(step.named("count")).build().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engines_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rival.db");
    dropped_again_and_again(&file).await;
    nothing_is_left(folder.path()).await;
    shut_down_with_everything_held(&file).await;
    nothing_is_left(folder.path()).await;
    dropped_with_a_call_at_work(&file).await;
    nothing_is_left(folder.path()).await;
    dropped_outside_of_the_runtime(&file).await;
    nothing_is_left(folder.path()).await;
}

/// The file is free at once, also while handles of runs and streams of events are there.
async fn dropped_again_and_again(file: &Path) {
    let calls = Arc::default();
    let mut kept: Vec<RunHandle<u32>> = Vec::new();
    let mut streams = Vec::new();
    for round in 0..20 {
        let workflow = counting(&calls);
        let engine = engine(file, &workflow).await;
        let run = engine.run(&workflow, ()).await.unwrap();
        assert_eq!(run.output().await.unwrap(), round);
        engine.settled().await;
        streams.push(run.events());
        kept.push(run);
    }
    for run in kept {
        let told = run.state().await.unwrap_err();
        assert!(matches!(told, RunError::Store(StoreError::Closed)), "{told}");
        assert!(matches!(run.wait().await.unwrap_err(), RunError::Store(StoreError::Closed)));
        assert!(matches!(run.cancel("").await.unwrap_err(), RunError::ShuttingDown));
    }
}

async fn shut_down_with_everything_held(file: &Path) {
    let workflow = counting(&Arc::default());
    let engine = engine(file, &workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    run.wait().await.unwrap();
    engine.shutdown(Duration::from_secs(5)).await;
    let store = SqliteStore::open(file).unwrap();
    let told = engine.get(run.id()).await.unwrap_err();
    assert_eq!(told.code(), "store_closed");
    assert_eq!(run.cancel("").await.unwrap_err().code(), "shutting_down");
    assert_eq!(engine.signal(run.id(), "m", 1).await.unwrap_err().code(), "shutting_down");
    assert_eq!(engine.retry(run.id()).await.unwrap_err().code(), "shutting_down");
    assert!(engine.run(&workflow, ()).await.is_err());
    engine.shutdown(Duration::from_secs(5)).await;
    drop(store);
}

async fn dropped_with_a_call_at_work(file: &Path) {
    let (arrived, open) = (Arc::new(watch::Sender::new(0)), Arc::new(watch::Sender::new(false)));
    let workflow = || {
        let (arrived, open) = (Arc::clone(&arrived), Arc::clone(&open));
        let step = move |run: Run| {
            let (arrived, open) = (Arc::clone(&arrived), Arc::clone(&open));
            async move {
                arrived.send_modify(|count| *count += 1);
                let _ = open.subscribe().wait_for(|open| *open).await;
                Ok::<_, StepError>(run.call())
            }
        };
        Workflow::new("gated").step(step.named("gated")).build().unwrap()
    };
    let first = engine(file, &workflow()).await;
    let run = first.run("gated", ()).await.unwrap();
    arrived.subscribe().wait_for(|count| *count == 1).await.unwrap();
    drop(first);
    assert!(matches!(run.wait().await.unwrap_err(), RunError::ShuttingDown | RunError::Store(_)));
    // The function is dropped: it was the only one that waited at the gate.
    while open.receiver_count() > 0 {
        tokio::task::yield_now().await;
    }
    while open_files(file.parent().unwrap()) > 0 {
        tokio::task::yield_now().await;
    }
    open.send_replace(true);
    let next = engine(file, &workflow()).await;
    let outcome = next.wait(run.id()).await.unwrap();
    assert_eq!((outcome.status, outcome.output.unwrap().as_json()), (RunStatus::Completed, "2"));
    next.settled().await;
}

async fn dropped_outside_of_the_runtime(file: &Path) {
    let engine = engine(file, &counting(&Arc::default())).await;
    std::thread::spawn(move || drop(engine)).join().unwrap();
    drop(SqliteStore::open(file).unwrap());
}
