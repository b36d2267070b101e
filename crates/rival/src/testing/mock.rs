//! What is replaced for a test: steps, children, what is done once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use rival_engine::{CallContext, CallError, FunctionNeeds, UserFunction, encode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Definition, StepError, Value};

type MockBody = dyn Fn(&MockedCall<'_>) -> Result<Value, StepError> + Send + Sync;

/// What a mock knows of a call.
struct MockedCall<'a> {
    attempt: u32,
    input: &'a Value,
}

/// What stands in for a step, a child or something that is done once: it answers what the test says, and counts its calls.
#[derive(Clone)]
pub struct Mock {
    needs: FunctionNeeds,
    body: Arc<MockBody>,
    calls: Arc<AtomicUsize>,
}

impl Mock {
    /// Answers every call with the same result.
    ///
    /// # Panics
    /// If the result cannot be written as JSON.
    pub fn returning(result: impl Serialize) -> Self {
        let result = encode(&result).expect("a mock's result can be written as JSON");
        Self::with(move |_| Ok(result.clone()))
    }

    /// Fails every call.
    pub fn failing(error: StepError) -> Self {
        Self::with(move |_| Err(error.clone()))
    }

    /// Answers as a function of the attempt, from 1.
    ///
    /// # Panics
    /// If a result cannot be written as JSON.
    pub fn by_attempt<T: Serialize>(
        body: impl Fn(u32) -> Result<T, StepError> + Send + Sync + 'static,
    ) -> Self {
        Self::with(move |call| {
            body(call.attempt).map(|result| encode(&result).expect("a mock's result can be written as JSON"))
        })
    }

    /// Answers as a function of the input of the run that it is called in; for a child that is what the child is given.
    ///
    /// # Panics
    /// If the input is another one than the function takes, or a result cannot be written as JSON.
    pub fn by_input<I: DeserializeOwned, T: Serialize>(
        body: impl Fn(I) -> Result<T, StepError> + Send + Sync + 'static,
    ) -> Self {
        Self::with(move |call| {
            let input = serde_json::from_str(call.input.as_json()).expect("the mock takes another input");
            body(input).map(|result| encode(&result).expect("a mock's result can be written as JSON"))
        })
    }

    fn with(body: impl Fn(&MockedCall<'_>) -> Result<Value, StepError> + Send + Sync + 'static) -> Self {
        Self { needs: FunctionNeeds::default(), body: Arc::new(body), calls: Arc::default() }
    }

    /// How often it was called.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Acquire)
    }
}

impl UserFunction for Mock {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        let mock = self.clone();
        Box::pin(async move { Ok(mock.answer(context.run.attempt, &context.input)?) })
    }
}

impl Mock {
    fn answer(&self, attempt: u32, input: &Value) -> Result<Value, StepError> {
        self.calls.fetch_add(1, Ordering::AcqRel);
        (self.body)(&MockedCall { attempt, input })
    }

    /// A workflow of one step, which is the mock.
    pub(super) fn workflow(&self, name: &str) -> Definition {
        Definition::of_step(name, "mock", Arc::new(self.clone()))
    }
}

/// Mocks of what steps do once, by name: a resource of the engine in a test.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnceMocks(pub(super) BTreeMap<String, Mock>);

impl OnceMocks {
    /// What a mock gives, if there is one of this name.
    pub(crate) fn answer(&self, name: &str, attempt: u32, input: &Value) -> Option<Result<Value, StepError>> {
        self.0.get(name).map(|mock| mock.answer(attempt, input))
    }
}

impl std::fmt::Debug for Mock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mock").field("calls", &self.calls()).finish_non_exhaustive()
    }
}
