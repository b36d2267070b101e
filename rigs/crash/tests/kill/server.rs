//! The worker as a server, with its clients in this process: a client asks over HTTP, and asks again if it does not
//! know whether the server received the request. Every answer of 2xx is true for ever, and exactly once.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use rival::SqliteStore;
use rival_crash::{AuditReport, HttpLoad, TestFolder, WorkerEnd, WorkerProcess, audit};

use crate::{Complaints, WORKER, assert_sound, number};

/// Runs that are started while one server lives, at most.
const STARTS: usize = 40;

/// What the story was like.
#[derive(Debug, Default)]
struct Story {
    kills: u64,
    early_kills: u64,
    stops: u64,
    /// Servers that were asked to stop.
    stopped: HashSet<SocketAddr>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_2xx_of_a_killed_server_is_there_exactly_once() {
    let (seed, cycles) = (number("RIVAL_CRASH_SEED", 1), number("RIVAL_CRASH_CYCLES", 50));
    println!("seed {seed}, {cycles} cycles");
    let dir = tempfile::tempdir().unwrap();
    let folder = TestFolder(dir.path().to_owned());
    let _complaints = Complaints(&folder);
    let begun = Instant::now();
    let load = Arc::new(HttpLoad::new(&folder).unwrap());
    let clients = tokio::spawn(Arc::clone(&load).work(seed));
    let story = kill_again_and_again(&folder, &load, seed, cycles).await;
    println!("killed for {:.1?}", begun.elapsed());
    let returned = finish(&folder, &load, clients).await;
    println!("finished after {:.1?}", begun.elapsed());
    let store = SqliteStore::open(folder.store()).unwrap();
    let audit = audit(&store, &folder).await.unwrap();
    let talk = load.talk();
    println!("{story:?}\n{audit}\nanswers {:?}, {} requests without", talk.answers, talk.broken);
    println!("{} requests sent again, streams taken up again {returned} times", load.sent_again());
    println!("{:.1?}", begun.elapsed());
    assert_sound(&audit.report);
    assert_eq!((audit.report.unfinished(), audit.report.owned), (0, 0), "runs are left");
    let half = talk.half.iter().filter(|address| story.stopped.contains(address)).count();
    assert_eq!(half, 0, "servers that stopped in order cut answers short");
    assert_told_enough(&audit, &story, cycles, load.sent_again(), returned);
}

async fn kill_again_and_again(folder: &TestFolder, load: &Arc<HttpLoad>, seed: u64, cycles: u64) -> Story {
    let mut rng = Rng::with_seed(seed);
    let mut story = Story::default();
    for cycle in 1..=cycles {
        let after = Duration::from_millis(rng.u64(60..300));
        let end = match (cycle.is_multiple_of(8), rng.u8(0..12)) {
            (true, _) => WorkerEnd::Terminate(after),
            (false, 0) => WorkerEnd::KillEarly(after / 4),
            (false, _) => WorkerEnd::Kill(after),
        };
        let (folder, load, seed) = (folder.clone(), Arc::clone(load), rng.u64(..).to_string());
        let life = tokio::task::spawn_blocking(move || live(&folder, &load, &seed, end));
        let address = life.await.unwrap();
        match end {
            WorkerEnd::Kill(_) => story.kills += 1,
            WorkerEnd::KillEarly(_) => story.early_kills += 1,
            WorkerEnd::Terminate(_) => story.stops += 1,
        }
        story.stopped.extend(address.filter(|_| matches!(end, WorkerEnd::Terminate(_))));
    }
    story
}

/// The life of one server, and where it listened.
fn live(folder: &TestFolder, load: &HttpLoad, seed: &str, end: WorkerEnd) -> Option<SocketAddr> {
    let mut worker = WorkerProcess::start(Path::new(WORKER), folder, &["serve", seed]).unwrap();
    let address = match end {
        WorkerEnd::KillEarly(_) => None,
        WorkerEnd::Kill(_) | WorkerEnd::Terminate(_) => Some(listen(&mut worker, load)),
    };
    load.allow(STARTS);
    let begun = Instant::now();
    let status = worker.end(end).unwrap();
    if let WorkerEnd::Terminate(_) = end {
        assert!(begun.elapsed() < Duration::from_secs(5), "stopping took {:?}", begun.elapsed());
        assert!(status.success(), "the server did not stop in order: {status}");
    }
    address
}

/// Waits until a server listens, and tells the clients.
fn listen(worker: &mut WorkerProcess, load: &HttpLoad) -> SocketAddr {
    let address = worker.tells("at").unwrap().expect("a server that listens").parse().unwrap();
    load.api.is_at(address);
    address
}

/// Lets a last server finish everything. Gives how often streams were taken up again.
async fn finish(
    folder: &TestFolder,
    load: &HttpLoad,
    clients: tokio::task::JoinHandle<anyhow::Result<()>>,
) -> u64 {
    load.finish();
    let mut worker = WorkerProcess::start(Path::new(WORKER), folder, &["serve", "0"]).unwrap();
    listen(&mut worker, load);
    clients.await.unwrap().unwrap();
    load.drain().await.unwrap();
    let returned = load.followers().await.unwrap();
    assert!(worker.end(WorkerEnd::Terminate(Duration::ZERO)).unwrap().success());
    returned
}

/// A story in which nothing went wrong proves nothing.
fn assert_told_enough(audit: &AuditReport, story: &Story, cycles: u64, again: u64, returned: u64) {
    let lost = audit.report.lost_to_crash;
    assert!(lost > cycles, "only {lost} calls were cut short");
    assert!(story.kills * 2 > cycles && story.stops * 8 + 7 >= cycles, "too few ends: {story:?}");
    assert!(again > cycles && returned > cycles / 2, "{again} sent again, {returned} taken up again");
    let told = [audit.started, audit.ended, audit.requests, audit.signals];
    assert!(told.iter().all(|count| *count as u64 > cycles), "clients were told too little: {told:?}");
}
