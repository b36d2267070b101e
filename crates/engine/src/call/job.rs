//! One call: gathers what the function asked for, runs it, and judges what it returned.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, CatchUnwind};
use rival_core::event::{BlockedReason, CallRole};
use rival_core::failure::code;
use rival_core::machine::{CallOutcome, INTERRUPTIONS_MAX, NewCall};
use rival_core::plan::FunctionRef;
use rival_core::{FailureRecord, NodeStatus, Path, RunStatus, StepError, Value};
use rival_store::LogLine;
use tokio_util::sync::CancellationToken;

use crate::call::context::{
    CallContext, FailedStep, FailureContext, RunInfo, StateCell, StepView, StepsReader, WorkflowState,
};
use crate::call::exchange::HttpExchange;
use crate::call::function::{CallError, FunctionNeeds, UserFunction};
use crate::call::inputs::{FailureSource, RoleInputs, SeenSteps, WhatFailed, views};
use crate::call::items::LoopPosition;
use crate::call::log::Log;
use crate::call::panics::panicked;
use crate::call::parked::CallWatch;
use crate::call::values::{ReadError, RecordedValue};
use crate::durable::idle::WatchedFuture;
use crate::inspect::view::empty_state;
use crate::registry::resources::ResourceMap;
use crate::registry::workflows::RegisteredWorkflow;
use crate::run::actor::RunLinks;
use crate::run::mailbox::StepSnapshot;
use crate::schedule::shared::EngineShared;
use crate::schedule::store_retry::{StoreRetry, warn_of_fault};

/// How often the lines of a call that is still at work are stored.
const LOG_FLUSH: Duration = Duration::from_millis(500);

/// A function at work; a panic in it is caught.
pub(crate) type CaughtFuture =
    WatchedFuture<CatchUnwind<AssertUnwindSafe<BoxFuture<'static, Result<Value, CallError>>>>>;
type Returned = std::thread::Result<Result<Value, CallError>>;

/// One call, ready to be made.
pub(crate) struct CallJob {
    /// On a virtual clock.
    pub(crate) watch: Option<Arc<CallWatch>>,
    pub(crate) info: Arc<RunInfo>,
    pub(crate) log: Log,
    pub(crate) state: StateCell,
    pub(crate) call: NewCall,
    pub(crate) function: Arc<dyn UserFunction>,
    pub(crate) input: RecordedValue,
    pub(crate) seen: SeenSteps,
    pub(crate) iteration: Option<LoopPosition>,
    pub(crate) role_inputs: RoleInputs,
    /// Where it looks at other steps from.
    pub(crate) from: Path,
    pub(crate) status: RunStatus,
    pub(crate) token: CancellationToken,
    pub(crate) links: Arc<RunLinks>,
}

impl CallJob {
    /// Whether everything that the function asked for is at hand.
    pub(crate) fn is_ready(&self) -> bool {
        let last = self.iteration.as_ref().and_then(|iteration| iteration.last.as_ref());
        self.role_inputs.is_at_hand()
            && self.input.is_at_hand()
            && last.is_none_or(RecordedValue::is_at_hand)
            && self.seen.is_at_hand()
    }

    /// Sees a call through to its end, from reading what it asks for if it has not begun. Stores its lines now and then
    /// if it takes long.
    pub(crate) async fn run(mut self, made: Option<CaughtFuture>) -> CallOutcome {
        let mut made = match made {
            Some(made) => made,
            None => {
                let run = self.links.run.clone();
                let mut retry = StoreRetry::in_call(&run, "what a call is given cannot be read");
                // What was read already stays; the store may answer the next time.
                while let Err(error) = self.fetch().await {
                    match retry.after(error).await {
                        Ok(()) => {}
                        Err(error @ ReadError::TooLarge { .. }) => return too_large_to_read(&error),
                        Err(error) => return self.unreadable(&error),
                    }
                }
                self.begin()
            }
        };
        loop {
            match tokio::time::timeout(LOG_FLUSH, &mut made).await {
                Ok(returned) => return self.conclude(returned),
                Err(_) => self.flush(self.log.take()).await,
            }
        }
    }

    /// Reads what is not at hand.
    async fn fetch(&mut self) -> Result<(), ReadError> {
        let store = self.links.store.get()?;
        let (store, run, max) = (&*store, &self.links.run, self.links.payload_max);
        self.input.fetch(store, run, max).await?;
        if let Some(last) = self.iteration.as_mut().and_then(|iteration| iteration.last.as_mut()) {
            last.fetch(store, run, max).await?;
        }
        self.seen.fetch(store, run, max).await?;
        self.role_inputs.fetch(store, run, max).await
    }

