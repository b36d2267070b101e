//! A conversation with a host about one call.

use std::sync::Arc;

use rival_engine::inexact_number;
use rival_host::frame::{CallId, FromHost, Level, ScriptError, ToHost};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::function::unsafe_number;
use crate::host::{Heard, Host, Loss};

/// A call that a host was asked for. When it is dropped before its end, the host is told to stop it.
pub(crate) struct Talk {
    host: Arc<Host>,
    id: CallId,
    heard: mpsc::UnboundedReceiver<Heard>,
    over: bool,
    /// It waits for durable operations only: nothing has to be stopped when it is let go.
    rests: bool,
}

impl Talk {
    pub(crate) fn new(host: Arc<Host>, id: CallId, heard: mpsc::UnboundedReceiver<Heard>) -> Self {
        Self { host, id, heard, over: false, rests: false }
    }

    /// Where it is held.
    pub(crate) fn host(&self) -> Arc<Host> {
        Arc::clone(&self.host)
    }

    /// What the host says next.
    pub(crate) async fn next(&mut self) -> Heard {
        let heard = self.heard.recv().await.unwrap_or(Heard::Lost(Loss::Bystander));
        self.over = match &heard {
            Heard::Lost(_) => true,
            Heard::Frame(frame) => matches!(frame, FromHost::Done { .. } | FromHost::Failed { .. }),
        };
        heard
    }

    /// Waits for the end of something that says nothing else.
    pub(crate) async fn end(mut self) -> Result<Box<RawValue>, Unanswered> {
        loop {
            match self.next().await {
                Heard::Frame(FromHost::Done { value, .. }) => return Ok(value),
                Heard::Frame(FromHost::Failed { error, .. }) => return Err(Unanswered::Failed(error)),
                Heard::Lost(loss) => return Err(Unanswered::Lost(loss)),
                Heard::Frame(FromHost::Log { level, message, fields, .. }) => {
                    say(level, &message, fields.as_deref());
                }
                Heard::Frame(_) => {}
            }
        }
    }

    pub(crate) fn rests(&self) -> bool {
        self.rests
    }

    /// It does nothing but wait, or does something again.
    pub(crate) fn set_rests(&mut self, rests: bool) {
        if std::mem::replace(&mut self.rests, rests) != rests {
            self.host.rests(rests);
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
pub(crate) fn say(level: Level, message: &str, fields: Option<&RawValue>) {
    let fields = fields.map_or("", RawValue::get);
    match level {
        Level::Debug => tracing::debug!(target: "rival::script", fields, "{message}"),
        Level::Info => tracing::info!(target: "rival::script", fields, "{message}"),
        Level::Warn => tracing::warn!(target: "rival::script", fields, "{message}"),
        Level::Error => tracing::error!(target: "rival::script", fields, "{message}"),
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Unanswered {
    Failed(ScriptError),
    Lost(Loss),
}

impl Drop for Talk {
    fn drop(&mut self) {
        let rested = self.rests;
        self.set_rests(false);
        if self.over {
            return;
        }
        self.host.unexpect(self.id);
        if rested {
            self.host.send(&ToHost::Forget { id: self.id });
        } else {
            self.host.stop(self.id, "the call was stopped", false);
        }
    }
}
