//! Whether a step late in a long plan costs more than an early one.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rival::prelude::*;
use rival::{EngineBuilder, RunStatus, SqliteStore};

use crate::report::BenchReport;
use crate::{BenchSize, disk};

/// CPU time of the process at the start of each step.
#[derive(Default)]
struct Marks(Mutex<Vec<Duration>>);

#[step]
async fn mark(marks: Res<Arc<Marks>>) -> Result<(), StepError> {
    let now = disk::cpu_time()?;
    marks.0.lock().map_err(|_| "another step panicked")?.push(now);
    Ok(())
}

pub(crate) async fn measure(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let dir = tempfile::tempdir()?;
    let store = SqliteStore::open(dir.path().join("long.db"))?;
    let (early, late) = run_long_plan(size.long_plan, Engine::builder().store(store)).await?;
    let note =
        format!("{} steps; {early:.1} us CPU per step early, {late:.1} late; at most 1.2", size.long_plan);
    report.add("late_step_cost_ratio", late / early, "", note);
    // On a disk the sync is most of the cost. In memory the engine has nothing to hide behind.
    let (early, late) = run_long_plan(size.long_plan, Engine::builder()).await?;
    let note = format!("the same in memory; {early:.1} us CPU per step early, {late:.1} late");
    report.add("late_step_memory_ratio", late / early, "", note);
    Ok(())
}

/// CPU time per step in microseconds, early and late in a plan.
async fn run_long_plan(steps: usize, engine: EngineBuilder) -> Result<(f64, f64)> {
    let marks = Arc::new(Marks::default());
    let mut workflow = Workflow::new("long").step(mark);
    for _ in 1..steps {
        workflow = workflow.step(mark);
    }
    let workflow = workflow.build()?;
    let engine = engine.provide(Arc::clone(&marks)).workflow(&workflow).build().await?;
    let outcome = engine.run(&workflow, ()).await?.wait_for(Duration::from_secs(1_800)).await?;
    ensure!(outcome.status == RunStatus::Completed, "the run ended as {}", outcome.status);
    let marks = marks.0.lock().ok().context("a step panicked")?;
    let part = steps / 20;
    let cost = |from: usize| (marks[from + part - 1] - marks[from]).as_secs_f64() * 1e6 / (part - 1) as f64;
    Ok((cost(0), cost(marks.len() - part)))
}
