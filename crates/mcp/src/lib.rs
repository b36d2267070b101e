//! Connections: MCP servers whose tools the steps of workflows call.
//!
//! ```text
//! Connections -- one per name --> Connection: a task that makes it, watches it, makes it again     connection.rs
//!                                     |  a client: the handshake, requests with a deadline          client.rs
//!                                     |  stdio: a process and its pipes                             process.rs, stdio.rs
//!                                     '  streamable HTTP: sessions and streams                      http.rs
//! ToolBuiltins: the function `tool` of plans --> Connections::call                                  builtin.rs
//! ```
//!
//! **Nothing waits for ever.** Every request has a deadline. A server that did not answer in time is asked for a sign of life;
//! without one, or when its session or process is gone, its client is dropped and made anew, with pauses that grow.
//!
//! **Nothing is sent twice by itself**, but what the server certainly did not get. All else fails, says whether the tool may have
//! acted, and is tried again as the step's `retry` says, with the same idempotency key.
//!
//! **Secrets** come by reference, are read when the connection is made, and are taken out of whatever is written: results,
//! failures, lines of logs ([`SecretRedactor`]).
//!
//! **Servers are not trusted**: lines, answers, schemas, logs and numbers of tools are bounded.

mod builtin;
mod client;
pub mod code;
mod connection;
mod connections;
mod definition;
mod http;
mod judge;
mod limits;
mod process;
mod redact;
mod result;
mod secret;
mod stdio;
mod tools;
mod wire;

pub use builtin::ToolBuiltins;
pub use client::ServerIdentity;
pub use connection::{ConnectionHealth, ConnectionOrigin};
pub use connections::{ConnectionView, Connections};
pub use definition::{
    CONCURRENCY_DEFAULT, ConnectionDefinition, DefinitionError, GivenValue, SecretRef, TIMEOUT_DEFAULT,
    definition_problems, is_connection_name,
};
pub use limits::ConnectionLimits;
pub use redact::{REDACTED, SECRET_BYTES_MIN, SecretRedactor};
pub use result::ToolFailure;
pub use tools::{ConnectionTool, PinnedTools, ToolsChange};
