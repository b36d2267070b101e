//! What is wrong with a file.

use std::path::{Path, PathBuf};

use crate::place::TextPosition;

/// Something wrong in a file. Shown as `file:line:column: message`, with the advice on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, thiserror::Error)]
#[error("{}:{line}:{column}: {message}{}", file.display(), indented(advice.as_deref()))]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// From 1, in UTF-16 units, as editors count.
    pub column: u32,
    /// One sentence.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Problem {
    pub(crate) fn new(file: &Path, place: TextPosition, message: impl Into<String>) -> Self {
        Problem {
            file: file.to_owned(),
            line: place.line,
            column: place.column,
            message: message.into(),
            advice: None,
        }
    }

    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

fn indented(advice: Option<&str>) -> String {
    advice.map(|advice| format!("\n    {advice}")).unwrap_or_default()
}
