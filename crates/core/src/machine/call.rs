//! The life of a call: one start of a user function.
//!
//! | state | what happens | then |
//! | --- | --- | --- |
//! | due | the run may go on | `CallStarted`, and the function is called |
//! | due | the run is paused, or the engine stops | `NodeHeld` |
//! | at work | it returns | `CallSucceeded` |
//! | at work | it fails, attempts remain | `CallFailed` with `retryAt`; due again at that time |
//! | at work | it answers for a supervisor what it must not | `CallFailed` |
//! | at work | it fails for good | `CallFailed`; the step's handler is called, then the node has ended |
//! | at work | its deadline comes | `CallFailed` with code `timeout`, as `onTimeout` says; it is told to stop |
//! | at work | the run is ending, or its lane lost | it is told to stop; `CallCancelled` when it settles |
//! | at work | it returns while something around it is ending | `CallSucceeded`; what would follow does not start |
//! | at work | it fails because an operation that it waited for was cancelled | `CallCancelled`, as if it had been suspended |
//! | at work | it fails after it was told to stop | `CallFailed` with `told`: whether it acted is not known |
//! | at work | the process dies, or what ran the function did | `CallLost`; due again, uncharged, up to five times |
//! | at work | what ran it was ended because of another call | `CallLost` with `bystander`: never counted |
//! | at work | it waits inside an operation, its time does not run | see `durable` |
//! | at work | it cannot go on without help | `NodeBlocked` |
//! | ended | anything | ignored: the call's number is not the current one |

use super::backoff::delay_ms;
use super::sleep::SleepEnd;
use super::{CallOutcome, Effect, HANDLER_TIMEOUT_MS, Machine, MachineTask, NewCall, StopReason};
use crate::event::{CallRole, DueCall, EventCause, EventKind, ExternalCause, FailureVerdict, LostReason};
use crate::failure::{Behavior, FailureRecord, StepError, code};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{CompensationSpec, ForEachNode, FunctionRef, NodeKind, OnTimeout, RetryPolicy, StepNode};
use crate::state::OpenCall;
use crate::value::Value;

/// What a call's success leads to.
enum Follows<'a> {
    /// The node has ended.
    End,
    /// The nested block starts.
    Nested,
    /// The sleep begins.
    Sleep(SleepEnd),
    /// The case of a branch starts, if one applies.
    Case(Option<String>),
    /// The next iteration of a loop starts, or the loop is done.
    Iteration(bool),
    /// So many items start.
    Items(&'a ForEachNode, u32),
    /// The supervisor is done, with this result.
    Completion,
}

impl<'a> Machine<'a> {
    /// Starts a call, or holds it.
    pub(super) fn begin_call(&mut self, node: &Path, due: DueCall, cause: Seq) {
        if !self.hold(node, Some(due), cause) {
            self.start_call(node, due, EventCause::Event(cause));
        }
    }

    pub(super) fn start_call(&mut self, node: &Path, due: DueCall, cause: EventCause) {
        let Some(function) = self.function(node, due.role) else {
            return self.broken(node, "a call starts that has no function");
        };
        let number = self.state.node(node).map_or(0, |node| node.calls) + 1;
        let DueCall { role, attempt } = due;
        // A call that goes the way of an earlier one again has the time of each stretch of work that was within it.
        let answers = if role == CallRole::Step { self.state.answers(node, attempt) } else { 0 };
        let limit = self.timeout_ms(node, role);
        let deadline = limit.map(|ms| self.env.now.plus_ms(ms.saturating_mul(1 + answers)));
        let limit_ms = limit.filter(|_| answers > 0);
        let undoable = role == CallRole::Step && self.compensation(node).is_some();
        let node_path = node.clone();
        let event = EventKind::CallStarted {
            node: node_path,
            call: number,
            role,
            attempt,
            deadline,
            limit_ms,
            undoable,
        };
        self.emit(event, cause);
        self.decision.effects.push(Effect::Call(NewCall {
            node: node.clone(),
            number,
            role,
            function,
            attempt,
        }));
    }

