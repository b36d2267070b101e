//! What handlers take from requests. Whatever does not fit is a problem answer, never a plain text one.

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;

use crate::problem::{HttpProblem, code};

/// The query of a request.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(HttpProblem))]
pub(crate) struct QueryParams<T>(pub(crate) T);

/// The variable parts of a path.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(HttpProblem))]
pub(crate) struct PathParams<T>(pub(crate) T);

/// The JSON body of a request; none at all counts as `{}`.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = HttpProblem;

    async fn from_request(request: Request, state: &S) -> Result<Self, HttpProblem> {
        let body = Bytes::from_request(request, state).await?;
        let text: &[u8] = if body.is_empty() { b"{}" } else { &body };
        // Serde would read a list as the fields of a struct, in their order.
        if text.trim_ascii_start().starts_with(b"[") {
            return Err(bad_request("the body is not what is asked for: it is a list, not an object"));
        }
        serde_json::from_slice(text)
            .map(Self)
            .map_err(|error| bad_request(format!("the body {}", because(&error))))
    }
}

fn because(error: &serde_json::Error) -> String {
    if error.is_data() {
        format!("is not what is asked for: {error}")
    } else {
        format!("is not JSON: {error}")
    }
}

/// The request cannot be read, and why.
pub(crate) fn bad_request(error: impl Into<String>) -> HttpProblem {
    HttpProblem::new(StatusCode::BAD_REQUEST, code::BAD_REQUEST, error)
}

impl From<QueryRejection> for HttpProblem {
    fn from(rejection: QueryRejection) -> Self {
        bad_request(rejection.body_text())
    }
}

impl From<PathRejection> for HttpProblem {
    fn from(rejection: PathRejection) -> Self {
        bad_request(rejection.body_text())
    }
}

impl From<BytesRejection> for HttpProblem {
    fn from(rejection: BytesRejection) -> Self {
        bad_request(rejection.body_text())
    }
}
