//! The built-in function `transform`: calls the transforms of documents, in the sandbox.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use rival_core::event::LostReason;
use rival_core::{FailureRecord, Value};
use rival_document::TRANSFORM_BUILTIN;
use rival_engine::template::Template;
use rival_engine::{
    BindError, Builtins, CallContext, CallError, FunctionNeeds, UserFunction, inexact_number,
};
use rival_typescript::{Problem, Transform, transform};
use serde::Deserialize;

use crate::code;
use crate::function::unsafe_number;
use crate::sandbox::{Sandbox, TransformError, TransformLimits};

/// Brings `transform` along: `{source, input}`, where `source` is TypeScript and `input` a template.
#[derive(Clone, Debug)]
pub struct TransformBuiltins {
    sandbox: Sandbox,
    limits: TransformLimits,
}

impl TransformBuiltins {
    /// Transforms run in this sandbox, each within these limits.
    pub fn new(sandbox: Sandbox, limits: TransformLimits) -> Self {
        Self { sandbox, limits }
    }
}

/// What a plan has for a transform.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransformData {
    source: String,
    input: Value,
}

impl Builtins for TransformBuiltins {
    fn names(&self) -> Vec<String> {
        vec![TRANSFORM_BUILTIN.to_owned()]
    }

    fn bind(&self, name: &str, with: &Value) -> Result<Arc<dyn UserFunction>, BindError> {
        let invalid = |message: String| BindError::Invalid { function: name.to_owned(), message };
        let TransformData { source, input } = with.decode().map_err(|error| invalid(error.to_string()))?;
        let transform = transform(&source).map_err(|problems| invalid(listed(&problems)))?;
        let input = Template::parse(&input).map_err(|error| invalid(error.to_string()))?;
        let needs = FunctionNeeds { elsewhere: true, ..input.needs() };
        let Self { sandbox, limits } = self.clone();
        Ok(Arc::new(TransformFunction { sandbox, limits, transform: Arc::new(transform), input, needs }))
    }
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A transform with the template of its input.
struct TransformFunction {
    sandbox: Sandbox,
    limits: TransformLimits,
    transform: Arc<Transform>,
    input: Template,
    needs: FunctionNeeds,
}

impl UserFunction for TransformFunction {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        let input = match self.input.fill_in_call(&context, &self.needs) {
            Ok(input) => input.unwrap_or_default(),
            Err(error) => return std::future::ready(Err(error.into_step_error().into())).boxed(),
        };
        if let Some(inexact) = inexact_number(input.as_json()) {
            let message = unsafe_number(&inexact, "what the transform is given").message;
            let error = FailureRecord::new(code::UNSAFE_NUMBER, message).stop();
            return std::future::ready(Err(error.into())).boxed();
        }
        let (sandbox, limits, transform) = (self.sandbox.clone(), self.limits, Arc::clone(&self.transform));
        async move { sandbox.run(&transform, &input, limits).await.map_err(|error| call_error(&error)) }
            .boxed()
    }
}

fn call_error(error: &TransformError) -> CallError {
    match error {
        // The same code and input give the same: another attempt would fail alike.
        TransformError::Failed { .. }
        | TransformError::Timeout { .. }
        | TransformError::OutOfMemory { .. } => {
            FailureRecord::new(error.code(), error.to_string()).stop().into()
        }
        TransformError::HostLost => CallError::Lost(LostReason::Crash),
        TransformError::Host(_) => FailureRecord::new(error.code(), error.to_string()).plain().into(),
    }
}
