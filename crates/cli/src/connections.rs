//! Connections of the settings and of the store, as the server asks for them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use futures::future::BoxFuture;
use rival::{Engine, StoreError, Time, Value};
use rival_api::{
    ConnectionBody, ConnectionDefinitionReply, ConnectionHealthReply, ConnectionOriginReply, ConnectionReply,
    ConnectionServerReply, ConnectionStatus, ConnectionValueReply, SecretReference, ToolListReply, ToolReply,
    ViolationReply,
};
use rival_document::{ToolCatalog, ToolLookup};
use rival_engine::store::ExpectedVersion;
use rival_mcp::{
    ConnectionDefinition, ConnectionHealth, ConnectionLimits, ConnectionOrigin, ConnectionView, Connections,
    DefinitionError, GivenValue, PinnedTools, SecretRef, ToolFailure, code,
};
use rival_script::OutgoingPolicy;
use rival_server::ConnectionControl;
use rival_server::problem::{HttpProblem, code as server_code};

use crate::config::{FileConnection, ResolvedConfig};

/// How long connections may take to end.
pub(crate) const CONNECTIONS_GRACE: Duration = Duration::from_secs(10);
/// The kind of records that connections are which were defined over the API.
const CONNECTION_KIND: &str = "connection";
/// The kind of records that hold the tools of connections as they were when they were read last.
const TOOLS_KIND: &str = "tools";
/// How many records are read at once.
const PAGE: usize = 100;
/// Room for what surrounds a value in the answer of a server, which may escape each of its characters.
const ANSWER_ENVELOPE: usize = 1 << 20;

/// Looks after the connections of a server.
#[derive(Debug)]
pub(crate) struct ConnectionDesk {
    connections: Connections,
    of_settings: Vec<FileConnection>,
    /// For connections of the settings: the operator decides where they go.
    settings_limits: ConnectionLimits,
    /// For those that were defined over the API.
    api_limits: ConnectionLimits,
    commands_allowed: bool,
    secrets_allowed: Vec<String>,
    /// Connections that are not made by this process, and their tools where these are known.
    known: Mutex<BTreeMap<String, Option<PinnedTools>>>,
    /// Definitions over the API, one at a time.
    writing: tokio::sync::Mutex<()>,
}

impl ConnectionDesk {
    /// Connections as the settings have them, none of which is made yet. `outgoing` is for those of the API.
    pub(crate) fn new(config: &ResolvedConfig, own: SocketAddr, outgoing: OutgoingPolicy) -> Self {
        let everywhere =
            ["0.0.0.0/0", "::/0"].into_iter().fold(OutgoingPolicy::public(), |policy, network| {
                policy.allow(network).expect("it is a network")
            });
        let answer_bytes_max = config.max_payload_bytes().saturating_mul(2).saturating_add(ANSWER_ENVELOPE);
        let limits =
            |outgoing| ConnectionLimits { answer_bytes_max, outgoing, ..ConnectionLimits::default() };
        Self {
            connections: Connections::new(),
            of_settings: config.connections().to_vec(),
            settings_limits: limits(everywhere.never(own)),
            api_limits: limits(outgoing),
            commands_allowed: config.connection_commands(),
            secrets_allowed: config.connection_secrets(),
            known: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
        }
    }

    /// The connections, for those who call their tools.
    pub(crate) fn connections(&self) -> Connections {
        self.connections.clone()
    }

