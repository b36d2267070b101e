//! Durable operations inside of a step: what a function holds, and how the actor answers it.
//!
//! A function's question is a letter to the run's actor. What is recorded is answered from the history; what is new is
//! recorded first. Values are read by the function's own task.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rival_core::durable::{ChildOutcome, Found, OpKey, OpKind, OpOutcome, Replay};
use rival_core::event::{BlockedReason, Kind};
use rival_core::failure::code;
use rival_core::machine::{AskedBody, AskedOp, Effect, Input, Outcome};
use rival_core::{Event, Failure, Path, RunId, Seq, StepError, Time, Value};
use rival_store::Store;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::actor::{Actor, Work};
use crate::load;
use crate::mail::{Mail, Mailbox};
use crate::pulse::{Asked, Pulse};
use crate::shared::Shared;
use crate::values::Recorded;

/// How long a function may do nothing but wait for operations before it is let go.
const IDLE_MS: u64 = 10_000;
/// How often a run looks for such functions.
const IDLE_LOOK_MS: u64 = IDLE_MS / 2;
/// How many children of a map run at a time, unless told otherwise.
pub const MAP_CONCURRENCY: u32 = 100;

/// What a step uses to wait for things durably. Cheap to clone; all clones belong to the same call.
#[derive(Clone)]
pub struct Durable(Arc<Line>);

/// The line between one call and the run's actor.
struct Line {
    node: Path,
    call: u32,
    run: RunId,
    mailbox: Mailbox,
    store: Arc<dyn Store>,
    pulse: Arc<Pulse>,
    said: Mutex<Said>,
}

/// What the function has asked for and been told so far.
#[derive(Default)]
struct Said {
    counts: BTreeMap<(OpKind, String), u32>,
    /// Operations whose answers it has used since it last asked for one.
    used: Vec<u32>,
}

/// A function's question, on its way to the actor.
pub(crate) struct Ask {
    node: Path,
    call: u32,
    id: u64,
    key: OpKey,
    hash: String,
    used: Vec<u32>,
    what: Question,
    reply: oneshot::Sender<Reply>,
}

/// What a function asks for.
enum Question {
    /// Whether something is recorded.
    Once,
    /// To record what came of it.
    Done(Result<Value, Failure>),
    Sleep(u64),
    Signal {
        timeout_ms: Option<u64>,
        timeout_is_value: bool,
    },
    Run {
        input: Value,
    },
    Map {
        items: Vec<Value>,
        concurrency: u32,
        collect: bool,
    },
}

enum Reply {
    /// It is not recorded: do it.
    Do,
    /// It has ended.
    Ended { op: u32, kind: OpKind, started: Seq, end: Recorded, end_seq: Seq, good: bool },
}

/// The questions of a call that wait for an answer, and its way through what is recorded.
pub(crate) struct Talk {
    pub(crate) pulse: Arc<Pulse>,
    replay: Replay,
    asks: BTreeMap<u32, oneshot::Sender<Reply>>,
}

impl Durable {
    pub(crate) fn new(
        node: &Path,
        call: u32,
        run: &RunId,
        mailbox: &Mailbox,
        store: &Arc<dyn Store>,
        pulse: Arc<Pulse>,
    ) -> Self {
        Self(Arc::new(Line {
            node: node.clone(),
            call,
            run: run.clone(),
            mailbox: mailbox.clone(),
            store: Arc::clone(store),
            pulse,
            said: Mutex::default(),
        }))
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
        let (line, key) = (Arc::clone(&self.0), self.key(OpKind::Once, name));
        async move {
            let used = line.used();
            let question = line.ask(key.clone(), String::new(), used.clone(), Question::Once).await;
            match question {
                Reply::Do => {
                    let working = line.pulse.work();
                    let done = work.await.map_err(|error| error.failure);
                    drop(working);
                    let reply = line.ask(key, String::new(), used, Question::Done(done)).await;
                    line.value(reply).await
                }
                ended @ Reply::Ended { .. } => line.value(ended).await,
            }
        }
    }

    /// Sleeps, holding no memory.
    pub fn sleep(&self, duration: Duration) -> impl Future<Output = Result<(), StepError>> + Send + use<> {
        let (line, key) = (Arc::clone(&self.0), self.key(OpKind::Sleep, ""));
        let ms = whole_ms(duration);
        async move {
            let reply = line.say(key, hash(&[&ms.to_string()]), Question::Sleep(ms)).await;
            line.value(reply).await.map(|_| ())
        }
    }

