//! The API as its users see it: a real server on a port of its own, over a real store, asked over HTTP.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod lab;

mod bulk;
mod control;
mod delivery;
mod documents;
mod live;
mod mount;
mod proxy;
mod runs;
mod server;
mod start;
mod tickets;
mod triggers;
mod values;
mod workflows;
