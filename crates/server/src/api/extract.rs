//! What handlers take from requests. Whatever does not fit is a problem answer, never a plain text one.

use std::borrow::Cow;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::{HttpProblem, code};

/// Parameters that may be given several times, and what none of their values has: they are read as one text with it
/// between them.
const LISTS: [(&str, &str); 2] = [("status", ","), ("run", "/")];

/// The query of a request.
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = HttpProblem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, HttpProblem> {
        let query = join_lists(parts.uri.query().unwrap_or_default());
        let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
        serde_path_to_error::deserialize(pairs)
            .map(Self)
            .map_err(|error| bad_request(format!("the query is not what is asked for: {error}")))
    }
}

/// `status=a&limit=1&status=b` → `limit=1&status=a,b`.
fn join_lists(query: &str) -> Cow<'_, str> {
    let is_of = |pair: &str, key: &str| pair.split('=').next() == Some(key);
    let mut query = Cow::Borrowed(query);
    for (key, between) in LISTS {
        if query.split('&').filter(|pair| is_of(pair, key)).count() > 1 {
            let (same, others): (Vec<&str>, Vec<&str>) = query.split('&').partition(|pair| is_of(pair, key));
            let values: Vec<&str> =
                same.iter().map(|pair| pair.split_once('=').map_or("", |it| it.1)).collect();
            query = [others, vec![&format!("{key}={}", values.join(between))]].concat().join("&").into();
        }
    }
    query
}

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
