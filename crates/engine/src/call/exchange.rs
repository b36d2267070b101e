//! The HTTP request that a call consists of, so that observers can tell of it as of other requests.

use std::sync::OnceLock;

/// The request of a step that sends one and does nothing else, and the status of its answer.
#[derive(Clone, Debug, Default)]
pub struct HttpExchange {
    request: OnceLock<Box<SentRequest>>,
    status: OnceLock<u16>,
}

/// A request on its way to another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRequest {
    /// Its method.
    pub method: String,
    /// Where to, without user name, password and query: they may hold secrets.
    pub url: String,
    /// The server's name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl HttpExchange {
    /// A request is about to be sent; only the first of a call counts.
    pub fn sends(&self, request: SentRequest) {
        // A step that sends a second one is not one request any more.
        let _ = self.request.set(Box::new(request));
    }

    /// The answer has this status.
    pub fn is_answered(&self, status: u16) {
        let _ = self.status.set(status);
    }

    /// The request, if the call consists of one.
    pub fn request(&self) -> Option<&SentRequest> {
        self.request.get().map(|request| &**request)
    }

    /// The status of its answer, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.status.get().copied()
    }
}
