//! Documents from text to templates, and everything that can be wrong with them.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]
#![allow(clippy::needless_pass_by_value, reason = "literals of JSON read better without references")]

mod compile;
mod fakes;
mod fuzz;
mod hostile;
mod json;
mod published;
mod random;
mod refs;
mod seed;
mod shape;
mod sound;
mod triggers;
mod types;
