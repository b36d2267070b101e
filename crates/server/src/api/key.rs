//! The header `Idempotency-Key`: the same key and request give the same result, also after a restart, because what is
//! made is called after the key.

use axum::http::HeaderMap;
use rival_core::RunId;
use rival_engine::is_run_id;
use sha2::{Digest, Sha256};

use super::extract::bad_request;
use crate::problem::HttpProblem;

/// The key that came with a request.
pub(crate) fn key(headers: &HeaderMap) -> Result<Option<String>, HttpProblem> {
    let mut keys = headers.get_all("idempotency-key").iter();
    let Some(key) = keys.next() else { return Ok(None) };
    if keys.next().is_some() {
        return Err(bad_request("there are two Idempotency-Key headers: send one"));
    }
    // Keys of others may hold any text, as those of HTTP steps do: the header has its bytes.
    let key = std::str::from_utf8(key.as_bytes())
        .map_err(|_| bad_request("the header Idempotency-Key is not text in UTF-8"))?;
    // The header is a quoted string by its draft standard, and a bare word by custom.
    let key = key.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(key);
    if key.chars().all(|c| c.is_whitespace() || c == '"') {
        return Err(bad_request("the header Idempotency-Key is empty"));
    }
    Ok(Some(key.to_owned()))
}

/// The id of a new run, from the body or from the header. A key that is no run id leads to one.
pub(crate) fn run_id(given: Option<String>, headers: &HeaderMap) -> Result<Option<String>, HttpProblem> {
    let Some(key) = key(headers)? else { return Ok(given) };
    let is_id = given.is_some() || is_run_id(&key);
    one_of("runId", given, key).map(|key| Some(if is_id { key } else { digest(&[&key]) }))
}

/// The id of a signal, from the body or from the header.
pub(crate) fn signal_id(given: Option<String>, headers: &HeaderMap) -> Result<Option<String>, HttpProblem> {
    match key(headers)? {
        Some(key) => one_of("id", given, key).map(Some),
        None => Ok(given),
    }
}

/// The id of a run that a request to many runs makes from one of them.
pub(crate) fn run_id_for(key: &str, source: &RunId) -> String {
    digest(&[key, source.as_str()])
}

fn one_of(field: &str, given: Option<String>, key: String) -> Result<String, HttpProblem> {
    match given {
        Some(id) if id != key => {
            Err(bad_request(format!("`{field}` is `{id}`, but Idempotency-Key is `{key}`: send one of them")))
        }
        _ => Ok(key),
    }
}

fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_be_bytes());
        hash.update(text);
    }
    let hash = hash.finalize();
    let hex: String = hash[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("key-{hex}")
}
