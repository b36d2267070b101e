//! Facts about schemas, with the crate `jsonschema` as the judge of what values are valid.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]
#![allow(clippy::cast_possible_truncation, reason = "random numbers need not be exact")]
#![allow(unreachable_pub, reason = "the modules share their helpers")]

mod cases;
mod dice;
mod generated;
mod hostile;
mod instances;
mod lookup;
mod mcp;
mod oracle;
mod text;
mod types;
