//! HTTP requests, on a thread of their own that is started by the first.

use std::collections::HashMap;
use std::error::Error as _;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use reqwest::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use reqwest::{Client, Method, Response};
use rival_outgoing::{AddressRefused, OutgoingClient, OutgoingPolicy, SendError};
use serde::Deserialize;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use crate::code;
use crate::memory::{MemoryMeter, ReservedMemory};

/// How long a request may take from its start to the end of the answer's body. A script that wants less says so with
/// `AbortSignal.timeout`, or with the `timeout` of its step.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_mins(5);
/// How much of an answer is taken.
const BODY_MAX: usize = 32 * 1024 * 1024;
/// As the fetch standard has it.
const REDIRECTS_MAX: usize = 20;
/// What is for the connection to say: a wrong length would cut a body short, or wait for one that never comes.
const OURS: [HeaderName; 4] = [CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING];
const USER_AGENT: &str = concat!("rival/", env!("CARGO_PKG_VERSION"));

/// A request as JavaScript states it.
#[derive(Debug, Deserialize)]
pub(crate) struct FetchRequest {
    url: String,
    method: String,
    headers: Vec<(String, String)>,
    #[serde(default)]
    redirect: Redirect,
    #[serde(skip)]
    pub(crate) body: Option<Vec<u8>>,
}

impl FetchRequest {
    /// What it holds, about.
    fn size(&self) -> usize {
        self.body.as_ref().map_or(0, Vec::len) + self.url.len() + size_of_headers(&self.headers)
    }
}

fn size_of_headers(headers: &[(String, String)]) -> usize {
    headers.iter().map(|(name, value)| name.len() + value.len()).sum()
}

/// What an answer that points elsewhere means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Redirect {
    /// Go there.
    #[default]
    Follow,
    /// It is the answer.
    Manual,
    /// It is a failure.
    Error,
}

/// An answer, all of it.
#[derive(Debug)]
pub(crate) struct FetchResponse {
    pub(crate) status: u16,
    pub(crate) status_text: &'static str,
    pub(crate) url: String,
    pub(crate) redirected: bool,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// What it holds counts until it is JavaScript's.
    pub(crate) reserved: ReservedMemory,
}

impl FetchResponse {
    fn reserve(&mut self, bytes: usize) -> Result<(), FetchError> {
        if self.reserved.grow(bytes) { Ok(()) } else { Err(FetchError::Memory(self.reserved.limit())) }
    }

    /// Takes the body, a piece at a time.
    async fn read(&mut self, mut response: Response) -> Result<(), FetchError> {
        while let Some(chunk) = response.chunk().await.map_err(|error| explain(&error))? {
            let size = self.body.len() + chunk.len();
            if size > BODY_MAX {
                return Err(FetchError::BodyTooLarge);
            }
            // A vector that grows takes more than it needs: what it takes is what counts.
            if size > self.body.capacity() {
                let room = size.max(2 * self.body.capacity()).min(BODY_MAX);
                self.reserve(room - self.body.capacity())?;
                self.body.reserve_exact(room - self.body.len());
            }
            self.body.extend_from_slice(&chunk);
        }
        Ok(())
    }
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    /// The request cannot be sent as it is.
    #[error("fetch failed: {0}")]
    Request(String),
    /// No connection to the server could be made.
    #[error("fetch failed: {0}")]
    Connect(String),
    /// The exchange broke off, or the answer was not HTTP.
    #[error("fetch failed: {0}")]
    Failed(String),
    /// The request said not to follow.
    #[error("fetch failed: {url} redirects, and `redirect` is 'error'", url = .0)]
    RedirectRefused(String),
    /// It went in circles.
    #[error("fetch failed: more than {REDIRECTS_MAX} redirects")]
    TooManyRedirects,
    /// The operator does not allow the address.
    #[error("fetch failed: {0}")]
    Refused(AddressRefused),
    /// There was no end to the answer.
    #[error("fetch failed: the body is larger than {} MiB", BODY_MAX / 1024 / 1024)]
    BodyTooLarge,
    /// The script and its requests hold too much already.
    #[error(
        "fetch failed: there is no memory left for it: the script and its requests may hold {} MiB together", .0 / 1024 / 1024
    )]
    Memory(usize),
    /// It took too long.
    #[error("fetch failed: no complete answer within {} s", .0.as_secs())]
    Timeout(Duration),
}

impl FetchError {
    /// The same words as those of HTTP steps.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Request(_) => "http_request",
            Self::Connect(_) => "http_connect",
            Self::Failed(_) | Self::RedirectRefused(_) | Self::TooManyRedirects => "http_broken",
            Self::Refused(_) => rival_outgoing::ADDRESS_NOT_ALLOWED,
            Self::BodyTooLarge => "payload_too_large",
            Self::Memory(_) => code::MEMORY,
            Self::Timeout(_) => "http_timeout",
        }
    }
}

