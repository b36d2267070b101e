//! The worker with its clients inside.

use std::path::Path;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rival::SqliteStore;
use rival_crash::{AuditReport, HistoryPrefixes, TestFolder, WorkerEnd, WorkerProcess, audit, unfinished};
use rival_engine::verify::{StoreInvariant, check_store};
use rival_store::Store;

use crate::{Complaints, WORKER, assert_sound, number};

/// What the story was like: one in which nothing went wrong proves nothing.
#[derive(Debug, Default)]
struct Story {
    kills: u64,
    early_kills: u64,
    shutdowns: u64,
}

#[test]
fn a_killed_process_loses_nothing_and_repeats_nothing() {
    let seed = number("RIVAL_CRASH_SEED", 1);
    let cycles = number("RIVAL_CRASH_CYCLES", 200);
    println!("seed {seed}, {cycles} cycles");
    let dir = tempfile::tempdir().unwrap();
    let folder = TestFolder(dir.path().to_owned());
    let _complaints = Complaints(&folder);
    let start = Instant::now();
    let mut prefixes = HistoryPrefixes::default();
    let story = kill_again_and_again(&folder, seed, cycles, &mut prefixes);
    println!("killed for {:.1?}", start.elapsed());
    drain(&folder);
    println!("drained after {:.1?}", start.elapsed());
    let audit = look(&folder, prefixes);
    println!("{story:?}");
    println!("{audit}");
    println!("{:.1?}", start.elapsed());
    assert_sound(&audit.report);
    assert_told_enough(&audit, &story, cycles);
}

fn kill_again_and_again(
    folder: &TestFolder,
    seed: u64,
    cycles: u64,
    prefixes: &mut HistoryPrefixes,
) -> Story {
    let mut rng = Rng::with_seed(seed);
    let mut story = Story::default();
    for cycle in 1..=cycles {
        let end = choose_end(&mut rng, cycle);
        let seed = rng.u64(..).to_string();
        let worker = WorkerProcess::start(Path::new(WORKER), folder, &["work", &seed]).unwrap();
        let begun = Instant::now();
        let status = worker.end(end).unwrap();
        match end {
            WorkerEnd::Kill(_) => story.kills += 1,
            WorkerEnd::KillEarly(_) => story.early_kills += 1,
            WorkerEnd::Terminate(_) => {
                story.shutdowns += 1;
                assert!(begun.elapsed() < Duration::from_secs(5), "stopping took {:?}", begun.elapsed());
                assert!(status.success(), "the worker did not stop in order: {status}");
                nothing_is_left_open(folder);
            }
        }
        if cycle.is_multiple_of(25) {
            remember(folder, prefixes);
        }
    }
    story
}

fn choose_end(rng: &mut Rng, cycle: u64) -> WorkerEnd {
    let after = Duration::from_millis(rng.u64(20..150));
    if cycle.is_multiple_of(10) {
        // While there is still much to do.
        return WorkerEnd::Terminate(after / 2);
    }
    if rng.u8(0..10) == 0 { WorkerEnd::KillEarly(after / 3) } else { WorkerEnd::Kill(after) }
}

/// What a killed worker left is sound too, and later it is still there.
#[tokio::main(flavor = "current_thread")]
async fn remember(folder: &TestFolder, prefixes: &mut HistoryPrefixes) {
    let store = SqliteStore::open(folder.store()).unwrap();
    assert_sound(&unfinished(&store, |_, _| {}).await.unwrap());
    prefixes.look(&store).await.unwrap();
}

/// An orderly stop leaves no run owned, and no call to be found cut short at the next start. What earlier workers were
/// killed over may still be there.
#[tokio::main(flavor = "current_thread")]
async fn nothing_is_left_open(folder: &TestFolder) {
    let store = SqliteStore::open(folder.store()).unwrap();
    let next = store.join().await.unwrap();
    let report = unfinished(&store, |run, report| {
        let stopped = run.row.owner.is_some_and(|owner| owner.0 + 1 == next.0);
        if stopped || (run.row.owner.is_none() && !run.state.index().calls.is_empty()) {
            report.breach(&run.row.id, StoreInvariant::Resources, "an orderly stop left it open");
        }
    });
    assert_sound(&report.await.unwrap());
    store.leave(next).await.unwrap();
}

fn drain(folder: &TestFolder) {
    let mut worker = WorkerProcess::start(Path::new(WORKER), folder, &["drain"]).unwrap();
    assert!(worker.says("ready").unwrap(), "the last worker did not start");
    assert!(worker.says("done").unwrap(), "the last worker did not finish everything");
    assert!(worker.wait().unwrap().success());
}

#[tokio::main(flavor = "current_thread")]
async fn look(folder: &TestFolder, mut prefixes: HistoryPrefixes) -> AuditReport {
    let store = SqliteStore::open(folder.store()).unwrap();
    prefixes.look(&store).await.unwrap();
    let mut audit = audit(&store, folder).await.unwrap();
    println!("{} beginnings of histories were read again", prefixes.compared);
    for run in &prefixes.changed {
        audit.report.breach(run, StoreInvariant::Prefix, "its history begins otherwise than it did");
    }
    for run in prefixes.gone() {
        audit.report.breach(&run, StoreInvariant::Acknowledged, "it was there once");
    }
    let left = audit.report.unfinished();
    assert_eq!(left, 0, "{left} runs did not end");
    assert_eq!(audit.report.owned, 0, "runs are owned after the end");
    audit
}

fn assert_told_enough(audit: &AuditReport, story: &Story, cycles: u64) {
    let lost = audit.report.lost_to_crash;
    assert!(lost * 10 > cycles, "only {lost} calls were cut short");
    assert!(story.kills * 2 > cycles && story.shutdowns * 10 >= cycles - 9, "too few kills: {story:?}");
    let (shutdown, came_to) = (audit.report.lost_to_shutdown, audit.came_to.len());
    assert!(
        cycles < 200 || (shutdown > 0 && came_to == 16),
        "the story lacks something: {:?}",
        audit.came_to
    );
    assert!(audit.started as u64 > cycles && audit.ended as u64 > cycles, "clients were told too little");
}

#[tokio::test]
async fn an_empty_store_is_sound() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("rival.db")).unwrap();
    let report = check_store(&store).await.unwrap();
    assert!(report.is_sound());
    assert_eq!(report.run_count(), 0);
}
