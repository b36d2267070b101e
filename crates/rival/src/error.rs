//! What is wrong with a workflow, all of it at once, each with the line it comes from.

use std::fmt;
use std::panic::Location;

/// One thing that is wrong with a workflow.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError {
    message: String,
    location: &'static Location<'static>,
}

impl BuildError {
    pub(crate) fn new(message: impl Into<String>, location: &'static Location<'static>) -> Self {
        Self { message: message.into(), location }
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where the node was added to the workflow.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}:{})", self.message, self.location.file(), self.location.line())
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}

/// Everything that is wrong with a workflow.
///
/// Its `Debug` form is readable as well, because that is what a `main` that returns it prints.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildErrors {
    pub(crate) workflow: String,
    pub(crate) errors: Vec<BuildError>,
}

impl BuildErrors {
    /// Each of them, in the order of the workflow.
    pub fn iter(&self) -> impl Iterator<Item = &BuildError> {
        self.errors.iter()
    }
}

impl fmt::Display for BuildErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "workflow `{}` cannot be built:", self.workflow)?;
        self.errors.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

impl fmt::Debug for BuildErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildErrors {}
