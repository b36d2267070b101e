//! A typed function with its types erased, as the engine calls it.

use std::any::{TypeId, type_name};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use rival_core::{StepError, Value};
use rival_engine::{CallContext, CallError, FunctionNeeds, OutputNeed, UserFunction};

use crate::extract::{Asks, Call, OutputAsk};

/// A call under way.
pub(crate) type PendingCall = BoxFuture<'static, Result<Value, StepError>>;
type StartedCall = Result<PendingCall, StepError>;
type FunctionBody = Arc<dyn Fn(&Call) -> StartedCall + Send + Sync>;

/// Which function it is, within one build of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FunctionIdentity {
    /// A function with a name, told by its type.
    Item(TypeId),
    /// The same with its result changed, which must not be mistaken for the function itself.
    Mapped(TypeId),
    /// Anything else. Two values of one closure type may hold different things, so each is its own.
    Value(u64),
}

/// A function with what it asks for, not yet part of a workflow.
#[derive(Clone)]
pub(crate) struct ErasedFunction {
    pub(crate) identity: FunctionIdentity,
    /// The function's own name; closures, fn pointers and generic functions have none.
    pub(crate) name: Option<&'static str>,
    /// The same with the modules around it, for where two functions have one name.
    pub(crate) path: &'static str,
    /// What a closure is, told by what it holds.
    pub(crate) fingerprint: Option<String>,
    pub(crate) asks: Arc<Asks>,
    body: FunctionBody,
}

impl ErasedFunction {
    pub(crate) fn new<F: 'static>(
        asks: Asks,
        body: impl Fn(&Call) -> StartedCall + Send + Sync + 'static,
    ) -> Self {
        let name = item_name::<F>();
        let identity = match name {
            Some(_) => FunctionIdentity::Item(TypeId::of::<F>()),
            None => next_value(),
        };
        let (path, fingerprint) = (type_name::<F>(), None);
        Self { identity, name, path, fingerprint, asks: Arc::new(asks), body: Arc::new(body) }
    }

    /// The same function with its result changed before it is recorded.
    pub(crate) fn map(self, change: fn(&Value) -> Result<Value, StepError>) -> Self {
        self.around(move |_, result| Box::pin(async move { change(&result.await?) }))
    }

    /// The same function with something done around it.
    pub(crate) fn around(
        self,
        wrap: impl Fn(&Call, PendingCall) -> PendingCall + Send + Sync + 'static,
    ) -> Self {
        let inner = Arc::clone(&self.body);
        let body = move |call: &Call| -> StartedCall { Ok(wrap(call, inner(call)?)) };
        let identity = match self.identity {
            FunctionIdentity::Item(id) => FunctionIdentity::Mapped(id),
            FunctionIdentity::Mapped(_) | FunctionIdentity::Value(_) => next_value(),
        };
        Self { identity, body: Arc::new(body), ..self }
    }

    /// The function as part of a workflow, which knows under which name each output is produced.
    pub(crate) fn bind(&self, key_of: impl Fn(&OutputAsk) -> String) -> BoundFunction {
        let outputs = self.asks.outputs.iter().map(|ask| OutputNeed { function: key_of(ask) }).collect();
        let needs = FunctionNeeds {
            outputs,
            steps: Vec::new(),
            last_step: self.asks.last_step,
            cancellation: self.asks.cancellation,
            durable: self.asks.durable,
            iteration: self.asks.needs_iteration(),
            items: self.asks.all_items,
            elsewhere: self.asks.blocking,
        };
        BoundFunction { function: self.clone(), needs }
    }
}

fn next_value() -> FunctionIdentity {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    FunctionIdentity::Value(NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The name of a plain function from its type's name; anything else has none that would last.
fn item_name<F>() -> Option<&'static str> {
    let path = type_name::<F>();
    let last = path.rsplit("::").next().unwrap_or(path);
    // `{{closure}}`, `fn(..) -> ..` and `f<T>` are not names. A function inside an async one is.
    let named = size_of::<F>() == 0 && !last.is_empty() && !path.contains(['<', '(']) && !last.contains('{');
    named.then(|| last.strip_prefix("r#").unwrap_or(last))
}

impl fmt::Debug for ErasedFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErasedFunction")
            .field("name", &self.name)
            .field("asks", &self.asks)
            .finish_non_exhaustive()
    }
}

/// A function of a workflow.
#[derive(Clone, Debug)]
pub(crate) struct BoundFunction {
    pub(crate) function: ErasedFunction,
    needs: FunctionNeeds,
}

impl BoundFunction {
    /// The function's type, if it is told by it.
    pub(crate) fn item(&self) -> Option<TypeId> {
        match self.function.identity {
            FunctionIdentity::Item(id) => Some(id),
            FunctionIdentity::Mapped(_) | FunctionIdentity::Value(_) => None,
        }
    }
}

impl UserFunction for BoundFunction {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        let call = Call::new(context, Arc::clone(&self.function.asks));
        let body = Arc::clone(&self.function.body);
        // Decoding arguments happens inside the future, so that a slow or panicking one is the step's.
        Box::pin(async move {
            let started = body(&call)?;
            drop(call);
            Ok(started.await?)
        })
    }
}
