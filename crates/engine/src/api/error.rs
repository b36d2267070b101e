//! What can go wrong when an engine is asked for something. One enum per family of operations; every
//! variant has a stable code.

use rival_core::event::DecodeError;
use rival_core::failure::code;
use rival_core::plan::PlanError;
use rival_core::view::{RunOutcome, SourceProblem};
use rival_core::{RunId, RunStatus};
use rival_store::StoreError;

use crate::json::EncodeError;
use crate::registry::builtins::BindError;

/// A workflow cannot be registered.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is taken by another workflow.
    #[error("a workflow called `{0}` is registered already: give one of them another name")]
    Duplicate(String),
    /// The plan is wrong.
    #[error("workflow `{workflow}` cannot run: {}", list(.errors))]
    Plan {
        /// The workflow.
        workflow: String,
        /// Everything that is wrong.
        errors: Vec<PlanError>,
    },
    /// The plan names a function that the definition does not have.
    #[error("workflow `{workflow}` has no function `{function}`")]
    FunctionMissing {
        /// The workflow.
        workflow: String,
        /// The function.
        function: String,
    },
    /// The plan refers to a built-in function with data that does not make sense.
    #[error("workflow `{workflow}` cannot run: {error}")]
    Builtin {
        /// The workflow.
        workflow: String,
        /// Which, and what is wrong with it.
        error: BindError,
    },
    /// A trigger of the plan has data that does not make sense.
    #[error("trigger {number} of workflow `{workflow}`, which starts `{target}`, is not valid: {message}")]
    Trigger {
        /// The workflow.
        workflow: String,
        /// Which trigger, from 1.
        number: usize,
        /// The workflow that it starts.
        target: String,
        /// What is wrong.
        message: String,
    },
    /// A function asks for a resource that was not provided.
    #[error(
        "step `{function}` of workflow `{workflow}` asks for Res<{resource}>: provide one with `.provide(..)`"
    )]
    ResourceMissing {
        /// The workflow.
        workflow: String,
        /// The function.
        function: String,
        /// The resource's type.
        resource: &'static str,
    },
    /// The input schema is not a JSON Schema.
    #[error("the input schema of workflow `{workflow}` is not valid: {message}")]
    Schema {
        /// The workflow.
        workflow: String,
        /// What is wrong with it.
        message: String,
    },
    /// The world failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RegisterError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Duplicate(_) => "duplicate_workflow",
            Self::Plan { .. } | Self::Builtin { .. } | Self::Trigger { .. } => "invalid_plan",
            Self::FunctionMissing { .. } => "function_missing",
            Self::ResourceMissing { .. } => "resource_missing",
            Self::Schema { .. } => "invalid_schema",
            Self::Store(error) => error.code(),
        }
    }
}

