//! A server with a few routes of its own, behind everything that the real one is behind.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use futures::StreamExt;
use rival_core::Time;
use rival_server::auth::AccessScope;
use rival_server::listen;
use rival_server::routes::{self, RouteBuilder};
use rival_server::secure::{SecureError, secure};
use rival_server::settings::Settings;
use rival_server::token::TokenFile;
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use utoipa_axum::router::UtoipaMethodRouterExt;
use utoipa_axum::routes;

use crate::http::{Answer, Wire};

/// How large `/large` is.
pub(crate) const LARGE: usize = 32 << 20;

/// What the handlers do.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// How often something with an effect was called.
    pub(crate) effects: AtomicUsize,
    /// Notified when a client asks for `/slow`.
    pub(crate) slow_began: Notify,
    /// Lets `/slow` end.
    pub(crate) slow_may_end: Notify,
}

type Worlds = State<Arc<World>>;

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) world: Arc<World>,
    pub(crate) tokens: TokenFile,
    _folder: TempDir,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) task: JoinHandle<()>,
}

impl Server {
    /// On loopback, where no tokens are needed.
    pub(crate) async fn start() -> Self {
        Self::with(|_| ()).await
    }

    /// That wants tokens.
    pub(crate) async fn private() -> Self {
        Self::with(|settings| settings.require_token = Some(true)).await
    }

    /// With settings of its own. There is an admin's token called `first`, so that it may want tokens.
    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let tokens = TokenFile::new(folder.path().join("tokens.json"));
        tokens.create("first", AccessScope::Admin, Time(0), None).unwrap();
        let mut settings = settings(address, tokens.path().to_owned());
        change(&mut settings);
        let world = Arc::new(World::default());
        let router = secure(test_routes(Arc::clone(&world)), &settings).unwrap();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            listen::serve(listener, router, &settings, stopped).await;
        });
        Self { address, world, tokens, _folder: folder, stop: Some(stop), task }
    }

    /// A token that never expires.
    pub(crate) fn token(&self, scope: AccessScope) -> String {
        self.tokens.create(scope.as_str(), scope, Time(0), None).unwrap().secret
    }

    pub(crate) fn effects(&self) -> usize {
        self.world.effects.load(Ordering::Relaxed)
    }

    pub(crate) async fn wire(&self) -> Wire {
        Wire::open(self.address).await
    }

    /// The answer to bytes sent as they are.
    pub(crate) async fn raw(&self, bytes: impl AsRef<[u8]>) -> Option<Answer> {
        let mut wire = self.wire().await;
        let bytes = bytes.as_ref();
        wire.send(bytes).await;
        if bytes.starts_with(b"HEAD ") { wire.head().await } else { wire.answer().await }
    }

    /// The answer to a request without a body, with these header lines besides Host.
    pub(crate) async fn ask(&self, method: &str, path: &str, lines: &[&str]) -> Answer {
        self.raw(self.head(method, path, lines) + "\r\n").await.expect("an answer")
    }

    pub(crate) async fn get(&self, path: &str, lines: &[&str]) -> Answer {
        self.ask("GET", path, lines).await
    }

    /// The answer to a POST of JSON.
    pub(crate) async fn post(&self, path: &str, lines: &[&str], body: &str) -> Answer {
        let lines = [lines, &["Content-Type: application/json"]].concat();
        self.post_as(path, &lines, body).await
    }

    /// The answer to a POST of anything.
    pub(crate) async fn post_as(&self, path: &str, lines: &[&str], body: &str) -> Answer {
        let length = format!("Content-Length: {}", body.len());
        let head = self.head("POST", path, &[lines, &[&length]].concat());
        self.raw(format!("{head}\r\n{body}")).await.expect("an answer")
    }

    /// A request's head without the empty line that ends it.
    pub(crate) fn head(&self, method: &str, path: &str, lines: &[&str]) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        for line in lines {
            head.push_str(line);
            head.push_str("\r\n");
        }
        head
    }

    /// That whatever was done to the server, it still answers, and lets effects happen.
    pub(crate) async fn assert_well(&self) {
        assert_eq!(self.get("/open", &[]).await.status, 200);
        let token = format!("Authorization: Bearer {}", self.token(AccessScope::Admin));
        let before = self.effects();
        assert_eq!(self.post("/run", &[&token], "{}").await.status, 200);
        assert_eq!(self.effects(), before + 1);
    }

    /// Tells the server to stop, and waits until it has.
    pub(crate) async fn stop(mut self) {
        self.begin_to_stop();
        self.task.await.unwrap();
    }

    pub(crate) fn begin_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }
}

