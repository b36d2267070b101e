//! A small server to fetch from.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Json;
use serde_json::{Value, json};

/// Answers everything with what was asked, after `?ms=` milliseconds; gives its address.
pub(crate) async fn serve() -> String {
    let router = Router::new().fallback(echo);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

async fn echo(method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Json<Value> {
    if let Some(ms) = uri.query().and_then(|query| query.strip_prefix("ms=")) {
        tokio::time::sleep(Duration::from_millis(ms.parse().expect("a number"))).await;
    }
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let headers: BTreeMap<String, String> = headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
        .collect();
    Json(json!({ "method": method.as_str(), "path": uri.path(), "body": body, "headers": headers }))
}
