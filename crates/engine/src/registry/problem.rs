//! Files of workflows that could not be loaded, shown beside the list of workflows.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rival_core::view::SourceProblem;

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
