//! `doctor`: settings, store, server, workflow files, tokens and clock, and what is wrong with them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use rival::{Clock, Engine, SqliteStore, Store, StoreError, Time};
use rival_api::{ClockStatus, ServerVersion, SourceProblem, WorkflowListReply};
use rival_server::token::TokenFile;
use serde_json::json;

use super::VerbContext;
use crate::client::{ApiClient, FOREIGN_HELP, foreign, is_foreign};
use crate::connections::ConnectionDesk;
use crate::exit::{self, ExitError};
use crate::offered;
use crate::out::{OutputFormat, clean};
use crate::table::TextTable;
use crate::text::length;
use crate::workflow_files::{WorkflowFiles, near};

/// Less than this is soon full.
const FREE_MIN: u64 = 1 << 30;
/// Clocks that differ by more than this make times hard to compare.
const SKEW_MAX: Duration = Duration::from_secs(5);
/// A clock that shows an earlier time is wrong, because this version is newer: 2026-01-01.
const OLDEST: Time = Time(1_767_225_600_000);

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FindingLevel {
    Good,
    Odd,
    Bad,
}

impl FindingLevel {
    fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Odd => "warning",
            Self::Bad => "problem",
        }
    }
}

struct Finding {
    about: &'static str,
    level: FindingLevel,
    text: String,
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, about: &'static str, level: FindingLevel, text: impl Into<String>) {
        self.0.push(Finding { about, level, text: text.into() });
    }
}

pub(crate) async fn doctor(context: &VerbContext) -> Result<()> {
    let mut findings = Findings::default();
    let config = &context.config;
    match config.warnings.is_empty() {
        true => {
            findings.add("settings", FindingLevel::Good, "they read well; `rival config print` shows them");
        }
        false => {
            config.warnings.iter().for_each(|warning| findings.add("settings", FindingLevel::Odd, warning));
        }
    }
    let served = server(context, &mut findings).await;
    store(config.store(), served, &mut findings).await;
    files(context, served, &mut findings).await;
    scripts(context, &mut findings).await;
    tokens(context, &mut findings);
    show(context, &findings)
}

/// Whether a server answers.
async fn server(context: &VerbContext, findings: &mut Findings) -> bool {
    let (url, named) = context.config.url();
    let client = match ApiClient::to_configured(&context.config) {
        Ok(client) => client,
        Err(error) => {
            findings.add("server", FindingLevel::Bad, format!("{error:#}"));
            return false;
        }
    };
    let answer = match client.get("/version").await {
        Ok(answer) => answer,
        // It answers, if only that.
        Err(error) if is_refused(&error) => {
            findings.add("server", FindingLevel::Bad, format!("{error:#}"));
            clock(None, findings);
            return true;
        }
        Err(error) => {
            let text = if named {
                format!("{error:#}")
            } else {
                format!(
                    "none runs at {url}, so nothing goes on by itself; start one with `rival dev` or `rival serve`"
                )
            };
            findings.add("server", FindingLevel::Bad, text);
            clock(None, findings);
            return false;
        }
    };
    let Some(version) = answer.read::<ServerVersion>().ok().filter(|version| version.name == "rival") else {
        findings.add("server", FindingLevel::Bad, format!("what answers at {url} is not Rival"));
        return false;
    };
    let (theirs, ours) = (version.version, env!("CARGO_PKG_VERSION"));
    let level = if theirs == ours { FindingLevel::Good } else { FindingLevel::Odd };
    findings.add("server", level, format!("{url} runs version {theirs}, this command is {ours}"));
    if is_foreign(&context.config) {
        let text = format!("{}; {FOREIGN_HELP}", foreign(&context.config));
        findings.add("server", FindingLevel::Bad, text);
    }
    match client.get("/readyz").await {
        Ok(_) => findings.add("server", FindingLevel::Good, "it takes work"),
        Err(error) => findings.add("server", FindingLevel::Bad, format!("it takes no work: {error:#}")),
    }
    match client.get("/api/runs?limit=1").await {
        Ok(_) => findings.add("server", FindingLevel::Good, "it lets this command in"),
        Err(error) if lacks_token(context, &error) => {
            let text = "it wants a token, and this command was given none: set RIVAL_TOKEN to look at what is behind it";
            findings.add("server", FindingLevel::Odd, text);
        }
        Err(error) => {
            findings.add("server", FindingLevel::Bad, format!("it does not let this command in: {error:#}"));
        }
    }
    clock(answer.date, findings);
    // Whether the command is let in was said above.
    if let Ok(answer) = client.get("/api/clock").await
        && let Ok(status) = answer.read::<ClockStatus>()
    {
        steps(&status, findings);
    }
    true
}

/// Whether a request was refused only because no token came with it. That is no fault of the server.
fn lacks_token(context: &VerbContext, error: &anyhow::Error) -> bool {
    is_refused(error) && context.config.token().is_none()
}

fn is_refused(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ExitError>().is_some_and(|failed| failed.exit == exit::AUTH)
}