    pub(super) fn call_finished(&mut self, node: &Path, call: u32, outcome: CallOutcome) {
        let open = self.state.node(node).and_then(|node| node.open_call().cloned());
        // An earlier call has settled, and its outcome no longer counts.
        let Some(open) = open.filter(|open| open.number == call) else { return };
        match outcome {
            CallOutcome::Success { result, state, skipped } => {
                self.call_succeeded(node, &open, result, state, skipped);
            }
            // It passes on that what it waited for was cancelled: like one that was suspended while it waited.
            CallOutcome::Failure { error, state } if self.says_that_it_was_cancelled(node, &open, &error) => {
                self.cancel_call(node, &open, false, state, EventCause::Event(open.started));
            }
            CallOutcome::Failure { error, state } => {
                let verdict = self.verdict(node, &open, &error);
                self.call_failed(node, &open, error.failure, state, verdict, EventCause::Event(open.started));
            }
            // If it was not told to stop, it was lost.
            CallOutcome::Stopped { state } => {
                let cause = EventCause::Event(open.started);
                if self.is_call_ending(node, open.role) {
                    self.cancel_call(node, &open, false, state, cause);
                } else {
                    self.call_cut_short(node, &open, LostReason::Crash, cause);
                }
            }
            CallOutcome::Lost(reason) => self.lost_what_ran_it(node, &open, reason),
            CallOutcome::Blocked(reason) => {
                let blocked = self.emit(EventKind::NodeBlocked { node: node.clone(), reason }, open.started);
                // The function was not called, and is not waited for in what is ending.
                if self.is_call_ending(node, open.role) {
                    let cancelled = self.emit(EventKind::NodeCancelled { node: node.clone() }, blocked);
                    self.todo.push_back(MachineTask::Ended(node.clone(), cancelled));
                }
            }
        }
    }

    fn call_succeeded(
        &mut self,
        node: &Path,
        call: &OpenCall,
        result: Value,
        state: Option<Value>,
        skipped: bool,
    ) {
        let next = match self.what_follows(node, call.role, &result) {
            Ok(next) => next,
            Err(failure) => {
                let cause = EventCause::Event(call.started);
                return self.call_failed(node, call, failure, state, FailureVerdict::Fail, cause);
            }
        };
        let skipped = skipped && call.role == CallRole::Step;
        let event =
            EventKind::CallSucceeded { node: node.clone(), call: call.number, result, state, skipped };
        let seq = self.emit(event, call.started);
        if !matches!(next, Follows::End) && self.state.is_ending(node) {
            // The node has not ended with this call, and what would follow does not start any more.
            let cancelled = self.emit(EventKind::NodeCancelled { node: node.clone() }, seq);
            return self.todo.push_back(MachineTask::Ended(node.clone(), cancelled));
        }
        match next {
            Follows::End => self.todo.push_back(MachineTask::Ended(node.clone(), seq)),
            Follows::Nested => self.mapped_input(node, seq),
            Follows::Sleep(end) => self.sleep_until(node, end, seq),
            Follows::Case(case) => self.branch_chosen(node, case, seq),
            Follows::Iteration(goes_on) => self.loop_tested(node, goes_on, seq),
            Follows::Items(each, count) => self.items_listed(node, each, count, seq),
            Follows::Completion => self.complete(node, Some(seq), seq),
        }
    }

