//! Servers: `dev` and `serve`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use rival::{Committed, Engine, Observer, RunId, SqliteStore, StoreError};
use rival_server::Server;
use rival_telemetry::Telemetry;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::Context;
use crate::exit::Failed;
use crate::lines::Teller;
use crate::out::Out;
use crate::{examples, scripts, server, signals};

/// How long the last spans may take to reach their collector.
const TELEMETRY_GRACE: Duration = Duration::from_secs(5);

/// What a server offers.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    /// The example workflows.
    pub(crate) examples: bool,
    /// A greeting, and a log of what happens in runs.
    pub(crate) dev: bool,
    /// Workflow files; loaded again when they change, while one works on them.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) pace: Duration,
}

/// Serves until a signal comes, then stops in order.
pub(crate) async fn serve(context: &Context, offer: Offer) -> Result<ExitCode> {
    let config = &context.config;
    // First the address, because whoever has it probably has the store too, and this tells more.
    let listener =
        TcpListener::bind(config.listen()).await.map_err(|error| in_use(config.listen(), &error))?;
    let address = listener.local_addr()?;
    // Before the engine, so that it hears of runs that go on at once.
    let telemetry = rival_telemetry::start();
    let engine = engine(context, &offer, telemetry.as_ref()).await?;
    let offered = match scripts::offer(&engine, config, &offer.paths, offer.dev).await {
        Ok(offered) => offered,
        Err(error) => {
            engine.shutdown(Duration::ZERO).await;
            return Err(error);
        }
    };
    let server = match Server::new(engine.clone(), server::settings(config, address)) {
        Ok(server) => server,
        Err(error) => {
            engine.shutdown(Duration::ZERO).await;
            return Err(Failed::error(error.to_string()).into());
        }
    };
    if offer.dev {
        greet(&context.out, &format!("http://{address}"), config.store(), &engine, offer.examples)?;
    }
    let workflows = engine.list().len();
    tracing::info!(%address, store = %config.store().display(), workflows, "the server is ready");
    let stop = CancellationToken::new();
    let stopping = async {
        let signal = signals::first().await;
        tracing::info!(signal = signal.name(), "stopping: steps at work may finish, nothing new starts");
        stop.cancel();
        engine.shutdown(config.shutdown_grace()).await;
    };
    tokio::join!(server.serve(listener, stop.clone().cancelled_owned()), stopping);
    drop(offered);
    if let Some(telemetry) = telemetry {
        telemetry.shutdown(TELEMETRY_GRACE).await;
    }
    tracing::info!("stopped; runs that have not ended go on at the next start");
    Ok(ExitCode::SUCCESS)
}

fn in_use(listen: std::net::SocketAddr, error: &std::io::Error) -> Failed {
    let failed = Failed::error(format!("cannot listen on {listen}: {error}"));
    match error.kind() {
        std::io::ErrorKind::AddrInUse => {
            failed.hint("another server runs there; stop it, or choose another address with --listen")
        }
        _ => failed,
    }
}

async fn engine(context: &Context, offer: &Offer, telemetry: Option<&Telemetry>) -> Result<Engine> {
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
        builder = builder.observe(Arc::new(DevLog::default()));
    }
    if offer.examples {
        builder = examples::add(builder, file, offer.pace)?;
    }
    Ok(builder.build().await?)
}

fn opening(error: &StoreError, file: &Path) -> Failed {
    let failed = Failed::error(error.to_string()).code(error.code());
    match error {
        StoreError::Locked(_) => {
            failed.hint("one server per store: stop the other, or give this one another file with --store")
        }
        StoreError::Open(_) => failed,
        _ => failed.hint(format!("the server needs to read and write {} and its folder", file.display())),
    }
}

fn greet(out: &Out, url: &str, store: &Path, engine: &Engine, examples: bool) -> Result<()> {
    let style = out.style;
    // As it was called, so that it can be copied.
    let rival = std::env::args().next().filter(|_| !which("rival")).unwrap_or_else(|| "rival".to_owned());
    let url_flag = if url == "http://127.0.0.1:7878" { String::new() } else { format!(" --url {url}") };
    out.line(format_args!("{}  {}  store {}\n", style.bold("rival dev"), style.cyan(url), store.display()))?;
    out.line("In a second terminal:")?;
    let starts = if examples { starts_of_examples()? } else { starts_of_files(engine) };
    let looks = [("watch".to_owned(), "see what runs"), ("workflows".to_owned(), "see what else there is")];
    for (command, about) in starts.into_iter().chain(looks) {
        out.line(format_args!(
            "  {}\n    {rival} {command}{url_flag}",
            style.dim(format_args!("# {about}"))
        ))?;
    }
    let docs = style.cyan(format_args!("{url}/api/docs"));
    out.line(format_args!("\nThe API is at {docs}. Ctrl-C stops in order; `kill -9` loses nothing either.\n"))
}

/// Commands that start runs, with what they do.
type Starts = Vec<(String, &'static str)>;

fn starts_of_examples() -> Result<Starts> {
    let sample = serde_json::to_string(&examples::order::Order::sample())?;
    Ok(vec![
        ("run flaky --wait".to_owned(), "start a run and wait for its result"),
        (format!("run order --input '{sample}'"), "start one and leave it"),
    ])
}

/// A workflow that needs no input if there is one, else the first.
fn starts_of_files(engine: &Engine) -> Starts {
    let workflows = engine.list();
    let easy =
        |schema: &Option<serde_json::Value>| schema.as_ref().is_none_or(|it| it.get("required").is_none());
    let easiest = workflows.iter().find(|workflow| easy(&workflow.input_schema));
    let start = |name: &str, input: &str| {
        vec![(format!("run {name}{input} --wait"), "start a run and wait for its result")]
    };
    match (easiest, workflows.first()) {
        (Some(workflow), _) => start(&workflow.name, ""),
        (None, Some(workflow)) => start(&workflow.name, " --input '{…}'"),
        (None, None) => Vec::new(),
    }
}

/// Whether a command can be called by its name alone.
fn which(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(name).is_file())
}

/// Logs what happens in runs, in words.
#[derive(Default)]
struct DevLog {
    tellers: Mutex<HashMap<RunId, Teller>>,
}

impl Observer for DevLog {
    fn committed(&self, commit: &Committed<'_>) {
        let mut tellers = self.tellers.lock().unwrap_or_else(PoisonError::into_inner);
        let teller = tellers.entry(commit.run.clone()).or_default();
        let lines: Vec<String> =
            commit.events.iter().filter_map(|event| teller.tell(&event.event, event.at)).collect();
        if commit.status.is_terminal() {
            tellers.remove(commit.run);
        }
        drop(tellers);
        for line in lines {
            tracing::info!(target: "rival::run", run = %commit.run, "{line}");
        }
    }
}
