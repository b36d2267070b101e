//! What HTTP costs: durable runs per second over loopback against the library alone, and many live streams.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rival::prelude::*;
use rival::{RunId, SqliteStore};
use rival_server::{Server, Settings};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use crate::report::BenchReport;
use crate::throughput::{five_steps, run_all};
use crate::{BenchSize, disk};

const IN_FLIGHT: usize = 64;
const ROUNDS: usize = 5;
/// Live streams at a time, several on each run.
const STREAMS_PER_RUN: usize = 5;

pub(crate) async fn measure(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    throughput(size, report).await?;
    streams(size, report).await
}

/// An engine behind a server on a port of its own.
pub(crate) struct ServedEngine {
    engine: Engine,
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
    _dir: tempfile::TempDir,
}

impl ServedEngine {
    pub(crate) async fn start(
        workflows: &[rival::Definition],
        change: impl FnOnce(&mut Settings),
    ) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let mut engine = Engine::builder().store(SqliteStore::open(dir.path().join("load.db"))?);
        for workflow in workflows {
            engine = engine.workflow(workflow.clone());
        }
        let engine = engine.build().await?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let tokens = dir.path().join("tokens.json");
        let mut settings = Settings { listen: address, tokens, ..Settings::default() };
        change(&mut settings);
        let server = Server::new(engine.clone(), settings)?;
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(server.serve(listener, async {
            let _ = stopped.await;
        }));
        Ok(Self { engine, address, stop, served, _dir: dir })
    }

    pub(crate) async fn end(self) -> Result<()> {
        let _ = self.stop.send(());
        self.served.await?;
        self.engine.shutdown(Duration::from_secs(5)).await;
        Ok(())
    }
}

/// One client asks for everything here.
fn without_limit(settings: &mut Settings) {
    settings.requests_per_second = Some(0);
}

async fn throughput(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let workflow = five_steps()?;
    let served = ServedEngine::start(&[(&workflow).into()], without_limit).await?;
    let runs = (size.runs / ROUNDS / 2).max(IN_FLIGHT);
    let (mut direct, mut http) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run_all(&served.engine, &workflow, runs, IN_FLIGHT).await?;
        direct += start.elapsed();
        let (address, start) = (served.address, Instant::now());
        apart(move || ask_all(address, runs)).await?;
        http += start.elapsed();
    }
    served.end().await?;
    let count = (runs * ROUNDS) as f64;
    let (direct, http) = (count / direct.as_secs_f64(), count / http.as_secs_f64());
    let note =
        |how: &str| format!("{count} runs of 5 no-op steps, {IN_FLIGHT} in flight, SQLite FULL; {how}");
    report.add("direct_runs_per_s", direct, "runs/s", note("the library alone"));
    report.add(
        "http_runs_per_s",
        http,
        "runs/s",
        note("POST with ?wait on loopback, load generator included"),
    );
    report.add("http_ratio", http / direct, "", format!("at least 0.4; {ROUNDS} rounds taking turns"));
    Ok(())
}

/// Does something on a thread with a runtime of its own: clients are not part of the server.
pub(crate) async fn apart<F: Future<Output = Result<T>>, T: Send + 'static>(
    work: impl FnOnce() -> F + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work())
    });
    done.await?
}

async fn ask_all(address: SocketAddr, runs: usize) -> Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for _ in 0..IN_FLIGHT.min(runs) {
        let next = Arc::clone(&next);
        clients.spawn(async move {
            let mut client = LoadClient::connect(address).await?;
            while next.fetch_add(1, Ordering::Relaxed) < runs {
                let (status, body) = client.post("/api/workflows/five/runs?wait=60s", "{}").await?;
                let told = std::str::from_utf8(&body)?;
                ensure!(
                    status == StatusCode::OK && told.contains(r#""status":"completed""#),
                    "{status} {told}"
                );
            }
            anyhow::Ok(())
        });
    }
    while let Some(client) = clients.join_next().await {
        client??;
    }
    Ok(())
}

/// A client with one connection.
pub(crate) struct LoadClient {
    sender: SendRequest<Full<Bytes>>,
    host: String,
}

impl LoadClient {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // It ends with its client.
        tokio::spawn(connection);
        Ok(Self { sender, host: address.to_string() })
    }

    async fn send(&mut self, method: &str, path: &str, body: Full<Bytes>) -> Result<Response<Incoming>> {
        let request = Request::builder().method(method).uri(path).header("host", &self.host);
        let request = request.header("content-type", "application/json").body(body)?;
        self.sender.ready().await?;
        Ok(self.sender.send_request(request).await?)
    }

    pub(crate) async fn post(&mut self, path: &str, body: &'static str) -> Result<(StatusCode, Bytes)> {
        let answer = self.send("POST", path, Full::from(body)).await?;
        Ok((answer.status(), answer.into_body().collect().await?.to_bytes()))
    }

    async fn get(&mut self, path: &str) -> Result<Response<Incoming>> {
        self.send("GET", path, Full::default()).await
    }
}

