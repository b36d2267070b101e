//! The calls of a live run: starts them with what they asked for, tells them to stop, hears how they ended.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};
use std::task::Poll;
use std::time::Instant;

use rival_core::durable::Replay;
use rival_core::event::{BlockedReason, CallRole};
use rival_core::machine::{CallOutcome, Effect, GRACE_MS, LiveStates, MachineInput, NewCall, StopReason};
use rival_core::plan::FunctionRef;
use rival_core::repeated::RepeatedPart;
use rival_core::state::{NodeState, RunEnding};
use rival_core::{Path, Seq, Value};
use rival_store::LogLine;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::call::context::{RunInfo, StateCell};
use crate::call::exchange::HttpExchange;
use crate::call::function::{FunctionNeeds, UserFunction};
use crate::call::inputs::{FailureSource, RoleInputs, SeenSteps, WhatFailed, WhatIsUndone};
use crate::call::job::{CallJob, CaughtFuture};
use crate::call::log::Log;
use crate::call::parked::CallWatch;
use crate::call::values::RecordedValue;
use crate::durable::handle::{CallProgress, DurableHandle};
use crate::durable::idle::IdleTracker;
use crate::durable::op_session::OpSession;
use crate::run::actor::{Actor, PendingCommit};
use crate::run::mailbox::{ActorMessage, CallEnd, StepSnapshot};
use crate::schedule::clock::Clock;
use crate::schedule::store_retry::warn_of_fault;

/// A call at work.
pub(crate) struct RunningCall {
    pub(crate) number: u32,
    pub(crate) role: CallRole,
    pub(crate) attempt: u32,
    pub(crate) info: Arc<RunInfo>,
    token: CancellationToken,
    abort: AbortHandle,
    /// It watches its token, so it is told and given time.
    cooperative: bool,
    end: CallEnd,
    log: Log,
    state: StateCell,
    /// How large a state may be that is recorded.
    state_max: usize,
    /// When the call began, if an observer measures it and has not been told of its end.
    pub(crate) began: Option<Instant>,
    /// What it asks for, if it asks for durable things.
    pub(crate) session: Option<OpSession>,
    /// On a virtual clock.
    watch: Option<Arc<CallWatch>>,
}

/// The calls of a live run that are at work, by node.
#[derive(Default)]
pub(crate) struct LiveCalls(HashMap<Path, RunningCall>);

