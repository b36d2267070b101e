//! Triggers on the real engine, over both stores: what a completed run starts, once, whatever happens.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]
#![allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "what the tests of the engine share is not all used here"
)]

#[path = "../engine/lab.rs"]
mod lab;
#[path = "../engine/steps.rs"]
mod steps;
#[path = "../engine/store.rs"]
mod store;

mod triggers;