/// A run cannot be started.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No such workflow.
    #[error("{}{}", no_workflow(.name, .known), unloaded(.problems))]
    UnknownWorkflow {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
        /// What is wrong with files that could not be loaded: one of them may define it.
        problems: Vec<SourceProblem>,
    },
    /// The input does not match the schema.
    #[error("the input of workflow `{workflow}` is not valid: {}", list(.violations))]
    InvalidInput {
        /// The workflow.
        workflow: String,
        /// Everything that is wrong, each with its path.
        violations: Vec<Violation>,
    },
    /// The workflow's own check of its input cannot be asked now.
    #[error("the input of workflow `{workflow}` cannot be checked now: {message}")]
    CheckUnavailable {
        /// The workflow.
        workflow: String,
        /// Why.
        message: String,
    },
    /// The input cannot be written as JSON.
    #[error("the input of workflow `{workflow}` cannot be recorded: {error}")]
    InputNotJson {
        /// The workflow.
        workflow: String,
        /// Why.
        error: EncodeError,
    },
    /// The input is too large.
    #[error("the input of workflow `{workflow}` has {size} bytes, more than the limit of {limit}")]
    InputTooLarge {
        /// The workflow.
        workflow: String,
        /// Its size.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The given id cannot be a run id.
    #[error(
        "`{0}` is not a run id: use 1 to 200 visible characters without spaces, slashes or `~`, and not `-`, `.` or `..`"
    )]
    InvalidRunId(String),
    /// The tags are too many, too long, or cannot be seen.
    #[error("the tags cannot be taken: {0}")]
    InvalidTags(String),
    /// A run with this id exists, and another request began it.
    #[error(
        "run `{0}` exists, and another request began it: with another workflow or input, or from another run or node; use another id, or ask for the same"
    )]
    Conflict(RunId),
    /// The run to retry cannot be retried.
    #[error("run `{run}` is {status}: only a failed or cancelled run can be retried")]
    NotRetryable {
        /// The run.
        run: RunId,
        /// Where it stands.
        status: RunStatus,
    },
    /// A run that has not ended cannot be forked.
    #[error("run `{run}` is {status}: only a run that has ended can be forked; cancel it first, or wait")]
    NotEnded {
        /// The run.
        run: RunId,
        /// Where it stands.
        status: RunStatus,
    },
    /// A completed run failed nowhere.
    #[error("run `{0}` completed: say from which node the new run goes on, with `from`")]
    NoForkPoint(RunId),
    /// A node without a name of its own is another one now than in the run to go on from.
    #[error(
        "`{node}` has no name of its own, and is another one now than the one whose outcome run `{run}` recorded: \
         go on from that node or one before it, or bring it back as it was"
    )]
    NodeChanged {
        /// The run.
        run: RunId,
        /// The node.
        node: rival_core::Path,
    },
    /// The workflow has no such node.
    #[error("workflow `{workflow}` has no node `{node}` to go on from")]
    UnknownNode {
        /// The workflow.
        workflow: String,
        /// What was asked for.
        node: rival_core::Path,
    },
    /// No such run.
    #[error("run `{0}` not found")]
    NotFound(RunId),
    /// The engine is stopping.
    #[error("the engine is shutting down and takes no new runs")]
    ShuttingDown,
    /// A stored history cannot be read.
    #[error("run `{run}`: {error}")]
    History {
        /// The run.
        run: RunId,
        /// Why.
        error: DecodeError,
    },
    /// The world failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl StartError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownWorkflow { .. } => "unknown_workflow",
            Self::InvalidInput { .. } => "invalid_input",
            Self::CheckUnavailable { .. } => "check_unavailable",
            Self::InputNotJson { .. } => "not_json",
            Self::InputTooLarge { .. } => "payload_too_large",
            Self::InvalidRunId(_) => "invalid_run_id",
            Self::InvalidTags(_) => "invalid_tags",
            Self::Conflict(_) => "run_conflict",
            Self::NotRetryable { .. } => "not_retryable",
            Self::NotEnded { .. } => "run_not_ended",
            Self::NoForkPoint(_) => "no_fork_point",
            Self::NodeChanged { .. } => "node_changed",
            Self::UnknownNode { .. } => "unknown_node",
            Self::NotFound(_) => "run_not_found",
            Self::ShuttingDown => "shutting_down",
            Self::History { .. } => "damaged_history",
            Self::Store(error) => error.code(),
        }
    }
}

/// One way in which an input does not match its schema.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Violation {
    /// Where in the input, as a JSON pointer; empty for the whole.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

