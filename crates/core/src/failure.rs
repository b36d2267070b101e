//! What goes wrong in user functions, and what the function asks for when it does.

use std::any::type_name;
use std::error::Error as StdError;
use std::fmt;
use std::panic::Location;

use serde::{Deserialize, Serialize};

use crate::carried::CarriedError;
use crate::plan::BackoffKind;
use crate::value::{self, Value};

/// Codes of failures that the engine itself raises; a function's own error has the code `error`
/// unless it names one.
pub mod code {
    /// The function returned an error without a code.
    pub const ERROR: &str = "error";
    /// The function panicked.
    pub const PANIC: &str = "panic";
    /// The attempt outlived the step's `timeout`.
    pub const TIMEOUT: &str = "timeout";
    /// The run outlived its `timeout`.
    pub const RUN_TIMEOUT: &str = "run_timeout";
    /// A step marked at-most-once was cut short by a crash.
    pub const INTERRUPTED: &str = "interrupted";
    /// A result or recorded state is larger than the limit.
    pub const TOO_LARGE: &str = "payload_too_large";
    /// A result cannot be written as JSON (NaN, a map key that is no string, too deep).
    pub const NOT_JSON: &str = "not_json";
    /// An input does not match the schema.
    pub const INVALID_INPUT: &str = "invalid_input";
    /// A recorded value does not decode into the type that the function asks for.
    pub const DECODE: &str = "decode";
    /// No signal came in time.
    pub const SIGNAL_TIMEOUT: &str = "signal_timeout";
    /// A child failed.
    pub const CHILD_FAILED: &str = "child_failed";
    /// A child was cancelled.
    pub const CHILD_CANCELLED: &str = "child_cancelled";
    /// A child is to be started of a workflow that is not registered.
    pub const UNKNOWN_WORKFLOW: &str = "unknown_workflow";
    /// Something that a child did could not be undone.
    pub const NOT_UNDONE: &str = "not_undone";
    /// No case of a branch applies, and it has no default.
    pub const NO_CASE: &str = "no_such_case";
    /// The function of a supervisor answered something else than it was asked for.
    pub const BAD_ANSWER: &str = "bad_answer";
    /// A loop or forEach has more iterations than it may.
    pub const MAX_ITERATIONS: &str = "max_iterations";
    /// So many branches failed that the others cannot make up for it.
    pub const JOIN_UNREACHABLE: &str = "join_unreachable";
    /// The run was cancelled.
    pub const CANCELLED: &str = "cancelled";
    /// A durable operation was asked for by a step that has ended.
    pub const STEP_ENDED: &str = "step_ended";
    /// A template refers to a value that is not there.
    pub const MISSING_REF: &str = "missing_ref";
    /// A chain of runs in which each triggers the next is too long.
    pub const TRIGGER_DEPTH: &str = "trigger_depth";
    /// A trigger of a completed run failed.
    pub const TRIGGER_FAILED: &str = "trigger_failed";
    /// Rival has a bug: a decision came to something that cannot be.
    pub const INTERNAL: &str = "internal";
}

/// A failure as it is recorded in events and shown to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Failure))]
pub struct FailureRecord {
    /// A stable word for programs: one of [`code`], or the function's own.
    pub code: String,
    /// One sentence for people.
    pub message: String,
    /// Anything else the function wants to say.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "value::present")]
    pub details: Option<Value>,
    /// Where it comes from, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<FailureOrigin>>,
}

/// Where a failure comes from, as it was at that moment: the file may change afterwards.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FailureOrigin {
    /// The class or type of the error, if it says something: `TypeError`, `std::io::Error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The author's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// From 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The source around the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excerpt: Vec<SourceLine>,
    /// The calls that led there, the innermost first, and the errors that caused this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourceLine {
    /// From 1.
    pub line: u32,
    /// Without its line break.
    pub text: String,
}

