//! Instructions per step of the hot paths, counted by valgrind. A busy machine does not change them, so that what was
//! gained once cannot be lost unseen. The counts are of the build that tests use, which is not optimised everywhere:
//! they are for comparison with themselves.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::process::Command;
use std::sync::Arc;

use rival::{Engine, MemoryStore, RunStatus, SqliteStore, Store};

/// Runs of the shorter and the longer count: what both have in common is not counted.
const RUNS: [u64; 2] = [50, 250];
const STEPS: u64 = 5;
/// Tells the counted process how many runs to make.
const RUNS_VARIABLE: &str = "RIVAL_COUNTED_RUNS";

#[test]
fn a_step_in_memory_costs_no_more_than_before() {
    assert_cost("run_in_memory", 172_000);
}

#[test]
fn a_step_on_sqlite_costs_no_more_than_before() {
    assert_cost("run_on_sqlite", 400_000);
}

/// The bound is a tenth above what was counted last; lower it with what makes it cheaper.
fn assert_cost(counted: &str, most: u64) {
    let [short, long] = RUNS.map(|runs| instructions(counted, runs));
    let steps = (RUNS[1] - RUNS[0]) * STEPS;
    let per_step = (long - short) / steps;
    assert!(per_step <= most, "{counted}: {per_step} instructions per step, at most {most}");
}

/// What a process of this very program takes that runs one of the ignored tests below.
fn instructions(counted: &str, runs: u64) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", counted, "--test-threads=1"])
        .env(RUNS_VARIABLE, runs.to_string())
        .output()
        .expect("valgrind is there: make setup installs it");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
    let count =
        said.lines().find_map(|line| line.split_once("I   refs:")).expect("valgrind tells its count").1;
    count.trim().replace(',', "").parse().unwrap()
}

#[tokio::test]
#[ignore = "is run by the tests above, in a process of its own"]
async fn run_in_memory() {
    run_on(Arc::new(MemoryStore::new())).await;
}

#[tokio::test]
#[ignore = "is run by the tests above, in a process of its own"]
async fn run_on_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    run_on(Arc::new(SqliteStore::open(dir.path().join("counted.db")).unwrap())).await;
}

/// One run after the other, so that each commit is a transaction of its own, and the count is the same each time.
async fn run_on(store: Arc<dyn Store>) {
    let workflow = rival_bench::five_steps().unwrap();
    let engine = Engine::builder().store(store).workflow(&workflow).build().await.unwrap();
    let runs: u64 = std::env::var(RUNS_VARIABLE).map_or(1, |runs| runs.parse().unwrap());
    for _ in 0..runs {
        let outcome = engine.run(&workflow, ()).await.unwrap().wait().await.unwrap();
        assert_eq!(outcome.status, RunStatus::Completed);
    }
}
