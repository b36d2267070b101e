//! Checksums: of rows, and chained over the batches of a run.
//!
//! SipHash-1-3 with the key zero: 64 bits are plenty against accidents, and it costs next to nothing beside what SQLite
//! does with the same bytes. It is no seal against a person who means to deceive: who can write the file can
//! compute it as well.

use std::hash::Hasher;
use std::sync::LazyLock;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};
use siphasher::sip::SipHasher13;

/// Of a body of events. A caller computes it before it asks the writer thread, which all callers wait for.
pub(crate) fn of_body(body: &[u8]) -> u64 {
    SipHasher13::new().hash(body)
}

/// What the chain of a run begins with.
pub(crate) fn chain_begin(no: i64, id: &str) -> i64 {
    let mut sum = RowSum::default();
    sum.add(ValueRef::Integer(no));
    sum.add(ValueRef::Text(id.as_bytes()));
    sum.finish()
}

/// The chain after one more batch.
pub(crate) fn chain_next(before: i64, first: u64, count: u32, body: u64) -> i64 {
    let mut bytes = [0; 28];
    bytes[..8].copy_from_slice(&before.to_le_bytes());
    bytes[8..16].copy_from_slice(&first.to_le_bytes());
    bytes[16..20].copy_from_slice(&count.to_le_bytes());
    bytes[20..].copy_from_slice(&body.to_le_bytes());
    SipHasher13::new().hash(&bytes).cast_signed()
}

/// The digest of all batches after one more.
pub(crate) fn digest_next(before: i64, chain: i64) -> i64 {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&before.to_le_bytes());
    bytes[8..].copy_from_slice(&chain.to_le_bytes());
    SipHasher13::new().hash(&bytes).cast_signed()
}

/// Of the values of a row: their types, lengths and bytes.
pub(crate) struct RowSum(SipHasher13);

impl Default for RowSum {
    fn default() -> Self {
        Self(SipHasher13::new())
    }
}

impl RowSum {
    pub(crate) fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.0.write(&[0]),
            ValueRef::Integer(number) => self.fixed(1, number.to_le_bytes()),
            ValueRef::Real(number) => self.fixed(2, number.to_le_bytes()),
            ValueRef::Text(bytes) => self.sized(3, bytes),
            ValueRef::Blob(bytes) => self.sized(4, bytes),
        }
    }

    fn fixed(&mut self, kind: u8, bytes: [u8; 8]) {
        self.0.write(&[kind]);
        self.0.write(&bytes);
    }

    fn sized(&mut self, kind: u8, bytes: &[u8]) {
        self.fixed(kind, (bytes.len() as u64).to_le_bytes());
        self.0.write(bytes);
    }

    pub(crate) fn finish(&self) -> i64 {
        self.0.finish().cast_signed()
    }
}

/// Of the values of a row, as [`RowSum`]: for rows that are written often, because hashing them at once is faster than one
/// after the other.
pub(crate) fn of_values(values: &[ValueRef<'_>]) -> i64 {
    let mut bytes = Vec::with_capacity(256);
    for value in values {
        match value {
            ValueRef::Null => bytes.push(0),
            ValueRef::Integer(number) => put(&mut bytes, 1, number.to_le_bytes(), &[]),
            ValueRef::Real(number) => put(&mut bytes, 2, number.to_le_bytes(), &[]),
            ValueRef::Text(text) => put(&mut bytes, 3, (text.len() as u64).to_le_bytes(), text),
            ValueRef::Blob(blob) => put(&mut bytes, 4, (blob.len() as u64).to_le_bytes(), blob),
        }
    }
    SipHasher13::new().hash(&bytes).cast_signed()
}

fn put(bytes: &mut Vec<u8>, kind: u8, fixed: [u8; 8], rest: &[u8]) {
    bytes.push(kind);
    bytes.extend_from_slice(&fixed);
    bytes.extend_from_slice(rest);
}

/// Gives a connection the functions that statements use: `row_sum(values …)`, and `join_sums(sums …)`.
///
/// The sum of a run's row has two parts that are joined, so that a statement which changes the row need not read the
/// whole of it. The new sum is made of the old one, so that a row that was damaged before stays one that does not fit.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("row_sum", -1, flags, |values| {
        let mut sum = RowSum::default();
        for index in 0..values.len() {
            sum.add(values.get_raw(index));
        }
        Ok(sum.finish())
    })?;
    connection.create_scalar_function("join_sums", -1, flags, |sums| {
        (0..sums.len()).try_fold(0, |joined, index| Ok(joined ^ sums.get_raw(index).as_i64()?))
    })
}

