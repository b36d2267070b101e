//! What a store knows of itself: its id, how many commits it has taken, and the numbers that it has given.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::fault::{Result, SqliteFault};
use crate::sum::{RowSum, digest_next};

/// Changes the one row of the table. Not written where the batches of a transaction tell the same by themselves, which
/// is so for most.
pub(crate) const UPDATE: &str = "UPDATE meta SET store = ?1, commits = ?2, digest = ?3, last_run = ?4,
     last_message = ?5, last_engine = ?6, sum = ?7";

/// The batches after the row, which have the numbers that follow on its own. Where one is missing, the rest was written
/// after a later row, which is gone.
const TAIL: &str = "SELECT no, run, chain FROM events WHERE no > ?1 ORDER BY no";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoreMeta {
    pub(crate) store: String,
    /// Counts batches, each of which has its number, and transactions that wrote something and no batch.
    pub(crate) commits: i64,
    /// Over all batches up to there.
    pub(crate) digest: i64,
    pub(crate) last_run: i64,
    pub(crate) last_message: i64,
    pub(crate) last_engine: i64,
}

impl StoreMeta {
    /// Reads how far the store has come, or says that the row is not as it was written.
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        let mut meta = Self::read_row(connection)?;
        meta.follow(connection, i64::MAX)?;
        Ok(meta)
    }

    /// What was known after so many commits, if that can still be told.
    pub(crate) fn read_at(connection: &Connection, commits: i64) -> Result<Option<Self>> {
        let mut meta = Self::read_row(connection)?;
        meta.follow(connection, commits)?;
        Ok(Some(meta).filter(|meta| meta.commits == commits))
    }

    fn read_row(connection: &Connection) -> Result<Self> {
        let (meta, sum) = Self::read_unchecked(connection)?;
        if meta.sum() == sum { Ok(meta) } else { Err(damaged()) }
    }

    /// Adds the batches that came after the row, up to a number.
    fn follow(&mut self, connection: &Connection, most: i64) -> Result<()> {
        let mut tail = connection.prepare_cached(TAIL)?;
        let mut rows = tail.query([self.commits])?;
        while self.commits < most
            && let Some(row) = rows.next()?
            && row.get::<_, i64>(0)? == self.commits + 1
        {
            self.add(row.get(1)?, row.get(2)?);
        }
        Ok(())
    }

    /// Takes note of one more batch, of the run with this number.
    pub(crate) fn add(&mut self, run: i64, chain: i64) {
        self.commits += 1;
        self.last_run = self.last_run.max(run);
        self.digest = digest_next(self.digest, chain);
    }

    fn read_unchecked(connection: &Connection) -> Result<(Self, i64)> {
        let columns = "SELECT store, commits, digest, last_run, last_message, last_engine, sum FROM meta";
        let decode = |row: &Row<'_>| {
            let meta = Self {
                store: row.get(0)?,
                commits: row.get(1)?,
                digest: row.get(2)?,
                last_run: row.get(3)?,
                last_message: row.get(4)?,
                last_engine: row.get(5)?,
            };
            Ok((meta, row.get(6)?))
        };
        connection.query_row(columns, [], decode).optional()?.ok_or_else(damaged)
    }

    /// Gives a store its id.
    pub(crate) fn name(connection: &Connection, store: &str) -> Result<()> {
        let (meta, _) = Self::read_unchecked(connection)?;
        let meta = Self { store: store.to_owned(), ..meta };
        connection.execute(UPDATE, meta.params())?;
        Ok(())
    }

    fn sum(&self) -> i64 {
        let mut sum = RowSum::default();
        sum.add(ValueRef::Text(self.store.as_bytes()));
        let numbers = [self.commits, self.digest, self.last_run, self.last_message, self.last_engine];
        numbers.into_iter().for_each(|number| sum.add(ValueRef::Integer(number)));
        sum.finish()
    }

    /// The values of [`UPDATE`].
    pub(crate) fn params(&self) -> impl rusqlite::Params + '_ {
        let Self { store, commits, digest, last_run, last_message, last_engine } = self;
        (store, *commits, *digest, *last_run, *last_message, *last_engine, self.sum())
    }
}

fn damaged() -> SqliteFault {
    SqliteFault::Damaged("what the store knows of itself (table `meta`) is not as it was written".to_owned())
}
