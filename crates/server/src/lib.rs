//! Rival over HTTP.

mod api;
mod app;
pub mod auth;
mod docs;
pub mod guard;
mod keyring;
mod limit;
mod live;
pub mod problem;
pub mod routes;
pub mod secure;
mod server;
pub mod settings;
pub mod token;

pub use server::{Server, openapi};
pub use settings::Settings;
