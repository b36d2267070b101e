//! How long one run of five steps takes when nothing else runs, against the disk's own sync.

use std::time::Instant;

use anyhow::{Result, ensure};
use rival::prelude::*;
use rival::{RunStatus, SqliteStore};

use crate::report::BenchReport;
use crate::throughput::five_steps;
use crate::{BenchSize, disk};

pub(crate) async fn measure(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let sync_before = disk::fdatasync_p50(dir.path())?;
    let workflow = five_steps()?;
    let store = SqliteStore::open(dir.path().join("latency.db"))?;
    let engine = Engine::builder().store(store).workflow(&workflow).build().await?;
    let mut times = Vec::new();
    for _ in 0..size.latency_runs {
        let start = Instant::now();
        let outcome = engine.run(&workflow, ()).await?.wait().await?;
        ensure!(outcome.status == RunStatus::Completed, "a run ended as {}", outcome.status);
        times.push(start.elapsed());
    }
    let sync = sync_before.max(disk::fdatasync_p50(dir.path())?).as_secs_f64() * 1e3;
    let p50 = disk::percentile(&mut times, 50).as_secs_f64() * 1e3;
    let p99 = disk::percentile(&mut times, 99).as_secs_f64() * 1e3;
    let most = 8.0 * sync + 0.5;
    report.add("latency_p50_ms", p50, "ms", format!("one run of 5 steps at a time; at most {most:.2} here"));
    report.add("latency_p99_ms", p99, "ms", format!("{} runs", size.latency_runs));
    report.add("fdatasync_p50_ms", sync, "ms", "4 KiB append and fdatasync on the same disk");
    Ok(())
}