/// The columns of a run that a commit, a claim or a message may change.
const CHANGING: [&str; 10] =
    ["no", "status", "ended_at", "wake_at", "owner", "epoch", "note", "dropped", "last", "tip"];

/// The sum of a run's row, as SQL.
pub(crate) static OF_RUN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "join_sums(row_sum(no, id, workflow, plan, fingerprint, created_at, parent, source, tags), {})",
        of_changing(&[])
    )
});

/// The sum of a run's row after a statement has given these columns these values, as SQL.
pub(crate) fn after(changes: &[(&str, &str)]) -> String {
    format!("join_sums(sum, {}, {})", of_changing(&[]), of_changing(changes))
}

/// The part of the sum of a run's row that is of these columns, as SQL.
pub(crate) static OF_CHANGING: LazyLock<String> = LazyLock::new(|| of_changing(&[]));

/// The sum of a row after `?9` was joined to it, as SQL, where a call of a function would cost more than the rest of the
/// statement. There is no operator for it; this one cannot overflow.
pub(crate) const JOINED_WITH_9: &str = "(sum | ?9) - (sum & ?9)";

fn of_changing(changes: &[(&str, &str)]) -> String {
    let values = CHANGING.map(|column| {
        changes.iter().find_map(|(changed, value)| (*changed == column).then_some(*value)).unwrap_or(column)
    });
    format!("row_sum({})", values.join(", "))
}

/// An update of runs, with the sum that follows from it.
pub(crate) fn update(hint: &str, changes: &[(&str, &str)], condition: &str) -> String {
    let set: Vec<String> = changes.iter().map(|(column, value)| format!("{column} = {value}")).collect();
    format!("UPDATE runs {hint} SET {}, sum = {} WHERE {condition}", set.join(", "), after(changes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// They are on disk: they are the same in every version and on every machine.
    #[test]
    fn sums_are_what_they_have_always_been() {
        assert_eq!(of_body(b"[]"), 6_339_308_384_851_539_929);
        assert_eq!(chain_begin(1, "r"), 6_965_707_306_497_660_765);
        assert_eq!(chain_next(7, 1, 2, 3), -8_017_864_449_530_482_495);
        assert_eq!(digest_next(7, 8), -5_811_856_172_935_962_968);
    }

    #[test]
    fn values_that_look_alike_have_other_sums() {
        let sum = |values: &[ValueRef<'_>]| {
            let mut sum = RowSum::default();
            values.iter().for_each(|value| sum.add(*value));
            sum.finish()
        };
        let all = [
            sum(&[ValueRef::Null]),
            sum(&[ValueRef::Integer(0)]),
            sum(&[ValueRef::Text(b"")]),
            sum(&[ValueRef::Blob(b"")]),
            sum(&[ValueRef::Text(b"ab"), ValueRef::Text(b"c")]),
            sum(&[ValueRef::Text(b"a"), ValueRef::Text(b"bc")]),
        ];
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    #[test]
    fn a_row_has_one_sum_however_it_is_made() {
        let values = [
            ValueRef::Integer(-7),
            ValueRef::Null,
            ValueRef::Text(b"some words"),
            ValueRef::Real(0.5),
            ValueRef::Blob(b"bytes that are longer than a word of the hash"),
        ];
        let mut sum = RowSum::default();
        values.iter().for_each(|value| sum.add(*value));
        assert_eq!(of_values(&values), sum.finish());
    }

    #[test]
    fn sums_are_joined_in_sql_as_elsewhere() {
        let connection = Connection::open_in_memory().unwrap();
        let join = JOINED_WITH_9.replace("sum", "?1").replace("?9", "?2");
        let numbers = [0, 1, -1, i64::MIN, i64::MAX, 0x0123_4567_89ab_cdef, -0x0123_4567_89ab_cdef];
        for (one, other) in numbers.iter().flat_map(|one| numbers.map(|other| (*one, other))) {
            let joined = connection.query_row(&format!("SELECT {join}"), [one, other], |row| row.get(0));
            assert_eq!(joined, Ok(one ^ other), "{one} and {other}");
        }
    }
}
