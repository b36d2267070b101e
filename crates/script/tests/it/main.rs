//! Workflow files on a real engine, with functions in real script hosts.

mod context;
mod durable;
mod problems;
mod reload;
mod seed;
mod stuck;
mod support;
mod web;
mod zod;
