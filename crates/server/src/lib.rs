//! Rival over HTTP.

mod api;
mod app;
pub mod auth;
mod base_path;
mod connections;
mod docs;
mod document;
mod etag;
mod flight;
pub mod guard;
mod keyring;
mod limit;
pub mod listen;
mod live;
pub mod local_secret;
pub mod metrics;
pub mod mount;
mod pages;
mod parked;
mod patient;
pub mod problem;
pub mod routes;
pub mod secure;
mod server;
pub mod settings;
mod tickets;
pub mod token;
mod trace;

pub use base_path::BasePath;
pub use connections::ConnectionControl;
pub use server::{DrainSwitch, Server, ServerBuilder, openapi};
pub use settings::Settings;

/// The code in the page about HTTP is compiled with the code in these docs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/http.md")]
mod page {}
