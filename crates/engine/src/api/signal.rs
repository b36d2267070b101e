//! Sending signals to runs.

use std::future::IntoFuture;
use std::sync::Arc;

use futures::future::BoxFuture;
use rival_core::event::EventKind;
use rival_core::{RunId, RunStatus, Seq, Value};
use rival_store::{MessageNo, StoreError};
use serde::Serialize;

use crate::api::control::{self, RunCommand};
use crate::api::engine::Engine;
use crate::api::error::RunError;
use crate::json;
use crate::run::load::{self, LoadError};
use crate::schedule::shared::EngineShared;

/// A signal about to be sent: await it, or give it an id first.
#[must_use = "a signal is sent by awaiting it"]
#[derive(Debug)]
pub struct SignalRequest {
    engine: Engine,
    run: RunId,
    name: String,
    payload: Result<Value, json::EncodeError>,
    id: String,
    /// The sender chose the id, and may have sent the signal before.
    is_given: bool,
}

impl SignalRequest {
    pub(crate) fn new(engine: Engine, run: RunId, name: String, payload: &impl Serialize) -> Self {
        let id = uuid::Uuid::now_v7().to_string();
        Self { engine, run, name, payload: json::encode(payload), id, is_given: false }
    }

    /// Names this signal: sending it again under the same id does nothing.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        (self.id, self.is_given) = (id.into(), true);
        self
    }

    /// Says who asks, see [`Engine::asked_by`].
    pub fn by(mut self, caller: impl Into<Arc<str>>) -> Self {
        self.engine = self.engine.asked_by(caller);
        self
    }

    /// What this signal is called: the given id, or one that was made up. After an error that does not tell whether the
    /// run has the signal, such as one of the store, sending it again under this id is harmless.
    pub fn signal_id(&self) -> &str {
        &self.id
    }

    async fn send(self) -> Result<RunStatus, RunError> {
        let Self { engine, run, name, payload, id, is_given } = self;
        let shared = &engine.shared;
        let _open = engine.take_request().ok_or(RunError::ShuttingDown)?;
        let row = shared.store.get()?.run(&run).await?.ok_or_else(|| RunError::NotFound(run.clone()))?;
        let payload = payload.map_err(|error| RunError::SignalNotJson { signal: name.clone(), error })?;
        let (size, limit) = (payload.len_bytes(), shared.limits.payload_max);
        if size > limit {
            return Err(RunError::SignalTooLarge { signal: name, size, limit });
        }
        let signal = SignalPayload { name, id, payload };
        let registered = shared.registry.at(&row.workflow, row.created_at);
        let violations =
            registered.map_or_else(Vec::new, |it| it.check_signal(&signal.name, &signal.payload));
        if !violations.is_empty() {
            // The schema may have been another one when the run took it.
            let is_known = is_given && signal.is_recorded(shared, &run).await? == Some(true);
            let refused = RunError::InvalidSignal { signal: signal.name, violations };
            return if is_known { Ok(row.status) } else { Err(refused) };
        }
        let (message, by) = (format!("signal:{}", signal.id), engine.by());
        let SignalPayload { name, id, payload } = signal;
        let command = RunCommand::Signal { name, id: Some(id), payload, by };
        control::command(&engine, &run, command, Some(message)).await
    }
}

impl IntoFuture for SignalRequest {
    type Output = Result<RunStatus, RunError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

/// What is sent.
pub(crate) struct SignalPayload {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) payload: Value,
}

impl SignalPayload {
    fn says_the_same_as(&self, name: &str, payload: &Value) -> bool {
        self.name == name && self.payload.canonical() == payload.canonical()
    }

    /// Whether the message that a run knows under this id says something else: one that waits, or one that it took.
    pub(crate) async fn contradicts(
        &self,
        shared: &EngineShared,
        run: &RunId,
        known: MessageNo,
    ) -> Result<bool, StoreError> {
        let waiting = shared.store.get()?.messages(run).await?;
        let waiting = waiting.iter().find(|message| message.no == known);
        match waiting.and_then(|message| message.body.decode::<RunCommand>().ok()) {
            Some(RunCommand::Signal { name, payload, .. }) => Ok(!self.says_the_same_as(&name, &payload)),
            _ => Ok(self.is_recorded(shared, run).await? == Some(false)),
        }
    }

    /// Whether the signal with this id in a run's history says the same; `None` if there is none, or the history does
    /// not read.
    async fn is_recorded(&self, shared: &EngineShared, run: &RunId) -> Result<Option<bool>, StoreError> {
        let mut after = Seq::ZERO;
        loop {
            let page = match load::load_events(&*shared.store.get()?, run, after, load::PAGE).await {
                Ok(page) => page,
                Err(LoadError::Store(error)) if !matches!(error, StoreError::Damaged(_)) => {
                    return Err(error);
                }
                Err(_) => return Ok(None),
            };
            let Some(last) = page.last() else { return Ok(None) };
            after = last.seq;
            let found = page.iter().find_map(|event| {
                let EventKind::SignalReceived { name, id: Some(id), payload, .. } = &event.kind else {
                    return None;
                };
                (*id == self.id).then(|| self.says_the_same_as(name, payload))
            });
            if found.is_some() {
                return Ok(found);
            }
        }
    }
}
