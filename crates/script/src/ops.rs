//! What a script asks the engine for while it runs: other steps, durable operations, the registry.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use rival_core::{StepError, Value};
use rival_engine::{CallContext, DurableHandle, MAP_CONCURRENCY, SentRequest};
use rival_script_host::frame::ScriptError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::context::encode_step;
use crate::function::failure;
use crate::realm::ScriptRealm;
use crate::registry::RunLauncher;

/// An operation with its answer.
pub(crate) struct AnsweredOp {
    pub(crate) op: u32,
    pub(crate) answer: OpAnswer,
}

pub(crate) type OpAnswer = Result<Box<RawValue>, ScriptError>;

/// What a call has asked for and not been told yet.
pub(crate) struct PendingOps<'a> {
    context: &'a CallContext,
    launcher: &'a RunLauncher,
    realm: &'a ScriptRealm,
    /// Where answers go that are given half-way.
    asides: mpsc::UnboundedSender<AnsweredOp>,
    /// What is done once, by the operation that asked whether it is recorded.
    onces: HashMap<u32, oneshot::Sender<OnceResult>>,
    /// Durable operations that can be given up.
    open: HashMap<u32, AbortHandle>,
    /// Waits for signals whose answers the script has and has not used.
    unused: HashMap<u32, oneshot::Sender<()>>,
}

/// An operation as a script names it when it says more about it.
#[derive(Deserialize)]
struct OpName {
    op: u32,
}

/// What came of something that is done once, and the operation that said so.
struct OnceResult {
    op: u32,
    result: Result<Value, StepError>,
}

#[derive(Deserialize)]
struct StackArgs {
    stack: String,
}

#[derive(Deserialize)]
struct NamedOp {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WaitSignalArgs {
    name: String,
    timeout_ms: Option<f64>,
    #[serde(default)]
    timeout_is_value: bool,
}

#[derive(Deserialize)]
struct ChildRunArgs {
    workflow: String,
    input: Box<RawValue>,
}

#[derive(Deserialize)]
struct MapArgs {
    workflow: String,
    items: Vec<Box<RawValue>>,
    concurrency: Option<u32>,
    #[serde(default)]
    collect: bool,
}

#[derive(Deserialize)]
struct SleepArgs {
    ms: f64,
}

/// The request of an `httpStep`, without what may be secret.
#[derive(Deserialize)]
struct HttpRequestArgs {
    method: String,
    url: String,
    host: String,
    port: u16,
}

#[derive(Deserialize)]
struct HttpStatusArgs {
    status: u16,
}

#[derive(Deserialize)]
struct OnceDone {
    once: u32,
    value: Option<Box<RawValue>>,
    error: Option<ScriptError>,
}

impl<'a> PendingOps<'a> {
    pub(crate) fn new(
        context: &'a CallContext,
        launcher: &'a RunLauncher,
        realm: &'a ScriptRealm,
        asides: mpsc::UnboundedSender<AnsweredOp>,
    ) -> Self {
        let (onces, open, unused) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { context, launcher, realm, asides, onces, open, unused }
    }

    /// Takes up a question. The order in which durable operations are asked for is what they are known by.
    pub(crate) fn asked(
        &mut self,
        op: u32,
        kind: &str,
        args: &RawValue,
    ) -> Option<BoxFuture<'a, Option<AnsweredOp>>> {
        let answer = match kind {
            "look" => self.look(parse(args)),
            "names" => self.names(),
            "http.sends" => {
                self.note_request(args);
                return None;
            }
            "http.isAnswered" => {
                self.note_answer(args);
                return None;
            }
            "stack" => std::future::ready(stack(self.realm, args)).boxed(),
            "durable.onceDone" => return self.once_done(op, parse(args)).map(answers),
            "durable.used" => return self.used(parse(args)),
            "durable.drop" => return self.give_up(parse(args)),
            "durable.once" => {
                let once = self.once(op, parse(args));
                return Some(self.until_given_up(op, answers(once)));
            }
            "durable.signal" => {
                let signal = self.signal(op, parse(args));
                return Some(self.until_given_up(op, signal));
            }
            _ => match kind.split_once('.') {
                Some(("durable", verb)) => {
                    let answer = self.durable(verb, args);
                    let answered = answer.map(move |answer| Some(AnsweredOp { op, answer })).boxed();
                    return Some(self.until_given_up(op, answered));
                }
                Some(("registry", verb)) => self.launcher.asked(verb, args),
                Some(("test", verb)) => self.launcher.asked_in_test(verb, args),
                _ => refused(format!("`{kind}` is not something that a script can ask for")),
            },
        };
        Some(answer.map(move |answer| Some(AnsweredOp { op, answer })).boxed())
    }