    /// Makes all connections, or only one of them, and keeps in mind what tools they have.
    pub(crate) async fn open(&self, engine: &Engine, only: Option<&str>) -> Result<(), StoreError> {
        let is_meant = |name: &str| only.is_none_or(|only| only == name);
        self.connections.attach(engine);
        let known: BTreeMap<String, PinnedTools> = records(engine, TOOLS_KIND).await?;
        let hashes = known.iter().map(|(name, tools)| (name.clone(), tools.hash.clone())).collect();
        self.keep_tools(engine, hashes);
        let of_settings = self.of_settings.iter().filter(|connection| is_meant(&connection.name));
        for FileConnection { name, definition, file, line } in of_settings {
            for field in definition.plain_secrets() {
                let place = format!("{}:{line}", file.display());
                tracing::warn!(connection = name, place, "`{field}` is written plainly; better refer to it");
            }
            let (limits, known) = (self.settings_limits.clone(), known.get(name).cloned());
            let defined =
                self.connections.define(name, definition.clone(), ConnectionOrigin::Settings, limits, known);
            debug_assert!(defined.is_ok(), "it was checked when it was read: {defined:?}");
        }
        let of_api: BTreeMap<String, ConnectionDefinition> = records(engine, CONNECTION_KIND).await?;
        for (name, definition) in of_api.into_iter().filter(|(name, _)| is_meant(name)) {
            if self.is_of_settings(&name) {
                tracing::warn!(
                    connection = name,
                    "the settings define it, so what was defined over the API does not count"
                );
                continue;
            }
            // What is allowed may have changed since.
            let refused = self.refusal(&definition).map(|refusal| refusal.error);
            let (limits, known) = (self.api_limits.clone(), known.get(&name).cloned());
            let defined = match refused {
                Some(why) => Err(why),
                None => self
                    .connections
                    .define(&name, definition, ConnectionOrigin::Api, limits, known)
                    .map_err(|errors| listed(&errors)),
            };
            if let Err(why) = defined {
                tracing::error!(
                    connection = name,
                    "a connection that was defined over the API is not made: {why}"
                );
            }
        }
        Ok(())
    }

    /// Reads what is known of connections, and makes none of them: enough to check documents.
    pub(crate) async fn look(&self, engine: &Engine) -> Result<(), StoreError> {
        let mut tools: BTreeMap<String, PinnedTools> = records(engine, TOOLS_KIND).await?;
        let of_api: BTreeMap<String, ConnectionDefinition> = records(engine, CONNECTION_KIND).await?;
        let of_settings = self.of_settings.iter().map(|connection| connection.name.clone());
        let names = of_api.into_keys().chain(of_settings);
        let known = names.map(|name| (name.clone(), tools.remove(&name))).collect();
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = known;
        Ok(())
    }

    /// Keeps the tools of connections beside the runs, so that changes are seen over restarts, and documents can be checked
    /// before a server is there.
    fn keep_tools(&self, engine: &Engine, hashes: BTreeMap<String, String>) {
        let (engine, hashes) = (engine.downgrade(), Mutex::new(hashes));
        self.connections.on_change(move |name, tools| {
            let Some((tools, engine)) = tools.zip(engine.upgrade()) else { return };
            let mut hashes = hashes.lock().unwrap_or_else(PoisonError::into_inner);
            if hashes.insert(name.to_owned(), tools.hash.clone()).as_ref() == Some(&tools.hash) {
                return;
            }
            let (name, body) = (name.to_owned(), serde_json::to_string(tools).unwrap_or_default());
            tokio::spawn(async move {
                let kept = engine.records().put(TOOLS_KIND, &name, ExpectedVersion::Any, body).await;
                if let Err(error) = kept {
                    tracing::warn!(connection = name, %error, "the tools of the connection could not be kept");
                }
            });
        });
    }

    /// Ends all connections.
    pub(crate) async fn close(&self, grace: Duration) {
        self.connections.shutdown(grace).await;
    }

    fn is_of_settings(&self, name: &str) -> bool {
        self.of_settings.iter().any(|connection| connection.name == name)
    }

