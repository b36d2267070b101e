//! Routes, each with what it needs. There is no way to add one without saying so.

use std::collections::HashMap;

use axum::Router;
use axum::handler::Handler;
use axum::http::{Method, StatusCode, Uri};
use axum::routing::get;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::auth::AccessScope;
use crate::document;
use crate::problem::{HttpProblem, code};

/// What a route needs and takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteAccess {
    pub(crate) scope: Option<AccessScope>,
    pub(crate) payload: bool,
    pub(crate) stream: bool,
    pub(crate) waits: RouteWaits,
    pub(crate) probe: bool,
    pub(crate) tagged: bool,
    pub(crate) asks_api: bool,
}

/// Whether requests wait for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteWaits {
    Never,
    Always,
    /// If the query has this key.
    If(&'static str),
}

/// For everyone, without a token.
pub const fn open() -> RouteAccess {
    RouteAccess {
        scope: None,
        payload: false,
        stream: false,
        waits: RouteWaits::Never,
        probe: false,
        tagged: false,
        asks_api: false,
    }
}

/// For tokens that may read.
pub const fn read() -> RouteAccess {
    RouteAccess { scope: Some(AccessScope::Read), ..open() }
}

/// For tokens that may start runs and steer them.
pub const fn run() -> RouteAccess {
    RouteAccess { scope: Some(AccessScope::Run), ..open() }
}

/// For tokens that may do everything.
pub const fn admin() -> RouteAccess {
    RouteAccess { scope: Some(AccessScope::Admin), ..open() }
}

impl RouteAccess {
    /// The body carries a payload, so it may be larger than those of other routes.
    #[must_use]
    pub const fn payload(self) -> Self {
        Self { payload: true, ..self }
    }

    /// The answer is a live stream; so many may be open at a time.
    #[must_use]
    pub const fn stream(self) -> Self {
        Self { stream: true, ..self }
    }

    /// The answer takes its time; so many requests may wait at once.
    #[must_use]
    pub const fn waits(self) -> Self {
        Self { waits: RouteWaits::Always, ..self }
    }

    /// The answer takes its time if the query has this key.
    #[must_use]
    pub const fn waits_if(self, key: &'static str) -> Self {
        Self { waits: RouteWaits::If(key), ..self }
    }

    /// A monitoring system asks this: it is answered whatever other clients do, and not counted against their rate.
    #[must_use]
    pub const fn probe(self) -> Self {
        Self { probe: true, ..self }
    }

    /// The answer has an `ETag`, and is not sent to a client that has it.
    #[must_use]
    pub const fn tagged(self) -> Self {
        Self { tagged: true, ..self }
    }

    /// What answers asks the API itself, as the client that asks it.
    #[must_use]
    pub(crate) const fn asks_api(self) -> Self {
        Self { asks_api: true, ..self }
    }

    /// Whether a request with this query waits.
    pub(crate) fn waits_with(self, query: Option<&str>) -> bool {
        let has = |key: &str| {
            let mut pairs = query.unwrap_or_default().split('&');
            pairs.any(|pair| pair.split('=').next() == Some(key))
        };
        match self.waits {
            RouteWaits::Never => false,
            RouteWaits::Always => true,
            RouteWaits::If(key) => has(key),
        }
    }
}

/// What each method of each path needs. A path that is not in it needs everything; a method that is not is refused.
#[derive(Clone, Debug, Default)]
pub struct RouteRules(HashMap<String, Vec<(Method, RouteAccess)>>);

impl RouteRules {
    fn add(&mut self, path: &str, method: Method, access: RouteAccess) {
        self.0.entry(path.to_owned()).or_default().push((method, access));
    }

    /// What a request for the route with this path needs, or else the methods that the path takes. HEAD is answered by
    /// what answers GET. No rule says what any other method needs, so no handler gets such a request.
    pub(crate) fn of(&self, method: &Method, path: &str) -> Result<RouteAccess, String> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let Some(rules) = self.0.get(path) else { return Ok(admin()) };
        let rule = rules.iter().find(|(of, _)| of == method);
        rule.map(|(_, access)| *access).ok_or_else(|| taken(rules))
    }
}

/// The methods that these rules are about, as the header Allow lists them.
fn taken(rules: &[(Method, RouteAccess)]) -> String {
    let names: Vec<&str> = rules
        .iter()
        .map(|(method, _)| if method == Method::GET { "GET,HEAD" } else { method.as_str() })
        .collect();
    names.join(",")
}

/// Routes in the making: axum's, their OpenAPI document, and what they need. Paths are whole: `/api/runs/{id}`.
pub struct RouteBuilder<S = ()> {
    router: OpenApiRouter<S>,
    rules: RouteRules,
}

impl<S> std::fmt::Debug for RouteBuilder<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Routes").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl<S: Clone + Send + Sync + 'static> RouteBuilder<S> {
    /// No routes yet, and what the document says besides routes.
    pub fn new(mut document: OpenApi) -> Self {
        document::add_components(&mut document);
        Self { router: OpenApiRouter::with_openapi(document), rules: RouteRules::default() }
    }

    /// Adds documented handlers of one path, as `routes!` gives them.
    #[must_use]
    pub fn routes(mut self, access: RouteAccess, mut routes: UtoipaMethodRouter<S>) -> Self {
        for (path, item) in &mut routes.1.paths {
            for (method, operation) in document::operations(item) {
                document::describe(operation, &method, access);
                self.rules.add(path, method, access);
            }
        }
        Self { router: self.router.routes(routes), rules: self.rules }
    }

    /// Adds a handler of GET requests that is not in the document: a page, the document itself.
    #[must_use]
    pub fn page<T: 'static>(mut self, access: RouteAccess, path: &str, handler: impl Handler<T, S>) -> Self {
        self.rules.add(path, Method::GET, access);
        Self { router: self.router.route(path, get(handler)), rules: self.rules }
    }

    /// Says what a POST request needs that a mounted service answers, which is no part of the API.
    #[must_use]
    pub(crate) fn mounted(mut self, path: &str, access: RouteAccess) -> Self {
        self.rules.add(path, Method::POST, access);
        self
    }

    /// The document of what was added so far.
    pub fn document(&self) -> &OpenApi {
        self.router.get_openapi()
    }

    /// Gives the handlers what they ask for.
    #[must_use]
    pub fn with_state<S2>(self, state: S) -> RouteBuilder<S2> {
        RouteBuilder { router: self.router.with_state(state), rules: self.rules }
    }

    /// Axum's router and what its routes need, for [`secure`](crate::secure::secure).
    pub(crate) fn split(self) -> (Router<S>, RouteRules) {
        let router = self.router.split_for_parts().0;
        (router.fallback(async |uri: Uri| no_such_path(&uri)), self.rules)
    }
}

/// What is answered where there is nothing.
pub(crate) fn no_such_path(uri: &Uri) -> HttpProblem {
    let error = format!("there is nothing at `{}`; the API is described at /api/docs", uri.path());
    HttpProblem::new(StatusCode::NOT_FOUND, code::NOT_FOUND, error)
}
