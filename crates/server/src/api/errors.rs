//! Which HTTP status the engine's errors have.

use axum::http::StatusCode;
use rival_engine::store::StoreError;
use rival_engine::{RunError, StartError};

use super::convert;
use crate::problem::HttpProblem;

impl From<StartError> for HttpProblem {
    fn from(error: StartError) -> Self {
        let status = match &error {
            StartError::UnknownWorkflow { .. } | StartError::NotFound(_) => StatusCode::NOT_FOUND,
            StartError::InvalidInput { .. }
            | StartError::InputNotJson { .. }
            | StartError::InvalidRunId(_)
            | StartError::InvalidTags(_)
            | StartError::NoForkPoint(_)
            | StartError::UnknownNode { .. } => StatusCode::BAD_REQUEST,
            StartError::InputTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            StartError::Conflict(_)
            | StartError::NotRetryable { .. }
            | StartError::NotEnded { .. }
            | StartError::NodeChanged { .. } => StatusCode::CONFLICT,
            StartError::ShuttingDown | StartError::CheckUnavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
            StartError::Store(error) => of_store(error),
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let problem = Self::new(status, error.code(), error.to_string());
        match error {
            StartError::InvalidInput { violations, .. } => with(problem, violations),
            _ => problem,
        }
    }
}

impl From<RunError> for HttpProblem {
    fn from(error: RunError) -> Self {
        let status = match &error {
            RunError::NotFound(_) | RunError::NoValue { .. } => StatusCode::NOT_FOUND,
            RunError::WaitTimeout { .. } => StatusCode::REQUEST_TIMEOUT,
            RunError::Finished { .. }
            | RunError::SignalsFull { .. }
            | RunError::SignalConflict { .. }
            | RunError::Unreachable { .. } => StatusCode::CONFLICT,
            RunError::InvalidSignal { .. } | RunError::SignalNotJson { .. } => StatusCode::BAD_REQUEST,
            RunError::SignalTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            RunError::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
            RunError::Store(error) => of_store(error),
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let problem = Self::new(status, error.code(), error.to_string());
        match error {
            RunError::InvalidSignal { violations, .. } => with(problem, violations),
            _ => problem,
        }
    }
}

/// What may work later is worth asking again.
pub(crate) fn of_store(error: &StoreError) -> StatusCode {
    if error.is_retryable() || matches!(error, StoreError::Closed) {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::INTERNAL_SERVER_ERROR
    }
}

fn with(problem: HttpProblem, violations: Vec<rival_engine::Violation>) -> HttpProblem {
    HttpProblem { errors: convert::violations(violations), ..problem }
}
