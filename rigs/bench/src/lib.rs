//! Benchmarks of Rival.
//!
//! Machines differ and are noisy, so what counts is a ratio of two figures taken in the same run: the engine
//! against a bare group-commit writer on the same disk, late steps against early ones, a run's latency against
//! the disk's own sync.

mod blocks;
mod disk;
mod latency;
mod limit;
mod load;
mod long_plan;
mod report;
mod scripts;
mod sleepers;
mod throughput;
mod waiting;

use anyhow::Result;

pub use report::{BenchFigure, BenchReport};
pub use throughput::five_steps;
pub use waiting::{is_asked_to_serve, serve};

/// How much work to do: the full size for figures, a small one to see that everything works.
#[derive(Clone, Copy, Debug)]
pub struct BenchSize {
    /// Runs of the throughput benchmark.
    pub runs: usize,
    /// Runs of the latency benchmark.
    pub latency_runs: usize,
    /// Runs asleep.
    pub sleepers: usize,
    /// Steps of the long plan; the first and last twentieth are compared.
    pub long_plan: usize,
    /// Branches of the wide parallel block.
    pub branches: usize,
    /// Items of the longest forEach; a tenth and a hundredth are compared with it.
    pub items: u32,
    /// Events of the long history.
    pub events: u64,
    /// Live streams at a time.
    pub streams: usize,
    /// Clients that wait for a run at a time.
    pub waiting: usize,
}

impl BenchSize {
    /// The size whose figures are published.
    pub const FULL: Self = Self {
        runs: 50_000,
        latency_runs: 1_000,
        sleepers: 100_000,
        long_plan: 20_000,
        branches: 10_000,
        items: 100_000,
        events: 1_000_000,
        streams: 500,
        waiting: 10_000,
    };
    /// A small one.
    pub const SMOKE: Self = Self {
        runs: 500,
        latency_runs: 20,
        sleepers: 500,
        long_plan: 400,
        branches: 100,
        items: 500,
        events: 3_000,
        streams: 20,
        waiting: 100,
    };
}

/// Runs the benchmarks whose name contains `only`, all of them if it is empty.
pub async fn run(size: BenchSize, only: &str) -> Result<BenchReport> {
    let mut report = BenchReport::default();
    let wanted = |name: &str| name.contains(only);
    if wanted("throughput") {
        throughput::measure(size, &mut report).await?;
    }
    if wanted("latency") {
        latency::measure(size, &mut report).await?;
    }
    if wanted("sleepers") {
        sleepers::measure(size, &mut report).await?;
    }
    if wanted("long_plan") {
        long_plan::measure(size, &mut report).await?;
    }
    if wanted("blocks") {
        blocks::measure(size, &mut report).await?;
    }
    if wanted("load") {
        load::measure(size, &mut report).await?;
    }
    if wanted("waiting") {
        waiting::measure(size, &mut report).await?;
    }
    if wanted("scripts") {
        scripts::measure(size, &mut report).await?;
    }
    Ok(report)
}