    /// Waits for a signal and gives its payload; `null` for a timeout that is a value.
    pub fn signal(
        &self,
        name: &str,
        timeout: Option<Duration>,
        timeout_is_value: bool,
    ) -> impl Future<Output = Result<Value, StepError>> + Send + use<> {
        let (line, key) = (Arc::clone(&self.0), self.key(OpKind::Signal, name));
        let timeout_ms = timeout.map(whole_ms);
        async move {
            let hash = hash(&[&format!("{timeout_ms:?} {timeout_is_value}")]);
            let reply = line.say(key, hash, Question::Signal { timeout_ms, timeout_is_value }).await;
            line.value(reply).await
        }
    }

    /// Starts a child and gives its output.
    pub fn run(
        &self,
        workflow: &str,
        input: Value,
    ) -> impl Future<Output = Result<Value, StepError>> + Send + use<> {
        let (line, key) = (Arc::clone(&self.0), self.key(OpKind::Run, workflow));
        async move {
            let reply = line.say(key, hash(&[canonical(&input).as_str()]), Question::Run { input }).await;
            line.value(reply).await
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
        let (line, key) = (Arc::clone(&self.0), self.key(OpKind::Map, workflow));
        async move {
            let texts: Vec<String> = items.iter().map(canonical).collect();
            let hash = hash(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            let question = Question::Map { items, concurrency: concurrency.max(1), collect };
            let reply = line.say(key, hash, question).await;
            line.outcomes(reply, collect).await
        }
    }

    /// Which operation this is; decided when it is asked for, in the order of the code.
    fn key(&self, kind: OpKind, name: &str) -> OpKey {
        let mut said = self.0.said.lock().unwrap_or_else(PoisonError::into_inner);
        let occurrence = said.counts.entry((kind, name.to_owned())).or_default();
        *occurrence += 1;
        OpKey { kind, name: name.to_owned(), occurrence: *occurrence }
    }
}

impl std::fmt::Debug for Durable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Durable")
            .field("node", &self.0.node)
            .field("call", &self.0.call)
            .finish_non_exhaustive()
    }
}

impl Line {
    fn used(&self) -> Vec<u32> {
        std::mem::take(&mut self.said.lock().unwrap_or_else(PoisonError::into_inner).used)
    }

    async fn say(&self, key: OpKey, hash: String, what: Question) -> Reply {
        let used = self.used();
        self.ask(key, hash, used, what).await
    }

    async fn ask(&self, key: OpKey, hash: String, used: Vec<u32>, what: Question) -> Reply {
        let (reply, replied) = oneshot::channel();
        let asked: Asked = self.pulse.ask();
        let (node, call, id) = (self.node.clone(), self.call, asked.id);
        self.mailbox.send(Mail::Ask(Box::new(Ask { node, call, id, key, hash, used, what, reply })));
        match replied.await {
            Ok(reply) => reply,
            // Nobody will answer: the run was let go, and this call with it.
            Err(_) => std::future::pending().await,
        }
    }

    /// The value that an operation ended with.
    async fn value(&self, reply: Reply) -> Result<Value, StepError> {
        let Reply::Ended { op, kind, mut end, good, .. } = reply else { return Ok(Value::null()) };
        let answer = if kind == OpKind::Sleep && good {
            Ok(Value::null())
        } else {
            self.fetch(&mut end).await?;
            let event = end.event().cloned();
            event.map_or_else(|| Ok(Value::null()), |event| answer_of(&event))
        };
        self.use_up(op);
        answer
    }

    /// What became of each child of a map.
    async fn outcomes(
        &self,
        reply: Reply,
        collect: bool,
    ) -> Result<Vec<Result<Value, StepError>>, StepError> {
        let Reply::Ended { op, started, end_seq, mut end, .. } = reply else { return Ok(Vec::new()) };
        self.fetch(&mut end).await?;
        if let Some(event) = end.event().cloned()
            && !matches!(event.event, Kind::OpEnded { outcome: OpOutcome::Done {}, .. })
        {
            self.use_up(op);
            return Err(answer_of(&event).err().unwrap_or_else(stopped));
        }
        let mut outcomes = BTreeMap::new();
        let mut first_failure = None;
        let mut after = started;
        while after < end_seq {
            let page = load::load_events(&*self.store, &self.run, after, load::PAGE).await;
            let page = page.map_err(|error| StepError::new(error.to_string()))?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for event in page {
                let Kind::ChildEnded { node, op: of, index, .. } = &event.event else { continue };
                if *node == self.node && *of == op {
                    let answer = answer_of(&event);
                    if let Err(error) = &answer {
                        first_failure.get_or_insert_with(|| error.clone());
                    }
                    outcomes.insert(*index, answer);
                }
            }
        }
        self.use_up(op);
        match first_failure {
            Some(error) if !collect => Err(error),
            _ => Ok(outcomes.into_values().collect()),
        }
    }

