//! What went wrong, as an event of a span.

use std::time::SystemTime;

use opentelemetry::KeyValue;
use opentelemetry::trace::Event;
use rival_core::FailureRecord;
use rival_engine::Called;

/// What a span says of its failure, under the names of OpenTelemetry.
pub(crate) struct SpanException {
    /// `error.type`: the code, or the status of an HTTP answer.
    pub(crate) error_type: String,
    code: String,
    /// The class of what was thrown, where that is known.
    class: Option<String>,
    message: String,
    stack: String,
}

impl SpanException {
    /// What a run failed with.
    pub(crate) fn of_failure(failure: &FailureRecord, place: &str) -> Self {
        let mut exception = Self::new(&failure.code, &failure.message, place);
        let Some(origin) = &failure.origin else { return exception };
        exception.class.clone_from(&origin.class);
        if let Some(stack) = &origin.stack {
            exception.stack = format!("{}: {}\n{stack}", exception.kind(), exception.message);
        }
        exception
    }

    /// What went wrong with a call, if something did.
    pub(crate) fn of_call(call: &Called<'_>) -> Option<Self> {
        let place = format!("{}/{} (call {}, attempt {})", call.workflow, call.node, call.call, call.attempt);
        if let Some(failure) = call.failure() {
            return Some(Self::of_failure(failure, &place));
        }
        let (code, message) = call.problem()?;
        Some(Self::new(code, &message, &place))
    }

    /// Where nothing is known of the function's own stack, its place in the workflow stands for it.
    fn new(code: &str, message: &str, place: &str) -> Self {
        Self {
            error_type: code.to_owned(),
            code: code.to_owned(),
            class: None,
            message: message.to_owned(),
            stack: format!("{code}: {message}\n    at {place}"),
        }
    }

    fn kind(&self) -> &str {
        self.class.as_deref().unwrap_or(&self.code)
    }

    /// One line for the span's status.
    pub(crate) fn description(&self) -> String {
        format!("{}: {}", self.code, self.message)
    }

    pub(crate) fn into_event(self, at: SystemTime) -> Event {
        let attributes = vec![
            KeyValue::new("exception.type", self.kind().to_owned()),
            KeyValue::new("exception.message", self.message),
            KeyValue::new("exception.stacktrace", self.stack),
        ];
        Event::new("exception", at, attributes, 0)
    }
}
