//! A request as data.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long a request may take unless it says otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How large an answer's body may be unless the request says otherwise.
const BODY_MAX: usize = 8 * 1024 * 1024;

/// A request: `Http::post("https://example.com/orders").json(&order).header("x-tenant", "7")`.
///
/// It is never recorded. Only the answer is, so a secret may go into a header or the query; it is left out of
/// descriptions, errors and the `Debug` form.
#[derive(Clone, Serialize, Deserialize)]
pub struct Http {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) any_status: bool,
    pub(crate) body_max: usize,
    /// What went wrong while it was put together; sending it says so.
    pub(crate) problem: Option<String>,
}

impl Http {
    /// A request with any method.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            timeout: TIMEOUT,
            any_status: false,
            body_max: BODY_MAX,
            problem: None,
        }
    }

    /// A GET request.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// A POST request.
    pub fn post(url: impl Into<String>) -> Self {
        Self::new("POST", url)
    }

    /// A PUT request.
    pub fn put(url: impl Into<String>) -> Self {
        Self::new("PUT", url)
    }

    /// A PATCH request.
    pub fn patch(url: impl Into<String>) -> Self {
        Self::new("PATCH", url)
    }

    /// A DELETE request.
    pub fn delete(url: impl Into<String>) -> Self {
        Self::new("DELETE", url)
    }

    /// Adds `key=value` to the query, encoded as it must be.
    #[must_use]
    #[allow(clippy::needless_pass_by_value, reason = "callers write the value in place")]
    pub fn query(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.query.push((key.into(), value.to_string()));
        self
    }

    /// Sets a header; the last value of a name counts.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        self.headers.push((name, value.into()));
        self
    }

    /// Sends a token as `Authorization: Bearer`.
    #[must_use]
    pub fn bearer(self, token: impl fmt::Display) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// Sends a value as JSON.
    #[must_use]
    pub fn json(mut self, value: &(impl Serialize + ?Sized)) -> Self {
        match serde_json::to_string(value) {
            Ok(body) => self.body = Some(body),
            Err(error) => self.problem = Some(format!("its body cannot be written as JSON: {error}")),
        }
        if self.has_header("content-type") { self } else { self.header("content-type", "application/json") }
    }

    /// Sends a text; set a `content-type` for anything but plain text.
    #[must_use]
    pub fn text(mut self, body: impl Into<String>) -> Self {
        self.body = Some(body.into());
        if self.has_header("content-type") {
            self
        } else {
            self.header("content-type", "text/plain; charset=utf-8")
        }
    }

    /// The longest time until the whole answer is there (30 seconds by default).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Takes every status as an answer. Without it, a status other than 2xx is a failure.
    #[must_use]
    pub fn any_status(mut self) -> Self {
        self.any_status = true;
        self
    }

    /// The largest body of an answer (8 MiB by default); a larger one is a failure.
    #[must_use]
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.body_max = bytes;
        self
    }

    pub(crate) fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// Whether sending it twice may do something twice.
    pub(crate) fn changes_something(&self) -> bool {
        !matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS")
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.url.split(['?', '#']).next().unwrap_or_default();
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Http")
            .field("method", &self.method)
            .field("url", &url)
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}
