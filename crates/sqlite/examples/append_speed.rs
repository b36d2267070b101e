//! How fast steps become durable, and how much of what SQLite can do at best that is.
//!
//! `cargo run --release -p rival-sqlite --example append_speed [folder] [seconds] [tasks]`
//!
//! First a bare writer thread with group commit: one table, 200-byte rows, ordered keys. Then the store, fed
//! with the commits of five-step runs. Everything is acknowledged after its sync, in both.

#![allow(clippy::print_stdout, reason = "a benchmark speaks through its output")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rival_core::{PlanHash, RunId, RunStatus, Seq, Time};
use rival_sqlite::SqliteStore;
use rival_store::{Commit, EngineId, Epoch, EventBatch, NewRun, RowUpdate, RunHold, Store};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

const STEPS: u64 = 5;

struct Plan {
    folder: PathBuf,
    time: Duration,
    tasks: u64,
}

fn main() {
    let plan = plan();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("threads can be had");
    let bare = runtime.block_on(bare(&plan));
    println!("(a) bare appends    {bare:>10.0} /s");
    let steps = runtime.block_on(store(&plan));
    println!("    ratio           {:>10.2}", steps / bare);
}

fn plan() -> Plan {
    let mut words = std::env::args().skip(1);
    let folder = words.next().map_or_else(|| std::env::temp_dir().join("rival-append-speed"), PathBuf::from);
    let mut number = |or: u64| words.next().map_or(or, |word| word.parse().expect("a number"));
    let plan = Plan { folder, time: Duration::from_secs(number(3)), tasks: number(500) };
    // A fresh folder each time; it is the benchmark's own.
    let _ = std::fs::remove_dir_all(&plan.folder);
    std::fs::create_dir_all(&plan.folder).expect("the folder can be made");
    plan
}

type Append = (i64, oneshot::Sender<()>);

async fn bare(plan: &Plan) -> f64 {
    let (sender, queue) = mpsc::channel::<Append>(4096);
    let file = plan.folder.join("bare.db");
    let writer = std::thread::spawn(move || write_bare(&file, queue));
    let next = Arc::new(AtomicU64::new(1));
    let rate = drive(plan, move || {
        let (sender, next) = (sender.clone(), next.clone());
        async move {
            let (reply, answer) = oneshot::channel();
            let key = next.fetch_add(1, Ordering::Relaxed).cast_signed();
            sender.send((key, reply)).await.expect("the writer lives");
            answer.await.expect("the writer answers");
        }
    })
    .await;
    writer.join().expect("the writer does not panic");
    rate
}

fn write_bare(file: &Path, mut queue: mpsc::Receiver<Append>) {
    let connection = Connection::open(file).expect("the file opens");
    connection
        .execute_batch(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 2000;
             CREATE TABLE rows (key INTEGER PRIMARY KEY, body BLOB NOT NULL)",
        )
        .expect("the file is set up");
    let mut insert = connection.prepare("INSERT INTO rows VALUES (?1, ?2)").expect("valid");
    let (body, mut group) = ([7_u8; 200], Vec::new());
    while queue.blocking_recv_many(&mut group, 1000) > 0 {
        connection.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
        for (key, _) in &group {
            insert.execute((key, body)).expect("keys differ");
        }
        connection.execute_batch("COMMIT").expect("the disk takes it");
        for (_, reply) in group.drain(..) {
            let _ = reply.send(());
        }
    }
}

async fn store(plan: &Plan) -> f64 {
    let store = Arc::new(SqliteStore::open(plan.folder.join("store.db")).expect("the file opens"));
    let engine = store.join().await.expect("an engine can join");
    let next = Arc::new(AtomicU64::new(1));
    let (before, shared) = (cpu_times(), store.clone());
    let runs = drive(plan, move || {
        let (store, next) = (shared.clone(), next.clone());
        async move { one_run(&store, engine, next.fetch_add(1, Ordering::Relaxed)).await }
    })
    .await;
    let steps = runs * STEPS as f64;
    let stats = store.stats();
    println!("(b) steps           {steps:>10.0} /s   ({runs:.0} runs/s, {:.0} commits/s)", runs * 6.0);
    println!("    jobs per sync   {:>10.0}", stats.jobs as f64 / stats.transactions as f64);
    print_cpu(&before, &cpu_times(), stats.jobs);
    steps
}

async fn one_run(store: &SqliteStore, engine: EngineId, number: u64) {
    let now = Time(1_700_000_000_000 + number.cast_signed());
    // Shaped and ordered like a UUIDv7.
    let id = RunId::new(format!(
        "{number:012x}-7000-8000-{:012x}",
        number.wrapping_mul(0x9E37_79B9) & 0xFFFF_FFFF_FFFF
    ));
    store.start(new_run(id.clone(), engine, now)).await.expect("the start is written");
    for step in 0..STEPS {
        let mut commit = Commit::new(id.clone(), Epoch(1), now);
        commit.events = Some(EventBatch { first: Seq(3 + 2 * step), count: 2, body: vec![b'x'; 250] });
        commit.row_update = (step + 1 == STEPS).then(|| row_update(RunStatus::Completed, Some(now)));
        store.commit(Arc::new(commit)).await.expect("the step is written");
    }
}

fn new_run(id: RunId, engine: EngineId, now: Time) -> NewRun {
    NewRun {
        id,
        workflow: "order-fulfilment".to_owned(),
        plan: PlanHash::new("4f0c2d7a9be1d3c5a7f80912b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6"),
        fingerprint: vec![7; 32],
        created_at: now,
        parent: None,
        source: None,
        tags: Vec::new(),
        events: EventBatch { first: Seq(1), count: 2, body: vec![b'x'; 300] },
        row_update: row_update(RunStatus::Running, None),
        engine,
    }
}

fn row_update(status: RunStatus, ended_at: Option<Time>) -> RowUpdate {
    RowUpdate::new(status, RunHold::Keep, ended_at.unwrap_or(Time(0)), None)
}

/// Repeats the work in every task until the time is up; gives the rate.
async fn drive<F: Future<Output = ()> + Send + 'static>(
    plan: &Plan,
    work: impl Fn() -> F + Clone + Send + 'static,
) -> f64 {
    let begin = Instant::now();
    let end = begin + plan.time;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..plan.tasks {
        tasks.spawn(repeat(work.clone(), end));
    }
    let done: u64 = tasks.join_all().await.into_iter().sum();
    done as f64 / begin.elapsed().as_secs_f64()
}

async fn repeat<F: Future<Output = ()>>(work: impl Fn() -> F, end: Instant) -> u64 {
    let mut done = 0;
    while Instant::now() < end {
        work().await;
        done += 1;
    }
    done
}

/// CPU time of each thread so far, in clock ticks of 10 ms, by name.
fn cpu_times() -> Vec<(String, u64)> {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("stat")).ok())
        .filter_map(|stat| parse_stat(&stat))
        .collect()
}

fn parse_stat(stat: &str) -> Option<(String, u64)> {
    let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some((name.to_owned(), fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?))
}

fn print_cpu(before: &[(String, u64)], after: &[(String, u64)], jobs: u64) {
    let sum = |times: &[(String, u64)], writer: bool| -> u64 {
        times.iter().filter(|(name, _)| name.contains("sqlite-wr") == writer).map(|(_, ticks)| ticks).sum()
    };
    for (who, writer) in [("writer", true), ("others", false)] {
        let ticks = sum(after, writer).saturating_sub(sum(before, writer));
        println!("    cpu, {who}     {:>10.2} us per job", ticks as f64 * 10_000.0 / jobs as f64);
    }
}