/// A run that waits for the signal `go`, sent when all clients follow it, and then writes many events.
fn talkative() -> Result<Workflow<(), Vec<()>>> {
    async fn items() -> Result<Vec<u32>, StepError> {
        Ok((0..200).collect())
    }
    #[step]
    async fn tell() -> Result<(), StepError> {
        Ok(())
    }
    let workflow = Workflow::new("talkative").step(signal::<bool>("go"));
    Ok(workflow.for_each("items", items, |each| each.body(|b| b.step(tell)).concurrency(8)).build()?)
}

/// Many clients follow runs: each must see every event once, and nothing of them may be left.
async fn streams(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    let served = ServedEngine::start(&[(&talkative()?).into()], without_limit).await?;
    let runs = (size.streams / STREAMS_PER_RUN).max(1);
    // The first turn grows what stays: pools, buffers, the allocator's own.
    let mut events = follow_all(&served, runs).await?;
    let before = disk::resident_bytes()?;
    let start = Instant::now();
    let mut most = before;
    for _ in 0..3 {
        events = follow_all(&served, runs).await?;
        most = most.max(disk::resident_bytes()?);
    }
    let (took, after) = (start.elapsed(), disk::resident_bytes()?);
    served.end().await?;
    let (streams, sent) = (runs * STREAMS_PER_RUN, events * STREAMS_PER_RUN as u64 * 3);
    let note = format!("{streams} streams, three times {} events each run; none lost", events / runs as u64);
    report.add("sse_events_per_s", sent as f64 / took.as_secs_f64(), "events/s", note);
    let mib = |bytes: u64| bytes as f64 / 1024.0 / 1024.0;
    let note =
        format!("resident memory after three more turns against after the first ({:.0} MiB)", mib(before));
    report.add("sse_memory_ratio", after as f64 / before as f64, "", note);
    Ok(())
}

/// Starts runs, follows each with several clients, lets them go, and compares what came with the histories. Gives the
/// number of events.
async fn follow_all(served: &ServedEngine, runs: usize) -> Result<u64> {
    let mut ids = Vec::new();
    for _ in 0..runs {
        ids.push(served.engine.run("talkative", ()).await?.id().clone());
    }
    let (address, watched, engine) = (served.address, ids.clone(), served.engine.clone());
    let (looking, all_look) = oneshot::channel();
    let followed = tokio::spawn(apart(move || follow(address, watched, looking)));
    all_look.await.context("a client could not connect")?;
    for id in &ids {
        engine.signal(id, "go", true).await?;
    }
    let seen = followed.await??;
    let mut events = 0;
    for id in &ids {
        engine.wait(id).await?;
        let count = engine.get(id).await?.events.0;
        events += count;
        for last in &seen[id] {
            ensure!(*last == count, "a client of run {id} saw {last} of {count} events");
        }
    }
    Ok(events)
}

/// How many events each client saw of each run, in order and without gaps.
type SeenEvents = BTreeMap<RunId, Vec<u64>>;

async fn follow(address: SocketAddr, runs: Vec<RunId>, looking: oneshot::Sender<()>) -> Result<SeenEvents> {
    let mut clients = JoinSet::new();
    for run in runs {
        for _ in 0..STREAMS_PER_RUN {
            let mut client = LoadClient::connect(address).await?;
            let answer = client.get(&format!("/api/runs/{run}/stream")).await?;
            ensure!(answer.status() == StatusCode::OK, "a stream was refused with {}", answer.status());
            let run = run.clone();
            clients.spawn(async move {
                let _connected = client;
                anyhow::Ok((run, count(answer.into_body()).await?))
            });
        }
    }
    let _ = looking.send(());
    let mut seen = SeenEvents::new();
    while let Some(client) = clients.join_next().await {
        let (run, count) = client??;
        seen.entry(run).or_default().push(count);
    }
    Ok(seen)
}

/// Reads a stream to its end; events must be numbered 1, 2, 3 …
async fn count(mut body: Incoming) -> Result<u64> {
    let (mut rest, mut last) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            rest.extend_from_slice(&data);
        }
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            if let Some(id) = rest[..end].strip_prefix(b"id: ") {
                let id: u64 = std::str::from_utf8(id)?.parse()?;
                ensure!(id == last + 1, "event {id} came after event {last}");
                last = id;
            }
            rest.drain(..=end);
        }
    }
    Ok(last)
}
