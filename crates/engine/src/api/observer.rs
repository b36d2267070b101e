//! Observers of an engine: metrics, traces, live lists.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use rival_core::event::{BlockedReason, CallRole, LostReason};
use rival_core::failure::code;
use rival_core::machine::CallOutcome;
use rival_core::{Event, FailureRecord, Path, RunId, RunState, RunStatus, Time, TraceParent};

use crate::call::exchange::HttpExchange;
use crate::inspect::explain;

/// Hears of what has become durable, and of every call that ended.
///
/// It is told in the task of the run itself, so it must be quick and must not wait.
pub trait Observer: Send + Sync + 'static {
    /// Whether it writes traces: then calls are told which span they are, so that others can write on.
    fn traces(&self) -> bool {
        false
    }

    /// A run was started.
    fn started(&self, _run: &RunId, _workflow: &str, _at: Time) {}

    /// A run that had to queue is taken up.
    fn dequeued(&self, _run: &RunId, _workflow: &str, _waited: Duration) {}

    /// More of a run is durable.
    fn committed(&self, _commit: &Committed<'_>) {}

    /// A call has ended, however it did: also one that timed out, was suspended, or was lost with an earlier process.
    fn called(&self, _call: &Called<'_>) {}

    /// A server in front of the engine has answered a request that is part of a trace.
    fn served(&self, _request: &ServedRequest<'_>) {}
}

/// A request that a server has answered.
#[derive(Debug)]
pub struct ServedRequest<'a> {
    /// Its own span.
    pub trace: TraceParent,
    /// The span of the client that sent it, if that said so.
    pub parent: Option<TraceParent>,
    /// When it came.
    pub began_at: SystemTime,
    /// How long it took until the answer began.
    pub took: Duration,
    /// `POST`, or whatever word the client sent.
    pub method: &'a str,
    /// `/api/runs/{id}`; `None` if there is nothing at its path.
    pub route: Option<&'a str>,
    /// `/api/runs/order-7`.
    pub path: &'a str,
    /// What comes after the question mark, without secrets.
    pub query: Option<&'a str>,
    /// The name and port under which the client knows the server.
    pub host: Option<&'a str>,
    /// The address that it came from.
    pub client: Option<IpAddr>,
    /// What the client calls itself.
    pub user_agent: Option<&'a str>,
    /// The status of the answer.
    pub status: u16,
}

/// More of a run is durable.
#[derive(Debug)]
pub struct Committed<'a> {
    /// The run.
    pub run: &'a RunId,
    /// Its workflow.
    pub workflow: &'a str,
    /// Where it stands now.
    pub status: RunStatus,
    /// The same at length.
    pub state: &'a RunState,
    /// What happened; may be empty where only its row changed.
    pub events: &'a [Event],
    /// How long the store took.
    pub took: Duration,
}

/// A call that has ended.
#[derive(Debug)]
pub struct Called<'a> {
    /// The run.
    pub run: &'a RunId,
    /// Its workflow.
    pub workflow: &'a str,
    /// The node.
    pub node: &'a Path,
    /// What the function does for the node.
    pub role: CallRole,
    /// The call.
    pub call: u32,
    /// The charged attempt.
    pub attempt: u32,
    /// When it ended.
    pub ended_at: Time,
    /// How long it took.
    pub took: Duration,
    /// How it ended.
    pub end: CallEnd<'a>,
    /// The HTTP request that it consists of, if it does; not known of calls of an earlier process.
    pub http: Option<&'a HttpExchange>,
    /// Where its run stood by then.
    pub state: &'a RunState,
}

impl Called<'_> {
    /// What the function failed with, if it did.
    pub fn failure(&self) -> Option<&FailureRecord> {
        if let CallEnd::Failed(failure) = self.end { Some(failure) } else { None }
    }

    /// The code and the message of what went wrong, if something did.
    pub fn problem(&self) -> Option<(&str, Cow<'_, str>)> {
        match self.end {
            CallEnd::Failed(failure) => Some((&failure.code, failure.message.as_str().into())),
            CallEnd::Lost(LostReason::Crash) => {
                Some((code::INTERRUPTED, "the process that ran the function ended".into()))
            }
            CallEnd::Blocked(reason) => Some(("blocked", explain::blocked(self.node, reason).into())),
            CallEnd::Succeeded
            | CallEnd::Cancelled
            | CallEnd::Suspended
            | CallEnd::Lost(LostReason::Shutdown | LostReason::Bystander) => None,
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug)]
pub enum CallEnd<'a> {
    /// With a result.
    Succeeded,
    /// With an error, or too late.
    Failed(&'a FailureRecord),
    /// Its run, or its part of the run, was stopped.
    Cancelled,
    /// It waited long inside a durable operation, and was suspended; another call goes on when an answer is there.
    Suspended,
    /// It was cut short and says nothing about the function.
    Lost(LostReason),
    /// It could not be made, or cannot go on without help.
    Blocked(&'a BlockedReason),
}

impl CallEnd<'_> {
    /// One word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::Suspended => "suspended",
            Self::Lost(_) => "lost",
            Self::Blocked(_) => "blocked",
        }
    }
}

impl<'a> From<&'a CallOutcome> for CallEnd<'a> {
    fn from(outcome: &'a CallOutcome) -> Self {
        match outcome {
            CallOutcome::Success { .. } => Self::Succeeded,
            CallOutcome::Failure { error, .. } => Self::Failed(&error.failure),
            CallOutcome::Stopped { .. } => Self::Cancelled,
            CallOutcome::Lost(reason) => Self::Lost(*reason),
            CallOutcome::Blocked(reason) => Self::Blocked(reason),
        }
    }
}

/// The observers of one engine. Nearly always none or two, and asked for at every commit.
#[derive(Default)]
pub(crate) struct ObserverList {
    any: OnceLock<()>,
    traces: OnceLock<()>,
    all: RwLock<Vec<Arc<dyn Observer>>>,
}

impl ObserverList {
    pub(crate) fn add(&self, observer: Arc<dyn Observer>) {
        if observer.traces() {
            let _ = self.traces.set(());
        }
        self.all.write().unwrap_or_else(PoisonError::into_inner).push(observer);
        let _ = self.any.set(());
    }

    pub(crate) fn tell(&self, what: impl Fn(&dyn Observer)) {
        if self.any() {
            let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
            all.iter().for_each(|observer| what(&**observer));
        }
    }

    /// Whether there is an observer.
    pub(crate) fn any(&self) -> bool {
        self.any.get().is_some()
    }

    /// Whether an observer writes traces.
    pub(crate) fn traces(&self) -> bool {
        self.traces.get().is_some()
    }

    /// The current time, if an observer measures durations.
    pub(crate) fn stopwatch(&self) -> Option<Instant> {
        self.any.get().map(|()| Instant::now())
    }
}
