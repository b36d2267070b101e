//! A process is killed at random moments, again and again on one store. Afterwards nothing that was acknowledged is
//! missing, no completed step has run again, and every run has come to its end.
//!
//! `RIVAL_CRASH_SEED=7 RIVAL_CRASH_CYCLES=2000 cargo test -p rival-crash --test kill -- --nocapture` is another story.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::path::Path;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rival::SqliteStore;
use rival_crash::{Audit, End, Folder, Prefixes, Worker, audit};
use rival_engine::verify::{Invariant, Report, check_store};

const WORKER: &str = env!("CARGO_BIN_EXE_rival-crash-worker");

/// Shows the last words of the workers if the test fails.
struct Complaints<'a>(&'a Folder);

impl Drop for Complaints<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.0.log()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().filter(|line| !line.contains("the tree fell")).collect();
            println!("{}", lines[lines.len().saturating_sub(20)..].join("\n"));
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

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
    let folder = Folder(dir.path().to_owned());
    let _complaints = Complaints(&folder);
    let start = Instant::now();
    let mut prefixes = Prefixes::default();
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

fn kill_again_and_again(folder: &Folder, seed: u64, cycles: u64, prefixes: &mut Prefixes) -> Story {
    let mut rng = Rng::with_seed(seed);
    let mut story = Story::default();
    for cycle in 1..=cycles {
        let end = choose_end(&mut rng, cycle);
        let seed = rng.u64(..).to_string();
        let worker = Worker::start(Path::new(WORKER), folder, &["work", &seed]).unwrap();
        let status = worker.end(end).unwrap();
        match end {
            End::Kill(_) => story.kills += 1,
            End::KillEarly(_) => story.early_kills += 1,
            End::Terminate(_) => {
                story.shutdowns += 1;
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

fn choose_end(rng: &mut Rng, cycle: u64) -> End {
    let after = Duration::from_millis(rng.u64(20..150));
    if cycle.is_multiple_of(10) {
        return End::Terminate(after);
    }
    if rng.u8(0..10) == 0 { End::KillEarly(after / 3) } else { End::Kill(after) }
}

#[tokio::main(flavor = "current_thread")]
async fn remember(folder: &Folder, prefixes: &mut Prefixes) {
    let store = SqliteStore::open(folder.store()).unwrap();
    prefixes.look(&store).await.unwrap();
}

/// After an orderly stop no call was at work, so none is found cut short at the next start.
#[tokio::main(flavor = "current_thread")]
async fn nothing_is_left_open(folder: &Folder) {
    let store = SqliteStore::open(folder.store()).unwrap();
    let open = rival_crash::open_calls(&store).await.unwrap();
    assert_eq!(open, [], "calls are at work after an orderly stop");
}

fn drain(folder: &Folder) {
    let mut worker = Worker::start(Path::new(WORKER), folder, &["drain"]).unwrap();
    assert!(worker.says("ready").unwrap(), "the last worker did not start");
    assert!(worker.says("done").unwrap(), "the last worker did not finish everything");
    assert!(worker.wait().unwrap().success());
}

#[tokio::main(flavor = "current_thread")]
async fn look(folder: &Folder, mut prefixes: Prefixes) -> Audit {
    let store = SqliteStore::open(folder.store()).unwrap();
    prefixes.look(&store).await.unwrap();
    let mut audit = audit(&store, folder).await.unwrap();
    println!("{} beginnings of histories were read again", prefixes.compared);
    for run in &prefixes.changed {
        audit.report.breach(run, Invariant::Prefix, "its history begins otherwise than it did");
    }
    for run in prefixes.gone() {
        audit.report.breach(&run, Invariant::Acknowledged, "it was there once");
    }
    let left = audit.report.unfinished();
    assert_eq!(left, 0, "{left} runs did not end");
    assert_eq!(audit.report.owned, 0, "runs are owned after the end");
    audit
}

fn assert_sound(report: &Report) {
    let shown: Vec<String> = report.breaches.iter().take(30).map(ToString::to_string).collect();
    assert!(report.is_sound(), "{} breaches:\n{}", report.breaches.len(), shown.join("\n"));
}

fn assert_told_enough(audit: &Audit, story: &Story, cycles: u64) {
    let lost = audit.report.lost_to_crash;
    assert!(lost * 10 > cycles, "only {lost} calls were cut short");
    assert!(story.kills * 2 > cycles && story.shutdowns * 10 >= cycles - 9, "too few kills: {story:?}");
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
