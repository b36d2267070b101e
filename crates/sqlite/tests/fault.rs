//! What happens when the disk is full, a process is killed, or another program holds the file.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod common;

use std::sync::Arc;

use common::{Folder, child, child_after, commit, file_of_child, lines_of, new_run};
use rival_core::{RunId, Seq, Time};
use rival_sqlite::SqliteStore;
use rival_store::{CommitError, Epoch, Store, StoreError};
use rusqlite::Connection;

/// The other process: says which commit is acknowledged, for ever.
#[tokio::test]
async fn child_commits_until_it_is_killed() {
    let Some(file) = file_of_child() else { return };
    let store = SqliteStore::open(file).unwrap();
    let engine = store.join().await.unwrap();
    store.start(new_run("r", engine)).await.unwrap();
    println!();
    for first in 2.. {
        store.commit(Arc::new(commit("r", first, 300))).await.unwrap();
        println!("durable {first}");
    }
}

#[tokio::test]
async fn what_was_acknowledged_before_a_kill_is_there_and_can_be_claimed() {
    let folder = Folder::new();
    let mut other = child("child_commits_until_it_is_killed", &folder.file()).spawn().unwrap();
    let acknowledged = lines_of(&mut other)
        .filter_map(|line| line.unwrap().strip_prefix("durable ")?.parse::<u64>().ok())
        .find(|first| *first >= 50)
        .unwrap();
    other.kill().unwrap();
    other.wait().unwrap();

    let store = SqliteStore::open(folder.file()).unwrap();
    let batches = store.load(&RunId::from("r"), Seq(0), usize::MAX).await.unwrap();
    let firsts: Vec<u64> = batches.iter().map(|batch| batch.first.0).collect();
    assert_eq!(firsts, (1..=firsts.len() as u64).collect::<Vec<_>>());
    assert!(firsts.len() as u64 >= acknowledged);
    let engine = store.join().await.unwrap();
    let claims = store.claim_due(engine, Time(0), 10).await.unwrap();
    assert_eq!(claims.len(), 1);
    assert_eq!((claims[0].epoch, claims[0].row.owner), (Epoch(2), Some(engine)));
}

/// The other process, on a disk of 3 MiB. The ballast leaves room for the log and for moving it into the file.
#[tokio::test]
async fn child_fills_the_disk() {
    let Some(file) = file_of_child() else { return };
    let ballast = file.with_file_name("ballast");
    std::fs::write(&ballast, vec![0; 2 << 20]).unwrap();
    let store = SqliteStore::open(&file).unwrap();
    let engine = store.join().await.unwrap();
    store.start(new_run("r", engine)).await.unwrap();
    let (mut next, mut error) = (2, None);
    while error.is_none() {
        match store.commit(Arc::new(commit("r", next, 10_000))).await {
            Ok(_) => next += 1,
            Err(refused) => error = Some(refused),
        }
    }
    assert!(matches!(error, Some(CommitError::Store(StoreError::Full(_)))), "{error:?}");
    let stored = store.load(&RunId::from("r"), Seq(0), usize::MAX).await.unwrap();
    assert_eq!(stored.len() as u64, next - 1, "what was acknowledged, and nothing else");
    std::fs::remove_file(ballast).unwrap();
    store.check_writable().await.unwrap();
    store.commit(Arc::new(commit("r", next, 10_000))).await.unwrap();
    drop(store);
    let store = SqliteStore::open(&file).unwrap();
    assert_eq!(store.load(&RunId::from("r"), Seq(0), usize::MAX).await.unwrap().len() as u64, next);
}

#[test]
fn a_full_disk_loses_nothing_and_the_store_goes_on_when_there_is_room() {
    let folder = Folder::new();
    let mount = format!("mount -t tmpfs -o size=3m none '{}'", folder.0.display());
    let Some(mut other) = child_after(&mount, "child_fills_the_disk", &folder.file()) else { return };
    let output = other.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn a_shell_that_holds_the_file_is_waited_for_and_then_named() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).unwrap();
    let shell = Connection::open(folder.file()).unwrap();
    shell.execute_batch("BEGIN IMMEDIATE").unwrap();
    let StoreError::Locked(text) = store.join().await.unwrap_err() else { panic!("not locked") };
    assert!(text.contains("another program"), "{text}");
    shell.execute_batch("ROLLBACK").unwrap();
    store.join().await.unwrap();
}

