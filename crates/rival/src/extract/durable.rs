//! Things that a step waits for durably: children, signals, sleeps, what is done once.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use rival_core::failure::code;
use rival_core::{FailureRecord, Path, RunId, StepError, Value};
use rival_engine::{DurableHandle, MAP_CONCURRENCY, RunTarget, encode};
use serde::{Deserialize, Serialize};

use super::{Asks, Call, FromStep, decode};
use crate::data::Data;
use crate::returns::IntoStepError;
use crate::testing::OnceMocks;

/// Children, signals, sleeps and things done once, inside of a step.
///
/// What a step has asked for is recorded. If the process dies, or if the step has only waited for a while and was let
/// go, it is called again from its beginning, and each of these calls gives what it gave before. So code around them
/// may run again: put what must not into [`once`](Self::once), and ask for the same things in the same order. If the
/// step asks for something else, it is blocked with the reason `nondeterminism`.
///
/// Dropping a future before it is ready gives the operation up, and that is recorded: sleeps and waits for signals end,
/// children are cancelled, and a signal that was taken is kept for the next wait. So `select!` with a
/// [`sleep`](Self::sleep) is a time limit. Await these futures in the step's own task: one that was given to another task is
/// open until the step ends, and fails after that with `step_ended`.
///
/// Waiting does not consume the step's timeout. Only steps can ask for it, not handlers or conditions.
#[derive(Clone, Debug)]
pub struct Durable {
    line: DurableHandle,
    /// In a test, what stands in for things done once.
    mocks: Option<OnceDoubles>,
}

/// What a test puts into the place of things that a step does once, and what its mocks are told.
#[derive(Clone, Debug)]
struct OnceDoubles {
    mocks: Arc<OnceMocks>,
    attempt: u32,
    input: Value,
}

impl Durable {
    /// Starts a child and gives its output: `durable.run(&workflow, input).await?`, or by name with any input. The
    /// child is a run of its own; it is cancelled if this step stops waiting for it.
    ///
    /// Its failure is an error with the code `child_failed`; see [`ChildFailure`].
    #[expect(clippy::needless_pass_by_value, reason = "`run(&workflow, input)` is how it reads best")]
    pub fn run<I, W>(
        &self,
        workflow: W,
        input: I,
    ) -> impl Future<Output = Result<W::Output, StepError>> + Send + use<I, W>
    where
        I: Serialize,
        W: RunTarget<I>,
        W::Output: Data,
    {
        let name = workflow.workflow().to_owned();
        let started = encoded(&input).map(|input| self.line.run(&name, input));
        async move { decode(&started?.await?, || format!("the output of workflow `{name}`")) }
    }

    /// Starts a child for each item and gives their outputs in the order of the items. Say how many run at a time with
    /// [`concurrency`](Map::concurrency). The first failure cancels the others and is the error, unless
    /// [`collect`](Map::collect) asks for what became of each.
    #[expect(clippy::needless_pass_by_value, reason = "`map(items, &workflow)` is how it reads best")]
    pub fn map<I, W>(&self, items: impl IntoIterator<Item = I>, workflow: W) -> Map<W::Output>
    where
        I: Serialize,
        W: RunTarget<I>,
    {
        Map {
            line: self.line.clone(),
            workflow: workflow.workflow().to_owned(),
            items: items.into_iter().map(|item| encoded(&item)).collect(),
            concurrency: MAP_CONCURRENCY,
            output: PhantomData,
        }
    }

    /// Waits for a signal and gives its payload.
    pub fn signal<T: Data>(&self, name: impl Into<String>) -> SignalWait<T> {
        let (line, name) = (self.line.clone(), name.into());
        SignalWait { line, name, timeout: None, timeout_is_value: false, read: read_payload }
    }

    /// Sleeps. A step that sleeps for long holds no memory.
    pub fn sleep(&self, duration: Duration) -> impl Future<Output = Result<(), StepError>> + Send + use<> {
        self.line.sleep(duration)
    }

    /// Does something once: its result is recorded, and the step, called again, is given that. If the process dies
    /// before the result is on disk it is done again. An error comes back as a plain one, with its code and message.
    pub fn once<F, Fut, T, E>(
        &self,
        name: &str,
        work: F,
    ) -> impl Future<Output = Result<T, StepError>> + Send + use<F, Fut, T, E>
    where
        F: FnOnce() -> Fut + Send,
        Fut: Future<Output = Result<T, E>> + Send,
        T: Data,
        E: IntoStepError,
    {
        let name = name.to_owned();
        let doubles = self.mocks.clone();
        let named = name.clone();
        let done = self.line.once(&name, async move {
            let answer =
                doubles.and_then(|doubles| doubles.mocks.answer(&named, doubles.attempt, &doubles.input));
            if let Some(answer) = answer {
                return answer;
            }
            let result = work().await.map_err(IntoStepError::into_step_error)?;
            encoded(&result)
        });
        async move { decode(&done.await?, || format!("the result of once(`{name}`)")) }
    }
}

