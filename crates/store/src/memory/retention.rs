//! Forgetting runs that ended long ago.

use rival_core::{RunId, Time};

use super::state::{MemoryState, RunNo};

impl MemoryState {
    pub(super) fn purge(&mut self, ended_before: Time, limit: usize) -> u64 {
        let ended = self.index.ended.range(..(ended_before, RunNo::MIN)).map(|&(_, no)| no);
        let is_needed =
            |no| self.has_live_child(no) || self.has_live_ancestor(no) || self.has_live_triggers(no);
        let found: Vec<_> = ended.filter(|no| !is_needed(*no)).take(limit).collect();
        for &no in &found {
            self.remove(no);
        }
        found.len() as u64
    }

    fn has_live_child(&self, no: RunNo) -> bool {
        let Some(children) = self.runs.get(&no).and_then(|run| self.children.get(&run.row.id)) else {
            return false;
        };
        children.iter().filter_map(|child| self.runs.get(child)).any(|child| !child.row.status.is_terminal())
    }

    fn has_live_ancestor(&self, no: RunNo) -> bool {
        let parent = |no: &RunNo| self.by_id.get(self.runs.get(no)?.row.parent.as_ref()?).copied();
        let ancestors = std::iter::successors(parent(&no), parent);
        // No run is older than its parent, unless ids were used again.
        let ancestors = ancestors.scan(no, |child, parent| {
            let is_older = parent < std::mem::replace(child, parent);
            is_older.then_some(parent)
        });
        ancestors.filter_map(|no| self.runs.get(&no)).any(|run| !run.row.status.is_terminal())
    }

    fn has_live_triggers(&self, no: RunNo) -> bool {
        let Some(id) = self.runs.get(&no).map(|run| run.row.id.triggers()) else { return false };
        let from = self.system.range(id.clone()..);
        let of_run = from.take_while(|(run, _)| run.as_str().starts_with(id.as_str()));
        of_run.filter_map(|(_, no)| self.runs.get(no)).any(|run| !run.row.status.is_terminal())
    }

    fn remove(&mut self, no: RunNo) {
        let Some(run) = self.runs.remove(&no) else { return };
        self.index.remove(&run.row);
        self.by_id.remove(&run.row.id);
        self.system.remove(&run.row.id);
        if let Some(parent) = &run.row.parent {
            self.forget_child(parent, no);
        }
    }

    /// The children of a removed run stay listed under it until they are removed themselves: a run may be
    /// started again under the same id, and they still name it.
    fn forget_child(&mut self, parent: &RunId, child: RunNo) {
        if let Some(children) = self.children.get_mut(parent) {
            children.remove(&child);
            if children.is_empty() {
                self.children.remove(parent);
            }
        }
    }
}