    /// What a function's answer leads to, or why it is no answer.
    fn what_follows(
        &self,
        node: &Path,
        role: CallRole,
        answer: &Value,
    ) -> Result<Follows<'a>, FailureRecord> {
        Ok(match role {
            CallRole::Input => Follows::Nested,
            CallRole::Wait => Follows::Sleep(Self::computed_wait(answer)?),
            CallRole::Choose | CallRole::Test | CallRole::Items => self.supervisor_answered(node, answer)?,
            CallRole::Finally => Follows::Completion,
            CallRole::Step | CallRole::OnError | CallRole::Compensate => Follows::End,
        })
    }

    /// The same for a function that says which lanes of its supervisor start.
    fn supervisor_answered(&self, node: &Path, answer: &Value) -> Result<Follows<'a>, FailureRecord> {
        Ok(match self.plan.node(node).map(|node| &node.node().kind) {
            Some(NodeKind::Branch(branch)) => Follows::Case(branch.case_of(node, answer)?),
            Some(NodeKind::Loop(each)) => Follows::Iteration(self.loop_goes_on(node, each, answer)?),
            Some(NodeKind::ForEach(each)) => Follows::Items(each, each.count_of(node, answer)?),
            // These have no such function.
            Some(
                NodeKind::Step(_)
                | NodeKind::Sleep(_)
                | NodeKind::Signal(_)
                | NodeKind::Parallel(_)
                | NodeKind::Workflow(_),
            )
            | None => Follows::End,
        })
    }

    fn mapped_input(&mut self, node: &Path, cause: Seq) {
        if !self.hold(node, None, cause) {
            self.start_nested_block(node, cause);
        }
    }

    pub(super) fn call_failed(
        &mut self,
        node: &Path,
        call: &OpenCall,
        failure: FailureRecord,
        state: Option<Value>,
        verdict: FailureVerdict,
        cause: EventCause,
    ) {
        let (told, number) = (self.was_told(node, call), call.number);
        let event = EventKind::CallFailed { node: node.clone(), call: number, failure, state, verdict, told };
        let seq = self.emit(event, cause);
        if matches!(verdict, FailureVerdict::RetryAt(_)) {
            return;
        }
        let handled =
            call.role == CallRole::Step && self.step(node).is_some_and(|step| step.on_error.is_some());
        if handled && !self.state.is_ending(node) {
            self.begin_call(node, DueCall { role: CallRole::OnError, attempt: 1 }, seq);
        } else {
            self.todo.push_back(MachineTask::Ended(node.clone(), seq));
        }
    }

    pub(super) fn call_timed_out(&mut self, node: &Path, call: u32) {
        let open = self.state.node(node).and_then(|node| node.open_call().cloned());
        let Some(open) = open.filter(|open| open.number == call) else {
            return self.broken(node, "a call times out that is not at work");
        };
        // Not the time from start to deadline: what it waited inside of operations does not count.
        let ms = self.timeout_ms(node, open.role).unwrap_or_default();
        let who = match open.role {
            CallRole::OnError if node.is_root() => "the run's handler".to_owned(),
            CallRole::OnError => format!("the handler of `{node}`"),
            CallRole::Compensate => format!("the compensation of `{node}`"),
            CallRole::Step
            | CallRole::Input
            | CallRole::Wait
            | CallRole::Choose
            | CallRole::Test
            | CallRole::Items
            | CallRole::Finally => {
                format!("`{node}`")
            }
        };
        let failure = FailureRecord::new(code::TIMEOUT, format!("{who} took longer than {ms} ms"));
        let (verdict, state) = (self.timeout_verdict(node, &open), self.env.states.written(node, call));
        self.call_failed(node, &open, failure, state, verdict, EventCause::Outside(ExternalCause::Clock));
        self.decision.effects.push(Effect::Stop { node: node.clone(), call, why: StopReason::Timeout });
    }

    /// The call has ended without an outcome, and is not made again.
    pub(super) fn cancel_unfinished(
        &mut self,
        node: &Path,
        call: &OpenCall,
        forced: bool,
        cause: EventCause,
    ) {
        let state = self.env.states.written(node, call.number);
        self.cancel_call(node, call, forced, state, cause);
    }

    fn cancel_call(
        &mut self,
        node: &Path,
        call: &OpenCall,
        forced: bool,
        state: Option<Value>,
        cause: EventCause,
    ) {
        let event = EventKind::CallCancelled { node: node.clone(), call: call.number, forced, state };
        let cancelled = self.emit(event, cause);
        self.todo.push_back(MachineTask::Ended(node.clone(), cancelled));
    }

    fn says_that_it_was_cancelled(&self, node: &Path, call: &OpenCall, error: &StepError) -> bool {
        let code = error.failure.code.as_str();
        call.told && self.was_told(node, call) && (code == code::CANCELLED || code == code::CHILD_CANCELLED)
    }

    /// Whether a step's call was told to stop: then its failure is no answer to whether it acted. In a block that
    /// fails, calls settle by themselves; told is only one whose durable operations were cancelled under it.
    fn was_told(&self, node: &Path, call: &OpenCall) -> bool {
        call.role == CallRole::Step
            && (call.told || self.state.ending.is_some() || self.state.is_in_lost_lane(node))
    }

    /// Whether a call that was cut short is not made again, because something around it is ending. The run's own
    /// handler and compensations belong to the end.
    pub(super) fn is_call_ending(&self, node: &Path, role: CallRole) -> bool {
        !node.is_root() && (role != CallRole::Compensate || self.state.killed) && self.state.is_ending(node)
    }

    /// Makes the call that a node waits for.
    pub(super) fn make_due_call(&mut self, node: &Path, cause: EventCause) {
        let Some(due) = self.state.node(node).and_then(|node| node.due()) else {
            return self.broken(node, "a call is made that is not due");
        };
        if self.holding() {
            self.emit(EventKind::NodeHeld { node: node.clone(), due: Some(due) }, cause);
        } else {
            self.start_call(node, due, cause);
        }
    }

    fn verdict(&self, node: &Path, call: &OpenCall, error: &StepError) -> FailureVerdict {
        let Some(tried) = self.retry_policy(node, call.role) else { return FailureVerdict::Fail };
        let configured = tried.max_attempts;
        let allowed = match error.behavior {
            // Nothing new starts in what is ending, nor does another attempt.
            _ if self.is_call_ending(node, call.role) => 0,
            Behavior::Stop | Behavior::Continue => 0,
            Behavior::Plain => configured.unwrap_or(1),
            Behavior::Retry => {
                let wanted = error.max_attempts.or(configured).unwrap_or(1);
                wanted.min(configured.unwrap_or(u32::MAX))
            }
        };
        let proceed = error.behavior == Behavior::Continue;
        self.verdict_within(&tried, node, call, allowed, Some(error), proceed)
    }

    /// When and how often a function is tried; `None` if once, whatever it says.
    fn retry_policy(&self, node: &Path, role: CallRole) -> Option<RetryPolicy> {
        match role {
            CallRole::Step => self.step(node).map(|step| step.retry.clone()),
            CallRole::Compensate => self.compensation(node).map(CompensationSpec::compensation_retry),
            _ => None,
        }
    }

    fn timeout_verdict(&self, node: &Path, call: &OpenCall) -> FailureVerdict {
        let Some(tried) = self.retry_policy(node, call.role) else { return FailureVerdict::Fail };
        let again = match (call.role, self.step(node)) {
            (CallRole::Step, Some(step)) => step.on_timeout == OnTimeout::Retry,
            // What is to be undone is tried again, whatever went wrong.
            _ => true,
        };
        let again = again && !self.is_call_ending(node, call.role);
        let allowed = if again { tried.max_attempts.unwrap_or(1) } else { 0 };
        self.verdict_within(&tried, node, call, allowed, None, false)
    }

    fn verdict_within(
        &self,
        tried: &RetryPolicy,
        node: &Path,
        call: &OpenCall,
        allowed: u32,
        error: Option<&StepError>,
        proceed: bool,
    ) -> FailureVerdict {
        if call.attempt < allowed {
            let delay = delay_ms(tried, error, call.attempt, self.env.run, node);
            FailureVerdict::RetryAt(self.env.now.plus_ms(delay))
        } else if call.role == CallRole::Step
            && (proceed || self.step(node).is_some_and(|step| step.continue_on_error))
        {
            FailureVerdict::Continue
        } else {
            FailureVerdict::Fail
        }
    }

    pub(super) fn step(&self, node: &Path) -> Option<&StepNode> {
        match &self.plan.node(node)?.node().kind {
            NodeKind::Step(step) => Some(step),
            NodeKind::Sleep(_)
            | NodeKind::Signal(_)
            | NodeKind::Branch(_)
            | NodeKind::Loop(_)
            | NodeKind::ForEach(_)
            | NodeKind::Parallel(_)
            | NodeKind::Workflow(_) => None,
        }
    }

    fn function(&self, node: &Path, role: CallRole) -> Option<FunctionRef> {
        if node.is_root() {
            return self.plan.plan().on_error.clone();
        }
        self.plan.node(node)?.node().kind.function(role).cloned()
    }

    fn timeout_ms(&self, node: &Path, role: CallRole) -> Option<u64> {
        match role {
            CallRole::Step => self.step(node)?.timeout_ms,
            // A handler that hangs must not keep its run from ending.
            CallRole::OnError => Some(HANDLER_TIMEOUT_MS),
            CallRole::Compensate => self.compensation(node)?.timeout_ms.or(Some(HANDLER_TIMEOUT_MS)),
            CallRole::Input
            | CallRole::Wait
            | CallRole::Choose
            | CallRole::Test
            | CallRole::Items
            | CallRole::Finally => None,
        }
    }
}
