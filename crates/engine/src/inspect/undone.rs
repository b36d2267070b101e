//! What of a run's nodes was taken back.

use std::collections::BTreeMap;

use rival_core::{Path, RunState, RunStatus, UndoStatus};

/// The nodes that a run has undone, or tried to.
pub(crate) struct UndoneNodes(BTreeMap<Path, UndoStatus>);

impl UndoneNodes {
    pub(crate) fn find(state: &RunState) -> Self {
        let mut found = Self(BTreeMap::new());
        for (path, node) in &state.nodes {
            if state.undo.is_under_way_at(path) {
                found.note(path, UndoStatus::Undoing, state);
            } else if node.undone {
                found.note(path, UndoStatus::Undone, state);
            }
        }
        let left = state.end.iter().flat_map(|end| &end.not_undone);
        for left in left.chain(state.undo.failed()) {
            found.note(&left.node, UndoStatus::NotUndone, state);
        }
        found
    }

    pub(crate) fn of(&self, node: &Path) -> Option<UndoStatus> {
        self.0.get(node).copied()
    }

    /// A block is as undone as the worst in it, if the whole run is taken back. A race that was won stays completed, although
    /// what the others did is undone.
    fn note(&mut self, node: &Path, status: UndoStatus, state: &RunState) {
        let failed = state.end.as_ref().is_some_and(|end| end.status != RunStatus::Completed);
        let whole = failed || state.ending.is_some();
        for around in node.around().take(if whole { usize::MAX } else { 1 }) {
            let noted = self.0.entry(around).or_insert(status);
            *noted = status.max(*noted);
        }
    }
}
