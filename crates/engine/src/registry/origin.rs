//! What workflows are written in, and where.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a workflow is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkflowKind {
    /// Rust, in this program.
    #[default]
    Rust,
    /// TypeScript, in a file.
    Typescript,
    /// JSON: a document, in the store or in a file.
    Document,
}

impl WorkflowKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Typescript => "typescript",
            Self::Document => "document",
        }
    }
}

/// Where a workflow comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowOrigin {
    /// What it is written in.
    pub kind: WorkflowKind,
    /// The file that defines it, if one does.
    pub file: Option<String>,
}

impl fmt::Display for WorkflowOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.kind) {
            (Some(file), _) => f.write_str(file),
            (None, WorkflowKind::Rust) => f.write_str("this program"),
            (None, WorkflowKind::Typescript) => f.write_str("a script"),
            (None, WorkflowKind::Document) => f.write_str("a document in the store"),
        }
    }
}
