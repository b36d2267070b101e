//! Requests as parts of traces, where an observer of the engine writes them.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use rival_core::TraceParent;
use rival_engine::{Engine, ServedRequest};

use crate::routes::RouteRules;
use crate::tickets;

pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// Tells observers of requests. Probes are left out: they come every few seconds and start nothing.
#[derive(Debug)]
pub(crate) struct RequestTracer {
    pub(crate) engine: Engine,
    pub(crate) rules: RouteRules,
}

impl RequestTracer {
    fn is_probe(&self, request: &Request) -> bool {
        let path = request.extensions().get::<MatchedPath>();
        let access = path.map(|path| self.rules.of(request.method(), path.as_str()));
        matches!(access, Some(Ok(access)) if access.probe)
    }
}

/// The middleware. Handlers find the request's own span in the header that the client sent its span in, so that what they
/// start is part of the request.
pub(crate) async fn trace(
    State(tracer): State<Arc<RequestTracer>>,
    mut request: Request,
    next: Next,
) -> Response {
    if !tracer.engine.is_traced() || tracer.is_probe(&request) {
        return next.run(request).await;
    }
    let parent = traceparent(request.headers()).and_then(TraceParent::parse);
    // The client does not record it.
    if parent.is_some_and(|parent| !parent.sampled) {
        return next.run(request).await;
    }
    let Some(span) = new_span(parent) else { return next.run(request).await };
    let own = HeaderValue::try_from(span.to_string()).expect("hexadecimal digits and dashes are a header");
    request.headers_mut().insert(TRACEPARENT, own);
    let traced = TracedRequest::of(&request, span, parent);
    let response = next.run(request).await;
    traced.tell(&tracer.engine, response.status().as_u16());
    response
}

/// The trace that the caller is in. Several headers count as none, as the W3C says.
pub(crate) fn traceparent(headers: &HeaderMap) -> Option<&str> {
    let mut traces = headers.get_all(TRACEPARENT).iter();
    let first = traces.next()?.to_str().ok()?;
    traces.next().is_none().then_some(first)
}

/// A span of its own, in the trace of the client. `None` if the system has no random numbers.
fn new_span(parent: Option<TraceParent>) -> Option<TraceParent> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).ok()?;
    let (trace_id, span_id) = bytes.split_at(16);
    let trace_id = parent.map_or_else(|| trace_id.try_into().expect("16 bytes"), |parent| parent.trace_id);
    Some(TraceParent { trace_id, span_id: span_id.try_into().expect("8 bytes"), sampled: true })
}

/// What is told of a request when it is answered.
struct TracedRequest {
    span: TraceParent,
    parent: Option<TraceParent>,
    began_at: SystemTime,
    began: Instant,
    method: String,
    route: Option<MatchedPath>,
    path: String,
    query: Option<String>,
    host: Option<String>,
    user_agent: Option<String>,
    client: Option<IpAddr>,
}

impl TracedRequest {
    fn of(request: &Request, span: TraceParent, parent: Option<TraceParent>) -> Self {
        let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        Self {
            span,
            parent,
            began_at: SystemTime::now(),
            began: Instant::now(),
            method: request.method().to_string(),
            route: request.extensions().get::<MatchedPath>().cloned(),
            path: request.uri().path().to_owned(),
            query: request.uri().query().and_then(tickets::query_without),
            host: header(header::HOST).map(str::to_owned),
            user_agent: header(header::USER_AGENT).map(str::to_owned),
            client: peer.map(|ConnectInfo(peer)| peer.ip().to_canonical()),
        }
    }

    fn tell(&self, engine: &Engine, status: u16) {
        engine.observe_request(&ServedRequest {
            trace: self.span,
            parent: self.parent,
            began_at: self.began_at,
            took: self.began.elapsed(),
            method: &self.method,
            route: self.route.as_ref().map(MatchedPath::as_str),
            path: &self.path,
            query: self.query.as_deref(),
            host: self.host.as_deref(),
            client: self.client,
            user_agent: self.user_agent.as_deref(),
            status,
        });
    }
}
