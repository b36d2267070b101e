//! What the server answers when it refuses or fails: `application/problem+json` (RFC 9457) with a stable code.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

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

/// One thing that is wrong with what was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Violation)]
pub struct ViolationReply {
    /// Where, as a JSON pointer; empty for the whole.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl From<rival_engine::Violation> for ViolationReply {
    fn from(violation: rival_engine::Violation) -> Self {
        Self { path: violation.path, message: violation.message }
    }
}

impl HttpProblem {
    /// A problem with one sentence.
    pub fn new(status: StatusCode, code: &'static str, error: impl Into<String>) -> Self {
        Self { status, code, error: error.into(), errors: Vec::new(), repeat: None }
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
    pub(crate) fn json(&self) -> Vec<u8> {
        let body = ProblemBody {
            r#type: format!("/errors/{}", self.code),
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            code: self.code,
            error: &self.error,
            detail: &self.error,
            errors: &self.errors,
            run_id: self.repeat.as_ref().and_then(|repeat| match repeat {
                Repeat::Run(id) => Some(id.as_str()),
                Repeat::Signal(_) => None,
            }),
            signal_id: self.repeat.as_ref().and_then(|repeat| match repeat {
                Repeat::Signal(id) => Some(id.as_str()),
                Repeat::Run(_) => None,
            }),
        };
        serde_json::to_vec(&body).expect("strings and numbers are JSON")
    }
}

impl IntoResponse for HttpProblem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.json()));
        *response.status_mut() = self.status;
        let json = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// A problem on the wire.
#[derive(Serialize, ToSchema)]
struct ProblemBody<'a> {
    /// The page that explains the code.
    #[schema(example = "/errors/run_not_found")]
    r#type: String,
    /// The status in words.
    #[schema(example = "Not Found")]
    title: &'a str,
    /// The HTTP status.
    #[schema(example = 404)]
    status: u16,
    /// A stable word for programs.
    #[schema(example = "run_not_found")]
    code: &'a str,
    /// One sentence for people.
    #[schema(example = "run `x` not found")]
    error: &'a str,
    /// The same sentence, where RFC 9457 has it.
    detail: &'a str,
    /// What is wrong, one by one, where that is more than one thing.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(required = false)]
    errors: &'a [ViolationReply],
    /// The id of the run that the request would have started. It is not known whether it did: starting it again under
    /// this id is harmless.
    #[serde(rename = "runId", skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    run_id: Option<&'a str>,
    /// The id of the signal. It is not known whether the run has it: sending it again under this id is harmless.
    #[serde(rename = "signalId", skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    signal_id: Option<&'a str>,
}

impl utoipa::PartialSchema for HttpProblem {
    fn schema() -> RefOr<Schema> {
        ProblemBody::schema()
    }
}

impl ToSchema for HttpProblem {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        ProblemBody::schemas(schemas);
    }
}
