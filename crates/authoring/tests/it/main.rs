//! Documents of a running engine: over restarts, in files, and when what they refer to changes.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod files;
mod lab;
mod stored;