/// The other process: begins on a disk that is full already.
#[tokio::test]
async fn child_opens_on_a_full_disk() {
    let Some(file) = file_of_child() else { return };
    let store = SqliteStore::open(&file).unwrap();
    let engine = store.join().await.unwrap();
    store.start(new_run("r", engine)).await.unwrap();
    drop(store);
    let ballast = file.with_file_name("ballast");
    let mut full = std::fs::File::create(&ballast).unwrap();
    while std::io::Write::write_all(&mut full, &[0; 512]).is_ok() {}
    drop(full);

    let store = SqliteStore::open(&file).unwrap();
    let engine = store.join().await.unwrap();
    assert_eq!(store.load(&RunId::from("r"), Seq(0), 10).await.unwrap().len(), 1);
    let refused = store.start(new_run("s", engine)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Full(_)), "{refused:?}");
    assert!(refused.to_string().contains("free some space"), "it does not say what to do: {refused}");
    std::fs::remove_file(ballast).unwrap();
    store.check_writable().await.unwrap();
    store.start(new_run("s", engine)).await.unwrap();
    drop(store);
    let store = SqliteStore::open(&file).unwrap();
    assert!(store.run(&RunId::from("s")).await.unwrap().is_some());
}

#[test]
fn on_a_full_disk_a_store_is_read_and_takes_writes_when_there_is_room() {
    let folder = Folder::new();
    let mount = format!("mount -t tmpfs -o size=1m none '{}'", folder.0.display());
    let Some(mut other) = child_after(&mount, "child_opens_on_a_full_disk", &folder.file()) else { return };
    let output = other.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// What a server does to its store once a file of it was taken away.
async fn takes_no_more_writes(folder: &Folder, harm: impl FnOnce(&Folder)) {
    let store = SqliteStore::open(folder.file()).unwrap();
    let engine = store.join().await.unwrap();
    store.start(new_run("r", engine)).await.unwrap();
    harm(folder);
    let refused = store.start(new_run("s", engine)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Gone(_)), "{refused:?}");
    assert!(matches!(store.check_writable().await, Err(StoreError::Gone(_))));
    assert!(matches!(store.failed().await, StoreError::Gone(_)));
}

#[tokio::test]
async fn a_store_whose_file_is_removed_acknowledges_nothing_more() {
    let folder = Folder::new();
    takes_no_more_writes(&folder, |folder| std::fs::remove_file(folder.file()).unwrap()).await;
    let StoreError::Open(text) = SqliteStore::open(folder.file()).unwrap_err() else { panic!("not refused") };
    assert!(text.contains("rival.db-wal"), "the log holds everything, and must not be begun anew: {text}");
    assert!(!folder.file().exists());
}

#[tokio::test]
async fn a_store_whose_file_is_replaced_acknowledges_nothing_more() {
    let folder = Folder::new();
    let replace = |folder: &Folder| {
        let copy = folder.0.join("copy");
        std::fs::copy(folder.file(), &copy).unwrap();
        std::fs::rename(copy, folder.file()).unwrap();
    };
    takes_no_more_writes(&folder, replace).await;
}

#[tokio::test]
async fn a_store_whose_log_is_removed_or_cut_acknowledges_nothing_more() {
    let log = |folder: &Folder| folder.0.join("rival.db-wal");
    takes_no_more_writes(&Folder::new(), |folder| std::fs::remove_file(log(folder)).unwrap()).await;
    let cut = |folder: &Folder| {
        std::fs::OpenOptions::new().write(true).open(log(folder)).unwrap().set_len(100).unwrap();
    };
    takes_no_more_writes(&Folder::new(), cut).await;
}

/// Also while nothing is written: a server is told.
#[tokio::test]
async fn an_idle_store_whose_file_is_removed_says_so() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).unwrap();
    std::fs::remove_file(folder.file()).unwrap();
    assert!(matches!(store.failed().await, StoreError::Gone(_)));
}
