//! The server on the streams of a process: one client, for as long as it holds them.

use std::sync::Arc;

use rmcp::service::{ServerInitializeError, ServiceExt};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::task::AbortOnDropHandle;

use crate::api::Api;
use crate::caller::ApiCaller;
use crate::changes::WorkflowChanges;
use crate::handler::RivalTools;

/// The longest message of a client: an input of the usual largest size, with what surrounds it.
const LINE_MAX_BYTES: usize = 24 << 20;

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
    let changes = WorkflowChanges::new();
    tools.changes = Some(Arc::clone(&changes));
    let transport = AsyncRwTransport::new_server(read, write).with_max_line_length(LINE_MAX_BYTES);
    let service = match tools.serve(transport).await {
        Ok(service) => service,
        // It only looked whether the program starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioError(Box::new(error))),
    };
    let (api, peer) = (Api(watched), service.peer().clone());
    let telling = async move { tokio::join!(changes.look(&api), changes.tell(&peer)) };
    let _telling = AbortOnDropHandle::new(tokio::spawn(telling));
    if let Err(error) = service.waiting().await {
        tracing::warn!(%error, "the connection ended");
    }
    Ok(())
}
