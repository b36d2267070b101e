//! Accepting connections, and getting rid of them: those that are too many, too slow, or open when the server stops.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::StatusCode;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::base_path::BasePath;
use crate::limit::{ClientKey, PermitPool, RequestPermit};
use crate::patient::WriteDeadline;
use crate::problem::{HttpProblem, code};
use crate::settings::Settings;

/// Serves a router until `stop` is over; then takes no more connections, closes those that are idle, lets requests end
/// for as long as the settings allow, and returns.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    settings: &Settings,
    stop: impl Future<Output = ()>,
) {
    let acceptor = ConnectionAcceptor::new(router, settings);
    tokio::select! {
        () = acceptor.accept_all(&listener) => {}
        () = stop => {}
    }
    drop(listener);
    acceptor.drain(settings.drain_timeout).await;
}

/// How long a connection that has no place may take to ask for health or metrics.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Marks the requests of connections that have no place: only probes are answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProbesOnly;

/// What connections share.
struct ConnectionAcceptor {
    router: Router,
    http: http1::Builder,
    /// For connections that have no place.
    probe_http: http1::Builder,
    write_timeout: Duration,
    places: Arc<PermitPool>,
    probe_places: Arc<PermitPool>,
    connections_max: usize,
    base_path: BasePath,
    connections: TaskTracker,
    /// No more requests on any connection.
    stopping: CancellationToken,
    /// No more of anything.
    over: CancellationToken,
}

impl ConnectionAcceptor {
    fn new(router: Router, settings: &Settings) -> Self {
        Self {
            router,
            http: http(settings, settings.head_timeout),
            probe_http: {
                let mut http = http(settings, settings.head_timeout.min(PROBE_TIMEOUT));
                http.keep_alive(false);
                http
            },
            write_timeout: settings.write_timeout,
            places: Arc::new(PermitPool::of_connections(settings.connections_max)),
            probe_places: Arc::new(PermitPool::of_connections(settings.probes_max)),
            connections_max: settings.connections_max,
            base_path: settings.base_path.clone(),
            connections: TaskTracker::new(),
            stopping: CancellationToken::new(),
            over: CancellationToken::new(),
        }
    }

    async fn accept_all(&self, listener: &TcpListener) {
        let rejected = rejected(&self.base_path);
        let mut told_at: Option<Instant> = None;
        loop {
            let (stream, peer) = accept(listener).await;
            let client = ClientKey::at(peer.ip());
            if let Ok(place) = self.places.take(client.clone()) {
                self.accept_connection(stream, peer, place, false);
                continue;
            }
            if told_at.is_none_or(|at| at.elapsed() >= Duration::from_secs(1)) {
                tracing::warn!(%peer, max = self.connections_max, "refused: too many connections");
                told_at = Some(Instant::now());
            }
            match self.probe_places.take(client) {
                Ok(place) => self.accept_connection(stream, peer, place, true),
                Err(_) => reject(stream, &rejected),
            }
        }
    }

    fn accept_connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        place: RequestPermit,
        probes_only: bool,
    ) {
        prepare(&stream, self.write_timeout);
        let stream = TokioIo::new(WriteDeadline::new(stream, self.write_timeout));
        let (router, base_path) = (self.router.clone(), self.base_path.clone());
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let mut request = request.map(Body::new);
            if let Some(uri) = base_path.strip(request.uri()) {
                *request.uri_mut() = uri;
            }
            request.extensions_mut().insert(ConnectInfo(peer));
            if probes_only {
                request.extensions_mut().insert(ProbesOnly);
            }
            router.clone().call(request)
        });
        let http = if probes_only { &self.probe_http } else { &self.http };
        let connection = http.serve_connection(stream, service);
        let (stopping, over) = (self.stopping.clone(), self.over.clone());
        self.connections.spawn(async move {
            let _place = place;
            let mut connection = pin!(connection);
            let orderly = async {
                tokio::select! {
                    ended = connection.as_mut() => return ended,
                    () = stopping.cancelled() => connection.as_mut().graceful_shutdown(),
                }
                connection.await
            };
            tokio::select! {
                ended = orderly => {
                    if let Err(error) = ended {
                        tracing::debug!(%peer, %error, "a connection broke off");
                    }
                }
                () = over.cancelled() => tracing::warn!(%peer, "a request did not end in time and was cut short"),
            }
        });
    }

    async fn drain(&self, drain_timeout: Duration) {
        self.stopping.cancel();
        self.connections.close();
        if tokio::time::timeout(drain_timeout, self.connections.wait()).await.is_err() {
            self.over.cancel();
            self.connections.wait().await;
        }
    }
}

fn http(settings: &Settings, head_timeout: Duration) -> http1::Builder {
    /// What hyper cannot do without.
    const HEAD_MIN_BYTES: usize = 8 * 1024;
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .max_buf_size(settings.head_max_bytes.max(HEAD_MIN_BYTES));
    http
}

/// The next connection. One that breaks off at once is none; without file descriptors there will be some again.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(connection) => return connection,
            Err(error) if is_of_connection(&error) => {}
            Err(error) => {
                tracing::error!(%error, "cannot accept connections");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Small answers leave at once; a peer that vanished without a word is noticed when it acknowledges nothing.
fn prepare(stream: &TcpStream, timeout: Duration) {
    let socket = socket2::SockRef::from(stream);
    let prepared = socket.set_tcp_nodelay(true);
    #[cfg(target_os = "linux")]
    let prepared = prepared.and_then(|()| socket.set_tcp_user_timeout(Some(timeout)));
    #[cfg(not(target_os = "linux"))]
    let _ = timeout;
    if let Err(error) = prepared {
        tracing::debug!(%error, "cannot prepare a connection");
    }
}

/// What is said on a connection that is one too many.
pub(crate) fn too_many_connections() -> HttpProblem {
    let error = "there are as many connections as this server takes, in all or from one address; close some";
    HttpProblem::new(StatusCode::SERVICE_UNAVAILABLE, code::TOO_MANY_CONNECTIONS, error)
}

/// The whole answer to a connection that is one too many, and of which nothing is read.
fn rejected(base: &BasePath) -> Vec<u8> {
    let body = too_many_connections().json(base);
    let mut answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(&body);
    answer
}

/// Says why and closes, without waiting: there is no place to wait in.
fn reject(stream: TcpStream, answer: &[u8]) {
    let told = stream.into_std().and_then(|mut stream| stream.write(answer));
    if let Err(error) = told {
        tracing::debug!(%error, "cannot say that there are too many connections");
    }
}
