//! Rows, snapshots and plans.

use std::collections::HashMap;
use std::ops::Bound;

use rival_core::plan::is_system_workflow;
use rival_core::{PlanHash, RunId, Time};

use super::state::MemoryState;
use crate::{Page, RunFilter, RunRow, Snapshot, StoreFigures};

impl MemoryState {
    pub(super) fn row(&self, run: &RunId) -> Option<RunRow> {
        self.get(run).map(|run| run.row.clone())
    }

    pub(super) fn rows(&self, filter: &RunFilter, page: &Page) -> Vec<RunRow> {
        let end = page.before.map_or(Bound::Unbounded, Bound::Excluded);
        let newest_first = self.runs.range((Bound::Unbounded, end)).rev().map(|(_, run)| &run.row);
        newest_first.filter(|row| filter.accepts(row)).take(page.limit).cloned().collect()
    }

    pub(super) fn count_children(&self, runs: &[RunId]) -> Vec<u64> {
        let mut counts: HashMap<&RunId, u64> = HashMap::new();
        for parent in self.runs.values().filter_map(|run| run.row.parent.as_ref()) {
            *counts.entry(parent).or_default() += 1;
        }
        runs.iter().map(|run| counts.get(run).copied().unwrap_or(0)).collect()
    }

    pub(super) fn figures(&self, now: Time) -> StoreFigures {
        let mut figures = StoreFigures::default();
        for run in self.runs.values() {
            *figures.runs.entry(run.row.status).or_default() += 1;
        }
        let head = self.index.queued.first().and_then(|no| self.runs.get(no));
        figures.queue_head = head.map(|run| run.row.created_at);
        let overdue = self.index.due.iter().take_while(|(at, _)| *at <= now);
        figures.overdue = overdue.map(|_| 1).sum();
        figures.overdue_since = self.index.due.first().map(|(at, _)| *at).filter(|at| *at <= now);
        figures
    }

    pub(super) fn snapshot(&self, run: &RunId) -> Option<Snapshot> {
        self.get(run)?.snapshot.clone()
    }

    /// The first one stays: a hash names one plan.
    pub(super) fn put_plan(&mut self, hash: &PlanHash, json: &str) {
        if self.plan(hash).is_none() {
            self.plans.push((hash.clone(), json.to_owned()));
        }
    }

    pub(super) fn plan(&self, hash: &PlanHash) -> Option<String> {
        self.plans.iter().find(|(kept, _)| kept == hash).map(|(_, json)| json.clone())
    }
}

impl RunFilter {
    fn accepts(&self, row: &RunRow) -> bool {
        // By name, so that a new condition is not forgotten.
        let Self {
            id_prefix,
            workflow,
            statuses,
            created_from,
            created_to,
            parent,
            roots,
            source,
            tag,
            no_system,
        } = self;
        id_prefix.as_ref().is_none_or(|prefix| row.id.as_str().starts_with(prefix))
            && (source.is_none() || *source == row.source)
            && workflow.as_ref().is_none_or(|workflow| *workflow == row.workflow)
            && (statuses.is_empty() || statuses.contains(&row.status))
            && created_from.is_none_or(|from| from <= row.created_at)
            && created_to.is_none_or(|to| row.created_at < to)
            && (parent.is_none() || *parent == row.parent)
            && (!roots || row.parent.is_none())
            && tag.as_ref().is_none_or(|tag| row.tags.contains(tag))
            && !(*no_system && is_system_workflow(&row.workflow))
    }
}