impl FailureRecord {
    /// A failure with a code and a message.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), details: None, origin: None }
    }

    /// An error with this failure that is tried again while attempts remain. For what runs steps: the failure has no line in
    /// an author's code, where [`StepError::new`] would note one.
    pub fn plain(self) -> StepError {
        self.into_error(Behavior::Plain)
    }

    /// The same, but it ends the step even if attempts remain.
    pub fn stop(self) -> StepError {
        self.into_error(Behavior::Stop)
    }

    fn into_error(self, behavior: Behavior) -> StepError {
        StepError { failure: self, behavior, max_attempts: None, backoff: None, backoff_ms: None }
    }

    /// The message, after the class of the error if that says something.
    pub fn sentence(&self) -> String {
        let class = self.origin.as_ref().and_then(|origin| origin.class.as_deref());
        match class {
            Some(class) if !self.message.starts_with(class) => format!("{class}: {}", self.message),
            _ => self.message.clone(),
        }
    }
}

impl FailureOrigin {
    /// A line of Rust.
    pub fn at(at: &Location<'_>) -> Self {
        Self {
            file: Some(at.file().to_owned()),
            line: Some(at.line()),
            column: Some(at.column()),
            ..Self::default()
        }
    }

    /// Forgets the place, if it is in this file.
    pub fn forget_file(&mut self, file: &str) {
        if self.file.as_deref() == Some(file) {
            (self.file, self.line, self.column) = (None, None, None);
        }
    }

    /// `file:line:column`, as far as that is known.
    pub fn place(&self) -> Option<String> {
        let numbers = [self.line, self.column].into_iter().flatten();
        Some(numbers.fold(self.file.clone()?, |place, number| format!("{place}:{number}")))
    }
}

/// The type of an error, unless it is one that any error can be.
fn class_of<E>() -> Option<String> {
    let name = type_name::<E>();
    let is_any = matches!(name, "&str" | "alloc::string::String" | "anyhow::Error") || name.contains("dyn ");
    (!is_any).then(|| name.to_owned())
}

impl fmt::Display for FailureRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What a failing function wants to happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    /// A plain error: tried again while the step's own attempts last.
    Plain,
    /// End the step now, even if attempts remain.
    Stop,
    /// Record the failure and go on.
    Continue,
    /// Try again, as often as asked but never more often than the step's own limit allows.
    Retry,
}

/// The error of a step.
///
/// Any error converts into it with `?` and then is a *plain* error. To say what should happen next,
/// use [`StepError::stop`], [`StepError::proceed`] or [`StepError::retry`]. The failure's origin is the line that made it.
///
/// It does not implement `std::error::Error` itself, because that is what lets every other error convert. With `?` it becomes an
/// `anyhow::Error` (with the feature `anyhow`) or a `Box<dyn Error>`, and with [`into_boxed`](Self::into_boxed) one that is
/// `Send + Sync`. If such an error becomes a step's again, it is what it was: what should happen next, code, details and line.
///
/// ```
/// use rival_core::{Behavior, StepError};
///
/// fn charge() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///     Err(StepError::stop("declined").code("card_declined").into_boxed())
/// }
///
/// fn step() -> Result<(), StepError> {
///     Ok(charge()?)
/// }
///
/// assert_eq!(step().unwrap_err().behavior, Behavior::Stop);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepError {
    /// What is recorded.
    pub failure: FailureRecord,
    /// What should happen next.
    pub behavior: Behavior,
    /// With [`Behavior::Retry`]: total attempts wanted.
    pub max_attempts: Option<u32>,
    /// With [`Behavior::Retry`]: how the delay grows.
    pub backoff: Option<BackoffKind>,
    /// With [`Behavior::Retry`]: the base delay.
    pub backoff_ms: Option<u64>,
}

impl StepError {
    /// A plain error: retried while attempts remain.
    #[track_caller]
    pub fn new(message: impl Into<String>) -> Self {
        Self::with_behavior(message, Behavior::Plain)
    }

    /// Ends the step, and with it the run, even if attempts remain.
    #[track_caller]
    pub fn stop(message: impl Into<String>) -> Self {
        Self::with_behavior(message, Behavior::Stop)
    }

    /// Records the failure and lets the run go on (`continue` in other languages).
    #[track_caller]
    pub fn proceed(message: impl Into<String>) -> Self {
        Self::with_behavior(message, Behavior::Continue)
    }

