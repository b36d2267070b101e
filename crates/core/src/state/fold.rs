//! How each event changes the state.

use super::{
    EndingScope, HardFailure, NodeOutcome, NodePhase, NodeState, OpenCall, RunEnd, RunEnding, RunState,
    TakenDecision, TakenIteration, UndoList, WaitReason, expected,
};
use crate::durable::{OpKey, OpKind};
use crate::event::{
    BlockedReason, CallRole, DueCall, Event, EventKind, FailureVerdict, ImportedStatus, LostReason,
};
use crate::failure::{FailureRecord, code};
use crate::ids::{Seq, Time};
use crate::path::Path;
use crate::status::{NodeStatus, RunStatus};

impl RunState {
    /// Folds one event in. Events come in order, without gaps.
    pub fn apply(&mut self, event: &Event) {
        debug_assert_eq!(event.seq, self.seq.next(), "events are folded in order");
        self.seq = event.seq;
        self.at = self.at.max(event.at);
        let (seq, at) = (event.seq, event.at);
        match &event.kind {
            EventKind::RunStarted {
                workflow,
                plan,
                deadline,
                retries_left,
                source,
                parent,
                trigger,
                trace,
                ..
            } => {
                self.workflow.clone_from(workflow);
                self.plan = Some(plan.clone());
                self.started_at = at;
                self.retries_left = *retries_left;
                self.source.clone_from(source);
                self.parent.clone_from(parent);
                self.trigger.clone_from(trigger);
                self.trace = *trace;
                self.set_run_timers(*deadline, None);
            }
            EventKind::NodeImported {
                node, status, state, failure, started_at, ended_at, undoable, ..
            } => {
                let imported =
                    imported(seq, *status, state.is_some(), failure.is_some(), *started_at, *ended_at);
                self.nodes.insert(node.clone(), imported);
                if *undoable {
                    self.note_undo(node, seq);
                }
            }
            EventKind::DecisionImported { node, case, count, .. } => {
                let state = self.entry(node);
                state.input = (case.is_none() && count.is_none()).then_some(seq);
                state.items = count.map(|_| seq);
                state.decision = Some(Box::new(TakenDecision { case: case.clone(), count: *count }));
            }
            EventKind::LaneImported { lane, index, tested, .. } => {
                if let Some((node, _)) = lane.as_iteration() {
                    let taken = TakenIteration { index: *index, result: seq, tested: *tested };
                    self.lanes(&node).imported = Some(taken);
                }
            }
            EventKind::CallStarted { node, call, role, attempt, deadline, limit_ms, undoable } => {
                let open = OpenCall {
                    number: *call,
                    role: *role,
                    attempt: *attempt,
                    started: seq,
                    started_at: at,
                    deadline: *deadline,
                    limit_ms: limit_ms.or(deadline.map(|deadline| deadline.ms_since(at))),
                    replays: false,
                    undoable: *undoable,
                    told: false,
                };
                self.call_started(node, open);
            }
            EventKind::CallSucceeded { node, state, skipped, .. } => {
                self.call_succeeded(node, seq, at, state.is_some(), *skipped);
            }
            EventKind::CallFailed { node, failure, state, verdict, told, .. } => {
                // It may have acted before its time was up, before it was cut short, and before it was told to stop.
                let unknown = *told || failure.code == code::TIMEOUT || failure.code == code::INTERRUPTED;
                self.call_failed(node, seq, at, state.is_some(), failure, *verdict, unknown);
            }
            EventKind::CallLost { node, reason, .. } => self.call_lost(node, *reason),
            EventKind::CallCancelled { node, state, .. } => {
                self.call_cancelled(node, seq, at, state.is_some());
            }
            EventKind::NodeStarted { node, case, count, window } => {
                self.begin(node, at).case.clone_from(case);
                self.set_phase(node, NodePhase::Idle);
                self.set_supervises(node, true);
                if let Some(count) = count {
                    self.lanes_started(node, *count, *window);
                }
            }
            EventKind::LaneEnded { lane, index, outcome, result } => {
                self.lane_ended(lane, *index, outcome, *result);
            }
            EventKind::BlockFailing { node, child, failure } => {
                let scope = EndingScope::Failing { child: child.clone(), failure: failure.clone() };
                self.open_scope(node, scope);
            }
            EventKind::LaneStopping { lane, index, force_at } => {
                self.open_scope(lane, EndingScope::Cancelling { index: *index, force_at: *force_at });
            }
            EventKind::Joined { node, .. } => {
                // The lane of a graph is no node; its result goes on with its end.
                if node.is_root() || self.nodes.contains_key(node) {
                    self.entry(node).joined = Some(seq);
                }
            }
            EventKind::NodeCompleted { node, result } => {
                self.end_node(node, NodeStatus::Completed, at);
                self.entry(node).result = *result;
            }
            EventKind::NodeFailed { node, child, failure: own } => {
                self.close_scope(node);
                // The lane of a graph that had to settle first.
                child.parent().iter().for_each(|lane| self.close_scope(lane));
                self.close_scopes_within(node);
                self.end_node(node, NodeStatus::Failed, at);
                let (failure, hard) = self
                    .nodes
                    .get(child)
                    .map(|child| (child.failure, child.hard.clone()))
                    .unwrap_or_default();
                let state = self.entry(node);
                state.failure = failure;
                state.hard = hard;
                if let Some(own) = own {
                    state.failure = Some(seq);
                    let origin = state.hard.take().map_or_else(|| child.clone(), |hard| hard.origin);
                    state.hard = Some(HardFailure { failure: own.clone(), origin });
                }
            }
            EventKind::NodeCancelled { node } => {
                // One that had ended before, and whose handler was waited for, has been noted then.
                let unknown = |node: &NodeState| (node.unknown || node.acted) && !node.has_ended();
                let undoable = self.nodes.get(node).is_some_and(unknown);
                self.undo.given_up(node);
                self.end_node(node, NodeStatus::Cancelled, at);
                if undoable {
                    self.entry(node).unknown = true;
                    self.note_undo(node, seq);
                }
                self.close_ops(node);
            }
            EventKind::NodeHeld { node, due } => {
                if node.is_root() && due.is_some() {
                    self.all_settled();
                }
                if due.is_some_and(|due| due.role == CallRole::Compensate) {
                    self.undo.begun(node);
                }
                self.set_phase(node, NodePhase::Held { due: *due });
            }
            EventKind::NodeBlocked { node, reason } => self.block(node, reason),
            EventKind::NodeUnblocked { node } => {
                self.set_phase(node, NodePhase::Idle);
                self.entry(node).interruptions = 0;
            }
            EventKind::SleepStarted { node, until, absolute } => {
                self.begin(node, at);
                let why = if *absolute { WaitReason::Alarm } else { WaitReason::Sleep };
                self.set_phase(node, NodePhase::Waiting { why, due: None, until: Some(*until) });
            }
            EventKind::SleepEnded { node } => self.end_node(node, NodeStatus::Completed, at),
            EventKind::SignalReceived { name, sent_at, .. } => self.signals.keep(name, seq, *sent_at),
            EventKind::SignalAwaited { node, name, until } => {
                self.signal_awaited(node, name, *until, seq, at);
            }
            EventKind::SignalTaken { node, op, signal } => self.signal_taken(node, *op, *signal, at),
            EventKind::SignalTimedOut { node, op, failure } => {
                self.signal_timed_out(node, *op, failure.as_ref(), seq, at);
            }
            EventKind::OpStarted { node, op, call, name, occurrence, hash, after, what } => {
                if what.kind() != OpKind::Once {
                    self.call_comes_to_something_new(node, *call);
                }
                let key = OpKey { kind: what.kind(), name: name.clone(), occurrence: *occurrence };
                self.op_started(node, *op, key, hash, what, seq);
                self.ops_used(node, after, *op);
            }
            EventKind::OpEnded { node, op, outcome } => self.op_ended_with(node, *op, outcome, seq, at),
            EventKind::OpDropped { node, op, .. } => self.op_dropped(node, *op, at),
            EventKind::OpStopping { node, op } => {
                self.call_was_told(node);
                self.orphaned.remove(&(node.clone(), *op));
                if let Some(children) = self.op_mut(node, *op).and_then(|op| op.children.as_mut()) {
                    children.cancelling = true;
                }
            }
            EventKind::ChildStarted { node, op, index, child } => {
                self.child_started(node, *op, *index, child);
            }
            EventKind::ChildRetried { node, op, index, child, next } => {
                self.child_retried(node, *op, *index, child, next);
            }
            EventKind::ChildEnded { node, op, index, child, outcome, undoable, not_undone } => {
                self.undo.child_left(node, child, outcome.not_undone());
                self.undo.child_left(node, child, not_undone);
                if *undoable {
                    self.undo.add_child(seq, node, child);
                }
                self.child_ended(node, *op, *index, child, outcome.is_completed(), seq, at);
            }
            EventKind::ChildUndoing { child, undo, .. } => self.undo.child_begun(child, undo),
            EventKind::ChildUndone { node, undo, failure, .. } => {
                self.child_undone(node, undo, failure.as_ref());
            }
            EventKind::CallSuspended { node, used, told, state, .. } => {
                self.call_suspended(node, used, told);
                if state.is_some() {
                    self.entry(node).state = Some(seq);
                }
            }
            EventKind::CancelRequested { reason, force_at, kill } => {
                self.killed |= kill;
                // A cancel does not wait for a resume.
                self.paused = false;
                let cancelling = || RunEnding::Cancelling { reason: reason.clone() };
                self.index_ending(*force_at);
                self.ending.get_or_insert_with(cancelling);
            }
            EventKind::RunPaused {} => self.paused = true,
            EventKind::RunResumed {} => self.paused = false,
            EventKind::ClockSetBack { by_ms } => self.set_clock_back(*by_ms, at),
            EventKind::RunFailing { failure, node, force_at } => {
                self.close_scope(&Path::root());
                self.index_ending(*force_at);
                self.ending = Some(RunEnding::Failing { failure: failure.clone(), node: node.clone() });
            }
            EventKind::RunCompleted { output, not_undone, triggers } => {
                let end = self.finish(RunStatus::Completed, at);
                end.output = *output;
                end.not_undone.clone_from(not_undone);
                end.triggers.clone_from(triggers);
            }
            EventKind::RunFailed { failure, node, retried_as, not_undone } => {
                let end = self.finish(RunStatus::Failed, at);
                end.failure = Some(failure.clone());
                end.failed.clone_from(node);
                end.retried_as.clone_from(retried_as);
                end.not_undone.clone_from(not_undone);
            }
            EventKind::RunCancelled { reason, not_undone } => {
                let end = self.finish(RunStatus::Cancelled, at);
                end.reason.clone_from(reason);
                end.not_undone.clone_from(not_undone);
            }
        }
    }

