//! A host is told things over its sockets, as the engine would, and what it says is looked at.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]
#![allow(
    clippy::needless_pass_by_value,
    clippy::result_large_err,
    unreachable_pub,
    reason = "tests read better so"
)]

mod authors;
mod calls;
mod confine;
mod context;
mod control;
mod durable;
mod http;
mod input;
mod lab;

mod memory;
mod natives;
mod plans;
mod realms;
mod registry;
mod scripts;
mod server;
mod transforms;
mod web;
