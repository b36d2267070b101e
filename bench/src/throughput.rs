//! How many steps per second become durable, against the machine's own limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rival::prelude::*;
use rival::{RunStatus, SqliteStore};

use crate::report::Report;
use crate::{Size, disk, limit};

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
pub(crate) fn five_steps() -> Result<Workflow<(), ()>> {
    Ok(Workflow::new("five").steps((a, b, c, d, e)).build()?)
}

pub(crate) async fn measure(size: Size, report: &mut Report) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let probe = Duration::from_millis(if size.runs < 10_000 { 300 } else { 3_000 });
    // The limit is taken before and after, because the machine changes while we measure.
    let before = limit::rows_per_s(dir.path(), IN_FLIGHT, probe).await?;
    let (steps_per_s, bytes, syncs, cpu) = engine(size.runs, dir.path()).await?;
    std::fs::remove_file(dir.path().join("limit.db"))?;
    let after = limit::rows_per_s(dir.path(), IN_FLIGHT, probe).await?;
    let limit = f64::midpoint(before, after);
    let note = format!(
        "{} runs of 5 no-op steps, {IN_FLIGHT} in flight, SQLite FULL; {cpu:.1} us CPU per step",
        size.runs
    );
    report.add("throughput_steps_per_s", steps_per_s, "steps/s", note);
    report.add("bytes_per_step", bytes, "bytes", "growth of the database file, history and indexes");
    report.add("fsyncs_per_step", syncs, "fsyncs", "transactions that were made durable, per step");
    let note = format!(
        "bare group-commit writer, {IN_FLIGHT} producers, 200-byte rows; {before:.0} before, {after:.0} after"
    );
    report.add("limit_steps_per_s", limit, "rows/s", note);
    report.add("throughput_ratio", steps_per_s / limit, "", "at least 0.35");
    Ok(())
}

async fn engine(runs: usize, dir: &std::path::Path) -> Result<(f64, f64, f64, f64)> {
    let path = dir.join("throughput.db");
    let store = Arc::new(SqliteStore::open(&path)?);
    let workflow = five_steps()?;
    let engine = Engine::builder().shared_store(store.clone()).workflow(&workflow).build().await?;
    let next = Arc::new(AtomicUsize::new(0));
    let (cpu, syncs, bytes) = (disk::cpu_time()?, store.stats().transactions, disk::file_bytes(&path));
    let start = Instant::now();
    let tasks: Vec<_> = (0..IN_FLIGHT.min(runs))
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
    let elapsed = start.elapsed().as_secs_f64();
    let cpu = disk::cpu_time()? - cpu;
    let syncs = store.stats().transactions - syncs;
    engine.shutdown(Duration::from_secs(5)).await;
    drop((engine, store));
    let bytes = disk::file_bytes(&path).saturating_sub(bytes);
    let steps = (runs * 5) as f64;
    Ok((steps / elapsed, bytes as f64 / steps, syncs as f64 / steps, cpu.as_secs_f64() * 1e6 / steps))
}
