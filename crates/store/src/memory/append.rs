//! Starting runs, committing transitions, reading events back.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rival_core::plan::is_system_workflow;
use rival_core::{RunId, RunStatus, Seq, Time};

use super::state::{MemoryRun, MemoryState, RunNo};
use crate::{
    Commit, CommitError, EngineId, Epoch, EventBatch, LOAD_MAX_BYTES, MessageNo, NewRun, RowUpdate, RunRow,
    Snapshot, StoreError,
};

impl MemoryState {
    pub(super) fn start(&mut self, new: NewRun) -> Result<Option<RunRow>, StoreError> {
        if let Some(run) = self.get(&new.id) {
            return Ok(Some(run.row.clone()));
        }
        check_first(&new).map_err(|error| match error {
            CommitError::Store(error) => error,
            error => StoreError::Invalid(error.to_string()),
        })?;
        self.insert(new);
        Ok(None)
    }

    pub(super) fn commit(&mut self, commit: Commit) -> Result<Vec<usize>, CommitError> {
        let no = self.check(&commit)?;
        Ok(self.write(no, commit))
    }

    pub(super) fn load(&self, run: &RunId, after: Seq, limit: usize) -> Vec<EventBatch> {
        let Some(run) = self.get(run) else { return Vec::new() };
        let begin = run.history.partition_point(|batch| batch.last() <= after);
        let (mut events, mut bytes) = (0, 0);
        let fits = |batch: &&EventBatch| {
            let is_first = events == 0;
            events += batch.count as usize;
            bytes += batch.body.len();
            is_first || events <= limit && bytes <= LOAD_MAX_BYTES
        };
        run.history[begin..].iter().take_while(fits).cloned().collect()
    }

    /// Everything that can refuse a commit, before anything of it is written.
    fn check(&self, commit: &Commit) -> Result<RunNo, CommitError> {
        let run = self.get(&commit.run).ok_or_else(|| CommitError::NotFound(commit.run.clone()))?;
        if !self.is_writer(run, commit.epoch) || !has_messages(run, &commit.consumed) {
            return Err(CommitError::Fenced { run: commit.run.clone(), epoch: commit.epoch });
        }
        if let Some(events) = &commit.events {
            check_follows(&commit.run, run.last(), events)?;
        }
        commit.runs.iter().filter(|new| !self.by_id.contains_key(&new.id)).try_for_each(check_first)?;
        Ok(run.row.no)
    }

    fn is_writer(&self, run: &MemoryRun, epoch: Epoch) -> bool {
        run.row.epoch == epoch && !run.row.status.is_terminal() && self.is_owned(&run.row)
    }

    /// Runs come before messages, so that a new run can be sent one at once; messages are consumed before
    /// the row update, which depends on whether some still wait.
    fn write(&mut self, no: RunNo, commit: Commit) -> Vec<usize> {
        self.write_journal(no, commit.events, commit.snapshot, &commit.consumed, &commit.refused);
        if let Some(row_update) = commit.row_update {
            self.set_row(no, &row_update, commit.now);
        }
        let mut known = Vec::new();
        for (place, new) in commit.runs.into_iter().enumerate() {
            if !self.insert(new) {
                known.push(place);
            }
        }
        for (receiver, message) in commit.messages {
            self.send(&receiver, message, commit.now);
        }
        self.append_logs(commit.logs);
        known
    }

    fn write_journal(
        &mut self,
        no: RunNo,
        events: Option<EventBatch>,
        snapshot: Option<Snapshot>,
        consumed: &[MessageNo],
        refused: &[MessageNo],
    ) {
        let Some(run) = self.runs.get_mut(&no) else { return };
        run.history.extend(events);
        run.snapshot = snapshot.or(run.snapshot.take());
        for message in consumed {
            run.messages.remove(message);
        }
        if !refused.is_empty() {
            run.sent.retain(|_, no| !refused.contains(no));
        }
    }

    fn set_row(&mut self, no: RunNo, row_update: &RowUpdate, now: Time) {
        let Some(run) = self.runs.get_mut(&no) else { return };
        let is_ended = row_update.status().is_terminal();
        let is_blocked = row_update.status() == RunStatus::Blocked;
        let waiting = run.messages.len();
        if is_ended {
            // They are not acted on, so their ids are not known either.
            run.sent.retain(|_, no| !run.messages.contains_key(no));
            run.messages.clear();
        }
        self.change(no, |row| {
            place(row, row_update, row.owner);
            match waiting {
                0 => {}
                _ if is_ended => row.drop_messages(waiting),
                // Looking at it again would change nothing: it needs help first.
                _ if is_blocked => {}
                _ => wake(row, now),
            }
        });
    }

    /// Creates a run; one that exists is left as it is. Gives whether it was created.
    fn insert(&mut self, new: NewRun) -> bool {
        if self.by_id.contains_key(&new.id) {
            return false;
        }
        self.last_run += 1;
        let no = self.last_run;
        self.by_id.insert(new.id.clone(), no);
        if is_system_workflow(&new.workflow) {
            self.system.insert(new.id.clone(), no);
        }
        if let Some(parent) = &new.parent {
            self.children.entry(parent.clone()).or_default().insert(no);
        }
        let run = MemoryRun::new(no, new);
        self.index.add(&run.row);
        self.runs.insert(no, run);
        true
    }
}

impl MemoryRun {
    fn new(no: RunNo, new: NewRun) -> Self {
        let mut row = RunRow {
            id: new.id,
            no,
            workflow: new.workflow,
            plan: new.plan,
            fingerprint: new.fingerprint,
            status: new.row_update.status(),
            created_at: new.created_at,
            ended_at: None,
            wake_at: None,
            owner: None,
            epoch: Epoch(1),
            parent: new.parent,
            source: new.source,
            tags: new.tags,
            note: None,
            dropped_messages: 0,
        };
        place(&mut row, &new.row_update, Some(new.engine));
        Self {
            row,
            history: vec![new.events],
            snapshot: None,
            messages: BTreeMap::new(),
            sent: HashMap::new(),
            logs: Vec::new(),
        }
    }
}

fn place(row: &mut RunRow, row_update: &RowUpdate, writer: Option<EngineId>) {
    row.owner = writer.filter(|_| row_update.is_owned());
    row.wake_at = row_update.wake_at();
    row.status = row_update.status();
    row.ended_at = row_update.ended_at();
    row.note = row_update.note().map(str::to_owned);
}

/// Makes a run due, if it is one that waits to be looked at: the owner of an owned run is told otherwise,
/// and a queued one waits for room.
pub(super) fn wake(row: &mut RunRow, now: Time) {
    if row.owner.is_none() && !row.status.is_terminal() && row.status != RunStatus::Queued {
        row.wake_at = Some(row.wake_at.map_or(now, |at| at.min(now)));
    }
}

/// Whether all of the messages wait for the run, each named once.
fn has_messages(run: &MemoryRun, consumed: &[MessageNo]) -> bool {
    let distinct: BTreeSet<_> = consumed.iter().collect();
    distinct.len() == consumed.len() && consumed.iter().all(|no| run.messages.contains_key(no))
}

fn check_first(new: &NewRun) -> Result<(), CommitError> {
    check_follows(&new.id, Seq::ZERO, &new.events)
}

fn check_follows(run: &RunId, last: Seq, events: &EventBatch) -> Result<(), CommitError> {
    let expected = last.next();
    if events.first != expected {
        return Err(CommitError::Sequence { run: run.clone(), expected, actual: events.first });
    }
    if events.count == 0 {
        return Err(StoreError::Invalid(format!("run `{run}`: a batch without events")).into());
    }
    Ok(())
}
