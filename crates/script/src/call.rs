//! A conversation with a host about one call.

use std::pin::Pin;
use std::sync::Arc;

use futures::FutureExt;
use futures::channel::mpsc::UnboundedReceiver;
use futures::stream::{Peekable, StreamExt};
use rival_core::LogLevel;
use rival_engine::inexact_number;
use rival_script_host::frame::{CallId, FromHost, ScriptError, ToHost};
use serde_json::value::RawValue;

use crate::function::unsafe_number;
use crate::host::{CallLoss, HostEvent, HostHandle};

/// A call that a host was asked for. When it is dropped before its end, the host is told to stop it.
pub(crate) struct HostCall {
    pub(crate) host: Arc<HostHandle>,
    pub(crate) id: CallId,
    pub(crate) heard: Peekable<UnboundedReceiver<HostEvent>>,
    pub(crate) over: bool,
    /// It waits for durable operations only: nothing has to be stopped when it is suspended.
    pub(crate) is_idle: bool,
}

impl HostCall {
    /// Where it is held.
    pub(crate) fn host(&self) -> Arc<HostHandle> {
        Arc::clone(&self.host)
    }

    /// Whether the host has said something that was not read yet.
    pub(crate) fn has_news(&mut self) -> bool {
        Pin::new(&mut self.heard).peek().now_or_never().flatten().is_some()
    }

    /// What the host says next.
    pub(crate) async fn next(&mut self) -> HostEvent {
        let heard = self.heard.next().await.unwrap_or(HostEvent::Lost(CallLoss::Bystander));
        self.over = match &heard {
            HostEvent::Lost(_) => true,
            HostEvent::Frame(frame) => matches!(frame, FromHost::Done { .. } | FromHost::Failed { .. }),
        };
        heard
    }

    /// Waits for the end of something that says nothing else.
    pub(crate) async fn end(mut self) -> Result<Box<RawValue>, HostCallError> {
        loop {
            match self.next().await {
                HostEvent::Frame(FromHost::Done { value, .. }) => return Ok(value),
                HostEvent::Frame(FromHost::Failed { error, .. }) => return Err(HostCallError::Failed(error)),
                HostEvent::Lost(loss) => return Err(HostCallError::Lost(loss)),
                HostEvent::Frame(FromHost::Log { level, message, fields, .. }) => {
                    say(level, &message, fields.as_deref());
                }
                HostEvent::Frame(_) => {}
            }
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// It does nothing but wait, or does something again.
    pub(crate) fn set_idle(&mut self, is_idle: bool) {
        if std::mem::replace(&mut self.is_idle, is_idle) != is_idle {
            self.host.count_idle(is_idle);
        }
    }

    /// Fires the call's signal; its outcome is still wanted.
    pub(crate) fn abort(&self, reason: &str) {
        self.host.stop(self.id, reason, true);
    }

    /// Answers an operation.
    pub(crate) fn answer(&self, op: u32, answer: Result<Box<RawValue>, ScriptError>) {
        let (value, error) = match answer {
            Ok(value) => (Some(value), None),
            Err(error) => (None, Some(error)),
        };
        let inexact = value.as_ref().and_then(|value| inexact_number(value.get()));
        let (value, error) = match inexact {
            Some(inexact) => (None, Some(unsafe_number(&inexact, "the answer"))),
            None => (value, error),
        };
        self.host.send(&ToHost::Answer { id: self.id, op, value, error });
    }
}

/// What a script writes while no step runs, such as when its file is loaded.
pub(crate) fn say(level: LogLevel, message: &str, fields: Option<&RawValue>) {
    let fields = fields.map_or("", RawValue::get);
    match level {
        LogLevel::Debug => tracing::debug!(target: "rival::script", fields, "{message}"),
        LogLevel::Info => tracing::info!(target: "rival::script", fields, "{message}"),
        LogLevel::Warn => tracing::warn!(target: "rival::script", fields, "{message}"),
        LogLevel::Error => tracing::error!(target: "rival::script", fields, "{message}"),
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum HostCallError {
    Failed(ScriptError),
    Lost(CallLoss),
}

impl Drop for HostCall {
    fn drop(&mut self) {
        let was_idle = self.is_idle;
        self.set_idle(false);
        if self.over {
            return;
        }
        self.host.unexpect(self.id);
        if was_idle {
            self.host.send(&ToHost::Forget { id: self.id });
        } else {
            self.host.stop(self.id, "the call was stopped", false);
        }
    }
}
