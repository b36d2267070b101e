//! Durable operations inside of a step: what a function holds.
//!
//! A function's request is a message to the run's actor, see `op_session`. What is recorded is answered from the history; what
//! is new is recorded first. A value that is not at hand is read by a task of its own, and no other answer is told before
//! it is there: so the function hears the answers in their order, whether it polls for them or not.
//!
//! A future of an operation that the function drops before it has used the answer gives the operation up. One that is
//! dropped with the function itself does not: the engine let the function go, and it comes back for the answer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::Future;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rival_core::durable::{ChildOutcome, OpKey, OpKind, OpOutcome};
use rival_core::event::EventKind;
use rival_core::failure::code;
use rival_core::machine::{OnceRequest, OpRequest};
use rival_core::repeated::RepeatedPart;
use rival_core::{Event, FailureRecord, Path, RunId, Seq, StepError, Value};
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use crate::call::values::{ReadError, RecordedValue};
use crate::durable::idle::{ExternalWork, IdleTracker, PendingRequest, WorkGuard};
use crate::run::load::{self, LoadError};
use crate::run::mailbox::{ActorMessage, Mailbox};
use crate::schedule::store_retry::StoreRetry;
use crate::schedule::store_slot::StoreSlot;

/// How many children of a map run at a time by default.
pub const MAP_CONCURRENCY: u32 = 100;

/// What a step uses to wait for things durably. Cheap to clone; all clones belong to the same call.
#[derive(Clone)]
pub struct DurableHandle(Arc<OpClient>);

/// The line between one call and the run's actor.
struct OpClient {
    node: Path,
    call: u32,
    run: RunId,
    mailbox: Mailbox,
    store: Arc<StoreSlot>,
    idle_tracker: Arc<IdleTracker>,
    /// How often the function has asked for what.
    counts: Mutex<BTreeMap<(OpKind, String), u32>>,
    repeated: CallProgress,
}

/// How far a call is in what it repeats of an earlier one, in the order of the function's own code: its log goes by that.
#[derive(Clone, Debug)]
pub(crate) struct CallProgress(Arc<Mutex<RepeatedPart>>);

impl CallProgress {
    pub(crate) fn new(repeated: RepeatedPart) -> Self {
        Self(Arc::new(Mutex::new(repeated)))
    }

    /// Whether the function does what an earlier call has done.
    pub(crate) fn repeats(&self) -> bool {
        !self.lock().is_over()
    }

    fn lock(&self) -> MutexGuard<'_, RepeatedPart> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wait for a signal, as it is asked for.
struct SignalQuestion {
    timeout_ms: Option<u64>,
    timeout_is_value: bool,
}

impl SignalQuestion {
    fn new(timeout: Option<Duration>, timeout_is_value: bool) -> Self {
        Self { timeout_ms: timeout.map(whole_ms), timeout_is_value }
    }

    fn hash(&self) -> String {
        hash(&[&format!("{:?} {}", self.timeout_ms, self.timeout_is_value)])
    }

    fn ask(&self) -> OpRequest {
        OpRequest::Signal { timeout_ms: self.timeout_ms, timeout_is_value: self.timeout_is_value }
    }
}

/// A function's question, on its way to the actor.
pub(crate) struct OpMessage {
    pub(crate) node: Path,
    pub(crate) call: u32,
    pub(crate) id: u64,
    pub(crate) key: OpKey,
    pub(crate) hash: String,
    pub(crate) used: Vec<u32>,
    pub(crate) request: OpRequest,
    /// Of the inputs of children.
    pub(crate) check: ChildInputCheck,
    pub(crate) reply: oneshot::Sender<OpReply>,
}

/// An operation that a function gives up, on its way to the actor.
pub(crate) struct GivenUp {
    pub(crate) node: Path,
    pub(crate) call: u32,
    pub(crate) key: OpKey,
}

/// What the child's workflow says of its input; absent if it was not asked, or has no check of its own.
pub(crate) type ChildInputCheck = Option<Result<(), FailureRecord>>;

pub(crate) enum OpReply {
    /// It is not recorded: do it.
    Do,
    /// It has ended.
    Ended { op: u32, kind: OpKind, started: Seq, end: RecordedValue, end_seq: Seq, good: bool },
}

/// A reply, for as long as the function has not made use of it: it is at work until then.
struct OpReplyGuard {
    reply: OpReply,
    _working: WorkGuard,
}

impl DurableHandle {
    pub(crate) fn new(
        node: &Path,
        call: u32,
        run: &RunId,
        mailbox: &Mailbox,
        store: &Arc<StoreSlot>,
        idle_tracker: Arc<IdleTracker>,
        repeated: CallProgress,
    ) -> Self {
        Self(Arc::new(OpClient {
            node: node.clone(),
            call,
            run: run.clone(),
            mailbox: mailbox.clone(),
            store: Arc::clone(store),
            idle_tracker,
            counts: Mutex::default(),
            repeated,
        }))
    }

