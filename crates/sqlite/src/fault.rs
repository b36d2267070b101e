//! What SQLite and the file system report, in the words of the contract.

use std::io;
use std::path::Path;

use rival_store::StoreError;
use rusqlite::ErrorCode;
use rusqlite::ffi;

/// Why a job or a read did not come to an end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SqliteFault {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Damaged(String),
}

pub(crate) type Result<T> = std::result::Result<T, SqliteFault>;

impl SqliteFault {
    /// Whether the job is to blame rather than the world: then only that job fails, not its group.
    pub(crate) fn is_of_one_job(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Sqlite(error) => match error.sqlite_error_code() {
                Some(code) => matches!(
                    code,
                    ErrorCode::TooBig | ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch
                ),
                // Not from SQLite: a value that does not convert.
                None => true,
            },
        }
    }

    /// Whether a sync failed: the kernel may have dropped what it did not write, so trying again proves nothing.
    pub(crate) fn is_failed_sync(&self) -> bool {
        let Self::Sqlite(rusqlite::Error::SqliteFailure(error, _)) = self else { return false };
        matches!(error.extended_code, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC)
    }

    pub(crate) fn to_store_error(&self, path: &Path) -> StoreError {
        let text = format!("{}: {self}", path.display());
        if self.is_failed_sync() {
            return StoreError::Poisoned(text);
        }
        match self {
            Self::Damaged(_) => StoreError::Damaged(text),
            Self::Sqlite(error) => match error.sqlite_error_code() {
                Some(code) => by_code(code, text),
                // A stored value has a type that nothing here writes.
                None => StoreError::Damaged(text),
            },
        }
    }
}

fn by_code(code: ErrorCode, text: String) -> StoreError {
    match code {
        ErrorCode::DiskFull => StoreError::Full(text),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly(text),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            StoreError::Locked(format!("{text}; another program holds the file, close it and try again"))
        }
        ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase
        | ErrorCode::TypeMismatch
        | ErrorCode::ConstraintViolation => StoreError::Damaged(text),
        ErrorCode::CannotOpen => StoreError::Open(text),
        _ => StoreError::Io(text),
    }
}

/// Whether a file, or what it is on, does not let itself be written.
pub(crate) fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// What a failed call of the file system means when a store is opened.
pub(crate) fn from_io(error: &io::Error, path: &Path) -> StoreError {
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        _ if is_read_only(error) => StoreError::ReadOnly(text),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full(text),
        _ => StoreError::Open(text),
    }
}
