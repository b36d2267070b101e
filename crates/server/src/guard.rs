//! What a request must look like before anything else is asked: under which name the server is addressed, from which
//! web page, and what its body is said to be.
//!
//! A browser sends whatever any page tells it to, to any address that it can reach, this machine included. A page under
//! an attacker's name that resolves to 127.0.0.1 ("DNS rebinding") is kept out by the Host header; a page that sends
//! requests elsewhere is kept out by Origin, Sec-Fetch-Site and the content type.

use std::net::IpAddr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};

use crate::problem::{HttpProblem, code};
use crate::settings::Settings;

/// An entry of `allowed_hosts` or `allowed_origins` that cannot be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// Not a name with or without a port.
    #[error("`{0}` in allowed_hosts is no host: write `name` or `name:port`, without scheme or path")]
    Host(String),
    /// Not an origin.
    #[error(
        "`{0}` in allowed_origins is no origin: write `https://name` or `https://name:port`, without path"
    )]
    Origin(String),
}

/// Which hosts and origins are let through.
#[derive(Debug)]
pub(crate) struct OriginGuard {
    hosts: Vec<AllowedHost>,
    /// The port, if the server listens on all addresses: it is known under each of them. An address cannot be rebound.
    any_address: Option<u16>,
    origins: Vec<String>,
}

/// A name under which the server may be asked.
#[derive(Debug)]
struct AllowedHost {
    name: String,
    port: Port,
}

#[derive(Clone, Copy, Debug)]
enum Port {
    Any,
    /// This one. Browsers leave out 80 and 443.
    Only(u16),
    /// This one or none.
    OwnOrNone(u16),
}

impl Port {
    fn allows(self, given: Option<u16>) -> bool {
        match (self, given) {
            (Self::Any, _) | (Self::OwnOrNone(_), None) | (Self::Only(80 | 443), None) => true,
            (Self::Only(port) | Self::OwnOrNone(port), Some(given)) => port == given,
            (Self::Only(_), None) => false,
        }
    }
}

/// What the guard found out about a request that it let through.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    /// The other origin that may read the answer.
    pub(crate) shared_with: Option<HeaderValue>,
    /// A browser only asks whether it may send a request.
    pub(crate) is_preflight: bool,
}

impl OriginGuard {
    pub(crate) fn new(settings: &Settings) -> Result<Self, GuardError> {
        let own = settings.listen;
        let mut hosts = own_hosts(own.ip(), own.port());
        for entry in &settings.allowed_hosts {
            let (name, port) = host_and_port(entry).ok_or_else(|| GuardError::Host(entry.clone()))?;
            hosts.push(AllowedHost { name: name.to_owned(), port: port.map_or(Port::Any, Port::Only) });
        }
        let origins = &settings.allowed_origins;
        if let Some(entry) = origins.iter().find(|entry| authority_of_origin(entry).is_none()) {
            return Err(GuardError::Origin(entry.clone()));
        }
        let any_address = own.ip().is_unspecified().then_some(own.port());
        Ok(Self { hosts, any_address, origins: origins.clone() })
    }

    /// Looks at where a request says that it goes to and comes from.
    pub(crate) fn check<B>(&self, request: &Request<B>) -> Result<Visit, HttpProblem> {
        let host = self.host_of(request)?;
        let origin = only(request.headers(), &header::ORIGIN).map_err(|()| {
            HttpProblem::new(StatusCode::BAD_REQUEST, code::BAD_REQUEST, "there are several Origin headers")
        })?;
        let shared_with = match origin {
            None => {
                check_fetch_site(request)?;
                None
            }
            Some(origin) if is_same_origin(origin, host) => None,
            Some(origin) if self.allows_origin(origin) => Some(origin.clone()),
            Some(origin) => return Err(foreign(&format!("pages of `{}`", shown(origin)))),
        };
        let is_preflight = request.method() == Method::OPTIONS
            && origin.is_some()
            && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        Ok(Visit { shared_with, is_preflight })
    }

    /// The name under which the server is asked: exactly one, and one of its own.
    fn host_of<'r, B>(&self, request: &'r Request<B>) -> Result<&'r str, HttpProblem> {
        let refused = |error: &str| HttpProblem::new(StatusCode::BAD_REQUEST, code::BAD_REQUEST, error);
        let host = only(request.headers(), &header::HOST)
            .map_err(|()| refused("there are several Host headers"))?
            .ok_or_else(|| refused("there is no Host header"))?;
        let name = host.to_str().map_err(|_| refused("the Host header is not ASCII"))?;
        let target = request.uri().authority().map(Authority::as_str);
        if target.is_some_and(|target| !target.eq_ignore_ascii_case(name)) {
            return Err(refused("the request is for another host than its Host header says"));
        }
        if self.allows_host(name) { Ok(name) } else { Err(unknown_host(host)) }
    }

    fn allows_host(&self, given: &str) -> bool {
        let Some((name, port)) = host_and_port(given) else { return false };
        let allowed = |host: &AllowedHost| host.name.eq_ignore_ascii_case(name) && host.port.allows(port);
        self.hosts.iter().any(allowed)
            || self.any_address.is_some_and(|own| is_address(name) && Port::OwnOrNone(own).allows(port))
    }

    fn allows_origin(&self, given: &HeaderValue) -> bool {
        self.origins.iter().any(|origin| origin.as_bytes() == given.as_bytes())
    }
}