#[diagnostic::do_not_recommend]
impl FromStep for Durable {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        let missing = || {
            let message = format!("`{}` asks for Durable, which only steps are given", call.step());
            FailureRecord::new("missing_durable", message).stop()
        };
        let context = &call.context;
        let line = context.durable.clone().ok_or_else(missing)?;
        let doubles =
            |mocks| OnceDoubles { mocks, attempt: context.run.attempt, input: context.input.clone() };
        Ok(Self { line, mocks: context.resources.get::<OnceMocks>().map(doubles) })
    }

    fn asks(asks: &mut Asks) {
        asks.durable = true;
    }
}

fn encoded(value: &impl Serialize) -> Result<Value, StepError> {
    encode(value).map_err(|error| FailureRecord::new(code::NOT_JSON, error.to_string()).stop())
}

/// Children for the items of a list; see [`Durable::map`].
#[must_use = "the children are started by awaiting it"]
#[derive(Debug)]
pub struct Map<O> {
    line: DurableHandle,
    workflow: String,
    items: Result<Vec<Value>, StepError>,
    concurrency: u32,
    output: PhantomData<fn() -> O>,
}

impl<O> Map<O> {
    /// How many run at a time; 100 by default.
    pub fn concurrency(mut self, concurrency: u32) -> Self {
        self.concurrency = concurrency;
        self
    }

    /// Lets all end and gives what became of each, in the order of the items.
    pub fn collect(self) -> MapEach<O> {
        MapEach(self)
    }
}

impl<O: Data> IntoFuture for Map<O> {
    type Output = Result<Vec<O>, StepError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { line, workflow, items, concurrency, .. } = self;
        let mapped = items.map(|items| line.map(&workflow, items, concurrency, false));
        Box::pin(async move {
            let outputs = mapped?.await?;
            outputs.into_iter().map(|output| output_of(&output?, &workflow)).collect()
        })
    }
}

/// Children for the items of a list, of which some may fail; see [`Map::collect`].
#[must_use = "the children are started by awaiting it"]
#[derive(Debug)]
pub struct MapEach<O>(Map<O>);

impl<O: Data> IntoFuture for MapEach<O> {
    type Output = Result<Vec<Result<O, StepError>>, StepError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Map { line, workflow, items, concurrency, .. } = self.0;
        let mapped = items.map(|items| line.map(&workflow, items, concurrency, true));
        Box::pin(async move {
            let outputs = mapped?.await?;
            Ok(outputs.into_iter().map(|output| output_of(&output?, &workflow)).collect())
        })
    }
}

fn output_of<O: Data>(output: &Value, workflow: &str) -> Result<O, StepError> {
    decode(output, || format!("the output of workflow `{workflow}`"))
}

/// A wait for a signal; see [`Durable::signal`].
#[must_use = "the wait begins by awaiting it"]
#[derive(Debug)]
pub struct SignalWait<T> {
    line: DurableHandle,
    name: String,
    timeout: Option<Duration>,
    timeout_is_value: bool,
    /// Reads what came; nothing if it timed out and that is a value.
    read: fn(Option<Value>, &str) -> Result<T, StepError>,
}

fn read_payload<T: Data>(payload: Option<Value>, name: &str) -> Result<T, StepError> {
    decode(&payload.unwrap_or_default(), || format!("the payload of signal `{name}`"))
}

/// What came is something, also if it is `null`: whether it came is told by the history.
fn read_if_it_came<T: Data>(payload: Option<Value>, name: &str) -> Result<Option<T>, StepError> {
    payload.map(|payload| read_payload(Some(payload), name)).transpose()
}

impl<T: Data> SignalWait<T> {
    /// How long it waits; then it is an error with the code `signal_timeout`.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long it waits; then it gives `None`.
    pub fn timeout_value(self, timeout: Duration) -> SignalWait<Option<T>> {
        let Self { line, name, .. } = self;
        SignalWait { line, name, timeout: Some(timeout), timeout_is_value: true, read: read_if_it_came }
    }
}

impl<T: Data> IntoFuture for SignalWait<T> {
    type Output = Result<T, StepError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { line, name, timeout, timeout_is_value, read } = self;
        let payload = line.signal(&name, timeout, timeout_is_value);
        Box::pin(async move { read(payload.await?, &name) })
    }
}

/// What a step is told of a child that failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ChildFailure {
    /// The child.
    pub child: RunId,
    /// The step of it that failed, if one did.
    pub step: Option<Path>,
    /// The code of its failure.
    pub code: String,
    /// What went wrong.
    pub message: String,
}

impl ChildFailure {
    /// What an error of [`Durable::run`] or [`Durable::map`] says about the child; `None` if it is another error.
    pub fn of(error: &StepError) -> Option<Self> {
        let details = error.failure.details.as_ref().filter(|_| error.failure.code == code::CHILD_FAILED)?;
        details.decode().ok()
    }
}
