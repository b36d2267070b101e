//! Documents of a running engine: workflows as JSON that a client keeps in the store, or that lie as files in a folder.
//!
//! Each is checked as a whole before anything is kept (`rival_document`), and registered as a workflow like any other.
//! [`Documents`] does both for records of the store, with versions, and for files `*.workflow.json`.
//!
//! What a document refers to may change later: a tool has another schema, a workflow that it triggers takes another input. It
//! is checked again then. One that no longer fits goes on as it was saved, is *stale*, and its problems are among those of the engine.

mod catalog;
mod compiled;
mod discover;
mod documents;
mod error;
mod files;
mod known;
mod recheck;
mod view;

pub use catalog::{NoTools, Tools};
pub use documents::Documents;
pub use error::{DocumentError, VersionCondition};
pub use files::{FileProblem, LoadedFiles, is_document_file};
pub use rival_document::{DocumentCheck, DocumentProblem, ProblemCode, SourcePlace, document_schema};
pub use view::{DocumentSummary, DocumentVersion, DocumentView, SavedDocument};

/// The kind of the records that documents are kept as.
pub const DOCUMENT_KIND: &str = "document";
