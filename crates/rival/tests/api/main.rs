//! The authoring API as its users see it.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod block_errors;
mod blocks;
mod build_errors;
mod calls;
mod dag;
mod engines;
mod errors;
#[cfg(all(feature = "http", feature = "sqlite"))]
mod examples;
#[cfg(feature = "http")]
mod http;
mod identity;
mod nested;
mod own_store;
mod plain_functions;
mod plans;
mod runs;
mod step_errors;
mod testing;
mod trees;
mod triggers;