impl Deref for LiveCalls {
    type Target = HashMap<Path, RunningCall>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for LiveCalls {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl std::fmt::Debug for LiveCalls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl LiveStates for LiveCalls {
    fn written(&self, node: &Path, call: u32) -> Option<Value> {
        self.0.get(node).filter(|running| running.number == call)?.written()
    }
}

impl RunningCall {
    /// What it has put into its state so far; nothing if that is too large to be recorded.
    fn written(&self) -> Option<Value> {
        self.state.to_value().filter(|state| state.len_bytes() <= self.state_max)
    }

    /// The log lines that it has written and that are not stored yet.
    pub(crate) fn unstored(&self) -> Vec<LogLine> {
        self.log.take()
    }

    /// An idle call does not count as in flight; ending it relies on that.
    fn busy_again(&self) {
        if let Some(watch) = &self.watch {
            watch.ends();
        }
        if let Some(session) = &self.session {
            session.idle_tracker.ends();
        }
    }

    /// Drops the call: its result is not wanted any more.
    pub(crate) fn abandon(&self) {
        if self.cooperative {
            self.token.cancel();
        }
        self.busy_again();
        self.abort.abort();
        // Its end is not reported.
        self.end.settle(|| ());
    }
}

/// The token of functions that do not watch theirs, which are most: it is never triggered.
fn never() -> CancellationToken {
    static NEVER: LazyLock<CancellationToken> = LazyLock::new(CancellationToken::new);
    NEVER.clone()
}

impl Actor {
    /// Does what was decided. What ends at once is decided in turn, and is pending then.
    pub(crate) async fn perform(&mut self, mut effects: Vec<Effect>) -> PendingCommit {
        let mut pending = PendingCommit::default();
        let alone = effects.len() == 1;
        // A call takes the place of the one before it in its node, which must be stopped by then. One that is stopped
        // in the decision in which it was started is started first.
        if !alone {
            effects.sort_by_cached_key(|effect| match effect {
                Effect::Stop { node, call, .. } => {
                    self.calls.get(node).is_none_or(|running| running.number != *call)
                }
                Effect::Call(_) | Effect::Answer { .. } => true,
            });
        }
        let mut answers = Vec::new();
        for effect in effects {
            match effect {
                Effect::Call(call) => self.call(call, alone, &mut pending).await,
                Effect::Stop { node, call, why } => self.stop_call(node, call, why).await,
                Effect::Answer { node, call, op } => answers.push((node, call, op)),
            }
        }
        self.answer(&answers);
        pending
    }

    async fn call(&mut self, call: NewCall, alone: bool, pending: &mut PendingCommit) {
        // A later event of the same decision may have ended it.
        let current = self.state.node(&call.node).and_then(|node| node.open_call());
        if current.is_none_or(|open| open.number != call.number) {
            return;
        }
        let (node, number) = (call.node.clone(), call.number);
        let function = match self.function(&call) {
            Ok(function) => function,
            Err(missing) => {
                let outcome = CallOutcome::Blocked(missing);
                self.decide(MachineInput::CallFinished { node, call: number, outcome }, pending);
                return;
            }
        };
        if function.needs().iteration
            && let Err(error) = self.bring_items(&node, call.role).await
        {
            tracing::error!(run = %self.links.run, %node, %error, "the items cannot be read");
            let outcome = CallOutcome::Blocked(BlockedReason::Undecodable { message: error.to_string() });
            self.decide(MachineInput::CallFinished { node, call: number, outcome }, pending);
            return;
        }
        let mut job = self.job(call, function);
        // A function that ends at its first poll costs no task. Only one that is called alone is tried
        // here: the others of a group should start side by side.
        if !alone || !job.is_ready() {
            let session = self.op_session(&job);
            return self.at_work(job, None, session);
        }
        let began = self.shared.observers.stopwatch();
        let mut made = job.begin();
        match futures::poll!(&mut made) {
            Poll::Ready(returned) => {
                let outcome = job.conclude(returned);
                pending.logs.extend(job.log.take());
                self.observe_call_end(&node, number, began, &job.info.http, &outcome);
                self.decide(MachineInput::CallFinished { node, call: number, outcome }, pending);
            }
            Poll::Pending => self.at_work(job, Some(made), None),
        }
    }

    /// The function that the plan refers to.
    fn function(&mut self, call: &NewCall) -> Result<Arc<dyn UserFunction>, BlockedReason> {
        match &call.function {
            FunctionRef::Named(name) => self
                .named_function(name)
                .ok_or_else(|| BlockedReason::FunctionMissing { function: name.clone(), why: None }),
            FunctionRef::Builtin(builtin) => {
                let generation = self.shared.builtins.generation();
                let bound = self.links.plan.builtin(&self.shared.builtins, &call.node, call.role, builtin);
                bound.map_err(|error| {
                    self.missed_builtins = Some(generation);
                    let (function, why) = error.into_parts();
                    BlockedReason::FunctionMissing { function, why: Some(why) }
                })
            }
        }
    }

    /// The function with this name: the run's own, or the newest where the engine prefers that.
    fn named_function(&self, name: &str) -> Option<Arc<dyn UserFunction>> {
        let newest = self
            .shared
            .limits
            .newest_functions
            .then(|| self.shared.registry.get(&self.links.registered.name));
        let newest = newest.flatten().and_then(|newest| newest.function(&self.links.plan, name).cloned());
        newest.or_else(|| self.links.registered.function(&self.links.plan, name).cloned())
    }

    /// The way of a call through what its step has asked for before.
    fn op_session(&mut self, job: &CallJob) -> Option<OpSession> {
        let (_, idle_tracker) = job.role_inputs.durable()?;
        let replay = Replay::new(self.state.ops.get(&job.call.node), job.call.attempt);
        self.op_nodes.insert(job.call.node.clone());
        Some(OpSession::new(Arc::clone(idle_tracker), replay))
    }

    /// Gives a call a task of its own; it may have begun.
    fn at_work(&mut self, job: CallJob, made: Option<CaughtFuture>, session: Option<OpSession>) {
        let NewCall { number, role, attempt, .. } = job.call;
        let node = job.call.node.clone();
        let (end, log) = (CallEnd::new(&self.shared.in_flight), job.log.clone());
        let info = Arc::clone(&job.info);
        let (token, state, watch) = (job.token.clone(), job.state.clone(), job.watch.clone());
        let (cooperative, state_max) = (job.function.needs().cancellation, job.links.payload_max);
        let (returned, at, links) = (end.clone(), node.clone(), Arc::clone(&self.links));
        let task = tokio::spawn(async move {
            let log = job.log.clone();
            let outcome = job.run(made).await;
            returned.settle(|| {
                let logs = log.take();
                links.mailbox.send(ActorMessage::CallFinished { node: at, call: number, outcome, logs });
            });
        });
        let abort = task.abort_handle();
        let began = self.shared.observers.stopwatch();
        let running = RunningCall {
            number,
            role,
            attempt,
            info,
            token,
            abort,
            cooperative,
            end,
            log,
            state,
            state_max,
            began,
            session,
            watch,
        };
        self.calls.insert(node, running);
    }

    async fn stop_call(&mut self, node: Path, call: u32, why: StopReason) {
        let Some(running) = self.calls.get(&node).filter(|running| running.number == call) else { return };
        if running.cooperative {
            running.token.cancel();
        } else {
            running.busy_again();
            running.abort.abort();
            let (lines, outcome) = (running.unstored(), CallOutcome::Stopped { state: running.written() });
            running.end.settle(|| {
                let message = ActorMessage::CallFinished { node, call, outcome, logs: Vec::new() };
                self.links.mailbox.send(message);
            });
            // Not with the message: the run may have ended, and then its actor reads no more messages.
            return self.store_lines(lines).await;
        }
        // Its outcome is recorded. The code may still be cleaning up, also after the run's end, and is dropped
        // after the same time as in a cancel.
        if why == StopReason::Timeout
            && let Some(running) = self.calls.remove(&node)
        {
            let clock = self.shared.clock.clone();
            let grace_ends = clock.now().plus_ms(GRACE_MS);
            tokio::spawn(async move {
                clock.until(grace_ends).await;
                running.abandon();
            });
        }
    }

    pub(crate) async fn store_lines(&self, lines: Vec<LogLine>) {
        if lines.is_empty() {
            return;
        }
        let stored = async { self.shared.store.get()?.append_logs(lines).await };
        if let Err(error) = stored.await {
            warn_of_fault(&self.links.run, &error, &"log lines could not be stored");
        }
    }

    fn job(&self, call: NewCall, function: Arc<dyn UserFunction>) -> CallJob {
        let needs = function.needs();
        let watches = needs.cancellation;
        let from = self.visible_from(&call.node, call.role);
        let seen = self.seen_steps(&call.node, &from, needs);
        let iteration =
            needs.iteration.then(|| self.standpoint(&call.node, call.role, needs.items)).flatten();
        let role_inputs = self.role_inputs(&call, needs.durable);
        let info = Arc::new(RunInfo {
            run_id: Some(self.links.run.clone()),
            workflow: Arc::clone(&self.links.registered.name),
            node: call.node.clone(),
            attempt: call.attempt,
            call: call.number,
            trace: self.trace_of(&call.node, call.role, call.number),
            http: HttpExchange::default(),
        });
        let idle_tracker = role_inputs.durable().map(|(_, idle_tracker)| Arc::clone(idle_tracker));
        let progress = role_inputs.durable().map(|(durable, _)| durable.progress().clone());
        let watch = matches!(self.shared.clock, Clock::Virtual(_))
            .then(|| CallWatch::new(&self.shared.in_flight, needs.elsewhere, idle_tracker));
        CallJob {
            watch,
            log: Log::new(Arc::clone(&info), self.shared.clock.clone()).after(progress),
            info,
            input: self.recorded(self.input_of(&call.node, call.role)),
            seen,
            iteration,
            role_inputs,
            from,
            status: self.state.status(),
            call,
            function,
            token: if watches { CancellationToken::new() } else { never() },
            state: StateCell::default(),
            links: Arc::clone(&self.links),
        }
    }

    /// The other steps that a function asks for, seen from here.
    fn seen_steps(&self, node: &Path, from: &Path, needs: &FunctionNeeds) -> SeenSteps {
        let outputs = needs.outputs.iter().map(|need| {
            let name = self.links.registered.name_in(&self.links.plan, &need.function);
            let path = self.links.plan.producer(from, name)?;
            self.step_snapshot(&path)
        });
        let before = if needs.last_step { self.links.plan.before(node) } else { None };
        SeenSteps {
            outputs: outputs.collect(),
            named: needs.steps.iter().map(|id| self.visible_step(from, id)).collect(),
            last: before.and_then(|path| self.step_snapshot(&path)),
        }
    }

    /// What only calls of this role are given.
    fn role_inputs(&self, call: &NewCall, wants_durable: bool) -> RoleInputs {
        let node = &call.node;
        match call.role {
            CallRole::Step => RoleInputs::Step { durable: wants_durable.then(|| self.durable(call)) },
            CallRole::OnError => RoleInputs::Handler(self.what_failed(node)),
            CallRole::Compensate => RoleInputs::Compensation(self.what_is_undone(node)),
            CallRole::Finally => {
                let joined = self.state.node(node).and_then(|node| node.joined);
                RoleInputs::Finally { joined: joined.map(|seq| self.recorded(seq)) }
            }
            CallRole::Input | CallRole::Wait | CallRole::Choose | CallRole::Test | CallRole::Items => {
                RoleInputs::Decider
            }
        }
    }

    fn durable(&self, call: &NewCall) -> (DurableHandle, Arc<IdleTracker>) {
        let (node, number) = (&call.node, call.number);
        let idle_tracker = IdleTracker::new(&self.shared, &self.links.mailbox, node, number);
        let tracker = Arc::clone(&idle_tracker);
        let progress = CallProgress::new(RepeatedPart::new(self.state.ops.get(node), call.attempt));
        let (run, mailbox, store) = (&self.links.run, &self.links.mailbox, &self.shared.store);
        let handle = DurableHandle::new(node, number, run, mailbox, store, tracker, progress);
        (handle, idle_tracker)
    }

    /// The event that holds the input which a function at this node sees.
    fn input_of(&self, node: &Path, role: CallRole) -> Seq {
        // The function that maps a nested workflow's input sees the outer one.
        let mut at = if role == CallRole::Input { node.parent() } else { Some(node.clone()) };
        while let Some(path) = at {
            if let Some(input) = self.state.node(&path).and_then(|node| node.input) {
                return input;
            }
            at = path.parent();
        }
        Seq(1)
    }

    /// The place from which a function looks at other steps. A loop's test looks back at the iteration that is done.
    fn visible_from(&self, node: &Path, role: CallRole) -> Path {
        let lanes =
            self.state.node(node).and_then(|node| node.lanes.as_ref()).filter(|_| role == CallRole::Test);
        match lanes.and_then(|lanes| lanes.next.checked_sub(1)) {
            Some(last) => node.iteration(last),
            None => node.clone(),
        }
    }

    fn what_is_undone(&self, node: &Path) -> WhatIsUndone {
        let completed = self.state.undo.completed(node) == Some(true);
        let result = self.state.node(node).and_then(|node| node.result).filter(|_| completed);
        WhatIsUndone { result: result.map(|seq| self.recorded(seq)), completed }
    }

    pub(crate) fn recorded(&self, seq: Seq) -> RecordedValue {
        self.values
            .get(seq)
            .map_or(RecordedValue::Stored(seq), |event| RecordedValue::AtHand(Arc::clone(event)))
    }

    /// Another step, as a function at `from` sees it.
    pub(crate) fn visible_step(&self, from: &Path, name: &str) -> Option<StepSnapshot> {
        self.step_snapshot(&self.links.plan.visible(from, name)?)
    }

    fn step_snapshot(&self, path: &Path) -> Option<StepSnapshot> {
        let pending = NodeState::default();
        let node = self.state.node(path).unwrap_or(&pending);
        Some(StepSnapshot {
            name: path.id().to_owned(),
            status: node.status(),
            result: node.result.map(|seq| self.recorded(seq)),
            state: node.state.map(|seq| self.recorded(seq)),
        })
    }

    fn what_failed(&self, handler: &Path) -> WhatFailed {
        let (failure, path) = match &self.state.ending {
            Some(RunEnding::Failing { failure, node }) if handler.is_root() => {
                (FailureSource::Known(failure.clone()), node.clone().unwrap_or_else(Path::root))
            }
            _ => {
                let node = self.state.node(handler);
                let seq = node.and_then(|node| node.failure).unwrap_or(Seq::ZERO);
                // The handler of a nested workflow is told which of its steps it was.
                let origin = node.and_then(|node| node.hard.as_ref()).map(|hard| hard.origin.clone());
                (FailureSource::Recorded(self.recorded(seq)), origin.unwrap_or_else(|| handler.clone()))
            }
        };
        WhatFailed { failure, step: self.step_snapshot(&path), path }
    }
}
