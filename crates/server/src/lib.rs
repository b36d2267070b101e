//! Rival over HTTP.

pub mod metrics;
pub mod problem;
pub mod settings;
