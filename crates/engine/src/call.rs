//! Calls functions: gathers what they asked for, runs them, and tells the actor how they ended.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use rival_core::event::{BlockedReason, Role};
use rival_core::failure::code;
use rival_core::machine::{Call, Effect, GRACE_MS, Input, Outcome, StopReason};
use rival_core::state::{Ending, NodeState};
use rival_core::{Failure, NodeStatus, Path, RunId, RunStatus, Seq, StepError, Value};
use rival_store::{LogLine, Store};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::actor::{Actor, Work};
use crate::context::{
    CallContext, FailedStep, FailureContext, RunInfo, StateCell, StepView, StepsReader, WorkflowState,
};
use crate::function::Function;
use crate::log::Log;
use crate::mail::{Mail, Mailbox, Sighting};
use crate::registry::Registered;
use crate::resources::Resources;
use crate::values::{ReadError, Recorded};
use crate::view::empty_state;

/// How often the lines of a call that is still at work are stored.
const LOG_FLUSH: Duration = Duration::from_millis(500);

/// A call at work.
pub(crate) struct RunningCall {
    pub(crate) number: u32,
    token: CancellationToken,
    abort: AbortHandle,
    /// It watches its token, so it is told and given time.
    cooperative: bool,
    teller: Teller,
    log: Log,
}

impl RunningCall {
    /// The lines that it has written and nobody has stored.
    pub(crate) fn unstored(&self) -> Vec<LogLine> {
        self.log.take()
    }

    /// Nobody is interested any more.
    pub(crate) fn abandon(&self) {
        self.token.cancel();
        self.abort.abort();
        self.teller.keep_quiet();
    }
}

/// Tells the actor how a call ended, once: the function itself, or whoever stopped it.
#[derive(Clone)]
struct Teller {
    mailbox: Mailbox,
    told: Arc<AtomicBool>,
}

impl Teller {
    fn tell(&self, mail: Mail) {
        if !self.told.swap(true, Ordering::AcqRel) {
            self.mailbox.pass_on(mail);
        }
    }

    fn keep_quiet(&self) {
        if !self.told.swap(true, Ordering::AcqRel) {
            self.mailbox.forget();
        }
    }
}

impl Actor {
    /// Does what was decided. What ends at once is decided in turn, and is part of the work that is returned.
    pub(crate) async fn perform(&mut self, effects: Vec<Effect>) -> Work {
        let mut work = Work::default();
        let alone = effects.len() == 1;
        for effect in effects {
            match effect {
                Effect::Call(call) => self.call(call, alone, &mut work).await,
                Effect::Stop { node, call, why } => self.stop_call(node, call, why).await,
            }
        }
        work
    }

    async fn call(&mut self, call: Call, alone: bool, work: &mut Work) {
        // A later event of the same turn may have ended it.
        let current = self.state.node(&call.node).and_then(|node| node.call.as_ref());
        if current.is_none_or(|open| open.number != call.number) {
            return;
        }
        let (node, number) = (call.node.clone(), call.number);
        let Some(function) = self.registered.function(&call.function).cloned() else {
            let outcome = Outcome::Blocked(BlockedReason::FunctionMissing { function: call.function });
            return self.decide(Input::CallFinished { node, call: number, outcome }, work);
        };
        let token = CancellationToken::new();
        let cooperative = function.needs().cancellation;
        let job = self.job(call, function, token.clone());
        let log = job.log.clone();
        let mut ending = Box::pin(job.run());
        // A function that ends at its first poll costs no task. Only one that is called alone is tried
        // here: the others of a group should start side by side.
        if alone && let Poll::Ready((outcome, logs)) = futures::poll!(ending.as_mut()) {
            work.logs.extend(logs);
            return self.decide(Input::CallFinished { node, call: number, outcome }, work);
        }
        self.shared.gauge.add();
        let teller = Teller { mailbox: self.mailbox.clone(), told: Arc::default() };
        let told = teller.clone();
        let at = node.clone();
        let task = tokio::spawn(async move {
            let (outcome, logs) = ending.await;
            told.tell(Mail::Finished { node: at, call: number, outcome, logs });
        });
        let abort = task.abort_handle();
        self.calls.insert(node, RunningCall { number, token, abort, cooperative, teller, log });
    }

