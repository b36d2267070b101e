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
//! | at work | it fails because an operation that it waited for was stopped | `CallCancelled`, as if it had been let go |
//! | at work | it fails after it was told to stop | `CallFailed` with `told`: whether it acted is not known |
//! | at work | the process dies, or what ran the function did | `CallLost`; due again, uncharged, up to five times |
//! | at work | what ran it was ended because of another call | `CallLost` with `bystander`: never counted |
//! | at work | it waits inside an operation, its time does not run | see `durable` |
//! | at work | it cannot go on without help | `NodeBlocked` |
//! | ended | anything | ignored: the call's number is not the current one |

use super::backoff::delay_ms;
use super::sleep::SleepEnd;
use super::{Call, Effect, HANDLER_TIMEOUT_MS, Machine, Outcome, StopReason, Todo};
use crate::event::{Cause, Due, Kind, LostReason, Outside, Role, Verdict};
use crate::failure::{Behavior, Failure, StepError, code};
use crate::ids::Seq;
use crate::path::Path;
use crate::plan::{Compensation, ForEach, LoopTest, NodeKind, OnTimeout, Retry, Step, Wait};
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
    Items(&'a ForEach, u32),
    /// The supervisor is done, with this result.
    Completion,
}

impl<'a> Machine<'a> {
    /// Starts a call, or holds it.
    pub(super) fn begin_call(&mut self, node: &Path, due: Due, cause: Seq) {
        if !self.hold(node, Some(due), cause) {
            self.start_call(node, due, Cause::Event(cause));
        }
    }

    pub(super) fn start_call(&mut self, node: &Path, due: Due, cause: Cause) {
        let Some(function) = self.function(node, due.role) else { return };
        let number = self.state.node(node).map_or(0, |node| node.calls) + 1;
        let Due { role, attempt } = due;
        // A call that goes the way of an earlier one again has the time of each stretch of work that was within it.
        let answers = if role == Role::Step { self.state.answers(node, attempt) } else { 0 };
        let limit = self.timeout_ms(node, role);
        let deadline = limit.map(|ms| self.env.now.plus_ms(ms.saturating_mul(1 + answers)));
        let limit_ms = limit.filter(|_| answers > 0);
        let undoable = role == Role::Step && self.compensation(node).is_some();
        let node_path = node.clone();
        let event =
            Kind::CallStarted { node: node_path, call: number, role, attempt, deadline, limit_ms, undoable };
        self.emit(event, cause);
        self.turn.effects.push(Effect::Call(Call { node: node.clone(), number, role, function, attempt }));
    }

