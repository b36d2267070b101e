//! Connections against servers: one that does as it is told (`servers/scripted.mjs`), and real ones.
#![allow(clippy::unwrap_used, reason = "tests")]

mod hostile;
mod http;
mod real;
mod secrets;
mod stdio;
mod steps;
mod support;
