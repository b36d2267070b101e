//! A client of one server, from the handshake to the end of its session or process.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientCapabilities, ClientConfig, ClientRequest, ErrorData, Implementation, ListToolsRequest,
    PaginatedRequestParams, PingRequest, RequestId, RequestMetaObject, ServerResult,
};
use rmcp::service::{
    NotificationContext, Peer, PeerRequestOptions, QuitReason, RequestHandle, RoleClient, RunningService,
    RunningServiceCancellationToken, ServiceError, serve_client,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::SseRetryPolicy;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::AbortOnDropHandle;

use crate::definition::ConnectionDefinition;
use crate::http::{HttpFault, SessionClient};
use crate::limits::ConnectionLimits;
use crate::process::{self, ProcessEnd};
use crate::secret::ResolvedDefinition;
use crate::stdio::PipeTransport;
use crate::wire;

/// How long the end of a session may take.
const CLOSE_GRACE: Duration = Duration::from_secs(6);

/// What a client tells those who supervise it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientSignals {
    /// The server says that its tools are others now.
    pub(crate) tools_changed: Arc<Notify>,
    /// Something makes it doubtful that the server still answers.
    pub(crate) suspicion: Arc<Notify>,
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallFault {
    /// The server knows nothing of it: it can be sent again.
    NotSent(String),
    /// The server refused it, and did nothing.
    Refused(String),
    /// The server went away: what it did is not known.
    Lost(String),
    /// There was no answer in time: what it did is not known.
    TimedOut,
    /// The server answered that it is wrong, or that it failed.
    Answered(ErrorData),
    /// The answer is too large to be read.
    TooLarge(String),
}

/// The sending half of a client. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct LiveClient {
    peer: Peer<RoleClient>,
    /// Which of the connection's clients this is.
    pub(crate) number: u64,
}

/// The half of a client that is waited for.
pub(crate) struct ClientTask {
    ended: AbortOnDropHandle<()>,
    stop: Option<RunningServiceCancellationToken>,
    process: Option<ProcessEnd>,
}

impl ClientTask {
    /// Waits until the server has gone, or has closed its output.
    pub(crate) async fn ended(&mut self) {
        _ = (&mut self.ended).await;
    }

    /// Ends it, and gives what the server has to say of its end.
    pub(crate) async fn close(mut self) -> Option<String> {
        if let Some(stop) = self.stop.take() {
            stop.cancel();
        }
        if !self.ended.is_finished() {
            _ = timeout(CLOSE_GRACE, &mut self.ended).await;
        }
        let process = self.process?;
        let lines = Arc::clone(&process.lines);
        let status = process.finish().await;
        let said = lines.last().map(|line| format!(": {line}")).unwrap_or_default();
        status.map(|status| format!("it ended with {status}{said}"))
    }
}

/// Hears what a server says by itself.
struct ServerListener {
    signals: ClientSignals,
}

impl ClientHandler for ServerListener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("rival", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.signals.tools_changed.notify_one();
    }
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerIdentity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of the protocol that both speak.
    pub protocol: String,
}

/// A client that has shaken hands.
pub(crate) struct ConnectedClient {
    pub(crate) client: LiveClient,
    pub(crate) task: ClientTask,
    pub(crate) identity: Option<ServerIdentity>,
}

