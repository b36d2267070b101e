//! Sends requests.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, Url};
use rival_core::failure::code as core_code;
use rival_core::{FailureRecord, StepError};
use rival_outgoing::{OutgoingClient, OutgoingPolicy, SendError};
use serde_json::json;

use crate::code;
use crate::request::Http;
use crate::response::HttpResponse;

const USER_AGENT: &str = concat!("rival/", env!("CARGO_PKG_VERSION"));
/// How much of a body a failure shows.
const EXCERPT_CHARS: usize = 200;
/// How often an answer may point elsewhere.
const REDIRECTS_MAX: usize = 10;
/// For how many policies connections are kept. A process has one, or a few in tests.
const CLIENTS_MAX: usize = 8;

/// An answer, and the line that describes it: `GET /x -> 200 (12 ms)`.
#[derive(Debug)]
pub struct LoggedResponse {
    /// The answer.
    pub response: HttpResponse,
    /// One line for people.
    pub description: String,
}

/// A failure, and the line that describes it: `GET /x -> 503 (12 ms)`.
#[derive(Debug)]
pub struct LoggedFailure {
    /// What the step fails with.
    pub error: StepError,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// One line for people.
    pub description: String,
}

/// Sends a request to an address that the policy allows. A request that may change something carries `key` as
/// `Idempotency-Key`, so that a server that understands it acts once however often the step is called. `traceparent`
/// says which span asks, if one does. Headers that the request has by itself stay as they are.
pub async fn send(
    http: &Http,
    policy: &OutgoingPolicy,
    key: &str,
    traceparent: Option<&str>,
) -> Result<LoggedResponse, LoggedFailure> {
    let start = Instant::now();
    let target = match RequestTarget::of(http) {
        Ok(target) => target,
        Err(error) => {
            let description = format!("{} -> not sent", http.method);
            return Err(LoggedFailure { error, status: None, description });
        }
    };
    let line = target.line();
    // Before the time runs: the first one reads the certificates of this machine.
    let client = client(policy);
    let exchanged =
        tokio::time::timeout(http.timeout, exchange(http, &client, target, key, traceparent)).await;
    let ended = match exchanged {
        Ok(Ok(response)) => judge(http, response, &line),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(timed_out(http, &line.long)),
    };
    let word = match &ended {
        Ok(response) => response.status.to_string(),
        Err(error) => word(error),
    };
    let description = format!("{} -> {word} ({} ms)", line.short, start.elapsed().as_millis());
    match ended {
        Ok(response) => Ok(LoggedResponse { response, description }),
        Err(error) => Err(LoggedFailure { status: status(&error), error, description }),
    }
}

/// Where a request goes, for logs and traces: without user name, password and query, which may hold secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestAddress {
    /// `GET`.
    pub method: String,
    /// `https://example.com/x`.
    pub url: String,
    /// `example.com`.
    pub host: String,
    /// 443, unless the URL says otherwise.
    pub port: u16,
}

impl RequestAddress {
    /// Where a request would go; `None` if it is wrong and will not be sent.
    pub fn of(http: &Http) -> Option<Self> {
        let RequestTarget { method, url, .. } = RequestTarget::of(http).ok()?;
        Some(Self {
            method: method.to_string(),
            host: url.host_str()?.to_owned(),
            port: url.port_or_known_default()?,
            url: format!("{}{}", url.origin().ascii_serialization(), url.path()),
        })
    }
}

/// Where a request goes, checked.
struct RequestTarget {
    method: Method,
    url: Url,
    headers: HeaderMap,
}

/// A request in words. Queries and user names may hold secrets, so they are in none.
struct RequestLine {
    /// `GET /x`.
    short: String,
    /// `GET https://example.com/x`.
    long: String,
}

impl RequestTarget {
    fn of(http: &Http) -> Result<Self, StepError> {
        let wrong =
            |what: String| FailureRecord::new(code::REQUEST, format!("the request is wrong: {what}")).stop();
        if let Some(problem) = &http.problem {
            return Err(wrong(problem.clone()));
        }
        let method = Method::from_bytes(http.method.as_bytes())
            .map_err(|_| wrong(format!("`{}` is no method", http.method)))?;
        let mut url = Url::parse(&http.url).map_err(|error| wrong(format!("its URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong(format!(
                "its URL begins with `{}:`, not with `https:` or `http:`",
                url.scheme()
            )));
        }
        if !http.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&http.query);
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &http.headers {
            let bad = || wrong(format!("its header `{name}`"));
            let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| bad())?;
            headers.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?, value);
        }
        Ok(Self { method, url, headers })
    }

    fn line(&self) -> RequestLine {
        let (method, url) = (&self.method, &self.url);
        let long = format!("{method} {}{}", url.origin().ascii_serialization(), url.path());
        RequestLine { short: format!("{method} {}", url.path()), long }
    }
}

