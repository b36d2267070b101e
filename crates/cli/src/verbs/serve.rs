//! Servers: `dev` and `serve`.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use rival::event::{EventKind, FailureVerdict};
use rival::{Committed, Engine, Event, Observer, RunId, SqliteStore, StoreError, WorkflowInfo};
use rival_api::EventReply;
use rival_script::{Loaded, OutgoingPolicy};
use rival_server::{ConnectionControl, Server};
use rival_telemetry::Telemetry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::VerbContext;
use crate::connections::{CONNECTIONS_GRACE, ConnectionDesk, SharedDesk};
use crate::exit::ExitError;
use crate::lines::EventNarrator;
use crate::out::DataOutput;
use crate::sample::sample;
use crate::style::TextStyle;
use crate::text::length;
use crate::workflow_files::WorkflowFiles;
use crate::{examples, failure, mcp, offered, server, signals};

/// How long the last spans may take to reach their collector.
const TELEMETRY_GRACE: Duration = Duration::from_secs(5);

/// How long an address that is in use is asked for again: what a killed process takes to be gone.
const BIND_PATIENCE: Duration = Duration::from_millis(500);

/// What a server offers.
#[derive(Debug)]
pub(crate) struct ServerOffer {
    /// Files and folders of workflows.
    pub(crate) paths: Vec<PathBuf>,
    /// The example workflows.
    pub(crate) examples: bool,
    /// A greeting, and a log of what happens in runs.
    pub(crate) dev: bool,
    pub(crate) pace: Duration,
}

/// Serves until a signal comes, then stops in order.
pub(crate) async fn serve(context: &VerbContext, offer: ServerOffer) -> Result<ExitCode> {
    let config = &context.config;
    // The address first: a process that uses it probably uses the store too, and this error says more.
    let listener = bind(config.listen()).await.map_err(|error| in_use(config.listen(), &error))?;
    let address = listener.local_addr()?;
    // Before the engine, so that it hears of runs that go on at once.
    let telemetry = rival_telemetry::start();
    let desk = Arc::new(ConnectionDesk::new(config, address, outgoing(context, &offer, address)));
    let engine = engine(context, &offer, telemetry.as_ref(), &desk).await?;
    let (server, _files) = match prepare(context, &offer, &engine, address, &desk).await {
        Ok(prepared) => prepared,
        Err(error) => {
            engine.shutdown(Duration::ZERO).await;
            desk.close(CONNECTIONS_GRACE).await;
            return Err(error);
        }
    };
    if offer.dev {
        greet(&context.out, &format!("http://{address}"), config.store(), &offer, &engine.list())?;
    }
    let workflows = engine.list().len();
    tracing::info!(%address, store = %config.store().display(), workflows, "the server is ready");
    let (drain, stop) = (server.drain_switch(), CancellationToken::new());
    let stopping = async {
        let (grace, failed) = tokio::select! {
            signal = signals::first() => {
                drain.begin();
                tokio::time::sleep(config.shutdown_delay()).await;
                tracing::info!(signal = signal.name(), "stopping: steps at work may finish, nothing new starts");
                (config.shutdown_grace(), None)
            }
            error = engine.store_failed() => {
                tracing::error!(code = error.code(), %error, "the store takes no more writes: the server ends");
                (Duration::ZERO, Some(error))
            }
        };
        // The server answers until the engine has stopped: what steps come to in their grace, metrics, and why nothing
        // new starts.
        engine.shutdown(grace).await;
        // Steps have ended: no tool is called any more.
        desk.close(CONNECTIONS_GRACE).await;
        stop.cancel();
        failed
    };
    let ((), failed) = tokio::join!(server.serve(listener, stop.clone().cancelled_owned()), stopping);
    if let Some(telemetry) = telemetry {
        telemetry.shutdown(TELEMETRY_GRACE).await;
    }
    if let Some(error) = failed {
        return Err(ExitError::error(error.to_string())
            .code(error.code())
            .hint(after_failure(&error))
            .into());
    }
    tracing::info!("stopped; runs that have not ended go on at the next start");
    Ok(ExitCode::SUCCESS)
}

/// Takes an address. A server that was just killed may still hold it for a moment.
async fn bind(listen: SocketAddr) -> std::io::Result<TcpListener> {
    let deadline = Instant::now() + BIND_PATIENCE;
    loop {
        match TcpListener::bind(listen).await {
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse && Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            bound => return bound,
        }
    }
}

