//! A server that comes and goes, as its clients see it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tokio::sync::watch;

/// Longer than any server takes to be started again.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where the server is now, and what came of asking it.
#[derive(Debug)]
pub struct ServerApi {
    address: watch::Sender<Option<SocketAddr>>,
    client: Client,
    talk: Mutex<RequestTotals>,
}

/// What came of all requests.
#[derive(Clone, Debug, Default)]
pub struct RequestTotals {
    /// Whole answers, by status.
    pub answers: BTreeMap<u16, u64>,
    /// Requests that got none.
    pub broken: u64,
    /// Servers that began to answer and did not end.
    pub half: Vec<SocketAddr>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    body: Vec<u8>,
}

impl HttpAnswer {
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.body).with_context(|| format!("cannot read {self}"))
    }

    /// The code of a problem.
    pub(crate) fn code(&self) -> Result<String> {
        let problem: Json = self.read()?;
        Ok(problem["code"].as_str().unwrap_or_default().to_owned())
    }
}

impl std::fmt::Display for HttpAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.status, String::from_utf8_lossy(&self.body))
    }
}

impl ServerApi {
    /// Nothing is there yet.
    pub fn new() -> Result<Self> {
        let client = Client::builder().no_proxy().build()?;
        Ok(Self { address: watch::Sender::new(None), client, talk: Mutex::default() })
    }

    /// A server listens here.
    pub fn is_at(&self, address: SocketAddr) {
        self.address.send_replace(Some(address));
    }

    /// What came of all requests so far.
    pub fn talk(&self) -> RequestTotals {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, note: impl FnOnce(&mut RequestTotals)) {
        note(&mut self.talk.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The server that is there, or the next one.
    async fn current(&self) -> Result<SocketAddr> {
        let mut address = self.address.subscribe();
        let there = tokio::time::timeout(PATIENCE, address.wait_for(Option::is_some)).await;
        there.context("no server came")??.context("no server")
    }

    /// This server is of no more use; wait for the next one.
    fn is_gone(&self, address: SocketAddr) {
        self.address.send_if_modified(|now| {
            let is_there = *now == Some(address);
            if is_there {
                *now = None;
            }
            is_there
        });
    }

    /// Sends a request. `None`: there was no answer, or only that the server is stopping; whether it was heard is not
    /// known.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        fill: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Option<HttpAnswer>> {
        Ok(self.exchange(method, path, fill).await?.filter(|answer| answer.status != 503))
    }

    /// Sends a request. `None`: there was no answer.
    pub(crate) async fn exchange(
        &self,
        method: Method,
        path: &str,
        fill: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Option<HttpAnswer>> {
        let address = self.current().await?;
        let request = self.client.request(method, format!("http://{address}{path}"));
        match fill(request).send().await {
            Ok(response) => self.whole(address, response).await,
            Err(_) => {
                self.note(|talk| talk.broken += 1);
                self.is_gone(address);
                Ok(None)
            }
        }
    }

    async fn whole(&self, address: SocketAddr, response: Response) -> Result<Option<HttpAnswer>> {
        let status = response.status().as_u16();
        let Ok(body) = response.bytes().await else {
            self.note(|talk| talk.half.push(address));
            self.is_gone(address);
            return Ok(None);
        };
        self.note(|talk| *talk.answers.entry(status).or_default() += 1);
        let answer = HttpAnswer { status, body: body.to_vec() };
        match status {
            503 => {
                self.is_gone(address);
                Ok(Some(answer))
            }
            500.. => bail!("the server failed: {answer}"),
            _ => Ok(Some(answer)),
        }
    }

    pub(crate) async fn post(&self, path: &str, body: &Json) -> Result<Option<HttpAnswer>> {
        self.send(Method::POST, path, |request| request.json(body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Option<HttpAnswer>> {
        self.send(Method::GET, path, |request| request).await
    }

    /// Begins to read a stream after an event. `None`: there is no answer.
    pub(crate) async fn open(&self, path: &str, last: u64) -> Result<Option<Response>> {
        let address = self.current().await?;
        let mut request = self.client.get(format!("http://{address}{path}"));
        if last > 0 {
            request = request.header("Last-Event-ID", last);
        }
        match request.send().await {
            Ok(response) if response.status().as_u16() != 503 => Ok(Some(response)),
            _ => {
                self.is_gone(address);
                Ok(None)
            }
        }
    }
}