    pub(super) fn call_finished(&mut self, node: &Path, call: u32, outcome: Outcome) {
        let open = self.state.node(node).and_then(|node| node.call.clone());
        let Some(open) = open.filter(|open| open.number == call) else { return };
        match outcome {
            Outcome::Success { result, state, skipped } => {
                self.call_succeeded(node, &open, result, state, skipped);
            }
            // It passes on that what it waited for was stopped: like one that was let go while it waited.
            Outcome::Failure { error, state } if self.says_that_it_was_stopped(node, &open, &error) => {
                self.cancel_call(node, &open, false, state, Cause::Event(open.started));
            }
            Outcome::Failure { error, state } => {
                let verdict = self.verdict(node, &open, &error);
                self.call_failed(node, &open, error.failure, state, verdict, Cause::Event(open.started));
            }
            // If it was not told to stop, it was lost.
            Outcome::Stopped { state } => {
                let cause = Cause::Event(open.started);
                if self.is_given_up(node, open.role) {
                    self.cancel_call(node, &open, false, state, cause);
                } else {
                    self.call_cut_short(node, &open, LostReason::Crash, cause);
                }
            }
            Outcome::Lost(reason) => self.lost_what_ran_it(node, &open, reason),
            Outcome::Blocked(reason) => {
                let blocked = self.follow(Kind::NodeBlocked { node: node.clone(), reason }, open.started);
                // The function was not called, and is not waited for in what is ending.
                if self.is_given_up(node, open.role) {
                    let cancelled = self.follow(Kind::NodeCancelled { node: node.clone() }, blocked);
                    self.todo.push_back(Todo::Ended(node.clone(), cancelled));
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
                let cause = Cause::Event(call.started);
                return self.call_failed(node, call, failure, state, Verdict::Fail, cause);
            }
        };
        let skipped = skipped && call.role == Role::Step;
        let event = Kind::CallSucceeded { node: node.clone(), call: call.number, result, state, skipped };
        let seq = self.follow(event, call.started);
        if !matches!(next, Follows::End) && self.state.is_ending(node) {
            // The node has not ended with this call, and what would follow does not start any more.
            let cancelled = self.follow(Kind::NodeCancelled { node: node.clone() }, seq);
            return self.todo.push_back(Todo::Ended(node.clone(), cancelled));
        }
        match next {
            Follows::End => self.todo.push_back(Todo::Ended(node.clone(), seq)),
            Follows::Nested => self.mapped_input(node, seq),
            Follows::Sleep(end) => self.sleep_until(node, end, seq),
            Follows::Case(case) => self.branch_chosen(node, case, seq),
            Follows::Iteration(goes_on) => self.loop_tested(node, goes_on, seq),
            Follows::Items(each, count) => self.items_listed(node, each, count, seq),
            Follows::Completion => self.complete(node, Some(seq), seq),
        }
    }

    /// What a function's answer leads to, or why it is no answer.
    fn what_follows(&self, node: &Path, role: Role, answer: &Value) -> Result<Follows<'a>, Failure> {
        let kind = self.plan.node(node).map(|node| &node.node().kind);
        Ok(match (role, kind) {
            (Role::Input, _) => Follows::Nested,
            (Role::Wait, _) => Follows::Sleep(Self::computed_wait(answer)?),
            (Role::Choose, Some(NodeKind::Branch(branch))) => Follows::Case(branch.case_of(node, answer)?),
            (Role::Test, Some(NodeKind::Loop(each))) => {
                Follows::Iteration(self.loop_goes_on(node, each, answer)?)
            }
            (Role::Items, Some(NodeKind::ForEach(each))) => {
                Follows::Items(each, each.count_of(node, answer)?)
            }
            (Role::Finally, _) => Follows::Completion,
            _ => Follows::End,
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
        failure: Failure,
        state: Option<Value>,
        verdict: Verdict,
        cause: Cause,
    ) {
        let (told, number) = (self.was_told(node, call), call.number);
        let event = Kind::CallFailed { node: node.clone(), call: number, failure, state, verdict, told };
        let seq = self.emit(event, cause);
        if matches!(verdict, Verdict::RetryAt(_)) {
            return;
        }
        let handled = call.role == Role::Step && self.step(node).is_some_and(|step| step.on_error.is_some());
        if handled && !self.state.is_ending(node) {
            self.begin_call(node, Due { role: Role::OnError, attempt: 1 }, seq);
        } else {
            self.todo.push_back(Todo::Ended(node.clone(), seq));
        }
    }

    pub(super) fn call_timed_out(&mut self, node: &Path, call: u32) {
        let open = self.state.node(node).and_then(|node| node.call.clone());
        let Some(open) = open.filter(|open| open.number == call) else { return };
        // Not the time from start to deadline: what it waited inside of operations does not count.
        let ms = self.timeout_ms(node, open.role).unwrap_or_default();
        let who = match open.role {
            Role::OnError if node.is_root() => "the run's handler".to_owned(),
            Role::OnError => format!("the handler of `{node}`"),
            Role::Compensate => format!("the compensation of `{node}`"),
            Role::Step
            | Role::Input
            | Role::Wait
            | Role::Choose
            | Role::Test
            | Role::Items
            | Role::Finally => {
                format!("`{node}`")
            }
        };
        let failure = Failure::new(code::TIMEOUT, format!("{who} took longer than {ms} ms"));
        let (verdict, state) = (self.timeout_verdict(node, &open), self.env.states.written(node, call));
        self.call_failed(node, &open, failure, state, verdict, Cause::Outside(Outside::Clock));
        self.turn.effects.push(Effect::Stop { node: node.clone(), call, why: StopReason::Timeout });
    }

    /// The call has ended without an outcome, and is not made again.
    pub(super) fn give_up(&mut self, node: &Path, call: &OpenCall, forced: bool, cause: Cause) {
        let state = self.env.states.written(node, call.number);
        self.cancel_call(node, call, forced, state, cause);
    }

    fn cancel_call(
        &mut self,
        node: &Path,
        call: &OpenCall,
        forced: bool,
        state: Option<Value>,
        cause: Cause,
    ) {
        let event = Kind::CallCancelled { node: node.clone(), call: call.number, forced, state };
        let cancelled = self.emit(event, cause);
        self.todo.push_back(Todo::Ended(node.clone(), cancelled));
    }

    fn says_that_it_was_stopped(&self, node: &Path, call: &OpenCall, error: &StepError) -> bool {
        let code = error.failure.code.as_str();
        call.told && self.was_told(node, call) && (code == code::CANCELLED || code == code::CHILD_CANCELLED)
    }

    /// Whether a step's call was told to stop: then its failure is no answer to whether it acted. In a block that
    /// fails, calls settle by themselves; told is only one whose durable operations were stopped under it.
    fn was_told(&self, node: &Path, call: &OpenCall) -> bool {
        call.role == Role::Step
            && (call.told || self.state.ending.is_some() || self.state.is_in_lost_lane(node))
    }

    /// Whether a call that was cut short is not made again, because something around it is ending. The run's own
    /// handler and compensations belong to the end.
    pub(super) fn is_given_up(&self, node: &Path, role: Role) -> bool {
        !node.is_root() && (role != Role::Compensate || self.state.killed) && self.state.is_ending(node)
    }

    /// Makes the call that a node waits for.
    pub(super) fn make_due_call(&mut self, node: &Path, cause: Cause) {
        let Some(due) = self.state.node(node).and_then(|node| node.due) else { return };
        if self.holding() {
            self.emit(Kind::NodeHeld { node: node.clone(), due: Some(due) }, cause);
        } else {
            self.start_call(node, due, cause);
        }
    }

    fn verdict(&self, node: &Path, call: &OpenCall, error: &StepError) -> Verdict {
        let Some(tried) = self.tried(node, call.role) else { return Verdict::Fail };
        let configured = tried.max_attempts;
        let allowed = match error.behavior {
            // Nothing new starts in what is ending, nor does another attempt.
            _ if self.is_given_up(node, call.role) => 0,
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
    fn tried(&self, node: &Path, role: Role) -> Option<Retry> {
        match role {
            Role::Step => self.step(node).map(|step| step.retry.clone()),
            Role::Compensate => self.compensation(node).map(Compensation::tried),
            _ => None,
        }
    }

    fn timeout_verdict(&self, node: &Path, call: &OpenCall) -> Verdict {
        let Some(tried) = self.tried(node, call.role) else { return Verdict::Fail };
        let again = match (call.role, self.step(node)) {
            (Role::Step, Some(step)) => step.on_timeout == OnTimeout::Retry,
            // What is to be undone is tried again, whatever went wrong.
            _ => true,
        };
        let again = again && !self.is_given_up(node, call.role);
        let allowed = if again { tried.max_attempts.unwrap_or(1) } else { 0 };
        self.verdict_within(&tried, node, call, allowed, None, false)
    }

    fn verdict_within(
        &self,
        tried: &Retry,
        node: &Path,
        call: &OpenCall,
        allowed: u32,
        error: Option<&StepError>,
        proceed: bool,
    ) -> Verdict {
        if call.attempt < allowed {
            let delay = delay_ms(tried, error, call.attempt, self.env.run, node);
            Verdict::RetryAt(self.env.now.plus_ms(delay))
        } else if call.role == Role::Step
            && (proceed || self.step(node).is_some_and(|step| step.continue_on_error))
        {
            Verdict::Continue
        } else {
            Verdict::Fail
        }
    }

    pub(super) fn step(&self, node: &Path) -> Option<&Step> {
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

    fn function(&self, node: &Path, role: Role) -> Option<String> {
        if node.is_root() {
            return self.plan.plan().on_error.clone();
        }
        match (&self.plan.node(node)?.node().kind, role) {
            (NodeKind::Step(step), Role::Step) => Some(step.function.clone()),
            (NodeKind::Step(step), Role::OnError) => step.on_error.clone(),
            (NodeKind::Step(step), Role::Compensate) => {
                step.compensate.as_ref().map(|undo| undo.function.clone())
            }
            (NodeKind::Branch(branch), Role::Choose) => Some(branch.choose.clone()),
            (NodeKind::Loop(each), Role::Test) => match &each.test {
                LoopTest::Until(function) | LoopTest::While(function) => Some(function.clone()),
            },
            (NodeKind::ForEach(each), Role::Items) => Some(each.items.clone()),
            (NodeKind::Parallel(parallel), Role::Finally) => parallel.finally.clone(),
            (NodeKind::Workflow(nested), Role::Input) => nested.input.clone(),
            (NodeKind::Workflow(nested), Role::OnError) => nested.on_error.clone(),
            (NodeKind::Sleep(sleep), Role::Wait) => match &sleep.wait {
                Wait::Computed(function) => Some(function.clone()),
                Wait::ForMs(_) | Wait::UntilMs(_) => None,
            },
            _ => None,
        }
    }

    fn timeout_ms(&self, node: &Path, role: Role) -> Option<u64> {
        match role {
            Role::Step => self.step(node)?.timeout_ms,
            // A handler that hangs must not keep its run from ending.
            Role::OnError => Some(HANDLER_TIMEOUT_MS),
            Role::Compensate => self.compensation(node)?.timeout_ms.or(Some(HANDLER_TIMEOUT_MS)),
            Role::Input | Role::Wait | Role::Choose | Role::Test | Role::Items | Role::Finally => None,
        }
    }
}
