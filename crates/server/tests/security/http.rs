//! The least of an HTTP client: it sends what it is told to, and takes answers apart.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// An answer, with its body put together.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The first value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// That it is a problem with this status and code, as the contract has it.
    #[track_caller]
    pub(crate) fn assert_problem(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let json = self.json();
        assert_eq!(json["code"], code, "{self:?}");
        assert_eq!(json["status"], status);
        assert_eq!(json["type"], format!("/errors/{code}"));
        assert_eq!(json["error"], json["detail"]);
        assert!(!json["title"].as_str().unwrap().is_empty());
        assert!(json.get("errors").is_none());
        let page = page_of(code);
        let statuses = page.split("**HTTP status.** ").nth(1).unwrap_or_default();
        assert!(statuses.contains(&status.to_string()), "the page of {code} says nothing of {status}");
    }
}

/// What docs/errors says of a code.
fn page_of(code: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
    std::fs::read_to_string(format!("{folder}/{code}.md")).unwrap()
}

/// A connection on which anything can be said.
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    /// What came and is not part of an answer yet.
    rest: Vec<u8>,
}

impl Wire {
    pub(crate) fn on(stream: TcpStream) -> Self {
        Self { stream, rest: Vec::new() }
    }

    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self { stream: TcpStream::connect(address).await.unwrap(), rest: Vec::new() }
    }

    /// Sends bytes. The server may have closed already; what it said is read later.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref()).await;
    }

    /// The head of the next answer, without a body; `None` if the connection ends before that.
    pub(crate) async fn head(&mut self) -> Option<Answer> {
        let head = String::from_utf8(self.until(b"\r\n\r\n").await?).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Some(Answer { status, head, body: String::new() })
    }

    /// The next answer; `None` if the connection ends without one.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        let head = self.head().await?;
        self.rest_of(head).await
    }

    /// An answer with the body that follows its head.
    pub(crate) async fn rest_of(&mut self, mut answer: Answer) -> Option<Answer> {
        let body = if answer.header("transfer-encoding").is_some() {
            self.chunked().await
        } else {
            let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
            self.exactly(length).await
        };
        answer.body = String::from_utf8(body?).unwrap();
        Some(answer)
    }

    /// What is left until the server closes the connection.
    pub(crate) async fn until_closed(&mut self) -> Vec<u8> {
        while self.more().await {}
        std::mem::take(&mut self.rest)
    }

    async fn chunked(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.until(b"\r\n").await?;
            let size = usize::from_str_radix(str::from_utf8(&line).unwrap().trim(), 16).unwrap();
            let chunk = self.exactly(size + 2).await?;
            if size == 0 {
                return Some(body);
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }

    async fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(place) = self.rest.windows(end.len()).position(|window| window == end) {
                return Some(self.rest.drain(..place + end.len()).collect());
            }
            if !self.more().await {
                return None;
            }
        }
    }

    async fn exactly(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.rest.len() < length {
            if !self.more().await {
                return None;
            }
        }
        Some(self.rest.drain(..length).collect())
    }

    /// Reads what is there; `false` at the end, which may also be a reset.
    async fn more(&mut self) -> bool {
        matches!(self.stream.read_buf(&mut self.rest).await, Ok(read) if read > 0)
    }
}
