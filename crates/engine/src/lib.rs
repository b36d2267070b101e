//! The engine of Rival: it holds definitions, runs one actor per live run, calls functions, keeps timers,
//! and recovers after a crash.
//!
//! Rust users normally come through the `rival` crate, which adds typed steps and the builder.

mod context;
mod definition;
mod function;
mod json;
mod log;
mod resources;

pub use context::{
    CallContext, FailedStep, FailureContext, RunInfo, StateCell, StepView, StepsReader, WorkflowState,
};
pub use definition::{Definition, ResourceNeed};
pub use function::{Function, Needs, OutputNeed};
pub use json::{EncodeError, encode};
pub use log::Log;
pub use resources::Resources;
pub use rival_core as core;
pub use rival_store as store;
pub use tokio_util::sync::CancellationToken;
