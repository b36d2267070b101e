//! One connection under supervision: made, watched, and made again.
//!
//! ```text
//! connecting --> ready --> (the server ends, its session is gone, it gives no sign of life) --> failed --.
//!      ^   '--> failed                                                                                  |
//!      '--------------------------------- after a while that doubles ----------------------------------'
//! ```

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rival_core::Value;
use rmcp::model::RequestMetaObject;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::client::{
    self, CallFault, ClientSignals, ClientTask, ConnectedClient, LiveClient, ServerIdentity,
};
use crate::code;
use crate::definition::ConnectionDefinition;
use crate::judge::OutputJudge;
use crate::limits::ConnectionLimits;
use crate::redact::SecretRedactor;
use crate::result::{self, ToolFailure};
use crate::secret;
use crate::tools::{self, PinnedTools};

/// A server that was there for so long is made again at once when it goes.
const STABLE_AFTER: Duration = Duration::from_secs(10);
/// How long a call waits for its connection to be made, unless the connection's timeout is longer.
const MADE_WITHIN: Duration = Duration::from_secs(30);
/// Servers are asked for their tools at most this often, whatever they say of changes.
const TOOLS_PERIOD: Duration = Duration::from_millis(500);
/// How long a server may take for a page of its tools.
const TOOLS_TIMEOUT: Duration = Duration::from_secs(30);
/// Of so many problems each is kept.
const PROBLEMS_MAX: usize = 20;

/// Who defined a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionOrigin {
    /// The operator, in the settings.
    Settings,
    /// An admin, over the API.
    Api,
}

/// How a connection is doing.
#[derive(Clone, Debug)]
pub enum ConnectionHealth {
    /// It is being made.
    Connecting,
    /// Tools can be called.
    Ready(Option<ServerIdentity>),
    /// It could not be made, or was lost.
    Failed {
        /// Why, without secrets.
        why: String,
        /// When it is tried again.
        next_try_at: SystemTime,
    },
    /// It is not made again.
    Stopped,
}

#[derive(Clone)]
enum ConnectionState {
    Connecting { attempt: u64 },
    Ready { client: LiveClient, identity: Option<ServerIdentity> },
    Failed { attempt: u64, why: String, next_try: Instant, next_try_at: SystemTime },
    Stopped,
}

/// Hears of changes of the tools of a connection.
pub(crate) type ToolsListener = dyn Fn(&str, &PinnedTools) + Send + Sync;

/// A connection, as its callers and its supervisor share it.
pub(crate) struct Connection {
    pub(crate) name: String,
    pub(crate) definition: ConnectionDefinition,
    pub(crate) origin: ConnectionOrigin,
    limits: ConnectionLimits,
    state: watch::Sender<ConnectionState>,
    tools: Mutex<Option<Arc<PinnedTools>>>,
    problems: Mutex<Vec<String>>,
    redactor: Mutex<SecretRedactor>,
    judge: OutputJudge,
    permits: Semaphore,
    waiting: AtomicUsize,
    signals: ClientSignals,
    /// The newest client that callers found to be of no use.
    useless: AtomicU64,
    useless_news: Notify,
    pub(crate) stop: CancellationToken,
}

