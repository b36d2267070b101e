//! A function of a script, as the engine calls it.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use rival_core::event::CallRole;
use rival_core::event::LostReason;
use rival_core::failure::code::{ERROR, NOT_JSON};
use rival_core::plan::BackoffKind;
use rival_core::{Behavior, FailureOrigin, FailureRecord, LogLevel, StepError, Value};
use rival_engine::{
    BusyGuard, CallContext, CallError, FunctionNeeds, InexactNumber, UserFunction, inexact_number,
    is_too_deep,
};
use rival_script_host::frame::{CallId, FromHost, ScriptError, ToHost};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::call::HostCall;
use crate::code;
use crate::context;
use crate::error::ScriptsError;
use crate::host::{CallLoss, HostEvent, HostHandle};
use crate::ops::{AnsweredOp, PendingOps, refusal};
use crate::pool::HostPool;
use crate::realm::{ScriptRealm, name_of};
use crate::registry::RunLauncher;

/// A workflow of a file: where its functions are.
#[derive(Debug)]
pub(crate) struct ScriptTarget {
    pub(crate) pool: Arc<HostPool>,
    pub(crate) realm: Arc<ScriptRealm>,
    pub(crate) file: Arc<std::path::Path>,
    pub(crate) workflow: String,
    pub(crate) launcher: RunLauncher,
    /// The only host that has its functions; none if any has. What a test has built closes over the test.
    pub(crate) host: Option<Arc<HostHandle>>,
}

impl ScriptTarget {
    /// Begins something there that is answered.
    pub(crate) async fn begin(&self, frame: impl FnOnce(CallId) -> ToHost) -> Result<HostCall, ScriptsError> {
        match &self.host {
            Some(host) => {
                host.teach(&self.realm);
                Ok(Arc::clone(host).begin(frame))
            }
            None => self.pool.begin(&self.realm, frame).await,
        }
    }
}

/// A function of a script.
#[derive(Debug)]
pub(crate) struct ScriptFunction {
    pub(crate) target: Arc<ScriptTarget>,
    pub(crate) key: String,
    pub(crate) role: CallRole,
    pub(crate) needs: FunctionNeeds,
}

impl UserFunction for ScriptFunction {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        let (target, function, role) = (Arc::clone(&self.target), self.key.clone(), self.role);
        let (cx, run) = context::encode(&context, &self.needs.steps);
        if let Some(inexact) = inexact_number(cx.get()) {
            let error = unsafe_number(&inexact, "what the function is given");
            return std::future::ready(Err(FailureRecord::new(code::UNSAFE_NUMBER, error.message)
                .stop()
                .into()))
            .boxed();
        }
        async move {
            let frame = |id| ToHost::Call {
                id,
                realm: target.realm.id(),
                file: name_of(&target.file),
                workflow: target.workflow.clone(),
                function,
                role,
                cx,
                run,
            };
            let call = target.begin(frame).await;
            let call = call.map_err(|error| FailureRecord::new(code::HOST, error.to_string()).plain())?;
            HostSession::hold(call, &context, &target.realm, &target.launcher).await
        }
        .boxed()
    }
}

/// A call at work.
pub(crate) struct HostSession<'a> {
    realm: &'a ScriptRealm,
    call: HostCall,
    busy: Option<BusyGuard>,
    /// How many operations it has been given answers to.
    answers: u32,
    /// It was told to stop.
    told: bool,
}

impl<'a> HostSession<'a> {
    /// Sees a call through to its end: hears what the host says, and does what it asks for.
    pub(crate) async fn hold(
        call: HostCall,
        context: &CallContext,
        realm: &'a ScriptRealm,
        launcher: &RunLauncher,
    ) -> Result<Value, CallError> {
        // While it runs elsewhere it counts as busy, until it says that it only waits.
        let busy = context.durable.as_ref().map(rival_engine::DurableHandle::busy);
        let mut session = Self { realm, call, busy, answers: 0, told: false };
        let (asides, mut half_way) = mpsc::unbounded_channel();
        let mut ops = PendingOps::new(context, launcher, realm, asides);
        let mut open = FuturesUnordered::new();
        loop {
            tokio::select! {
                biased;
                heard = session.call.next() => match heard {
                    // One that only waited is not to blame.
                    HostEvent::Lost(_) if session.call.is_idle() => return Err(lost(CallLoss::Bystander)),
                    HostEvent::Lost(loss) => return Err(lost(loss)),
                    HostEvent::Frame(frame) => {
                        if let Some(ended) = session.hear(frame, context, &mut ops, &open) {
                            return ended;
                        }
                    }
                },
                Some(answered) = half_way.recv() => session.answer(answered, context),
                Some(answered) = open.next(), if !open.is_empty() => {
                    if let Some(answered) = answered {
                        session.answer(answered, context);
                    }
                }
                () = context.cancellation.cancelled(), if !session.told => {
                    session.told = true;
                    session.call.abort("its time is up, or its run is ending");
                }
            }
        }
    }

