//! What can go wrong in a store.

use rival_core::{RunId, Seq};

use crate::types::Epoch;

/// The world failed: the disk, the file, the connection.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No room left.
    #[error("the disk is full: {0}; free some space and the engine goes on by itself")]
    Full(String),
    /// The file or file system does not take writes.
    #[error("the store is read-only: {0}; make it writable and the engine goes on by itself")]
    ReadOnly(String),
    /// Another process holds the file, or a lock was not given in time.
    #[error("the store is in use: {0}")]
    Locked(String),
    /// Reading or writing failed.
    #[error("reading or writing the store failed: {0}")]
    Io(String),
    /// A sync failed: what is on disk is unknown until the store is opened again.
    #[error(
        "a write could not be made durable: {0}; the store takes no more writes until it is opened again"
    )]
    Poisoned(String),
    /// The store's file was removed or replaced while it was open: what is written now would be gone with it.
    #[error("the store's file is gone: {0}; the store takes no more writes")]
    Gone(String),
    /// The stored data contradicts itself.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// What is stored is whole, and was written by a newer version.
    #[error("{0}; use that version")]
    Newer(String),
    /// The store cannot be opened at all.
    #[error("cannot open the store: {0}")]
    Open(String),
    /// The caller asked for what no store may write, such as a batch without events: a bug of the caller.
    #[error("the store cannot write this: {0}")]
    Invalid(String),
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Full(_) => "store_full",
            Self::ReadOnly(_) => "store_read_only",
            Self::Locked(_) => "store_locked",
            Self::Io(_) => "store_io",
            Self::Poisoned(_) => "store_poisoned",
            Self::Gone(_) => "store_gone",
            Self::Damaged(_) => "store_damaged",
            Self::Newer(_) => "store_newer",
            Self::Open(_) => "store_open",
            Self::Invalid(_) => "store_invalid",
            Self::Closed => "store_closed",
        }
    }

    /// Whether the same write may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            // Nothing of the write is there: the transaction was rolled back.
            Self::Full(_) | Self::ReadOnly(_) | Self::Locked(_) | Self::Io(_) => true,
            // The kernel may have dropped dirty pages: only a fresh look at the disk can tell.
            Self::Poisoned(_) | Self::Damaged(_) | Self::Open(_) | Self::Closed => false,
            // The next write would go to a file that no name leads to.
            Self::Gone(_) => false,
            // The same request stays wrong, and this build stays as old as it is.
            Self::Invalid(_) | Self::Newer(_) => false,
        }
    }
}

/// Why a commit was not written.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The events do not begin right after the last one.
    #[error("run `{run}`: expected event {expected}, got {actual}")]
    Sequence {
        /// The run.
        run: RunId,
        /// Last + 1.
        expected: Seq,
        /// What the commit began with.
        actual: Seq,
    },
    /// Another engine owns the run now, or none does, or it has ended, or a message that the commit acts on
    /// has been acted on already.
    #[error("run `{run}` is no longer owned at epoch {epoch}")]
    Fenced {
        /// The run.
        run: RunId,
        /// The epoch of the refused writer.
        epoch: Epoch,
    },
    /// There is no such run.
    #[error("run `{0}` not found")]
    NotFound(RunId),
    /// The world failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
