//! The server on the streams of a process: one client, for as long as it holds them.

use std::sync::Arc;
use std::time::Duration;

use http::header::IF_NONE_MATCH;
use http::{Method, StatusCode};
use rmcp::Peer;
use rmcp::service::{RoleServer, ServerInitializeError, ServiceExt};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use crate::api::Api;
use crate::caller::{ApiCaller, ApiRequest};
use crate::handler::RivalTools;

/// The longest message of a client: an input of the usual largest size, with what surrounds it.
const LINE_MAX_BYTES: usize = 24 << 20;
/// How often the server is asked whether there are other workflows than before.
const LOOK: Duration = Duration::from_secs(3);

/// Why a client could not be served.
#[derive(Debug)]
pub struct StdioError(Box<ServerInitializeError>);

impl std::fmt::Display for StdioError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the client does not speak MCP: {}", self.0)
    }
}

impl std::error::Error for StdioError {}

/// Serves one client until it closes its stream. It is told when there are other workflows than before, as `watched` knows
/// them.
///
/// # Errors
/// If the client does not begin as MCP has it.
pub async fn serve(
    mut tools: RivalTools,
    watched: Arc<dyn ApiCaller>,
    read: impl AsyncRead + Send + Unpin + 'static,
    write: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), StdioError> {
    let changes = Arc::new(Notify::new());
    tools.changes = Some(Arc::clone(&changes));
    let transport = AsyncRwTransport::new_server(read, write).with_max_line_length(LINE_MAX_BYTES);
    let service = match tools.serve(transport).await {
        Ok(service) => service,
        // It only looked whether the program starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError(Box::new(error))),
    };
    let telling = tell_of_workflows(Api(watched), service.peer().clone(), changes);
    let _telling = AbortOnDropHandle::new(tokio::spawn(telling));
    if let Err(error) = service.waiting().await {
        tracing::warn!(%error, "the connection ended");
    }
    Ok(())
}

/// Tells the client when the list of workflows is another. What it was when the client began is not told.
async fn tell_of_workflows(api: Api, peer: Peer<RoleServer>, changes: Arc<Notify>) {
    let mut known: Option<String> = None;
    loop {
        let now = etag_of_workflows(&api, known.clone()).await;
        if let Some(now) = now.filter(|now| known.as_ref() != Some(now)) {
            if known.is_some()
                && let Err(error) = peer.notify_tool_list_changed().await
            {
                tracing::debug!(%error, "the client is not told of workflows");
                return;
            }
            known = Some(now);
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = changes.notified() => {}
        }
    }
}

/// What the list of workflows is called now; `None` if it is what it was, or there is no answer.
async fn etag_of_workflows(api: &Api, known: Option<String>) -> Option<String> {
    let request = ApiRequest::new(Method::GET, "/api/workflows").header(IF_NONE_MATCH, known);
    let answer = api.send(request).await.ok()?;
    answer.etag.filter(|_| answer.status == StatusCode::OK)
}