    /// Takes note of a request, for the call's span. It is not answered: the request is on its way.
    fn note_request(&self, args: &RawValue) {
        if let Ok(HttpRequestArgs { method, url, host, port }) = parse(args) {
            self.context.run.http.sends(SentRequest { method, url, host, port });
        }
    }

    fn note_answer(&self, args: &RawValue) {
        if let Ok(HttpStatusArgs { status }) = parse(args) {
            self.context.run.http.is_answered(status);
        }
    }

    /// A durable operation, until the script gives it up.
    fn until_given_up(
        &mut self,
        op: u32,
        answer: BoxFuture<'a, Option<AnsweredOp>>,
    ) -> BoxFuture<'a, Option<AnsweredOp>> {
        let (handle, registration) = AbortHandle::new_pair();
        self.open.insert(op, handle);
        Abortable::new(answer, registration).map(|answered| answered.ok().flatten()).boxed()
    }

    /// The script gives an operation up. Its future is polled next, and dropped by that.
    fn give_up(&mut self, args: Result<OpName, ScriptError>) -> Option<BoxFuture<'a, Option<AnsweredOp>>> {
        let op = args.ok()?.op;
        self.onces.remove(&op);
        self.unused.remove(&op);
        if let Some(open) = self.open.remove(&op) {
            open.abort();
        }
        None
    }

    /// The script has used the answer of a wait for a signal.
    fn used(&mut self, args: Result<OpName, ScriptError>) -> Option<BoxFuture<'a, Option<AnsweredOp>>> {
        if let Some(unused) = self.unused.remove(&args.ok()?.op) {
            // The wait is in the same set of open operations.
            let _ = unused.send(());
        }
        None
    }

    /// Waits for a signal. The answer is told half-way: the wait is over when the script has used it.
    fn signal(
        &mut self,
        op: u32,
        args: Result<WaitSignalArgs, ScriptError>,
    ) -> BoxFuture<'a, Option<AnsweredOp>> {
        let Some(durable) = &self.context.durable else {
            return answers(answered(op, Err(refusal(NOT_DURABLE))));
        };
        let args = match args {
            Ok(args) => args,
            Err(error) => return answers(answered(op, Err(error))),
        };
        let (unused, used) = oneshot::channel();
        self.unused.insert(op, unused);
        let asides = self.asides.clone();
        let deliver = move |answer| async move {
            let _ = asides.send(AnsweredOp { op, answer: raw(answer) });
            if used.await.is_err() {
                // Given up, or the call is over: the future is dropped.
                std::future::pending::<()>().await;
            }
        };
        let timeout = args.timeout_ms.map(whole_ms);
        durable.signal_delivered(&args.name, timeout, args.timeout_is_value, deliver).map(|()| None).boxed()
    }

    fn look(&self, args: Result<NamedOp, ScriptError>) -> BoxFuture<'a, OpAnswer> {
        let context = self.context;
        async move {
            let step = context.steps.get(&args?.name).await.map_err(thrown)?;
            Ok(step.map_or_else(|| RawValue::NULL.to_owned(), |step| encode_step(&step)))
        }
        .boxed()
    }

    fn names(&self) -> BoxFuture<'a, OpAnswer> {
        let context = self.context;
        std::future::ready(encode(&context.steps.names())).boxed()
    }

    fn durable(&self, verb: &str, args: &RawValue) -> BoxFuture<'a, OpAnswer> {
        let Some(durable) = &self.context.durable else { return refused(NOT_DURABLE) };
        let asked = match verb {
            "sleep" => parse(args).map(|args: SleepArgs| sleep(durable, &args)),
            "run" => parse(args).map(|args: ChildRunArgs| run(durable, args)),
            "map" => parse(args).map(|args: MapArgs| map(durable, args)),
            _ => Ok(refused(format!("there is no durable operation `{verb}`"))),
        };
        asked.unwrap_or_else(|error| std::future::ready(Err(error)).boxed())
    }

    /// Asks whether something is recorded. If not, the script is told to do it, and the operation with which it says
    /// what came of it is answered with what was recorded.
    fn once(&mut self, op: u32, args: Result<NamedOp, ScriptError>) -> BoxFuture<'a, AnsweredOp> {
        let Some(durable) = &self.context.durable else { return answered(op, Err(refusal(NOT_DURABLE))) };
        let name = match args {
            Ok(args) => args.name,
            Err(error) => return answered(op, Err(error)),
        };
        let (done, said) = oneshot::channel::<OnceResult>();
        self.onces.insert(op, done);
        let asides = self.asides.clone();
        let asked_last = Arc::new(AtomicU32::new(op));
        let asks_now = Arc::clone(&asked_last);
        let work = async move {
            let answer = encode(&serde_json::json!({ "do": true }));
            let _ = asides.send(AnsweredOp { op, answer });
            match said.await {
                Ok(done) => {
                    asks_now.store(done.op, Ordering::Relaxed);
                    done.result
                }
                // The call is over.
                Err(_) => std::future::pending().await,
            }
        };
        let once = durable.once(&name, work);
        async move {
            let answer = once.await.map_err(thrown).and_then(|value| wrapped(&value));
            AnsweredOp { op: asked_last.load(Ordering::Relaxed), answer }
        }
        .boxed()
    }

    fn once_done(
        &mut self,
        op: u32,
        args: Result<OnceDone, ScriptError>,
    ) -> Option<BoxFuture<'a, AnsweredOp>> {
        let args = match args {
            Ok(args) => args,
            Err(error) => return Some(answered(op, Err(error))),
        };
        let result = match args.error {
            Some(error) => Err(failure(error, self.realm)),
            None => Ok(args.value.map_or_else(Value::null, Value::from)),
        };
        let Some(once) = self.onces.remove(&args.once) else {
            return Some(answered(op, Err(refusal("nothing is being done once"))));
        };
        // The operation that waits for the result is in the same set of open operations.
        let _ = once.send(OnceResult { op, result });
        None
    }
}