    pub(crate) fn progress(&self) -> &CallProgress {
        &self.0.repeated
    }

    /// Does something once: what came of it is recorded, and a later call of the step finds it.
    pub fn once<F>(
        &self,
        name: &str,
        work: F,
    ) -> impl Future<Output = Result<Value, StepError>> + Send + use<F>
    where
        F: Future<Output = Result<Value, StepError>> + Send,
    {
        let mut wait = self.wait(OpKind::Once, name);
        async move {
            // Told for good with what is recorded: if it is given up before it is done, another question tells of them.
            let (uses, used) = wait.line.idle_tracker.uses();
            let told = wait.ask(String::new(), used, OpRequest::Once(OnceRequest::Begin)).await?;
            if let OpReply::Ended { .. } = told.reply {
                return wait.value(told).await;
            }
            let done = work.await.map_err(|error| error.failure);
            drop(told);
            let used = wait.line.idle_tracker.newly_used(uses);
            let told = wait.ask(String::new(), used, OpRequest::Once(OnceRequest::Record(done))).await?;
            wait.value(told).await
        }
    }

    /// Sleeps, holding no memory.
    pub fn sleep(&self, duration: Duration) -> impl Future<Output = Result<(), StepError>> + Send + use<> {
        let mut wait = self.wait(OpKind::Sleep, "");
        let ms = whole_ms(duration);
        async move {
            let told = wait.say(hash(&[&ms.to_string()]), OpRequest::Sleep(ms)).await?;
            wait.value(told).await.map(|_| ())
        }
    }

    /// Waits for a signal and gives its payload; nothing for a timeout that is a value.
    pub fn signal(
        &self,
        name: &str,
        timeout: Option<Duration>,
        timeout_is_value: bool,
    ) -> impl Future<Output = Result<Option<Value>, StepError>> + Send + use<> {
        let mut wait = self.wait(OpKind::Signal, name);
        let question = SignalQuestion::new(timeout, timeout_is_value);
        async move {
            let told = wait.say(question.hash(), question.ask()).await?;
            wait.payload(told).await
        }
    }

    /// Waits for a signal, for functions whose code runs elsewhere. What came is given to `deliver`, and counts as used when
    /// the future that this gives has come to its end. Until then the wait can be given up, and the signal is kept for
    /// the next one.
    pub fn signal_delivered<D, F>(
        &self,
        name: &str,
        timeout: Option<Duration>,
        timeout_is_value: bool,
        deliver: D,
    ) -> impl Future<Output = ()> + Send + use<D, F>
    where
        D: FnOnce(Result<Value, StepError>) -> F + Send,
        F: Future<Output = ()> + Send,
    {
        let mut wait = self.wait(OpKind::Signal, name);
        let question = SignalQuestion::new(timeout, timeout_is_value);
        async move {
            let told = match wait.say(question.hash(), question.ask()).await {
                Ok(told) => told,
                Err(error) => return deliver(Err(error)).await,
            };
            match wait.read(told).await {
                Ok((op, answer)) => {
                    deliver(answer.map(Option::unwrap_or_default)).await;
                    wait.use_up(op);
                }
                Err(error) => deliver(Err(error)).await,
            }
        }
    }

