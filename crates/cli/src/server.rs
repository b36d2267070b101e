//! The server as this command sets it up.

use std::net::SocketAddr;
use std::path::PathBuf;

use axum::Router;
use rival::Engine;
use rival_authoring::Documents;
use rival_server::auth::AccessScope;
use rival_server::{Server, Settings};

use crate::config::ResolvedConfig;
use crate::connections::SharedDesk;

/// Room for what surrounds a payload: `{"input": …, "runId": …, "tags": …}`.
const ENVELOPE_BYTES: usize = 64 * 1024;

/// The settings of a server that listens there.
pub(crate) fn settings(config: &ResolvedConfig, listen: SocketAddr) -> Settings {
    Settings {
        listen,
        base_path: config.base_path(),
        allowed_hosts: config.allowed_hosts(),
        allowed_origins: config.allowed_origins(),
        require_token: config.require_token(),
        local_secret: Some(config.local_secret()),
        tokens: config.tokens(),
        admin_token: config.admin_token(),
        body_max_bytes: config.body_max_bytes(),
        payload_max_bytes: config.max_payload_bytes().saturating_add(ENVELOPE_BYTES),
        requests_per_second: config.requests_per_second(),
        streams_max: config.stream_clients_max(),
        connections_max: config.connections_max().min(connections_possible()),
        ..Settings::default()
    }
}

/// For how many connections there are file handles, with some left for the store, script hosts and requests of steps.
fn connections_possible() -> usize {
    const OTHERS: u64 = 256;
    match raise_file_limit() {
        Some(files) => usize::try_from(files.saturating_sub(OTHERS)).unwrap_or(usize::MAX).max(1),
        None => usize::MAX,
    }
}

/// Takes as many file handles as the system allows to take; `None` if there is no limit.
#[cfg(unix)]
fn raise_file_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
}

#[cfg(not(unix))]
fn raise_file_limit() -> Option<u64> {
    None
}

/// The API of an engine in this process. A user who can open the store needs no token, and has no limits.
pub(crate) fn local_router(
    engine: Engine,
    documents: Option<Documents>,
    connections: Option<SharedDesk>,
) -> Router {
    let settings = Settings {
        require_token: Some(false),
        anonymous_scope: AccessScope::Admin,
        // No file: none of the tokens in it would be asked for.
        tokens: PathBuf::new(),
        requests_per_second: Some(0),
        body_max_bytes: usize::MAX,
        payload_max_bytes: usize::MAX,
        ..Settings::default()
    };
    let mut server = Server::builder(engine, settings);
    if let Some(documents) = documents {
        server = server.documents(documents);
    }
    if let Some(desk) = connections {
        server = server.connections(desk);
    }
    server.build().expect("without hosts, origins and tokens nothing can be wrong").router()
}
