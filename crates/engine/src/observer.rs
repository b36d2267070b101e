//! Whoever hears of what an engine does: metrics, traces, live lists.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rival_core::event::Role;
use rival_core::machine::Outcome;
use rival_core::{Event, Path, RunId, RunStatus, Time};

/// Hears of what has become durable, and of every call that ended.
///
/// It is told in the task of the run itself, so it must be quick and must not wait.
pub trait Observer: Send + Sync + 'static {
    /// A run was started.
    fn started(&self, _run: &RunId, _workflow: &str, _at: Time) {}

    /// More of a run is durable.
    fn committed(&self, _commit: &Committed<'_>) {}

    /// A function was called and has ended.
    fn called(&self, _call: &Called<'_>) {}
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
    pub role: Role,
    /// The call.
    pub call: u32,
    /// The charged attempt.
    pub attempt: u32,
    /// When it ended.
    pub ended_at: Time,
    /// How long it took, or how long this process knew of it.
    pub took: Duration,
    /// How it ended.
    pub outcome: &'a Outcome,
}

/// The observers of one engine. Nearly always none or two, and asked for at every commit.
#[derive(Default)]
pub(crate) struct Observers {
    any: OnceLock<()>,
    all: RwLock<Vec<Arc<dyn Observer>>>,
}

impl Observers {
    pub(crate) fn add(&self, observer: Arc<dyn Observer>) {
        self.all.write().unwrap_or_else(PoisonError::into_inner).push(observer);
        let _ = self.any.set(());
    }

    pub(crate) fn tell(&self, what: impl Fn(&dyn Observer)) {
        if self.any.get().is_some() {
            let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
            all.iter().for_each(|observer| what(&**observer));
        }
    }

    /// The time, if somebody wants to know how long something takes.
    pub(crate) fn stopwatch(&self) -> Option<Instant> {
        self.any.get().map(|()| Instant::now())
    }
}