/// Whether the server's wall clock was set while it ran, and how far its time is from it.
fn steps(clock: &ClockStatus, findings: &mut Findings) {
    let way = |ms: i64| if ms < 0 { "back" } else { "forward" };
    if let Some(last) = clock.last_steps.last() {
        let (by, at) = (length(last.by_ms.unsigned_abs()), last.at);
        let last = format!("the last time {} by {by}, to {at}", way(last.by_ms));
        let text = match clock.steps {
            1 => format!("the server's was set once since it began: {last}"),
            times => format!("the server's was set {times} times since it began, {last}"),
        };
        findings.add("clock", FindingLevel::Odd, text);
    }
    let off = Duration::from_millis(clock.ahead_ms.unsigned_abs());
    if off > SKEW_MAX {
        let side = if clock.ahead_ms > 0 { "ahead of" } else { "behind" };
        let text = format!(
            "the server's time is {} {side} its wall clock, and comes to it by itself",
            length(clock.ahead_ms.unsigned_abs())
        );
        findings.add("clock", FindingLevel::Odd, text);
    }
}

fn clock(server: Option<SystemTime>, findings: &mut Findings) {
    let now = Clock::System.now();
    if now < OLDEST {
        findings.add("clock", FindingLevel::Bad, format!("it says {now}, which cannot be"));
        return;
    }
    let here = SystemTime::now();
    let skew = server.map(|server| here.duration_since(server).unwrap_or_else(|error| error.duration()));
    match skew {
        Some(skew) if skew > SKEW_MAX => {
            let s = skew.as_secs();
            findings.add(
                "clock",
                FindingLevel::Odd,
                format!("the server's clock and this one differ by {s} s"),
            );
        }
        Some(_) => findings.add("clock", FindingLevel::Good, "the server's and this one agree"),
        None => findings.add("clock", FindingLevel::Good, format!("it says {now}")),
    }
}

async fn store(file: &Path, served: bool, findings: &mut Findings) {
    if !file.exists() {
        let level = if served { FindingLevel::Odd } else { FindingLevel::Good };
        let text = format!("there is none at {} yet; a server makes it", file.display());
        findings.add("store", level, text);
    } else {
        open(file, served, findings).await;
        mode(file, findings);
    }
    space(file, findings);
}

async fn open(file: &Path, served: bool, findings: &mut Findings) {
    let shown = file.display();
    match SqliteStore::open(file) {
        Ok(_) if served => {
            let text = format!("{shown} can be opened, so it is not the store of the server that answers");
            findings.add("store", FindingLevel::Odd, text);
        }
        Ok(store) => match store.check_writable().await {
            Ok(()) => {
                let size = file.metadata().map_or(0, |meta| meta.len());
                let text = format!("{shown} can be read and written ({})", bytes(size));
                findings.add("store", FindingLevel::Good, text);
            }
            Err(error) => findings.add("store", FindingLevel::Bad, format!("it can be read, but {error}")),
        },
        Err(StoreError::Locked(_)) if served => {
            findings.add("store", FindingLevel::Good, format!("{shown} is in use by a server"));
        }
        Err(StoreError::Locked(who)) => {
            findings.add(
                "store",
                FindingLevel::Bad,
                format!("{who}, and no server answers: --url may name the wrong one"),
            );
        }
        Err(error) => findings.add("store", FindingLevel::Bad, error.to_string()),
    }
}

/// What is wrong in workflow files: in those of the server, or without one in those of the settings.
async fn files(context: &VerbContext, served: bool, findings: &mut Findings) {
    let paths = context.config.workflows();
    let problems = match (served, paths.is_empty()) {
        (true, _) => problems_there(context).await,
        (false, true) => return,
        (false, false) => problems_here(context, paths).await,
    };
    match problems {
        // Why was said above.
        Err(error) if is_refused(&error) => {
            findings.add(
                "workflows",
                FindingLevel::Odd,
                "not known: the server lets only those in who show a token",
            );
        }
        Err(error) => findings.add("workflows", FindingLevel::Bad, format!("{error:#}")),
        Ok(problems) if problems.is_empty() => {
            findings.add("workflows", FindingLevel::Good, "no file has a problem");
        }
        Ok(problems) => {
            problems.iter().for_each(|problem| findings.add("workflows", FindingLevel::Bad, shown(problem)));
        }
    }
}

/// What the kernel keeps script hosts from on this machine.
async fn scripts(context: &VerbContext, findings: &mut Findings) {
    match rival_script::confinement(&context.config.scripts(context.config.outgoing())).await {
        Ok(Some(confinement)) => {
            if !confinement.in_force.is_empty() {
                findings.add(
                    "scripts",
                    FindingLevel::Good,
                    format!("confined: {}", confinement.in_force.join(", ")),
                );
            }
            for missing in confinement.missing {
                findings.add("scripts", FindingLevel::Odd, format!("not confined by {missing}"));
            }
        }
        Ok(None) => {
            findings.add(
                "scripts",
                FindingLevel::Odd,
                "script hosts are threads of this program, and not confined",
            );
        }
        Err(error) => {
            findings.add("scripts", FindingLevel::Bad, format!("no script host can be started: {error}"));
        }
    }
}

