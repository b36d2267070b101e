//! The tables, and how older files are brought up to date.

use std::collections::HashMap;
use std::path::Path;

use rival_store::StoreError;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::fault::{Result, SqliteFault};
use crate::meta::StoreMeta;
use crate::sum;

/// Marks a file as ours, at a fixed place in its header: "RIVL".
pub(crate) const APPLICATION_ID: i32 = 0x5249_564C;

/// Each one is applied once, in order, in its own transaction; `user_version` counts them.
/// A migration that has been released is never edited: write another one.
const MIGRATIONS: &[Migration] = &[
    Migration { sql: include_str!("schema/0001.sql"), then: |_| Ok(()) },
    Migration { sql: include_str!("schema/0002.sql"), then: fill_sums },
    Migration { sql: include_str!("schema/0003.sql"), then: |_| Ok(()) },
    Migration { sql: include_str!("schema/0004.sql"), then: |_| Ok(()) },
];

/// What this program writes.
pub(crate) const NEWEST: usize = MIGRATIONS.len();

/// From this version on, a store has an id, sums, and a mark beside it.
pub(crate) const MARKED: usize = 2;

struct Migration {
    sql: &'static str,
    /// What SQL alone cannot do.
    then: fn(&Transaction<'_>) -> Result<()>,
}

/// How many migrations a file has had. One from a newer version is refused, because an older program cannot know what
/// its rows mean.
pub(crate) fn version(connection: &Connection, path: &Path) -> std::result::Result<usize, StoreError> {
    let failed = |error| SqliteFault::from(error).to_store_error(path);
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(failed)?;
    // No version has a negative number; it is refused like a version that is too new.
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    if done > MIGRATIONS.len() {
        return Err(StoreError::Open(format!(
            "{} was written by a newer version (schema {done}, this one knows {}); upgrade this program",
            path.display(),
            MIGRATIONS.len()
        )));
    }
    Ok(done)
}

/// Applies what is missing. A store that becomes one with an id is given this one.
pub(crate) fn migrate(
    connection: &mut Connection,
    path: &Path,
    done: usize,
    store: &str,
) -> std::result::Result<(), StoreError> {
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(done) {
        let applied = apply(connection, index + 1, migration, store);
        applied.map_err(|fault| match fault.to_store_error(path) {
            StoreError::Io(text) => StoreError::Damaged(format!("{text}; it cannot be brought up to date")),
            other => other,
        })?;
    }
    Ok(())
}

fn apply(connection: &mut Connection, number: usize, migration: &Migration, store: &str) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(migration.sql)?;
    (migration.then)(&transaction)?;
    if number == MARKED {
        StoreMeta::name(&transaction, store)?;
    }
    transaction.execute_batch(&format!("PRAGMA user_version = {number}"))?;
    transaction.commit()?;
    Ok(())
}

/// Chains the batches that are there, and sums the rows of runs.
fn fill_sums(transaction: &Transaction<'_>) -> Result<()> {
    let mut tips = begin_chains(transaction)?;
    chain_batches(transaction, &mut tips)?;
    let mut set = transaction.prepare("UPDATE runs SET last = ?2, tip = ?3 WHERE no = ?1")?;
    for (run, ChainTip { last, chain }) in tips {
        set.execute([run, last, chain])?;
    }
    drop(set);
    transaction.execute_batch(&format!(
        "DROP TABLE events_1;
         CREATE UNIQUE INDEX events_by_run ON events (run, first);
         UPDATE runs SET sum = {};",
        *sum::OF_RUN
    ))?;
    Ok(())
}

/// Where the chain of a run has come to: its last event so far, and its chain.
struct ChainTip {
    last: i64,
    chain: i64,
}

/// In the order of writing, which is that of the events of each run.
fn chain_batches(transaction: &Transaction<'_>, tips: &mut HashMap<i64, ChainTip>) -> Result<()> {
    let mut batches = transaction.prepare("SELECT no, run, first, count, body FROM events_1 ORDER BY no")?;
    let mut insert = transaction
        .prepare("INSERT INTO events (no, run, first, count, chain, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    let mut rows = batches.query([])?;
    while let Some(row) = rows.next()? {
        let (no, run, first): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let count: u32 = row.get(3)?;
        let body = row.get_ref(4)?.as_blob().map_err(rusqlite::Error::from)?;
        let Some(tip) = tips.get_mut(&run) else {
            return Err(SqliteFault::Damaged(format!("batch {no} belongs to no run")));
        };
        tip.chain = sum::chain_next(tip.chain, first.cast_unsigned(), count, sum::of_body(body));
        tip.last = first + i64::from(count) - 1;
        insert.execute(params![no, run, first, count, tip.chain, body])?;
    }
    Ok(())
}

fn begin_chains(transaction: &Transaction<'_>) -> Result<HashMap<i64, ChainTip>> {
    let mut runs = transaction.prepare("SELECT no, id FROM runs")?;
    let begun = runs.query_map([], |row| {
        let no = row.get(0)?;
        Ok((no, ChainTip { last: 0, chain: sum::chain_begin(no, &row.get::<_, String>(1)?) }))
    })?;
    Ok(begun.collect::<rusqlite::Result<_>>()?)
}

/// What a store of this version consists of, by type and name: the text of each table and index.
pub(crate) fn expected() -> Result<Vec<(String, String, Option<String>)>> {
    let mut fresh = Connection::open_in_memory()?;
    sum::register(&fresh)?;
    for (index, migration) in MIGRATIONS.iter().enumerate() {
        apply(&mut fresh, index + 1, migration, "")?;
    }
    found(&fresh)
}

/// What a store does consist of.
pub(crate) fn found(connection: &Connection) -> Result<Vec<(String, String, Option<String>)>> {
    let mut statement =
        connection.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")?;
    let parts = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(parts.collect::<rusqlite::Result<_>>()?)
}
