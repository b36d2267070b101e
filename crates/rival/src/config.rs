//! The options of a step as one struct.

use std::time::Duration;

use rival_core::plan::{BackoffKind, FunctionRef, OnTimeout, RetryPolicy, StepNode};

/// The options of a step as one struct, to share between steps or to read from configuration.
///
/// `continue_on_error` is not among them, because it changes the step's type; `on_error` neither, because it
/// takes a function.
///
/// ```
/// use std::time::Duration;
/// use rival::StepConfig;
///
/// let patient = StepConfig { timeout: Some(Duration::from_secs(60)), max_attempts: Some(5), ..Default::default() };
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepConfig {
    /// The longest time that one attempt may take.
    pub timeout: Option<Duration>,
    /// What a timeout does.
    pub on_timeout: OnTimeout,
    /// How often it is tried in all; absent means once, and lets an error's own wish decide.
    pub max_attempts: Option<u32>,
    /// How the delay between attempts grows; absent means linearly.
    pub backoff: Option<BackoffKind>,
    /// The base delay; absent means one second.
    pub backoff_base: Option<Duration>,
    /// Shortens each delay by up to half.
    pub jitter: bool,
    /// A call that a crash cut short fails the step instead of being made again.
    pub at_most_once: bool,
}

impl StepConfig {
    pub(crate) fn to_plan(&self, function: FunctionRef) -> StepNode {
        StepNode {
            function,
            retry: RetryPolicy {
                max_attempts: self.max_attempts,
                backoff: self.backoff,
                backoff_ms: self.backoff_base.map(whole_ms),
                jitter: self.jitter,
            },
            timeout_ms: self.timeout.map(whole_ms),
            on_timeout: self.on_timeout,
            at_most_once: self.at_most_once,
            ..StepNode::default()
        }
    }
}

/// A duration in the plan's unit; less than a millisecond is zero.
pub(crate) fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
