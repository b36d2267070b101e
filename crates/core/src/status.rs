//! The words for where runs and nodes stand.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RunStatus {
    /// Started, and waiting for room.
    Queued,
    /// A function is being called.
    Running,
    /// Asleep, or waiting to retry, for a signal or for a child.
    Waiting,
    /// Held by a request to pause.
    Paused,
    /// Cannot go on without help.
    Blocked,
    /// Cancel was asked for; calls are settling.
    Cancelling,
    /// Completed steps are being undone.
    Compensating,
    /// Done.
    Completed,
    /// Failed.
    Failed,
    /// Cancelled.
    Cancelled,
}

impl RunStatus {
    /// Every status, in the order above.
    pub const ALL: [Self; 10] = [
        Self::Queued,
        Self::Running,
        Self::Waiting,
        Self::Paused,
        Self::Blocked,
        Self::Cancelling,
        Self::Compensating,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The statuses of runs that have not ended.
    pub fn unfinished() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|status| !status.is_terminal())
    }

    /// Whether a run with this status never changes again.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// The word used in SQL, HTTP, CLI and UI.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Blocked => "blocked",
            Self::Cancelling => "cancelling",
            Self::Compensating => "compensating",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A word that is no run status.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is not a run status; the statuses are queued, running, waiting, paused, blocked, cancelling, compensating, completed, failed, cancelled"
)]
pub struct UnknownStatus(String);

impl FromStr for RunStatus {
    type Err = UnknownStatus;

    fn from_str(word: &str) -> Result<Self, UnknownStatus> {
        Self::ALL
            .into_iter()
            .find(|status| status.word() == word)
            .ok_or_else(|| UnknownStatus(word.to_owned()))
    }
}

/// Where a node stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NodeStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Its function, or a node inside it, is at work.
    Running,
    /// Between two attempts.
    WaitingRetry,
    /// Asleep, or waiting for a signal or a child.
    Waiting,
    /// Cannot go on without help.
    Blocked,
    /// Done.
    Completed,
    /// Failed.
    Failed,
    /// Asked to be skipped.
    Skipped,
    /// Stopped by a cancel.
    Cancelled,
}

impl NodeStatus {
    /// Whether a node with this status has ended.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Skipped | Self::Cancelled)
    }

    /// The word used in HTTP, CLI and UI.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::WaitingRetry => "waiting_retry",
            Self::Waiting => "waiting",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for NodeStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// What became of what a node did, in a run that takes it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum UndoStatus {
    /// It is undone.
    Undone,
    /// It is being undone.
    Undoing,
    /// It could not be undone.
    NotUndone,
}

impl UndoStatus {
    /// The word used in HTTP, CLI and UI.
    pub fn word(self) -> &'static str {
        match self {
            Self::Undone => "undone",
            Self::Undoing => "undoing",
            Self::NotUndone => "not_undone",
        }
    }
}
