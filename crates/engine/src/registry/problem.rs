//! Files of workflows that could not be loaded, shown beside the list of workflows.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// Something wrong in a file that workflows come from. Shown as `file:line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourceProblem {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl fmt::Display for SourceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

/// What is wrong now, by who found it.
#[derive(Default)]
pub(crate) struct SourceProblems(Mutex<BTreeMap<String, Vec<SourceProblem>>>);

impl SourceProblems {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<SourceProblem>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, source: String, problems: Vec<SourceProblem>) {
        self.lock().insert(source, problems);
    }

    pub(crate) fn all(&self) -> Vec<SourceProblem> {
        self.lock().values().flatten().cloned().collect()
    }
}
