//! Whether the file that is open is still the one that its name leads to.

use std::path::PathBuf;

use rival_store::StoreError;

use crate::lock::{self, Identity};
use crate::mark::beside;

/// A store's file and its log, by name and by identity.
#[derive(Debug)]
pub(crate) struct Place {
    database: PathBuf,
    log: PathBuf,
    file: Identity,
    /// That of the log, and how many bytes it has at least: known from the first commit on. The log stays while a store
    /// is open, and does not shrink.
    logged: Option<(Identity, u64)>,
}

impl Place {
    pub(crate) fn new(database: PathBuf, file: Identity) -> Self {
        let log = beside(&database, "-wal");
        Self { database, log, file, logged: None }
    }

    /// Fails if the database file was removed or replaced.
    pub(crate) fn look(&self) -> Result<(), StoreError> {
        let there = self.database.metadata().ok().map(|meta| lock::identity(&self.database, &meta));
        match there {
            Some(there) if there == self.file => Ok(()),
            Some(_) => Err(self.gone("another file has its name now")),
            None => Err(self.gone("it was removed or renamed while it was open")),
        }
    }

    /// Fails if the log was removed, replaced or cut. Before a commit: what SQLite writes at its end would hide a cut.
    pub(crate) fn look_at_log(&self) -> Result<(), StoreError> {
        let Some((identity, bytes)) = self.logged else { return Ok(()) };
        match self.log.metadata() {
            Ok(meta) if lock::identity(&self.log, &meta) != identity => {
                Err(self.gone("another file has the name of its log (-wal) now"))
            }
            Ok(meta) if meta.len() < bytes => Err(self.gone("its log (-wal) was cut while it was open")),
            Ok(_) => Ok(()),
            Err(_) => Err(self.gone("its log (-wal) was removed while it was open")),
        }
    }

    /// The same for both files, after a commit that made the log at least so long.
    pub(crate) fn look_after_commit(&mut self, bytes: u64) -> Result<(), StoreError> {
        self.look()?;
        self.look_at_log()?;
        match self.logged.as_mut() {
            // The log starts over when all of it was moved, and keeps its length then.
            Some((_, known)) => *known = bytes.max(*known),
            None => {
                let meta = self.log.metadata().map_err(|_| self.gone("its log (-wal) is missing"))?;
                self.logged = Some((lock::identity(&self.log, &meta), bytes));
            }
        }
        Ok(())
    }

    fn gone(&self, what: &str) -> StoreError {
        StoreError::Gone(format!("{}: {what}", self.database.display()))
    }
}