    async fn fetch(&self, recorded: &mut Recorded) -> Result<(), StepError> {
        recorded.fetch(&*self.store, &self.run).await.map_err(|error| StepError::new(error.to_string()))
    }

    fn use_up(&self, op: u32) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).used.push(op);
    }
}

/// What the event that ended an operation tells the function.
fn answer_of(event: &Event) -> Result<Value, StepError> {
    match &event.event {
        Kind::ChildEnded { child, outcome, .. } => match outcome {
            ChildOutcome::Completed(output) => Ok(output.clone()),
            ChildOutcome::Failed { failure, step } => Err(child_failed(child, failure, step.as_ref())),
            ChildOutcome::Cancelled { reason } => Err(child_cancelled(child, reason.as_deref())),
        },
        Kind::OpEnded { outcome: OpOutcome::Stopped {} | OpOutcome::Left {}, .. } => Err(stopped()),
        kind => match (kind.failure(), kind.value()) {
            (Some(failure), _) => Err(failed(failure.clone())),
            (None, Some(value)) => Ok(value.clone()),
            (None, None) => Ok(Value::null()),
        },
    }
}

fn failed(failure: Failure) -> StepError {
    let mut error = StepError::new("");
    error.failure = failure;
    error
}

fn child_failed(child: &RunId, failure: &Failure, step: Option<&Path>) -> StepError {
    let at = step.map_or_else(String::new, |step| format!(" at `{step}`"));
    let details = serde_json::json!({
        "child": child, "step": step, "code": failure.code, "message": failure.message,
    });
    StepError::new(format!("child run `{child}` failed{at}: {failure}"))
        .code(code::CHILD_FAILED)
        .details(details)
}

fn child_cancelled(child: &RunId, reason: Option<&str>) -> StepError {
    let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let details = serde_json::json!({ "child": child, "reason": reason });
    StepError::new(format!("child run `{child}` was cancelled{why}"))
        .code(code::CHILD_CANCELLED)
        .details(details)
}