    async fn stop_call(&mut self, node: Path, call: u32, why: StopReason) {
        let Some(running) = self.calls.get(&node).filter(|running| running.number == call) else { return };
        running.token.cancel();
        if !running.cooperative {
            running.abort.abort();
            let (lines, outcome) = (running.unstored(), Outcome::Stopped);
            running.teller.tell(Mail::Finished { node, call, outcome, logs: Vec::new() });
            // Not with the letter: the run may have ended, and then nobody opens it.
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
        if let Err(error) = self.shared.store.append_logs(lines).await {
            tracing::warn!(run = %self.run, %error, "log lines could not be stored");
        }
    }

    fn job(&self, call: Call, function: Arc<dyn Function>, token: CancellationToken) -> Job {
        let needs = function.needs();
        let outputs = needs.outputs.iter().map(|need| {
            let path = self.plan.producer(&call.node, &need.function)?;
            self.sighting(&path)
        });
        let outputs = outputs.collect();
        let before = if needs.last_step { self.plan.before(&call.node) } else { None };
        let last_step = before.and_then(|path| self.sighting(&path));
        let failure = (call.role == Role::OnError).then(|| self.what_failed(&call.node));
        let info = Arc::new(RunInfo {
            run_id: Some(self.run.clone()),
            workflow: Arc::clone(&self.registered.name),
            node: call.node.clone(),
            attempt: call.attempt,
            call: call.number,
        });
        Job {
            run: self.run.clone(),
            log: Log::new(Arc::clone(&info), self.shared.clock.clone()),
            info,
            input: self.recorded(self.input_of(&call.node, call.role)),
            outputs,
            last_step,
            failure,
            status: self.state.status(),
            call,
            function,
            token,
            mailbox: self.mailbox.clone(),
            store: Arc::clone(&self.shared.store),
            resources: Arc::clone(&self.shared.resources),
            registered: Arc::clone(&self.registered),
            payload_max: self.shared.limits.payload_max,
        }
    }

    /// The event that holds the input which a function at this node sees.
    fn input_of(&self, node: &Path, role: Role) -> Seq {
        // The function that maps a nested workflow's input sees the outer one.
        let mut at = if role == Role::Input { node.parent() } else { Some(node.clone()) };
        while let Some(path) = at {
            if let Some(input) = self.state.node(&path).and_then(|node| node.input) {
                return input;
            }
            at = path.parent();
        }
        Seq(1)
    }

    fn recorded(&self, seq: Seq) -> Recorded {
        self.values.get(seq).map_or(Recorded::Stored(seq), Recorded::AtHand)
    }

    /// Another step, as a function at `from` sees it.
    pub(crate) fn sight(&self, from: &Path, name: &str) -> Option<Sighting> {
        self.sighting(&self.plan.visible(from, name)?)
    }

    fn sighting(&self, path: &Path) -> Option<Sighting> {
        let pending = NodeState::default();
        let node = self.state.node(path).unwrap_or(&pending);
        Some(Sighting {
            name: path.id().to_owned(),
            status: node.status,
            result: node.result.map(|seq| self.recorded(seq)),
            state: node.state.map(|seq| self.recorded(seq)),
        })
    }

    fn what_failed(&self, handler: &Path) -> WhatFailed {
        let (failure, path) = match &self.state.ending {
            Some(Ending::Failing { failure, node }) if handler.is_root() => {
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
        WhatFailed { failure, step: self.sighting(&path), path }
    }
}

struct WhatFailed {
    failure: FailureSource,
    step: Option<Sighting>,
    path: Path,
}

enum FailureSource {
    Known(Failure),
    Recorded(Recorded),
}

/// One call, ready to be made in a task of its own.
struct Job {
    run: RunId,
    info: Arc<RunInfo>,
    log: Log,
    call: Call,
    function: Arc<dyn Function>,
    input: Recorded,
    outputs: Vec<Option<Sighting>>,
    last_step: Option<Sighting>,
    failure: Option<WhatFailed>,
    status: RunStatus,
    token: CancellationToken,
    mailbox: Mailbox,
    store: Arc<dyn Store>,
    resources: Arc<Resources>,
    registered: Arc<Registered>,
    payload_max: usize,
}

impl Job {
    /// Makes the call. Gives how it ended, and the lines that are not stored yet.
    async fn run(mut self) -> (Outcome, Vec<LogLine>) {
        let log = self.log.clone();
        let state = StateCell::default();
        let outcome = match self.context(&log, &state).await {
            Ok(context) => self.make(context, &log, &state).await,
            Err(error) => self.unreadable(&error),
        };
        (outcome, log.take())
    }

    /// A recorded value cannot be read: the call was never made, and somebody has to look.
    fn unreadable(&self, error: &ReadError) -> Outcome {
        tracing::error!(run = %self.run, node = %self.call.node, %error, "a recorded value cannot be read");
        Outcome::Blocked(BlockedReason::Undecodable { message: error.to_string() })
    }

    async fn context(&mut self, log: &Log, state: &StateCell) -> Result<CallContext, ReadError> {
        let input =
            self.input.read(&*self.store, &self.run).await?.event.value().cloned().unwrap_or_default();
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for output in std::mem::take(&mut self.outputs) {
            outputs.push(match output {
                Some(sighting) => Some(sighting.view(&*self.store, &self.run).await?),
                None => None,
            });
        }
        let last_step = match self.last_step.take() {
            Some(sighting) => Some(sighting.view(&*self.store, &self.run).await?),
            None => None,
        };
        let steps = self.steps_reader();
        let failure = match self.failure.take() {
            Some(failed) => Some(Arc::new(self.failure_context(failed, &input, &steps).await?)),
            None => None,
        };
        Ok(CallContext {
            input,
            outputs,
            last_step,
            steps,
            state: state.clone(),
            log: log.clone(),
            run: Arc::clone(&self.info),
            cancellation: self.token.clone(),
            resources: Arc::clone(&self.resources),
            failure,
        })
    }

    /// Asks the run's actor, so that nothing is copied for functions that do not ask.
    fn steps_reader(&self) -> StepsReader {
        let (mailbox, store) = (self.mailbox.clone(), Arc::clone(&self.store));
        let (run, from) = (self.run.clone(), self.call.node.clone());
        StepsReader::new(move |name| {
            let (mailbox, store, run, from) =
                (mailbox.clone(), Arc::clone(&store), run.clone(), from.clone());
            Box::pin(async move {
                let (answer, answered) = oneshot::channel();
                mailbox.send(Mail::Look { from, name, answer });
                let Ok(Some(sighting)) = answered.await else { return Ok(None) };
                let view = sighting.view(&*store, &run).await;
                view.map(Some).map_err(|error| StepError::new(error.to_string()))
            })
        })
    }

    async fn failure_context(
        &self,
        failed: WhatFailed,
        input: &Value,
        steps: &StepsReader,
    ) -> Result<FailureContext, ReadError> {
        let error = match failed.failure {
            FailureSource::Known(failure) => failure,
            FailureSource::Recorded(recorded) => {
                let event = recorded.read(&*self.store, &self.run).await?;
                event.event.failure().cloned().unwrap_or_else(|| Failure::new(code::ERROR, "failed"))
            }
        };
        let step = match failed.step {
            Some(sighting) => Some(sighting.view(&*self.store, &self.run).await?),
            None => None,
        };
        let step = step.unwrap_or_else(|| StepView::pending(failed.path.id()));
        Ok(FailureContext {
            error,
            failed_step: FailedStep {
                step_name: step.name,
                path: failed.path,
                result: step.result,
                state: step.state,
                status: step.status,
            },
            workflow_state: WorkflowState {
                run_id: Some(self.run.clone()),
                workflow_name: self.info.workflow.to_string(),
                input: input.clone(),
                steps: steps.clone(),
                status: self.status,
            },
        })
    }

    async fn make(&self, context: CallContext, log: &Log, state: &StateCell) -> Outcome {
        let returned = self.run_function(context, log).await;
        let skipped = state.is_skipped();
        let state = state.to_value();
        if let Some(error) = self.too_large("state", state.as_ref()) {
            return Outcome::Failure { error, state: None };
        }
        match returned.and_then(|result| self.acceptable(result)) {
            Ok(result) => Outcome::Success { result, state, skipped },
            Err(error) if error.failure.code == code::DECODE => {
                Outcome::Blocked(BlockedReason::Undecodable { message: error.failure.message })
            }
            Err(error) => Outcome::Failure { error, state },
        }
    }

    /// Runs the function to its end, storing its lines now and then if it takes long.
    async fn run_function(&self, context: CallContext, log: &Log) -> Result<Value, StepError> {
        let function = Arc::clone(&self.function);
        let call = AssertUnwindSafe(async move { function.call(context).await }).catch_unwind();
        tokio::pin!(call);
        // Most calls that end at once need no timer.
        let mut ended = futures::poll!(call.as_mut());
        loop {
            if let Poll::Ready(ended) = ended {
                return ended.unwrap_or_else(|panic| Err(panicked(&*panic)));
            }
            match tokio::time::timeout(LOG_FLUSH, call.as_mut()).await {
                Ok(result) => ended = Poll::Ready(result),
                Err(_) => self.flush(log.take()).await,
            }
        }
    }

    async fn flush(&self, lines: Vec<LogLine>) {
        if lines.is_empty() {
            return;
        }
        if let Err(error) = self.store.append_logs(lines).await {
            tracing::warn!(run = %self.run, %error, "log lines could not be stored");
        }
    }

    fn acceptable(&self, result: Value) -> Result<Value, StepError> {
        if let Some(error) = self.too_large("result", Some(&result)) {
            return Err(error);
        }
        if self.call.role == Role::Input {
            let violations = self.registered.check_nested_input(&self.call.node, &result);
            if !violations.is_empty() {
                let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
                let message = format!(
                    "the input of nested workflow `{}` is not valid: {}",
                    self.call.node,
                    list.join("; ")
                );
                return Err(StepError::stop(message).code(code::INVALID_INPUT));
            }
        }
        Ok(result)
    }

    fn too_large(&self, what: &str, value: Option<&Value>) -> Option<StepError> {
        let size = value?.len_bytes();
        (size > self.payload_max).then(|| {
            let message = format!(
                "the {what} of `{}` has {size} bytes, more than the limit of {}: store it elsewhere and return a reference",
                self.call.node, self.payload_max
            );
            StepError::stop(message).code(code::TOO_LARGE)
        })
    }
}

impl Sighting {
    async fn view(self, store: &dyn Store, run: &RunId) -> Result<StepView, ReadError> {
        let mut view = StepView::pending(&self.name);
        view.status = self.status;
        if let Some(result) = self.result {
            view.result = result.read(store, run).await?.event.value().cloned();
        }
        if let Some(state) = self.state {
            view.state = state.read(store, run).await?.event.state().cloned().unwrap_or_else(empty_state);
        }
        Ok(view)
    }
}

impl StepView {
    fn pending(name: &str) -> Self {
        Self { name: name.to_owned(), result: None, state: empty_state(), status: NodeStatus::Pending }
    }
}

/// Calls a workflow's handler for input that was refused. There is no run, so nothing is recorded.
pub(crate) async fn handle_refused_input(
    registered: &Registered,
    resources: &Arc<Resources>,
    clock: crate::clock::Clock,
    input: Value,
    error: Failure,
) {
    let plan = &registered.definition.plan;
    let Some(function) = plan.on_error.as_ref().and_then(|name| registered.function(name)) else { return };
    let workflow = Arc::clone(&registered.name);
    let run = Arc::new(RunInfo { run_id: None, workflow, node: Path::root(), attempt: 1, call: 1 });
    let steps = StepsReader::fixed(Vec::new());
    let failure = FailureContext {
        error,
        failed_step: FailedStep {
            step_name: "__input__".to_owned(),
            path: Path::from("__input__"),
            result: None,
            state: empty_state(),
            status: NodeStatus::Failed,
        },
        workflow_state: WorkflowState {
            run_id: None,
            workflow_name: plan.workflow.clone(),
            input: input.clone(),
            steps: steps.clone(),
            status: RunStatus::Failed,
        },
    };
    let context = CallContext {
        input,
        outputs: function.needs().outputs.iter().map(|_| None).collect(),
        last_step: None,
        steps,
        state: StateCell::default(),
        log: Log::new(Arc::clone(&run), clock),
        run,
        cancellation: CancellationToken::new(),
        resources: Arc::clone(resources),
        failure: Some(Arc::new(failure)),
    };
    let function = Arc::clone(function);
    let handled = AssertUnwindSafe(async move { function.call(context).await }).catch_unwind().await;
    if let Err(error) = handled.unwrap_or_else(|panic| Err(panicked(&*panic))) {
        tracing::warn!(workflow = plan.workflow, %error, "the error handler for refused input failed");
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> StepError {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    StepError::new(format!("the function panicked: {}", text.as_deref().unwrap_or("no message")))
        .code(code::PANIC)
}
