//! What a file with steps and workflows needs: `use rival::prelude::*;`.

pub use rival_core::StepError;
pub use rival_core::plan::{BackoffKind, OnTimeout};
pub use rival_engine::{Engine, Log};
#[cfg(feature = "http")]
pub use rival_http::{Http, HttpResponse};
pub use rival_macros::step;

pub use crate::config::StepConfig;
pub use crate::delay::{delay_by, delay_step, delay_until};
pub use crate::extract::{Cancellation, Failure, FromStep, Input, LastStep, Output, Res, Run, State, Steps};
#[cfg(feature = "http")]
pub use crate::http::{http_by, http_step};
pub use crate::step::StepFn;
pub use crate::workflow::Workflow;
