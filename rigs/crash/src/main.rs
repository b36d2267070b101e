//! The process that is killed: `rival-crash-worker <folder> work <seed>`, `<folder> serve <seed>`, or `<folder> drain`.
//!
//! It says `ready` once its clients are at work or its server listens, and `done` when it has ended in order: on SIGTERM,
//! or when everything is drained. A server says before where it listens: `at 127.0.0.1:1234`.

#![allow(clippy::print_stdout, reason = "its parent reads it")]

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rival::{Engine, SqliteStore};
use rival_crash::{CallObservation, LedgerFile, TestFolder, WorkerClients, definitions, drain};
use rival_server::auth::AccessScope;
use rival_server::{Server, Settings};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Few enough that runs are queued now and then.
const LIVE_MAX: usize = 16;
/// How long the last worker may take to finish what all others left.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = TestFolder(arguments.next().context("no folder")?.into());
    let task = arguments.next().context("no task")?;
    match task.as_str() {
        "work" => work(&folder, arguments.next().context("no seed")?.parse()?).await,
        "serve" => serve(&folder, arguments.next().context("no seed")?.parse()?).await,
        "drain" => finish(&folder).await,
        other => bail!("no task is called `{other}`"),
    }
}

async fn engine(folder: &TestFolder, live_max: usize) -> Result<Engine> {
    let store = SqliteStore::open(folder.store())?;
    let sightings = LedgerFile::<CallObservation>::open(&folder.sightings())?;
    let mut builder = Engine::builder().store(store).provide(sightings).max_live_runs(live_max);
    for definition in definitions()? {
        builder = builder.workflow(definition);
    }
    Ok(builder.build().await?)
}

async fn work(folder: &TestFolder, seed: u64) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let engine = engine(folder, LIVE_MAX).await?;
    let clients = Arc::new(WorkerClients::new(engine.clone(), folder)?);
    println!("ready");
    let clients = tokio::spawn(clients.work(seed));
    terminate.recv().await;
    engine.shutdown(grace(seed)).await;
    clients.await??;
    println!("done");
    Ok(())
}

/// The engine over HTTP, as `rival serve` has it; its clients are in another process.
async fn serve(folder: &TestFolder, seed: u64) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let engine = engine(folder, LIVE_MAX).await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let listen = listener.local_addr()?;
    let tokens = folder.0.join("tokens.json");
    // Its clients kill runs too.
    let anonymous_scope = AccessScope::Admin;
    let settings =
        Settings { listen, tokens, anonymous_scope, requests_per_second: Some(0), ..Settings::default() };
    let server = Server::new(engine.clone(), settings)?;
    println!("at {listen}\nready");
    let stop = CancellationToken::new();
    let stopping = async {
        terminate.recv().await;
        stop.cancel();
        engine.shutdown(grace(seed)).await;
    };
    tokio::join!(server.serve(listener, stop.clone().cancelled_owned()), stopping);
    println!("done");
    Ok(())
}

/// Often too short for what is at work.
fn grace(seed: u64) -> Duration {
    Duration::from_millis(seed % 3 * 10)
}

async fn finish(folder: &TestFolder) -> Result<()> {
    let engine = engine(folder, 256).await?;
    println!("ready");
    drain(&engine, Some(&LedgerFile::open(&folder.acks())?), PATIENCE).await?;
    engine.shutdown(Duration::from_secs(5)).await;
    println!("done");
    Ok(())
}