    /// Starts a child and gives its output.
    pub fn run(
        &self,
        workflow: &str,
        input: Value,
    ) -> impl Future<Output = Result<Value, StepError>> + Send + use<> {
        let mut wait = self.wait(OpKind::Run, workflow);
        async move {
            let told = wait.say(hash(&[&*input.canonical()]), OpRequest::Run { input }).await?;
            wait.value(told).await
        }
    }

    /// Starts a child for each item and gives what became of each, in the order of the items. Without `collect` the
    /// first failure cancels the others and is the error.
    pub fn map(
        &self,
        workflow: &str,
        items: Vec<Value>,
        concurrency: u32,
        collect: bool,
    ) -> impl Future<Output = Result<Vec<Result<Value, StepError>>, StepError>> + Send + use<> {
        let mut wait = self.wait(OpKind::Map, workflow);
        async move {
            let texts: Vec<Cow<'_, str>> = items.iter().map(Value::canonical).collect();
            let hash = hash(&texts.iter().map(Cow::as_ref).collect::<Vec<_>>());
            let question = OpRequest::Map { items, concurrency: concurrency.max(1), collect };
            let told = wait.say(hash, question).await?;
            wait.outcomes(told, collect).await
        }
    }

    /// For functions whose code runs elsewhere: while the guard lives, the call counts as doing something, also when its
    /// future only waits for durable operations. A call that does nothing but wait may be suspended.
    pub fn busy(&self) -> BusyGuard {
        BusyGuard(self.0.idle_tracker.work_elsewhere())
    }

    /// A wait for an operation. Which one it is, is decided here, in the order of the code.
    fn wait(&self, kind: OpKind, name: &str) -> OpWait {
        let mut counts = self.0.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let occurrence = counts.entry((kind, name.to_owned())).or_default();
        *occurrence += 1;
        let key = OpKey { kind, name: name.to_owned(), occurrence: *occurrence };
        self.0.repeated.lock().asks(&key);
        OpWait { line: Arc::clone(&self.0), key, is_open: false }
    }
}

/// See [`DurableHandle::busy`].
#[must_use = "the call is busy for as long as this is kept"]
pub struct BusyGuard(#[expect(dead_code, reason = "it acts when it is dropped")] ExternalWork);

impl std::fmt::Debug for BusyGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Busy")
    }
}

impl std::fmt::Debug for DurableHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Durable")
            .field("node", &self.0.node)
            .field("call", &self.0.call)
            .finish_non_exhaustive()
    }
}

/// A wait for an operation. Dropped before it is over, it gives the operation up.
struct OpWait {
    line: Arc<OpClient>,
    key: OpKey,
    /// It was asked for, and its answer is not used.
    is_open: bool,
}

impl Drop for OpWait {
    fn drop(&mut self) {
        if self.is_open {
            self.line.idle_tracker.dropped(&self.key);
        }
    }
}

impl OpWait {
    async fn say(&mut self, hash: String, request: OpRequest) -> Result<OpReplyGuard, StepError> {
        let (uses, _) = self.line.idle_tracker.uses();
        let used = self.line.idle_tracker.newly_used(uses);
        self.ask(hash, used, request).await
    }

    async fn ask(
        &mut self,
        hash: String,
        used: Vec<u32>,
        request: OpRequest,
    ) -> Result<OpReplyGuard, StepError> {
        let (reply, replied) = oneshot::channel();
        let asked: PendingRequest = self.line.idle_tracker.ask();
        let (node, call, id, key) = (self.line.node.clone(), self.line.call, asked.id, self.key.clone());
        self.is_open = true;
        self.line.mailbox.send(ActorMessage::OpRequested(Box::new(OpMessage {
            node,
            call,
            id,
            key,
            hash,
            used,
            request,
            check: None,
            reply,
        })));
        if let Ok(reply) = replied.await {
            return Ok(OpReplyGuard { reply, _working: self.line.idle_tracker.work() });
        }
        // No reply will come: the call is over. A future of the function itself is dropped before it comes to this; what
        // the function gave to another task is told.
        self.is_open = false;
        self.line.idle_tracker.gone().await;
        let message = format!("{} is asked for by a step that has ended", self.key);
        Err(FailureRecord::new(code::STEP_ENDED, message).stop())
    }