/// The defaults, except that the token file is looked at every time, and that tests may ask as often as they like.
pub(crate) fn settings(listen: SocketAddr, tokens: PathBuf) -> Settings {
    let tokens_max_age = Duration::ZERO;
    Settings { listen, tokens, tokens_max_age, requests_per_second: Some(0), ..Settings::default() }
}

/// Whether a server with these settings could be.
pub(crate) fn try_secure(settings: &Settings) -> Result<(), SecureError> {
    secure(test_routes(Arc::default()), settings).map(drop)
}

pub(crate) fn test_routes(world: Arc<World>) -> RouteBuilder {
    RouteBuilder::new(utoipa::openapi::OpenApi::default())
        .routes(routes::open(), routes!(open))
        .routes(routes::read(), routes!(look))
        .routes(routes::run(), routes!(act))
        .routes(routes::run().payload(), routes!(carry))
        .routes(routes::admin(), routes!(rule))
        .routes(routes::read().stream(), routes!(flood))
        .routes(routes::read().stream(), routes!(quiet))
        .routes(routes::open(), routes!(slow))
        .routes(routes::open().waits(), routes!(wait))
        .routes(routes::open().probe(), routes!(probe))
        .routes(routes::open(), routes!(large))
        .routes(routes::open(), routes!(broken))
        .page(routes::open(), "/page", page)
        // Only GET is declared as open: no declaration says what the other methods need.
        .routes(routes::open(), routes!(half_said).map(|all| all.post(unsaid).options(unsaid).trace(unsaid)))
        .with_state(world)
}

#[utoipa::path(get, path = "/open", responses((status = 200)))]
async fn open() -> &'static str {
    "open"
}

#[utoipa::path(get, path = "/read", responses((status = 200)))]
async fn look(headers: HeaderMap) -> String {
    format!("authorization seen: {}", headers.contains_key("authorization"))
}

#[utoipa::path(post, path = "/run", request_body = Value, responses((status = 200)))]
async fn act(State(world): Worlds, body: Bytes) -> String {
    world.effects.fetch_add(1, Ordering::Relaxed);
    body.len().to_string()
}

#[utoipa::path(post, path = "/payload", responses((status = 200)))]
async fn carry(State(world): Worlds, Json(body): Json<Value>) -> Json<Value> {
    world.effects.fetch_add(1, Ordering::Relaxed);
    Json(body)
}

#[utoipa::path(post, path = "/admin", responses((status = 200)))]
async fn rule(State(world): Worlds) {
    world.effects.fetch_add(1, Ordering::Relaxed);
}

/// A stream that never ends and is as fast as its client.
#[utoipa::path(get, path = "/flood", responses((status = 200)))]
async fn flood() -> Body {
    let event = Bytes::from(format!("data: {}\n\n", "x".repeat(64 * 1024)));
    Body::from_stream(futures::stream::repeat(event).map(Ok::<_, std::io::Error>))
}

/// A stream with one event, which never ends.
#[utoipa::path(get, path = "/quiet", responses((status = 200)))]
async fn quiet() -> Body {
    let event = futures::stream::iter([Bytes::from_static(b"data: hello\n\n")]);
    Body::from_stream(event.chain(futures::stream::pending()).map(Ok::<_, std::io::Error>))
}

#[utoipa::path(get, path = "/slow", responses((status = 200)))]
async fn slow(State(world): Worlds) -> &'static str {
    world.slow_began.notify_one();
    world.slow_may_end.notified().await;
    "at last"
}

#[utoipa::path(get, path = "/wait", responses((status = 200)))]
async fn wait(world: Worlds) -> &'static str {
    slow(world).await
}

#[utoipa::path(get, path = "/probe", responses((status = 200)))]
async fn probe() -> &'static str {
    "well"
}

/// More than the buffers of a connection hold.
#[utoipa::path(get, path = "/large", responses((status = 200)))]
async fn large() -> Vec<u8> {
    vec![b'x'; LARGE]
}

#[utoipa::path(get, path = "/panic", responses((status = 200)))]
async fn broken() -> &'static str {
    panic!("a handler's own bug")
}

async fn page() -> axum::response::Html<&'static str> {
    axum::response::Html("<p>page</p>")
}

#[utoipa::path(get, path = "/half-said", responses((status = 200)))]
async fn half_said() {}

async fn unsaid(State(world): Worlds) {
    world.effects.fetch_add(1, Ordering::Relaxed);
}
