//! A host is told things over its sockets, as the engine would, and what it says is looked at.

#![allow(clippy::unwrap_used, unreachable_pub, reason = "helpers of tests may panic as tests do")]

mod calls;
mod lab;
