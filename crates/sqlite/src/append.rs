//! Starting runs and writing their transitions.

use rival_core::{RunId, Seq};
use rival_store::{
    Commit, CommitError, Epoch, EventBatch, MessageNo, NewRun, RowUpdate, RunRow, Snapshot, StoreError,
};
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, params};

use crate::fault::{Result, SqliteFault};
use crate::query;
use crate::sum;
use crate::tables::{KnownRun, OwnedRun, WriterTables};

/// A row update as its columns.
struct Columns<'s> {
    status: &'static str,
    ended_at: Option<i64>,
    wake_at: Option<i64>,
    owned: bool,
    note: Option<&'s str>,
}

impl<'s> Columns<'s> {
    /// The part of a row's sum that changes.
    fn sum(&self, hot: &OwnedRun) -> i64 {
        sum::of_values(&[
            ValueRef::Integer(hot.no),
            self.status.into(),
            self.ended_at.map(ValueRef::Integer).into(),
            self.wake_at.map(ValueRef::Integer).into(),
            self.owned.then_some(ValueRef::Integer(hot.owner)).into(),
            ValueRef::Integer(hot.epoch),
            self.note.into(),
            ValueRef::Integer(hot.dropped),
            ValueRef::Integer(hot.last.0.cast_signed()),
            ValueRef::Integer(hot.tip),
        ])
    }

    fn of(row_update: &'s RowUpdate) -> Self {
        Self {
            status: row_update.status().word(),
            ended_at: row_update.ended_at().map(|time| time.0),
            wake_at: row_update.wake_at().map(|time| time.0),
            owned: row_update.is_owned(),
            note: row_update.note(),
        }
    }
}

