//! Who owns which run.

use rival_core::{RunId, RunStatus, Time};
use rival_store::{Claim, EngineId, Epoch, RunRow};
use rusqlite::{Params, params};

use std::sync::LazyLock;

use crate::fault::Result;
use crate::query::{self, COLUMNS};
use crate::sum;
use crate::tables::WriterTables;

static TAKE: LazyLock<String> = LazyLock::new(|| {
    let changes = [("owner", "?2"), ("epoch", "?3"), ("wake_at", "NULL"), ("status", "?4")];
    sum::update("", &changes, "no = ?1")
});

static WAKE_BLOCKED: LazyLock<String> = LazyLock::new(|| {
    sum::update(
        "INDEXED BY runs_by_status",
        &[("wake_at", "min(coalesce(wake_at, ?2), ?2)")],
        "status = 'blocked' AND status <> 'completed' AND owner IS NULL
             AND workflow = (SELECT no FROM names WHERE text = ?1)",
    )
});

impl WriterTables<'_> {
    /// Gives the next id, durably so that it is not given again. With `quietly`, on a disk that takes no writes, it is only
    /// remembered: nothing that is written can name an engine before its number is written with it.
    pub(crate) fn join(&mut self, quietly: bool) -> EngineId {
        self.meta.last_engine += 1;
        self.dirty |= !quietly;
        self.engines.alive.insert(self.meta.last_engine);
        EngineId(self.meta.last_engine)
    }

    pub(crate) fn leave(&mut self, engine: EngineId) {
        self.engines.alive.remove(&engine.0);
        self.engines.note_owner(engine.0);
        self.forget_runs();
    }

    pub(crate) fn claim(&mut self, run: &RunId, engine: EngineId) -> Result<Option<Claim>> {
        if self.is_gone(engine) {
            return Ok(None);
        }
        let Some(row) = query::row_by_id(self.connection, run)? else { return Ok(None) };
        let owned = row.owner.is_some_and(|owner| self.engines.alive.contains(&owner.0));
        if owned || row.status.is_terminal() {
            return Ok(None);
        }
        Ok(Some(self.take(admitted(row), engine)?))
    }

    pub(crate) fn claim_due(&mut self, engine: EngineId, now: Time, limit: usize) -> Result<Vec<Claim>> {
        if self.is_gone(engine) {
            return Ok(Vec::new());
        }
        // First the orphans: there is an end to them.
        let mut rows = self.orphans(limit)?;
        rows.extend(self.select(
            "WHERE wake_at <= ?1 AND owner IS NULL ORDER BY wake_at, no LIMIT ?2",
            params![now.0, as_limit(limit - rows.len())],
        )?);
        rows.into_iter().map(|row| self.take(row, engine)).collect()
    }

    /// Runs of engines that are gone; an engine without any is struck off.
    fn orphans(&mut self, limit: usize) -> Result<Vec<RunRow>> {
        let mut rows = Vec::new();
        while let Some(&gone) = self.engines.gone.first() {
            let room = limit.saturating_sub(rows.len());
            if room == 0 {
                break;
            }
            let found = self.select(
                "INDEXED BY runs_by_owner WHERE owner = ?1 AND owner IS NOT NULL LIMIT ?2",
                params![gone, as_limit(room)],
            )?;
            if found.len() < room {
                self.engines.gone.remove(0);
            }
            rows.extend(found);
        }
        Ok(rows)
    }

    pub(crate) fn claim_queued(&mut self, engine: EngineId, limit: usize) -> Result<Vec<Claim>> {
        if self.is_gone(engine) {
            return Ok(Vec::new());
        }
        let rows = self.select(
            "INDEXED BY runs_by_status WHERE status = 'queued' AND status <> 'completed'
                 AND owner IS NULL ORDER BY no LIMIT ?1",
            params![as_limit(limit)],
        )?;
        rows.into_iter().map(|row| self.take(admitted(row), engine)).collect()
    }

    /// An engine that has left claims nothing: another engine could claim its runs from it at once.
    fn is_gone(&self, engine: EngineId) -> bool {
        !self.engines.alive.contains(&engine.0)
    }

    fn select(&self, rest: &str, params: impl Params) -> Result<Vec<RunRow>> {
        let mut statement = self.sql(&format!("SELECT {COLUMNS} FROM runs {rest}"))?;
        let rows = statement.query_and_then(params, query::decode_row)?;
        rows.collect()
    }

    fn take(&mut self, mut row: RunRow, engine: EngineId) -> Result<Claim> {
        row.owner = Some(engine);
        row.epoch = Epoch(row.epoch.0 + 1);
        row.wake_at = None;
        self.sql(&TAKE)?.execute(params![row.no, engine.0, row.epoch.0, row.status.word()])?;
        // The cache may still name the previous owner, at the old epoch.
        self.forget_owned(&row.id);
        Ok(Claim { epoch: row.epoch, row })
    }

    pub(crate) fn wake_blocked(&mut self, workflow: &str, now: Time) -> Result<u64> {
        let woken = self.sql(&WAKE_BLOCKED)?.execute(params![workflow, now.0])?;
        Ok(woken as u64)
    }
}

fn admitted(mut row: RunRow) -> RunRow {
    if row.status == RunStatus::Queued {
        row.status = RunStatus::Running;
    }
    row
}

/// A limit for SQL, where a negative number would mean none.
pub(crate) fn as_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
