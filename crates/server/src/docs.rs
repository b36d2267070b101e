//! The OpenAPI document, and a page to browse it.

use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::app::AppState;
use crate::document;
use crate::routes::{RouteBuilder, open};
use crate::settings::Settings;

const PAGE: &str = include_str!("../assets/docs.html");
const SCRIPT: &str = include_str!("../assets/docs.js");
const STYLE: &str = include_str!("../assets/docs.css");

/// Adds the document of the routes, and the page that shows it.
pub(crate) fn pages(routes: RouteBuilder<AppState>, settings: &Settings) -> RouteBuilder<AppState> {
    let mut document = routes.document().clone();
    if !settings.needs_token() {
        document::without_tokens(&mut document);
    }
    document::serve_at(&mut document, &settings.base_path);
    let document = document::finish(&document).to_string();
    routes
        .page(open(), "/api/openapi.json", || async { text("application/json", document) })
        .page(open(), "/api/docs", || async { text("text/html; charset=utf-8", PAGE) })
        .page(open(), "/api/docs.js", || async { text("text/javascript; charset=utf-8", SCRIPT) })
        .page(open(), "/api/docs.css", || async { text("text/css; charset=utf-8", STYLE) })
}

fn text(kind: &'static str, text: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
