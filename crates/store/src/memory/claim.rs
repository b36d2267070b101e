//! Who owns which run.

use std::collections::BTreeSet;

use rival_core::{RunId, RunStatus, Time};

use super::append::wake;
use super::state::{MemoryState, RunNo};
use crate::{Claim, EngineId, Epoch};

impl MemoryState {
    pub(super) fn join(&mut self) -> EngineId {
        self.last_engine += 1;
        let engine = EngineId(self.last_engine);
        self.engines.insert(engine);
        engine
    }

    pub(super) fn leave(&mut self, engine: EngineId) {
        self.engines.remove(&engine);
    }

    pub(super) fn claim(&mut self, run: &RunId, engine: EngineId) -> Option<Claim> {
        let row = &self.get(run)?.row;
        if !self.engines.contains(&engine) || row.status.is_terminal() || self.is_owned(row) {
            return None;
        }
        let no = row.no;
        self.admit(no);
        self.take(no, engine)
    }

    /// Runs of engines that are gone come first: there is an end to them, so that nothing starves.
    pub(super) fn claim_due(&mut self, engine: EngineId, now: Time, limit: usize) -> Vec<Claim> {
        let due = self.index.due.range(..=(now, RunNo::MAX)).map(|&(_, no)| no);
        let found = self.orphans().chain(due).take(limit).collect();
        self.take_all(found, engine)
    }

    pub(super) fn claim_queued(&mut self, engine: EngineId, limit: usize) -> Vec<Claim> {
        if !self.engines.contains(&engine) {
            return Vec::new();
        }
        let found: Vec<_> = self.index.queued.iter().copied().take(limit).collect();
        for &no in &found {
            self.admit(no);
        }
        self.take_all(found, engine)
    }

    pub(super) fn next_wake(&self) -> Option<Time> {
        self.index.due.first().map(|&(at, _)| at)
    }

    pub(super) fn wake_blocked(&mut self, workflow: &str, now: Time) -> u64 {
        let of_workflow = |no: &RunNo| self.runs.get(no).is_some_and(|run| run.row.workflow == workflow);
        let found: BTreeSet<_> = self.index.blocked.iter().copied().filter(of_workflow).collect();
        for &no in &found {
            self.change(no, |row| wake(row, now));
        }
        found.len() as u64
    }

    /// The runs of engines that are gone.
    fn orphans(&self) -> impl Iterator<Item = RunNo> {
        let gone = self.index.owned.iter().filter(|(engine, _)| !self.engines.contains(engine));
        gone.flat_map(|(_, runs)| runs.iter().copied())
    }

    /// Lets a queued run in.
    fn admit(&mut self, no: RunNo) {
        self.change(no, |row| {
            if row.status == RunStatus::Queued {
                row.status = RunStatus::Running;
            }
        });
    }

    fn take_all(&mut self, found: Vec<RunNo>, engine: EngineId) -> Vec<Claim> {
        found.into_iter().filter_map(|no| self.take(no, engine)).collect()
    }

    /// An engine that is gone takes nothing: its claims would be claimable at once.
    fn take(&mut self, no: RunNo, engine: EngineId) -> Option<Claim> {
        if !self.engines.contains(&engine) {
            return None;
        }
        self.change(no, |row| {
            row.owner = Some(engine);
            row.epoch = Epoch(row.epoch.0 + 1);
            row.wake_at = None;
        });
        let row = self.runs.get(&no)?.row.clone();
        Some(Claim { epoch: row.epoch, row })
    }
}
