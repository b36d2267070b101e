//! Rival as an MCP server: what models and their clients find of it.
//!
//! Each tool is a few requests of the HTTP API, sent through an [`ApiCaller`]: so rights, limits, names and errors are those
//! of the API, whether a tool is called over stdio (`rival mcp`) or over HTTP (`/mcp`). What comes back is cut to a size that
//! fits a model's context, with a note how to read the rest; what goes wrong says what to do next, in words of the tools.

mod api;
mod caller;
mod changes;
mod failure;
mod guide;
mod handler;
pub mod http;
mod progress;
mod shown;
mod spec;
pub mod stdio;
mod tools;
mod words;
mod workflow_tools;

pub use caller::{ApiCaller, ApiRequest, ApiResponse, ApiSilence, LOST, NO_SERVER};
pub use guide::LLMS_TXT;
pub use handler::RivalTools;
pub use words::{EventWords, PlanWords, Words};
