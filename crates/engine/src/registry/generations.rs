//! The generations of a workflow: its definitions in this process, one after the other.
//!
//! A run keeps the functions of the definition that was current when it was created, until the process ends. Which one
//! that was follows from the time: each generation ends at a moment, and no two runs of different generations have the
//! same one. So a run that waits needs no memory for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rival_core::{IndexedPlan, PlanHash, Time};

use crate::registry::bound_plan::BoundPlan;
use crate::registry::workflows::RegisteredWorkflow;

/// The definitions of one workflow.
pub(crate) struct WorkflowGenerations {
    /// What new runs take; absent if the workflow was retired.
    current: Option<Arc<RegisteredWorkflow>>,
    /// From when on runs belong to it.
    since: Time,
    /// The earlier ones, the oldest first. Runs from before this process belong to the first.
    past: Vec<PastGeneration>,
    /// When the latest run was created.
    last_created: AtomicI64,
}

struct PastGeneration {
    registered: Arc<RegisteredWorkflow>,
    /// Runs that were created from then on do not belong to it.
    until: Time,
}

/// When the runs of a past generation were created.
pub(crate) struct GenerationSpan {
    pub(crate) from: Option<Time>,
    pub(crate) until: Time,
}

impl WorkflowGenerations {
    /// Runs from before belong to it too.
    pub(crate) fn first(registered: Arc<RegisteredWorkflow>, now: Time) -> Self {
        Self { current: Some(registered), since: now, past: Vec::new(), last_created: AtomicI64::new(now.0) }
    }

    pub(crate) fn current(&self) -> Option<&Arc<RegisteredWorkflow>> {
        self.current.as_ref()
    }

    /// Another definition takes over, or none.
    pub(crate) fn succeed(&mut self, registered: Option<Arc<RegisteredWorkflow>>, now: Time) {
        // Later than every run and every generation so far, also where the clock stands still or is turned back.
        let latest = Time(self.last_created.load(Ordering::Acquire)).max(self.since);
        let begins = now.max(latest.plus_ms(1));
        if let Some(registered) = std::mem::replace(&mut self.current, registered) {
            self.past.push(PastGeneration { registered, until: begins });
        }
        self.since = begins;
    }

    /// Time was set back. A definition that has no past was current before, too; with a past, new runs are dated where it
    /// began, so that they are told apart from older ones.
    pub(crate) fn set_clock_back(&mut self, now: Time) {
        if self.past.is_empty() {
            self.since = self.since.min(now);
            self.last_created = AtomicI64::new(now.0);
        }
    }

    /// When a run that begins now was created; `None` if the definition is not the current one any more.
    pub(crate) fn created_at_for(&self, registered: &Arc<RegisteredWorkflow>, now: Time) -> Option<Time> {
        self.current.as_ref().filter(|current| Arc::ptr_eq(current, registered))?;
        let created = now.max(self.since);
        self.last_created.fetch_max(created.0, Ordering::AcqRel);
        Some(created)
    }

    /// The generation that was current then.
    pub(crate) fn at(&self, created: Time) -> Option<&Arc<RegisteredWorkflow>> {
        let past = self.past.iter().find(|past| created < past.until);
        let current = self.current.as_ref();
        past.map(|past| &past.registered)
            .or(current)
            .or_else(|| self.past.last().map(|past| &past.registered))
    }

    /// The functions for a run: those of its own generation, or the newest that are as its plan names them. A run that
    /// was begun by another process, or that retries an older one by itself, may have another plan than the definitions
    /// of its time.
    pub(crate) fn of_run(&self, created: Time, plan: &IndexedPlan) -> Option<&Arc<RegisteredWorkflow>> {
        let own = self.at(created)?;
        if own.has_functions_of(plan) {
            return Some(own);
        }
        let fitting = self.newest_first().find(|registered| registered.has_functions_of(plan));
        Some(fitting.unwrap_or(own))
    }

    /// The plan with this hash, if a generation has it.
    pub(crate) fn plan(&self, hash: &PlanHash) -> Option<&Arc<BoundPlan>> {
        self.newest_first().map(|registered| &registered.plan).find(|plan| plan.hash() == hash)
    }

    fn newest_first(&self) -> impl Iterator<Item = &Arc<RegisteredWorkflow>> {
        self.current.iter().chain(self.past.iter().rev().map(|past| &past.registered))
    }

    /// The past generations without references. Since only the current one has new runs, such a one is needed
    /// again only by runs that are in the store.
    pub(crate) fn unheld(&self) -> Vec<GenerationSpan> {
        let ends = self.past.iter().map(|past| Some(past.until));
        let spans = self.past.iter().zip(std::iter::once(None).chain(ends));
        spans
            .filter(|(past, _)| Arc::strong_count(&past.registered) == 1)
            .map(|(past, from)| GenerationSpan { from, until: past.until })
            .collect()
    }

    /// Drops a past generation; a run that turns up nevertheless takes the next one.
    pub(crate) fn forget(&mut self, until: Time) {
        self.past.retain(|past| past.until != until);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.current.is_none() && self.past.is_empty()
    }
}
