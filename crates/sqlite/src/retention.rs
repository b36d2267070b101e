//! Retention.

use rival_core::Time;
use rusqlite::params;

use crate::claim::as_limit;
use crate::fault::Result;
use crate::tables::WriterTables;

/// What belongs to a run, by its number; the run itself comes last.
const OWNED_ROWS: [&str; 6] = [
    "DELETE FROM events WHERE run = ?1",
    "DELETE FROM snapshots WHERE run = ?1",
    "DELETE FROM messages WHERE run = ?1",
    "DELETE FROM logs WHERE run = ?1",
    "DELETE FROM tags WHERE tag IN (SELECT value FROM runs, json_each(tags) WHERE no = ?1) AND run = ?1",
    "DELETE FROM runs WHERE no = ?1",
];

impl WriterTables<'_> {
    pub(crate) fn purge(&mut self, ended_before: Time, limit: usize) -> Result<u64> {
        let runs = self.expired(ended_before, limit)?;
        if runs.is_empty() {
            return Ok(0);
        }
        for run in &runs {
            for sql in OWNED_ROWS {
                self.sql(sql)?.execute([run])?;
            }
        }
        // Their batches may be some of those that tell how far the store has come.
        self.tell_again();
        Ok(runs.len() as u64)
    }

    fn expired(&self, ended_before: Time, limit: usize) -> Result<Vec<i64>> {
        let mut statement = self.sql(
            "SELECT no FROM runs WHERE ended_at < ?1 AND NOT EXISTS
                 (SELECT 1 FROM runs child WHERE child.parent = runs.id AND child.ended_at IS NULL)
             AND (runs.parent IS NULL OR NOT EXISTS
                 (WITH RECURSIVE ancestor(no, parent, ended_at) AS (
                      SELECT no, parent, ended_at FROM runs it WHERE it.id = runs.parent AND it.no < runs.no
                      UNION ALL
                      SELECT it.no, it.parent, it.ended_at FROM ancestor
                      JOIN runs it ON it.id = ancestor.parent AND it.no < ancestor.no)
                  SELECT 1 FROM ancestor WHERE ended_at IS NULL))
             AND NOT EXISTS
                 (SELECT 1 FROM runs it INDEXED BY sqlite_autoindex_runs_1
                  WHERE it.id >= runs.id || '~triggers' AND it.id < runs.id || '~triggers' || CAST(x'FF' AS TEXT)
                      AND it.ended_at IS NULL)
             ORDER BY ended_at, no LIMIT ?2",
        )?;
        let rows = statement.query_map(params![ended_before.0, as_limit(limit)], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}