/// Why a client is not used any more.
enum ClientEnd {
    Stop,
    Lost(String),
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    pub(crate) fn new(
        name: &str,
        definition: ConnectionDefinition,
        origin: ConnectionOrigin,
        limits: ConnectionLimits,
        known: Option<Arc<PinnedTools>>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            permits: Semaphore::new(definition.concurrency()),
            definition,
            origin,
            limits,
            state: watch::Sender::new(ConnectionState::Connecting { attempt: 1 }),
            tools: Mutex::new(known),
            problems: Mutex::default(),
            redactor: Mutex::default(),
            judge: OutputJudge::default(),
            waiting: AtomicUsize::new(0),
            signals: ClientSignals::default(),
            useless: AtomicU64::new(0),
            useless_news: Notify::new(),
            stop: CancellationToken::new(),
        }
    }

    /// Its tools, as far as they are known.
    pub(crate) fn tools(&self) -> Option<Arc<PinnedTools>> {
        locked(&self.tools).clone()
    }

    /// What an operator should look at.
    pub(crate) fn problems(&self) -> Vec<String> {
        let tools = self.tools();
        let unusable = tools.iter().flat_map(|tools| tools.problems.iter().cloned());
        locked(&self.problems).iter().cloned().chain(unusable).collect()
    }

    fn problem(&self, problem: String) {
        let mut problems = locked(&self.problems);
        if !problems.contains(&problem) {
            if problems.len() == PROBLEMS_MAX {
                problems.remove(0);
            }
            problems.push(problem);
        }
    }

    pub(crate) fn redactor(&self) -> SecretRedactor {
        locked(&self.redactor).clone()
    }

    pub(crate) fn health(&self) -> ConnectionHealth {
        match &*self.state.borrow() {
            ConnectionState::Connecting { .. } => ConnectionHealth::Connecting,
            ConnectionState::Ready { identity, .. } => ConnectionHealth::Ready(identity.clone()),
            ConnectionState::Failed { why, next_try_at, .. } => {
                ConnectionHealth::Failed { why: why.clone(), next_try_at: *next_try_at }
            }
            ConnectionState::Stopped => ConnectionHealth::Stopped,
        }
    }

    /// How many calls are under way, and how many wait to be.
    pub(crate) fn calls(&self) -> (usize, usize) {
        let free = self.permits.available_permits();
        (self.definition.concurrency().saturating_sub(free), self.waiting.load(Ordering::Relaxed))
    }

    /// Asks the server for a sign of life, if the connection is ready. Without one it is made again.
    pub(crate) async fn probe(&self) {
        let now = self.state.borrow().clone();
        if let ConnectionState::Ready { client, .. } = now
            && let Err(fault) = client.ping(self.limits.ping_timeout).await
        {
            self.doubt(&client, &fault);
            let mut state = self.state.subscribe();
            let gone = state.wait_for(|state| !matches!(state, ConnectionState::Ready { client: now, .. } if now.number == client.number));
            _ = tokio::time::timeout(self.limits.ping_timeout * 2, gone).await;
        }
    }

    /// Waits until the connection has been made, or has failed to be.
    pub(crate) async fn settled(&self) -> ConnectionHealth {
        let mut state = self.state.subscribe();
        _ = state.wait_for(|state| !matches!(state, ConnectionState::Connecting { .. })).await;
        self.health()
    }
}