/// What to do about a store that takes no more writes.
fn after_failure(error: &StoreError) -> &'static str {
    match error {
        StoreError::Gone(_) => {
            "what was acknowledged is in the files that were there: bring them back before the next start"
        }
        _ => "look at the disk, then start the server again: runs go on from what is durable",
    }
}

/// Registers what is in files, lets runs go on, and puts the engine behind routes.
async fn prepare(
    context: &VerbContext,
    offer: &ServerOffer,
    engine: &Engine,
    address: SocketAddr,
    desk: &SharedDesk,
) -> Result<(Server, FileUpdates)> {
    let config = &context.config;
    // Before runs go on: a node whose connection is not there is blocked.
    desk.open(engine, None).await?;
    let documents = offered::documents(engine, desk);
    let outgoing = outgoing(context, offer, address);
    let files = WorkflowFiles::new(config, offer.paths.clone(), outgoing, documents.clone());
    let loaded = files.register(engine).await?;
    let updates = if files.is_empty() {
        None
    } else {
        files.known(&loaded).log();
        Some(match offer.dev {
            true => files.watch(engine, &loaded).await?,
            false => reload_when_asked(files, engine.clone(), &loaded),
        })
    };
    engine.begin().await;
    let server = Server::builder(engine.clone(), server::settings(config, address)).mount(mcp::mount());
    let server =
        server.documents(documents).connections(Arc::clone(desk) as Arc<dyn ConnectionControl>).build();
    Ok((server.map_err(|error| ExitError::error(error.to_string()))?, updates))
}

/// Where steps may send requests, and connections of the API may go.
fn outgoing(context: &VerbContext, offer: &ServerOffer, address: SocketAddr) -> OutgoingPolicy {
    let outgoing = context.config.outgoing().never(address);
    if offer.dev { outgoing.allow_loopback() } else { outgoing }
}

/// What loads workflow files again, for as long as it lives.
type FileUpdates = Option<AbortOnDropHandle<()>>;

/// Loads the files again at each SIGHUP.
fn reload_when_asked(files: WorkflowFiles, engine: Engine, loaded: &Loaded) -> AbortOnDropHandle<()> {
    let mut known = files.known(loaded);
    AbortOnDropHandle::new(tokio::spawn(async move {
        let mut requests = signals::ReloadRequests::new();
        while requests.next().await {
            tracing::info!(signal = "SIGHUP", "loading workflow files again");
            files.reload(&engine, &mut known).await;
        }
    }))
}

fn in_use(listen: SocketAddr, error: &std::io::Error) -> ExitError {
    let failed = ExitError::error(format!("cannot listen on {listen}: {error}"));
    match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            failed.hint("another server runs there; stop it, or choose another address with --listen")
        }
        _ => failed,
    }
}

async fn engine(
    context: &VerbContext,
    offer: &ServerOffer,
    telemetry: Option<&Telemetry>,
    desk: &ConnectionDesk,
) -> Result<Engine> {
    let config = &context.config;
    let file = config.store();
    let store = SqliteStore::open(file).map_err(|error| opening(&error, file))?;
    let mut builder = Engine::builder()
        .store(store)
        .max_live_runs(config.max_live_runs())
        .max_payload_bytes(config.max_payload_bytes());
    if let Some(telemetry) = telemetry {
        builder = builder.observe(telemetry.observer());
    }
    if offer.dev {
        builder = builder.observe(Arc::new(DevLog::default())).newest_functions();
    } else {
        builder = builder.observe(Arc::new(FailureLog));
    }
    if offer.examples {
        builder = examples::add(builder, file, offer.pace)?;
    }
    builder = offered::builtins(builder, config, desk);
    Ok(builder.prepare().await?)
}

fn opening(error: &StoreError, file: &Path) -> ExitError {
    let failed = ExitError::error(error.to_string()).code(error.code());
    match error {
        StoreError::Locked(_) => {
            failed.hint("one server per store: stop the other, or give this one another file with --store")
        }
        StoreError::Open(_) => failed,
        _ => failed.hint(format!("the server needs to read and write {} and its folder", file.display())),
    }
}

