//! Rival over HTTP.

pub mod auth;
pub mod guard;
mod keyring;
mod limit;
pub mod listen;
mod patient;
pub mod problem;
pub mod routes;
pub mod secure;
pub mod settings;
pub mod token;
