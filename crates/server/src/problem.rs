//! What the server answers when it refuses or fails: `application/problem+json` (RFC 9457) with a stable code.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rival_api::{ProblemReply, ViolationReply};

use crate::base_path::BasePath;

/// Codes of the server itself; all others are those of the engine and the store.
pub mod code {
    /// The request cannot be read.
    pub const BAD_REQUEST: &str = "bad_request";
    /// No valid token came with the request.
    pub const UNAUTHORIZED: &str = "unauthorized";
    /// The token's scope does not reach that far.
    pub const FORBIDDEN: &str = "forbidden";
    /// The server is not known under this name.
    pub const HOST_NOT_ALLOWED: &str = "host_not_allowed";
    /// A page of another origin asks.
    pub const ORIGIN_NOT_ALLOWED: &str = "origin_not_allowed";
    /// There is nothing under this path.
    pub const NOT_FOUND: &str = "not_found";
    /// The path is right, the method is not.
    pub const METHOD_NOT_ALLOWED: &str = "method_not_allowed";
    /// The body did not come in time.
    pub const REQUEST_TIMEOUT: &str = "request_timeout";
    /// The body is larger than this route takes.
    pub const TOO_LARGE: &str = "payload_too_large";
    /// The body is not said to be JSON.
    pub const UNSUPPORTED_MEDIA_TYPE: &str = "unsupported_media_type";
    /// The client asks too often.
    pub const RATE_LIMITED: &str = "rate_limited";
    /// Too many live streams are open.
    pub const TOO_MANY_STREAMS: &str = "too_many_streams";
    /// Too many requests wait.
    pub const TOO_MANY_WAITS: &str = "too_many_waits";
    /// Answers that clients have not read yet take all the room.
    pub const TOO_MANY_ANSWERS: &str = "too_many_answers";
    /// Too many connections are open.
    pub const TOO_MANY_CONNECTIONS: &str = "too_many_connections";
    /// A connection cannot be as it was asked for; what is wrong is listed.
    pub const INVALID_CONNECTION: &str = "invalid_connection";
    /// The operator does not allow such a connection over the API.
    pub const CONNECTION_NOT_ALLOWED: &str = "connection_not_allowed";
    /// The connection is defined in the settings.
    pub const CONNECTION_FIXED: &str = "connection_fixed";
    /// The server has a bug.
    pub const INTERNAL_ERROR: &str = "internal_error";
    /// The token file cannot be read.
    pub const TOKENS_UNREADABLE: &str = "tokens_unreadable";
}

/// A refusal or a failure, as it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpProblem {
    /// The HTTP status.
    pub status: StatusCode,
    /// A stable word for programs: one of [`code`], or one of the engine or the store.
    pub code: &'static str,
    /// One sentence for people.
    pub error: String,
    /// What is wrong, one by one, where that is more than one thing.
    pub errors: Vec<ViolationReply>,
    /// What could not be proven of a document.
    pub warnings: Box<[ViolationReply]>,
    /// Under which id the same request can be made again without harm, where it is not known what became of it.
    pub repeat: Option<Repeat>,
}

/// What a request is called that can be made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The id of the run that it would have started.
    Run(String),
    /// The id of the signal that it would have sent.
    Signal(String),
}

impl HttpProblem {
    /// A problem with one sentence.
    pub fn new(status: StatusCode, code: &'static str, error: impl Into<String>) -> Self {
        Self { status, code, error: error.into(), errors: Vec::new(), warnings: Box::default(), repeat: None }
    }

    /// If the fault is the server's, and the run may be there nevertheless: this is what it would be called.
    pub(crate) fn about_run(self, id: String) -> Self {
        self.about(Repeat::Run(id))
    }

    /// If the fault is the server's, and the run may have the signal nevertheless: this is what it is called.
    pub(crate) fn about_signal(self, id: String) -> Self {
        self.about(Repeat::Signal(id))
    }

    fn about(self, repeat: Repeat) -> Self {
        let repeat = Some(repeat).filter(|_| self.status.is_server_error());
        Self { repeat, ..self }
    }

    /// As it goes over the wire.
    pub(crate) fn json(&self, base: &BasePath) -> Vec<u8> {
        let (run_id, signal_id) = match self.repeat.clone() {
            Some(Repeat::Run(id)) => (Some(id), None),
            Some(Repeat::Signal(id)) => (None, Some(id)),
            None => (None, None),
        };
        let body = ProblemReply {
            r#type: base.join(&format!("/errors/{}", self.code)),
            title: self.status.canonical_reason().unwrap_or("Error").to_owned(),
            status: self.status.as_u16(),
            code: self.code.to_owned(),
            error: self.error.clone(),
            detail: self.error.clone(),
            errors: self.errors.clone(),
            warnings: self.warnings.to_vec(),
            run_id,
            signal_id,
        };
        serde_json::to_vec(&body).expect("strings and numbers are JSON")
    }
}

impl IntoResponse for HttpProblem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.json(&BasePath::default())));
        *response.status_mut() = self.status;
        let json = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        // A server behind a path writes it again, with the path.
        response.extensions_mut().insert(self);
        response
    }
}