    pub(super) fn entry(&mut self, node: &Path) -> &mut NodeState {
        self.nodes.entry(node.clone()).or_default()
    }

    pub(super) fn begin(&mut self, node: &Path, at: Time) -> &mut NodeState {
        let state = self.entry(node);
        state.started_at.get_or_insert(at);
        state
    }

    fn call_started(&mut self, node: &Path, call: OpenCall) {
        if node.is_root() {
            self.all_settled();
        }
        if call.role == CallRole::Compensate {
            self.undo.begun(node);
        }
        // Handlers and compensations are called for nodes that began before, and for the run, which is no node.
        let state = match call.role {
            CallRole::OnError | CallRole::Compensate => self.entry(node),
            CallRole::Step
            | CallRole::Input
            | CallRole::Wait
            | CallRole::Choose
            | CallRole::Test
            | CallRole::Items
            | CallRole::Finally => self.begin(node, call.started_at),
        };
        state.calls = call.number;
        let (attempt, is_new_attempt) = (call.attempt, state.attempts != call.attempt);
        if call.role == CallRole::Step {
            state.attempts = attempt;
        }
        self.set_phase(node, NodePhase::Calling { call, waits: false });
        self.call_finds_ops(node, attempt, is_new_attempt);
    }

    fn call_succeeded(&mut self, node: &Path, seq: Seq, at: Time, has_state: bool, skipped: bool) {
        let Some(call) = expected(self.close_call(node), "a call that ends is at work") else { return };
        self.entry(node).interruptions = 0;
        match call.role {
            CallRole::Step => {
                let state = self.entry(node);
                state.acted = false;
                state.result = Some(seq);
                state.state = has_state.then_some(seq);
                let status = if skipped { NodeStatus::Skipped } else { NodeStatus::Completed };
                self.end_node(node, status, at);
                if call.undoable {
                    self.note_undo(node, seq);
                }
                self.close_ops(node);
            }
            CallRole::Input => self.entry(node).input = Some(seq),
            CallRole::Items => self.entry(node).items = Some(seq),
            CallRole::Compensate => {
                self.entry(node).undone = true;
                self.undo.ended(node, None);
            }
            CallRole::Wait | CallRole::OnError | CallRole::Choose | CallRole::Test | CallRole::Finally => {}
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one event's fields")]
    fn call_failed(
        &mut self,
        node: &Path,
        seq: Seq,
        at: Time,
        has_state: bool,
        failure: &FailureRecord,
        verdict: FailureVerdict,
        unknown: bool,
    ) {
        let Some(call) = expected(self.close_call(node), "a call that ends is at work") else { return };
        match call.role {
            CallRole::OnError => return,
            CallRole::Compensate => return self.compensation_failed(node, &call, failure, verdict),
            _ => {}
        }
        let state = self.entry(node);
        state.unknown |= call.undoable && unknown;
        state.acted = false;
        state.interruptions = 0;
        state.failure = Some(seq);
        state.state = has_state.then_some(seq);
        match verdict {
            FailureVerdict::RetryAt(when) => self.await_retry(node, &call, when),
            FailureVerdict::Fail => {
                state.hard = Some(HardFailure { failure: failure.clone(), origin: node.clone() });
                self.end_node(node, NodeStatus::Failed, at);
            }
            FailureVerdict::Continue => {
                state.soft = true;
                self.end_node(node, NodeStatus::Failed, at);
            }
        }
        if call.undoable && !matches!(verdict, FailureVerdict::RetryAt(_)) {
            self.note_undo(node, seq);
        }
        self.close_ops(node);
    }

    /// The node failed without a call, and what is around it fails too.
    pub(super) fn fail_node(&mut self, node: &Path, seq: Seq, at: Time, failure: &FailureRecord) {
        let state = self.entry(node);
        state.failure = Some(seq);
        state.hard = Some(HardFailure { failure: failure.clone(), origin: node.clone() });
        self.end_node(node, NodeStatus::Failed, at);
    }

    fn compensation_failed(
        &mut self,
        node: &Path,
        call: &OpenCall,
        failure: &FailureRecord,
        verdict: FailureVerdict,
    ) {
        // Whatever it did before it failed: the step's result is worth nothing any more.
        self.entry(node).undone = true;
        let FailureVerdict::RetryAt(when) = verdict else { return self.undo.ended(node, Some(failure)) };
        self.await_retry(node, call, when);
    }

    fn await_retry(&mut self, node: &Path, call: &OpenCall, when: Time) {
        let due = Some(DueCall { role: call.role, attempt: call.attempt + 1 });
        self.set_phase(node, NodePhase::Waiting { why: WaitReason::Retry, due, until: Some(when) });
    }

    fn call_cancelled(&mut self, node: &Path, seq: Seq, at: Time, has_state: bool) {
        let call = self.close_call(node);
        let undoable = call.as_ref().is_some_and(|call| call.undoable);
        let state = self.entry(node);
        state.unknown |= undoable;
        // A handler or a compensation has no state of its own: that of its step stays.
        if call.as_ref().is_some_and(|call| call.role == CallRole::Step) {
            state.state = has_state.then_some(seq);
        }
        self.end_node(node, NodeStatus::Cancelled, at);
        self.close_ops(node);
        if undoable {
            self.note_undo(node, seq);
        }
        // A compensation is left behind only when the run is killed.
        if call.is_some_and(|call| call.role == CallRole::Compensate) {
            self.undo.ended(node, None);
        }
    }

    fn call_lost(&mut self, node: &Path, reason: LostReason) {
        let Some(call) = expected(self.close_call(node), "a call that ends is at work") else { return };
        let state = self.entry(node);
        state.unknown |= call.undoable;
        match reason {
            LostReason::Crash => state.interruptions += 1,
            LostReason::Shutdown | LostReason::Bystander => {}
        }
        let due = Some(DueCall { role: call.role, attempt: call.attempt });
        self.set_phase(node, NodePhase::Held { due });
    }

    fn block(&mut self, node: &Path, reason: &BlockedReason) {
        let call = self.close_call(node);
        let due = call.as_ref().map(|call| DueCall { role: call.role, attempt: call.attempt });
        let state = self.entry(node);
        // A function that is missing was not called; one that met a value which it cannot read, or asked for something
        // else than before, may have acted by then.
        let called = !matches!(reason, BlockedReason::FunctionMissing { .. });
        state.acted |= called && call.is_some_and(|call| call.undoable);
        let due = due.or(state.due());
        self.set_phase(node, NodePhase::Blocked { reason: reason.clone(), due });
    }

    /// A node has ended, and so have its lanes. A handler that is cancelled leaves its node as it ended.
    pub(super) fn end_node(&mut self, node: &Path, status: NodeStatus, at: Time) {
        let state = self.entry(node);
        state.end.get_or_insert(NodeOutcome { status, at });
        // Most nodes are steps whose call has just been closed: nothing else is left to change.
        if !state.is_idle() || state.supervises() {
            self.set_phase(node, NodePhase::Idle);
            self.set_supervises(node, false);
        }
    }

    /// The run's handler is next, so all calls have settled and there is none to leave behind.
    fn all_settled(&mut self) {
        self.set_run_timers(self.deadline, None);
    }

    fn finish(&mut self, status: RunStatus, at: Time) -> &mut RunEnd {
        self.clear_index();
        self.clear_durable();
        self.scopes.clear();
        let undoable = status == RunStatus::Completed && self.undo.any_within(&Path::root());
        self.undo = UndoList::default();
        self.paused = false;
        self.ending = None;
        self.end.insert(RunEnd {
            status,
            at,
            output: None,
            failure: None,
            failed: None,
            reason: None,
            retried_as: None,
            triggers: None,
            not_undone: Vec::new(),
            undoable,
        })
    }
}

fn imported(
    seq: Seq,
    status: ImportedStatus,
    has_state: bool,
    has_failure: bool,
    started_at: Time,
    ended_at: Time,
) -> NodeState {
    let (status, soft) = match status {
        ImportedStatus::Completed => (NodeStatus::Completed, false),
        ImportedStatus::Skipped => (NodeStatus::Skipped, false),
        ImportedStatus::Failed => (NodeStatus::Failed, true),
    };
    NodeState {
        end: Some(NodeOutcome { status, at: ended_at }),
        soft,
        imported: true,
        result: (!soft).then_some(seq),
        state: has_state.then_some(seq),
        failure: has_failure.then_some(seq),
        started_at: Some(started_at),
        ..NodeState::default()
    }
}