    /// A recorded value cannot be read: the call was never made, and the run is blocked until an operator helps.
    fn unreadable(&self, error: &ReadError) -> CallOutcome {
        tracing::error!(run = %self.links.run, node = %self.call.node, %error, "a recorded value cannot be read");
        CallOutcome::Blocked(BlockedReason::Undecodable { message: error.to_string() })
    }

    /// Calls the function with what it asked for, without waiting for it.
    pub(crate) fn begin(&mut self) -> CaughtFuture {
        let input = self.input.value().unwrap_or_default();
        let (outputs, seen) = (views(&self.seen.outputs), views(&self.seen.named));
        let mut context = CallContext {
            input,
            outputs,
            seen,
            last_step: self.seen.last.as_ref().map(StepSnapshot::view),
            steps: self.steps_reader(),
            state: self.state.clone(),
            log: self.log.clone(),
            run: Arc::clone(&self.info),
            cancellation: self.token.clone(),
            resources: Arc::clone(&self.links.resources),
            failure: None,
            iteration: self.iteration.take().map(LoopPosition::context),
            joined: None,
            undo: None,
            durable: None,
        };
        match &self.role_inputs {
            RoleInputs::Step { durable } => {
                context.durable = durable.as_ref().map(|(durable, _)| durable.clone());
            }
            RoleInputs::Decider => {}
            RoleInputs::Finally { joined } => {
                context.joined = joined.as_ref().and_then(RecordedValue::value);
            }
            RoleInputs::Handler(failed) => {
                context.failure =
                    Some(Arc::new(self.failure_context(failed, &context.input, &context.steps)));
            }
            RoleInputs::Compensation(undone) => context.undo = Some(undone.context()),
        }
        let function = Arc::clone(&self.function);
        let call = catch_unwind(AssertUnwindSafe(|| function.call(context)));
        let call = call.unwrap_or_else(|panic| Box::pin(std::future::ready(Err(panicked(&*panic).into()))));
        let idle_tracker = self.role_inputs.durable().map(|(_, idle_tracker)| Arc::clone(idle_tracker));
        WatchedFuture::new(AssertUnwindSafe(call).catch_unwind(), idle_tracker, self.watch.clone())
    }

    /// Judges what the function returned.
    pub(crate) fn conclude(&self, returned: Returned) -> CallOutcome {
        let returned = match returned.unwrap_or_else(|panic| Err(panicked(&*panic).into())) {
            Ok(result) => self.refusal(&result).map_or(Ok(result), Err),
            Err(CallError::Failed(error)) => Err(error),
            Err(CallError::Lost(reason)) => return CallOutcome::Lost(reason),
        };
        let (state, skipped) = (self.state.to_value(), self.state.is_skipped());
        let outcome = match (self.too_large("state", state.as_ref()), returned) {
            (Some(error), _) => CallOutcome::Failure { error, state: None },
            (None, Ok(result)) => CallOutcome::Success { result, state, skipped },
            (None, Err(error)) if error.failure.code == code::DECODE => {
                return CallOutcome::Blocked(BlockedReason::Undecodable { message: error.failure.message });
            }
            (None, Err(error)) => CallOutcome::Failure { error, state },
        };
        // One that has an outcome gave up what it dropped last; one that is called again waits for it again.
        if let Some((_, idle_tracker)) = self.role_inputs.durable() {
            idle_tracker.tell_given_up();
        }
        outcome
    }

    fn steps_reader(&self) -> StepsReader {
        StepsReader::of_run(Arc::clone(&self.links), self.from.clone())
    }

    fn failure_context(&self, failed: &WhatFailed, input: &Value, steps: &StepsReader) -> FailureContext {
        let error = match &failed.failure {
            FailureSource::Known(failure) => Some(failure.clone()),
            FailureSource::Recorded(recorded) => {
                recorded.event().and_then(|event| event.kind.failure().cloned())
            }
        };
        let step = failed.step.as_ref();
        let step = step.map_or_else(|| StepView::pending(failed.path.id()), StepSnapshot::view);
        FailureContext {
            error: error.unwrap_or_else(|| FailureRecord::new(code::ERROR, "failed")),
            failed_step: FailedStep {
                step_name: name_within(&self.call.node, &failed.path),
                path: failed.path.clone(),
                result: step.result,
                state: step.state,
                status: step.status,
            },
            workflow_state: WorkflowState {
                run_id: Some(self.links.run.clone()),
                workflow_name: self.info.workflow.to_string(),
                input: input.clone(),
                steps: steps.clone(),
                status: self.status,
            },
        }
    }

    async fn flush(&self, lines: Vec<LogLine>) {
        if lines.is_empty() {
            return;
        }
        let stored = async { self.links.store.get()?.append_logs(lines).await };
        if let Err(error) = stored.await {
            warn_of_fault(&self.links.run, &error, &"log lines could not be stored");
        }
    }

