//! Requests, counted by route.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::ServerMetrics;
use super::histogram::DurationHistogram;
use super::text::{MetricKind, MetricsPage};

/// The route of requests that match none. The path itself is whatever the client likes, so it is no label.
const NO_ROUTE: &str = "none";

/// Requests by route.
#[derive(Debug, Default)]
pub(super) struct RouteMetrics(RwLock<HashMap<Box<str>, Route>>);

#[derive(Debug, Default)]
struct Route {
    took: DurationHistogram,
    answers: RwLock<BTreeMap<(&'static str, u16), AtomicU64>>,
}

impl RouteMetrics {
    fn count(&self, route: &str, method: &Method, status: StatusCode, took: Duration) {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(route) = known.get(route) {
            return route.count(method, status, took);
        }
        drop(known);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(route.into()).or_default().count(method, status, took);
    }

    pub(super) fn write(&self, page: &mut MetricsPage) {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let routes: BTreeMap<&str, &Route> = known.iter().map(|(name, route)| (&**name, route)).collect();
        let help = "HTTP requests that were answered.";
        let mut requests = page.family("rival_http_requests_total", MetricKind::Counter, help);
        for (name, route) in &routes {
            let answers = route.answers.read().unwrap_or_else(PoisonError::into_inner);
            for ((method, status), count) in &*answers {
                let labels: [(&str, &dyn std::fmt::Display); 3] =
                    [("route", name), ("method", method), ("status", status)];
                requests.line(&labels, count.load(Ordering::Relaxed));
            }
        }
        let help = "How long HTTP requests took until their answer began.";
        let mut took = page.family("rival_http_request_duration_seconds", MetricKind::Histogram, help);
        for (name, route) in &routes {
            took.histogram(&[("route", name)], &route.took);
        }
    }
}

impl Route {
    fn count(&self, method: &Method, status: StatusCode, took: Duration) {
        self.took.observe(took);
        let key = (method_label(method), status.as_u16());
        let known = self.answers.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = known.get(&key) {
            count.fetch_add(1, Ordering::Relaxed);
            return;
        }
        drop(known);
        let mut known = self.answers.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(key).or_default().fetch_add(1, Ordering::Relaxed);
    }
}

/// A client may send any word as a method; there are only so many labels.
fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "HEAD" => "HEAD",
        "OPTIONS" => "OPTIONS",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "other",
    }
}

/// Counts every request that comes by. It belongs outside of all that may answer, and inside of the router, so that the
/// route is known: `router.layer(axum::middleware::from_fn_with_state(metrics, metrics::count))`.
pub async fn count(State(metrics): State<Arc<ServerMetrics>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let response = next.run(request).await;
    let route = route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
    metrics.http.count(route, &method, response.status(), began.elapsed());
    response
}
