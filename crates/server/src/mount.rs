//! Services of the program beside the API, behind the same gate. One asks the API for what its clients want, in the name of
//! the client that asks it: so the gate judges each of these requests, too, and nothing is said twice about who may do what.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::Response;
use axum::routing::post;
use futures::future::BoxFuture;
use tower::ServiceExt;

use crate::auth::USER_HEADER;
use crate::routes::RouteAccess;

type Service = dyn Fn(Request, ApiDoor) -> BoxFuture<'static, Response> + Send + Sync;

/// A service that answers POST requests at one path.
#[derive(Clone)]
pub struct ServerMount {
    pub(crate) path: &'static str,
    pub(crate) access: RouteAccess,
    service: Arc<Service>,
}

impl fmt::Debug for ServerMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, access, .. } = self;
        f.debug_struct("ServerMount").field("path", path).field("access", access).finish_non_exhaustive()
    }
}

impl ServerMount {
    /// A service at a path such as `/mcp`, with what a client needs to ask it anything. It is given each request without what
    /// the client showed to be let in, and a way to ask the API as that client.
    pub fn new(
        path: &'static str,
        access: RouteAccess,
        service: impl Fn(Request, ApiDoor) -> BoxFuture<'static, Response> + Send + Sync + 'static,
    ) -> Self {
        Self { path, access: access.asks_api(), service: Arc::new(service) }
    }

    /// The route, which asks this API. The API itself has no such route, so nothing goes round in circles.
    pub(crate) fn route(&self, api: &Router) -> Router {
        let (service, api) = (Arc::clone(&self.service), api.clone());
        let answer = move |mut request: Request| {
            let shown = request.extensions_mut().remove::<ShownHeaders>().unwrap_or_default();
            let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().copied();
            service(request, ApiDoor { api: api.clone(), shown, peer })
        };
        Router::new().route(self.path, post(answer))
    }
}

/// The headers by which the gate knows a client and its way here.
#[derive(Clone, Default)]
pub(crate) struct ShownHeaders(HeaderMap);

impl ShownHeaders {
    /// Those of a request that was let in.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let user = HeaderName::from_static(USER_HEADER);
        let shown = [header::HOST, header::AUTHORIZATION, user]
            .into_iter()
            .filter_map(|name| Some((name.clone(), headers.get(&name)?.clone())));
        Self(shown.collect())
    }
}

/// The API, as one client may use it.
#[derive(Clone)]
pub struct ApiDoor {
    api: Router,
    shown: ShownHeaders,
    peer: Option<ConnectInfo<SocketAddr>>,
}

impl fmt::Debug for ApiDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiDoor").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl ApiDoor {
    /// Asks the API. The client's rights, rates and limits are those of the answer.
    pub async fn ask(&self, mut request: Request<Body>) -> Response {
        request.headers_mut().extend(self.shown.0.clone());
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(peer);
        }
        let Ok(response) = self.api.clone().oneshot(request).await;
        response
    }
}