fn shown(problem: &SourceProblem) -> String {
    let SourceProblem { file, line, column, message, advice, .. } = problem;
    let advice = advice.as_ref().map_or_else(String::new, |advice| format!("; {advice}"));
    format!("{}:{line}:{column}: {message}{advice}", near(Path::new(file)))
}

async fn problems_there(context: &VerbContext) -> Result<Vec<SourceProblem>> {
    let client = ApiClient::to_configured(&context.config)?;
    Ok(client.get("/api/workflows").await?.read::<WorkflowListReply>()?.problems)
}

/// Loads the files into a passive engine that runs nothing.
async fn problems_here(context: &VerbContext, paths: Vec<PathBuf>) -> Result<Vec<SourceProblem>> {
    // Nothing but the loading of files happens here.
    let (config, outgoing) = (&context.config, context.config.outgoing());
    let desk = Arc::new(ConnectionDesk::new(config, config.listen(), outgoing.clone()));
    let engine = offered::builtins(Engine::builder().passive(), config, &desk).build().await?;
    desk.look(&engine).await?;
    let documents = offered::documents(&engine, &desk);
    WorkflowFiles::new(&context.config, paths, outgoing, documents).register(&engine).await?;
    Ok(engine.problems())
}

#[cfg(unix)]
fn mode(file: &Path, findings: &mut Findings) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(meta) = file.metadata() else { return };
    let mode = meta.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let text = format!("others may read {} (mode {mode:03o}); `chmod 600` it", file.display());
        findings.add("store", FindingLevel::Odd, text);
    }
}

#[cfg(not(unix))]
fn mode(_: &Path, _: &mut Findings) {}

#[cfg(unix)]
fn space(file: &Path, findings: &mut Findings) {
    let there = file
        .ancestors()
        .skip(1)
        .map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let Some(folder) = there.into_iter().find(|folder| folder.exists()) else { return };
    let Ok(disk) = rustix::fs::statvfs(folder) else { return };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let level = if free < FREE_MIN { FindingLevel::Odd } else { FindingLevel::Good };
    findings.add("disk", level, format!("{} free", bytes(free)));
}

#[cfg(not(unix))]
fn space(_: &Path, _: &mut Findings) {}

fn bytes(count: u64) -> String {
    match count {
        0..1_048_576 => format!("{} KiB", count.div_ceil(1_024)),
        1_048_576..1_073_741_824 => format!("{} MiB", count / 1_048_576),
        _ => format!("{} GiB", count / 1_073_741_824),
    }
}

fn tokens(context: &VerbContext, findings: &mut Findings) {
    let config = &context.config;
    let needed = config.require_token().unwrap_or(!config.listen().ip().is_loopback());
    match TokenFile::new(config.tokens()).list() {
        Ok(tokens) if tokens.is_empty() && needed && config.admin_token().is_none() => {
            let text = format!(
                "a server on {} needs one, and there is none: `rival token create NAME`",
                config.listen()
            );
            findings.add("tokens", FindingLevel::Bad, text);
        }
        Ok(tokens) => {
            let now = Clock::System.now();
            let expired = tokens.iter().filter(|token| token.expires_at.is_some_and(|at| at <= now)).count();
            let expired = if expired == 0 { String::new() } else { format!(", {expired} of them expired") };
            let need = if needed { "requests need one" } else { "requests need none" };
            let admin = if config.admin_token().is_some() { ", and `admin_token`" } else { "" };
            let (count, file) = (tokens.len(), config.tokens());
            let text = format!("{count} in {}{expired}{admin}; {need}", file.display());
            findings.add("tokens", FindingLevel::Good, text);
        }
        Err(error) => findings.add("tokens", FindingLevel::Bad, error.to_string()),
    }
}

fn show(context: &VerbContext, findings: &Findings) -> Result<()> {
    let out = &context.out;
    match out.format {
        OutputFormat::Json => {
            let all = findings.0.iter().map(|finding| {
                json!({ "about": finding.about, "result": finding.level.word(), "text": finding.text })
            });
            out.json(&json!(all.collect::<Vec<_>>()).to_string())?;
        }
        OutputFormat::Ids => {
            let bad = findings.0.iter().filter(|finding| finding.level == FindingLevel::Bad);
            bad.into_iter().try_for_each(|finding| out.line(finding.about))?;
        }
        OutputFormat::Table => {
            let mut table = TextTable::new(&["ABOUT", "RESULT", "WHAT"]);
            for Finding { about, level, text } in &findings.0 {
                let word = match level {
                    FindingLevel::Good => out.style.green(level.word()),
                    FindingLevel::Odd => out.style.yellow(level.word()),
                    FindingLevel::Bad => out.style.red(level.word()),
                };
                table.row([(*about).to_owned(), word, clean(text)]);
            }
            out.table(&table)?;
        }
    }
    let bad = findings.0.iter().filter(|finding| finding.level == FindingLevel::Bad).count();
    if bad == 0 { Ok(()) } else { Err(ExitError::error(format!("{bad} of these must be mended")).into()) }
}
