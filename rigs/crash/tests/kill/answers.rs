//! Several clients ask the same runs at once, over HTTP, for signals, cancels, kills and pauses, while the server is
//! killed. Each answer, a yes or a no, is true of that request.
//!
//! `RIVAL_CRASH_ANSWERS=10000` asks for more of them.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rival::SqliteStore;
use rival_crash::{CrowdClients, TestFolder, WorkerEnd, WorkerProcess, audit_answers};

use crate::{Complaints, WORKER, assert_sound, number};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_of_a_killed_server_is_true() {
    let (seed, wanted) = (number("RIVAL_CRASH_SEED", 1), number("RIVAL_CRASH_ANSWERS", 1_000));
    println!("seed {seed}, {wanted} answers");
    let dir = tempfile::tempdir().unwrap();
    let folder = TestFolder(dir.path().to_owned());
    let _complaints = Complaints(&folder);
    let begun = Instant::now();
    let crowd = Arc::new(CrowdClients::new(&folder, wanted).unwrap());
    let clients = tokio::spawn(Arc::clone(&crowd).work(seed));
    let mut rng = Rng::with_seed(seed);
    let (mut kills, mut stops) = (0, 0);
    while !crowd.is_content() && !clients.is_finished() {
        let after = Duration::from_millis(rng.u64(80..400));
        let end = if rng.u8(0..4) == 0 { WorkerEnd::Terminate(after) } else { WorkerEnd::Kill(after) };
        let (folder, crowd, seed) = (folder.clone(), Arc::clone(&crowd), rng.u64(..).to_string());
        tokio::task::spawn_blocking(move || live(&folder, &crowd, &seed, end)).await.unwrap();
        match end {
            WorkerEnd::Terminate(_) => stops += 1,
            WorkerEnd::Kill(_) | WorkerEnd::KillEarly(_) => kills += 1,
        }
    }
    let mut worker = WorkerProcess::start(Path::new(WORKER), &folder, &["serve", "0"]).unwrap();
    crowd.api.is_at(listens_at(&mut worker));
    clients.await.unwrap().unwrap();
    crowd.drain().await.unwrap();
    assert!(worker.end(WorkerEnd::Terminate(Duration::ZERO)).unwrap().success());
    let store = SqliteStore::open(folder.store()).unwrap();
    let audit = audit_answers(&store, &folder).await.unwrap();
    let report = &audit.report;
    println!("{kills} kills, {stops} stops, {} answers, {:.1?}", crowd.answers(), begun.elapsed());
    println!("{} runs {:?}, {} events", report.run_count(), report.runs, report.events);
    println!("{:#?}", audit.answers);
    assert_sound(report);
    assert_eq!((report.unfinished(), report.owned), (0, 0), "runs are left");
    assert!(crowd.answers() >= wanted && kills > 0 && stops > 0, "{kills} kills, {stops} stops");
    for told in
        ["signal: yes", "signal: run_finished", "contradiction: signal_conflict", "kill: yes", "cancel: yes"]
    {
        assert!(audit.answers.contains_key(told), "nobody was told {told}");
    }
}

/// The life of one server.
fn live(folder: &TestFolder, crowd: &CrowdClients, seed: &str, end: WorkerEnd) {
    let mut worker = WorkerProcess::start(Path::new(WORKER), folder, &["serve", seed]).unwrap();
    crowd.api.is_at(listens_at(&mut worker));
    let status = worker.end(end).unwrap();
    if let WorkerEnd::Terminate(_) = end {
        assert!(status.success(), "the server did not stop in order: {status}");
    }
}

fn listens_at(worker: &mut WorkerProcess) -> SocketAddr {
    worker.tells("at").unwrap().expect("a server that listens").parse().unwrap()
}
