//! Starting runs and writing their transitions.

use rival_core::{RunId, Seq};
use rival_store::{Commit, CommitError, Epoch, EventBatch, NewRun, RowUpdate, RunRow, Snapshot, StoreError};
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, params};

use crate::fault::{Result, SqliteFault};
use crate::messages;
use crate::query;
use crate::sum;
use crate::tables::{KnownRun, OwnedRun, WriterTables};

impl WriterTables<'_> {
    /// Gives the row of the run that is there already.
    pub(crate) fn start(&mut self, run: &NewRun) -> Result<std::result::Result<Option<RunRow>, StoreError>> {
        let refusal = misplaced(&run.id, Seq::ZERO, &run.events);
        if refusal.is_none() && self.create(run)? {
            return Ok(Ok(None));
        }
        match (query::row_by_id(self.connection, &run.id)?, refusal) {
            (Some(row), _) => Ok(Ok(Some(row))),
            (None, Some(CommitError::Store(error))) => Ok(Err(error)),
            (None, Some(refusal)) => Ok(Err(StoreError::Invalid(refusal.to_string()))),
            (None, None) => Err(SqliteFault::Damaged(format!("run `{}` is there and is not", run.id))),
        }
    }

    /// Creates a run unless its id is there: the insert finds out by itself, without a look before.
    fn create(&mut self, run: &NewRun) -> Result<bool> {
        let no = self.next_run();
        let EventBatch { first, count, body } = &run.events;
        let begun = sum::chain_begin(no, run.id.as_str());
        let tip = sum::chain_next(begun, first.0, *count, sum::of_body(body));
        let (epoch, last, owner) = (1, run.events.last(), run.engine.0);
        let mut owned = OwnedRun { no, epoch, last, tip, owner, dropped: 0, changing: 0 };
        owned.changing = changing_sum(&owned, &run.row_update);
        let (workflow, plan) = (self.name(&run.workflow)?, self.name(run.plan.as_str())?);
        let tags = query::encode_tags(&run.tags);
        let row_update = &run.row_update;
        let inserted = self.insert_run.execute(params![
            no,
            run.id.as_str(),
            workflow,
            plan,
            row_update.status().word(),
            run.fingerprint,
            run.created_at.0,
            row_update.ended_at().map(|time| time.0),
            row_update.wake_at().map(|time| time.0),
            row_update.is_owned().then_some(owner),
            run.parent.as_ref().map(RunId::as_str),
            run.source.as_ref().map(RunId::as_str),
            tags,
            row_update.note(),
            last.0.cast_signed(),
            tip,
            staying_sum(no, workflow, plan, tags.as_deref(), run) ^ owned.changing,
        ])?;
        if inserted == 0 {
            return Ok(false);
        }
        self.insert_batch(no, &run.events, tip)?;
        for tag in &run.tags {
            self.sql("INSERT OR IGNORE INTO tags (tag, run) VALUES (?1, ?2)")?.execute(params![tag, no])?;
        }
        if row_update.is_owned() {
            self.note_created(run, owned);
        }
        Ok(true)
    }

    /// A run of an engine that is gone can be claimed, and takes no commits until it is.
    fn note_created(&mut self, run: &NewRun, owned: OwnedRun) {
        self.engines.note_owner(run.engine.0);
        if self.engines.alive.contains(&run.engine.0) {
            self.remember(&run.id, owned);
        }
    }

    fn insert_batch(&mut self, run: i64, batch: &EventBatch, tip: i64) -> Result<()> {
        let EventBatch { first, count, body } = batch;
        let no = self.add_batch(run, tip);
        self.insert_event.execute(params![no, run, first.0.cast_signed(), count, tip, body])?;
        Ok(())
    }

    /// Checks everything before it writes anything: a refused commit leaves its group alone. Gives the places of the runs that
    /// were there already. `body` is the sum of the
    /// events' body.
    pub(crate) fn commit(
        &mut self,
        commit: &Commit,
        body: u64,
    ) -> Result<std::result::Result<Vec<usize>, CommitError>> {
        if let Some(done) = self.append_only(commit, body)? {
            return Ok(done.map(|()| Vec::new()));
        }
        let owned = match self.owned(commit)? {
            Ok(owned) => owned,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if !self.all_wait(owned.no, &commit.consumed)? {
            return Ok(Err(fenced(commit)));
        }
        let batch = commit.events.as_ref();
        if let Some(refusal) = batch.and_then(|batch| misplaced(&commit.run, owned.last, batch)) {
            return Ok(Err(refusal));
        }
        if let Some(refusal) = self.misplaced_start(&commit.runs)? {
            return Ok(Err(refusal));
        }
        Ok(Ok(self.write_transition(owned, commit, body)?))
    }

    /// The usual commit, of a remembered run and with nothing but events: one look, one insert.
    fn append_only(
        &mut self,
        commit: &Commit,
        body: u64,
    ) -> Result<Option<std::result::Result<(), CommitError>>> {
        let Some(batch) = commit.events.as_ref().filter(|_| has_only_events(commit)) else { return Ok(None) };
        let Some(owned) = self.owned_runs.get_mut(&commit.run) else { return Ok(None) };
        if Epoch(owned.epoch) != commit.epoch {
            return Ok(Some(Err(fenced(commit))));
        }
        if let Some(refusal) = misplaced(&commit.run, owned.last, batch) {
            return Ok(Some(Err(refusal)));
        }
        owned.follow(batch, body);
        let OwnedRun { no, tip, .. } = *owned;
        self.insert_batch(no, batch, tip)?;
        Ok(Some(Ok(())))
    }

    /// The first of these runs that is not there yet and does not begin with event 1.
    fn misplaced_start(&self, runs: &[NewRun]) -> Result<Option<CommitError>> {
        for run in runs {
            let refusal = misplaced(&run.id, Seq::ZERO, &run.events);
            if refusal.is_some() && self.number_of(&run.id)?.is_none() {
                return Ok(refusal);
            }
        }
        Ok(None)
    }

    fn owned(&mut self, commit: &Commit) -> Result<std::result::Result<OwnedRun, CommitError>> {
        Ok(match self.known(&commit.run)? {
            KnownRun::Owned(owned) if Epoch(owned.epoch) == commit.epoch => Ok(owned),
            KnownRun::Owned(_) | KnownRun::NotOwned => Err(fenced(commit)),
            KnownRun::Unknown => Err(CommitError::NotFound(commit.run.clone())),
        })
    }

    fn write_transition(&mut self, mut owned: OwnedRun, commit: &Commit, body: u64) -> Result<Vec<usize>> {
        if let Some(batch) = &commit.events {
            owned.follow(batch, body);
            self.insert_batch(owned.no, batch, owned.tip)?;
            self.remember(&commit.run, owned);
        }
        if let Some(snapshot) = &commit.snapshot {
            self.write_snapshot(owned.no, snapshot)?;
        }
        for no in &commit.consumed {
            // Of a message with an id, the id stays for as long as the run; not of one that was not acted on.
            let kept = !commit.refused.contains(no) && self.sql(messages::EMPTY)?.execute([no.0])? > 0;
            if !kept {
                self.sql("DELETE FROM messages WHERE no = ?1")?.execute([no.0])?;
            }
        }
        if let Some(row_update) = &commit.row_update {
            let before = owned.changing;
            owned.changing = changing_sum(&owned, row_update);
            self.set_row.execute(params![
                owned.no,
                row_update.status().word(),
                row_update.ended_at().map(|time| time.0),
                row_update.wake_at().map(|time| time.0),
                row_update.note(),
                row_update.is_owned().then_some(owned.owner),
                owned.last.0.cast_signed(),
                owned.tip,
                before ^ owned.changing,
            ])?;
            if row_update.is_owned() {
                self.remember(&commit.run, owned);
            } else {
                self.forget_owned(&commit.run);
                self.settle_waiting(owned.no, row_update.status(), commit.now)?;
            }
        }
        let mut known = Vec::new();
        for (place, run) in commit.runs.iter().enumerate() {
            if !self.create(run)? {
                known.push(place);
            }
        }
        // After the new runs and the row update: a message may be for one of them, or for this very run.
        for (receiver, message) in &commit.messages {
            self.send(receiver, message, commit.now)?;
        }
        self.append_logs(&commit.logs)?;
        Ok(known)
    }

    fn write_snapshot(&mut self, run: i64, snapshot: &Snapshot) -> Result<()> {
        self.sql(
            "INSERT OR REPLACE INTO snapshots (run, seq, fold, plan, body, sum)
             VALUES (?1, ?2, ?3, ?4, ?5, row_sum(?1, ?2, ?3, ?4, ?5))",
        )?
        .execute(params![
            run,
            snapshot.seq.0.cast_signed(),
            snapshot.fold,
            snapshot.plan.as_str(),
            snapshot.body
        ])?;
        Ok(())
    }

    pub(crate) fn put_plan(&mut self, hash: &str, json: &str) -> Result<()> {
        self.sql("INSERT OR IGNORE INTO plans (hash, json, sum) VALUES (?1, ?2, row_sum(?1, ?2))")?
            .execute([hash, json])?;
        Ok(())
    }

    /// Has this transaction written though nothing else changes: only a real write shows whether the disk takes any.
    pub(crate) fn probe(&mut self) {
        self.dirty = true;
    }

    pub(crate) fn number_of(&self, run: &RunId) -> Result<Option<i64>> {
        Ok(self
            .sql("SELECT no FROM runs WHERE id = ?1")?
            .query_row([run.as_str()], |row| row.get(0))
            .optional()?)
    }
}

