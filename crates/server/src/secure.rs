//! The one place that every request passes: where it goes and comes from, who sends it, what that may do, how often
//! and how much; and what every answer carries.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit, MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use futures::FutureExt;

use crate::auth::{self, AnonymousRights, ApiCaller, CallerName};
use crate::base_path::BasePath;
use crate::etag::{self, KnownTags};
use crate::flight::{ByteQuota, BytesInFlight};
use crate::guard::{self, DeclaredBody, GuardError, OriginGuard};
use crate::keyring::TokenKeyring;
use crate::limit::{self, BodyLimits, ClientKey, PermitBody, PermitPool, RateLimiter, RequestPermit};
use crate::listen::{self, ProbesOnly};
use crate::local_secret::{self, LocalSecret};
use crate::mount::ShownHeaders;
use crate::parked::WaitNotice;
use crate::problem::{HttpProblem, code};
use crate::routes::{self, RouteAccess, RouteBuilder, RouteRules};
use crate::settings::Settings;
use crate::tickets::{self, StreamTickets, TicketDesk};
use crate::token::{TokenError, TokenFile};

/// The server cannot be made safe as it is set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecureError {
    /// A host or origin is wrong.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The tokens cannot be read.
    #[error(transparent)]
    Tokens(#[from] TokenError),
    /// Every request needs a token, and there is none.
    #[error(
        "a server on {listen} needs tokens, and there is none in {}: make one with `rival token create NAME` and the \
         same --store, or give one as RIVAL_ADMIN_TOKEN",
        .tokens.display()
    )]
    NoTokens {
        /// Where the server would listen.
        listen: SocketAddr,
        /// The token file.
        tokens: std::path::PathBuf,
    },
}

/// Puts routes behind everything that the settings ask for.
///
/// # Errors
/// If the settings are wrong, the token file cannot be read, or tokens are needed and there is none.
pub fn secure(routes: RouteBuilder, settings: &Settings) -> Result<Router, SecureError> {
    let (router, rules) = routes.split();
    Ok(SharedGate::new(rules, settings)?.before(router))
}

/// A gate that several routers are behind: they share tokens, rates and limits.
#[derive(Clone, Debug)]
pub(crate) struct SharedGate(Arc<RequestGate>);

impl SharedGate {
    pub(crate) fn new(rules: RouteRules, settings: &Settings) -> Result<Self, SecureError> {
        Ok(Self(Arc::new(RequestGate::new(rules, settings)?)))
    }

    /// The router, behind the gate.
    pub(crate) fn before(&self, router: Router) -> Router {
        // The gate reads bodies, with limits of its own.
        let router = router.layer(DefaultBodyLimit::disable());
        router.layer(middleware::from_fn_with_state(Arc::clone(&self.0), pass))
    }
}

/// What requests without a token may do. A server that cannot write its secret serves all the same: only admins need
/// a token then.
fn anonymous(settings: &Settings) -> AnonymousRights {
    if settings.needs_token() {
        // A killed server may have left one, which would name the address of that server.
        if let Some(Err(error)) = settings.local_secret.as_deref().map(local_secret::remove) {
            tracing::warn!(%error, "cannot remove the local secret of an earlier server");
        }
        return AnonymousRights::Refused;
    }
    let write = |path: &std::path::PathBuf| {
        LocalSecret::write(path, settings.listen)
            .inspect_err(
                |error| tracing::warn!(path = %path.display(), %error, "cannot write the local secret"),
            )
            .ok()
    };
    AnonymousRights::Allowed {
        scope: settings.anonymous_scope,
        secret: settings.local_secret.as_ref().and_then(write),
    }
}

/// Some connections are always left for requests that do not wait.
fn waits_max(settings: &Settings) -> usize {
    settings.waits_max.min(settings.connections_max - settings.connections_max / 8)
}

/// What requests are judged by.
#[derive(Debug)]
struct RequestGate {
    guard: OriginGuard,
    keyring: TokenKeyring,
    anonymous: AnonymousRights,
    rules: RouteRules,
    rates: RateLimiter,
    requests_per_second: u32,
    streams: Arc<PermitPool>,
    waits: Arc<PermitPool>,
    flight: Arc<BytesInFlight>,
    bodies: BodyLimits,
    tickets: Arc<StreamTickets>,
    base_path: BasePath,
}

