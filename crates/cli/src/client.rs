//! One client for every verb: it sends the requests of the HTTP API, to a server that runs, or straight into the API on
//! the store file when none does.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderName, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use rival::{Archive, Engine, SqliteStore, StoreError};
use rival_api::{ProblemReply, RunListReply, path_segment};
use rival_authoring::Documents;
use rival_server::auth::USER_HEADER;
use rival_server::local_secret::{self, LocalSecretFile};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tower::ServiceExt;

use crate::config::{ResolvedConfig, nearest, reachable};
use crate::connections::{CONNECTIONS_GRACE, ConnectionDesk, SharedDesk};
use crate::exit::{ExitError, ServerSilence};
use crate::out::note;
use crate::sse::SseStream;
use crate::style::TextStyle;
use crate::workflow_files::{WorkflowFiles, note_problems};
use crate::{examples, offered, server};

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a server may say nothing: longer than a request waits, and than the heartbeat of a stream.
const SILENCE: Duration = Duration::from_secs(90);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How much of a run's id must be given at least.
const PREFIX_MIN: usize = 6;
/// How many runs are named if several are meant.
const SIMILAR_MAX: usize = 5;
/// How alike an id must be to be suggested, from 0 to 1: random ones are all a little alike.
const ALIKE: f64 = 0.7;

/// What to do about a server of another project.
pub(crate) const FOREIGN_HELP: &str =
    "give this project a port of its own with `listen` in rival.toml, or name the server with --url";

/// What a verb needs if there is no server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfflineNeed {
    /// A store that is there, to look at or to leave a request in.
    Store,
    /// Connections, which this command makes, with the store if it is there; none is made.
    Connections,
    /// The same, and workflows to look at: whatever a document may refer to.
    Check,
    /// Workflows to look at, with the store if it is there; none is made.
    Look,
    /// A store that is there, and workflows.
    Workflows,
    /// An engine that runs what is due in a store that is there, for as long as this command does.
    Engine,
    /// A store, which may be a new one, and workflows.
    NewRun,
    /// The same, and an engine that runs what is due.
    NewRunHere,
}

impl OfflineNeed {
    /// Whether the store may be a new one.
    pub(crate) fn makes_store(self) -> bool {
        matches!(self, Self::NewRun | Self::NewRunHere)
    }

    fn has_workflows(self) -> bool {
        !matches!(self, Self::Store | Self::Connections)
    }

    fn is_passive(self) -> bool {
        !matches!(self, Self::Engine | Self::NewRunHere)
    }
}

/// Sends requests.
#[derive(Debug)]
pub(crate) struct ApiClient {
    to: ApiTransport,
}

#[derive(Debug)]
enum ApiTransport {
    Server {
        http: reqwest::Client,
        url: String,
        token: Option<String>,
    },
    /// `passive`: nothing is run here.
    Here {
        router: Box<Router>,
        engine: Engine,
        passive: bool,
        /// The connections that this command has made.
        desk: Option<SharedDesk>,
    },
}

/// What came back, if it was good.
#[derive(Debug)]
pub(crate) struct ApiAnswer {
    pub(crate) status: StatusCode,
    /// JSON, or the text of a drawing.
    pub(crate) text: String,
    /// When the server says it is.
    pub(crate) date: Option<SystemTime>,
}

impl ApiAnswer {
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.text).context("the server's answer is not what this command expects")
    }
}

/// The user whose commands these are, as histories name them: letters that fit into a header.
fn user() -> Option<String> {
    let names = ["USER", "LOGNAME", "USERNAME"];
    let user = names.iter().find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()));
    user.filter(|user| user.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '))
}

impl ApiClient {
    /// A client for the server that the settings name; if they name none and none runs, for the store file.
    pub(crate) async fn connect(config: &ResolvedConfig, need: OfflineNeed) -> Result<Self> {
        let (url, named) = config.url();
        if named || listens(&url).await {
            note_foreign(config);
            return Self::to_server(url, config);
        }
        Self::on_file(config, need).await
    }

    /// A client for the server, whether it runs or not.
    pub(crate) fn to_configured(config: &ResolvedConfig) -> Result<Self> {
        Self::to_server(config.url().0, config)
    }

