//! The predefined delay: a wait that holds no thread and survives a restart.

use std::time::{Duration, SystemTime};

use rival_core::failure::code;
use rival_core::plan::SleepLength;
use rival_core::{FailureRecord, StepError, Time, Value};
use serde_json::json;

use crate::after::{Dependencies, Dependency};
use crate::config::whole_ms;
use crate::data::Data;
use crate::extract::decode;
use crate::step::{StepDraft, StepFn};

/// A delay, for `.step(..)`. Its id is `delay` unless it is named.
#[derive(Clone, Debug)]
pub struct Delay {
    pub(crate) wait: DelayWait,
    pub(crate) named: Option<String>,
    pub(crate) after: Vec<Dependency>,
}

/// How long a delay lasts.
#[derive(Clone, Debug)]
pub(crate) enum DelayWait {
    Given(SleepLength),
    Computed(Box<StepDraft>),
}

impl Delay {
    fn new(wait: DelayWait) -> Self {
        Self { wait, named: None, after: Vec::new() }
    }

    /// Another id than `delay`.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.named = Some(name.into());
        self
    }

    /// In a graph: what it comes after.
    #[must_use]
    pub fn after<M>(mut self, nodes: impl Dependencies<M>) -> Self {
        nodes.add_to(&mut self.after);
        self
    }
}

/// Waits for a time.
pub fn delay_step(duration: Duration) -> Delay {
    Delay::new(DelayWait::Given(SleepLength::ForMs(whole_ms(duration))))
}

/// Waits until a moment; one that has passed does not wait.
#[allow(clippy::needless_pass_by_value, reason = "moments are small, and callers write them in place")]
pub fn delay_until(moment: impl Moment) -> Delay {
    Delay::new(DelayWait::Given(SleepLength::UntilMs(moment.epoch_ms())))
}

/// Waits as long, or until when, a function says. It is asked once, and its answer is recorded.
///
/// The function is like a step and returns a `Duration`, a `SystemTime` or a [`Time`].
pub fn delay_by<M, W: DelayLength>(function: impl StepFn<M, Out = W>) -> Delay {
    let mut draft = function.into_step().draft;
    draft.function = draft.function.map(wait_value::<W>);
    Delay::new(DelayWait::Computed(Box::new(draft)))
}

/// The form in which the engine expects a computed wait.
fn wait_value<W: DelayLength>(value: &Value) -> Result<Value, StepError> {
    let length: W = decode(value, || "the delay".to_owned())?;
    Ok(Value::from(match length.wait() {
        SleepLength::ForMs(ms) => json!({ "forMs": ms }),
        SleepLength::UntilMs(ms) => json!({ "untilMs": ms }),
        SleepLength::Computed(_) => {
            return Err(FailureRecord::new(code::ERROR, "a computed delay must say how long").stop());
        }
    }))
}

/// A point in time: a `SystemTime` or a [`Time`].
pub trait Moment {
    /// Milliseconds since the Unix epoch.
    fn epoch_ms(&self) -> i64;
}

impl Moment for Time {
    fn epoch_ms(&self) -> i64 {
        self.0
    }
}

impl Moment for SystemTime {
    fn epoch_ms(&self) -> i64 {
        Time::from(*self).0
    }
}

/// What a function given to [`delay_by`] returns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how long to wait",
    note = "return a `Duration`, a `SystemTime` or a `rival::Time`"
)]
pub trait DelayLength: Data {
    #[doc(hidden)]
    fn wait(&self) -> SleepLength;
}

impl DelayLength for Duration {
    fn wait(&self) -> SleepLength {
        SleepLength::ForMs(whole_ms(*self))
    }
}

impl DelayLength for SystemTime {
    fn wait(&self) -> SleepLength {
        SleepLength::UntilMs(self.epoch_ms())
    }
}

impl DelayLength for Time {
    fn wait(&self) -> SleepLength {
        SleepLength::UntilMs(self.0)
    }
}
