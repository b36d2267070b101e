//! `ETag` and `If-None-Match`: a client that has an answer is told that it is still the same, and is not sent it again.
//!
//! The tag is a hash of the answer, so it is right whatever the answer is made of. It is weak, because what goes over the
//! wire may be compressed.

use std::hash::{DefaultHasher, Hasher};

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use http_body::Body as _;

/// What a client has already, by the header of its request.
#[derive(Clone, Debug)]
pub(crate) struct KnownTags(Option<String>);

impl KnownTags {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
        let all: Vec<&str> = values.collect();
        Self((!all.is_empty()).then(|| all.join(",")))
    }

    /// Compared weakly, as it must be for this header.
    fn have(&self, tag: &str) -> bool {
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let known = self.0.as_deref().unwrap_or_default();
        known.trim() == "*" || known.split(',').any(|known| opaque(known) == opaque(tag))
    }
}

/// The answer with its tag, or without its body if the client has it. Streams, and anything that is no success, stay as they
/// are.
pub(crate) async fn tag(response: Response, known: &KnownTags) -> Response {
    if response.status() != StatusCode::OK || response.body().size_hint().exact().is_none() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // Its size is known, so it is in memory already.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(parts, Body::empty());
    };
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    let tag = format!("W/\"{:016x}\"", hasher.finish());
    let is_known = known.have(&tag);
    parts.headers.insert(header::ETAG, HeaderValue::try_from(tag).expect("hexadecimal digits are a header"));
    if is_known {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(header::CONTENT_TYPE);
        parts.headers.remove(header::CONTENT_LENGTH);
    }
    Response::from_parts(parts, if is_known { Body::empty() } else { Body::from(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_compared_weakly() {
        let known = |text: &str| {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, text.parse().unwrap())]);
            KnownTags::of(&headers).have("W/\"a1\"")
        };
        assert!(known("W/\"a1\"") && known("\"a1\"") && known("\"b2\", W/\"a1\"") && known("*"));
        assert!(!known("\"b2\"") && !known("a1") && !known(""));
        assert!(!KnownTags::of(&HeaderMap::new()).have("W/\"a1\""));
    }
}
