//! What is still to be undone, and in which order.

use crate::path::Path;

/// Steps with a compensation that have completed, in that order, and the lanes that lost.
#[derive(Default)]
pub(super) struct UndoList {
    completed: Vec<Path>,
    lost: Vec<Path>,
}

impl UndoList {
    pub(super) fn completed(&mut self, node: &Path) {
        self.completed.push(node.clone());
    }

    pub(super) fn lost(&mut self, lane: &Path) {
        self.lost.push(lane.clone());
    }

    /// A step is being undone. Gives one that should have been undone before it. A lane that lost is undone by itself,
    /// beside everything else.
    pub(super) fn begin(&mut self, node: &Path) -> Option<String> {
        let place = self.completed.iter().rposition(|completed| completed == node)?;
        let mut later = self.completed[place + 1..].iter();
        let before = later.find(|other| self.lane_of(other) == self.lane_of(node)).map(ToString::to_string);
        self.completed.remove(place);
        before
    }

    /// The innermost lane that lost around a node.
    fn lane_of(&self, node: &Path) -> Option<&Path> {
        let around = self.lost.iter().filter(|lane| node.is_within(lane));
        around.max_by_key(|lane| lane.as_str().len())
    }

    /// The run completes: only what lost is undone.
    pub(super) fn keep(&mut self) {
        let lost = std::mem::take(&mut self.lost);
        self.completed.retain(|node| lost.iter().any(|lane| node.is_within(lane)));
    }

    /// Nothing is to be undone any more.
    pub(super) fn forget(&mut self) {
        self.completed.clear();
    }

    pub(super) fn first(&self) -> Option<&Path> {
        self.completed.last()
    }
}
