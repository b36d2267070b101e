//! The real binary, on a real store in a folder of its own, with a real server on a port of its own or with none.
//!
//! What it prints is compared with what is written here; ids, times and the like are replaced first.
//! `UPDATE_EXPECT=1` writes down what is printed now: look at the difference before you keep it.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod alerts;
mod archive;
mod clock;
#[path = "../../../telemetry/tests/otlp/collector.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
mod collector;
mod config;
mod connections;
mod control;
mod deploy;
mod documents;
mod files;
mod guide;
mod help;
mod init;
mod lab;
mod look;
mod offline;
mod requests;
mod serve;
mod start;
mod store;
mod token;
mod traces;
mod workflows;
