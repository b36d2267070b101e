//! Records.

use std::ops::Bound;

use super::state::MemoryState;
use crate::{LOAD_MAX_BYTES, NewRecord, PutResult, Record, StoreError};

impl MemoryState {
    pub(super) fn put_record(&mut self, new: NewRecord) -> Result<PutResult, StoreError> {
        new.check()?;
        let newest = self.record(&new.kind, &new.key, None).map(|it| (it.version, it.body.is_none()));
        if !new.expected.allows(newest) {
            return Ok(PutResult::Conflict { current: newest.map(|(version, _)| version) });
        }
        let version = newest.map_or(0, |(version, _)| version) + 1;
        let keys = self.records.entry(new.kind.clone()).or_default();
        keys.entry(new.key.clone()).or_default().push(new.into_record(version));
        Ok(PutResult::Written(version))
    }

    pub(super) fn record(&self, kind: &str, key: &str, version: Option<u64>) -> Option<Record> {
        let versions = self.records.get(kind)?.get(key)?;
        match version {
            Some(version) => versions.iter().find(|record| record.version == version).cloned(),
            None => versions.last().cloned(),
        }
    }

    pub(super) fn records(&self, kind: &str, after_key: Option<&str>, limit: usize) -> Vec<Record> {
        let Some(keys) = self.records.get(kind) else { return Vec::new() };
        let begin = after_key.map_or(Bound::Unbounded, Bound::Excluded);
        let newest =
            keys.range::<str, _>((begin, Bound::Unbounded)).filter_map(|(_, versions)| versions.last());
        page(newest.filter(|record| record.body.is_some()), limit)
    }

    pub(super) fn record_versions(
        &self,
        kind: &str,
        key: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Vec<Record> {
        let Some(versions) = self.records.get(kind).and_then(|keys| keys.get(key)) else { return Vec::new() };
        let older = |record: &&Record| before.is_none_or(|before| record.version < before);
        page(versions.iter().rev().filter(older), limit)
    }
}

/// As many as fit into a page, and one if there is one.
fn page<'a>(records: impl Iterator<Item = &'a Record>, limit: usize) -> Vec<Record> {
    let mut bytes = 0;
    let fits = |record: &&Record| {
        let is_first = bytes == 0;
        bytes += record.len_bytes();
        is_first || bytes <= LOAD_MAX_BYTES
    };
    records.take(limit).take_while(fits).cloned().collect()
}
