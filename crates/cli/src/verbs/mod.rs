//! The verbs, one file per family.

pub(crate) mod archive;
pub(crate) mod connections;
pub(crate) mod control;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod init;
pub(crate) mod look;
pub(crate) mod page;
pub(crate) mod serve;
pub(crate) mod signal;
pub(crate) mod start;
pub(crate) mod store;
pub(crate) mod test;
pub(crate) mod token;
pub(crate) mod watch;
pub(crate) mod workflows;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use rival::Value;
use rival_api::ServerVersion;
use serde::Serialize;
use tokio::sync::OnceCell;

use crate::client::{ApiAnswer, ApiClient, OfflineNeed, note_foreign};
use crate::config::ResolvedConfig;
use crate::exit::{self, ExitError, ServerSilence};
use crate::out::{DataOutput, OutputFormat, note};
use crate::read;

/// What every verb is given.
#[derive(Debug)]
pub(crate) struct VerbContext {
    pub(crate) config: ResolvedConfig,
    pub(crate) out: DataOutput,
    client: OnceCell<Arc<ApiClient>>,
}

impl VerbContext {
    pub(crate) fn new(config: ResolvedConfig, out: DataOutput) -> Self {
        Self { config, out, client: OnceCell::new() }
    }

    /// The files and folders of workflows: those that a command names, or else those of the settings.
    pub(crate) fn files(&self, named: Vec<PathBuf>) -> Vec<PathBuf> {
        if named.is_empty() { self.config.workflows() } else { named }
    }

    /// The client of this command; the first use decides what it can do.
    pub(crate) async fn client(&self, need: OfflineNeed) -> Result<Arc<ApiClient>> {
        let connect = async || ApiClient::connect(&self.config, need).await.map(Arc::new);
        self.client.get_or_try_init(connect).await.cloned()
    }

    /// The client of this command, and the answer to the request that is its first use.
    pub(crate) async fn first_post(
        &self,
        need: OfflineNeed,
        path: &str,
        body: &impl Serialize,
    ) -> Result<(Arc<ApiClient>, Result<ApiAnswer>)> {
        let (url, named) = self.config.url();
        let server = ApiClient::to_server(url, &self.config)?;
        let answer = server.post(path, body).await;
        // Only if the settings name no server. That none runs shows when it is asked, so no connection is made only to
        // find out.
        let is_absent = |error| exit::silence(error) == Some(ServerSilence::Absent);
        if named || !answer.as_ref().is_err_and(is_absent) {
            note_foreign(&self.config);
            let client = self.client.get_or_init(async || Arc::new(server)).await;
            return Ok((client.clone(), answer));
        }
        if let Some(refused) = self.refusal(need, path, body).await? {
            return Ok(refused);
        }
        let on_file = async || ApiClient::on_file(&self.config, need).await.map(Arc::new);
        let client = self.client.get_or_try_init(on_file).await?;
        Ok((client.clone(), client.post(path, body).await))
    }

    /// Asks an engine in memory what would begin a new store, so that a request which is refused leaves none behind.
    async fn refusal(
        &self,
        need: OfflineNeed,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Option<(Arc<ApiClient>, Result<ApiAnswer>)>> {
        if !need.makes_store() || self.config.store().exists() {
            return Ok(None);
        }
        let trial = ApiClient::on_file(&self.config, OfflineNeed::Look).await?;
        // Nothing runs there, so nothing is waited for.
        let path = path.split('?').next().unwrap_or(path);
        let answer = trial.post(path, body).await;
        Ok(answer.is_err().then(|| (Arc::new(trial), answer)))
    }

    /// Adds to an error about a workflow that is not known what is known instead, and why.
    pub(crate) fn explain_unknown(&self, client: &ApiClient, error: anyhow::Error) -> anyhow::Error {
        let is_unknown = |failed: &ExitError| failed.code.as_deref() == Some("unknown_workflow");
        match (error.downcast::<ExitError>(), self.why_examples()) {
            (Ok(failed), Some(why)) if is_unknown(&failed) && !client.is_served() => failed.hint(why).into(),
            (Ok(failed), _) => failed.into(),
            (Err(other), _) => other,
        }
    }

    /// Why the example workflows are used without a server, if they are.
    pub(crate) fn why_examples(&self) -> Option<String> {
        match (self.config.workflows().is_empty(), self.config.file()) {
            (false, _) => None,
            (true, None) => Some(
                "there is no rival.toml in this folder or above it, so these are the examples; \
                 go to your project's folder, or make one with `rival init`"
                    .to_owned(),
            ),
            (true, Some(file)) => Some(format!(
                "{} names no workflows, so these are the examples; add workflows = [\"workflows\"]",
                file.display()
            )),
        }
    }

    /// Lets go of what is still held.
    pub(crate) async fn close(&self) {
        if let Some(client) = self.client.get() {
            client.close().await;
        }
    }

    /// A client for a run, with the run's id: `run` may also be a file that `export` wrote.
    pub(crate) async fn client_for(&self, run: &str) -> Result<(Arc<ApiClient>, String)> {
        if !is_archive(run) {
            return Ok((self.client(OfflineNeed::Store).await?, run.to_owned()));
        }
        let archive = archive::read(Path::new(run)).await?;
        Ok((Arc::new(ApiClient::of_archive(&archive).await?), archive.run.run_id.to_string()))
    }
}

/// Run ids have no slashes, and those that look like files of ours are files if they are there.
fn is_archive(run: &str) -> bool {
    let path = Path::new(run);
    let named = path.extension().is_some_and(|extension| extension == "html" || extension == "json");
    (named || run.contains('/')) && path.is_file()
}

/// The largest input or payload that is read, and the longest list of runs. A server takes less.
pub(crate) const GIVEN_MAX_BYTES: u64 = 256 << 20;

/// The runs that are meant, with those from stdin in place of `-`.
pub(crate) async fn expand(runs: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for run in runs {
        if run == "-" {
            let text = read::text(Path::new("-"), GIVEN_MAX_BYTES).await;
            let text = text.context("cannot read the runs from stdin")?;
            all.extend(text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned));
        } else {
            all.push(run.clone());
        }
    }
    Ok(all)
}

