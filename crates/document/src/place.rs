//! Places in the text of a document.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in a text, both numbers from 1; columns in UTF-16 units, as editors count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourcePlace {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl SourcePlace {
    /// The beginning of a text.
    pub const START: SourcePlace = SourcePlace { line: 1, column: 1 };

    /// The place behind a piece of the same line.
    pub(crate) fn after(self, piece: &str) -> Self {
        SourcePlace { line: self.line, column: self.column.saturating_add(utf16(piece)) }
    }
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// How many UTF-16 units a text has.
fn utf16(text: &str) -> u32 {
    let units = text.chars().map(char::len_utf16).sum::<usize>();
    u32::try_from(units).unwrap_or(u32::MAX)
}
