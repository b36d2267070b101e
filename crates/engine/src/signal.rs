//! Sending signals to runs.

use std::future::IntoFuture;

use futures::future::BoxFuture;
use rival_core::{RunId, RunStatus, Value};
use serde::Serialize;

use crate::control::{self, Command};
use crate::engine::Engine;
use crate::error::RunError;
use crate::json;

/// A signal about to be sent: await it, or give it an id first.
#[must_use = "a signal is sent by awaiting it"]
#[derive(Debug)]
pub struct SignalRequest {
    engine: Engine,
    run: RunId,
    name: String,
    payload: Result<Value, json::EncodeError>,
    id: Option<String>,
}

impl SignalRequest {
    pub(crate) fn new(engine: Engine, run: RunId, name: String, payload: &impl Serialize) -> Self {
        Self { engine, run, name, payload: json::encode(payload), id: None }
    }

    /// Names this signal: sending it again under the same id does nothing.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    async fn send(self) -> Result<RunStatus, RunError> {
        let Self { engine, run, name, payload, id } = self;
        let shared = &engine.shared;
        let row = shared.store.run(&run).await?.ok_or_else(|| RunError::NotFound(run.clone()))?;
        let payload = payload.map_err(|error| RunError::SignalNotJson { signal: name.clone(), error })?;
        let (size, limit) = (payload.len_bytes(), shared.limits.payload_max);
        if size > limit {
            return Err(RunError::SignalTooLarge { signal: name, size, limit });
        }
        let registered = shared.registry.at(&row.workflow, row.created_at);
        let violations = registered.map_or_else(Vec::new, |it| it.check_signal(&name, &payload));
        if !violations.is_empty() {
            return Err(RunError::InvalidSignal { signal: name, violations });
        }
        let message = id.as_ref().map(|id| format!("signal:{id}"));
        control::command(shared, &run, Command::Signal { name, id, payload }, message).await
    }
}

impl IntoFuture for SignalRequest {
    type Output = Result<RunStatus, RunError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
