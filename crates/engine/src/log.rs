//! The log of a step: stored per call, shown live, and sent to `tracing`.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rival_core::Value;
use rival_store::{LogLevel, LogLine};
use serde::Serialize;

use crate::clock::Clock;
use crate::context::RunInfo;

/// Writes log lines for one call.
#[derive(Clone)]
pub struct Log {
    run: Arc<RunInfo>,
    clock: Clock,
    lines: Arc<Mutex<Vec<LogLine>>>,
}

impl Log {
    /// A log for one call.
    pub fn new(run: Arc<RunInfo>, clock: Clock) -> Self {
        Self { run, clock, lines: Arc::default() }
    }

    /// For the author: `log.debug(fields, message)`; `()` for no fields.
    pub fn debug(&self, fields: impl Serialize, message: impl fmt::Display) {
        self.write(LogLevel::Debug, &fields, &message);
    }

    /// Normal operation.
    pub fn info(&self, fields: impl Serialize, message: impl fmt::Display) {
        self.write(LogLevel::Info, &fields, &message);
    }

    /// Something odd.
    pub fn warn(&self, fields: impl Serialize, message: impl fmt::Display) {
        self.write(LogLevel::Warn, &fields, &message);
    }

    /// Something wrong.
    pub fn error(&self, fields: impl Serialize, message: impl fmt::Display) {
        self.write(LogLevel::Error, &fields, &message);
    }

    /// Takes the lines that have not been stored yet.
    pub fn take(&self) -> Vec<LogLine> {
        std::mem::take(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, level: LogLevel, fields: &impl Serialize, message: &dyn fmt::Display) {
        let fields = Value::encode(fields).ok().filter(|fields| !fields.is_null());
        let message = message.to_string();
        self.trace(level, fields.as_ref(), &message);
        let Some(run) = &self.run.run_id else { return };
        let line = LogLine {
            no: 0,
            run: run.clone(),
            node: self.run.node.to_string(),
            attempt: self.run.attempt,
            call: self.run.call,
            at: self.clock.now(),
            level,
            message,
            fields,
        };
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    fn trace(&self, level: LogLevel, fields: Option<&Value>, message: &str) {
        let run = self.run.run_id.as_ref().map_or("-", |run| run.as_str());
        let (workflow, node, attempt) = (&*self.run.workflow, &self.run.node, self.run.attempt);
        let fields = fields.map_or("", Value::as_json);
        match level {
            LogLevel::Debug => {
                tracing::debug!(target: "rival::step", run, workflow, %node, attempt, fields, "{message}");
            }
            LogLevel::Info => {
                tracing::info!(target: "rival::step", run, workflow, %node, attempt, fields, "{message}");
            }
            LogLevel::Warn => {
                tracing::warn!(target: "rival::step", run, workflow, %node, attempt, fields, "{message}");
            }
            LogLevel::Error => {
                tracing::error!(target: "rival::step", run, workflow, %node, attempt, fields, "{message}");
            }
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("run", &self.run).finish_non_exhaustive()
    }
}
