//! Messages over streamable HTTP. The library of the protocol drives sessions and streams; requests are sent here, where the
//! operator's policy says, with bounded answers, and with an error wherever a client could otherwise wait for ever.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::{Method, Request, Response, Url};
use rival_outgoing::{OutgoingClient, OutgoingPolicy, SendError};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use tokio::sync::Notify;

use crate::secret::ResolvedDefinition;
use crate::wire::{self, WireReader};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// How long a server may take to accept a connection.
const CONNECT: std::time::Duration = std::time::Duration::from_secs(10);
/// How much of a refusal is shown.
const EXCERPT_CHARS: usize = 300;

/// Why a request came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpFault {
    /// The server was not reached: it knows nothing of the request.
    #[error("{0}")]
    NotSent(String),
    /// The server does not know the session any more, and did nothing.
    #[error("the server does not know the session any more: {0}")]
    SessionGone(String),
    /// The server refused it.
    #[error("the server answered {0}")]
    Refused(String),
    /// The exchange broke off, or the answer was not what the protocol says.
    #[error("{0}")]
    Broken(String),
    /// The answer was too large.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
}

type Fault = StreamableHttpError<HttpFault>;

fn fault(fault: HttpFault) -> Fault {
    StreamableHttpError::Client(fault)
}

/// Sends the requests of one session.
#[derive(Clone)]
pub(crate) struct SessionClient {
    http: OutgoingClient,
    url: Url,
    /// What the operator says, secrets among them.
    headers: HeaderMap,
    wire: Arc<WireReader>,
    bytes_max: usize,
    /// Told when a stream could not be opened: the server may be gone.
    suspicion: Arc<Notify>,
}

impl SessionClient {
    /// A client for the address of a definition. `Err`: why there is none.
    pub(crate) fn new(
        url: &str,
        resolved: &ResolvedDefinition,
        policy: OutgoingPolicy,
        bytes_max: usize,
        suspicion: Arc<Notify>,
    ) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| format!("`url` is not an address: {error}"))?;
        let http = OutgoingClient::new(policy, || reqwest::Client::builder().connect_timeout(CONNECT))
            .map_err(|error| error.to_string())?;
        let mut headers = HeaderMap::new();
        for (name, value) in &resolved.headers {
            let is_wrong = || format!("`headers.{name}` cannot be a header");
            let mut value = HeaderValue::from_str(value).map_err(|_| is_wrong())?;
            value.set_sensitive(true);
            headers.insert(HeaderName::try_from(name).map_err(|_| is_wrong())?, value);
        }
        Ok(Self { http, url, headers, wire: Arc::default(), bytes_max, suspicion })
    }

    fn request(
        &self,
        method: Method,
        session: Option<&str>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Request {
        let mut request = Request::new(method, self.url.clone());
        let headers = request.headers_mut();
        headers.extend(custom);
        headers.extend(self.headers.clone());
        if let Some(session) = session.and_then(|session| HeaderValue::from_str(session).ok()) {
            headers.insert(SESSION, session);
        }
        request
    }

    async fn send(&self, request: Request) -> Result<Response, HttpFault> {
        self.http.send(request, 0).await.map_err(|error| match error {
            SendError::Exchange(error) => {
                let is_unsent = error.is_connect() || error.is_builder();
                let said = innermost(&error.without_url());
                if is_unsent { HttpFault::NotSent(said) } else { HttpFault::Broken(said) }
            }
            other => HttpFault::NotSent(other.to_string()),
        })
    }

    /// A body, as text.
    async fn text(&self, response: Response) -> Result<String, HttpFault> {
        let (mut body, mut chunks) = (Vec::new(), response.bytes_stream());
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| HttpFault::Broken(innermost(&error.without_url())))?;
            if body.len() + chunk.len() > self.bytes_max {
                return Err(HttpFault::TooLarge(self.bytes_max));
            }
            body.extend_from_slice(&chunk);
        }
        String::from_utf8(body).map_err(|_| HttpFault::Broken("the answer is not UTF-8".to_owned()))
    }

    /// Why a request was refused, unless the answer is one to the request.
    async fn refusal(
        &self,
        response: Response,
        request: Option<&RequestId>,
        has_session: bool,
    ) -> Result<ServerJsonRpcMessage, HttpFault> {
        let status = response.status();
        let asks = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        let asks = asks.map(|asks| format!(" ({asks})")).unwrap_or_default();
        let text = self.text(response).await.unwrap_or_default();
        match self.wire.read(&text) {
            Some(JsonRpcMessage::Error(error)) if request.is_some() && error.id.as_ref() == request => {
                return Ok(JsonRpcMessage::Error(error));
            }
            _ => {}
        }
        let excerpt: String = text.chars().take(EXCERPT_CHARS).collect();
        let said = format!("{status}{asks}: {}", excerpt.trim());
        match status {
            // Some answer 400 with an error that names no request: a client that waits for the answer would wait for ever.
            StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST if has_session => {
                Err(HttpFault::SessionGone(said))
            }
            _ => Err(HttpFault::Refused(said)),
        }
    }

    /// The events of a stream, with results as texts.
    fn events(&self, response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
        let wire = Arc::clone(&self.wire);
        let events = SseStream::from_bytes_stream(bounded(response.bytes_stream(), self.bytes_max));
        events
            .map(move |event| {
                event.map(|mut event| {
                    let text = event.data.as_deref().and_then(|text| wire.rewrite(text));
                    event.data = text.or(event.data);
                    event
                })
            })
            .boxed()
    }

    async fn post(
        &self,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpFault> {
        let text = wire::write(message).map_err(|error| HttpFault::NotSent(error.to_string()))?;
        let mut request = self.request(Method::POST, session, custom);
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        *request.body_mut() = Some(text.into());
        let id = match message {
            JsonRpcMessage::Request(request) => Some(&request.id),
            _ => None,
        };
        let response = self.send(request).await?;
        let given = response.headers().get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if !response.status().is_success() {
            let answer = self.refusal(response, id, session.is_some()).await?;
            return Ok(StreamableHttpPostResponse::Json(answer, given));
        }
        // What is no request has no answer, whatever the server sends.
        if id.is_none() {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        match content_type(&response) {
            kind if kind.starts_with(EVENTS) => {
                Ok(StreamableHttpPostResponse::Sse(self.events(response), given))
            }
            kind if kind.starts_with(JSON) => {
                let text = self.text(response).await?;
                let message = self.wire.read(&text).filter(|answer| answers(answer, id));
                let message = message.ok_or_else(|| HttpFault::Broken(no_message(&text)))?;
                Ok(StreamableHttpPostResponse::Json(message, given))
            }
            // The answer comes over the stream of the session.
            _ if response.status() == StatusCode::ACCEPTED => Ok(StreamableHttpPostResponse::Accepted),
            kind => Err(HttpFault::Broken(format!("the server answered with `{kind}`, not with a message"))),
        }
    }

    async fn open(
        &self,
        session: Option<&str>,
        last_event: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        let mut request = self.request(Method::GET, session, custom);
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(EVENTS));
        if let Some(last) = last_event.and_then(|last| HeaderValue::try_from(last).ok()) {
            request.headers_mut().insert(LAST_EVENT, last);
        }
        let response = self.send(request).await.map_err(fault)?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => {
                let refusal = self.refusal(response, None, session.is_some()).await;
                Err(refusal.map_or_else(fault, |_| StreamableHttpError::ServerDoesNotSupportSse))
            }
            _ if content_type(&response).starts_with(EVENTS) => Ok(self.events(response)),
            _ => Err(StreamableHttpError::ServerDoesNotSupportSse),
        }
    }
}

