//! The log of a step: stored per call, shown live, and sent to `tracing`.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rival_core::Value;
use rival_store::{LogLevel, LogLine};
use serde::Serialize;

use crate::call::context::RunInfo;
use crate::durable::handle::CallProgress;
use crate::schedule::clock::Clock;

/// The longest message, and the most that goes with one: a log is not a store.
const LINE_BYTES: usize = 64 * 1024;
/// What one call may log.
const CALL_BYTES: usize = 1024 * 1024;
const CALL_LINES: usize = 10_000;

/// Writes log lines for one call: at most 1 MiB and 10,000 lines. What comes after is dropped, which the last line says.
#[derive(Clone)]
pub struct Log {
    run: Arc<RunInfo>,
    clock: Clock,
    written: Arc<Mutex<Written>>,
    /// Of a call that may repeat an earlier one.
    progress: Option<CallProgress>,
}

/// What a call has logged.
#[derive(Default)]
struct Written {
    /// Not stored yet.
    lines: Vec<LogLine>,
    bytes: usize,
    count: usize,
    is_full: bool,
}

impl Written {
    /// Whether there is room for one more line.
    fn admit(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.count += 1;
        self.is_full = self.bytes > CALL_BYTES || self.count > CALL_LINES;
        !self.is_full
    }
}

impl Log {
    /// A log for one call.
    pub fn new(run: Arc<RunInfo>, clock: Clock) -> Self {
        Self { run, clock, written: Arc::default(), progress: None }
    }

    /// The same, of a call whose lines are stored already as far as it repeats an earlier one.
    pub(crate) fn after(self, progress: Option<CallProgress>) -> Self {
        Self { progress, ..self }
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
        std::mem::take(&mut self.written().lines)
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        // Nothing in there is left half done by a panic.
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, level: LogLevel, fields: &impl Serialize, message: &dyn fmt::Display) {
        if self.progress.as_ref().is_some_and(CallProgress::repeats) || self.written().is_full {
            return;
        }
        // Made before the lock is taken: both run code of the step.
        let fields = Value::encode(fields).ok().filter(|fields| !fields.is_null()).map(bounded);
        let message = cut(message.to_string());
        let mut written = self.written();
        if written.is_full {
            return;
        }
        if written.admit(message.len() + fields.as_ref().map_or(0, Value::len_bytes)) {
            self.put(&mut written, level, message, fields);
        } else {
            let message = format!(
                "the log of this call is full, at {CALL_LINES} lines or {CALL_BYTES} bytes: what comes after is dropped"
            );
            self.put(&mut written, LogLevel::Warn, message, None);
        }
    }

    fn put(&self, written: &mut Written, level: LogLevel, message: String, fields: Option<Value>) {
        self.trace(level, fields.as_ref(), &message);
        let Some(run) = &self.run.run_id else { return };
        written.lines.push(LogLine {
            no: 0,
            run: run.clone(),
            node: self.run.node.to_string(),
            attempt: self.run.attempt,
            call: self.run.call,
            at: self.clock.now(),
            level,
            message,
            fields,
        });
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

/// A message of bounded length.
fn cut(mut message: String) -> String {
    if message.len() > LINE_BYTES {
        let dropped = message.len() - message.floor_char_boundary(LINE_BYTES);
        message.truncate(message.len() - dropped);
        message.push_str(&format!("… ({dropped} bytes more)"));
    }
    message
}

/// Fields of bounded length: the beginning of those that are longer, as text.
fn bounded(fields: Value) -> Value {
    let json = fields.as_json();
    if json.len() <= LINE_BYTES {
        return fields;
    }
    let begin = &json[..json.floor_char_boundary(LINE_BYTES)];
    Value::from(serde_json::json!({ "cut": begin }))
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("run", &self.run).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use rival_core::{Path, RunId};

    use super::*;

    fn log() -> Log {
        let run = RunInfo {
            run_id: Some(RunId::new("r")),
            workflow: "w".into(),
            node: Path::root(),
            attempt: 1,
            call: 1,
            trace: None,
            http: Default::default(),
        };
        Log::new(Arc::new(run), Clock::default())
    }

    #[test]
    fn a_line_is_bounded() {
        let log = log();
        log.info(serde_json::json!({ "large": "x".repeat(50 << 20) }), "é".repeat(1 << 20));
        let line = log.take().remove(0);
        assert!(line.message.len() < LINE_BYTES + 40, "{}", line.message.len());
        assert!(line.message.ends_with("bytes more)"));
        assert!(line.fields.unwrap().len_bytes() < 2 * LINE_BYTES);
    }

    #[test]
    fn a_call_is_bounded_and_says_so_once() {
        let log = log();
        let mut lines = Vec::new();
        for _ in 0..CALL_LINES + 10 {
            log.debug((), "line");
            lines.extend(log.take());
        }
        assert_eq!(lines.len(), CALL_LINES + 1);
        assert_eq!(lines.last().unwrap().level, LogLevel::Warn);
        let large = self::log();
        for _ in 0..100 {
            large.info((), "x".repeat(LINE_BYTES));
        }
        assert_eq!(large.take().len(), CALL_BYTES / LINE_BYTES + 1);
    }
}