    pub(crate) fn to_server(url: String, config: &ResolvedConfig) -> Result<Self> {
        let builder = reqwest::Client::builder().connect_timeout(CONNECT).read_timeout(SILENCE).no_proxy();
        let (builder, token) = match (config.token(), local_server(&url, config)) {
            (Some(token), _) => (builder, Some(token.to_owned())),
            // Straight to the server that wrote it, whatever else a name of this machine may mean.
            (None, Some(LocalSecretFile { listen, secret })) => {
                (builder.resolve("localhost", reachable(listen)), Some(secret))
            }
            (None, None) => (builder, None),
        };
        Ok(Self { to: ApiTransport::Server { http: builder.build()?, url, token } })
    }

    /// A client for the store file, where no server runs.
    pub(crate) async fn on_file(config: &ResolvedConfig, need: OfflineNeed) -> Result<Self> {
        let (file, url) = (config.store(), config.url().0);
        let is_there = file.exists();
        let needs_none = matches!(need, OfflineNeed::Look | OfflineNeed::Connections | OfflineNeed::Check);
        if !is_there && !needs_none && !need.makes_store() {
            let message = format!("no server runs at {url}, and there is no store at {}", file.display());
            let hint = "start a server with `rival dev`, or name another store with --store or another server with --url";
            return Err(ExitError::error(message).hint(hint).into());
        }
        let mut builder = Engine::builder().max_payload_bytes(config.max_payload_bytes());
        if is_there || need.makes_store() {
            builder = builder.store(open(file, &url)?);
        }
        // As under `rival dev`: a person runs this, on a machine of their own.
        let outgoing = config.outgoing().allow_loopback().never(config.listen());
        let desk = Arc::new(ConnectionDesk::new(config, config.listen(), outgoing.clone()));
        builder = offered::builtins(builder, config, &desk);
        if need.has_workflows() && config.workflows().is_empty() {
            builder = examples::add(builder, file, examples::PACE)?;
        }
        let passive = need.is_passive();
        if passive {
            builder = builder.passive();
        }
        let engine = builder.prepare().await.context("cannot use the store")?;
        // Where no step runs, no server of tools is needed: what is known of them is what was read last.
        match passive {
            true => desk.look(&engine).await.context("cannot use the store")?,
            false => desk.open(&engine, None).await.context("cannot use the store")?,
        }
        let documents = offered::documents(&engine, &desk);
        if need.has_workflows() {
            let files = WorkflowFiles::new(config, config.workflows(), outgoing, documents.clone());
            files.register(&engine).await?;
            // What begins a store was tried before, and the trial has said them.
            if is_there || !need.makes_store() {
                note_problems(&engine.problems(), TextStyle::of(std::io::stderr().is_terminal()));
            }
        }
        let makes_connections = matches!(need, OfflineNeed::Connections | OfflineNeed::Check);
        let desk = Some(desk).filter(|_| !passive || makes_connections);
        engine.begin().await;
        Ok(Self::here(engine, Some(documents), passive, desk))
    }

    /// Whether a server answers; without one, this command has said what is wrong with workflow files.
    pub(crate) fn is_served(&self) -> bool {
        matches!(self.to, ApiTransport::Server { .. })
    }

    /// Makes the connections, or only this one, if that is not a server's business.
    pub(crate) async fn open_connections(&self, only: Option<&str>) -> Result<()> {
        if let ApiTransport::Here { engine, desk: Some(desk), .. } = &self.to {
            desk.open(engine, only).await.context("cannot use the store")?;
        }
        Ok(())
    }

    /// A client for one archived run.
    pub(crate) async fn of_archive(archive: &Archive) -> Result<Self> {
        let engine =
            Engine::of_archive(archive).await.map_err(|error| ExitError::error(error.to_string()))?;
        Ok(Self::here(engine, None, true, None))
    }

    fn here(engine: Engine, documents: Option<Documents>, passive: bool, desk: Option<SharedDesk>) -> Self {
        let user = user().unwrap_or_default();
        let documents = documents.map(|documents| documents.asked_by(user.clone()));
        let router = Box::new(server::local_router(engine.asked_by(user), documents, desk.clone()));
        Self { to: ApiTransport::Here { router, engine, passive, desk } }
    }

