//! Facts about schemas.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]
#![allow(unreachable_pub, reason = "the modules share their helpers")]

mod text;
mod types;