impl WriterTables<'_> {
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
        let begun = sum::chain_begin(no, run.id.as_str());
        let EventBatch { first, count, body } = &run.events;
        let tip = sum::chain_next(begun, first.0, *count, sum::of_body(body));
        let mut hot = OwnedRun {
            no,
            epoch: 1,
            last: run.events.last(),
            tip,
            owner: run.engine.0,
            dropped: 0,
            changing: 0,
        };
        if !self.insert_run(&mut hot, run)? {
            return Ok(false);
        }
        self.insert_batch(no, &run.events, tip)?;
        for tag in &run.tags {
            self.sql("INSERT OR IGNORE INTO tags (tag, run) VALUES (?1, ?2)")?.execute(params![tag, no])?;
        }
        if run.row_update.is_owned() {
            self.note_created(run, hot);
        }
        Ok(true)
    }

    /// A run of an engine that is gone can be claimed, and takes no commits until it is.
    fn note_created(&mut self, run: &NewRun, hot: OwnedRun) {
        self.engines.note_owner(run.engine.0);
        if self.engines.alive.contains(&run.engine.0) {
            self.remember(&run.id, hot);
        }
    }

    fn insert_run(&mut self, hot: &mut OwnedRun, run: &NewRun) -> Result<bool> {
        let columns = Columns::of(&run.row_update);
        let (workflow, plan) = (self.name(&run.workflow)?, self.name(run.plan.as_str())?);
        let (parent, source) =
            (run.parent.as_ref().map(RunId::as_str), run.source.as_ref().map(RunId::as_str));
        let tags = query::encode_tags(&run.tags);
        let staying = sum::of_values(&[
            ValueRef::Integer(hot.no),
            run.id.as_str().into(),
            ValueRef::Integer(workflow),
            ValueRef::Integer(plan),
            run.fingerprint.as_slice().into(),
            ValueRef::Integer(run.created_at.0),
            parent.into(),
            source.into(),
            tags.as_deref().into(),
        ]);
        hot.changing = columns.sum(hot);
        let inserted = self.insert_run.execute(params![
            hot.no,
            run.id.as_str(),
            workflow,
            plan,
            columns.status,
            run.fingerprint,
            run.created_at.0,
            columns.ended_at,
            columns.wake_at,
            columns.owned.then_some(hot.owner),
            parent,
            source,
            tags,
            columns.note,
            hot.last.0.cast_signed(),
            hot.tip,
            staying ^ hot.changing,
        ])?;
        Ok(inserted == 1)
    }

    fn insert_batch(&mut self, run: i64, batch: &EventBatch, tip: i64) -> Result<()> {
        let EventBatch { first, count, body } = batch;
        let no = self.add_batch(run, tip);
        self.insert_event.execute(params![no, run, first.0.cast_signed(), count, tip, body])?;
        Ok(())
    }

    /// Checks everything before it writes anything: a refused commit leaves its group alone. `body` is the sum of the
    /// events' body.
    pub(crate) fn commit(
        &mut self,
        commit: &Commit,
        body: u64,
    ) -> Result<std::result::Result<(), CommitError>> {
        if let Some(done) = self.append_only(commit, body)? {
            return Ok(done);
        }
        let hot = match self.owned(commit)? {
            Ok(hot) => hot,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if !self.all_wait(hot.no, &commit.consumed)? {
            return Ok(Err(fenced(commit)));
        }
        let batch = commit.events.as_ref();
        if let Some(refusal) = batch.and_then(|batch| misplaced(&commit.run, hot.last, batch)) {
            return Ok(Err(refusal));
        }
        if let Some(refusal) = self.misplaced_start(&commit.runs)? {
            return Ok(Err(refusal));
        }
        self.write_transition(hot, commit, body)?;
        Ok(Ok(()))
    }

    /// The usual commit, of a remembered run and with nothing but events: one look, one insert.
    fn append_only(
        &mut self,
        commit: &Commit,
        body: u64,
    ) -> Result<Option<std::result::Result<(), CommitError>>> {
        let Some(batch) = commit.events.as_ref().filter(|_| has_only_events(commit)) else { return Ok(None) };
        let Some(hot) = self.hot.get_mut(&commit.run) else { return Ok(None) };
        if Epoch(hot.epoch) != commit.epoch {
            return Ok(Some(Err(fenced(commit))));
        }
        if let Some(refusal) = misplaced(&commit.run, hot.last, batch) {
            return Ok(Some(Err(refusal)));
        }
        hot.follow(batch, body);
        let OwnedRun { no, tip, .. } = *hot;
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
            KnownRun::Owned(hot) if Epoch(hot.epoch) == commit.epoch => Ok(hot),
            KnownRun::Owned(_) | KnownRun::NotOwned => Err(fenced(commit)),
            KnownRun::Unknown => Err(CommitError::NotFound(commit.run.clone())),
        })
    }

    fn write_transition(&mut self, mut hot: OwnedRun, commit: &Commit, body: u64) -> Result<()> {
        if let Some(batch) = &commit.events {
            hot.follow(batch, body);
            self.insert_batch(hot.no, batch, hot.tip)?;
            self.remember(&commit.run, hot);
        }
        if let Some(snapshot) = &commit.snapshot {
            self.write_snapshot(hot.no, snapshot)?;
        }
        for MessageNo(no) in &commit.consumed {
            self.consume(*no)?;
        }
        for MessageNo(no) in &commit.refused {
            self.refuse(*no)?;
        }
        if let Some(row_update) = &commit.row_update {
            self.write_row_update(hot, row_update, commit)?;
        }
        for run in &commit.runs {
            self.create(run)?;
        }
        // After the new runs and the row update: a message may be for one of them, or for this very run.
        for (receiver, message) in &commit.messages {
            self.send(receiver, message, commit.now)?;
        }
        self.append_logs(&commit.logs)
    }

    fn write_row_update(&mut self, mut hot: OwnedRun, row_update: &RowUpdate, commit: &Commit) -> Result<()> {
        let columns = Columns::of(row_update);
        let (before, after) = (hot.changing, columns.sum(&hot));
        hot.changing = after;
        self.set_row.execute(params![
            hot.no,
            columns.status,
            columns.ended_at,
            columns.wake_at,
            columns.note,
            columns.owned.then_some(hot.owner),
            hot.last.0.cast_signed(),
            hot.tip,
            before ^ after,
        ])?;
        if columns.owned {
            self.remember(&commit.run, hot);
            return Ok(());
        }
        self.drop_hot(&commit.run);
        self.settle_waiting(hot.no, row_update.status(), commit.now)
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