fn stopped() -> StepError {
    StepError::stop("the run is ending").code(code::CANCELLED)
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A value's text, whatever the order of keys.
fn canonical(value: &Value) -> String {
    let text = value.as_json();
    if text.contains('{') { value.to_json().to_string() } else { text.to_owned() }
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

impl Talk {
    pub(crate) fn new(pulse: Arc<Pulse>, replay: Replay) -> Self {
        Self { pulse, replay, asks: BTreeMap::new() }
    }
}

impl Actor {
    /// A function asks for something durable.
    pub(crate) fn asked(&mut self, ask: Ask, work: &mut Work) {
        let Ask { node, call, id, key, hash, used, what, reply } = ask;
        let Some(running) = self.calls.get_mut(&node).filter(|running| running.number == call) else {
            return;
        };
        let Some(talk) = &mut running.talk else { return };
        let pulse = Arc::clone(&talk.pulse);
        let ops = self.state.ops.get(&node);
        let op = match &what {
            Question::Done(_) => {
                talk.replay.worked();
                ops.map_or(1, rival_core::state::Ops::next)
            }
            _ => match talk.replay.ask(ops, &key, &hash, &used) {
                Found::Recorded(op) => {
                    talk.asks.insert(op, reply);
                    pulse.known(id);
                    return work.effects.push(Effect::Answer { node, call, op });
                }
                Found::Mismatch(message) => return self.nondeterminism(&node, call, message, work),
                Found::New if matches!(what, Question::Once) => {
                    talk.replay.working();
                    // A function that is gone needs no answer.
                    let _ = reply.send(Reply::Do);
                    return;
                }
                Found::New => ops.map_or(1, rival_core::state::Ops::next),
            },
        };
        talk.asks.insert(op, reply);
        talk.replay.recorded(op);
        let what = self.body_of(what, &key.name);
        let OpKey { name, occurrence, .. } = key;
        let asked = AskedOp { node, call, name, occurrence, hash, after: used, what };
        self.decide(Input::Op(asked), work);
        pulse.known(id);
    }

    fn body_of(&self, question: Question, workflow: &str) -> AskedBody {
        match question {
            // Answered before it comes to this.
            Question::Once => AskedBody::Once(Ok(Value::null())),
            Question::Done(outcome) => AskedBody::Once(outcome.and_then(|value| self.small_enough(value))),
            Question::Sleep(ms) => AskedBody::Sleep(ms),
            Question::Signal { timeout_ms, timeout_is_value } => {
                AskedBody::Signal { timeout_ms, timeout_is_value }
            }
            Question::Run { input } => {
                let refused = self.refusal(workflow, std::slice::from_ref(&input), false);
                AskedBody::Run { input, refused }
            }
            Question::Map { items, concurrency, collect } => {
                let refused = self.refusal(workflow, &items, true);
                AskedBody::Map { items, concurrency, collect, refused }
            }
        }
    }

    fn small_enough(&self, value: Value) -> Result<Value, Failure> {
        let (size, limit) = (value.len_bytes(), self.shared.limits.payload_max);
        if size <= limit {
            return Ok(value);
        }
        let message = format!("what was done once gave {size} bytes, more than the limit of {limit}");
        Err(Failure::new(code::TOO_LARGE, message))
    }

    /// The step is not what it was: it is blocked, and its function let go.
    fn nondeterminism(&mut self, node: &Path, call: u32, message: String, work: &mut Work) {
        if let Some(running) = self.calls.remove(node) {
            running.abandon();
            work.logs.extend(running.unstored());
        }
        let outcome = Outcome::Blocked(BlockedReason::Nondeterminism { message });
        self.decide(Input::CallFinished { node: node.clone(), call, outcome }, work);
    }

    /// What a function that returned a result has to be held against.
    pub(crate) fn forgot(&self, node: &Path, call: u32) -> Option<String> {
        let running = self.calls.get(node).filter(|running| running.number == call)?;
        running.talk.as_ref()?.replay.forgot(self.state.ops.get(node))
    }

    /// Gives a function the answers that are there and due.
    pub(crate) fn answer(&mut self, node: &Path, call: u32) {
        let Some(running) = self.calls.get_mut(node).filter(|running| running.number == call) else { return };
        let (Some(talk), Some(ops)) = (&mut running.talk, self.state.ops.get(node)) else { return };
        let due =
            talk.asks.keys().copied().filter(|number| {
                ops.get(*number).is_some_and(|op| op.end.is_some() && talk.replay.is_due(op))
            });
        for number in due.collect::<Vec<_>>() {
            let (Some(reply), Some(op)) = (talk.asks.remove(&number), ops.get(number)) else { continue };
            let Some(end) = op.end else { continue };
            let recorded = self.values.get(end.seq);
            let recorded =
                recorded.map_or(Recorded::Stored(end.seq), |event| Recorded::AtHand(Arc::clone(event)));
            // A function that is gone needs no answer.
            let _ = reply.send(Reply::Ended {
                op: number,
                kind: op.key.kind,
                started: op.started,
                end: recorded,
                end_seq: end.seq,
                good: end.good,
            });
        }
    }

    /// Lets go of functions that have done nothing but wait for a while, or at once if others want the room.
    pub(crate) fn let_go_of_idle(&mut self, work: &mut Work) {
        let now = self.shared.clock.now();
        let room_wanted = self.shared.is_short_of_room();
        if self.talking.is_empty() || !(room_wanted || self.idle_look.is_some_and(|at| at <= now)) {
            return;
        }
        let idle = self.talking.iter().filter_map(|node| {
            let running = self.calls.get(node)?;
            let since = running.talk.as_ref()?.pulse.idle_since()?;
            let long = since.plus_ms(IDLE_MS) <= now || room_wanted;
            (long && self.state.is_waiting(node)).then(|| (node.clone(), running.number))
        });
        for (node, call) in idle.collect::<Vec<_>>() {
            self.decide(Input::Suspend { node: node.clone(), call }, work);
            if self.state.node(&node).is_some_and(|node| node.call.is_none())
                && let Some(running) = self.calls.remove(&node)
            {
                running.abandon();
                work.logs.extend(running.unstored());
            }
        }
        self.idle_look = None;
    }

    /// When the run looks for idle functions next.
    pub(crate) fn next_idle_look(&mut self) -> Option<Time> {
        let calls = &self.calls;
        self.talking.retain(|node| calls.get(node).is_some_and(|running| running.talk.is_some()));
        if self.talking.is_empty() {
            self.idle_look = None;
        } else if self.idle_look.is_none() {
            self.idle_look = Some(self.shared.clock.now().plus_ms(IDLE_LOOK_MS));
        }
        self.idle_look
    }
}

impl Shared {
    /// Whether somebody who wants to begin finds no room.
    pub(crate) fn is_short_of_room(&self) -> bool {
        self.keeper.wants_room() && self.room() == 0
    }
}