    /// Why a result is not taken.
    fn refusal(&self, result: &Value) -> Option<StepError> {
        if let Some(error) = self.too_large("result", Some(result)) {
            return Some(error);
        }
        if self.call.role != CallRole::Input {
            return None;
        }
        let NewCall { node, function, .. } = &self.call;
        let violations = self.links.registered.check_nested_input(&self.links.plan, node, function, result);
        let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
        (!list.is_empty()).then(|| {
            let (node, list) = (&self.call.node, list.join("; "));
            let message = format!("the input of nested workflow `{node}` is not valid: {list}");
            FailureRecord::new(code::INVALID_INPUT, message).stop()
        })
    }

    fn too_large(&self, what: &str, value: Option<&Value>) -> Option<StepError> {
        let size = value?.len_bytes();
        (size > self.links.payload_max).then(|| {
            let message = format!(
                "the {what} of `{}` has {size} bytes, more than the limit of {}: store it elsewhere and return a reference",
                self.call.node, self.links.payload_max
            );
            FailureRecord::new(code::TOO_LARGE, message).stop()
        })
    }
}

/// A block's result that the function asks for is larger than a value may be. The function was not called: it could only
/// have been given a part.
fn too_large_to_read(error: &ReadError) -> CallOutcome {
    let error =
        FailureRecord::new(code::TOO_LARGE, format!("{error}: let its steps return references")).stop();
    CallOutcome::Failure { error, state: None }
}

impl StepView {
    fn pending(name: &str) -> Self {
        Self { name: name.to_owned(), result: None, state: empty_state(), status: NodeStatus::Pending }
    }
}

/// The node of the handler's own workflow that failed, or that contains the one that did. A step's handler is told
/// the step itself.
fn name_within(handler: &Path, failed: &Path) -> String {
    let within = failed.as_str().strip_prefix(handler.as_str()).unwrap_or(failed.as_str());
    let first = within.trim_start_matches('/').split('/').next().unwrap_or_default();
    let name = first.split('[').next().unwrap_or_default();
    if name.is_empty() { failed.id().to_owned() } else { name.to_owned() }
}

/// Calls a workflow's handler for input that was refused. There is no run, so nothing is recorded.
pub(crate) async fn handle_refused_input(
    shared: &EngineShared,
    registered: &RegisteredWorkflow,
    input: Value,
    error: FailureRecord,
) {
    let plan = &registered.definition.plan;
    let function = match &plan.on_error {
        None => None,
        Some(FunctionRef::Named(name)) => registered.function(&registered.plan, name).cloned(),
        Some(FunctionRef::Builtin(builtin)) => {
            registered.plan.builtin(&shared.builtins, &Path::root(), CallRole::OnError, builtin).ok()
        }
    };
    let Some(function) = function else { return };
    let (resources, clock) = (&shared.resources, shared.clock.clone());
    let context = refused_input_context(registered, function.needs(), resources, clock, input, error);
    for _ in 0..INTERRUPTIONS_MAX {
        let (function, context) = (Arc::clone(&function), context.clone());
        let handled = AssertUnwindSafe(async move { function.call(context).await }).catch_unwind().await;
        match handled.unwrap_or_else(|panic| Err(panicked(&*panic).into())) {
            Ok(_) => return,
            Err(CallError::Failed(error)) => {
                tracing::warn!(workflow = plan.workflow, %error, "the error handler for refused input failed");
                return;
            }
            // What ran it is gone: it is called again.
            Err(CallError::Lost(_)) => {}
        }
    }
    tracing::warn!(
        workflow = plan.workflow,
        "the error handler for refused input was cut short again and again"
    );
}

/// What a handler is given of input that was refused.
fn refused_input_context(
    registered: &RegisteredWorkflow,
    needs: &FunctionNeeds,
    resources: &Arc<ResourceMap>,
    clock: crate::schedule::clock::Clock,
    input: Value,
    error: FailureRecord,
) -> CallContext {
    let workflow = Arc::clone(&registered.name);
    let run = Arc::new(RunInfo {
        run_id: None,
        workflow,
        node: Path::root(),
        attempt: 1,
        call: 1,
        trace: None,
        http: HttpExchange::default(),
    });
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
            workflow_name: registered.definition.plan.workflow.clone(),
            input: input.clone(),
            steps: steps.clone(),
            status: RunStatus::Failed,
        },
    };
    CallContext {
        input,
        outputs: vec![None; needs.outputs.len()],
        seen: vec![None; needs.steps.len()],
        last_step: None,
        steps,
        state: StateCell::default(),
        log: Log::new(Arc::clone(&run), clock),
        run,
        cancellation: CancellationToken::new(),
        resources: Arc::clone(resources),
        failure: Some(Arc::new(failure)),
        iteration: None,
        joined: None,
        undo: None,
        durable: None,
    }
}
