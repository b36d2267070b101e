//! What a store knows of itself: its id, how many commits it has taken, and the numbers that it has given.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::fault::{Fault, Result};
use crate::sum::RowSum;

/// Changes the one row of the table; written with every transaction that writes anything.
pub(crate) const UPDATE: &str = "UPDATE meta SET store = ?1, commits = ?2, digest = ?3, last_run = ?4,
     last_message = ?5, last_engine = ?6, sum = ?7";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) store: String,
    pub(crate) commits: i64,
    pub(crate) digest: i64,
    pub(crate) last_run: i64,
    pub(crate) last_message: i64,
    pub(crate) last_engine: i64,
}

impl Meta {
    /// Reads it, or says that it is not as it was written.
    pub(crate) fn read(connection: &Connection) -> Result<Self> {
        let (meta, sum) = Self::read_unchecked(connection)?;
        if meta.sum() == sum { Ok(meta) } else { Err(damaged()) }
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

fn damaged() -> Fault {
    Fault::Damaged("what the store knows of itself (table `meta`) is not as it was written".to_owned())
}
