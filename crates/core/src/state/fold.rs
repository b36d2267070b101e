//! How each event changes the state.

use super::{End, Ending, HardFailure, NodeState, OpenCall, State, Timer, TimerKind};
use crate::event::{BlockedReason, Due, Event, ImportedStatus, Kind, LostReason, Role, Verdict};
use crate::failure::Failure;
use crate::ids::{Seq, Time};
use crate::path::Path;
use crate::status::{NodeStatus, RunStatus};

impl State {
    /// Folds one event in. Events come in order, without gaps.
    pub fn apply(&mut self, event: &Event) {
        debug_assert_eq!(event.seq, self.seq.next(), "events are folded in order");
        self.seq = event.seq;
        self.at = self.at.max(event.at);
        let (seq, at) = (event.seq, event.at);
        match &event.event {
            Kind::RunStarted { workflow, plan, deadline, retries_left, source, parent, .. } => {
                self.workflow.clone_from(workflow);
                self.plan = Some(plan.clone());
                self.started_at = at;
                self.retries_left = *retries_left;
                self.source.clone_from(source);
                self.parent.clone_from(parent);
                if let Some(at) = deadline {
                    self.timers.insert(Timer { at: *at, node: Path::root(), kind: TimerKind::RunDeadline });
                }
            }
            Kind::NodeImported { node, status, state, failure, started_at, ended_at, .. } => {
                let imported =
                    imported(seq, *status, state.is_some(), failure.is_some(), *started_at, *ended_at);
                self.nodes.insert(node.clone(), imported);
            }
            Kind::CallStarted { node, call, role, attempt, deadline } => {
                let open = OpenCall {
                    number: *call,
                    role: *role,
                    attempt: *attempt,
                    started: seq,
                    started_at: at,
                    deadline: *deadline,
                    waits_since: None,
                };
                self.call_started(node, open);
            }
            Kind::CallSucceeded { node, state, skipped, .. } => {
                self.call_succeeded(node, seq, at, state.is_some(), *skipped);
            }
            Kind::CallFailed { node, failure, state, verdict, .. } => {
                self.call_failed(node, seq, at, state.is_some(), failure, *verdict);
            }
            Kind::CallLost { node, reason, .. } => self.call_lost(node, *reason),
            Kind::CallCancelled { node, .. } => {
                self.close_call(node);
                self.end_node(node, NodeStatus::Cancelled, at);
                self.close_ops(node);
            }
            Kind::NodeStarted { node } => {
                self.held.remove(node);
                self.supervising.insert(node.clone());
                let state = self.begin(node, at);
                state.status = NodeStatus::Running;
                state.due = None;
            }
            Kind::NodeCompleted { node, result } => {
                self.supervising.remove(node);
                self.end_node(node, NodeStatus::Completed, at);
                self.entry(node).result = *result;
            }
            Kind::NodeFailed { node, child } => {
                self.supervising.remove(node);
                self.end_node(node, NodeStatus::Failed, at);
                let (failure, hard) = self
                    .nodes
                    .get(child)
                    .map(|child| (child.failure, child.hard.clone()))
                    .unwrap_or_default();
                let state = self.entry(node);
                state.failure = failure;
                state.hard = hard;
            }
            Kind::NodeCancelled { node } => {
                self.stop_waiting(node);
                self.supervising.remove(node);
                self.held.remove(node);
                self.blocked.remove(node);
                self.end_node(node, NodeStatus::Cancelled, at);
                self.close_ops(node);
            }
            Kind::NodeHeld { node, due } => {
                self.stop_waiting(node);
                if node.is_root() && due.is_some() {
                    self.all_settled();
                }
                self.held.insert(node.clone());
                let state = self.entry(node);
                state.due = *due;
                if !state.status.is_terminal() {
                    state.status = NodeStatus::Pending;
                }
            }
            Kind::NodeBlocked { node, reason } => self.block(node, reason),
            Kind::NodeUnblocked { node } => {
                self.blocked.remove(node);
                let state = self.entry(node);
                state.blocked = None;
                state.interruptions = 0;
                if !state.status.is_terminal() {
                    state.status = NodeStatus::Pending;
                }
            }
            Kind::SleepStarted { node, until } => {
                self.held.remove(node);
                self.begin(node, at);
                self.wait(node, *until, TimerKind::Sleep, NodeStatus::Waiting);
            }
            Kind::SleepEnded { node } => {
                self.stop_waiting(node);
                self.end_node(node, NodeStatus::Completed, at);
            }
            Kind::SignalReceived { .. }
            | Kind::SignalAwaited { .. }
            | Kind::SignalTaken { .. }
            | Kind::SignalTimedOut { .. } => self.apply_signal(&event.event, seq, at),
            Kind::OpStarted { .. }
            | Kind::OpEnded { .. }
            | Kind::OpStopping { .. }
            | Kind::ChildStarted { .. }
            | Kind::ChildRetried { .. }
            | Kind::ChildEnded { .. }
            | Kind::CallSuspended { .. } => self.apply_durable(&event.event, seq, at),
            Kind::CancelRequested { reason, force_at } => {
                self.ending = Some(Ending::Cancelling { reason: reason.clone() });
                self.force(*force_at);
            }
            Kind::RunPaused {} => self.paused = true,
            Kind::RunResumed {} => self.paused = false,
            Kind::RunFailing { failure, node, force_at } => {
                self.ending = Some(Ending::Failing { failure: failure.clone(), node: node.clone() });
                self.force(*force_at);
            }
            Kind::RunCompleted { output } => {
                self.finish(RunStatus::Completed, at).output = *output;
            }
            Kind::RunFailed { failure, node, retried_as } => {
                let end = self.finish(RunStatus::Failed, at);
                end.failure = Some(failure.clone());
                end.failed.clone_from(node);
                end.retried_as.clone_from(retried_as);
            }
            Kind::RunCancelled { reason } => {
                self.finish(RunStatus::Cancelled, at).reason.clone_from(reason);
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
        self.stop_waiting(node);
        self.held.remove(node);
        self.blocked.remove(node);
        self.calls.insert(node.clone());
        if let Some(at) = call.deadline {
            self.timers.insert(Timer { at, node: node.clone(), kind: TimerKind::Timeout(call.number) });
        }
        let state = self.begin(node, call.started_at);
        state.calls = call.number;
        state.due = None;
        match call.role {
            Role::Step => {
                state.attempts = call.attempt;
                state.status = NodeStatus::Running;
            }
            Role::Input | Role::Wait => state.status = NodeStatus::Running,
            // A handler runs after its node has ended; the node keeps its status.
            Role::OnError => {}
        }
        state.suspended = false;
        state.time_left_ms = None;
        let (attempt, at) = (call.attempt, call.started_at);
        state.call = Some(call);
        self.call_finds_ops(node, attempt, at);
    }

    /// Forgets the call at work and its timeout.
    pub(super) fn close_call(&mut self, node: &Path) -> Option<OpenCall> {
        self.calls.remove(node);
        self.waiting.remove(node);
        let call = self.entry(node).call.take()?;
        if let Some(at) = call.deadline {
            self.timers.remove(&Timer { at, node: node.clone(), kind: TimerKind::Timeout(call.number) });
        }
        Some(call)
    }

    fn call_succeeded(&mut self, node: &Path, seq: Seq, at: Time, has_state: bool, skipped: bool) {
        let Some(call) = self.close_call(node) else { return };
        match call.role {
            Role::Step => {
                let status = if skipped { NodeStatus::Skipped } else { NodeStatus::Completed };
                self.end_node(node, status, at);
                let state = self.entry(node);
                state.result = Some(seq);
                state.state = has_state.then_some(seq);
                self.close_ops(node);
            }
            Role::Input => self.entry(node).input = Some(seq),
            Role::Wait | Role::OnError => {}
        }
    }

    fn call_failed(
        &mut self,
        node: &Path,
        seq: Seq,
        at: Time,
        has_state: bool,
        failure: &Failure,
        verdict: Verdict,
    ) {
        let Some(call) = self.close_call(node) else { return };
        if call.role == Role::OnError {
            return;
        }
        let state = self.entry(node);
        state.failure = Some(seq);
        state.state = has_state.then_some(seq);
        match verdict {
            Verdict::RetryAt(when) => {
                state.due = Some(Due { role: call.role, attempt: call.attempt + 1 });
                self.wait(node, when, TimerKind::Retry, NodeStatus::WaitingRetry);
            }
            Verdict::Fail => {
                state.hard = Some(HardFailure { failure: failure.clone(), origin: node.clone() });
                self.end_node(node, NodeStatus::Failed, at);
            }
            Verdict::Continue => {
                state.soft = true;
                self.end_node(node, NodeStatus::Failed, at);
            }
        }
        self.close_ops(node);
    }

    /// The node failed without a call, and what is around it fails too.
    pub(super) fn fail_node(&mut self, node: &Path, seq: Seq, at: Time, failure: &Failure) {
        let state = self.entry(node);
        state.failure = Some(seq);
        state.hard = Some(HardFailure { failure: failure.clone(), origin: node.clone() });
        self.end_node(node, NodeStatus::Failed, at);
    }

    fn call_lost(&mut self, node: &Path, reason: LostReason) {
        let Some(call) = self.close_call(node) else { return };
        let state = self.entry(node);
        state.due = Some(Due { role: call.role, attempt: call.attempt });
        match reason {
            LostReason::Crash => state.interruptions += 1,
            LostReason::Shutdown => {}
        }
        if !state.status.is_terminal() {
            state.status = NodeStatus::Pending;
        }
        self.held.insert(node.clone());
    }

    fn block(&mut self, node: &Path, reason: &BlockedReason) {
        let due = self.close_call(node).map(|call| Due { role: call.role, attempt: call.attempt });
        self.held.remove(node);
        self.blocked.insert(node.clone());
        let state = self.entry(node);
        state.due = due.or(state.due);
        state.blocked = Some(reason.clone());
        if !state.status.is_terminal() {
            state.status = NodeStatus::Blocked;
        }
    }

    fn wait(&mut self, node: &Path, until: Time, kind: TimerKind, status: NodeStatus) {
        self.waits.insert(node.clone());
        self.timers.insert(Timer { at: until, node: node.clone(), kind });
        let state = self.entry(node);
        state.status = status;
        state.wake_at = Some(until);
    }

    pub(super) fn stop_waiting(&mut self, node: &Path) {
        if !self.waits.remove(node) {
            return;
        }
        if let Some(at) = self.entry(node).wake_at.take() {
            self.timers.remove(&Timer { at, node: node.clone(), kind: TimerKind::Retry });
            self.timers.remove(&Timer { at, node: node.clone(), kind: TimerKind::Sleep });
            self.timers.remove(&Timer { at, node: node.clone(), kind: TimerKind::Signal });
        }
        if let Some(awaited) = self.entry(node).awaited.take() {
            self.signals.stop(&awaited);
        }
    }

    pub(super) fn end_node(&mut self, node: &Path, status: NodeStatus, at: Time) {
        let state = self.entry(node);
        // A handler that is cancelled leaves its node as it ended.
        if !state.status.is_terminal() {
            state.status = status;
            state.ended_at = Some(at);
        }
        state.due = None;
        state.blocked = None;
    }

    /// The run is ending: its deadline means nothing any more.
    fn force(&mut self, at: Time) {
        self.timers.retain(|timer| timer.kind != TimerKind::RunDeadline);
        self.timers.insert(Timer { at, node: Path::root(), kind: TimerKind::Force });
    }

    /// The run's handler is next, so all calls have settled and there is none to leave behind.
    fn all_settled(&mut self) {
        self.timers.retain(|timer| timer.kind != TimerKind::Force);
    }

    fn finish(&mut self, status: RunStatus, at: Time) -> &mut End {
        self.timers.clear();
        self.calls.clear();
        self.waits.clear();
        self.held.clear();
        self.blocked.clear();
        self.supervising.clear();
        self.clear_durable();
        self.paused = false;
        self.ending = None;
        self.end.insert(End {
            status,
            at,
            output: None,
            failure: None,
            failed: None,
            reason: None,
            retried_as: None,
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
        status,
        soft,
        imported: true,
        result: (!soft).then_some(seq),
        state: has_state.then_some(seq),
        failure: has_failure.then_some(seq),
        started_at: Some(started_at),
        ended_at: Some(ended_at),
        ..NodeState::default()
    }
}