/// A run cannot be waited for, read or controlled.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// No such run.
    #[error("run `{0}` not found")]
    NotFound(RunId),
    /// The run did not end in time; it goes on.
    #[error("run `{run}` of workflow `{workflow}` is still {status} after {ms} ms: it {explanation}")]
    WaitTimeout {
        /// The run.
        run: RunId,
        /// Its workflow.
        workflow: String,
        /// Where it stands.
        status: RunStatus,
        /// How long was waited.
        ms: u128,
        /// What it is waiting for.
        explanation: String,
    },
    /// The run has ended, so it cannot be cancelled, paused, resumed or sent a signal.
    #[error("run `{run}` has ended: it {}", ended(*.status))]
    Finished {
        /// The run.
        run: RunId,
        /// How it ended.
        status: RunStatus,
    },
    /// The payload of a signal does not match its schema.
    #[error("the payload of signal `{signal}` is not valid: {}", list(.violations))]
    InvalidSignal {
        /// The signal.
        signal: String,
        /// Everything that is wrong, each with its path.
        violations: Vec<Violation>,
    },
    /// The payload of a signal cannot be written as JSON.
    #[error("the payload of signal `{signal}` cannot be recorded: {error}")]
    SignalNotJson {
        /// The signal.
        signal: String,
        /// Why.
        error: EncodeError,
    },
    /// The payload of a signal is too large.
    #[error("the payload of signal `{signal}` has {size} bytes, more than the limit of {limit}")]
    SignalTooLarge {
        /// The signal.
        signal: String,
        /// Its size.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The run keeps too many signals that were not taken.
    #[error("run `{run}` keeps {limit} signals that nobody has taken, and takes no more")]
    SignalsFull {
        /// The run.
        run: RunId,
        /// The limit.
        limit: usize,
    },
    /// The output is larger than a value may be; its parts can be read.
    #[error("run `{run}` completed, and its output is larger than a value may be: read its parts")]
    OutputTooLarge {
        /// The run.
        run: RunId,
    },
    /// The event holds no value, or there is no such event.
    #[error("event {event} of run `{run}` holds no value")]
    NoValue {
        /// The run.
        run: RunId,
        /// The event.
        event: rival_core::Seq,
    },
    /// The run was sent another signal under the same id.
    #[error("run `{run}` was sent another signal with the id `{id}`: use another id, or send the same")]
    SignalConflict {
        /// The run.
        run: RunId,
        /// The id.
        id: String,
    },
    /// The run cannot be loaded, and the request does not help. Nothing has changed.
    #[error("run `{run}` cannot act on the request: {reason}")]
    Unreachable {
        /// The run.
        run: RunId,
        /// Why.
        reason: String,
    },
    /// The run did not complete, so it has no output.
    #[error("{}", not_completed(.0))]
    NotCompleted(Box<RunOutcome>),
    /// The output is not of the type that was asked for.
    #[error("the output of run `{run}` is of another type: {message}")]
    Output {
        /// The run.
        run: RunId,
        /// What the decoder said, or whose run it is.
        message: String,
    },
    /// A stored history cannot be read.
    #[error("run `{run}`: {error}")]
    History {
        /// The run.
        run: RunId,
        /// Why.
        error: DecodeError,
    },
    /// The plan that the run keeps is gone or cannot be read.
    #[error("the plan of run `{0}` cannot be read from the store")]
    Plan(RunId),
    /// The engine is stopping.
    #[error("the engine is shutting down")]
    ShuttingDown,
    /// The world failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RunError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "run_not_found",
            Self::WaitTimeout { .. } => "wait_timeout",
            Self::Finished { .. } => "run_finished",
            Self::InvalidSignal { .. } => "invalid_signal",
            Self::SignalNotJson { .. } => "not_json",
            Self::SignalTooLarge { .. } => "payload_too_large",
            Self::SignalsFull { .. } => "signals_full",
            Self::SignalConflict { .. } => "signal_conflict",
            Self::OutputTooLarge { .. } => "payload_too_large",
            Self::NoValue { .. } => "no_value",
            Self::Unreachable { .. } => "run_unreachable",
            Self::NotCompleted(_) => "run_not_completed",
            Self::Output { .. } => "output_mismatch",
            Self::History { .. } => "damaged_history",
            Self::Plan(_) => "plan_missing",
            Self::ShuttingDown => "shutting_down",
            Self::Store(error) => error.code(),
        }
    }
}