fn greet(
    out: &DataOutput,
    url: &str,
    store: &Path,
    offer: &ServerOffer,
    workflows: &[WorkflowInfo],
) -> Result<()> {
    let style = out.style;
    // As it was called, so that it can be copied.
    let rival = std::env::args().next().filter(|_| !which("rival")).unwrap_or_else(|| "rival".to_owned());
    let url_flag = if url == "http://127.0.0.1:7878" { String::new() } else { format!(" --url {url}") };
    out.line(format_args!("{}  {}  store {}\n", style.bold("rival dev"), style.cyan(url), store.display()))?;
    out.line("In a second terminal:")?;
    let mut commands = first_commands(offer, workflows)?;
    commands.push(("watch".to_owned(), "see what runs"));
    commands.push(("workflows".to_owned(), "see what else there is"));
    for (command, about) in commands {
        out.line(format_args!(
            "  {}\n    {rival} {command}{url_flag}",
            style.dim(format_args!("# {about}"))
        ))?;
    }
    let docs = style.cyan(format_args!("{url}/api/docs"));
    out.line(format_args!("\nThe API is at {docs}. Ctrl-C stops in order; `kill -9` loses nothing either.\n"))
}

/// What to try first.
fn first_commands(offer: &ServerOffer, workflows: &[WorkflowInfo]) -> Result<Vec<(String, &'static str)>> {
    let wait = "start a run and wait for its result";
    if offer.examples {
        let sample = serde_json::to_string(&examples::order::Order::sample())?;
        return Ok(vec![
            ("run flaky --wait".to_owned(), wait),
            (format!("run order --input '{sample}'"), "start one and leave it"),
        ]);
    }
    let first = workflows.iter().map(|workflow| {
        let input = workflow
            .input_schema
            .as_ref()
            .map_or_else(String::new, |schema| format!(" --input '{}'", sample(schema)));
        (format!("run {}{input} --wait", workflow.name), wait)
    });
    Ok(first.take(1).collect())
}

/// Whether a command can be called by its name alone.
fn which(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(name).is_file())
}

/// Logs what happens in runs, in words.
#[derive(Default)]
struct DevLog {
    tellers: Mutex<HashMap<RunId, EventNarrator>>,
}

impl Observer for DevLog {
    fn committed(&self, commit: &Committed<'_>) {
        let mut tellers = self.tellers.lock().unwrap_or_else(PoisonError::into_inner);
        let teller = tellers.entry(commit.run.clone()).or_default();
        let lines: Vec<(String, String)> = commit
            .events
            .iter()
            .filter_map(|event| Some((teller.tell(&EventReply::from(event))?, source_of(event))))
            .collect();
        if commit.status.is_terminal() {
            tellers.remove(commit.run);
        }
        drop(tellers);
        for (line, source) in lines {
            if source.is_empty() {
                tracing::info!(target: "rival::run", run = %commit.run, "{line}");
            } else {
                tracing::info!(target: "rival::run", run = %commit.run, source, "{line}");
            }
        }
    }
}

/// Logs runs that fail, and attempts that are made again.
struct FailureLog;

impl Observer for FailureLog {
    fn committed(&self, commit: &Committed<'_>) {
        let (run, workflow) = (commit.run, commit.workflow);
        for event in commit.events {
            match &event.kind {
                EventKind::RunFailed { failure, node, .. } => {
                    let (code, node) = (&failure.code, node.as_ref().map_or("", rival::Path::as_str));
                    tracing::error!(target: "rival::run", %run, workflow, node, code, "failed: {}", failure::told(failure));
                }
                EventKind::CallFailed { failure, node, verdict, .. } => {
                    let (code, node) = (&failure.code, node.as_str());
                    let next = match verdict {
                        FailureVerdict::RetryAt(at) => {
                            format!("tried again in {}", length(at.ms_since(event.at)))
                        }
                        FailureVerdict::Continue => "the run goes on without it".to_owned(),
                        // The failure of the run says so.
                        FailureVerdict::Fail => continue,
                    };
                    tracing::warn!(target: "rival::run", %run, workflow, node, code, "an attempt failed, {next}: {}", failure::told(failure));
                }
                _ => {}
            }
        }
    }
}

/// The source that the failure of a call comes from. Other events only repeat it.
fn source_of(event: &Event) -> String {
    match &event.kind {
        EventKind::CallFailed { failure, .. } => failure::source(failure, TextStyle::PLAIN).join("\n"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As after `kill -9`, while the system still takes the old process apart.
    #[tokio::test]
    async fn an_address_that_becomes_free_in_a_moment_is_taken() {
        let held = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = held.local_addr().unwrap();
        let (bound, ()) = tokio::join!(bind(address), async { drop(held) });
        assert_eq!(bound.unwrap().local_addr().unwrap(), address);
    }
}