// What callers do.
impl Connection {
    /// Calls a tool. Waits for one of the places that calls have, and until the connection is there.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: &str,
        meta: RequestMetaObject,
    ) -> Result<Value, ToolFailure> {
        self.check(tool)?;
        let _permit = self.permit().await?;
        let patience = self.definition.timeout();
        let mut after = 0;
        loop {
            let client = self.client_after(after, patience.max(MADE_WITHIN)).await?;
            let answer = client.call_tool(tool, arguments, meta.clone(), patience).await;
            let fault = match answer {
                Ok(raw) => return self.output(tool, &raw),
                Err(fault) => fault,
            };
            self.doubt(&client, &fault);
            // A server that knows nothing of a call can be asked again: once, by a new client.
            if after > 0 || !matches!(fault, CallFault::NotSent(_)) {
                return Err(result::failure(&self.name, tool, &fault, &self.redactor()));
            }
            after = client.number;
        }
    }

    /// The output of a call, if it is what the tool declares.
    fn output(&self, tool: &str, raw: &str) -> Result<Value, ToolFailure> {
        let output = result::output(tool, raw, &self.redactor())?;
        if let Some(tools) = self.tools() {
            self.judge.check(&tools, tool, &output)?;
        }
        Ok(output)
    }

    async fn permit(&self) -> Result<tokio::sync::SemaphorePermit<'_>, ToolFailure> {
        let _waiting = Waiting::new(&self.waiting);
        self.permits.acquire().await.map_err(|_| self.unavailable("is being removed"))
    }

    /// Whether a tool may be called, and is there as far as that is known.
    fn check(&self, tool: &str) -> Result<(), ToolFailure> {
        let name = &self.name;
        if !self.definition.allows(tool) {
            let message =
                format!("connection `{name}` does not allow tool `{tool}`: `tools` lists those that it does");
            return Err(ToolFailure::new(code::UNKNOWN_TOOL, message).last());
        }
        match self.tools() {
            Some(known) if !known.tools.contains_key(tool) => {
                let message = format!("connection `{name}` has no tool `{tool}`");
                Err(ToolFailure::new(code::UNKNOWN_TOOL, message).last())
            }
            _ => Ok(()),
        }
    }

    fn unavailable(&self, why: &str) -> ToolFailure {
        ToolFailure::new(code::CONNECTION_FAILED, format!("connection `{}` {why}", self.name))
    }

    /// The client, if its number is greater than this. While the connection is being made it is waited for, and one attempt
    /// that is due is waited out.
    async fn client_after(&self, number: u64, patience: Duration) -> Result<LiveClient, ToolFailure> {
        let deadline = Instant::now() + patience;
        let mut state = self.state.subscribe();
        let mut failed_before = None;
        loop {
            let now = state.borrow_and_update().clone();
            match now {
                ConnectionState::Ready { client, .. } if client.number > number => return Ok(client),
                ConnectionState::Ready { client, .. } => _ = failed_before.get_or_insert(client.number),
                ConnectionState::Connecting { attempt } => _ = failed_before.get_or_insert(attempt - 1),
                ConnectionState::Failed { attempt, why, next_try, .. } => {
                    if attempt > *failed_before.get_or_insert(attempt) || next_try > deadline {
                        return Err(self.unavailable(&format!("is not there: {why}")));
                    }
                }
                ConnectionState::Stopped => return Err(self.unavailable("has been stopped")),
            }
            match timeout_at(deadline, state.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(self.unavailable("has been stopped")),
                Err(_) => return Err(self.unavailable(&format!("was not there within {patience:?}"))),
            }
        }
    }

    /// Makes the supervisor look at a client that failed.
    fn doubt(&self, client: &LiveClient, fault: &CallFault) {
        match fault {
            CallFault::NotSent(_) => {
                self.useless.fetch_max(client.number, Ordering::AcqRel);
                self.useless_news.notify_one();
            }
            CallFault::Refused(_) | CallFault::Lost(_) | CallFault::TimedOut => {
                self.signals.suspicion.notify_one();
            }
            CallFault::Answered(_) | CallFault::TooLarge(_) => {}
        }
    }
}

/// Counts a call that waits for its place.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

