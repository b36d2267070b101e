//! Requests of the API as tools make them.

use std::sync::Arc;

use futures::StreamExt;
use http::header::{ETAG, IF_MATCH};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::Serialize;
use serde_json::Value;

use crate::caller::{ApiCaller, ApiRequest, ApiResponse, ApiSilence, UNREADABLE};
use crate::failure::ToolFailure;

/// The largest answer that is read: a run with the values that its answer holds, or one value.
const ANSWER_MAX_BYTES: usize = 32 << 20;

/// What makes a request harmless to repeat.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The API, as one client may use it.
#[derive(Clone)]
pub(crate) struct Api(pub(crate) Arc<dyn ApiCaller>);

/// A good answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) etag: Option<String>,
    pub(crate) text: String,
}

impl Answer {
    /// What it says; `null` for an empty one.
    pub(crate) fn json(&self) -> Result<Value, ToolFailure> {
        if self.text.is_empty() { Ok(Value::Null) } else { self.read() }
    }

    pub(crate) fn read<T: serde::de::DeserializeOwned>(&self) -> Result<T, ToolFailure> {
        serde_json::from_str(&self.text).map_err(|error| {
            ToolFailure::new(UNREADABLE, format!("the answer of the server cannot be read: {error}"))
        })
    }
}

impl Api {
    pub(crate) async fn get(&self, path: &str) -> Result<Value, ToolFailure> {
        self.send(ApiRequest::new(Method::GET, path)).await?.json()
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        key: Option<String>,
        body: &impl Serialize,
    ) -> Result<Answer, ToolFailure> {
        let body = serde_json::to_string(body).expect("a body has only string keys");
        self.send(ApiRequest::new(Method::POST, path).header(IDEMPOTENCY_KEY, key).body(body)).await
    }

    /// Sends text as it was written, on condition that what it changes has a version.
    pub(crate) async fn put(
        &self,
        path: &str,
        version: Option<u64>,
        body: String,
    ) -> Result<Answer, ToolFailure> {
        let condition = Some(version.map_or_else(|| "*".to_owned(), etag));
        self.send(ApiRequest::new(Method::PUT, path).header(IF_MATCH, condition).body(body)).await
    }

    pub(crate) async fn post_text(&self, path: &str, body: String) -> Result<Answer, ToolFailure> {
        self.send(ApiRequest::new(Method::POST, path).body(body)).await
    }

    pub(crate) async fn delete(&self, path: &str, version: Option<u64>) -> Result<Answer, ToolFailure> {
        self.send(ApiRequest::new(Method::DELETE, path).header(IF_MATCH, version.map(etag))).await
    }

    /// A good answer, or why there is none.
    pub(crate) async fn send(&self, request: ApiRequest) -> Result<Answer, ToolFailure> {
        let response = self.open(request).await?;
        let (status, headers) = (response.status, response.headers.clone());
        let text = whole(response).await?;
        if status.is_success() || status == StatusCode::NOT_MODIFIED {
            let etag = headers.get(ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
            return Ok(Answer { status, etag, text });
        }
        Err(ToolFailure::of_answer(status, &text))
    }

    /// An answer that is read as it comes.
    pub(crate) async fn open(&self, request: ApiRequest) -> Result<ApiResponse, ToolFailure> {
        for (name, value) in &request.headers {
            if HeaderValue::from_str(value).is_err() || !value.is_ascii() {
                let message = format!("`{}` has other characters than a header takes", value.escape_debug());
                return Err(ToolFailure::arguments(message)
                    .hint(format!("give an {name} of ASCII letters, digits and punctuation")));
            }
        }
        Ok(self.0.call(request).await?)
    }
}

fn etag(version: u64) -> String {
    format!("\"{version}\"")
}

/// All of a body, if it is not too large.
pub(crate) async fn whole(mut response: ApiResponse) -> Result<String, ToolFailure> {
    let mut bytes = Vec::new();
    while let Some(part) = response.body.next().await {
        bytes.extend_from_slice(&part?);
        if bytes.len() > ANSWER_MAX_BYTES {
            let message = format!("the answer has more than {} MiB", ANSWER_MAX_BYTES >> 20);
            return Err(ToolFailure::new("payload_too_large", message));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl From<ApiSilence> for ToolFailure {
    fn from(silence: ApiSilence) -> Self {
        Self { hint: silence.hint, ..Self::new(silence.code, silence.message) }
    }
}