/// The end of a request.
#[derive(Debug)]
pub(crate) struct FetchEnd {
    pub(crate) op: u32,
    pub(crate) outcome: Result<FetchResponse, FetchError>,
}

/// Tells the loop of an end, and wakes it.
struct FetchNotifier {
    ended: Sender<FetchEnd>,
    bell: Arc<UnixStream>,
}

impl FetchNotifier {
    fn of(fetcher: &HttpFetcher) -> Self {
        Self { ended: fetcher.ended.0.clone(), bell: Arc::clone(&fetcher.bell.0) }
    }

    fn tell(&self, op: u32, outcome: Result<FetchResponse, FetchError>) {
        // If the loop has ended, the outcome is of no use.
        let _ = self.ended.send(FetchEnd { op, outcome });
        // If the socket is full, it is readable anyway.
        let _ = (&*self.bell).write(&[0]);
    }
}

/// Sends requests and tells when they have ended.
#[derive(Debug)]
pub(crate) struct HttpFetcher {
    /// The other thread ends when the second is dropped.
    sender: Option<(Handle, oneshot::Sender<()>)>,
    outgoing: OutgoingPolicy,
    client: Option<OutgoingClient>,
    running: HashMap<u32, AbortHandle>,
    ended: (Sender<FetchEnd>, Receiver<FetchEnd>),
    /// Written to by the other thread, so that a loop that waits for its sockets wakes.
    bell: (Arc<UnixStream>, UnixStream),
    /// What requests and answers hold counts here.
    meter: Arc<MemoryMeter>,
    timeout: Duration,
}

impl HttpFetcher {
    pub(crate) fn new(
        outgoing: OutgoingPolicy,
        meter: Arc<MemoryMeter>,
        timeout: Duration,
    ) -> io::Result<Self> {
        let (ring, hear) = UnixStream::pair()?;
        ring.set_nonblocking(true)?;
        hear.set_nonblocking(true)?;
        Ok(Self {
            sender: None,
            outgoing,
            client: None,
            running: HashMap::new(),
            ended: mpsc::channel(),
            bell: (Arc::new(ring), hear),
            meter,
            timeout,
        })
    }

    /// Readable when something has ended.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.1.as_fd()
    }

    /// Takes note that the bell was heard.
    pub(crate) fn hear(&self) {
        let mut heard = [0; 256];
        while matches!((&self.bell.1).read(&mut heard), Ok(read) if read == heard.len()) {}
    }

    pub(crate) fn finished(&self) -> Option<FetchEnd> {
        self.ended.1.try_recv().ok()
    }

    pub(crate) fn begin(&mut self, op: u32, request: FetchRequest) {
        match self.start(op, request) {
            Ok(task) => {
                self.running.insert(op, task);
            }
            Err(error) => FetchNotifier::of(self).tell(op, Err(error)),
        }
    }

    fn start(&mut self, op: u32, request: FetchRequest) -> Result<AbortHandle, FetchError> {
        let mut reserved = ReservedMemory::none(&self.meter);
        if !reserved.grow(request.size()) {
            return Err(FetchError::Memory(self.meter.limit()));
        }
        let failed = |error: io::Error| FetchError::Failed(error.to_string());
        let client = self.client().map_err(failed)?;
        let sender = self.sender().map_err(failed)?;
        let (tell, meter, timeout) = (FetchNotifier::of(self), Arc::clone(&self.meter), self.timeout);
        let task = sender.spawn(async move {
            let exchange = tokio::time::timeout(timeout, exchange(&client, request, &meter));
            let outcome = exchange.await.unwrap_or(Err(FetchError::Timeout(timeout)));
            drop(reserved);
            tell.tell(op, outcome);
        });
        Ok(task.abort_handle())
    }

    /// Lets go of a request; one that has ended does not mind.
    pub(crate) fn stop(&mut self, op: u32) {
        if let Some(task) = self.running.remove(&op) {
            task.abort();
        }
    }

    fn client(&mut self) -> io::Result<OutgoingClient> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let builder = || Client::builder().user_agent(USER_AGENT).referer(false);
        let client = OutgoingClient::new(self.outgoing.clone(), builder).map_err(io::Error::other)?;
        self.client = Some(client.clone());
        Ok(client)
    }

    fn sender(&mut self) -> io::Result<Handle> {
        if let Some((handle, _)) = &self.sender {
            return Ok(handle.clone());
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (keep, ended) = oneshot::channel();
        let work = move || drop(runtime.block_on(ended));
        thread::Builder::new().name("rival-fetch".to_owned()).spawn(work)?;
        self.sender = Some((handle.clone(), keep));
        Ok(handle)
    }
}

