//! Scopes: parts of a run that are ending while the rest goes on.
//!
//! | scope | what happens | then |
//! | --- | --- | --- |
//! | a block that fails | a node inside has failed, others are at work | `BlockFailing`; waits are cancelled, also those inside of steps |
//! | | a call inside ends | its outcome is recorded; nothing follows from it |
//! | | nothing inside is open | supervisors inside are cancelled; the block fails |
//! | a lane that lost | the others have won | `LaneStopping`; calls are told to stop, waits are cancelled |
//! | | the grace period is over | calls are left behind: `CallCancelled` with `forced` |
//! | | nothing inside is open | it is undone, then `LaneEnded`, cancelled |
//! | a block that fails | something around it is ending | nothing: it is cancelled with what is around it |
//! | any | the run itself is ending | nothing: that end takes care of everything |

use super::supervisor::supervisor_of;
use super::{Effect, Machine, MachineTask, StopReason};
use crate::event::{CallRole, EventCause, EventKind, ExternalCause, LaneOutcome};
use crate::failure::FailureRecord;
use crate::ids::Seq;
use crate::path::{self, Path};
use crate::state::EndingScope;

impl Machine<'_> {
    /// A node inside of a block has failed for good: so does the block, once what is at work in it has settled.
    pub(super) fn fail_when_settled(
        &mut self,
        block: &Path,
        child: &Path,
        failure: Option<FailureRecord>,
        cause: Seq,
    ) {
        if !self.state.is_open_within(block) {
            return self.block_failed(block, child, failure, cause);
        }
        let event = EventKind::BlockFailing { node: block.clone(), child: child.clone(), failure };
        let failing = self.emit(event, cause);
        self.cancel_waits_within(block, failing);
        self.todo.push_back(MachineTask::Settled(block.clone(), failing));
    }

    /// A lane of a graph tells its supervisor; a supervisor fails itself.
    fn block_failed(&mut self, block: &Path, child: &Path, failure: Option<FailureRecord>, cause: Seq) {
        let supervisor = self.plan.node(block).and_then(|node| supervisor_of(&node.node().kind));
        let is_whole = supervisor.is_some_and(|it| it.runs_lanes_at_once());
        if is_whole && block.as_iteration().is_none() {
            self.fail(block, child, failure, cause);
        } else {
            self.lane_failed(block, child, cause);
        }
    }

    /// Cancels what is in a scope: tells its calls to stop, and ends what only waits.
    pub(super) fn cancel_within(&mut self, scope: &Path, cause: Seq) {
        let calls: Vec<Path> = path::within(&self.state.index().calls, scope).cloned().collect();
        for node in calls.into_iter().rev() {
            let Some(call) = self.state.node(&node).and_then(|node| node.open_call()) else {
                return self.broken(&node, "a node is at work and has no call");
            };
            if call.role != CallRole::Compensate {
                let (call, why) = (call.number, StopReason::Ending);
                self.decision.effects.push(Effect::Stop { node, call, why });
            }
        }
        self.cancel_waits_within(scope, cause);
    }

    /// Ends what only waits: nodes, the innermost first, and operations inside of steps. Compensations go on.
    fn cancel_waits_within(&mut self, scope: &Path, cause: Seq) {
        let state = &*self.state;
        let idle = [&state.index().waits, &state.index().held, &state.index().blocked];
        let idle = idle.into_iter().flat_map(|set| path::within(set, scope));
        let goes_on = |node: &Path| state.undo.is_under_way_at(node) && !state.killed;
        let idle: Vec<Path> = idle.filter(|node| !goes_on(node)).cloned().collect();
        for node in idle.into_iter().rev() {
            let cancelled = self.emit(EventKind::NodeCancelled { node: node.clone() }, cause);
            self.todo.push_back(MachineTask::Ended(node, cancelled));
        }
        for (node, op) in self.open_ops_within(scope) {
            self.cancel_op(&node, op, cause);
        }
    }

    /// The grace period is over.
    pub(super) fn force_end_calls(&mut self, scope: &Path) {
        let calls: Vec<Path> = path::within(&self.state.index().calls, scope).cloned().collect();
        for node in calls.into_iter().rev() {
            let Some(open) = self.state.node(&node).and_then(|node| node.open_call().cloned()) else {
                return self.broken(&node, "a node is at work and has no call");
            };
            if open.role == CallRole::Compensate && !self.state.killed {
                continue;
            }
            self.cancel_unfinished(&node, &open, true, EventCause::Outside(ExternalCause::Clock));
        }
        self.force_end_children(scope);
    }

    /// Something inside of one or more scopes has ended: from the inside out, each may have settled now.
    pub(super) fn settled_within(&mut self, ended: &Path, cause: Seq) {
        if self.state.ending.is_some() {
            return;
        }
        for scope in ended.around() {
            if self.state.scopes.contains_key(&scope) && !self.scope_settled(&scope, cause) {
                return;
            }
        }
    }

    /// Ends a scope in which nothing is open. Gives whether it has ended.
    fn scope_settled(&mut self, path: &Path, cause: Seq) -> bool {
        let Some(scope) = self.state.scopes.get(path).cloned() else { return true };
        if self.state.is_busy_within(path) || self.state.undo.is_under_way_within(path) {
            return false;
        }
        match scope {
            // What is around it is ending, too, and takes it along.
            EndingScope::Failing { .. } if self.is_in_another_scope(path) => {}
            EndingScope::Failing { child, failure } => {
                self.end_supervisors(path, cause);
                self.block_failed(path, &child, failure, cause);
            }
            EndingScope::Cancelling { index, .. } => {
                if self.undo_next(path, cause) {
                    return false;
                }
                self.end_supervisors(path, cause);
                self.lane_ended(path, index, LaneOutcome::Cancelled, None, cause);
                self.complete_run_if_done();
            }
        }
        true
    }

    fn is_in_another_scope(&self, path: &Path) -> bool {
        path.around().skip(1).any(|around| self.state.scopes.contains_key(&around))
    }

    /// Supervisors inside of a scope have no end of their own any more; the innermost first.
    pub(super) fn end_supervisors(&mut self, scope: &Path, cause: Seq) {
        let open: Vec<Path> = path::within(&self.state.index().supervising, scope).cloned().collect();
        for node in open.into_iter().rev() {
            self.emit(EventKind::NodeCancelled { node }, cause);
        }
    }
}