const NOT_DURABLE: &str =
    "durable operations belong to steps: this function is a condition, a handler or a mapper";

fn sleep(durable: &DurableHandle, args: &SleepArgs) -> BoxFuture<'static, OpAnswer> {
    let asleep = durable.sleep(whole_ms(args.ms));
    async move { asleep.await.map_err(thrown).map(|()| RawValue::NULL.to_owned()) }.boxed()
}

fn run(durable: &DurableHandle, args: ChildRunArgs) -> BoxFuture<'static, OpAnswer> {
    let run = durable.run(&args.workflow, Value::from(args.input));
    async move { raw(run.await) }.boxed()
}

/// Answers with a list of `{value}` and `{error}`.
fn map(durable: &DurableHandle, args: MapArgs) -> BoxFuture<'static, OpAnswer> {
    let items = args.items.into_iter().map(Value::from).collect();
    let concurrency = args.concurrency.unwrap_or(MAP_CONCURRENCY);
    let map = durable.map(&args.workflow, items, concurrency, args.collect);
    async move {
        let outcomes = map.await.map_err(thrown)?.into_iter().map(|outcome| match outcome {
            Ok(value) => wrapped(&value),
            Err(error) => encode(&serde_json::json!({ "error": thrown(error) })),
        });
        encode(&outcomes.collect::<Result<Vec<_>, _>>()?)
    }
    .boxed()
}

/// A stack trace of generated code, with places in TypeScript.
pub(crate) fn stack(realm: &ScriptRealm, args: &RawValue) -> OpAnswer {
    let StackArgs { stack } = parse(args)?;
    encode(&realm.stack_of_files(&stack))
}

fn whole_ms(ms: f64) -> Duration {
    // Negative and not-a-number become zero, infinity the longest there is.
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or(if ms > 0.0 { Duration::MAX } else { Duration::ZERO })
}

pub(crate) fn parse<'a, T: Deserialize<'a>>(args: &'a RawValue) -> Result<T, ScriptError> {
    serde_json::from_str(args.get()).map_err(|error| refusal(format!("its arguments are wrong: {error}")))
}

pub(crate) fn encode(value: &impl Serialize) -> OpAnswer {
    serde_json::value::to_raw_value(value).map_err(|error| refusal(error.to_string()))
}

fn raw(result: Result<Value, StepError>) -> OpAnswer {
    result.map_err(thrown).and_then(|value| encode(&value))
}

fn wrapped(value: &Value) -> OpAnswer {
    encode(&serde_json::json!({ "value": value }))
}

fn answers(answered: BoxFuture<'_, AnsweredOp>) -> BoxFuture<'_, Option<AnsweredOp>> {
    answered.map(Some).boxed()
}

fn answered<'a>(op: u32, answer: OpAnswer) -> BoxFuture<'a, AnsweredOp> {
    std::future::ready(AnsweredOp { op, answer }).boxed()
}

fn refused<'a>(message: impl Into<String>) -> BoxFuture<'a, OpAnswer> {
    std::future::ready(Err(refusal(message))).boxed()
}

pub(crate) fn refusal(message: impl Into<String>) -> ScriptError {
    ScriptError { name: "TypeError".to_owned(), message: message.into(), ..ScriptError::default() }
}

/// What a script is thrown when the engine says no.
fn thrown(error: StepError) -> ScriptError {
    ScriptError {
        name: "Error".to_owned(),
        message: error.failure.message,
        code: Some(error.failure.code),
        details: error.failure.details.map(|details| details.to_json()),
        ..ScriptError::default()
    }
}