// What the supervisor does.
impl Connection {
    /// Makes the connection, again and again, until it is stopped.
    pub(crate) async fn supervise(self: Arc<Self>, listener: Arc<ToolsListener>) {
        let mut delay = self.limits.backoff_first;
        let mut attempt = 0;
        while !self.stop.is_cancelled() {
            attempt += 1;
            self.state.send_replace(ConnectionState::Connecting { attempt });
            let made = tokio::select! {
                () = self.stop.cancelled() => break,
                made = self.make(attempt, &*listener) => made,
            };
            let why = match made {
                Err(why) => why,
                Ok(ConnectedClient { client, mut task, identity }) => {
                    let since = Instant::now();
                    tracing::info!(connection = self.name, "the connection is ready");
                    self.state.send_replace(ConnectionState::Ready { client: client.clone(), identity });
                    let end = self.watch(&client, &mut task, &*listener).await;
                    let ClientEnd::Lost(why) = end else {
                        self.state.send_replace(ConnectionState::Stopped);
                        task.close().await;
                        break;
                    };
                    // Calls that come now wait for the next one.
                    self.state.send_replace(ConnectionState::Connecting { attempt: attempt + 1 });
                    let said = task.close().await;
                    if since.elapsed() >= STABLE_AFTER {
                        delay = self.limits.backoff_first;
                    }
                    said.map_or_else(|| why.clone(), |said| format!("{why}; {said}"))
                }
            };
            self.fail(attempt, &why, delay);
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(delay) => {}
            }
            delay = (delay * 2).min(self.limits.backoff_max);
        }
        self.permits.close();
        self.state.send_replace(ConnectionState::Stopped);
    }

    fn fail(&self, attempt: u64, why: &str, delay: Duration) {
        let why = result::cut(&self.redactor().text(why));
        tracing::warn!(connection = self.name, ?delay, "the connection failed, and is made again: {why}");
        let (next_try, next_try_at) = (Instant::now() + delay, SystemTime::now() + delay);
        self.state.send_replace(ConnectionState::Failed { attempt, why, next_try, next_try_at });
    }

    /// Makes a client that has shaken hands and knows its tools.
    async fn make(&self, attempt: u64, listener: &ToolsListener) -> Result<ConnectedClient, String> {
        let resolved = secret::resolve(&self.definition).map_err(|error| error.to_string())?;
        *locked(&self.redactor) = resolved.redactor.clone();
        for field in &resolved.too_short {
            self.problem(format!("the secret of `{field}` is too short to be kept out of results and logs"));
        }
        let signals = self.signals.clone();
        let made =
            client::connect(&self.name, &self.definition, &resolved, &self.limits, signals, attempt).await?;
        match self.fetch_tools(&made.client, listener).await {
            Ok(()) => Ok(made),
            Err(why) => {
                let said = made.task.close().await;
                Err(said.map_or_else(|| why.clone(), |said| format!("{why}; {said}")))
            }
        }
    }

    /// Reads the tools, and tells if they are others than those that were known.
    async fn fetch_tools(&self, client: &LiveClient, listener: &ToolsListener) -> Result<(), String> {
        let tools = Arc::new(tools::fetch(client, &self.redactor(), TOOLS_TIMEOUT).await?);
        let before = locked(&self.tools).replace(Arc::clone(&tools));
        let change = match &before {
            None => {
                listener(&self.name, &tools);
                return Ok(());
            }
            Some(before) => tools.change_since(before),
        };
        if let Some(change) = change {
            tracing::warn!(connection = self.name, "the tools of the connection have changed: {change}");
            self.problem(format!("its tools have changed since they were first seen ({change})"));
            listener(&self.name, &tools);
        }
        Ok(())
    }

    /// Looks after a client until it is of no use.
    async fn watch(&self, client: &LiveClient, task: &mut ClientTask, listener: &ToolsListener) -> ClientEnd {
        loop {
            if self.useless.load(Ordering::Acquire) >= client.number {
                return ClientEnd::Lost("the server takes no more calls in this session".to_owned());
            }
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return ClientEnd::Stop,
                () = task.ended() => return ClientEnd::Lost("the server went away".to_owned()),
                () = self.useless_news.notified() => {}
                () = self.signals.suspicion.notified() => {
                    let ping = client.ping(self.limits.ping_timeout);
                    match self.stop.run_until_cancelled(ping).await {
                        None => return ClientEnd::Stop,
                        Some(Ok(())) => {}
                        Some(Err(fault)) => return ClientEnd::Lost(no_sign(&fault)),
                    }
                }
                () = self.signals.tools_changed.notified() => {
                    let fetched = self.stop.run_until_cancelled(self.refetch_tools(client, listener)).await;
                    if fetched.is_none() {
                        return ClientEnd::Stop;
                    }
                }
            }
        }
    }

    /// Reads the tools again, because the server says that they have changed.
    async fn refetch_tools(&self, client: &LiveClient, listener: &ToolsListener) {
        if let Err(why) = self.fetch_tools(client, listener).await {
            let why = result::cut(&self.redactor().text(&why));
            tracing::warn!(connection = self.name, "{why}");
            self.problem(why);
        }
        tokio::time::sleep(TOOLS_PERIOD).await;
    }
}

fn no_sign(fault: &CallFault) -> String {
    match fault {
        CallFault::TimedOut => "the server gives no sign of life".to_owned(),
        CallFault::NotSent(why)
        | CallFault::Refused(why)
        | CallFault::Lost(why)
        | CallFault::TooLarge(why) => why.clone(),
        CallFault::Answered(error) => error.message.to_string(),
    }
}
