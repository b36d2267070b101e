//! Which nodes do what: the one thing in a state that is kept twice, so that no question walks over all nodes.

use std::collections::BTreeSet;

use super::{
    EndingScope, NodePhase, NodeState, OpState, OpenCall, RunState, StepOps, Timer, TimerKind, WaitReason,
};
use crate::ids::Time;
use crate::path::Path;

/// The nodes by what they do, and the moments that matter. All of it follows from the state, see [`StateIndex::of`]; it
/// is no part of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateIndex {
    /// Moments that matter, the earliest first.
    pub timers: BTreeSet<Timer>,
    /// Nodes with a function at work.
    pub calls: BTreeSet<Path>,
    /// Those of them that wait inside an operation.
    pub calls_waiting: BTreeSet<Path>,
    /// Nodes that wait: asleep, between two attempts, for a signal, inside a durable operation.
    pub waits: BTreeSet<Path>,
    /// Nodes with blocks inside that have not ended.
    pub supervising: BTreeSet<Path>,
    /// Nodes that are next, but held by a pause or an orderly stop.
    pub held: BTreeSet<Path>,
    /// Nodes that cannot go on without help.
    pub blocked: BTreeSet<Path>,
    /// The steps whose children have not ended.
    pub parents: BTreeSet<Path>,
}

impl StateIndex {
    /// The index of a state, from what the state says of nodes, operations, scopes and itself.
    pub fn of(state: &RunState) -> Self {
        let mut index = Self::default();
        // What a run that has ended left behind matters no more.
        if state.is_terminal() {
            return index;
        }
        for (path, node) in &state.nodes {
            index.enter(path, node.phase());
            if node.supervises() {
                index.supervising.insert(path.clone());
            }
        }
        for (path, ops) in &state.ops {
            index.timers.extend(ops.iter().filter_map(|(number, op)| op_timer(path, number, op)));
            if ops.has_children() {
                index.parents.insert(path.clone());
            }
        }
        index.timers.extend(state.run_timers());
        for (path, scope) in &state.scopes {
            index.timers.extend(state.scope_timer(path, scope));
        }
        index
    }

    /// A node comes into a phase.
    fn enter(&mut self, path: &Path, phase: &NodePhase) {
        if let Some(set) = self.set_of(phase) {
            set.insert(path.clone());
        }
        if matches!(phase, NodePhase::Calling { waits: true, .. }) {
            self.calls_waiting.insert(path.clone());
        }
        self.timers.extend(phase.timer(path));
    }

    /// A node leaves a phase.
    fn leave(&mut self, path: &Path, phase: &NodePhase) {
        if let Some(set) = self.set_of(phase) {
            set.remove(path);
        }
        if matches!(phase, NodePhase::Calling { waits: true, .. }) {
            self.calls_waiting.remove(path);
        }
        if let Some(timer) = phase.timer(path) {
            self.timers.remove(&timer);
        }
    }

    fn set_of(&mut self, phase: &NodePhase) -> Option<&mut BTreeSet<Path>> {
        match phase {
            NodePhase::Idle => None,
            NodePhase::Held { .. } => Some(&mut self.held),
            NodePhase::Calling { .. } => Some(&mut self.calls),
            NodePhase::Waiting { .. } => Some(&mut self.waits),
            NodePhase::Blocked { .. } => Some(&mut self.blocked),
        }
    }
}

/// The moment at which an operation is over by itself.
fn op_timer(node: &Path, number: u32, op: &OpState) -> Option<Timer> {
    let at = op.until.filter(|_| op.end.is_none() && !op.dropped)?;
    Some(Timer { at, node: node.clone(), kind: TimerKind::Op(number) })
}

impl RunState {
    /// Which nodes do what.
    pub fn index(&self) -> &StateIndex {
        &self.index
    }

    /// A node does something else from now on. Gives what it did before.
    pub(super) fn set_phase(&mut self, path: &Path, phase: NodePhase) -> NodePhase {
        let node = self.nodes.entry(path.clone()).or_default();
        let before = std::mem::replace(&mut node.phase, phase);
        self.index.leave(path, &before);
        self.index.enter(path, &node.phase);
        if let NodePhase::Waiting { why: WaitReason::Signal(awaited), .. } = &before {
            self.signals.stop(awaited);
        }
        before
    }

    /// The call at work has ended, and its node is idle. Gives the call.
    pub(super) fn close_call(&mut self, path: &Path) -> Option<OpenCall> {
        let phase = &mut self.nodes.get_mut(path)?.phase;
        if !matches!(phase, NodePhase::Calling { .. }) {
            return None;
        }
        let before = std::mem::take(phase);
        self.index.leave(path, &before);
        if let NodePhase::Calling { call, .. } = before { Some(call) } else { None }
    }

