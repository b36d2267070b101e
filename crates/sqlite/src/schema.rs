//! The tables, and how older files are brought up to date.

use std::path::Path;

use rival_store::StoreError;
use rusqlite::{Connection, TransactionBehavior};

use crate::fault::Result;

/// Marks a file as ours, at a fixed place in its header: "RIVL".
pub(crate) const APPLICATION_ID: i32 = 0x5249_564C;

/// Each one is applied once, in order, in its own transaction; `user_version` counts them.
/// A migration that has been released is never edited: write another one.
const MIGRATIONS: &[&str] = &[include_str!("schema/0001.sql")];

/// Applies what is missing. A file from a newer version is refused, because an older program cannot know
/// what its rows mean.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> std::result::Result<(), StoreError> {
    let done = version(connection).map_err(|fault| fault.to_store_error(path))?;
    if done > MIGRATIONS.len() {
        return Err(StoreError::Open(format!(
            "{} was written by a newer version (schema {done}, this one knows {}); upgrade this program",
            path.display(),
            MIGRATIONS.len()
        )));
    }
    for (index, sql) in MIGRATIONS.iter().enumerate().skip(done) {
        apply(connection, index + 1, sql).map_err(|fault| fault.to_store_error(path))?;
    }
    Ok(())
}

fn version(connection: &Connection) -> Result<usize> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    // A negative number is nobody's version; as a huge one it is refused.
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

fn apply(connection: &mut Connection, number: usize, sql: &str) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(sql)?;
    transaction.execute_batch(&format!("PRAGMA user_version = {number}"))?;
    transaction.commit()?;
    Ok(())
}
