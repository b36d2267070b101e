//! What has to be undone if the run fails or is cancelled, in the order in which it was done.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{NodeState, State};
use crate::event::NotUndone;
use crate::failure::Failure;
use crate::ids::Seq;
use crate::path::{self, Path};
use crate::status::NodeStatus;

/// The steps to undo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UndoList {
    /// By the event that ended the step.
    entries: BTreeMap<Seq, Undo>,
    /// The same by node.
    by_node: BTreeSet<Path>,
    /// Steps whose compensation has begun and not ended.
    under_way: BTreeSet<Path>,
    /// Compensations that failed for good.
    failed: Vec<NotUndone>,
}

/// A step to undo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// The step.
    pub node: Path,
    /// Whether it completed; else its outcome is unknown.
    pub completed: bool,
}

impl UndoList {
    fn add(&mut self, seq: Seq, node: &Path, completed: bool) {
        self.entries.insert(seq, Undo { node: node.clone(), completed });
        self.by_node.insert(node.clone());
    }

    /// The step that was done last inside of a scope.
    pub(crate) fn last_within(&self, scope: &Path) -> Option<Path> {
        if scope.is_root() {
            return self.entries.last_key_value().map(|(_, undo)| undo.node.clone());
        }
        path::within(&self.by_node, scope).next()?;
        let inside = self.entries.values().rev().find(|undo| undo.node.is_within(scope));
        inside.map(|undo| undo.node.clone())
    }

    /// Whether something inside of a scope is to be undone.
    pub(crate) fn any_within(&self, scope: &Path) -> bool {
        path::within(&self.by_node, scope).next().is_some()
    }

    /// Whether a compensation has begun and not ended.
    pub fn is_under_way(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Whether one inside of a scope has begun and not ended.
    pub(crate) fn is_under_way_within(&self, scope: &Path) -> bool {
        path::within(&self.under_way, scope).next().is_some()
    }

    /// Whether this step's compensation has begun and not ended.
    pub fn is_under_way_at(&self, node: &Path) -> bool {
        self.under_way.contains(node)
    }

    /// Whether this step completed, if it is to be undone; else its outcome is unknown.
    pub fn completed(&self, node: &Path) -> Option<bool> {
        if !self.by_node.contains(node) {
            return None;
        }
        self.entries.values().rev().find(|undo| undo.node == *node).map(|undo| undo.completed)
    }

    pub(super) fn begun(&mut self, node: &Path) {
        self.under_way.insert(node.clone());
    }

    pub(super) fn ended(&mut self, node: &Path, failure: Option<&Failure>) {
        self.under_way.remove(node);
        self.by_node.remove(node);
        let last = self.entries.iter().rev().find(|(_, undo)| undo.node == *node).map(|(seq, _)| *seq);
        last.and_then(|seq| self.entries.remove(&seq));
        if let Some(failure) = failure {
            self.failed.push(NotUndone { node: node.clone(), failure: failure.clone() });
        }
    }

    /// What could not be undone.
    pub fn failed(&self) -> &[NotUndone] {
        &self.failed
    }
}

impl State {
    /// A step with a compensation has ended with this event.
    pub(super) fn note_undo(&mut self, node: &Path, seq: Seq) {
        let Some(NodeState { status, unknown, .. }) = self.nodes.get(node) else { return };
        match status {
            NodeStatus::Completed => self.undo.add(seq, node, true),
            NodeStatus::Failed | NodeStatus::Cancelled if *unknown => self.undo.add(seq, node, false),
            _ => {}
        }
    }
}