    fn view(&self, name: &str) -> Result<ConnectionView, HttpProblem> {
        self.connections.get(name).ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> HttpProblem {
        let mut names = self.connections.names();
        names.extend(self.of_settings.iter().map(|connection| connection.name.clone()));
        names.sort();
        names.dedup();
        let known = if names.is_empty() {
            "there are none".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        let error = format!("there is no connection `{name}`: {known}");
        HttpProblem::new(StatusCode::NOT_FOUND, code::UNKNOWN_CONNECTION, error)
    }

    /// Why a definition is not taken over the API.
    fn refusal(&self, definition: &ConnectionDefinition) -> Option<HttpProblem> {
        let refused = |error: String| {
            Some(HttpProblem::new(StatusCode::FORBIDDEN, server_code::CONNECTION_NOT_ALLOWED, error))
        };
        if definition.command.is_some() && !self.commands_allowed {
            return refused(
                "over the API no connection may start a program; the setting `connection_commands` allows it"
                    .to_owned(),
            );
        }
        if let Some(field) = definition.plain_secrets().first() {
            return refused(format!("`{field}` is written plainly: refer to it, as {{\"env\": \"NAME\"}}"));
        }
        let secrets = definition.secrets();
        let (field, secret) = secrets.iter().find(|(_, secret)| !self.may_refer_to(secret))?;
        let what = match (&secret.env, &secret.file) {
            (Some(name), _) => format!("the variable `{name}`"),
            (None, Some(file)) => format!("the file {}", file.display()),
            (None, None) => "no secret".to_owned(),
        };
        refused(format!("`{field}` refers to {what}, which the setting `connection_secrets` does not list"))
    }

    fn may_refer_to(&self, secret: &SecretRef) -> bool {
        match (&secret.env, &secret.file) {
            (Some(name), _) => self.secrets_allowed.contains(name),
            (None, Some(file)) => {
                let is_plain =
                    file.is_absolute() && !file.components().any(|part| part == Component::ParentDir);
                is_plain
                    && self
                        .secrets_allowed
                        .iter()
                        .any(|allowed| file.starts_with(Path::new(allowed)) && allowed.starts_with('/'))
            }
            (None, None) => false,
        }
    }

    fn fixed(&self, name: &str) -> Result<(), HttpProblem> {
        if !self.is_of_settings(name) {
            return Ok(());
        }
        let error = format!("connection `{name}` is defined in the settings of the server");
        Err(HttpProblem::new(StatusCode::CONFLICT, server_code::CONNECTION_FIXED, error))
    }

    async fn define(
        &self,
        engine: &Engine,
        name: &str,
        body: ConnectionBody,
    ) -> Result<(ConnectionReply, bool), HttpProblem> {
        self.fixed(name)?;
        let json = serde_json::to_value(body).expect("texts and numbers are JSON");
        let definition: ConnectionDefinition = serde_json::from_value(json).expect("both have the same form");
        let problems = rival_mcp::definition_problems(name, &definition);
        if !problems.is_empty() {
            let error = format!("connection `{name}` cannot be so: {}", listed(&problems));
            let problem = HttpProblem::new(StatusCode::BAD_REQUEST, server_code::INVALID_CONNECTION, error);
            let errors = problems.into_iter();
            let errors = errors.map(|error| ViolationReply {
                path: error.field,
                message: error.message,
                ..ViolationReply::default()
            });
            return Err(HttpProblem { errors: errors.collect(), ..problem });
        }
        if let Some(refusal) = self.refusal(&definition) {
            return Err(refusal);
        }
        let _one = self.writing.lock().await;
        let is_new = self.connections.get(name).is_none();
        let body = serde_json::to_string(&definition).expect("texts and numbers are JSON");
        let kept = engine.records().put(CONNECTION_KIND, name, ExpectedVersion::Any, body).await;
        kept.map_err(|error| of_store(&error))?;
        let limits = self.api_limits.clone();
        let defined = self.connections.define(name, definition, ConnectionOrigin::Api, limits, None);
        debug_assert!(defined.is_ok(), "it was checked: {defined:?}");
        Ok((reply(self.view(name)?), is_new))
    }

    async fn remove(&self, engine: &Engine, name: &str) -> Result<(), HttpProblem> {
        self.fixed(name)?;
        let _one = self.writing.lock().await;
        let kept = engine.records().get(CONNECTION_KIND, name).await.map_err(|error| of_store(&error))?;
        if kept.is_none() && self.connections.get(name).is_none() {
            return Err(self.unknown(name));
        }
        let deleted = engine.records().delete(CONNECTION_KIND, name, ExpectedVersion::Any).await;
        deleted.map_err(|error| of_store(&error))?;
        self.connections.remove(name);
        Ok(())
    }
}

/// All records of a kind that can be read.
async fn records<T: serde::de::DeserializeOwned>(
    engine: &Engine,
    kind: &str,
) -> Result<BTreeMap<String, T>, StoreError> {
    let (mut all, mut after) = (BTreeMap::new(), None);
    loop {
        let page = engine.records().list(kind, after.as_deref(), PAGE).await?;
        let Some(last) = page.last() else { return Ok(all) };
        after = Some(last.key.clone());
        for record in page {
            match serde_json::from_str(record.body.as_deref().unwrap_or_default()) {
                Ok(read) => _ = all.insert(record.key, read),
                Err(error) => tracing::warn!(kind, key = record.key, %error, "a record cannot be read"),
            }
        }
    }
}

fn listed(errors: &[DefinitionError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn of_store(error: &StoreError) -> HttpProblem {
    let is_later = error.is_retryable() || matches!(error, StoreError::Closed);
    let status = if is_later { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::INTERNAL_SERVER_ERROR };
    HttpProblem::new(status, error.code(), error.to_string())
}

/// How a call by hand that failed is answered.
fn of_tool(failure: ToolFailure) -> HttpProblem {
    let status = match failure.code {
        code::UNKNOWN_CONNECTION | code::UNKNOWN_TOOL => StatusCode::NOT_FOUND,
        code::TOOL_TIMEOUT => StatusCode::GATEWAY_TIMEOUT,
        code::CONNECTION_FAILED => StatusCode::SERVICE_UNAVAILABLE,
        code::TOOL_FAILED | code::BAD_TOOL_ANSWER | code::CONNECTION_LOST => StatusCode::BAD_GATEWAY,
        // What it was given is no object.
        rival_engine::core::failure::code::INVALID_INPUT => StatusCode::BAD_REQUEST,
        // The tool gave too much.
        _ => StatusCode::BAD_GATEWAY,
    };
    HttpProblem::new(status, failure.code, failure.message)
}

fn milliseconds(at: SystemTime) -> Time {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A connection as the API shows it.
fn reply(view: ConnectionView) -> ConnectionReply {
    let tools = view.tools.is_some().then(|| view.allowed_tools().len());
    let health = |status, why, next_try_at| ConnectionHealthReply { status, why, next_try_at };
    let (health, server) = match view.health {
        ConnectionHealth::Connecting => (health(ConnectionStatus::Connecting, None, None), None),
        ConnectionHealth::Ready(server) => (health(ConnectionStatus::Ready, None, None), server),
        ConnectionHealth::Failed { why, next_try_at } => {
            (health(ConnectionStatus::Failed, Some(why), Some(milliseconds(next_try_at))), None)
        }
        ConnectionHealth::Stopped => (health(ConnectionStatus::Stopped, None, None), None),
    };
    let server = server.map(|server| ConnectionServerReply {
        name: server.name,
        version: server.version,
        protocol: server.protocol,
    });
    ConnectionReply {
        name: view.name,
        origin: match view.origin {
            ConnectionOrigin::Settings => ConnectionOriginReply::Settings,
            ConnectionOrigin::Api => ConnectionOriginReply::Api,
        },
        definition: definition_reply(view.definition),
        health,
        server,
        tools,
        calls: view.calls,
        waiting: view.waiting,
        problems: view.problems,
    }
}

/// A definition as the API shows it: where secrets are, and nothing that was written plainly.
fn definition_reply(definition: ConnectionDefinition) -> ConnectionDefinitionReply {
    let timeout_ms = u64::try_from(definition.timeout().as_millis()).unwrap_or(u64::MAX);
    let concurrency = definition.concurrency();
    let values = |values: BTreeMap<String, GivenValue>| {
        values.into_iter().map(|(name, value)| (name, value_reply(value))).collect()
    };
    ConnectionDefinitionReply {
        command: definition.command,
        args: definition.args,
        env: values(definition.env),
        cwd: definition.cwd.map(|folder| folder.display().to_string()),
        // Some servers want a key there.
        url: definition.url.map(|url| url.split(['?', '#']).next().unwrap_or_default().to_owned()),
        headers: values(definition.headers),
        allowed_tools: definition.tools,
        concurrency,
        timeout_ms,
    }
}

fn value_reply(value: GivenValue) -> ConnectionValueReply {
    let secret = match value {
        GivenValue::Plain(_) => None,
        GivenValue::Secret(SecretRef { env, file, prefix }) => {
            Some(SecretReference { env, file: file.map(|file| file.display().to_string()), prefix })
        }
    };
    ConnectionValueReply { secret }
}

impl ConnectionControl for ConnectionDesk {
    fn list(&self) -> Vec<ConnectionReply> {
        self.connections.list().into_iter().map(reply).collect()
    }

    fn get(&self, name: &str) -> Result<ConnectionReply, HttpProblem> {
        self.view(name).map(reply)
    }

    fn tools(&self, name: &str) -> Result<ToolListReply, HttpProblem> {
        let view = self.view(name)?;
        let Some(pinned) = &view.tools else {
            let why = match &view.health {
                ConnectionHealth::Failed { why, .. } => why.as_str(),
                _ => "it is being made",
            };
            let error = format!("the tools of connection `{name}` are not known yet: {why}");
            return Err(HttpProblem::new(StatusCode::SERVICE_UNAVAILABLE, code::CONNECTION_FAILED, error));
        };
        let items = view.allowed_tools().into_iter().cloned().map(|tool| ToolReply {
            name: tool.name,
            description: tool.description,
            input_schema: tool.input_schema,
            output_schema: tool.output_schema,
        });
        Ok(ToolListReply { items: items.collect(), cursor: None, hash: pinned.hash.clone() })
    }

    fn test<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<ConnectionReply, HttpProblem>> {
        Box::pin(
            async move { self.connections.tested(name).await.map(reply).ok_or_else(|| self.unknown(name)) },
        )
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        tool: &'a str,
        input: &'a Value,
    ) -> BoxFuture<'a, Result<Value, HttpProblem>> {
        Box::pin(async move {
            self.view(name)?;
            self.connections.call(name, tool, input).await.map_err(of_tool)
        })
    }

    fn put<'a>(
        &'a self,
        engine: &'a Engine,
        name: &'a str,
        body: ConnectionBody,
    ) -> BoxFuture<'a, Result<(ConnectionReply, bool), HttpProblem>> {
        Box::pin(self.define(engine, name, body))
    }

    fn delete<'a>(&'a self, engine: &'a Engine, name: &'a str) -> BoxFuture<'a, Result<(), HttpProblem>> {
        Box::pin(self.remove(engine, name))
    }
}

