//! The crate from outside, on real files.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod checks;
mod dice;
mod folder;
mod links;
mod load;
mod packages;
mod random;
mod robust;
mod schema;
mod stack;
mod transform;
mod usage;