/// An archived run cannot be taken in.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The archive is not what it should be.
    #[error("the archive cannot be read: {0}")]
    Invalid(String),
    /// Only a run that has ended stays as it is.
    #[error("run `{run}` was {status} when it was exported: only a run that has ended can be imported")]
    NotEnded {
        /// The run.
        run: RunId,
        /// Where it stood.
        status: RunStatus,
    },
    /// The run that led to it is not there, or does not name it.
    #[error("{}", origin_missing(.run, .origin.as_ref()))]
    OriginMissing {
        /// The run.
        run: RunId,
        /// Its parent, or the run that it goes on from.
        origin: Option<RunId>,
    },
    /// A run with this id exists, with another history.
    #[error("run `{0}` exists here with another history: nothing was changed")]
    Conflict(RunId),
    /// The world failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ImportError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid_archive",
            Self::NotEnded { .. } => "run_not_ended",
            Self::OriginMissing { .. } => "origin_missing",
            Self::Conflict(_) => "run_conflict",
            Self::Store(error) => error.code(),
        }
    }
}

/// An engine cannot be built.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A workflow cannot be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// Two built-in functions have one name.
    #[error("there are two built-in functions called `{0}`: leave one of them out")]
    BuiltinTaken(String),
    /// The world failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A `main` that returns an error prints it with `Debug`: people should read the sentence there too.
macro_rules! debug_as_sentence {
    ($($error:ty),*) => {$(
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    )*};
}

debug_as_sentence!(RegisterError, StartError, RunError, ImportError, EngineError);

fn list(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn origin_missing(run: &RunId, origin: Option<&RunId>) -> String {
    match origin {
        Some(origin) => format!(
            "run `{run}` belongs to run `{origin}`, which is not in this store or does not name it: import that one first"
        ),
        None => format!("`{run}` is the id of a run that another one leads to, and it names no such run"),
    }
}

/// How a run ended, as a verb.
fn ended(status: RunStatus) -> String {
    if status == RunStatus::Cancelled { "was cancelled".to_owned() } else { status.to_string() }
}

/// What is wrong with files, a line each.
fn unloaded(problems: &[SourceProblem]) -> String {
    const SHOWN: usize = 5;
    let Some(more) = problems.len().checked_sub(1) else { return String::new() };
    let files = if more == 0 { "a file that" } else { "files that" };
    let shown: String = problems.iter().take(SHOWN).map(|problem| format!("\n  {problem}")).collect();
    let left = problems.len().saturating_sub(SHOWN);
    let left = if left == 0 { String::new() } else { format!("\n  and {left} more") };
    format!("; it may be in {files} cannot be loaded:{shown}{left}")
}

/// What is said of a workflow that is not there.
pub(crate) fn no_workflow(name: &str, known: &[String]) -> String {
    let registered = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("no workflow is called `{name}`; registered are: {registered}{}", did_you_mean(name, known))
}

/// How alike two names must be to be worth mentioning, from 0 to 1.
const ALIKE: f64 = 0.8;

fn did_you_mean(name: &str, known: &[String]) -> String {
    let near = nearest(name, known.iter().map(String::as_str));
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// The name that was probably meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let rated = known.into_iter().map(|known| (strsim::jaro_winkler(name, known), known));
    let best = rated.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (best.0 >= ALIKE).then_some(best.1)
}

fn not_completed(outcome: &RunOutcome) -> String {
    let RunOutcome { run_id, status, error, failed_step, retried_as, .. } = outcome;
    let Some(failure) = error else { return format!("run `{run_id}` was {status}") };
    let at = failed_step.as_ref().map_or_else(String::new, |at| format!(" at `{}`", at.path));
    let code = if failure.code == code::ERROR { String::new() } else { format!(" ({})", failure.code) };
    let retried = retried_as.as_ref().map_or_else(String::new, |run| format!("; run `{run}` retries it"));
    format!("run `{run_id}` {status}{at}: {failure}{code}{retried}")
}
