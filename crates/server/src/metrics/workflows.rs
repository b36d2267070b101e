//! What is counted of each workflow.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::Duration;

use rival_core::RunStatus;
use rival_core::event::CallRole;
use rival_engine::CallEnd;

use super::histogram::DurationHistogram;
use super::text::{MetricFamily, MetricKind, MetricsPage};

/// How many workflows have numbers of their own.
const MOST: usize = 500;
/// The label of all others, together with a workflow that is really called so.
const OTHER: &str = "other";

/// The counts of workflows by name: looked up at every call, added to when a workflow is heard of for the first time.
#[derive(Debug, Default)]
pub(super) struct WorkflowMetrics(RwLock<HashMap<Box<str>, Counts>>);

/// What is counted of a workflow.
#[derive(Debug)]
pub(super) struct Counts {
    pub(super) started: AtomicU64,
    ended: [AtomicU64; ENDS.len()],
    calls: [AtomicU64; OUTCOMES.len()],
    pub(super) retries: AtomicU64,
    /// Of calls, by role. Most workflows have few of them.
    call_took: [OnceLock<DurationHistogram>; ROLES.len()],
    run_took: DurationHistogram,
    pub(super) queue_wait: DurationHistogram,
}

impl Default for Counts {
    fn default() -> Self {
        let (started, ended, calls, retries, call_took, queue_wait) = Default::default();
        let run_took = DurationHistogram::of_runs();
        Self { started, ended, calls, retries, call_took, run_took, queue_wait }
    }
}

const ENDS: [&str; 3] = ["completed", "failed", "cancelled"];
const OUTCOMES: [&str; 6] = ["succeeded", "failed", "cancelled", "suspended", "lost", "blocked"];
const ROLES: [CallRole; 9] = [
    CallRole::Step,
    CallRole::OnError,
    CallRole::Input,
    CallRole::Wait,
    CallRole::Choose,
    CallRole::Test,
    CallRole::Items,
    CallRole::Finally,
    CallRole::Compensate,
];

impl Counts {
    /// A run ended with this status, so long after its start.
    pub(super) fn run_ended(&self, status: RunStatus, took: Duration) {
        let ended = match status {
            RunStatus::Completed => &self.ended[0],
            RunStatus::Cancelled => &self.ended[2],
            _ => &self.ended[1],
        };
        ended.fetch_add(1, Ordering::Relaxed);
        self.run_took.observe(took);
    }

    /// A call with this role took so long.
    pub(super) fn call_took(&self, role: CallRole, took: Duration) {
        // As they stand in the enumeration; a test says so.
        self.call_took[role as usize].get_or_init(DurationHistogram::default).observe(took);
    }

    /// The calls that ended this way.
    pub(super) fn calls(&self, end: CallEnd<'_>) -> &AtomicU64 {
        &self.calls[match end {
            CallEnd::Succeeded => 0,
            CallEnd::Failed(_) => 1,
            CallEnd::Cancelled => 2,
            CallEnd::Suspended => 3,
            CallEnd::Lost(_) => 4,
            CallEnd::Blocked(_) => 5,
        }]
    }
}

impl WorkflowMetrics {
    /// Counts something of a workflow.
    pub(super) fn with<T>(&self, workflow: &str, count: impl FnOnce(&Counts) -> T) -> T {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let full = known.len() >= MOST;
        let found = known.get(workflow).or_else(|| known.get(OTHER).filter(|_| full));
        if let Some(counts) = found {
            return count(counts);
        }
        drop(known);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have added an entry meanwhile.
        let own = known.len() < MOST || known.contains_key(workflow);
        count(known.entry(if own { workflow } else { OTHER }.into()).or_default())
    }

    pub(super) fn write(&self, page: &mut MetricsPage) {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let all: BTreeMap<&str, &Counts> = known.iter().map(|(name, counts)| (&**name, counts)).collect();
        let mut family =
            page.family("rival_runs_started_total", MetricKind::Counter, "Runs that were started.");
        for (name, counts) in &all {
            family.line(&[("workflow", name)], counts.started.load(Ordering::Relaxed));
        }
        let help = "Runs that have ended, by status.";
        family = page.family("rival_runs_ended_total", MetricKind::Counter, help);
        for (name, counts) in &all {
            write_each(&mut family, name, "status", &ENDS, &counts.ended);
        }
        let help = "How long runs were queued, of those that had to queue.";
        family = page.family("rival_queue_wait_seconds", MetricKind::Histogram, help);
        for (name, counts) in &all {
            family.histogram(&[("workflow", name)], &counts.queue_wait);
        }
        let help = "Calls of functions that have ended, by outcome.";
        family = page.family("rival_step_calls_total", MetricKind::Counter, help);
        for (name, counts) in &all {
            write_each(&mut family, name, "outcome", &OUTCOMES, &counts.calls);
        }
        let help = "Calls that failed and are tried again.";
        family = page.family("rival_step_retries_total", MetricKind::Counter, help);
        for (name, counts) in &all {
            family.line(&[("workflow", name)], counts.retries.load(Ordering::Relaxed));
        }
        let help = "How long calls took, of those that came to an end.";
        family = page.family("rival_step_duration_seconds", MetricKind::Histogram, help);
        for (name, counts) in &all {
            for (role, took) in ROLES.iter().zip(&counts.call_took) {
                if let Some(took) = took.get() {
                    family.histogram(&[("workflow", name), ("role", &role.name())], took);
                }
            }
        }
        let help = "How long runs took from their start to their end.";
        family = page.family("rival_run_duration_seconds", MetricKind::Histogram, help);
        for (name, counts) in &all {
            family.histogram(&[("workflow", name)], &counts.run_took);
        }
    }
}

/// One line for each value of another label, also where nothing was counted: a rate needs a zero to begin with.
fn write_each(
    family: &mut MetricFamily<'_>,
    workflow: &str,
    label: &str,
    values: &[&str],
    counts: &[AtomicU64],
) {
    for (value, count) in values.iter().zip(counts) {
        family.line(&[("workflow", &workflow), (label, value)], count.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_listed_in_their_order() {
        for (at, role) in ROLES.into_iter().enumerate() {
            assert_eq!(role as usize, at, "{role:?}");
        }
    }
}
