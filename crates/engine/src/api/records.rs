//! Records: small durable things with versions, kept beside the runs.

use std::fmt;

use rival_core::bound::{CALLER_MAX, cut};
use rival_store::{ExpectedVersion, NewRecord, PutResult, Record, StoreError};

use crate::api::engine::Engine;

/// The records of an engine's store: what is written has the time of the engine's clock, and the name of who
/// [asks](Engine::asked_by).
#[derive(Clone)]
pub struct Records {
    engine: Engine,
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Records")
    }
}

impl Engine {
    /// What is kept beside the runs, with versions: documents, connections.
    pub fn records(&self) -> Records {
        Records { engine: self.clone() }
    }
}

impl Records {
    /// Writes the next version, if the newest one is what is expected. It is durable when this returns. An engine that stops
    /// writes none: [`StoreError::Closed`].
    pub async fn put(
        &self,
        kind: &str,
        key: &str,
        expected: ExpectedVersion,
        body: impl Into<String> + Send,
    ) -> Result<PutResult, StoreError> {
        self.write(kind, key, expected, Some(body.into())).await
    }

    /// Writes a version that deletes the record; the versions before it stay. It is for the caller to see that there is one
    /// to delete.
    pub async fn delete(
        &self,
        kind: &str,
        key: &str,
        expected: ExpectedVersion,
    ) -> Result<PutResult, StoreError> {
        self.write(kind, key, expected, None).await
    }

    async fn write(
        &self,
        kind: &str,
        key: &str,
        expected: ExpectedVersion,
        body: Option<String>,
    ) -> Result<PutResult, StoreError> {
        let shared = &self.engine.shared;
        // An engine that stops waits for what was taken before, and takes no more.
        let Some(_busy) = self.engine.take_request() else { return Err(StoreError::Closed) };
        let record = NewRecord {
            kind: kind.to_owned(),
            key: key.to_owned(),
            expected,
            body,
            at: shared.clock.now(),
            by: self.engine.by().map(|by| cut(by, CALLER_MAX)),
        };
        shared.store.get()?.put_record(record).await
    }

    /// The newest version, unless it deletes the record.
    pub async fn get(&self, kind: &str, key: &str) -> Result<Option<Record>, StoreError> {
        let newest = self.newest(kind, key).await?;
        Ok(newest.filter(|record| record.body.is_some()))
    }

    /// The newest version, also if it is one that deletes.
    pub async fn newest(&self, kind: &str, key: &str) -> Result<Option<Record>, StoreError> {
        self.engine.shared.store.get()?.record(kind, key, None).await
    }

    /// This version.
    pub async fn version(&self, kind: &str, key: &str, version: u64) -> Result<Option<Record>, StoreError> {
        self.engine.shared.store.get()?.record(kind, key, Some(version)).await
    }

    /// The newest versions of the records of a kind that are there, by key, after this one. An empty page is the end.
    pub async fn list(
        &self,
        kind: &str,
        after_key: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.engine.shared.store.get()?.records(kind, after_key, limit).await
    }

    /// The versions of a record, the newest first, those that delete included. An empty page is the end.
    pub async fn versions(
        &self,
        kind: &str,
        key: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.engine.shared.store.get()?.record_versions(kind, key, before, limit).await
    }
}