fn content_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.unwrap_or_default().to_ascii_lowercase()
}

fn answers(message: &ServerJsonRpcMessage, request: Option<&RequestId>) -> bool {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id) == request,
        JsonRpcMessage::Error(error) => error.id.as_ref() == request,
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => false,
    }
}

fn no_message(text: &str) -> String {
    let excerpt: String = text.chars().take(EXCERPT_CHARS).collect();
    format!("the server's answer is none to the request: {excerpt}")
}

/// What an error comes from: the outer ones only say that something was sent.
fn innermost(error: &dyn std::error::Error) -> String {
    let last = std::iter::successors(error.source(), |cause| cause.source()).last();
    last.map_or_else(|| error.to_string(), ToString::to_string)
}

/// Bytes of events, of which none is larger than so much.
fn bounded<B: AsRef<[u8]>>(
    chunks: impl Stream<Item = Result<B, reqwest::Error>>,
    bytes_max: usize,
) -> impl Stream<Item = io::Result<B>> {
    let (mut event, mut line) = (0_usize, 0_usize);
    chunks.map(move |chunk| {
        let chunk = chunk.map_err(|error| io::Error::other(innermost(&error.without_url())))?;
        for byte in chunk.as_ref() {
            event += 1;
            match byte {
                // An empty line ends an event.
                b'\n' if line == 0 => event = 0,
                b'\n' => line = 0,
                b'\r' => {}
                _ => line += 1,
            }
            if event > bytes_max {
                return Err(io::Error::other(format!("an event has more than {bytes_max} bytes")));
            }
        }
        Ok(chunk)
    })
}

impl StreamableHttpClient for SessionClient {
    type Error = HttpFault;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _auth: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        self.post(&message, session.as_deref(), custom).await.map_err(fault)
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        session: Arc<str>,
        _auth: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Fault> {
        // A server that does not know it, or cannot end sessions, has nothing to end.
        _ = self.send(self.request(Method::DELETE, Some(&session), custom)).await.map_err(fault)?;
        Ok(())
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _auth: Option<String>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        let opened = self.open(session.as_deref(), last_event, custom).await;
        if matches!(&opened, Err(error) if !matches!(error, StreamableHttpError::ServerDoesNotSupportSse)) {
            self.suspicion.notify_one();
        }
        opened
    }
}
