//! The OpenAPI document, and a page to browse it.

use axum::http::{HeaderMap, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};

use crate::app::AppState;
use crate::document;
use crate::routes::{RouteBuilder, no_such_path, open};
use crate::settings::Settings;

const PAGE: &str = include_str!("../assets/docs.html");
const SCRIPT: &str = include_str!("../assets/docs.js");
/// What teaches models to write workflows.
const LLMS: &str = include_str!("../../../docs/llms.txt");
const STYLE: &str = include_str!("../assets/docs.css");

/// Adds the document of the routes, and the page that shows it.
pub(crate) fn pages(routes: RouteBuilder<AppState>, settings: &Settings) -> RouteBuilder<AppState> {
    let mut document = routes.document().clone();
    if !settings.needs_token() {
        document::without_tokens(&mut document);
    }
    document::serve_at(&mut document, &settings.base_path);
    let document = document::finish(&document).to_string();
    let docs = settings.base_path.join("/api/docs");
    routes
        .page(open(), "/", move |uri: Uri, headers: HeaderMap| async move { front(&docs, &uri, &headers) })
        .page(open(), "/llms.txt", || async { text("text/plain; charset=utf-8", LLMS) })
        .page(open(), "/api/openapi.json", || async { text("application/json", document) })
        .page(open(), "/api/docs", || async { text("text/html; charset=utf-8", PAGE) })
        .page(open(), "/api/docs.js", || async { text("text/javascript; charset=utf-8", SCRIPT) })
        .page(open(), "/api/docs.css", || async { text("text/css; charset=utf-8", STYLE) })
}

/// The address that the server prints is what people open first: a browser is led to the page, a program is told that there
/// is nothing.
fn front(docs: &str, uri: &Uri, headers: &HeaderMap) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|accepts| accepts.to_str().ok()).unwrap_or_default();
    let is_browser = accepts.split(',').any(|kind| kind.trim().starts_with("text/html"));
    if is_browser { Redirect::to(docs).into_response() } else { no_such_path(uri).into_response() }
}

fn text(kind: &'static str, text: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