impl ToolCatalog for ConnectionDesk {
    fn tool(&self, connection: &str, tool: &str) -> ToolLookup {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match (self.connections.tool(connection, tool), known.get(connection)) {
            (ToolLookup::UnknownConnection { .. }, Some(Some(pinned))) => {
                let of_settings = self.of_settings.iter().find(|it| it.name == connection);
                let allows = |tool: &str| of_settings.is_none_or(|it| it.definition.allows(tool));
                match pinned.tools.get(tool).filter(|tool| allows(&tool.name)) {
                    Some(tool) => ToolLookup::Known(tool.schemas()),
                    None => ToolLookup::UnknownTool {
                        known: pinned.tools.keys().filter(|name| allows(name)).cloned().collect(),
                    },
                }
            }
            (ToolLookup::UnknownConnection { .. }, Some(None)) => {
                let why = format!(
                    "its tools have not been read yet; a server does that, or `rival connections test {connection}`"
                );
                ToolLookup::Unavailable { why }
            }
            (ToolLookup::UnknownConnection { known: others }, None) => {
                let known = others.into_iter().chain(known.keys().cloned());
                ToolLookup::UnknownConnection { known: known.collect() }
            }
            (found, _) => found,
        }
    }
}

/// A desk, as server and engine share it.
pub(crate) type SharedDesk = Arc<ConnectionDesk>;