async fn exchange(
    client: &OutgoingClient,
    request: FetchRequest,
    meter: &Arc<MemoryMeter>,
) -> Result<FetchResponse, FetchError> {
    let redirect = request.redirect;
    let asked = request.url.clone();
    let request = built(client.http(), request)?.build().map_err(|error| explain(&error))?;
    let redirects_max = if redirect == Redirect::Follow { REDIRECTS_MAX } else { 0 };
    let response = client.send(request, redirects_max).await.map_err(not_sent)?;
    if redirect == Redirect::Error && response.status().is_redirection() {
        return Err(FetchError::RedirectRefused(asked));
    }
    let mut answer = FetchResponse {
        status: response.status().as_u16(),
        status_text: response.status().canonical_reason().unwrap_or_default(),
        redirected: redirect == Redirect::Follow && response.url().as_str() != without_fragment(&asked),
        url: response.url().to_string(),
        headers: headers_of(response.headers()),
        body: Vec::new(),
        reserved: ReservedMemory::none(meter),
    };
    answer.reserve(size_of_headers(&answer.headers) + answer.url.len())?;
    answer.read(response).await?;
    Ok(answer)
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

fn built(client: &Client, request: FetchRequest) -> Result<reqwest::RequestBuilder, FetchError> {
    let wrong = |what: &dyn std::fmt::Display| FetchError::Request(what.to_string());
    let method = Method::from_bytes(request.method.as_bytes()).map_err(|error| wrong(&error))?;
    let mut headers = HeaderMap::new();
    for (name, value) in request.headers {
        let name = HeaderName::try_from(name).map_err(|error| wrong(&error))?;
        if OURS.contains(&name) {
            continue;
        }
        // A header is bytes; JavaScript writes each as a character.
        let bytes: Option<Vec<u8>> = value.chars().map(|char| u8::try_from(char).ok()).collect();
        let bytes =
            bytes.ok_or_else(|| wrong(&format!("header `{name}` has characters that none can have")))?;
        headers.append(name, HeaderValue::try_from(bytes).map_err(|error| wrong(&error))?);
    }
    // Many servers refuse a request that usually has a body, if it does not say that it has none.
    if [Method::POST, Method::PUT].contains(&method) && request.body.as_ref().is_none_or(Vec::is_empty) {
        headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    }
    let built = client.request(method, request.url).headers(headers);
    Ok(match request.body {
        Some(body) => built.body(body),
        None => built,
    })
}

fn headers_of(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| value.as_bytes().iter().map(|byte| char::from(*byte)).collect();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

fn not_sent(error: SendError) -> FetchError {
    match error {
        SendError::Refused(refused) => FetchError::Refused(refused),
        SendError::TooManyRedirects(_) => FetchError::TooManyRedirects,
        SendError::Exchange(error) => explain(&error),
        other => FetchError::Failed(other.to_string()),
    }
}

/// The innermost reason is the one that helps; the URL, which may hold secrets, is in the outermost.
fn explain(error: &reqwest::Error) -> FetchError {
    let mut reason = error.source();
    while let Some(inner) = reason.and_then(|outer| outer.source()) {
        reason = Some(inner);
    }
    let reason = reason.map_or_else(|| error.to_string(), ToString::to_string);
    if error.is_builder() {
        FetchError::Request(reason)
    } else if error.is_connect() {
        FetchError::Connect(reason)
    } else {
        FetchError::Failed(reason)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// What comes of a request to a server that accepts it and says nothing.
    fn ask(memory: usize, timeout: Duration, body: usize) -> FetchError {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let meter = Arc::new(MemoryMeter::default());
        meter.set_limit(memory);
        let outgoing = OutgoingPolicy::public().allow_loopback();
        let mut fetcher = HttpFetcher::new(outgoing, Arc::clone(&meter), timeout).unwrap();
        fetcher.begin(
            1,
            FetchRequest {
                url: format!("http://{}/", server.local_addr().unwrap()),
                method: "POST".to_owned(),
                headers: Vec::new(),
                redirect: Redirect::Follow,
                body: Some(vec![0; body]),
            },
        );
        let finished = fetcher.ended.1.recv().unwrap();
        assert!(ReservedMemory::none(&meter).grow(memory), "all of it is given back");
        finished.outcome.unwrap_err()
    }

    #[test]
    fn a_request_without_an_answer_ends() {
        let error = ask(1 << 20, Duration::from_millis(20), 10);
        assert_eq!(error.code(), "http_timeout", "{error}");
    }

    #[test]
    fn a_request_that_is_too_large_to_be_held_is_not_sent() {
        let error = ask(1 << 20, REQUEST_TIMEOUT, 1 << 20);
        assert_eq!(error.code(), code::MEMORY, "{error}");
    }
}
