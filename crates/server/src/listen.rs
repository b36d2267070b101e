//! Accepting connections, and getting rid of them: those that are too many, too slow, or open when the server stops.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::http::StatusCode;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::base_path::BasePath;
use crate::limit::{ClientKey, PermitPool, RequestPermit};
use crate::parked::{self, CallSlot, ParkedCall, RequestForm, SlotCall};
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
    head_timeout: Duration,
    probe_head_timeout: Duration,
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
        let (head_timeout, probe_head_timeout) =
            (settings.head_timeout, settings.head_timeout.min(PROBE_TIMEOUT));
        Self {
            router,
            http: http(settings, head_timeout),
            probe_http: {
                let mut http = http(settings, probe_head_timeout);
                http.keep_alive(false);
                http
            },
            head_timeout,
            probe_head_timeout,
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
        let slot = Arc::<CallSlot>::default();
        let service = RouterService {
            router: self.router.clone(),
            base_path: self.base_path.clone(),
            peer,
            probes_only,
            slot: Arc::clone(&slot),
        };
        let http = if probes_only { &self.probe_http } else { &self.http };
        let connection = ServedConnection {
            http: http.clone(),
            head_timeout: if probes_only { self.probe_head_timeout } else { self.head_timeout },
            service,
            slot,
            stopping: self.stopping.clone(),
        };
        let (stream, over) = (WriteDeadline::new(stream, self.write_timeout), self.over.clone());
        self.connections.spawn(async move {
            let _place = place;
            tokio::select! {
                ended = connection.serve(stream) => {
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

/// One connection, from its first byte on.
struct ServedConnection {
    http: http1::Builder,
    head_timeout: Duration,
    service: RouterService,
    slot: Arc<CallSlot>,
    stopping: CancellationToken,
}

/// How far a connection has come.
enum ConnectionStage {
    Ended(hyper::Result<()>),
    /// Its request waits; what the peer has sent beyond it comes with it.
    Waits(ParkedCall, WriteDeadline, Bytes),
}

impl ServedConnection {
    /// Serves a connection to its end. While it is silent, and while its request waits, it holds no buffers.
    async fn serve(self, mut stream: WriteDeadline) -> hyper::Result<()> {
        tokio::select! {
            spoken = tokio::time::timeout(self.head_timeout, stream.has_spoken()) => {
                if !matches!(spoken, Ok(Ok(()))) {
                    return Ok(());
                }
            }
            () = self.stopping.cancelled() => return Ok(()),
        }
        loop {
            // Apart, because it is large and thousands of requests may wait below.
            let (mut waits, waiting, rest) = match Box::pin(self.converse(stream)).await {
                ConnectionStage::Ended(ended) => return ended,
                ConnectionStage::Waits(call, stream, rest) => (call, stream, rest),
            };
            stream = waiting;
            let answer = tokio::select! {
                biased;
                Ok(answer) = waits.call.as_mut() => answer,
                // The client has left, and with it who the answer is for.
                () = stream.is_left() => return Ok(()),
            };
            let head = waits.head(self.stopping.is_cancelled());
            stream.read_first([head.as_bytes(), &rest].concat().into());
            *parked::lock(&self.slot.answer) = Some(answer);
        }
    }

    /// Lets hyper read and answer requests until the connection ends, or one waits.
    async fn converse(&self, stream: WriteDeadline) -> ConnectionStage {
        let flushed = stream.flushed();
        let mut connection = self.http.serve_connection(TokioIo::new(stream), self.service.clone());
        let mut is_stopping = false;
        let ended = loop {
            // An answer that was not written yet is still with hyper.
            let step = poll_fn(|context| match Pin::new(&mut connection).poll(context) {
                Poll::Pending if self.slot.waits() && flushed.load(Ordering::Relaxed) => Poll::Ready(None),
                polled => polled.map(Some),
            });
            tokio::select! {
                // What was sent is read before the connection is told to stop.
                biased;
                ended = step => break ended,
                () = self.stopping.cancelled(), if !is_stopping => {
                    is_stopping = true;
                    Pin::new(&mut connection).graceful_shutdown();
                }
            }
        };
        let parked = match ended {
            Some(ended) => return ConnectionStage::Ended(ended),
            None => self.slot.park(),
        };
        let http1::Parts { io, read_buf, .. } = connection.into_parts();
        match parked {
            Some(parked) => ConnectionStage::Waits(parked, io.into_inner(), own_copy(&read_buf)),
            None => ConnectionStage::Ended(Ok(())),
        }
    }
}

/// A copy of what there is: the bytes themselves would keep the whole buffer.
fn own_copy(bytes: &Bytes) -> Bytes {
    Bytes::copy_from_slice(bytes)
}

/// The router, as hyper calls it.
#[derive(Clone)]
struct RouterService {
    router: Router,
    base_path: BasePath,
    peer: SocketAddr,
    probes_only: bool,
    slot: Arc<CallSlot>,
}

impl hyper::service::Service<hyper::Request<Incoming>> for RouterService {
    type Response = Response;
    type Error = Infallible;
    type Future = SlotCall;

    fn call(&self, request: hyper::Request<Incoming>) -> SlotCall {
        if self.slot.is_answered() {
            return self.slot.begin(None);
        }
        let mut request = request.map(Body::new);
        if let Some(uri) = self.base_path.strip(request.uri()) {
            *request.uri_mut() = uri;
        }
        request.extensions_mut().insert(ConnectInfo(self.peer));
        if self.probes_only {
            request.extensions_mut().insert(ProbesOnly);
        }
        request.extensions_mut().insert(self.slot.notice());
        let form = RequestForm::of(&request);
        self.slot.begin(Some(ParkedCall { form, call: Box::pin(self.router.clone().call(request)) }))
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

#[cfg(test)]
mod tests {
    use axum::Extension;
    use axum::routing::get;
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::parked::WaitNotice;

    async fn connection(router: Router) -> (ServedConnection, WriteDeadline, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, address) = listener.accept().await.unwrap();
        let slot = Arc::<CallSlot>::default();
        let service = RouterService {
            router,
            base_path: BasePath::default(),
            peer: address,
            probes_only: false,
            slot: Arc::clone(&slot),
        };
        let head_timeout = Duration::from_secs(60);
        let http = http(&Settings::default(), head_timeout);
        let served =
            ServedConnection { http, head_timeout, service, slot, stopping: CancellationToken::new() };
        (served, WriteDeadline::new(stream, head_timeout), peer)
    }

    #[tokio::test]
    async fn a_connection_is_taken_apart_while_its_request_waits() {
        let waits = |Extension(notice): Extension<WaitNotice>| async {
            notice.give();
            std::future::pending::<()>().await;
        };
        let (served, stream, mut peer) = connection(Router::new().route("/", get(waits))).await;
        peer.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /next").await.unwrap();
        let ConnectionStage::Waits(_, _, rest) = served.converse(stream).await else {
            panic!("it is still with hyper");
        };
        assert_eq!(&rest[..], b"GET /next");
    }

    /// Ten thousand of them are there at a time.
    #[tokio::test]
    async fn a_connection_is_small_but_for_what_it_does() {
        let (served, stream, _peer) = connection(Router::new()).await;
        let size = size_of_val(&served.serve(stream));
        assert!(size < 1_500, "{size} bytes");
    }
}
