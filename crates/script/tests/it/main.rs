//! Workflow files on a real engine, with functions in real script hosts.

mod context;
mod docs;
mod document_schemas;
mod documents;
mod durable;
mod edits;
mod examples;
mod packages;
mod problems;
mod realms;
mod reload;
mod seed;
mod stopped;
mod stuck;
mod support;
mod testing;
mod transforms;
mod triggers;
mod values;
mod waits;
mod wanted;
mod web;
mod zod;
