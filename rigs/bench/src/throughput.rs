//! How many steps per second become durable, against the machine's own limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rival::prelude::*;
use rival::{RunStatus, SqliteStore};

use crate::report::BenchReport;
use crate::{BenchSize, disk, limit};

const IN_FLIGHT: usize = 500;

#[step]
async fn a() -> Result<(), StepError> {
    Ok(())
}
#[step]
async fn b() -> Result<(), StepError> {
    Ok(())
}
#[step]
async fn c() -> Result<(), StepError> {
    Ok(())
}
#[step]
async fn d() -> Result<(), StepError> {
    Ok(())
}
#[step]
async fn e() -> Result<(), StepError> {
    Ok(())
}

/// A workflow of five steps that do nothing.
pub fn five_steps() -> Result<Workflow<(), ()>> {
    Ok(Workflow::new("five").steps((a, b, c, d, e)).build()?)
}

/// How often engine and bare writer take turns: the machine changes while we measure, for both alike.
const ROUNDS: usize = 5;

pub(crate) async fn measure(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("throughput.db");
    let store = Arc::new(SqliteStore::open(&path)?);
    let workflow = five_steps()?;
    let engine = Engine::builder().store(store.clone()).workflow(&workflow).build().await?;
    let bytes = disk::file_bytes(&path);
    let (mut bare, mut steps, mut rows, mut syncs) = (TimeSpent::default(), TimeSpent::default(), 0_u64, 0);
    for _ in 0..ROUNDS {
        let turn = Duration::from_millis(if size.runs < 10_000 { 100 } else { 1_000 });
        let before = TimeSpent::now()?;
        rows += limit::append_rows(dir.path(), IN_FLIGHT, turn).await?;
        bare.add(before)?;
        let (before, synced) = (TimeSpent::now()?, store.stats().transactions);
        run_all(&engine, &workflow, size.runs / ROUNDS, IN_FLIGHT).await?;
        steps.add(before)?;
        syncs += store.stats().transactions - synced;
    }
    engine.shutdown(Duration::from_secs(5)).await;
    drop((engine, store));
    let bytes = disk::file_bytes(&path).saturating_sub(bytes);
    let count = (size.runs / ROUNDS * ROUNDS * 5) as f64;
    let (per_s, limit) = (count / steps.wall.as_secs_f64(), rows as f64 / bare.wall.as_secs_f64());
    let cpu = steps.cpu.as_secs_f64() * 1e6 / count;
    let note = format!(
        "{} runs of 5 no-op steps, {IN_FLIGHT} in flight, SQLite FULL; {cpu:.1} us CPU per step",
        size.runs
    );
    report.add("throughput_steps_per_s", per_s, "steps/s", note);
    report.add(
        "bytes_per_step",
        bytes as f64 / count,
        "bytes",
        "growth of the database file, history and indexes",
    );
    report.add(
        "fsyncs_per_step",
        syncs as f64 / count,
        "fsyncs",
        "transactions that were made durable, per step",
    );
    let cpu = bare.cpu.as_secs_f64() * 1e6 / rows as f64;
    let note =
        format!("bare group-commit writer, {IN_FLIGHT} producers, 200-byte rows; {cpu:.1} us CPU per row");
    report.add("limit_steps_per_s", limit, "rows/s", note);
    report.add("throughput_ratio", per_s / limit, "", format!("at least 0.35; {ROUNDS} rounds taking turns"));
    Ok(())
}

/// Time that something took, on the clock and on the processors.
#[derive(Default)]
struct TimeSpent {
    wall: Duration,
    cpu: Duration,
}

impl TimeSpent {
    fn now() -> Result<(Instant, Duration)> {
        Ok((Instant::now(), disk::cpu_time()?))
    }

    fn add(&mut self, (wall, cpu): (Instant, Duration)) -> Result<()> {
        self.wall += wall.elapsed();
        self.cpu += disk::cpu_time()? - cpu;
        Ok(())
    }
}

/// Runs so many runs to their end, so many at a time.
pub(crate) async fn run_all(
    engine: &Engine,
    workflow: &Workflow<(), ()>,
    runs: usize,
    in_flight: usize,
) -> Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..in_flight.min(runs))
        .map(|_| {
            let (engine, workflow, next) = (engine.clone(), workflow.clone(), Arc::clone(&next));
            tokio::spawn(async move {
                while next.fetch_add(1, Ordering::Relaxed) < runs {
                    let outcome = engine.run(&workflow, ()).await?.wait().await?;
                    ensure!(outcome.status == RunStatus::Completed, "a run ended as {}", outcome.status);
                }
                Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(())
}
