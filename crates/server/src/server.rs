//! The server: an engine, behind routes, behind a gate.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use rival_authoring::Documents;
use rival_engine::Engine;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};

use crate::app::AppState;
use crate::connections::ConnectionControl;
use crate::mount::ServerMount;
use crate::secure::{SecureError, SharedGate};
use crate::settings::Settings;
use crate::trace::RequestTracer;
use crate::{api, docs, document, listen, metrics, pages, trace};

/// An engine over HTTP. `docs/http.md` shows how it is used.
#[derive(Debug)]
pub struct Server {
    router: Router,
    settings: Settings,
    draining: CancellationToken,
    stop: CancellationToken,
}

/// A server in the making: an engine, and what else it offers.
pub struct ServerBuilder {
    engine: Engine,
    settings: Settings,
    documents: Option<Documents>,
    connections: Option<Arc<dyn ConnectionControl>>,
    mounts: Vec<ServerMount>,
}

impl std::fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerBuilder").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl ServerBuilder {
    /// Lets clients create, change and delete these documents. Without it, the server has none.
    #[must_use]
    pub fn documents(mut self, documents: Documents) -> Self {
        self.documents = Some(documents);
        self
    }

    /// Puts a service of the program beside the API, behind the same gate.
    #[must_use]
    pub fn mount(mut self, mount: ServerMount) -> Self {
        self.mounts.push(mount);
        self
    }

    /// Lets clients look at these connections, and admins define some. Without it, the server has none.
    #[must_use]
    pub fn connections(mut self, connections: Arc<dyn ConnectionControl>) -> Self {
        self.connections = Some(connections);
        self
    }

    /// Puts it all behind the API.
    ///
    /// # Errors
    /// If the settings are wrong, the token file cannot be read, or tokens are needed and there is none.
    pub fn build(self) -> Result<Server, SecureError> {
        Server::on(self)
    }
}

/// Tells balancers that a server is about to stop.
#[derive(Clone, Debug)]
pub struct DrainSwitch(CancellationToken);

impl DrainSwitch {
    /// From now on `/readyz` answers 503. Everything else works as before, so that a balancer has time to send its
    /// clients elsewhere.
    pub fn begin(&self) {
        self.0.cancel();
    }
}

impl Server {
    /// Puts an engine behind the API, as the settings ask for.
    ///
    /// # Errors
    /// If the settings are wrong, the token file cannot be read, or tokens are needed and there is none.
    pub fn new(engine: Engine, settings: Settings) -> Result<Self, SecureError> {
        Self::builder(engine, settings).build()
    }

    /// The same, with more to offer than the engine itself.
    pub fn builder(engine: Engine, settings: Settings) -> ServerBuilder {
        ServerBuilder { engine, settings, documents: None, connections: None, mounts: Vec::new() }
    }

    fn on(parts: ServerBuilder) -> Result<Self, SecureError> {
        let ServerBuilder { engine, settings, documents, connections, mounts } = parts;
        let (draining, stop) = (CancellationToken::new(), CancellationToken::new());
        let mut app = AppState::new(engine, documents, &settings.base_path, draining.clone(), stop.clone());
        app.connections = connections;
        let (metrics, engine) = (Arc::clone(&app.metrics), app.engine.clone());
        let routes = pages::errors(docs::pages(api::routes(), &settings)).with_state(app);
        let routes = mounts.iter().fold(routes, |routes, mount| routes.mounted(mount.path, mount.access));
        let (routes, rules) = routes.split();
        let tracer = Arc::new(RequestTracer { engine, rules: rules.clone() });
        let gate = SharedGate::new(rules, &settings)?;
        // Outermost: what is refused counts too.
        let served = |router: Router| {
            gate.before(router)
                .layer(compression())
                .layer(from_fn_with_state(Arc::clone(&tracer), trace::trace))
                .layer(from_fn_with_state(Arc::clone(&metrics), metrics::count))
        };
        let api = served(routes);
        let router = mounts.iter().fold(api.clone(), |all, mount| all.merge(served(mount.route(&api))));
        Ok(Self { router, settings, draining, stop })
    }

    /// What to begin with when the server is asked to stop.
    pub fn drain_switch(&self) -> DrainSwitch {
        DrainSwitch(self.draining.clone())
    }

    /// Serves until `stop` is over; then streams end, requests that are under way are answered, and it returns. The
    /// engine is left as it is.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let Self { router, settings, stop: stopping, .. } = self;
        let stop = async move {
            stop.await;
            stopping.cancel();
        };
        listen::serve(listener, router, &settings, stop).await;
    }

    /// The routes, for a caller in this process that uses no network.
    pub fn router(&self) -> Router {
        self.router.clone()
    }
}

/// Answers are compressed if the client takes that, except for small ones and live streams, of which each frame is to be
/// sent at once.
fn compression() -> CompressionLayer<impl Predicate> {
    const WORTHWHILE_BYTES: u16 = 1024;
    let predicate = SizeAbove::new(WORTHWHILE_BYTES).and(NotForContentType::SSE);
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(predicate)
}

/// The OpenAPI document.
pub fn openapi() -> serde_json::Value {
    document::finish(api::routes().document())
}
