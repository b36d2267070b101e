//! How much a line of a log matters.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LogLevel))]
pub enum LogLevel {
    /// For the author.
    Debug,
    /// Normal.
    Info,
    /// Odd.
    Warn,
    /// Wrong.
    Error,
}

impl LogLevel {
    /// Every level, the least first.
    pub const ALL: [Self; 4] = [Self::Debug, Self::Info, Self::Warn, Self::Error];

    /// The word used in frames, HTTP and CLI.
    pub fn word(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A word that is no level of a log.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a level; the levels are debug, info, warn, error")]
pub struct UnknownLevel(String);

impl FromStr for LogLevel {
    type Err = UnknownLevel;

    fn from_str(word: &str) -> Result<Self, UnknownLevel> {
        Self::ALL.into_iter().find(|level| level.word() == word).ok_or_else(|| UnknownLevel(word.to_owned()))
    }
}
