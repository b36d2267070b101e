//! What is still to be undone, and in which order.

use crate::ids::RunId;
use crate::path::Path;

/// Steps with a compensation and children with something to undo that have completed or may have acted, in the order of
/// their ends, and the lanes that lost.
#[derive(Default)]
pub(super) struct ExpectedUndo {
    completed: Vec<DoneStep>,
    lost: Vec<Path>,
}

/// A step that has completed, or a child of it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct DoneStep {
    pub(super) node: Path,
    pub(super) child: Option<RunId>,
}

impl DoneStep {
    pub(super) fn step(node: &Path) -> Self {
        Self { node: node.clone(), child: None }
    }

    pub(super) fn child(node: &Path, child: &RunId) -> Self {
        Self { node: node.clone(), child: Some(child.clone()) }
    }
}

impl std::fmt::Display for DoneStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.child {
            Some(child) => write!(f, "run `{child}`"),
            None => write!(f, "`{}`", self.node),
        }
    }
}

impl ExpectedUndo {
    pub(super) fn completed(&mut self, done: DoneStep) {
        self.completed.push(done);
    }

    /// Whether it is still to be undone.
    pub(super) fn has(&self, done: &DoneStep) -> bool {
        self.completed.contains(done)
    }

    pub(super) fn lost(&mut self, lane: &Path) {
        self.lost.push(lane.clone());
    }

    /// Something is being undone. Gives what should have been undone before it. A lane that lost is undone by itself,
    /// beside everything else.
    pub(super) fn begin(&mut self, done: &DoneStep) -> Option<String> {
        let place = self.completed.iter().rposition(|completed| completed == done)?;
        let mut later = self.completed[place + 1..].iter();
        let lane = self.lane_of(&done.node);
        let before = later.find(|other| self.lane_of(&other.node) == lane).map(ToString::to_string);
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
        self.completed.retain(|done| lost.iter().any(|lane| done.node.is_within(lane)));
    }

    /// Nothing is to be undone any more.
    pub(super) fn forget(&mut self) {
        self.completed.clear();
    }

    pub(super) fn first(&self) -> Option<&DoneStep> {
        self.completed.last()
    }
}