/// Does something for each run, also if it does not work for one of them.
pub(crate) async fn each(
    out: &DataOutput,
    runs: &[String],
    mut act: impl AsyncFnMut(&str) -> Result<()>,
) -> Result<()> {
    let runs = expand(runs).await?;
    if let [run] = &*runs {
        return act(run).await;
    }
    out.several.set(true);
    let mut failed: Option<u8> = None;
    for run in &runs {
        if let Err(error) = act(run).await {
            // The reader has read enough.
            if exit::broken_pipe(&error) {
                return Err(error);
            }
            let known = error.downcast_ref::<ExitError>();
            let exit = known.map_or(exit::ERROR, |known| known.exit);
            if !error.to_string().is_empty() {
                note(format_args!("error: {error:#}"));
            }
            failed.get_or_insert(exit);
        }
    }
    failed.map_or(Ok(()), |exit| Err(ExitError::told(exit).into()))
}

/// JSON from an argument: itself, `@FILE`, or `-` for stdin.
async fn json(given: &str, what: &str) -> Result<Value> {
    let (text, source) = match given.strip_prefix('@') {
        _ if given == "-" => {
            let text = read::text(Path::new("-"), GIVEN_MAX_BYTES).await;
            (text.with_context(|| format!("cannot read the {what} from stdin"))?, "stdin".to_owned())
        }
        Some(file) => {
            let text = read::text(Path::new(file), GIVEN_MAX_BYTES)
                .await
                .map_err(|error| ExitError::usage(format!("cannot read the {what} from {file}: {error}")))?;
            (text, file.to_owned())
        }
        None => (given.to_owned(), "the command line".to_owned()),
    };
    // Read and written anew, so that the run has it without the spaces and line breaks of a file.
    serde_json::from_str::<serde_json::Value>(&text).map(Value::from).map_err(|error| {
        ExitError::usage(format!("the {what} from {source} is not JSON: {error}"))
            .hint(format!("write the {what} as JSON in single quotes, or as @FILE, or as - for stdin"))
            .into()
    })
}

/// JSON from an argument that may be left out.
pub(crate) async fn optional_json(given: Option<&str>, what: &str) -> Result<Option<Value>> {
    match given {
        Some(given) => json(given, what).await.map(Some),
        None => Ok(None),
    }
}

/// `version`: of this command, and of the server if one runs.
pub(crate) async fn version(context: &VerbContext) -> Result<()> {
    let (out, ours) = (&context.out, env!("CARGO_PKG_VERSION"));
    let server = ApiClient::to_configured(&context.config)?.get("/version").await.ok();
    let theirs = server.and_then(|answer| Some(answer.read::<ServerVersion>().ok()?.version));
    match out.format {
        OutputFormat::Json => {
            out.json(&serde_json::json!({ "version": ours, "server": &theirs }).to_string())
        }
        OutputFormat::Ids => out.line(ours),
        OutputFormat::Table => {
            out.line(format_args!("rival {ours}"))?;
            theirs.map_or(Ok(()), |theirs| {
                out.line(format_args!("server {theirs} at {}", context.config.url().0))
            })
        }
    }
}