    /// The function is given the answer, and has used it with that.
    fn use_up(&mut self, op: u32) {
        self.is_open = false;
        self.line.idle_tracker.use_up(op);
    }

    /// The answer cannot be read: that is no reason to give the operation up.
    fn unreadable<T>(&mut self, error: StepError) -> Result<T, StepError> {
        self.is_open = false;
        Err(error)
    }

    /// The value that an operation ended with.
    async fn value(&mut self, told: OpReplyGuard) -> Result<Value, StepError> {
        self.payload(told).await.map(Option::unwrap_or_default)
    }

    /// The same; nothing if it ended because no signal came in time.
    async fn payload(&mut self, told: OpReplyGuard) -> Result<Option<Value>, StepError> {
        let (op, answer) = self.read(told).await?;
        self.use_up(op);
        answer
    }

    /// The operation's number, and what it ended with, which is not used with this.
    async fn read(
        &mut self,
        told: OpReplyGuard,
    ) -> Result<(u32, Result<Option<Value>, StepError>), StepError> {
        let OpReplyGuard { reply, _working } = told;
        // Only what is to be done once is told anything else, and that asks again.
        let OpReply::Ended { op, kind, end, good, .. } = reply else { return Ok((0, Ok(None))) };
        let answer = if kind == OpKind::Sleep && good {
            Ok(None)
        } else {
            let event = match self.line.ending(end).await {
                Ok(event) => event,
                Err(error) => return self.unreadable(error),
            };
            match event {
                Some(event) if matches!(event.kind, EventKind::SignalTimedOut { failure: None, .. }) => {
                    Ok(None)
                }
                Some(event) => answer_of(&event).map(Some),
                None => Ok(None),
            }
        };
        self.line.repeated.lock().hears(op);
        Ok((op, answer))
    }

    /// What became of each child of a map.
    async fn outcomes(
        &mut self,
        told: OpReplyGuard,
        collect: bool,
    ) -> Result<Vec<Result<Value, StepError>>, StepError> {
        let OpReplyGuard { reply, _working } = told;
        let OpReply::Ended { op, started, end_seq, end, .. } = reply else { return Ok(Vec::new()) };
        let line = Arc::clone(&self.line);
        let read = async move { line.read_children(op, started..end_seq, end, collect).await };
        let outcomes = match self.line.read_apart(read).await {
            Ok(outcomes) => outcomes,
            Err(error) => return self.unreadable(error),
        };
        self.line.repeated.lock().hears(op);
        self.use_up(op);
        outcomes
    }
}

impl OpClient {
    /// The event that ended an operation.
    async fn ending(self: &Arc<Self>, mut end: RecordedValue) -> Result<Option<Arc<Event>>, StepError> {
        if end.is_at_hand() {
            return Ok(end.event().cloned());
        }
        let line = Arc::clone(self);
        let read = async move { line.fetch(&mut end).await.map(|()| end.event().cloned()) };
        self.read_apart(read).await
    }

    /// What became of each child of a map; the outer error says that it cannot be read.
    async fn read_children(
        &self,
        op: u32,
        events: Range<Seq>,
        mut end: RecordedValue,
        collect: bool,
    ) -> Result<Result<Vec<Result<Value, StepError>>, StepError>, StepError> {
        self.fetch(&mut end).await?;
        if let Some(event) = end.event()
            && !matches!(event.kind, EventKind::OpEnded { outcome: OpOutcome::Done {}, .. })
        {
            return Ok(Err(answer_of(event).err().unwrap_or_else(stopped)));
        }
        let mut outcomes = BTreeMap::new();
        let mut first_failure = None;
        let mut after = events.start;
        while after < events.end {
            let page = self.page(after).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for event in page {
                let EventKind::ChildEnded { node, op: of, index, .. } = &event.kind else { continue };
                if *node == self.node && *of == op {
                    let answer = answer_of(&event);
                    if let Err(error) = &answer {
                        first_failure.get_or_insert_with(|| error.clone());
                    }
                    outcomes.insert(*index, answer);
                }
            }
        }
        Ok(match first_failure {
            Some(error) if !collect => Err(error),
            _ => Ok(outcomes.into_values().collect()),
        })
    }

