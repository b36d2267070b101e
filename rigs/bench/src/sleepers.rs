//! What sleeping runs cost: in memory, at a restart, while idle, and when they are all due at once.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rival::prelude::*;
use rival::{Page, RunFilter, RunId, RunStatus, SqliteStore};
use serde::{Deserialize, Serialize};

use crate::report::BenchReport;
use crate::{BenchSize, disk};

#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct Until {
    at_ms: i64,
}

/// Sleeps until the moment in the input.
async fn moment(Input(until): Input<Until>) -> Result<rival::Time, StepError> {
    Ok(rival::Time(until.at_ms))
}

#[step]
async fn wake_up() -> Result<(), StepError> {
    Ok(())
}

pub(crate) async fn measure(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("sleepers.db");
    let workflow = Workflow::new("sleeper").input::<Until>().step(delay_by(moment)).step(wake_up).build()?;
    // Far enough that nothing is due before everything below is measured.
    let spare = if size.sleepers < 10_000 { 5_000 } else { 60_000 };
    let due = now_ms() + spare + i64::try_from(size.sleepers)? / 5;
    let engine = Engine::builder().store(SqliteStore::open(&path)?).workflow(&workflow).build().await?;
    // Before the first run: what the store caches and the allocator keeps counts too.
    let before = disk::resident_bytes()?;
    start_all(&engine, &workflow, size.sleepers, due).await?;
    let held = disk::resident_bytes()?.saturating_sub(before) as f64 / size.sleepers as f64;
    let on_disk = disk::file_bytes(&path) as f64 / size.sleepers as f64;
    let note = format!(
        "memory per sleeping run, {} asleep; under 1,024; {on_disk:.0} bytes each on disk",
        size.sleepers
    );
    report.add("sleeping_run_bytes", held, "bytes", note);
    engine.shutdown(Duration::from_secs(10)).await;
    drop(engine);

    let start = Instant::now();
    let engine = Engine::builder().store(SqliteStore::open(&path)?).workflow(&workflow).build().await?;
    engine.run(&workflow, Until { at_ms: 0 }).await?.wait().await?;
    let restart = start.elapsed().as_secs_f64() * 1e3;
    report.add(
        "restart_100k_ms",
        restart,
        "ms",
        format!("open, recover and run one run, {} asleep; under 2,000", size.sleepers),
    );

    let lasting = Duration::from_secs(if size.sleepers < 10_000 { 1 } else { 5 });
    let cpu = disk::cpu_time()?;
    tokio::time::sleep(lasting).await;
    let idle = (disk::cpu_time()? - cpu).as_secs_f64() / lasting.as_secs_f64() * 100.0;
    report.add("idle_cpu_percent", idle, "%", format!("{} asleep; under 1", size.sleepers));

    wake_all(&engine, size.sleepers, due, report).await?;
    engine.shutdown(Duration::from_secs(10)).await;
    Ok(())
}

/// Starts runs, 500 at a time.
async fn start_all(engine: &Engine, workflow: &Workflow<Until, ()>, runs: usize, at_ms: i64) -> Result<()> {
    let tasks: Vec<_> = (0..500)
        .map(|task| {
            let (engine, workflow) = (engine.clone(), workflow.clone());
            tokio::spawn(async move {
                for _ in (task..runs).step_by(500) {
                    engine.run(&workflow, Until { at_ms }).await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    // A start returns when it is durable; the computed sleep begins right after.
    engine.settled().await;
    Ok(())
}

/// Waits until all are due, then until all have ended.
async fn wake_all(engine: &Engine, sleepers: usize, due: i64, report: &mut BenchReport) -> Result<()> {
    let asleep = RunFilter { statuses: vec![RunStatus::Waiting], ..RunFilter::default() };
    let some = engine.runs(&asleep, &Page { before: None, limit: 1_000 }).await?;
    let watched: Vec<RunId> = some.into_iter().map(|row| row.id).collect();
    ensure!(now_ms() < due, "the machine was too slow: runs fell due while others were started");
    disk::reset_peak();
    tokio::time::sleep(Duration::from_millis(u64::try_from(due - now_ms())?)).await;
    let start = Instant::now();
    // The store hands out the earliest first, and among equals the oldest: the newest are the last.
    for run in &watched {
        engine.wait(run).await?;
    }
    while !engine.runs(&asleep, &Page { before: None, limit: 1 }).await?.is_empty()
        || !engine.active_runs().is_empty()
    {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let took = start.elapsed().as_secs_f64();
    let peak = disk::peak_bytes()? / 1_048_576;
    let mut late: Vec<Duration> = Vec::new();
    for run in &watched {
        let ended = engine.get(run).await?.ended_at.map_or(0, |at| at.0);
        late.push(Duration::from_millis(u64::try_from(ended - due).unwrap_or(0)));
    }
    let (p50, worst) = (disk::percentile(&mut late, 50), disk::percentile(&mut late, 100));
    let note = format!(
        "{sleepers} due at once, all ended; the newest 1,000 were late by {} ms (median) and {} ms (most); peak memory {peak} MiB",
        p50.as_millis(),
        worst.as_millis()
    );
    report.add("due_100k_s", took, "s", note);
    Ok(())
}

fn now_ms() -> i64 {
    rival::Clock::System.now().0
}
