//! Rival over HTTP.

pub mod problem;
pub mod settings;
