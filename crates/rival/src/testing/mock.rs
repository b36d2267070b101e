//! Steps replaced for a test.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use rival_engine::{CallContext, CallError, FunctionNeeds, UserFunction, encode};
use serde::Serialize;

use crate::{StepError, Value};

type MockBody = dyn Fn(&CallContext) -> Result<Value, StepError> + Send + Sync;

/// What stands in for a step: it answers what the test says, and counts its calls.
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
        Self::with(move |context| {
            body(context.run.attempt)
                .map(|result| encode(&result).expect("a mock's result can be written as JSON"))
        })
    }

    fn with(body: impl Fn(&CallContext) -> Result<Value, StepError> + Send + Sync + 'static) -> Self {
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
        self.calls.fetch_add(1, Ordering::AcqRel);
        let body = Arc::clone(&self.body);
        Box::pin(async move { Ok(body(&context)?) })
    }
}

impl std::fmt::Debug for Mock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mock").field("calls", &self.calls()).finish_non_exhaustive()
    }
}
