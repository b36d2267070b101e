//! Sends requests where the policy allows it.

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, LOCATION,
    PROXY_AUTHORIZATION, TRANSFER_ENCODING,
};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, Request, Response, StatusCode, Url};

use crate::policy::{AddressRefused, OutgoingPolicy};

/// What is for one host only.
const SECRET: [HeaderName; 3] = [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION];
/// What speaks of a body that is not sent again.
const OF_BODY: [HeaderName; 4] = [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING, TRANSFER_ENCODING];

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The policy refuses the address.
    #[error(transparent)]
    Refused(#[from] AddressRefused),
    /// It went on and on.
    #[error("more than {0} redirects")]
    TooManyRedirects(usize),
    /// The answer points to what is no address of the web.
    #[error("the answer redirects to `{0}:`, not to `https:` or `http:`")]
    RedirectScheme(String),
    /// The exchange failed.
    #[error(transparent)]
    Exchange(reqwest::Error),
}

impl From<reqwest::Error> for SendError {
    /// The resolver's refusal comes back as the innermost cause of a failed connection.
    fn from(error: reqwest::Error) -> Self {
        let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(at) = cause {
            if let Some(refused) = at.downcast_ref::<AddressRefused>() {
                return Self::Refused(refused.clone());
            }
            cause = at.source();
        }
        Self::Exchange(error)
    }
}

/// Sends requests where a policy allows it. Cheap to clone; clones share their connections.
///
/// Names are resolved once for a connection, and the addresses that this gives are checked and connected to. Proxies of
/// the environment are not used: they would resolve names themselves, where no policy sees what they mean.
#[derive(Clone)]
pub struct OutgoingClient {
    policy: Arc<OutgoingPolicy>,
    others: Client,
    /// For ports that the server itself listens on. A resolver is not told the port, so these have one of their own;
    /// seldom needed, and made then.
    own_ports: Arc<OnceLock<Client>>,
    build: Arc<dyn Fn(bool) -> Result<Client, reqwest::Error> + Send + Sync>,
}

impl fmt::Debug for OutgoingClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingClient").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl OutgoingClient {
    /// A client as `builder` prepares it, under a policy.
    ///
    /// # Errors
    /// If the client cannot be built: no certificates of this machine can be read.
    pub fn new(
        policy: OutgoingPolicy,
        builder: impl Fn() -> ClientBuilder + Send + Sync + 'static,
    ) -> Result<Self, reqwest::Error> {
        let policy = Arc::new(policy);
        let known = Arc::clone(&policy);
        let build = move |own_ports| {
            let resolver = CheckedResolver { policy: Arc::clone(&known), own_ports };
            // Redirects are followed here, each through the policy.
            builder().dns_resolver(resolver).redirect(Policy::none()).no_proxy().build()
        };
        Ok(Self { others: build(false)?, own_ports: Arc::default(), build: Arc::new(build), policy })
    }

    /// To build requests with.
    pub fn http(&self) -> &Client {
        &self.others
    }

    /// Sends a request, and goes where answers point to, at most `redirects_max` times; with 0, such an answer is the
    /// answer.
    ///
    /// # Errors
    /// If an address is refused, or there is no answer.
    pub async fn send(&self, mut request: Request, redirects_max: usize) -> Result<Response, SendError> {
        let mut followed = 0;
        loop {
            let again = if redirects_max > 0 { request.try_clone() } else { None };
            let response = self.send_once(request).await?;
            let Some((next, again)) = next_url(&response).zip(again) else { return Ok(response) };
            if followed == redirects_max {
                return Err(SendError::TooManyRedirects(redirects_max));
            }
            if !matches!(next.scheme(), "http" | "https") {
                return Err(SendError::RedirectScheme(next.scheme().to_owned()));
            }
            followed += 1;
            request = redirected(again, response.status(), next);
        }
    }

    async fn send_once(&self, request: Request) -> Result<Response, SendError> {
        let url = request.url();
        let own_port = url.port_or_known_default().is_some_and(|port| self.policy.is_own_port(port));
        // A name is checked when it is resolved; an address is not resolved.
        if let Some((host, address)) = literal(url) {
            self.policy.check(host, address, own_port)?;
        }
        let client = if own_port { self.for_own_ports()? } else { &self.others };
        Ok(client.execute(request).await?)
    }

    fn for_own_ports(&self) -> Result<&Client, reqwest::Error> {
        match self.own_ports.get() {
            Some(client) => Ok(client),
            None => {
                let client = (self.build)(true)?;
                Ok(self.own_ports.get_or_init(|| client))
            }
        }
    }
}

/// The address in a URL, however it was written: the URL has it in its plain form.
fn literal(url: &Url) -> Option<(&str, IpAddr)> {
    let host = url.host_str()?;
    host.trim_matches(['[', ']']).parse().ok().map(|address| (host, address))
}

/// Where an answer points to, if it does.
fn next_url(response: &Response) -> Option<Url> {
    let status = response.status();
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    response.url().join(location).ok()
}

/// The request that follows a redirect, as the fetch standard has it.
fn redirected(mut request: Request, status: StatusCode, next: Url) -> Request {
    let becomes_get = match status {
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => *request.method() == Method::POST,
        StatusCode::SEE_OTHER => !matches!(*request.method(), Method::GET | Method::HEAD),
        _ => false,
    };
    if becomes_get {
        *request.method_mut() = Method::GET;
        *request.body_mut() = None;
        remove(request.headers_mut(), &OF_BODY);
    }
    let place = |url: &Url| (url.host_str().map(str::to_owned), url.port_or_known_default());
    if place(request.url()) != place(&next) {
        remove(request.headers_mut(), &SECRET);
    }
    *request.url_mut() = next;
    request
}

fn remove(headers: &mut HeaderMap, names: &[HeaderName]) {
    for name in names {
        headers.remove(name);
    }
}

/// Gives only addresses that may be connected to.
struct CheckedResolver {
    policy: Arc<OutgoingPolicy>,
    own_ports: bool,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (policy, own_ports) = (Arc::clone(&self.policy), self.own_ports);
        Box::pin(async move {
            let host = name.as_str();
            let (mut allowed, mut refused) = (Vec::new(), None);
            // The HTTP client fills in the port when it connects.
            for address in tokio::net::lookup_host((host, 0)).await? {
                match policy.check(host, address.ip(), own_ports) {
                    Ok(()) => allowed.push(SocketAddr::new(address.ip(), 0)),
                    Err(error) => refused = refused.or(Some(error)),
                }
            }
            match refused {
                Some(error) if allowed.is_empty() => Err(error.into()),
                _ => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}
