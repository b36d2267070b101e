//! Requests under a policy, over real sockets.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use reqwest::{Client, Method, Request};
use rival_outgoing::{AddressRefused, OutgoingClient, OutgoingPolicy, SendError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server on loopback that answers everything with one head, and remembers the heads of requests.
struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(answer: impl Into<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, answer) = (listener.local_addr().unwrap(), answer.into());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let known = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                    let mut chunk = [0; 1024];
                    match stream.read(&mut chunk).await {
                        Ok(0) | Err(_) => break,
                        Ok(count) => head.extend_from_slice(&chunk[..count]),
                    }
                }
                known.lock().unwrap().push(String::from_utf8(head).unwrap());
                let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Self { address, seen }
    }

    fn url(&self, host: &str) -> String {
        format!("http://{host}:{}/", self.address.port())
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn request(method: Method, url: &str) -> Request {
    let mut request = Request::new(method, url.parse().unwrap());
    request.headers_mut().insert("authorization", "Bearer secret".parse().unwrap());
    request
}

async fn send(policy: OutgoingPolicy, request: Request) -> Result<u16, SendError> {
    let client = OutgoingClient::new(policy, Client::builder).unwrap();
    client.send(request, 5).await.map(|response| response.status().as_u16())
}

fn loopback() -> OutgoingPolicy {
    OutgoingPolicy::public().allow_loopback()
}

#[tokio::test]
async fn a_name_is_judged_by_what_it_means() {
    let server = Server::start("200 OK").await;
    let asked = send(OutgoingPolicy::public(), request(Method::GET, &server.url("localhost"))).await;
    let Err(SendError::Refused(AddressRefused::NotPublic { host, address, .. })) = asked else {
        panic!("{asked:?}");
    };
    assert_eq!((host.as_str(), address.is_loopback()), ("localhost", true));
    assert!(server.seen().is_empty());
    let by_name = OutgoingPolicy::public().allow("localhost").unwrap();
    assert_eq!(send(by_name, request(Method::GET, &server.url("localhost"))).await.unwrap(), 200);
}

#[tokio::test]
async fn a_redirect_does_not_lead_past_the_policy() {
    let inside = Server::start("200 OK").await;
    for host in ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"] {
        let outside =
            Server::start(format!("307 Temporary Redirect\r\nlocation: {}", inside.url(host))).await;
        let policy = loopback().never(inside.address);
        let asked = send(policy, request(Method::POST, &outside.url("localhost"))).await;
        // What is not loopback by its number is not allowed anyway.
        assert!(matches!(asked, Err(SendError::Refused(_))), "{host}: {asked:?}");
        assert_eq!(outside.seen().len(), 1);
    }
    assert!(inside.seen().is_empty());
}

#[tokio::test]
async fn redirects_are_followed_as_the_fetch_standard_says() {
    let last = Server::start("200 OK").await;
    let first = Server::start(format!("302 Found\r\nlocation: {}there", last.url("127.0.0.1"))).await;
    assert_eq!(send(loopback(), request(Method::POST, &first.url("127.0.0.1"))).await.unwrap(), 200);
    let seen = last.seen().remove(0);
    // POST becomes GET, and another host gets no secret.
    assert!(seen.starts_with("GET /there HTTP/1.1\r\n"), "{seen}");
    assert!(!seen.contains("authorization"), "{seen}");
    let kept = Server::start(format!("308 Permanent Redirect\r\nlocation: {}", last.url("127.0.0.1"))).await;
    send(loopback(), request(Method::PUT, &kept.url("127.0.0.1"))).await.unwrap();
    assert!(last.seen()[1].starts_with("PUT / HTTP/1.1\r\n"));
    let circle = Server::start("301 Moved Permanently\r\nlocation: /").await;
    let asked = send(loopback(), request(Method::GET, &circle.url("127.0.0.1"))).await;
    assert!(matches!(asked, Err(SendError::TooManyRedirects(5))), "{asked:?}");
    assert_eq!(circle.seen().len(), 6);
    let elsewhere = Server::start("301 Moved Permanently\r\nlocation: file:///etc/passwd").await;
    let asked = send(loopback(), request(Method::GET, &elsewhere.url("127.0.0.1"))).await;
    assert!(matches!(asked, Err(SendError::RedirectScheme(scheme)) if scheme == "file"));
}