    /// A node has lanes from now on, or has none any more.
    pub(super) fn set_supervises(&mut self, path: &Path, supervises: bool) {
        let node = self.nodes.entry(path.clone()).or_default();
        if node.supervises == supervises {
            return;
        }
        node.supervises = supervises;
        if supervises {
            self.index.supervising.insert(path.clone());
        } else {
            self.index.supervising.remove(path);
        }
    }

    /// A node leaves the state.
    pub(super) fn forget_node(&mut self, path: &Path) {
        if let Some(NodeState { phase, .. }) = self.nodes.remove(path) {
            self.index.leave(path, &phase);
            self.index.supervising.remove(path);
        }
    }

    /// A call waits inside an operation from now on, or goes on and has until `deadline`.
    pub(super) fn set_waits(&mut self, path: &Path, waits: bool, deadline: Option<Time>) {
        let Some(NodeState { phase: NodePhase::Calling { call, .. }, .. }) = self.nodes.get(path) else {
            return;
        };
        let call = OpenCall { deadline, ..call.clone() };
        self.set_phase(path, NodePhase::Calling { call, waits });
    }

    /// The moment of an operation that has begun matters.
    pub(super) fn op_timer_set(&mut self, node: &Path, number: u32, until: Option<Time>) {
        let timer = until.map(|at| Timer { at, node: node.clone(), kind: TimerKind::Op(number) });
        self.index.timers.extend(timer);
    }

    /// The moment of an operation that has ended or was dropped matters no more.
    pub(super) fn op_timer_gone(&mut self, node: &Path, number: u32, until: Option<Time>) {
        if let Some(at) = until {
            self.index.timers.remove(&Timer { at, node: node.clone(), kind: TimerKind::Op(number) });
        }
    }

    /// The number of children that a step waits for has changed.
    pub(super) fn children_changed(&mut self, node: &Path) {
        if self.ops.get(node).is_some_and(StepOps::has_children) {
            self.index.parents.insert(node.clone());
        } else {
            self.index.parents.remove(node);
        }
    }

    /// The moments that matter to the run itself.
    fn run_timers(&self) -> impl Iterator<Item = Timer> + use<> {
        let deadline = self.deadline.map(|at| (at, TimerKind::RunDeadline));
        let force = self.force_at.map(|at| (at, TimerKind::Force));
        deadline.into_iter().chain(force).map(|(at, kind)| Timer { at, node: Path::root(), kind })
    }

    /// Changes when the run times out, and when it leaves its calls behind.
    pub(super) fn set_run_timers(&mut self, deadline: Option<Time>, force_at: Option<Time>) {
        for timer in self.run_timers() {
            self.index.timers.remove(&timer);
        }
        (self.deadline, self.force_at) = (deadline, force_at);
        let timers: Vec<Timer> = self.run_timers().collect();
        self.index.timers.extend(timers);
    }

    /// When a lane that lost leaves its calls behind. In a run that is ending, the run's own moment stands for all.
    fn scope_timer(&self, path: &Path, scope: &EndingScope) -> Option<Timer> {
        match scope {
            EndingScope::Cancelling { force_at, .. } if self.ending.is_none() => {
                Some(Timer { at: *force_at, node: path.clone(), kind: TimerKind::Force })
            }
            EndingScope::Cancelling { .. } | EndingScope::Failing { .. } => None,
        }
    }

    pub(super) fn open_scope(&mut self, path: &Path, scope: EndingScope) {
        self.close_scope(path);
        self.index.timers.extend(self.scope_timer(path, &scope));
        self.scopes.insert(path.clone(), scope);
    }

    pub(super) fn close_scope(&mut self, path: &Path) {
        let Some(scope) = self.scopes.remove(path) else { return };
        if let Some(timer) = self.scope_timer(path, &scope) {
            self.index.timers.remove(&timer);
        }
    }

    /// The run is ending: its deadline means nothing any more, nor do those of its scopes.
    pub(super) fn index_ending(&mut self, force_at: Time) {
        let scopes = self.scopes.iter().filter_map(|(path, scope)| self.scope_timer(path, scope));
        for timer in scopes.collect::<Vec<_>>() {
            self.index.timers.remove(&timer);
        }
        self.set_run_timers(None, Some(force_at));
    }

    /// The run has ended, and nothing in it matters any more.
    pub(super) fn clear_index(&mut self) {
        (self.deadline, self.force_at) = (None, None);
        self.index = StateIndex::default();
    }

    /// Moments of many nodes have changed at once.
    pub(super) fn rebuild_index(&mut self) {
        self.index = StateIndex::of(self);
    }
}
