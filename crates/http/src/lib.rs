//! HTTP requests as data, and sending them the way a durable step should.
//!
//! Users come through the `rival` crate, which makes steps of requests: `http_step(Http::get("https://…"))`. This
//! crate is apart so that the TLS stack is only built where it is wanted; it knows nothing of engines and workflows.

mod client;
mod request;
mod response;

pub use client::{LoggedFailure, LoggedResponse, RequestAddress, send};
pub use request::Http;
pub use response::HttpResponse;
pub use rival_outgoing::{AddressRefused, AllowError, OutgoingPolicy};

/// Codes of failures of requests.
pub mod code {
    /// The answer's status was not 2xx.
    pub const STATUS: &str = "http_status";
    /// No answer came in time.
    pub const TIMEOUT: &str = "http_timeout";
    /// The server could not be reached.
    pub const CONNECT: &str = "http_connect";
    /// The exchange broke off, or the answer was not HTTP.
    pub const BROKEN: &str = "http_broken";
    /// The request itself is wrong: its URL, a header, or its body.
    pub const REQUEST: &str = "http_request";
    /// The policy for outgoing requests refuses the address.
    pub const NOT_ALLOWED: &str = rival_outgoing::ADDRESS_NOT_ALLOWED;
}
