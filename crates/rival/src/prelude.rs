//! What a file with steps and workflows needs: `use rival::prelude::*;`.

pub use rival_core::StepError;
pub use rival_core::plan::{BackoffKind, Join, OnTimeout};
pub use rival_engine::{Engine, Log};
#[cfg(feature = "http")]
pub use rival_http::{Http, HttpResponse, OutgoingPolicy};
pub use rival_macros::step;
#[cfg(feature = "typescript")]
pub use rival_script::RegisterFiles;
#[cfg(feature = "sqlite")]
pub use rival_sqlite::SqliteStore;
pub use rival_store::RunFilter;

pub use crate::block::Block;
pub use crate::config::StepConfig;
pub use crate::delay::{delay_by, delay_step, delay_until};
pub use crate::extract::{
    Cancellation, Durable, Failure, FromStep, Input, Item, Items, Iteration, Joined, LastIteration, LastStep,
    Output, Res, Run, Runs, State, Steps, Undo,
};
#[cfg(feature = "http")]
pub use crate::http::{http_by, http_step};
pub use crate::signal::signal;
pub use crate::step::StepFn;
pub use crate::trigger::{Trigger, TriggerValue};
pub use crate::workflow::Workflow;