/// A request that may go on, and what is known about it.
struct AdmittedRequest {
    caller: ApiCaller,
    access: RouteAccess,
    declared: DeclaredBody,
    /// Held until its stream is through.
    stream: Option<RequestPermit>,
    /// Held until there is an answer.
    waits: Option<RequestPermit>,
    quota: ByteQuota,
}

/// Why a request goes no further.
enum RequestRefusal {
    /// It asked only whether it might come.
    Preflight,
    Refused(HttpProblem),
    /// The path does not take the method; these it does.
    NoSuchMethod(String),
    Wait(limit::RateExceeded),
}

impl From<HttpProblem> for RequestRefusal {
    fn from(problem: HttpProblem) -> Self {
        Self::Refused(problem)
    }
}

impl RequestGate {
    fn new(rules: RouteRules, settings: &Settings) -> Result<Self, SecureError> {
        let keyring = TokenKeyring::open(
            TokenFile::new(&settings.tokens),
            settings.admin_token.clone(),
            settings.tokens_max_age,
        )?;
        let needs_token = settings.needs_token();
        if needs_token && keyring.is_empty() {
            return Err(SecureError::NoTokens { listen: settings.listen, tokens: settings.tokens.clone() });
        }
        Ok(Self {
            guard: OriginGuard::new(settings)?,
            keyring,
            anonymous: anonymous(settings),
            rules,
            rates: RateLimiter::new(settings.requests_max()),
            requests_per_second: settings.requests_max(),
            streams: Arc::new(PermitPool::of_streams(settings.streams_max)),
            waits: Arc::new(PermitPool::of_waits(waits_max(settings))),
            flight: BytesInFlight::new(settings.answers_max_bytes),
            bodies: BodyLimits::new(settings),
            tickets: Arc::default(),
            base_path: settings.base_path.clone(),
        })
    }

    /// Everything that can be said of a request before its body is read. The order matters: a client that asks under a
    /// wrong name is told nothing, and clients that are refused are counted too.
    fn admit(
        &self,
        request: &Request,
        peer: IpAddr,
        shared_with: &mut Option<HeaderValue>,
    ) -> Result<AdmittedRequest, RequestRefusal> {
        let visit = self.guard.check(request).map_err(|problem| self.refuse(problem, peer))?;
        *shared_with = visit.shared_with;
        let access = self.access(request);
        let takes_ticket = access.as_ref().is_ok_and(|access| access.stream);
        let caller = self.identify(request, takes_ticket).map_err(|problem| self.refuse(problem, peer))?;
        let client = ClientKey::of(&caller, peer);
        if !matches!(access, Ok(RouteAccess { probe: true, .. })) {
            self.rates.take(client.clone()).map_err(RequestRefusal::Wait)?;
        }
        if visit.is_preflight {
            return Err(RequestRefusal::Preflight);
        }
        let access = access.map_err(RequestRefusal::NoSuchMethod)?;
        if !access.probe && request.extensions().get::<ProbesOnly>().is_some() {
            return Err(listen::too_many_connections().into());
        }
        caller.may(access.scope)?;
        let declared = check_body_type(request)?;
        let waits = access.waits_with(request.uri().query());
        let waits = if waits { Some(self.waits.take(client.clone())?) } else { None };
        let stream = if access.stream { Some(self.streams.take(client.clone())?) } else { None };
        let quota = ByteQuota::new(&self.flight, client);
        Ok(AdmittedRequest { caller, access, declared, stream, waits, quota })
    }

    /// The client that asks, by its token; where a stream is asked for, a ticket stands for one.
    fn identify(&self, request: &Request, takes_ticket: bool) -> Result<ApiCaller, HttpProblem> {
        let ticket = tickets::shown_in(request.uri())
            .filter(|_| takes_ticket && !request.headers().contains_key(header::AUTHORIZATION));
        let Some(ticket) = ticket else {
            return ApiCaller::identify(request.headers(), &self.keyring, &self.anonymous);
        };
        let caller = self.tickets.redeem(ticket)?;
        if caller.is_still_known(&self.keyring) { Ok(caller) } else { Err(auth::revoked()) }
    }