    /// Whether nothing is run: requests are kept, and nothing changes by itself.
    pub(crate) fn is_passive(&self) -> bool {
        matches!(self.to, ApiTransport::Here { passive: true, .. })
    }

    /// Lets go of the store in order; does nothing with a server.
    pub(crate) async fn close(&self) {
        let ApiTransport::Here { engine, passive, desk, .. } = &self.to else { return };
        if !passive {
            engine.shutdown(Duration::from_secs(1)).await;
        }
        if let Some(desk) = desk {
            desk.close(CONNECTIONS_GRACE).await;
        }
    }

    /// Lets go of the store file, so that another process can open it at once; does nothing with a server.
    pub(crate) async fn release(&self) {
        if let ApiTransport::Here { engine, .. } = &self.to {
            engine.shutdown(Duration::ZERO).await;
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Result<ApiAnswer> {
        self.ask(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &impl Serialize) -> Result<ApiAnswer> {
        self.ask(Method::POST, path, Some(serde_json::to_string(body)?)).await
    }

    pub(crate) async fn post_text(&self, path: &str, body: String) -> Result<ApiAnswer> {
        self.ask(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &impl Serialize) -> Result<ApiAnswer> {
        self.put_text(path, serde_json::to_string(body)?, None).await
    }

    /// Sends a body under a condition: a header of HTTP and its value.
    pub(crate) async fn put_text(
        &self,
        path: &str,
        body: String,
        condition: Option<(HeaderName, &str)>,
    ) -> Result<ApiAnswer> {
        self.ask_exactly(Method::PUT, path, Some(body), condition).await
    }

    pub(crate) async fn delete(
        &self,
        path: &str,
        condition: Option<(HeaderName, &str)>,
    ) -> Result<ApiAnswer> {
        self.ask_exactly(Method::DELETE, path, None, condition).await
    }

    /// Asks, and if there is no such run, asks the run whose id begins so.
    async fn ask(&self, method: Method, path: &str, body: Option<String>) -> Result<ApiAnswer> {
        match self.ask_exactly(method.clone(), path, body.clone(), None).await {
            Err(error) => self.ask_exactly(method, &self.whole_path(path, error).await?, body, None).await,
            answer => answer,
        }
    }

    async fn ask_exactly(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        header: Option<(HeaderName, &str)>,
    ) -> Result<ApiAnswer> {
        let response = self.send(method, path, body, header).await?;
        let status = response.status();
        let date = response.headers().get(header::DATE).and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
        let bytes = response.into_body().collect().await.context("the answer broke off")?.to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if status.is_success() {
            Ok(ApiAnswer { status, text, date })
        } else {
            Err(self.refused(status, &text).into())
        }
    }

    /// Follows live events, after one of them if it is given. `None`: there are no more.
    pub(crate) async fn follow(&self, path: &str, after: Option<&str>) -> Result<Option<SseStream>> {
        match self.follow_exactly(path, after).await {
            Err(error) => self.follow_exactly(&self.whole_path(path, error).await?, after).await,
            stream => stream,
        }
    }

    /// The path with the whole id of the run that it means, or why there is none. Ids are random and long: people type
    /// their beginnings.
    async fn whole_path(&self, path: &str, error: anyhow::Error) -> Result<String> {
        let is_missing = |failed: &ExitError| failed.code.as_deref() == Some("run_not_found");
        let given = path.strip_prefix("/api/runs/").map(|rest| rest.split_once('/').unwrap_or((rest, "")));
        let is_of_run = error.downcast_ref::<ExitError>().is_some_and(is_missing);
        let Some((given, rest)) = given.filter(|_| is_of_run) else { return Err(error) };
        let failed: ExitError = error.downcast()?;
        if given.len() < PREFIX_MIN {
            let hint =
                format!("an id may be cut after {PREFIX_MIN} characters or more, if no other begins so");
            return Err(failed.hint(hint).into());
        }
        let list = format!("/api/runs?idPrefix={given}&limit={SIMILAR_MAX}");
        let found: RunListReply = self.ask_exactly(Method::GET, &list, None, None).await?.read()?;
        match &*found.items {
            [] => Err(self.did_you_mean(given, failed).await.into()),
            [only] => Ok(format!("/api/runs/{}{}{rest}", path_segment(only.run_id.as_str()), slash(rest))),
            several => {
                let ids: Vec<&str> = several.iter().map(|run| run.run_id.as_str()).collect();
                let message = format!("several runs begin with `{given}`: {}", ids.join(", "));
                Err(ExitError::not_found(message).hint("write more of the one that you mean").into())
            }
        }
    }

    /// Adds the run that was probably meant, of the latest ones.
    async fn did_you_mean(&self, given: &str, failed: ExitError) -> ExitError {
        let Ok(latest) = self.ask_exactly(Method::GET, "/api/runs?limit=100", None, None).await else {
            return failed;
        };
        let Ok(latest) = latest.read::<RunListReply>() else { return failed };
        let ids = latest.items.iter().map(|run| run.run_id.as_str());
        match nearest(given, ids.clone()).filter(|id| strsim::normalized_levenshtein(given, id) >= ALIKE) {
            Some(near) => failed.hint(format!("did you mean `{near}`?")),
            None => failed,
        }
    }

    async fn follow_exactly(&self, path: &str, after: Option<&str>) -> Result<Option<SseStream>> {
        let after = after.map(|after| (LAST_EVENT_ID, after));
        let response = self.send(Method::GET, path, None, after).await?;
        match response.status() {
            StatusCode::NO_CONTENT => Ok(None),
            status if status.is_success() => Ok(Some(SseStream::new(response.into_body()))),
            status => {
                let bytes = response.into_body().collect().await.context("the answer broke off")?.to_bytes();
                Err(self.refused(status, &String::from_utf8_lossy(&bytes)).into())
            }
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        header: Option<(HeaderName, &str)>,
    ) -> Result<Response<Body>> {
        let header = header.map(|(name, value)| (name, value.to_owned()));
        self.exchange(method, path, body, header.as_slice()).await
    }

    /// Sends a request; an answer that refuses is an answer.
    pub(crate) async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        headers: &[(HeaderName, String)],
    ) -> Result<Response<Body>> {
        match &self.to {
            ApiTransport::Server { http, url, token } => {
                let mut request = http.request(method, format!("{url}{path}"));
                if let Some(token) = token {
                    request = request.bearer_auth(token);
                    // Only a server of this machine believes it, and only that is told.
                    if let Some(user) = user().filter(|_| token.starts_with(local_secret::PREFIX)) {
                        request = request.header(USER_HEADER, user);
                    }
                }
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                if let Some(body) = body {
                    request = request.header(header::CONTENT_TYPE, "application/json").body(body);
                }
                let response = request.send().await.map_err(|error| unreachable(url, &error))?;
                Ok(Response::<reqwest::Body>::from(response).map(Body::new))
            }
            ApiTransport::Here { router, .. } => {
                let mut request =
                    Request::builder().method(method).uri(path).header(header::HOST, "localhost");
                for (name, value) in headers {
                    request = request.header(name, value);
                }
                if body.is_some() {
                    request = request.header(header::CONTENT_TYPE, "application/json");
                }
                let request = request.body(body.map_or_else(Body::empty, Body::from))?;
                let Ok(response) = (**router).clone().oneshot(request).await;
                Ok(response)
            }
        }
    }

    fn refused(&self, status: StatusCode, text: &str) -> ExitError {
        let Ok(problem) = serde_json::from_str::<ProblemReply>(text) else {
            let what = match &self.to {
                ApiTransport::Server { url, .. } => {
                    format!("{url} answered {status}, and does not look like rival")
                }
                ApiTransport::Here { .. } => format!("unexpected answer: {status}"),
            };
            return ExitError::error(what);
        };
        let mut message = problem.error;
        for violation in &problem.errors {
            // The sentence may list them already.
            if !message.contains(&violation.message) {
                message += &format!("\n  {}: {}", violation.path, violation.message);
            }
        }
        let failed = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ExitError::auth(message),
            StatusCode::NOT_FOUND => ExitError::not_found(message),
            _ => ExitError::error(message),
        };
        let failed = match status {
            StatusCode::UNAUTHORIZED => {
                failed.hint("set RIVAL_TOKEN; whoever runs the server makes tokens with `rival token create`")
            }
            _ if problem.code == "invalid_input" => {
                failed.hint("`rival workflows <name>` shows what a workflow takes; give it with --input")
            }
            _ => failed,
        };
        failed.code(problem.code)
    }
}

fn slash(rest: &str) -> &'static str {
    if rest.is_empty() { "" } else { "/" }
}

fn unreachable(url: &str, error: &reqwest::Error) -> ExitError {
    let cause = std::iter::successors(std::error::Error::source(error), |cause| cause.source()).last();
    let cause = cause.map_or_else(|| error.to_string(), ToString::to_string);
    let silence = if error.is_connect() { ServerSilence::Absent } else { ServerSilence::Lost };
    let hint = match silence {
        ServerSilence::Absent => {
            "start one with `rival serve`, or leave the address out to use the store file"
        }
        ServerSilence::Lost => "it may have stopped just now, or be busy: ask again",
    };
    ExitError::error(format!("cannot reach the server at {url}: {cause}")).hint(hint).silence(silence)
}

/// Whether a process listens at an address of this machine.
pub(crate) async fn listens(url: &str) -> bool {
    let Some(address) = url.strip_prefix("http://") else { return false };
    matches!(tokio::time::timeout(CONNECT, tokio::net::TcpStream::connect(address)).await, Ok(Ok(_)))
}

/// The secret of the server at this address, if it runs on this machine on the store that the settings name. It is shown to
/// this server only: another process may listen at any other address.
fn local_server(url: &str, config: &ResolvedConfig) -> Option<LocalSecretFile> {
    rival_server::local_secret::read(&config.local_secret()).filter(|local| {
        let address = reachable(local.listen);
        let by_name = address.ip().is_loopback() && url == format!("http://localhost:{}", address.port());
        by_name || url == format!("http://{address}")
    })
}

/// Whether the server that answers has another store than that of a project which is here. Where its address was named, it is
/// meant.
pub(crate) fn is_foreign(config: &ResolvedConfig) -> bool {
    let (url, named) = config.url();
    let is_project = config.store().exists() || config.file().is_some();
    let secret = config.local_secret();
    // A server that wants tokens writes no secret, but holds the store. A secret that cannot be read is that of a server
    // which another user runs here.
    let is_other = match secret.exists() {
        true => rival_server::local_secret::read(&secret).is_some(),
        false => !SqliteStore::is_held(config.store()),
    };
    !named && is_project && is_other && local_server(&url, config).is_none()
}

/// Says so, before anything is asked of it.
pub(crate) fn note_foreign(config: &ResolvedConfig) {
    if is_foreign(config) {
        note(format_args!("{}; {FOREIGN_HELP}", foreign(config)));
    }
}

/// What a server of another project is.
pub(crate) fn foreign(config: &ResolvedConfig) -> String {
    format!(
        "the server at {} is not this project's: its store is not {}",
        config.url().0,
        config.store().display()
    )
}

/// Opens the store file, or says who has it and what to do.
fn open(file: &Path, url: &str) -> Result<SqliteStore> {
    SqliteStore::open(file).map_err(|error| match error {
        StoreError::Locked(who) => ExitError::error(format!("no server answers at {url}, but {who}"))
            .hint("if that process is a server, name its address with --url or RIVAL_URL")
            .code("store_locked")
            .into(),
        other => ExitError::error(other.to_string()).code(other.code()).into(),
    })
}

/// `?a=b&c=d` of those that are set.
pub(crate) fn query(pairs: &[(&str, Option<String>)]) -> String {
    let set =
        pairs.iter().filter_map(|(name, value)| Some(format!("{name}={}", path_segment(value.as_ref()?))));
    let set: Vec<String> = set.collect();
    if set.is_empty() { String::new() } else { format!("?{}", set.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_what_is_set() {
        assert_eq!(query(&[("a", Some("x y".into())), ("b", None), ("c", Some("1".into()))]), "?a=x%20y&c=1");
        assert_eq!(query(&[("a", None)]), "");
    }
}
