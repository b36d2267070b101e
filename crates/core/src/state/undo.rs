//! What has to be undone if the run fails or is cancelled, in the order in which it was done.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{NodeState, State};
use crate::event::NotUndone;
use crate::failure::Failure;
use crate::ids::Seq;
use crate::path::{self, Path};
use crate::status::NodeStatus;

/// How many of the latest steps are looked at before all of a scope's.
const RECENT: usize = 64;

/// The steps to undo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UndoList {
    /// By the event that ended the step.
    entries: BTreeMap<Seq, Undo>,
    /// The same by node.
    by_node: BTreeMap<Path, Seq>,
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
        if let Some(before) = self.by_node.insert(node.clone(), seq) {
            self.entries.remove(&before);
        }
        self.entries.insert(seq, Undo { node: node.clone(), completed });
    }

    /// The step that was done last inside of a scope.
    pub(crate) fn last_within(&self, scope: &Path) -> Option<Path> {
        if scope.is_root() {
            return self.entries.last_key_value().map(|(_, undo)| undo.node.clone());
        }
        // A scope is undone soon after it has settled, so its steps are most likely the latest ones.
        let recent = self.entries.values().rev().take(RECENT).find(|undo| undo.node.is_within(scope));
        if let Some(undo) = recent {
            return Some(undo.node.clone());
        }
        let inside = path::keys_within(&self.by_node, scope);
        inside.max_by_key(|(_, seq)| **seq).map(|(node, _)| node.clone())
    }

    /// Whether something inside of a scope is to be undone.
    pub(crate) fn any_within(&self, scope: &Path) -> bool {
        path::keys_within(&self.by_node, scope).next().is_some()
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
        self.entries.get(self.by_node.get(node)?).map(|undo| undo.completed)
    }

    pub(super) fn begun(&mut self, node: &Path) {
        self.under_way.insert(node.clone());
    }

    /// A compensation that had begun is not called again: the run was killed.
    pub(super) fn given_up(&mut self, node: &Path) {
        self.under_way.remove(node);
    }

    pub(super) fn ended(&mut self, node: &Path, failure: Option<&Failure>) {
        self.under_way.remove(node);
        if let Some(seq) = self.by_node.remove(node) {
            self.entries.remove(&seq);
        }
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