    /// A refusal counts against the address, or else one could ask for ever who is let in.
    fn refuse(&self, problem: HttpProblem, peer: IpAddr) -> RequestRefusal {
        match self.rates.take(ClientKey::at(peer)) {
            Ok(()) => RequestRefusal::Refused(problem),
            Err(wait) => RequestRefusal::Wait(wait),
        }
    }

    /// What the route needs. Where there is no route, there is nothing but the answer that says so.
    fn access(&self, request: &Request) -> Result<RouteAccess, String> {
        match request.extensions().get::<MatchedPath>() {
            Some(path) => self.rules.of(request.method(), path.as_str()),
            None => Ok(routes::open()),
        }
    }

    fn stopped(
        &self,
        stop: RequestRefusal,
        line: &RequestLogLine,
        shared_with: Option<&HeaderValue>,
    ) -> Response {
        match stop {
            RequestRefusal::Preflight => preflight(shared_with),
            RequestRefusal::Refused(problem) => {
                line.refused(&problem);
                let later = match problem.code {
                    code::TOO_MANY_STREAMS | code::TOO_MANY_WAITS => Some("5"),
                    code::TOO_MANY_CONNECTIONS => Some("1"),
                    _ => None,
                };
                let response = problem.into_response();
                match later {
                    Some(seconds) => ([(header::RETRY_AFTER, seconds)], response).into_response(),
                    None => response,
                }
            }
            RequestRefusal::NoSuchMethod(taken) => {
                let problem = line.no_such_method();
                line.refused(&problem);
                ([(header::ALLOW, taken)], problem).into_response()
            }
            RequestRefusal::Wait(wait) => {
                let problem = limit::rate_limited(self.requests_per_second);
                if wait.is_news {
                    line.refused(&problem);
                }
                wait.response(problem)
            }
        }
    }
}

/// The middleware.
async fn pass(State(gate): State<Arc<RequestGate>>, request: Request, next: Next) -> Response {
    let line = RequestLogLine::of(&request);
    let mut shared_with = None;
    let mut response = match gate.admit(&request, line.peer.ip(), &mut shared_with) {
        Ok(admitted) => call_handler(&gate, admitted, request, next, &line).await,
        Err(stop) => gate.stopped(stop, &line, shared_with.as_ref()),
    };
    harden(response.headers_mut());
    gate.base_path.follow(&mut response);
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        // What the server cannot do now it may be able to do soon.
        response.headers_mut().entry(header::RETRY_AFTER).or_insert(HeaderValue::from_static("1"));
    }
    if let Some(origin) = shared_with {
        share(response.headers_mut(), origin);
    }
    response
}

async fn call_handler(
    gate: &Arc<RequestGate>,
    admitted: AdmittedRequest,
    request: Request,
    next: Next,
    line: &RequestLogLine,
) -> Response {
    let AdmittedRequest { caller, access, declared, stream, waits, quota } = admitted;
    let shown = access.asks_api.then(|| ShownHeaders::of(request.headers()));
    let mut request = match read_body(gate, request, access, declared).await {
        Ok(request) => request,
        Err(problem) => {
            line.refused(&problem);
            return problem.into_response();
        }
    };
    if access.stream {
        *request.uri_mut() = tickets::without(request.uri());
    }
    if let Some(shown) = shown {
        request.extensions_mut().insert(shown);
    }
    // From here on the connection is needed again only for the answer.
    if let Some(notice) = request.extensions_mut().remove::<WaitNotice>().filter(|_| waits.is_some()) {
        notice.give();
    }
    request.extensions_mut().insert(quota.clone());
    request.extensions_mut().insert(TicketDesk::new(&gate.tickets, &caller));
    if let Some(name) = CallerName::of(&caller, request.headers()) {
        request.extensions_mut().insert(name);
    }
    let known = access.tagged.then(|| KnownTags::of(request.headers()));
    let called = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    // A handler that panics has a bug; the others go on.
    let mut response = called.unwrap_or_else(|panic| panicked(&*panic).into_response());
    if let Some(known) = known {
        response = etag::tag(response, &known).await;
    }
    drop(waits);
    if line.has_effect() {
        line.acted(&caller, response.status());
    }
    match stream {
        Some(stream) if response.status().is_success() => {
            let (gate, caller) = (Arc::clone(gate), caller);
            let allowed = move || caller.is_still_known(&gate.keyring);
            response.map(|body| Body::new(PermitBody::new(body, stream, allowed)))
        }
        _ => quota.load(response).unwrap_or_else(|problem| {
            line.refused(&problem);
            ([(header::RETRY_AFTER, "1")], problem).into_response()
        }),
    }
}