/// The names that an address has by itself.
fn own_hosts(ip: IpAddr, port: u16) -> Vec<AllowedHost> {
    let mut names = Vec::new();
    if ip.to_canonical().is_loopback() || ip.is_unspecified() {
        names.extend(["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()]);
    }
    names.push(match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    });
    names.into_iter().map(|name| AllowedHost { name, port: Port::OwnOrNone(port) }).collect()
}

/// `name`, `name:port`, `[address]` or `[address]:port`, taken apart.
fn host_and_port(text: &str) -> Option<(&str, Option<u16>)> {
    let end = if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':').unwrap_or(text.len()) };
    let (name, rest) = text.split_at(end);
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if name.is_empty() || !(is_address(name) || name.bytes().all(is_name)) {
        return None;
    }
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Some((name, None)),
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some((name, Some(port.parse().ok()?)))
        }
        _ => None,
    }
}

fn is_address(name: &str) -> bool {
    match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(v6) => v6.parse::<std::net::Ipv6Addr>().is_ok(),
        None => name.parse::<std::net::Ipv4Addr>().is_ok(),
    }
}

/// What follows the scheme of an origin, if it is one of the web.
fn authority_of_origin(origin: &str) -> Option<&str> {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?;
    host_and_port(authority).map(|_| authority)
}

/// A page that came from this server. Which scheme it came by is the business of whatever stands before us.
fn is_same_origin(origin: &HeaderValue, host: &str) -> bool {
    let authority = origin.to_str().ok().and_then(authority_of_origin);
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

/// Browsers send no Origin with some requests, but say from where they come. What is typed or clicked may show a page.
fn check_fetch_site<B>(request: &Request<B>) -> Result<(), HttpProblem> {
    let said = |name: &str| request.headers().get(name).map(HeaderValue::as_bytes);
    match said("sec-fetch-site") {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => {
            let is_navigation = matches!(*request.method(), Method::GET | Method::HEAD)
                && said("sec-fetch-mode") == Some(b"navigate")
                && said("sec-fetch-dest") == Some(b"document");
            if is_navigation { Ok(()) } else { Err(foreign("pages of other sites")) }
        }
    }
}

/// The only value of a header, or none; several are an error, because two readers might take different ones.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, ()> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() { Err(()) } else { Ok(first) }
}

fn unknown_host(host: &HeaderValue) -> HttpProblem {
    let error =
        format!("this server does not answer as `{}`; if it should, add that to allowed_hosts", shown(host));
    HttpProblem::new(StatusCode::FORBIDDEN, code::HOST_NOT_ALLOWED, error)
}

fn foreign(who: &str) -> HttpProblem {
    let error = format!("{who} may not use this server; if they should, add their origin to allowed_origins");
    HttpProblem::new(StatusCode::FORBIDDEN, code::ORIGIN_NOT_ALLOWED, error)
}

/// A header's value for people and logs: short, and without control characters.
fn shown(value: &HeaderValue) -> String {
    const CHARS_MAX: usize = 100;
    let text = String::from_utf8_lossy(value.as_bytes());
    text.chars().take(CHARS_MAX).flat_map(char::escape_default).collect()
}

/// What a request says of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeclaredBody {
    /// It is JSON.
    Json,
    /// Nothing, so there must be none.
    Nothing,
}

/// Refuses bodies that are said to be anything but JSON. Forms of web pages cannot say that they send JSON, so this
/// is also what keeps them from having an effect.
pub(crate) fn check_content_type(headers: &HeaderMap) -> Result<DeclaredBody, HttpProblem> {
    let encoding = headers.get(header::CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let error = "the body is compressed (`Content-Encoding`): send it as it is";
        return Err(HttpProblem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            code::UNSUPPORTED_MEDIA_TYPE,
            error,
        ));
    }
    match only(headers, &header::CONTENT_TYPE) {
        Ok(None) => Ok(DeclaredBody::Nothing),
        Ok(Some(value)) if value.to_str().is_ok_and(is_json) => Ok(DeclaredBody::Json),
        Ok(Some(_)) | Err(()) => Err(not_json()),
    }
}

pub(crate) fn not_json() -> HttpProblem {
    let error = "the body must be JSON: send `Content-Type: application/json`, in UTF-8";
    HttpProblem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, code::UNSUPPORTED_MEDIA_TYPE, error)
}

fn is_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    is_json && parts.all(is_harmless_parameter)
}

/// JSON is UTF-8; any other parameter means nothing.
fn is_harmless_parameter(parameter: &str) -> bool {
    match parameter.split_once('=') {
        Some((name, charset)) if name.trim().eq_ignore_ascii_case("charset") => {
            charset.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        Some(_) => true,
        None => parameter.is_empty(),
    }
}
