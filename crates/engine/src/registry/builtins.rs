//! Built-in functions: those that plans refer to with data, and what brings them along.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rival_core::Value;
use rival_core::plan::Builtin;

use crate::api::error::EngineError;
use crate::call::function::UserFunction;
use crate::call::panics::panicked;
use crate::registry::own_builtins::OwnBuiltins;

/// Brings built-in functions along: those that a plan refers to as `{"use": name, "with": data}`. A run whose plan has only
/// such functions needs no registered workflow.
pub trait Builtins: Send + Sync + 'static {
    /// The names that it knows.
    fn names(&self) -> Vec<String>;

    /// The function, with the data that a plan has for it. It is asked once for each place in a plan, and again after
    /// [`crate::Engine::builtins_changed`]; the function is kept and shared by all runs of the plan.
    fn bind(&self, name: &str, with: &Value) -> Result<Arc<dyn UserFunction>, BindError>;
}

/// Why a built-in function cannot be called. Its node is blocked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// What it needs is not there, and may be later: the run goes on then.
    #[error("`{function}` is not there: {why}")]
    Missing {
        /// What is missing, in the words of users: `tool:github`.
        function: String,
        /// Why.
        why: String,
    },
    /// Its data does not make sense. No such workflow can be registered.
    #[error("the data of built-in function `{function}` is not valid: {message}")]
    Invalid {
        /// The function.
        function: String,
        /// What is wrong.
        message: String,
    },
}

impl BindError {
    /// What cannot be called, and why.
    pub(crate) fn into_parts(self) -> (String, String) {
        match self {
            Self::Missing { function, why } => (function, why),
            Self::Invalid { function, message } => (function, message),
        }
    }
}

/// All built-in functions of an engine.
pub(crate) struct BuiltinSet {
    by_name: BTreeMap<String, Arc<dyn Builtins>>,
    /// Counts how often functions that could not be called may have become ready.
    generation: AtomicU64,
}

impl BuiltinSet {
    pub(crate) fn new(given: Vec<Arc<dyn Builtins>>) -> Result<Self, EngineError> {
        let mut by_name: BTreeMap<String, Arc<dyn Builtins>> = BTreeMap::new();
        let own: Arc<dyn Builtins> = Arc::new(OwnBuiltins);
        for builtins in std::iter::once(own).chain(given) {
            for name in builtins.names() {
                if by_name.insert(name.clone(), Arc::clone(&builtins)).is_some() {
                    return Err(EngineError::BuiltinTaken(name));
                }
            }
        }
        Ok(Self { by_name, generation: AtomicU64::new(0) })
    }

    pub(crate) fn knows(&self, builtin: &Builtin) -> bool {
        self.by_name.contains_key(builtin.name())
    }

    pub(crate) fn bind(&self, builtin: &Builtin) -> Result<Arc<dyn UserFunction>, BindError> {
        let function = || builtin.name().to_owned();
        let Some(builtins) = self.by_name.get(builtin.name()) else {
            let why = "this engine has no such built-in function".to_owned();
            return Err(BindError::Missing { function: function(), why });
        };
        // It is bound in the task of a run, which a panic would end.
        let bound = catch_unwind(AssertUnwindSafe(|| builtins.bind(builtin.name(), builtin.with())));
        bound.unwrap_or_else(|panic| {
            let message = panicked(&*panic).failure.message;
            Err(BindError::Invalid { function: function(), message })
        })
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// What was bound is bound again.
    pub(crate) fn change(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }
}