impl OwnedRun {
    /// Adds a batch to what is known of the run.
    fn follow(&mut self, batch: &EventBatch, body: u64) {
        self.tip = sum::chain_next(self.tip, batch.first.0, batch.count, body);
        self.last = batch.last();
    }
}

/// The sum of what stays as it is in a run's row.
fn staying_sum(no: i64, workflow: i64, plan: i64, tags: Option<&str>, run: &NewRun) -> i64 {
    sum::of_values(&[
        ValueRef::Integer(no),
        run.id.as_str().into(),
        ValueRef::Integer(workflow),
        ValueRef::Integer(plan),
        run.fingerprint.as_slice().into(),
        ValueRef::Integer(run.created_at.0),
        run.parent.as_ref().map(RunId::as_str).into(),
        run.source.as_ref().map(RunId::as_str).into(),
        tags.into(),
    ])
}

/// The sum of what changes in a run's row.
fn changing_sum(owned: &OwnedRun, row_update: &RowUpdate) -> i64 {
    sum::of_values(&[
        ValueRef::Integer(owned.no),
        row_update.status().word().into(),
        row_update.ended_at().map(|time| ValueRef::Integer(time.0)).into(),
        row_update.wake_at().map(|time| ValueRef::Integer(time.0)).into(),
        row_update.is_owned().then_some(ValueRef::Integer(owned.owner)).into(),
        ValueRef::Integer(owned.epoch),
        row_update.note().into(),
        ValueRef::Integer(owned.dropped),
        ValueRef::Integer(owned.last.0.cast_signed()),
        ValueRef::Integer(owned.tip),
    ])
}

fn has_only_events(commit: &Commit) -> bool {
    commit.row_update.is_none()
        && commit.snapshot.is_none()
        && commit.consumed.is_empty()
        && commit.runs.is_empty()
        && commit.messages.is_empty()
        && commit.logs.is_empty()
}

fn fenced(commit: &Commit) -> CommitError {
    CommitError::Fenced { run: commit.run.clone(), epoch: commit.epoch }
}

/// Why a batch cannot come after the event `last`.
fn misplaced(run: &RunId, last: Seq, batch: &EventBatch) -> Option<CommitError> {
    let expected = last.next();
    if batch.first != expected {
        return Some(CommitError::Sequence { run: run.clone(), expected, actual: batch.first });
    }
    // It would take the place of the next one.
    let empty = || StoreError::Invalid(format!("run `{run}`: a batch without events")).into();
    (batch.count == 0).then(empty)
}
