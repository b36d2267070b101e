//! The pages about error codes, as docs/errors has them.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;

use crate::problem::{HttpProblem, code};
use crate::routes::{RouteBuilder, open};

/// Each code with its page, in order of codes.
const PAGES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/errors.rs"));

/// Adds the pages that `type` of a problem names.
pub(crate) fn errors<S: Clone + Send + Sync + 'static>(routes: RouteBuilder<S>) -> RouteBuilder<S> {
    routes.page(open(), "/errors/{code}", get(show))
}

/// All codes that have a page.
pub(crate) fn codes() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(code, _)| *code)
}

async fn show(Path(asked): Path<String>) -> Result<Html<String>, HttpProblem> {
    match PAGES.binary_search_by_key(&asked.as_str(), |(code, _)| code) {
        Ok(place) => Ok(Html(html(PAGES[place].0, PAGES[place].1))),
        Err(_) => Err(HttpProblem::new(
            StatusCode::NOT_FOUND,
            code::NOT_FOUND,
            format!("no error has the code `{asked}`"),
        )),
    }
}

fn html(code: &str, page: &str) -> String {
    let blocks: String = page.split("\n\n").map(block).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{code}</title>\n\
         <link rel=\"stylesheet\" href=\"../api/docs.css\">\n<main>\n{blocks}</main>\n</html>\n"
    )
}

fn block(text: &str) -> String {
    match text.trim().strip_prefix("# ") {
        Some(heading) => format!("<h1>{}</h1>\n", inline(heading)),
        None => format!("<p>{}</p>\n", inline(text.trim())),
    }
}

/// As much of Markdown as the pages use: `code`, **strong** and *emphasis*.
fn inline(text: &str) -> String {
    let safe = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let parts = safe.split('`').enumerate();
    let parts =
        parts.map(|(n, part)| if n % 2 == 1 { format!("<code>{part}</code>") } else { stressed(part) });
    parts.collect()
}

fn stressed(text: &str) -> String {
    paired(&paired(text, "**", "strong"), "*", "em")
}

/// What stands between two marks, as an element.
fn paired(text: &str, mark: &str, element: &str) -> String {
    let parts = text.split(mark).enumerate();
    parts
        .map(|(n, part)| if n % 2 == 1 { format!("<{element}>{part}</{element}>") } else { part.to_owned() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_in_order_so_that_they_are_found() {
        assert!(PAGES.is_sorted());
        assert!(PAGES.len() > 50);
    }

    #[test]
    fn a_page_reads_as_it_was_written() {
        let page = "# `x_y`\n\nA `Vec<u8>` & *more*.\n\n**What to do.** Look at `a*b`.\n";
        let html = html("x_y", page);
        let body = html.split("<main>\n").nth(1).unwrap();
        assert_eq!(
            body,
            "<h1><code>x_y</code></h1>\n<p>A <code>Vec&lt;u8&gt;</code> &amp; <em>more</em>.</p>\n\
             <p><strong>What to do.</strong> Look at <code>a*b</code>.</p>\n</main>\n</html>\n"
        );
    }

    #[test]
    fn no_page_uses_what_is_not_rendered() {
        for (code, page) in PAGES {
            let text: String = page.split('`').step_by(2).collect();
            assert!(!text.contains(['[', '|', '_', '<']), "{code}: {text}");
            assert_eq!(page.matches('`').count() % 2, 0, "{code}");
            assert_eq!(text.matches('*').count() % 2, 0, "{code}");
        }
    }
}
