//! Why a document is not taken.

use rival_document::DocumentCheck;
use rival_engine::RegisterError;
use rival_engine::store::StoreError;

/// Which version of a document must be there for it to be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum VersionCondition {
    /// Whatever is there.
    #[default]
    Any,
    /// None: it is to be made.
    Absent,
    /// Any, but it must be there.
    Present,
    /// One of these must be the newest.
    OneOf(Vec<u64>),
}

/// A document cannot be saved, removed or shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// It is wrong.
    #[error("{}", wrong(.0))]
    Invalid(Box<DocumentCheck>),
    /// There is one of this name.
    #[error("a document called `{0}` exists: change it, or give this one another name")]
    Exists(String),
    /// A workflow that is no stored document has the name.
    #[error("a workflow called `{name}` comes from {from}: give the document another name")]
    NameTaken {
        /// The name.
        name: String,
        /// What it comes from.
        from: String,
    },
    /// There is no such document.
    #[error("there is no document called `{0}`")]
    NotFound(String),
    /// There is no such version of it.
    #[error("document `{name}` has no version {version}")]
    NoSuchVersion {
        /// The document.
        name: String,
        /// What was asked for.
        version: u64,
    },
    /// Another version than expected is there.
    #[error(
        "document `{name}` is not what the change was made for: {}; read it again, and repeat the change",
        newest(*.current)
    )]
    VersionConflict {
        /// The document.
        name: String,
        /// The newest version, if it is there.
        current: Option<u64>,
    },
    /// The engine does not take what was made of it.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// The world failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is kept cannot be read: another version of this program wrote it.
    #[error("document `{name}`, version {version}, cannot be read: {why}")]
    Unreadable {
        /// The document.
        name: String,
        /// The version.
        version: u64,
        /// Why.
        why: String,
    },
}

impl DocumentError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid_document",
            Self::Exists(_) => "document_exists",
            Self::NameTaken { .. } => "duplicate_workflow",
            Self::NotFound(_) | Self::NoSuchVersion { .. } => "document_not_found",
            Self::VersionConflict { .. } => "version_conflict",
            Self::Register(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Unreadable { .. } => "store_damaged",
        }
    }
}

fn newest(current: Option<u64>) -> String {
    match current {
        Some(version) => format!("version {version} is the newest"),
        None => "it is not there".to_owned(),
    }
}

/// The first error, and how many more there are.
fn wrong(check: &DocumentCheck) -> String {
    let Some(first) = check.errors.first() else { return "the document is not valid".to_owned() };
    match check.errors.len() + check.left_out - 1 {
        0 => format!("the document is not valid: {first}"),
        1 => format!("the document is not valid: {first}; and one more problem"),
        more => format!("the document is not valid: {first}; and {more} more problems"),
    }
}