    /// Reads an answer in a task of its own, which ends with the future of this. A function may poll for the answer once
    /// and then wait for another one: reading it must come to its end all the same, because that one is told after it.
    async fn read_apart<T: Send + 'static>(
        &self,
        read: impl Future<Output = Result<T, StepError>> + Send + 'static,
    ) -> Result<T, StepError> {
        let (reply, replied) = oneshot::channel();
        let reading = self.idle_tracker.read();
        let _task = AbortOnDropHandle::new(tokio::spawn(async move {
            let answer = read.await;
            reading.done(|| {
                // A function that is gone needs no answer.
                let _ = reply.send(answer);
            });
        }));
        replied.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Brings an answer to hand. A store that cannot be read now is asked again: that is not the function's failure.
    async fn fetch(&self, recorded: &mut RecordedValue) -> Result<(), StepError> {
        let mut retry = StoreRetry::in_call(&self.run, "an answer cannot be read");
        loop {
            let fetched = async { recorded.fetch(&*self.store.get()?, &self.run, usize::MAX).await };
            match fetched.await {
                Ok(()) => return Ok(()),
                Err(error) => retry.after(error).await.map_err(|error: ReadError| unreadable(&error))?,
            }
        }
    }

    /// The events after `after`, some of them; asked for again like an answer.
    async fn page(&self, after: Seq) -> Result<Vec<Event>, StepError> {
        let mut retry = StoreRetry::in_call(&self.run, "an answer cannot be read");
        loop {
            let page = async { load::load_events(&*self.store.get()?, &self.run, after, load::PAGE).await };
            match page.await {
                Ok(page) => return Ok(page),
                Err(error) => retry.after(error).await.map_err(|error: LoadError| unreadable(&error))?,
            }
        }
    }
}

/// What the event that ended an operation tells the function.
fn answer_of(event: &Event) -> Result<Value, StepError> {
    match &event.kind {
        EventKind::ChildEnded { child, outcome, .. } => match outcome {
            ChildOutcome::Completed(output) => Ok(output.clone()),
            ChildOutcome::Failed { failure, step } => Err(child_failed(child, failure, step.as_ref())),
            ChildOutcome::Cancelled { reason, .. } => Err(child_cancelled(child, reason.as_deref())),
        },
        EventKind::OpEnded { outcome: OpOutcome::Cancelled {} | OpOutcome::Left {}, .. } => Err(stopped()),
        kind => match (kind.failure(), kind.value()) {
            (Some(failure), _) => Err(failure.clone().plain()),
            (None, Some(value)) => Ok(value.clone()),
            (None, None) => Ok(Value::null()),
        },
    }
}

/// A recorded answer cannot be read: the step is blocked, as for any other recorded value.
fn unreadable(error: &impl ToString) -> StepError {
    FailureRecord::new(code::DECODE, error.to_string()).stop()
}

fn child_failed(child: &RunId, failure: &FailureRecord, step: Option<&Path>) -> StepError {
    let at = step.map_or_else(String::new, |step| format!(" at `{step}`"));
    let details = serde_json::json!({
        "child": child, "step": step, "code": failure.code, "message": failure.message,
    });
    FailureRecord::new(code::CHILD_FAILED, format!("child run `{child}` failed{at}: {failure}"))
        .plain()
        .details(details)
}

fn child_cancelled(child: &RunId, reason: Option<&str>) -> StepError {
    let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let details = serde_json::json!({ "child": child, "reason": reason });
    FailureRecord::new(code::CHILD_CANCELLED, format!("child run `{child}` was cancelled{why}"))
        .plain()
        .details(details)
}

fn stopped() -> StepError {
    FailureRecord::new(code::CANCELLED, "the run is ending").stop()
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Names the arguments of an operation.
fn hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