async fn exchange(
    http: &Http,
    client: &OutgoingClient,
    target: RequestTarget,
    key: &str,
    traceparent: Option<&str>,
) -> Result<HttpResponse, StepError> {
    let line = target.line().long;
    let mut request = client.http().request(target.method, target.url).headers(target.headers);
    if http.changes_something() && !http.has_header("idempotency-key") {
        // Keys hold run ids, which may be any text; a header takes its bytes.
        if let Ok(key) = HeaderValue::from_bytes(key.as_bytes()) {
            request = request.header("idempotency-key", key);
        }
    }
    if let Some(traceparent) = traceparent.filter(|_| !http.has_header("traceparent")) {
        request = request.header("traceparent", traceparent);
    }
    if let Some(body) = &http.body {
        request = request.body(body.clone());
    }
    let broken = |error: reqwest::Error| failed(http, &line, error);
    let request = request.build().map_err(broken)?;
    let mut response =
        client.send(request, REDIRECTS_MAX).await.map_err(|error| not_sent(http, &line, error))?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if body.len() + chunk.len() > http.body_max {
            let message = format!(
                "{line}: the answer has more than {} bytes; allow more with `.max_body_bytes(..)`",
                http.body_max
            );
            return Err(FailureRecord::new(core_code::TOO_LARGE, message).stop());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(HttpResponse::read(response.status().as_u16(), headers(&response), &body))
}

fn headers(response: &Response) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::<String, String>::new();
    for (name, value) in response.headers() {
        let value = String::from_utf8_lossy(value.as_bytes());
        headers
            .entry(name.as_str().to_owned())
            .and_modify(|known| *known = format!("{known}, {value}"))
            .or_insert_with(|| value.clone().into_owned());
    }
    headers
}

fn not_sent(http: &Http, line: &str, error: SendError) -> StepError {
    match error {
        SendError::Exchange(error) => failed(http, line, error),
        // It would be refused again.
        SendError::Refused(refused) => {
            FailureRecord::new(code::NOT_ALLOWED, format!("{line}: {refused}")).stop()
        }
        other => FailureRecord::new(code::BROKEN, format!("{line}: {other}")).plain(),
    }
}

fn timed_out(http: &Http, line: &str) -> StepError {
    let ms = http.timeout.as_millis();
    FailureRecord::new(code::TIMEOUT, format!("{line}: no answer within {ms} ms")).plain()
}

fn failed(http: &Http, line: &str, error: reqwest::Error) -> StepError {
    // The URL in the client's own message has the query in it.
    let error = error.without_url();
    if error.is_timeout() {
        return timed_out(http, line);
    }
    let mut why = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        why = cause.to_string();
        source = cause.source();
    }
    if error.is_connect() {
        FailureRecord::new(code::CONNECT, format!("{line}: cannot connect: {why}")).plain()
    } else if error.is_builder() {
        FailureRecord::new(code::REQUEST, format!("{line}: {why}")).stop()
    } else {
        FailureRecord::new(code::BROKEN, format!("{line}: {why}")).plain()
    }
}

/// Whether an answer counts as one. A status that asks to come back later, or that says that the server is at
/// fault, is a plain error and tried again while attempts remain; any other is not, as it would stay the same.
fn judge(http: &Http, response: HttpResponse, line: &RequestLine) -> Result<HttpResponse, StepError> {
    if http.any_status || response.is_success() {
        return Ok(response);
    }
    let HttpResponse { status, body, .. } = &response;
    let message = format!("{} answered {status}{}", line.long, excerpt(body));
    let failure = FailureRecord::new(code::STATUS, message);
    let error = match status {
        408 | 425 | 429 | 500.. => failure.plain(),
        _ => failure.stop(),
    };
    Err(error.details(json!({ "status": status, "body": body })))
}

fn excerpt(body: &serde_json::Value) -> String {
    let text = match body {
        serde_json::Value::Null => return String::new(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut excerpt: String = text.chars().take(EXCERPT_CHARS).collect();
    if excerpt.len() < text.len() {
        excerpt.push('…');
    }
    format!(": {excerpt}")
}

/// The status of the answer that a step fails with.
fn status(error: &StepError) -> Option<u16> {
    let details = error.failure.details.as_ref().filter(|_| error.failure.code == code::STATUS)?;
    details.to_json()["status"].as_u64()?.try_into().ok()
}

/// How it ended, in the place where a status would be.
fn word(error: &StepError) -> String {
    match (error.failure.code.as_str(), status(error)) {
        (_, Some(status)) => status.to_string(),
        (code::TIMEOUT, _) => "timed out".to_owned(),
        (code::CONNECT, _) => "cannot connect".to_owned(),
        (core_code::TOO_LARGE, _) => "too large".to_owned(),
        (code::NOT_ALLOWED, _) => "not allowed".to_owned(),
        _ => "broken off".to_owned(),
    }
}

/// One client for all steps under a policy, so that connections are used again.
fn client(policy: &OutgoingPolicy) -> OutgoingClient {
    static CLIENTS: Mutex<Vec<(OutgoingPolicy, OutgoingClient)>> = Mutex::new(Vec::new());
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, client)) = clients.iter().find(|(known, _)| known == policy) {
        return client.clone();
    }
    let builder = || Client::builder().user_agent(USER_AGENT);
    // A machine without certificates can still speak plain HTTP; HTTPS then fails when it is tried.
    let client = OutgoingClient::new(policy.clone(), builder)
        .or_else(|_| OutgoingClient::new(policy.clone(), move || builder().tls_certs_only([])));
    let client = client.expect("a client without certificates needs nothing of the machine");
    if clients.len() == CLIENTS_MAX {
        clients.remove(0);
    }
    clients.push((policy.clone(), client.clone()));
    client
}