/// Starts or reaches the server of a definition. `Err`: why that did not work.
pub(crate) async fn connect(
    name: &str,
    definition: &ConnectionDefinition,
    resolved: &ResolvedDefinition,
    limits: &ConnectionLimits,
    signals: ClientSignals,
    number: u64,
) -> Result<ConnectedClient, String> {
    let deadline = Instant::now() + limits.connect_timeout;
    match &definition.url {
        None => {
            let command = definition.command.as_deref().unwrap_or_default();
            let started = process::start(name, definition, resolved);
            let started = started.map_err(|error| format!("`{command}` cannot be started: {error}"))?;
            let pipes = PipeTransport::new(name, started.stdin, started.stdout, limits.answer_bytes_max);
            let served = timeout_at(deadline, serve_client(ServerListener { signals }, pipes)).await;
            match handshake(served.map(|served| served.map_err(|error| error.to_string())), limits) {
                Ok(service) => Ok(connected(service, Some(started.end), number)),
                Err(why) => {
                    let task = ClientTask { ended: nothing(), stop: None, process: Some(started.end) };
                    let end = task.close().await;
                    Err(end.map_or_else(|| why.clone(), |end| format!("{why}; {end}")))
                }
            }
        }
        Some(url) => {
            let policy = limits.outgoing.clone();
            let suspicion = Arc::clone(&signals.suspicion);
            let http = SessionClient::new(url, resolved, policy, limits.answer_bytes_max, suspicion)?;
            let transport = StreamableHttpClientTransport::with_client(http, http_config(definition));
            let served = timeout_at(deadline, serve_client(ServerListener { signals }, transport)).await;
            let served = served.map(|served| served.map_err(|error| cause(&error)));
            handshake(served, limits).map(|service| connected(service, None, number))
        }
    }
}

fn nothing() -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async {}))
}

type ServedClient = RunningService<RoleClient, ServerListener>;

fn handshake(
    served: Result<Result<ServedClient, String>, tokio::time::error::Elapsed>,
    limits: &ConnectionLimits,
) -> Result<ServedClient, String> {
    match served {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(error)) => Err(format!("the handshake failed: {error}")),
        Err(_) => Err(format!("the server did not answer within {:?}", limits.connect_timeout)),
    }
}

fn connected(service: ServedClient, process: Option<ProcessEnd>, number: u64) -> ConnectedClient {
    let peer = service.peer().clone();
    let identity = peer.peer_info().map(|info| ServerIdentity {
        name: info.server_info.as_ref().map(|server| server.name.clone()).unwrap_or_default(),
        version: info.server_info.as_ref().map(|server| server.version.clone()).unwrap_or_default(),
        protocol: info.protocol_version.to_string(),
    });
    let stop = Some(service.cancellation_token());
    let ended = tokio::spawn(async move {
        if let Ok(QuitReason::JoinError(error)) = service.waiting().await {
            tracing::warn!(%error, "the client of a connection ended by a bug");
        }
    });
    let task = ClientTask { ended: AbortOnDropHandle::new(ended), stop, process };
    ConnectedClient { client: LiveClient { peer, number }, task, identity }
}

fn http_config(definition: &ConnectionDefinition) -> StreamableHttpClientTransportConfig {
    let mut config =
        StreamableHttpClientTransportConfig::with_uri(definition.url.as_deref().unwrap_or_default());
    // The limit of the connection is kept before this; the requests that list tools or ask for a sign of life come on top.
    config = config.max_concurrent_requests(definition.concurrency() + 4);
    // A session that is gone shows that the server was started again: its tools may be others now.
    config.reinit_on_expired_session = false;
    config.allow_stateless = true;
    config.retry_config = Arc::new(FewRetries);
    config
}

/// How often a stream that broke off is opened again. After that the connection is made anew.
#[derive(Debug)]
struct FewRetries;

impl SseRetryPolicy for FewRetries {
    fn retry(&self, times: usize) -> Option<Duration> {
        const TIMES_MAX: usize = 3;
        let doublings = u32::try_from(times).unwrap_or(u32::MAX);
        (times < TIMES_MAX).then(|| Duration::from_millis(200) * 2_u32.saturating_pow(doublings))
    }
}

/// What a chain of errors comes from.
fn cause(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}

impl LiveClient {
    /// Calls a tool. The result is JSON as the server wrote it. If the future is dropped, the server is told.
    pub(crate) async fn call_tool(
        &self,
        tool: &str,
        arguments: &str,
        meta: RequestMetaObject,
        patience: Duration,
    ) -> Result<String, CallFault> {
        let params =
            CallToolRequestParams::new(tool.to_owned()).with_arguments(wire::raw_arguments(arguments));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        self.ask(request, PeerRequestOptions::no_options().with_meta(meta), patience).await
    }

