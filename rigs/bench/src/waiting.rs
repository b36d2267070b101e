//! Many clients that wait over HTTP for runs that sleep: when all are answered, and what the server needs for them.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hyper::StatusCode;
use rival::prelude::*;
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::load::{LoadClient, ServedEngine, apart};
use crate::report::BenchReport;
use crate::{BenchSize, disk};

/// Set for the process that is the server: what it holds must not be mixed with what its clients hold.
const SERVER: &str = "RIVAL_BENCH_SERVER";
/// How long the runs sleep.
const SLEEP: Duration = Duration::from_secs(5);

/// Whether this process was started as the server of this benchmark.
pub fn is_asked_to_serve() -> bool {
    std::env::var_os(SERVER).is_some()
}

/// Serves a workflow that sleeps, with the settings of a server that was told nothing, until stdin ends.
pub async fn serve() -> Result<()> {
    disk::raise_file_limit();
    let nap: Workflow<(), ()> = Workflow::new("nap").step(delay_step(SLEEP)).build()?;
    let served = ServedEngine::start(&[(&nap).into()], |_| ()).await?;
    say(&served.address.to_string());
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    served.end().await
}

#[expect(clippy::print_stdout, reason = "the process that started it reads this")]
fn say(line: &str) {
    println!("{line}");
}

/// The server, until it is dropped.
struct ServerProcess {
    child: Child,
    address: SocketAddr,
}

impl ServerProcess {
    fn start() -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .env(SERVER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("stdout is a pipe")?).read_line(&mut line)?;
        let address = line.trim().parse().context("the server says where it listens")?;
        Ok(Self { child, address })
    }

    /// The most memory that it has held.
    fn peak_bytes(&self) -> Result<u64> {
        disk::peak_bytes_of(&self.child.id().to_string())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) async fn measure(size: BenchSize, report: &mut BenchReport) -> Result<()> {
    disk::raise_file_limit();
    let server = ServerProcess::start()?;
    let (address, clients) = (server.address, size.waiting);
    let mut waited = apart(move || wait_all(address, clients)).await?;
    let (median, last) = (disk::percentile(&mut waited, 50), disk::percentile(&mut waited, 100));
    let note = format!(
        "until the last of {clients} clients was answered that asked at once for a run of {SLEEP:?}; under 6; the median after {:.2} s",
        median.as_secs_f64()
    );
    report.add("waiting_clients_s", last.as_secs_f64(), "s", note);
    let mib = server.peak_bytes()? as f64 / 1024.0 / 1024.0;
    let note = "the most memory of the server meanwhile; under 143 (150 MB)".to_owned();
    report.add("waiting_server_mib", mib, "MiB", note);
    Ok(())
}

/// When each client was answered, from the moment at which all of them asked.
async fn wait_all(address: SocketAddr, clients: usize) -> Result<Vec<Duration>> {
    let (go, started) = watch::channel(None::<Instant>);
    let mut waiting = JoinSet::new();
    for _ in 0..clients {
        let mut client = LoadClient::connect(address).await?;
        let mut started = started.clone();
        waiting.spawn(async move {
            let began = started.wait_for(Option::is_some).await?.context("it has begun")?;
            let (status, body) = client.post("/api/workflows/nap/runs?wait=60s", "{}").await?;
            let told = std::str::from_utf8(&body)?;
            ensure!(status == StatusCode::OK && told.contains(r#""status":"completed""#), "{status} {told}");
            Ok(began.elapsed())
        });
    }
    go.send_replace(Some(Instant::now()));
    let mut waited = Vec::with_capacity(clients);
    while let Some(client) = waiting.join_next().await {
        waited.push(client??);
    }
    Ok(waited)
}
