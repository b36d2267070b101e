//! What can go wrong with files and hosts as a whole.

use std::path::PathBuf;

use rival_engine::{RegisterError, RunError};

/// Why files could not be registered at all. What is wrong with single files is in [`crate::Loaded::problems`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptsError {
    /// No such file or folder.
    #[error("{} cannot be read: {error}", path.display())]
    Path {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// No script host could be started.
    #[error("no script host could be started: {0}")]
    Host(String),
    /// The files cannot be watched.
    #[error("the files cannot be watched for changes: {0}")]
    Watch(#[from] notify::Error),
    /// The store did not take a plan.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// The engine refused something.
    #[error(transparent)]
    Run(#[from] RunError),
}