    /// A page of the server's tools.
    pub(crate) async fn list_tools(
        &self,
        cursor: Option<String>,
        patience: Duration,
    ) -> Result<String, CallFault> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        self.ask(request, PeerRequestOptions::no_options(), patience).await
    }

    /// Whether the server gives a sign of life.
    pub(crate) async fn ping(&self, patience: Duration) -> Result<(), CallFault> {
        let request = ClientRequest::PingRequest(PingRequest::default());
        match self.ask(request, PeerRequestOptions::no_options(), patience).await {
            // A server that does not know what a ping is has answered, too.
            Ok(_) | Err(CallFault::Answered(_)) => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    async fn ask(
        &self,
        request: ClientRequest,
        options: PeerRequestOptions,
        patience: Duration,
    ) -> Result<String, CallFault> {
        let deadline = Instant::now() + patience;
        let sent = timeout_at(deadline, self.peer.send_request_with_option(request, options)).await;
        let handle = match sent {
            Ok(Ok(handle)) => handle,
            // Nothing was taken from the queue that it was to be put into.
            Ok(Err(error)) => return Err(CallFault::NotSent(error.to_string())),
            Err(_) => return Err(CallFault::NotSent("the connection takes no more requests".to_owned())),
        };
        let RequestHandle { rx, id, .. } = handle;
        let mut cancel = CancelOnDrop { of: Some((self.peer.clone(), id)) };
        let answer = timeout_at(deadline, rx).await;
        if answer.is_ok() {
            cancel.of = None;
        }
        match answer {
            Ok(Ok(Ok(ServerResult::CustomResult(result)))) => match result.0 {
                serde_json::Value::String(raw) => Ok(raw),
                other => Ok(other.to_string()),
            },
            Ok(Ok(Ok(_))) => Err(CallFault::Lost("the answer was read by other means".to_owned())),
            Ok(Ok(Err(error))) => Err(fault_of(error)),
            Ok(Err(_)) => Err(CallFault::Lost("the server went away".to_owned())),
            Err(_) => Err(CallFault::TimedOut),
        }
    }
}

/// Tells the server that the answer to a request is of no use any more.
struct CancelOnDrop {
    of: Option<(Peer<RoleClient>, RequestId)>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some((peer, id)) = self.of.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let params = CancelledNotificationParam::new(Some(id), Some("the call has ended".to_owned()));
        runtime.spawn(async move {
            _ = peer.send_notification(CancelledNotification::new(params).into()).await;
        });
    }
}

fn fault_of(error: ServiceError) -> CallFault {
    match error {
        ServiceError::McpError(error) if error.code == wire::TOO_LARGE => {
            CallFault::TooLarge(error.message.into_owned())
        }
        ServiceError::McpError(error) => CallFault::Answered(error),
        ServiceError::TransportSend(error) => unsent(&*error.error),
        ServiceError::TransportClosed => CallFault::Lost("the server went away".to_owned()),
        other => CallFault::Lost(other.to_string()),
    }
}

/// What became of a request that could not be sent as it should.
fn unsent(error: &(dyn Error + Send + Sync + 'static)) -> CallFault {
    // No whole line came to the server.
    if error.downcast_ref::<io::Error>().is_some() {
        return CallFault::NotSent(error.to_string());
    }
    match error.downcast_ref::<StreamableHttpError<HttpFault>>() {
        Some(StreamableHttpError::Client(fault)) => match fault {
            HttpFault::NotSent(why) => CallFault::NotSent(why.clone()),
            HttpFault::SessionGone(_) => CallFault::NotSent(fault.to_string()),
            // What failed inside of a server, or behind it, may have happened.
            HttpFault::Refused(said) if said.starts_with('5') => CallFault::Lost(fault.to_string()),
            HttpFault::Refused(_) => CallFault::Refused(fault.to_string()),
            HttpFault::Broken(why) => CallFault::Lost(why.clone()),
            HttpFault::TooLarge(_) => CallFault::TooLarge(fault.to_string()),
        },
        Some(StreamableHttpError::TransportChannelClosed) => CallFault::NotSent(error.to_string()),
        _ => CallFault::Lost(error.to_string()),
    }
}