/// A form's content type is refused even without a body: a web page could send that without a preflight request.
fn check_body_type(request: &Request) -> Result<DeclaredBody, HttpProblem> {
    let has_body = !http_body::Body::is_end_stream(request.body());
    if has_body || has_effect(request.method()) {
        guard::check_content_type(request.headers())
    } else {
        Ok(DeclaredBody::Nothing)
    }
}

/// Handlers get whole bodies, and never the secret that came with them.
async fn read_body(
    gate: &RequestGate,
    mut request: Request,
    access: RouteAccess,
    declared: DeclaredBody,
) -> Result<Request, HttpProblem> {
    request.headers_mut().remove(header::AUTHORIZATION);
    let (parts, body) = request.into_parts();
    let bytes = gate.bodies.read(body, access.payload).await?;
    if declared == DeclaredBody::Nothing && !bytes.is_empty() {
        return Err(guard::not_json());
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// What is said, and logged, of a handler that panicked.
fn panicked(panic: &(dyn std::any::Any + Send)) -> HttpProblem {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("?"), "a handler panicked");
    let error = "the server has a bug; its log says more";
    HttpProblem::new(StatusCode::INTERNAL_SERVER_ERROR, code::INTERNAL_ERROR, error)
}

/// What the log says of a request.
struct RequestLogLine {
    peer: SocketAddr,
    method: Method,
    path: String,
}

impl RequestLogLine {
    fn of(request: &Request) -> Self {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or((Ipv4Addr::UNSPECIFIED, 0).into(), |ConnectInfo(peer)| *peer);
        Self { peer, method: request.method().clone(), path: request.uri().path().to_owned() }
    }

    fn has_effect(&self) -> bool {
        has_effect(&self.method)
    }

    fn no_such_method(&self) -> HttpProblem {
        let Self { method, path, .. } = self;
        let error = format!("`{path}` does not take {method}; the header Allow says what it takes");
        HttpProblem::new(StatusCode::METHOD_NOT_ALLOWED, code::METHOD_NOT_ALLOWED, error)
    }

    fn refused(&self, problem: &HttpProblem) {
        let Self { peer, method, path } = self;
        let status = problem.status.as_u16();
        tracing::info!(%peer, %method, path, status, code = problem.code, reason = problem.error, "refused");
    }

    /// The audit: who changed what.
    fn acted(&self, caller: &ApiCaller, status: StatusCode) {
        let Self { peer, method, path } = self;
        tracing::info!(%peer, token = caller.name(), %method, path, status = status.as_u16(), "done");
    }
}

fn has_effect(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Nothing of what runs carry may run in a browser, or stay in its cache.
fn harden(headers: &mut HeaderMap) {
    const FOR_DATA: &str = "default-src 'none'; frame-ancestors 'none'";
    const FOR_PAGES: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; \
                             frame-ancestors 'none'";
    let kind = headers.get(header::CONTENT_TYPE);
    let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    let unless_set = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, if is_page { FOR_PAGES } else { FOR_DATA }),
    ];
    for (name, value) in unless_set {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// Lets the page of an allowed origin read the answer. Never `*`: which origin it is has been checked.
fn share(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    let readable = HeaderValue::from_static("ETag, Location, Retry-After");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, readable);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}

/// The answer to a browser that asks what a page may send. To others than allowed origins it promises nothing.
fn preflight(shared_with: Option<&HeaderValue>) -> Response {
    const PROMISES: [(HeaderName, &str); 3] = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, PUT, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Mcp-Method, Mcp-Name, \
             Mcp-Protocol-Version, traceparent, tracestate",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    let mut response = StatusCode::NO_CONTENT.into_response();
    if shared_with.is_some() {
        for (name, value) in PROMISES {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
    }
    response
}
