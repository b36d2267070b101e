//! The process that is killed: `rival-crash-worker <folder> work <seed>`, or `<folder> drain`.
//!
//! It says `ready` once its clients are at work, and `done` when it has ended in order: on SIGTERM, or when
//! everything is drained.

#![allow(clippy::print_stdout, reason = "its parent reads it")]

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rival::{Engine, SqliteStore};
use rival_crash::{Clients, Folder, Ledger, Sighting, definitions, drain};
use tokio::signal::unix::{SignalKind, signal};

/// Few enough that runs are queued now and then.
const LIVE_MAX: usize = 12;
/// How long the last worker may take to finish what all others left.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = Folder(arguments.next().context("no folder")?.into());
    let task = arguments.next().context("no task")?;
    match task.as_str() {
        "work" => work(&folder, arguments.next().context("no seed")?.parse()?).await,
        "drain" => finish(&folder).await,
        other => bail!("no task is called `{other}`"),
    }
}

async fn engine(folder: &Folder, live_max: usize) -> Result<Engine> {
    let store = SqliteStore::open(folder.store())?;
    let sightings = Ledger::<Sighting>::open(&folder.sightings())?;
    let mut builder = Engine::builder().store(store).provide(sightings).max_live_runs(live_max);
    for definition in definitions()? {
        builder = builder.workflow(definition);
    }
    Ok(builder.build().await?)
}

async fn work(folder: &Folder, seed: u64) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let engine = engine(folder, LIVE_MAX).await?;
    let clients = Arc::new(Clients::new(engine.clone(), folder)?);
    println!("ready");
    let clients = tokio::spawn(clients.work(seed));
    terminate.recv().await;
    // Often too short for what is at work.
    engine.shutdown(Duration::from_millis(seed % 3 * 10)).await;
    clients.await??;
    println!("done");
    Ok(())
}

async fn finish(folder: &Folder) -> Result<()> {
    let engine = engine(folder, 256).await?;
    println!("ready");
    drain(&engine, PATIENCE).await?;
    engine.shutdown(Duration::from_secs(5)).await;
    println!("done");
    Ok(())
}
