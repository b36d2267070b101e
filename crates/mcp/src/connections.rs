//! All connections of an engine.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use rival_core::Value;
use rival_document::{ToolCatalog, ToolLookup};
use rival_engine::{Engine, WeakEngine};
use rmcp::model::RequestMetaObject;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use crate::code;
use crate::connection::{Connection, ConnectionHealth, ConnectionOrigin};
use crate::definition::{ConnectionDefinition, DefinitionError, definition_problems};
use crate::limits::ConnectionLimits;
use crate::result::ToolFailure;
use crate::tools::{ConnectionTool, PinnedTools};

/// The connections of an engine: MCP servers that are supervised, and whose tools its steps call. Cheap to clone.
#[derive(Clone)]
pub struct Connections(Arc<SharedConnections>);

/// What the clones share.
struct SharedConnections {
    by_name: RwLock<BTreeMap<String, SupervisedConnection>>,
    listeners: Mutex<Vec<Arc<ChangeListener>>>,
    engine: OnceLock<WeakEngine>,
}

type ChangeListener = dyn Fn(&str, Option<&PinnedTools>) + Send + Sync;

#[derive(Clone)]
struct SupervisedConnection {
    connection: Arc<Connection>,
    task: Arc<Mutex<Option<JoinHandle<()>>>>,
}

/// A connection as it is now.
#[derive(Clone, Debug)]
pub struct ConnectionView {
    /// Its name.
    pub name: String,
    /// What was said of it.
    pub definition: ConnectionDefinition,
    /// By whom.
    pub origin: ConnectionOrigin,
    /// How it is doing.
    pub health: ConnectionHealth,
    /// Its tools, if they are known; also those that may not be called.
    pub tools: Option<Arc<PinnedTools>>,
    /// How many calls are under way.
    pub calls: usize,
    /// How many calls wait for their place.
    pub waiting: usize,
    /// What an operator should look at.
    pub problems: Vec<String>,
}

impl ConnectionView {
    /// The tools that may be called.
    pub fn allowed_tools(&self) -> Vec<&ConnectionTool> {
        let tools = self.tools.iter().flat_map(|pinned| pinned.tools.values());
        tools.filter(|tool| self.definition.allows(&tool.name)).collect()
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").field("names", &self.names()).finish()
    }
}

impl Default for Connections {
    fn default() -> Self {
        Self::new()
    }
}

impl Connections {
    /// No connections yet.
    pub fn new() -> Self {
        Self(Arc::new(SharedConnections {
            by_name: RwLock::default(),
            listeners: Mutex::default(),
            engine: OnceLock::new(),
        }))
    }

    /// Tells this engine when connections come and go: nodes that are blocked because theirs was missing are looked at
    /// again.
    pub fn attach(&self, engine: &Engine) {
        _ = self.0.engine.set(engine.downgrade());
    }

