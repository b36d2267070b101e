//! Who sends the requests of the API: a client of a server, or a server that asks itself.

use std::fmt;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use http::{HeaderMap, HeaderName, Method, StatusCode};

/// No server runs, and what was asked needs one.
pub const NO_SERVER: &str = "no_server";

/// The connection broke off: it is not known what became of the request.
pub const LOST: &str = "lost_answer";

/// The server has answered something else than the API does.
pub(crate) const UNREADABLE: &str = "unreadable_answer";

/// Sends requests of the HTTP API in the name of the client whose tools are called.
#[async_trait]
pub trait ApiCaller: Send + Sync + 'static {
    /// Sends one request. An answer that refuses is an answer.
    ///
    /// # Errors
    /// If there is no answer.
    async fn call(&self, request: ApiRequest) -> Result<ApiResponse, ApiSilence>;
}

/// A request of the API.
#[derive(Clone, Debug)]
pub struct ApiRequest {
    /// GET, POST, PUT or DELETE.
    pub method: Method,
    /// Path and query: `/api/runs?limit=1`.
    pub path: String,
    /// Headers besides those that each request has: the host, who asks, and for a body that it is JSON.
    pub headers: Vec<(HeaderName, String)>,
    /// JSON.
    pub body: Option<String>,
}

impl ApiRequest {
    /// A request without headers and body.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), headers: Vec::new(), body: None }
    }

    /// Whether it only looks.
    pub fn only_reads(&self) -> bool {
        self.method == Method::GET
    }

    pub(crate) fn header(mut self, name: HeaderName, value: Option<String>) -> Self {
        self.headers.extend(value.map(|value| (name, value)));
        self
    }

    pub(crate) fn body(self, body: String) -> Self {
        Self { body: Some(body), ..self }
    }
}

/// An answer of the API.
pub struct ApiResponse {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, as it comes.
    pub body: BoxStream<'static, Result<Bytes, ApiSilence>>,
}

impl fmt::Debug for ApiResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, headers, .. } = self;
        f.debug_struct("ApiResponse")
            .field("status", status)
            .field("headers", headers)
            .finish_non_exhaustive()
    }
}

/// Why a request has no answer.
#[derive(Clone, Debug)]
pub struct ApiSilence {
    /// [`NO_SERVER`] if the request was not sent, so that nothing has come of it; else [`LOST`].
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// What to do about it, if the one who asks can do something.
    pub hint: Option<String>,
}
