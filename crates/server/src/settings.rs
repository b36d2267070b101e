//! What an operator decides about the server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::auth::AccessScope;
use crate::base_path::BasePath;
use crate::token::AdminToken;

/// How the server listens and whom it trusts. The defaults are safe on a developer's machine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address that the server listens on, with the port that it really has.
    pub listen: SocketAddr,
    /// The path that clients see before that of the API, where a proxy gives the server one.
    pub base_path: BasePath,
    /// Names under which the server may be asked, besides those of `listen`: `rival.example`, or
    /// `rival.example:8443` if only that port will do.
    pub allowed_hosts: Vec<String>,
    /// Origins other than its own whose pages may use the API: `https://ops.example`.
    pub allowed_origins: Vec<String>,
    /// Whether every request needs a token. Unless said: not on loopback, yes anywhere else.
    pub require_token: Option<bool>,
    /// What requests without a token may do where none is needed.
    pub anonymous_scope: AccessScope,
    /// Where to put the secret that makes a person at this machine an admin without a token, where none is needed.
    pub local_secret: Option<PathBuf>,
    /// The file with the tokens.
    pub tokens: PathBuf,
    /// A token that may do everything, besides those in the file.
    pub admin_token: Option<AdminToken>,
    /// How old what is known of the token file may be.
    pub tokens_max_age: Duration,
    /// The largest body of a request that carries no payload.
    pub body_max_bytes: usize,
    /// The largest body of a request that carries a payload: a start, a signal, an import.
    pub payload_max_bytes: usize,
    /// How many requests one client (a token, or an address) may make per second, and at once; 0 for any number. Unless
    /// said: 20,000 on loopback, where all programs of the machine are one client, and 1,000 anywhere else.
    pub requests_per_second: Option<u32>,
    /// How many live streams may be open in all; three quarters of them to one client.
    pub streams_max: usize,
    /// How many requests may wait for a run at a time; three quarters of them of one client.
    pub waits_max: usize,
    /// How many bytes of answers may be under way, over all clients; three quarters of them to one client.
    pub answers_max_bytes: usize,
    /// How many connections may be open; three quarters of them from one address.
    pub connections_max: usize,
    /// How many connections beyond those are let in to ask for health and metrics, and nothing else.
    pub probes_max: usize,
    /// The largest request head: the request line and all headers.
    pub head_max_bytes: usize,
    /// How long a connection may take to send a request head, and how long it may stay open without one.
    pub head_timeout: Duration,
    /// How long a request may take to send its body.
    pub body_timeout: Duration,
    /// How long a client may read nothing of what is sent to it.
    pub write_timeout: Duration,
    /// How long requests may take to end when the server stops.
    pub drain_timeout: Duration,
}

const MIB: usize = 1024 * 1024;

/// Room for what surrounds a payload of the engine's default size: `{"input": …, "runId": …, "tags": …}`.
const ENVELOPE_BYTES: usize = 64 * 1024;

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7878),
            base_path: BasePath::default(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            require_token: None,
            anonymous_scope: AccessScope::Run,
            local_secret: None,
            tokens: PathBuf::from("tokens.json"),
            admin_token: None,
            tokens_max_age: Duration::from_secs(1),
            body_max_bytes: MIB,
            payload_max_bytes: 16 * MIB + ENVELOPE_BYTES,
            requests_per_second: None,
            streams_max: 1_000,
            waits_max: 14_000,
            answers_max_bytes: 256 * MIB,
            connections_max: 16_384,
            probes_max: 32,
            head_max_bytes: 32 * 1024,
            head_timeout: Duration::from_secs(15),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(10),
        }
    }
}

impl Settings {
    /// Whether every request needs a token.
    pub fn needs_token(&self) -> bool {
        self.require_token.unwrap_or(!self.is_local())
    }

    /// How many requests one client may make per second; 0 for any number.
    pub(crate) fn requests_max(&self) -> u32 {
        self.requests_per_second.unwrap_or(if self.is_local() { 20_000 } else { 1_000 })
    }

    /// Whether only programs on this machine can connect.
    fn is_local(&self) -> bool {
        self.listen.ip().to_canonical().is_loopback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_one_machine_may_ask_more_often_than_clients_from_elsewhere() {
        let on = |address: &str| Settings { listen: address.parse().unwrap(), ..Settings::default() };
        assert_eq!(on("127.0.0.1:0").requests_max(), 20_000);
        assert_eq!(on("[::1]:0").requests_max(), 20_000);
        assert_eq!(on("0.0.0.0:0").requests_max(), 1_000);
        let said = Settings { requests_per_second: Some(7), ..Settings::default() };
        assert_eq!(said.requests_max(), 7);
    }
}
