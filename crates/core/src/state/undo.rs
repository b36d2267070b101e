//! What has to be undone if the run fails or is cancelled, in the order in which it was done.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{RunState, expected};
use crate::event::NotUndone;
use crate::failure::{FailureRecord, code};
use crate::ids::{RunId, Seq};
use crate::path::{self, Path};
use crate::status::NodeStatus;

/// How many of the latest steps are looked at before all of a scope's.
const RECENT: usize = 64;

/// The steps and children to undo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UndoList {
    /// By the event that ended the step or child.
    entries: BTreeMap<Seq, UndoEntry>,
    /// The steps by node.
    by_node: BTreeMap<Path, Seq>,
    /// The children by the step that had started them.
    children: BTreeMap<Path, BTreeSet<Seq>>,
    /// Steps whose compensation has begun and not ended.
    under_way: BTreeSet<Path>,
    /// Children that are being undone, by the run that does it.
    undoing: BTreeMap<RunId, Seq>,
    /// Compensations that failed for good.
    failed: Vec<NotUndone>,
}

/// A step to undo, or a child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoEntry {
    /// The step, or the one that had started the child.
    pub node: Path,
    /// Whether it completed; else its outcome is unknown.
    pub completed: bool,
    /// The child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<RunId>,
}

impl UndoList {
    fn add(&mut self, seq: Seq, node: &Path, completed: bool) {
        if let Some(before) = self.by_node.insert(node.clone(), seq) {
            self.entries.remove(&before);
        }
        self.entries.insert(seq, UndoEntry { node: node.clone(), completed, child: None });
    }

    /// A child has completed with this event.
    pub(super) fn add_child(&mut self, seq: Seq, node: &Path, child: &RunId) {
        self.children.entry(node.clone()).or_default().insert(seq);
        let child = Some(child.clone());
        self.entries.insert(seq, UndoEntry { node: node.clone(), completed: true, child });
    }

    /// What was done last inside of a scope.
    pub(crate) fn last_within(&self, scope: &Path) -> Option<&UndoEntry> {
        if scope.is_root() {
            return self.entries.last_key_value().map(|(_, undo)| undo);
        }
        // A scope is undone soon after it has settled, so its steps are most likely the latest ones.
        let recent = self.entries.values().rev().take(RECENT).find(|undo| undo.node.is_within(scope));
        if recent.is_some() {
            return recent;
        }
        let steps = path::keys_within(&self.by_node, scope).map(|(_, seq)| seq);
        let children = path::keys_within(&self.children, scope).filter_map(|(_, ended)| ended.last());
        self.entries.get(steps.chain(children).max()?)
    }

    /// Whether something inside of a scope is to be undone.
    pub(crate) fn any_within(&self, scope: &Path) -> bool {
        path::keys_within(&self.by_node, scope).next().is_some()
            || path::keys_within(&self.children, scope).next().is_some()
    }

    /// Whether something has begun to be undone and is not yet.
    pub fn is_under_way(&self) -> bool {
        !self.under_way.is_empty() || !self.undoing.is_empty()
    }

    /// The same inside of a scope.
    pub(crate) fn is_under_way_within(&self, scope: &Path) -> bool {
        let child = |seq: &Seq| self.entries.get(seq).is_some_and(|undo| undo.node.is_within(scope));
        path::within(&self.under_way, scope).next().is_some() || self.undoing.values().any(child)
    }

    /// The runs that undo children.
    pub fn undo_runs(&self) -> impl ExactSizeIterator<Item = &RunId> {
        self.undoing.keys()
    }

    /// The child that a run undoes, and the step that had started it.
    pub(crate) fn undone_by(&self, undo: &RunId) -> Option<(Path, RunId)> {
        let entry = self.entries.get(self.undoing.get(undo)?)?;
        Some((entry.node.clone(), entry.child.clone()?))
    }

    pub(super) fn child_begun(&mut self, child: &RunId, undo: &RunId) {
        // It is undone because it is the last, so it is near the end.
        let latest = self.entries.iter().rev();
        let seq =
            latest.into_iter().find(|(_, entry)| entry.child.as_ref() == Some(child)).map(|(seq, _)| *seq);
        if let Some(seq) = seq {
            self.undoing.insert(undo.clone(), seq);
        }
    }

    pub(super) fn child_ended(&mut self, undo: &RunId, failure: Option<&FailureRecord>) {
        let Some(seq) = expected(self.undoing.remove(undo), "a run that has undone a child was asked to")
        else {
            return;
        };
        let Some(UndoEntry { node, .. }) = expected(self.entries.remove(&seq), "what is undone was done")
        else {
            return;
        };
        if let Some(ended) = self.children.get_mut(&node) {
            ended.remove(&seq);
            if ended.is_empty() {
                self.children.remove(&node);
            }
        }
        if let Some(failure) = failure {
            self.failed.push(NotUndone { node, failure: failure.clone() });
        }
    }

    /// Whether this step's compensation has begun and not ended.
    pub fn is_under_way_at(&self, node: &Path) -> bool {
        self.under_way.contains(node)
    }

    /// Whether this step completed, if it is to be undone; else its outcome is unknown.
    pub fn completed(&self, node: &Path) -> Option<bool> {
        self.entries.get(self.by_node.get(node)?).map(|undo| undo.completed)
    }

    pub(super) fn begun(&mut self, node: &Path) {
        self.under_way.insert(node.clone());
    }

    /// A compensation that had begun is not called again: the run was killed.
    pub(super) fn given_up(&mut self, node: &Path) {
        self.under_way.remove(node);
    }

    pub(super) fn ended(&mut self, node: &Path, failure: Option<&FailureRecord>) {
        self.under_way.remove(node);
        if let Some(seq) = self.by_node.remove(node) {
            self.entries.remove(&seq);
        }
        if let Some(failure) = failure {
            self.failed.push(NotUndone { node: node.clone(), failure: failure.clone() });
        }
    }

    /// A child has ended that could not undo what it had done.
    pub(super) fn child_left(&mut self, node: &Path, child: &RunId, not_undone: &[NotUndone]) {
        let left = left_undone(child, not_undone);
        self.failed.extend(left.map(|failure| NotUndone { node: node.clone(), failure }));
    }

    /// What could not be undone.
    pub fn failed(&self) -> &[NotUndone] {
        &self.failed
    }
}

/// What a child, or the run that undoes one, left as it was.
pub(crate) fn left_undone(child: &RunId, not_undone: &[NotUndone]) -> Option<FailureRecord> {
    let first = not_undone.first()?;
    let more = match not_undone.len() {
        1 => String::new(),
        several => format!(", and {} more", several - 1),
    };
    let message = format!("`{}` of run `{child}` could not be undone: {}{more}", first.node, first.failure);
    Some(FailureRecord::new(code::NOT_UNDONE, message))
}

impl RunState {
    /// A step with a compensation has ended with this event.
    pub(super) fn note_undo(&mut self, node: &Path, seq: Seq) {
        let Some(ended) = expected(self.nodes.get(node), "a step that ends has begun") else { return };
        match ended.status() {
            NodeStatus::Completed => self.undo.add(seq, node, true),
            NodeStatus::Failed | NodeStatus::Cancelled if ended.unknown => self.undo.add(seq, node, false),
            _ => {}
        }
    }
}
