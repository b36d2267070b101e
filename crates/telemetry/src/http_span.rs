//! Requests as spans: those that a server answered, and those that steps sent. Names are those of OpenTelemetry's stable
//! conventions for HTTP.

use opentelemetry::trace::{SpanId, SpanKind, Status};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::SpanData;
use rival_engine::{HttpExchange, ServedRequest};

use crate::span::new_span;

/// The span of a request that a server has answered.
pub(crate) fn of_request(request: &ServedRequest<'_>, scope: &InstrumentationScope) -> SpanData {
    let method = known_method(request.method);
    let mut attributes = vec![
        KeyValue::new("http.request.method", method.unwrap_or("_OTHER")),
        KeyValue::new("http.response.status_code", i64::from(request.status)),
        KeyValue::new("url.scheme", "http"),
        KeyValue::new("url.path", request.path.to_owned()),
    ];
    if method.is_none() {
        attributes.push(KeyValue::new("http.request.method_original", request.method.to_owned()));
    }
    let texts = [
        ("http.route", request.route),
        ("url.query", request.query),
        ("user_agent.original", request.user_agent),
    ];
    attributes
        .extend(texts.into_iter().filter_map(|(name, text)| Some(KeyValue::new(name, text?.to_owned()))));
    attributes.extend(request.client.map(|client| KeyValue::new("client.address", client.to_string())));
    if let Some((address, port)) = request.host.map(address) {
        attributes.push(KeyValue::new("server.address", address.to_owned()));
        attributes.extend(port.map(|port| KeyValue::new("server.port", port)));
    }
    let failed = request.status >= 500;
    if failed {
        attributes.push(KeyValue::new("error.type", request.status.to_string()));
    }
    let verb = method.unwrap_or("HTTP");
    SpanData {
        parent_span_id: request.parent.map_or(SpanId::INVALID, |parent| SpanId::from_bytes(parent.span_id)),
        parent_span_is_remote: request.parent.is_some(),
        span_kind: SpanKind::Server,
        name: request.route.map_or_else(|| verb.to_owned(), |route| format!("{verb} {route}")).into(),
        start_time: request.began_at,
        end_time: request.began_at + request.took,
        // What the client did wrong is no failure of the server.
        status: if failed { Status::error("") } else { Status::Unset },
        ..new_span(request.trace, attributes, scope)
    }
}

/// What the span of a step says of the request that it consists of.
pub(crate) fn of_exchange(http: &HttpExchange, attempt: u32) -> Vec<KeyValue> {
    let Some(request) = http.request() else { return Vec::new() };
    let method = known_method(&request.method);
    let mut attributes = vec![
        KeyValue::new("http.request.method", method.unwrap_or("_OTHER")),
        KeyValue::new("url.full", request.url.clone()),
        KeyValue::new("server.address", request.host.clone()),
        KeyValue::new("server.port", i64::from(request.port)),
    ];
    if method.is_none() {
        attributes.push(KeyValue::new("http.request.method_original", request.method.clone()));
    }
    if attempt > 1 {
        attributes.push(KeyValue::new("http.request.resend_count", i64::from(attempt - 1)));
    }
    attributes
        .extend(http.status().map(|status| KeyValue::new("http.response.status_code", i64::from(status))));
    attributes
}

/// Only the methods that there are: a client may send any word.
fn known_method(method: &str) -> Option<&'static str> {
    const KNOWN: [&str; 9] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT"];
    KNOWN.into_iter().find(|known| *known == method)
}

/// The name and the port of a `Host` header.
fn address(host: &str) -> (&str, Option<i64>) {
    match host.rsplit_once(':') {
        // An IPv6 address without a port has colons of its own, inside of brackets.
        Some((name, port)) if !port.ends_with(']') => (name.trim_matches(['[', ']']), port.parse().ok()),
        _ => (host.trim_matches(['[', ']']), None),
    }
}
