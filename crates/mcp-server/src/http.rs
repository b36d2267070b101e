//! The server over HTTP: one request at a time, without sessions.
//!
//! There is nothing between two requests that could be lost when the server starts again, be taken over by another client,
//! or fill up memory. Each request is judged by itself, with the token that came with it. What needs a session is left to
//! `rival mcp`: telling the client that there are other workflows, and cancelling by a message (here it closes the request).

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::handler::RivalTools;

/// Answers a request of an MCP client. Who may send it, from where, and how large it is, has been judged before.
pub async fn answer<B>(tools: RivalTools, request: Request<B>) -> Response<BoxBody<Bytes, Infallible>>
where
    B: Body + Send + 'static,
    B::Error: std::fmt::Display,
{
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(usize::MAX);
    let sessions = Arc::new(NeverSessionManager::default());
    StreamableHttpService::new(move || Ok(tools.clone()), sessions, config).handle(request).await
}
