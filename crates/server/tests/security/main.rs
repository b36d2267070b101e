//! None gets in, none takes the server down.
//!
//! Requests are written byte by byte on real connections, because a client library would mend what is wrong with them.
//! Each server has a port of its own, and time limits so short that no test waits long for one. A server that is
//! dropped proves that it still works: [`Server::assert_well`] ends nearly every test.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod http;
mod server;

mod body;
mod connections;
mod content_type;
mod crowds;
mod host;
mod local;
mod logs;
mod origin;
mod panics;
mod parked;
mod rates;
mod real;
mod shutdown;
mod slow;
mod streams;
mod token_file;
mod tokens;
