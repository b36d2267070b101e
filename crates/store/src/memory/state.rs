//! The data, and the indexes that follow every change of a row.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rival_core::{PlanHash, RunId, RunStatus, Seq, Time};

use crate::{EngineId, EventBatch, LogLine, Message, MessageNo, Record, RunRow, Snapshot};

/// The place of a run in the order of all runs; the key of everything below.
pub(super) type RunNo = i64;

/// Everything that the store knows.
#[derive(Default)]
pub(super) struct MemoryState {
    pub(super) runs: BTreeMap<RunNo, MemoryRun>,
    pub(super) by_id: HashMap<RunId, RunNo>,
    pub(super) children: HashMap<RunId, BTreeSet<RunNo>>,
    /// Runs of Rival's own workflows, by id: they are called after the run that they work for.
    pub(super) system: BTreeMap<RunId, RunNo>,
    /// The oldest first; there are few.
    pub(super) plans: Vec<(PlanHash, String)>,
    /// The versions of each record, the oldest first, by kind and key.
    pub(super) records: BTreeMap<String, BTreeMap<String, Vec<Record>>>,
    /// Engines that have joined and not left.
    pub(super) engines: BTreeSet<EngineId>,
    pub(super) index: RunIndex,
    pub(super) last_run: RunNo,
    pub(super) last_engine: i64,
    pub(super) last_message: i64,
}

/// One run with everything of its own.
pub(super) struct MemoryRun {
    pub(super) row: RunRow,
    pub(super) history: Vec<EventBatch>,
    pub(super) snapshot: Option<Snapshot>,
    pub(super) messages: BTreeMap<MessageNo, Message>,
    /// The number of each message that came with an id, also after it was consumed.
    pub(super) sent: HashMap<String, MessageNo>,
    pub(super) logs: Vec<LogLine>,
}

impl MemoryRun {
    /// The number of the last event.
    pub(super) fn last(&self) -> Seq {
        self.history.last().map_or(Seq::ZERO, EventBatch::last)
    }
}

/// Finds runs by where they stand, without looking at all of them.
#[derive(Default)]
pub(super) struct RunIndex {
    pub(super) due: BTreeSet<(Time, RunNo)>,
    pub(super) owned: BTreeMap<EngineId, BTreeSet<RunNo>>,
    /// Queued runs without an owner.
    pub(super) queued: BTreeSet<RunNo>,
    /// Blocked runs without an owner.
    pub(super) blocked: BTreeSet<RunNo>,
    pub(super) ended: BTreeSet<(Time, RunNo)>,
}

impl RunIndex {
    pub(super) fn add(&mut self, row: &RunRow) {
        self.due.extend(row.wake_at.map(|at| (at, row.no)));
        self.ended.extend(row.ended_at.map(|at| (at, row.no)));
        match (row.owner, row.status) {
            (Some(engine), _) => {
                self.owned.entry(engine).or_default().insert(row.no);
            }
            (None, RunStatus::Queued) => {
                self.queued.insert(row.no);
            }
            (None, RunStatus::Blocked) => {
                self.blocked.insert(row.no);
            }
            (None, _) => {}
        }
    }

    pub(super) fn remove(&mut self, row: &RunRow) {
        if let Some(at) = row.wake_at {
            self.due.remove(&(at, row.no));
        }
        if let Some(at) = row.ended_at {
            self.ended.remove(&(at, row.no));
        }
        self.queued.remove(&row.no);
        self.blocked.remove(&row.no);
        if let Some(engine) = row.owner {
            self.disown(engine, row.no);
        }
    }

    /// Engines come and go: one that owns nothing leaves no trace.
    fn disown(&mut self, engine: EngineId, no: RunNo) {
        if let Some(runs) = self.owned.get_mut(&engine) {
            runs.remove(&no);
            if runs.is_empty() {
                self.owned.remove(&engine);
            }
        }
    }
}

impl MemoryState {
    pub(super) fn get(&self, id: &RunId) -> Option<&MemoryRun> {
        self.runs.get(self.by_id.get(id)?)
    }

    pub(super) fn get_mut(&mut self, id: &RunId) -> Option<&mut MemoryRun> {
        self.runs.get_mut(self.by_id.get(id)?)
    }

    /// The only way to change a row: the indexes follow.
    pub(super) fn change(&mut self, no: RunNo, edit: impl FnOnce(&mut RunRow)) {
        if let Some(run) = self.runs.get_mut(&no) {
            self.index.remove(&run.row);
            edit(&mut run.row);
            self.index.add(&run.row);
        }
    }

    /// Whether an engine that is still there owns the run.
    pub(super) fn is_owned(&self, row: &RunRow) -> bool {
        row.owner.is_some_and(|engine| self.engines.contains(&engine))
    }
}
