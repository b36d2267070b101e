//! Records: small durable things with versions.

use rival_core::Time;
use rival_store::{LOAD_MAX_BYTES, NewRecord, PutResult, Record};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::claim::as_limit;
use crate::fault::{Result, SqliteFault};
use crate::tables::WriterTables;

/// The checksum of a row, as SQL. Its number is not in it: nothing refers to it.
pub(crate) const SUM: &str = "row_sum(kind, key, version, body, at, by)";

const COLUMNS: &str = "kind, key, version, body, at, by, sum = row_sum(kind, key, version, body, at, by)";

impl WriterTables<'_> {
    pub(crate) fn put_record(&mut self, record: &NewRecord) -> Result<PutResult> {
        let newest = self
            .sql(
                "SELECT version, body IS NULL FROM records WHERE kind = ?1 AND key = ?2
                 ORDER BY version DESC LIMIT 1",
            )?
            .query_row([&record.kind, &record.key], |row| {
                Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, bool>(1)?))
            })
            .optional()?;
        if !record.expected.allows(newest) {
            return Ok(PutResult::Conflict { current: newest.map(|(version, _)| version) });
        }
        let version = newest.map_or(0, |(version, _)| version) + 1;
        self.sql(
            "INSERT INTO records (kind, key, version, body, at, by, sum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, row_sum(?1, ?2, ?3, ?4, ?5, ?6))",
        )?
        .execute(params![
            record.kind,
            record.key,
            version.cast_signed(),
            record.body,
            record.at.0,
            record.by
        ])?;
        Ok(PutResult::Written(version))
    }
}

pub(crate) fn one(
    connection: &Connection,
    kind: &str,
    key: &str,
    version: Option<u64>,
) -> Result<Option<Record>> {
    let before = match version {
        Some(version) => as_number(version).saturating_add(1),
        None => i64::MAX,
    };
    let newest = newest_before(connection, kind, key, before)?;
    Ok(newest.filter(|found| version.is_none_or(|version| found.version == version)))
}

fn newest_before(connection: &Connection, kind: &str, key: &str, before: i64) -> Result<Option<Record>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM records WHERE kind = ?1 AND key = ?2 AND version < ?3
         ORDER BY version DESC LIMIT 1"
    ))?;
    statement.query_and_then(params![kind, key, before], decode)?.next().transpose()
}

/// Steps from key to key through the index, so that the number of versions does not matter.
pub(crate) fn page(
    connection: &Connection,
    kind: &str,
    after_key: Option<String>,
    limit: usize,
) -> Result<Vec<Record>> {
    let mut next = connection
        .prepare_cached("SELECT key FROM records WHERE kind = ?1 AND key > ?2 ORDER BY key LIMIT 1")?;
    let mut page = RecordPage::new(limit);
    // No key is empty: all of them come after this one.
    let mut key = after_key.unwrap_or_default();
    while page.has_room() {
        let found = next.query_row([kind, &key], |row| row.get(0)).optional()?;
        let Some(found) = found else { break };
        key = found;
        let newest = newest_before(connection, kind, &key, i64::MAX)?;
        if newest.filter(|record| record.body.is_some()).is_some_and(|record| !page.add(record)) {
            break;
        }
    }
    Ok(page.records)
}

pub(crate) fn versions(
    connection: &Connection,
    kind: &str,
    key: &str,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<Record>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM records WHERE kind = ?1 AND key = ?2 AND version < ?3
         ORDER BY version DESC LIMIT ?4"
    ))?;
    let before = before.map_or(i64::MAX, as_number);
    let mut page = RecordPage::new(limit);
    for record in statement.query_and_then(params![kind, key, before, as_limit(limit)], decode)? {
        if !page.add(record?) {
            break;
        }
    }
    Ok(page.records)
}

/// No version has a number that is larger.
fn as_number(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

/// Records up to a number of them, and of bytes.
struct RecordPage {
    records: Vec<Record>,
    limit: usize,
    bytes: usize,
}

impl RecordPage {
    fn new(limit: usize) -> Self {
        Self { records: Vec::new(), limit, bytes: 0 }
    }

    fn has_room(&self) -> bool {
        self.records.len() < self.limit
    }

    /// Whether it was added. The first one always is.
    fn add(&mut self, record: Record) -> bool {
        self.bytes = self.bytes.saturating_add(record.len_bytes());
        let fits = self.records.is_empty() || self.bytes <= LOAD_MAX_BYTES;
        if fits {
            self.records.push(record);
        }
        fits
    }
}

fn decode(row: &Row<'_>) -> Result<Record> {
    let (kind, key): (String, String) = (row.get(0)?, row.get(1)?);
    let version = row.get::<_, i64>(2)?.cast_unsigned();
    if !row.get::<_, bool>(6)? {
        return Err(SqliteFault::Damaged(format!(
            "version {version} of the record {kind} {key} is not as it was written"
        )));
    }
    Ok(Record { kind, key, version, body: row.get(3)?, at: Time(row.get(4)?), by: row.get(5)? })
}
