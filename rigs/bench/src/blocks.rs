//! Whether wide blocks cost the same per branch and per item, however wide they are, and whether a long history is
//! resumed without being read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use futures::StreamExt;
use rival::prelude::*;
use rival::{RunStatus, Seq, SqliteStore};
use tokio::sync::Notify;

use crate::report::BenchReport;
use crate::{BenchSize, disk};

/// How many items of a forEach run at a time.
const WINDOW: u32 = 64;
const LONG: Duration = Duration::from_secs(1_800);

#[step]
async fn numbers(Input(count): Input<u32>) -> Result<Vec<u32>, StepError> {
    Ok((0..count).collect())
}

#[step]
async fn double(Item(number): Item<u32>) -> Result<u64, StepError> {
    Ok(u64::from(number) * 2)
}

#[step]
async fn touch() -> Result<u32, StepError> {
    Ok(1)
}

pub(crate) async fn measure(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    parallel(size, report).await?;
    for_each(size, report).await?;
    resume(size, report).await
}

async fn parallel(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let names = (0..size.branches).map(|n| format!("b{n}"));
    let workflow =
        Workflow::new("wide").parallel("all", |p| p.branches(names, |_, b| b.step(touch))).build()?;
    let dir = tempfile::tempdir()?;
    let store = SqliteStore::open(dir.path().join("wide.db"))?;
    let engine = Engine::builder().store(store).workflow(&workflow).build().await?;
    let start = Instant::now();
    let outcome = engine.run(&workflow, ()).await?.wait_for(LONG).await?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    ensure!(outcome.status == RunStatus::Completed, "the run ended as {}", outcome.status);
    report.add("parallel_10k_ms", ms, "ms", format!("a parallel block of {} branches", size.branches));
    Ok(())
}

async fn for_each(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let workflow = Workflow::new("each")
        .input::<u32>()
        .for_each("items", numbers, |e| e.body(|b| b.step(double)).concurrency(WINDOW))
        .build()?;
    let dir = tempfile::tempdir()?;
    let store = SqliteStore::open(dir.path().join("each.db"))?;
    let engine = Engine::builder().store(store).workflow(&workflow).build().await?;
    // Once for the caches.
    engine.run(&workflow, 200).await?.wait_for(LONG).await?;
    let mut costs = Vec::new();
    let mut notes = Vec::new();
    for items in [size.items / 100, size.items / 10, size.items] {
        // As much work each time, so that a short run is not all noise.
        let rounds = (size.items / items / 5).max(1);
        let (cpu, wall) = (disk::cpu_time()?, Instant::now());
        disk::reset_peak();
        let before = disk::resident_bytes()?;
        for _ in 0..rounds {
            let outcome = engine.run(&workflow, items).await?.wait_for(LONG).await?;
            ensure!(outcome.status == RunStatus::Completed, "the run ended as {}", outcome.status);
        }
        let all = f64::from(items * rounds);
        let cost = (disk::cpu_time()? - cpu).as_secs_f64() * 1e6 / all;
        let wall = wall.elapsed().as_secs_f64() * 1e6 / all;
        let held = disk::peak_bytes()?.saturating_sub(before) / 1024;
        notes.push(format!("{items}: {cost:.1} us CPU, {wall:.1} us, peak +{held} KiB"));
        costs.push(cost);
    }
    let most = costs.iter().copied().fold(f64::MIN, f64::max);
    let least = costs.iter().copied().fold(f64::MAX, f64::min);
    let note = format!("dearest item to cheapest, at most 1.3; per item at {}", notes.join("; "));
    report.add("foreach_scaling_ratio", most / least, "", note);
    Ok(())
}

/// Lets the last item wait, and tells when it is called.
#[derive(Default)]
struct ItemGate {
    last: AtomicU64,
    called: Notify,
}

#[step]
async fn pass(Item(number): Item<u32>, gate: Res<Arc<ItemGate>>) -> Result<u32, StepError> {
    if u64::from(number) == gate.last.load(Ordering::Relaxed) {
        gate.called.notify_one();
        std::future::pending::<()>().await;
    }
    Ok(number)
}

async fn resume(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let workflow = Workflow::new("long")
        .input::<u32>()
        .for_each("items", numbers, |e| e.body(|b| b.step(pass)).concurrency(WINDOW))
        .build()?;
    // Three events for each item: called, succeeded, through.
    let items = u32::try_from(size.events / 3)?;
    let gate = Arc::new(ItemGate::default());
    gate.last.store(u64::from(items) - 1, Ordering::Relaxed);
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("long.db");
    let open = || {
        let gate = Arc::clone(&gate);
        let (store, workflow) = (SqliteStore::open(&path), workflow.clone());
        async move {
            let engine = Engine::builder().store(store?).provide(gate).workflow(&workflow);
            anyhow::Ok(engine.build().await?)
        }
    };
    let engine = open().await?;
    let run = engine.run(&workflow, items).await?.id().clone();
    gate.called.notified().await;
    // Four events before the items, and the last item has had one.
    let events = 4 + u64::from(items - 1) * 3 + 1;
    engine.subscribe(&run, Seq(events - 1)).next().await;
    engine.shutdown(Duration::from_millis(1)).await;
    drop(engine);
    let start = Instant::now();
    let _engine = open().await?;
    gate.called.notified().await;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let note = format!("from opening the store to the next call of a run with {events} events; under 1,000");
    report.add("resume_1m_events_ms", ms, "ms", note);
    Ok(())
}