    fn hear<'o>(
        &mut self,
        frame: FromHost,
        context: &'o CallContext,
        ops: &mut PendingOps<'o>,
        open: &FuturesUnordered<BoxFuture<'o, Option<AnsweredOp>>>,
    ) -> Option<Result<Value, CallError>> {
        match frame {
            FromHost::Done { value, state, .. } => {
                keep_state(context, state.as_deref());
                // A result must be read back.
                if is_too_deep(value.get()) {
                    let error =
                        FailureRecord::new(NOT_JSON, "the result nests too deep to be recorded").stop();
                    return Some(Err(error.into()));
                }
                return Some(Ok(Value::from(value)));
            }
            FromHost::Failed { error, state, .. } => {
                // One that is no JSON at its end is what it was when it last was.
                if state.is_some() {
                    keep_state(context, state.as_deref());
                }
                return Some(Err(failure(error, self.realm).into()));
            }
            FromHost::Log { level, message, fields, .. } => {
                log(context, level, &self.realm.readable(message), fields.as_deref());
            }
            FromHost::Op { op, kind, args, .. } => {
                if let Some(question) = ops.asked(op, &kind, &args) {
                    open.push(question);
                }
            }
            FromHost::Idle { answers, .. } if answers == self.answers => {
                self.call.set_idle(true);
                self.busy = None;
            }
            FromHost::State { state, .. } => keep_state(context, state.as_deref()),
            FromHost::Busy { .. } => self.works(context),
            FromHost::Idle { .. }
            | FromHost::Ready { .. }
            | FromHost::Aborted { .. }
            | FromHost::AtRest { .. } => {}
        }
        None
    }

    fn works(&mut self, context: &CallContext) {
        self.call.set_idle(false);
        if self.busy.is_none() {
            self.busy = context.durable.as_ref().map(rival_engine::DurableHandle::busy);
        }
    }

    fn answer(&mut self, answered: AnsweredOp, context: &CallContext) {
        self.works(context);
        self.answers += 1;
        self.call.answer(answered.op, answered.answer);
    }
}

/// What a script threw, as the engine records it.
pub(crate) fn failure(error: ScriptError, realm: &ScriptRealm) -> StepError {
    let message = if error.message.is_empty() { error.name.clone() } else { shortened(error.message) };
    let mut step = FailureRecord::new(ERROR, message).plain();
    step.behavior = match error.behavior.as_deref() {
        Some("stop") => Behavior::Stop,
        Some("continue") => Behavior::Continue,
        Some("retry") => Behavior::Retry,
        _ => Behavior::Plain,
    };
    step.max_attempts = error.max_attempts;
    step.backoff_ms = error.backoff_ms;
    step.backoff = match error.backoff.as_deref() {
        Some("exponential") => Some(BackoffKind::Exponential),
        Some("linear") => Some(BackoffKind::Linear),
        _ => None,
    };
    if let Some(code) = error.code {
        step = step.code(code);
    }
    step.failure.details = error.details.map(Value::from);
    step.failure.origin = origin(error.name, error.stack.as_deref(), realm);
    step
}

/// Where an error comes from, unless nothing is known of that.
fn origin(class: String, stack: Option<&str>, realm: &ScriptRealm) -> Option<Box<FailureOrigin>> {
    let origin = FailureOrigin {
        // What every error is called says nothing.
        class: Some(class).filter(|class| !matches!(class.as_str(), "" | "Error" | "StepError")),
        stack: stack.map(|stack| realm.stack(stack)).filter(|stack| !stack.is_empty()),
        ..stack.map(|stack| realm.origin(stack)).unwrap_or_default()
    };
    (origin != FailureOrigin::default()).then(|| Box::new(origin))
}

/// A message that people can read, whatever was thrown.
fn shortened(mut message: String) -> String {
    const MOST: usize = 16 << 10;
    if let Some((at, _)) = message.char_indices().nth(MOST) {
        message.truncate(at);
        message.push('…');
    }
    message
}

/// What the engine is told of a call that was lost.
pub(crate) fn lost(loss: CallLoss) -> CallError {
    match loss {
        CallLoss::Crash => CallError::Lost(LostReason::Crash),
        CallLoss::Bystander => CallError::Lost(LostReason::Bystander),
        CallLoss::Stuck => FailureRecord::new(
            code::STUCK,
            "it computed for long without a pause, and other steps of its host came to nothing: \
             give the step a timeout, or let it `await` now and then",
        )
        .plain()
        .into(),
    }
}

/// A number that JavaScript would change is refused, never changed.
pub(crate) fn unsafe_number(inexact: &InexactNumber, what: &str) -> ScriptError {
    let InexactNumber { path, number, rounded, .. } = inexact;
    let place = if path.is_empty() {
        what.to_owned()
    } else {
        format!("`{}`", path.replacen("last.", "lastStep.", 1))
    };
    let message = format!(
        "{place} is {number}, which a number of JavaScript cannot hold: it would be {rounded}; record it as a string"
    );
    ScriptError {
        code: Some(code::UNSAFE_NUMBER.to_owned()),
        behavior: Some("stop".to_owned()),
        ..refusal(message)
    }
}

/// The state is what the script says last.
fn keep_state(context: &CallContext, state: Option<&RawValue>) {
    let fields = state.map(|state| serde_json::from_str(state.get()).unwrap_or_default());
    context.state.replace(fields.unwrap_or_default());
}

fn log(context: &CallContext, level: LogLevel, message: &str, fields: Option<&RawValue>) {
    match level {
        LogLevel::Debug => context.log.debug(fields, message),
        LogLevel::Info => context.log.info(fields, message),
        LogLevel::Warn => context.log.warn(fields, message),
        LogLevel::Error => context.log.error(fields, message),
    }
}