    /// Calls this whenever a connection comes or goes, or its tools are known or change, with its name and its tools.
    pub fn on_change(&self, listener: impl Fn(&str, Option<&PinnedTools>) + Send + Sync + 'static) {
        self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(listener));
    }

    /// Adds a connection, or puts it in the place of the one that is called so. It is made at once, in the background.
    ///
    /// # Errors
    /// Everything that is wrong with the name or the definition.
    pub fn define(
        &self,
        name: &str,
        definition: ConnectionDefinition,
        origin: ConnectionOrigin,
        limits: ConnectionLimits,
        known: Option<PinnedTools>,
    ) -> Result<(), Vec<DefinitionError>> {
        let problems = definition_problems(name, &definition);
        if !problems.is_empty() {
            return Err(problems);
        }
        let before = self.find(name);
        if before
            .as_ref()
            .is_some_and(|it| it.connection.definition == definition && it.connection.origin == origin)
        {
            return Ok(());
        }
        let same = before.as_ref().filter(|it| is_same_server(&it.connection.definition, &definition));
        let known = known.map(Arc::new).or_else(|| same?.connection.tools());
        let connection = Arc::new(Connection::new(name, definition, origin, limits, known));
        let shared = Arc::downgrade(&self.0);
        let listener = Arc::new(move |name: &str, tools: &PinnedTools| {
            if let Some(shared) = shared.upgrade() {
                shared.tell(name, Some(tools));
            }
        });
        let task = tokio::spawn(Arc::clone(&connection).supervise(listener));
        let task = Arc::new(Mutex::new(Some(task)));
        let supervised = SupervisedConnection { connection: Arc::clone(&connection), task };
        if let Some(replaced) = self.write().insert(name.to_owned(), supervised) {
            replaced.connection.stop.cancel();
        }
        self.0.tell(name, connection.tools().as_deref());
        self.changed();
        Ok(())
    }

    /// Removes a connection. Calls that are under way are told, and its process or session ends in the background. `false`:
    /// there was none.
    pub fn remove(&self, name: &str) -> bool {
        let Some(removed) = self.write().remove(name) else { return false };
        removed.connection.stop.cancel();
        self.0.tell(name, None);
        self.changed();
        true
    }

    /// Ends all connections, and waits until their processes are gone, for as long as this.
    pub async fn shutdown(&self, grace: Duration) {
        // They may hold those who hold this.
        self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let all: Vec<SupervisedConnection> = std::mem::take(&mut *self.write()).into_values().collect();
        all.iter().for_each(|it| it.connection.stop.cancel());
        let deadline = Instant::now() + grace;
        for SupervisedConnection { connection, task } in all {
            let task = task.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(mut task) = task else { continue };
            if timeout_at(deadline, &mut task).await.is_err() {
                tracing::warn!(
                    connection = connection.name,
                    "the connection did not end in time, and is cut short"
                );
                task.abort();
                _ = task.await;
            }
        }
    }

    /// Their names.
    pub fn names(&self) -> Vec<String> {
        self.read().keys().cloned().collect()
    }

    /// All connections as they are now.
    pub fn list(&self) -> Vec<ConnectionView> {
        self.read().values().map(|it| view(&it.connection)).collect()
    }

    /// A connection as it is now.
    pub fn get(&self, name: &str) -> Option<ConnectionView> {
        self.find(name).map(|it| view(&it.connection))
    }

    /// Waits until a connection has been made or has failed to be, and gives it as it is then.
    pub async fn settled(&self, name: &str) -> Option<ConnectionView> {
        let found = self.find(name)?;
        found.connection.settled().await;
        Some(view(&found.connection))
    }

    /// The same, after its server was asked for a sign of life.
    pub async fn tested(&self, name: &str) -> Option<ConnectionView> {
        let found = self.find(name)?;
        found.connection.settled().await;
        found.connection.probe().await;
        found.connection.settled().await;
        Some(view(&found.connection))
    }

    /// Calls a tool by hand.
    ///
    /// # Errors
    /// As a step that calls it would fail.
    pub async fn call(&self, name: &str, tool: &str, input: &Value) -> Result<Value, ToolFailure> {
        self.call_with(name, tool, input, RequestMetaObject::new()).await
    }

    pub(crate) async fn call_with(
        &self,
        name: &str,
        tool: &str,
        input: &Value,
        meta: RequestMetaObject,
    ) -> Result<Value, ToolFailure> {
        let found = self.find(name).ok_or_else(|| unknown(name, &self.names()))?;
        let arguments = arguments(tool, input)?;
        found.connection.call(tool, arguments, meta).await
    }

    fn find(&self, name: &str) -> Option<SupervisedConnection> {
        self.read().get(name).cloned()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.read().contains_key(name)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, BTreeMap<String, SupervisedConnection>> {
        self.0.by_name.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<String, SupervisedConnection>> {
        self.0.by_name.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Functions are bound again.
    fn changed(&self) {
        let Some(engine) = self.0.engine.get().and_then(WeakEngine::upgrade) else { return };
        tokio::spawn(async move {
            if let Err(error) = engine.builtins_changed().await {
                tracing::warn!(%error, "runs that wait for a connection could not be looked for");
            }
        });
    }
}

impl SharedConnections {
    fn tell(&self, name: &str, tools: Option<&PinnedTools>) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        listeners.iter().for_each(|listener| listener(name, tools));
    }
}

impl Drop for SharedConnections {
    fn drop(&mut self) {
        let by_name = self.by_name.get_mut().unwrap_or_else(PoisonError::into_inner);
        by_name.values().for_each(|it| it.connection.stop.cancel());
    }
}

fn view(connection: &Connection) -> ConnectionView {
    let (calls, waiting) = connection.calls();
    ConnectionView {
        name: connection.name.clone(),
        definition: connection.definition.clone(),
        origin: connection.origin,
        health: connection.health(),
        tools: connection.tools(),
        calls,
        waiting,
        problems: connection.problems(),
    }
}

/// Whether both definitions mean the same server, so that what is known of its tools holds.
fn is_same_server(one: &ConnectionDefinition, other: &ConnectionDefinition) -> bool {
    (&one.command, &one.args, &one.url) == (&other.command, &other.args, &other.url)
}

fn unknown(name: &str, known: &[String]) -> ToolFailure {
    let known = if known.is_empty() {
        "there are none".to_owned()
    } else {
        format!("there are {}", known.join(", "))
    };
    ToolFailure::new(code::UNKNOWN_CONNECTION, format!("there is no connection `{name}`: {known}")).last()
}

/// The arguments of a call: an object, which may be left out.
fn arguments<'a>(tool: &str, input: &'a Value) -> Result<&'a str, ToolFailure> {
    match input.as_json() {
        "null" => Ok("{}"),
        json if json.starts_with('{') => Ok(json),
        json => {
            let shown: String = json.chars().take(100).collect();
            let message = format!("tool `{tool}` takes an object, not {shown}");
            Err(ToolFailure::new(rival_core::failure::code::INVALID_INPUT, message).last())
        }
    }
}

impl ToolCatalog for Connections {
    fn tool(&self, connection: &str, tool: &str) -> ToolLookup {
        let Some(view) = self.get(connection) else {
            return ToolLookup::UnknownConnection { known: self.names() };
        };
        let Some(pinned) = &view.tools else {
            let why = match view.health {
                ConnectionHealth::Failed { why, .. } => why,
                ConnectionHealth::Connecting | ConnectionHealth::Ready(_) => "it is being made".to_owned(),
                ConnectionHealth::Stopped => "it has been stopped".to_owned(),
            };
            return ToolLookup::Unavailable { why };
        };
        match pinned.tools.get(tool).filter(|_| view.definition.allows(tool)) {
            Some(tool) => ToolLookup::Known(tool.schemas()),
            None => ToolLookup::UnknownTool {
                known: view.allowed_tools().into_iter().map(|tool| tool.name.clone()).collect(),
            },
        }
    }
}