    /// Asks for another attempt.
    #[track_caller]
    pub fn retry(message: impl Into<String>) -> Self {
        Self::with_behavior(message, Behavior::Retry)
    }

    #[track_caller]
    fn with_behavior(message: impl Into<String>, behavior: Behavior) -> Self {
        let origin = Some(Box::new(FailureOrigin::at(Location::caller())));
        FailureRecord { origin, ..FailureRecord::new(code::ERROR, message) }.into_error(behavior)
    }

    /// The error as one of the standard library. (`?` cannot do it: that would be a second way to convert the error into itself.)
    pub fn into_boxed(self) -> Box<dyn StdError + Send + Sync> {
        Box::new(CarriedError::new(self))
    }

    /// Sets a stable code that programs can match on.
    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.failure.code = code.into();
        self
    }

    /// Adds details that are recorded with the failure.
    #[must_use]
    pub fn details(mut self, details: impl Into<Value>) -> Self {
        self.failure.details = Some(details.into());
        self
    }

    /// With `retry`: the total number of attempts wanted.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = Some(attempts);
        self
    }

    /// With `retry`: how the delay grows, and from what base.
    #[must_use]
    pub fn backoff(mut self, kind: BackoffKind, base: std::time::Duration) -> Self {
        self.backoff = Some(kind);
        self.backoff_ms = Some(u64::try_from(base.as_millis()).unwrap_or(u64::MAX));
        self
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)
    }
}

/// For `main` functions and tests that return `Box<dyn Error>`.
impl From<StepError> for Box<dyn StdError> {
    fn from(error: StepError) -> Self {
        error.into_boxed()
    }
}

/// For functions that return `anyhow::Result`, steps among them.
#[cfg(feature = "anyhow")]
impl From<StepError> for anyhow::Error {
    fn from(error: StepError) -> Self {
        Self::new(CarriedError::new(error))
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> From<E> for StepError {
    /// Remembers the line of the `?` or `into()`.
    #[track_caller]
    fn from(error: E) -> Self {
        let error = error.into();
        let (message, carried) = CarriedError::find(&*error);
        if let Some(mut carried) = carried {
            carried.failure.message = message;
            return carried;
        }
        let origin = FailureOrigin { class: class_of::<E>(), ..FailureOrigin::at(Location::caller()) };
        FailureRecord { origin: Some(Box::new(origin)), ..FailureRecord::new(code::ERROR, message) }.plain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads() -> Result<(), StepError> {
        String::from_utf8(vec![0xFF])?;
        Ok(())
    }

    #[test]
    fn an_error_that_becomes_a_step_error_has_its_type_and_the_line_of_its_conversion() {
        let failure = reads().unwrap_err().failure;
        let origin = failure.origin.clone().unwrap();
        assert_eq!(origin.class.as_deref(), Some("alloc::string::FromUtf8Error"));
        assert_eq!((origin.file.as_deref(), origin.line), (Some(file!()), Some(line!() - 9)));
        assert!(failure.sentence().starts_with("alloc::string::FromUtf8Error: invalid utf-8"), "{failure}");
        let text: StepError = "no".into();
        assert_eq!(text.failure.origin.unwrap().class, None);
    }

    #[test]
    fn an_error_that_a_step_makes_has_its_line() {
        let made =
            [StepError::new("a"), StepError::stop("b"), StepError::proceed("c"), StepError::retry("d")];
        for error in made {
            let origin = error.failure.origin.unwrap();
            assert_eq!((origin.file.as_deref(), origin.line), (Some(file!()), Some(line!() - 3)));
            assert_eq!(origin.class, None);
        }
        assert_eq!(FailureRecord::new("a", "b").stop().failure.origin, None);
    }

    #[test]
    fn failures_of_earlier_versions_have_no_origin_and_are_written_as_they_were() {
        let old = r#"{"code":"error","message":"no","details":{"stack":"at x"}}"#;
        let failure: FailureRecord = serde_json::from_str(old).unwrap();
        assert_eq!((&failure.origin, failure.sentence().as_str()), (&None, "no"));
        assert_eq!(serde_json::to_string(&failure).unwrap(), old);
    }
}
