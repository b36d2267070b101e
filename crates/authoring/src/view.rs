//! Documents as they are shown.

use std::collections::BTreeMap;

use rival_core::Time;
use rival_document::{DocumentProblem, StepSchemas};

/// A document that was saved.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedDocument {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u64,
    /// Whether there was none before.
    pub is_new: bool,
    /// What could not be proven or is probably not meant.
    pub warnings: Vec<DocumentProblem>,
    /// The schemas of each step.
    pub schemas: BTreeMap<String, StepSchemas>,
    /// The file that new runs of this name come from instead.
    pub shadowed_by: Option<String>,
}

/// A document in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentSummary {
    /// Its name.
    pub name: String,
    /// Its newest version.
    pub version: u64,
    /// What it is for.
    pub description: Option<String>,
    /// When it was saved.
    pub updated_at: Time,
    /// Who saved it.
    pub updated_by: Option<String>,
    /// How many errors it has now.
    pub problems: usize,
    /// Whether it no longer fits what it refers to; its runs go on as it was saved.
    pub is_stale: bool,
    /// What new runs of this name come from instead: a file, or a workflow of the program.
    pub shadowed_by: Option<String>,
}

/// A version of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentView {
    /// Its name.
    pub name: String,
    /// The version.
    pub version: u64,
    /// Whether it is the newest.
    pub is_newest: bool,
    /// As it was written.
    pub text: String,
    /// The schemas of each step when it was saved.
    pub schemas: BTreeMap<String, StepSchemas>,
    /// What could not be proven when it was saved, or is probably not meant.
    pub warnings: Vec<DocumentProblem>,
    /// What is wrong with it now; of the newest version only.
    pub errors: Vec<DocumentProblem>,
    /// When it was saved.
    pub updated_at: Time,
    /// Who saved it.
    pub updated_by: Option<String>,
    /// What new runs of this name come from instead.
    pub shadowed_by: Option<String>,
}

/// A version of a document in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentVersion {
    /// The version.
    pub version: u64,
    /// When it was saved, or the document was deleted.
    pub at: Time,
    /// Who did it.
    pub by: Option<String>,
    /// Whether the document was deleted then.
    pub is_deleted: bool,
}
