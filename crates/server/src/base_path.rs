//! The path that the server has behind a proxy: `/rival` for `https://ops.example/rival/api/runs`.

use axum::body::Body;
use axum::http::{HeaderValue, Uri, header, uri};
use axum::response::Response;

use crate::problem::HttpProblem;

/// A path without a slash at its end; empty for a server that has a name of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BasePath(String);

impl BasePath {
    /// A path such as `/rival`; `None` if it is none.
    pub fn new(path: &str) -> Option<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
        let good = path.is_empty() || path.starts_with('/') && !path.contains("//");
        (good && path.chars().all(is_plain)).then(|| Self(path.to_owned()))
    }

    /// The path as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// An address of this server, as clients must write it.
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }

    /// The address within the server. A proxy may leave the path in, or take it away.
    pub(crate) fn strip(&self, uri: &Uri) -> Option<Uri> {
        let rest = uri.path_and_query()?.as_str().strip_prefix(&self.0).filter(|_| !self.0.is_empty())?;
        let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
        let within =
            uri.path().len() == self.0.len() || uri.path().as_bytes().get(self.0.len()) == Some(&b'/');
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = uri::PathAndQuery::try_from(rest).ok().filter(|_| within);
        parts.path_and_query.as_ref()?;
        Uri::from_parts(parts).ok()
    }

    /// Brings the addresses in an answer in line: where something is, and what is said about a problem.
    pub(crate) fn follow(&self, response: &mut Response) {
        if self.0.is_empty() {
            return;
        }
        if let Some(location) = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok())
            && location.starts_with('/')
            && let Ok(location) = HeaderValue::try_from(self.join(location))
        {
            response.headers_mut().insert(header::LOCATION, location);
        }
        if let Some(problem) = response.extensions_mut().remove::<HttpProblem>() {
            *response.body_mut() = Body::from(problem.json(self));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_off_whole_or_not_at_all() {
        let base = BasePath::new("/ops/rival/").unwrap();
        let strip = |uri: &str| base.strip(&uri.parse().unwrap()).map(|uri| uri.to_string());
        assert_eq!(strip("/ops/rival/api/runs?a=/b").as_deref(), Some("/api/runs?a=/b"));
        assert_eq!(strip("/ops/rival").as_deref(), Some("/"));
        assert_eq!(strip("/ops/rival?x=1").as_deref(), Some("/?x=1"));
        assert_eq!(strip("/ops/rivals/api"), None);
        assert_eq!(strip("/api/runs"), None);
        assert_eq!(BasePath::default().strip(&"/api".parse().unwrap()), None);
    }

    #[test]
    fn only_plain_paths_are_taken() {
        assert_eq!(BasePath::new("/").unwrap().as_str(), "");
        assert_eq!(BasePath::new("/a/b/").unwrap().join("/api"), "/a/b/api");
        for wrong in ["rival", "/a b", "/a?b", "//evil.example", "/a//b", "http://x", "/{a}"] {
            assert_eq!(BasePath::new(wrong), None, "{wrong}");
        }
    }
}
