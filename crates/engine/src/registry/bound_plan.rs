//! A plan with the built-in functions that it refers to.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

use rival_core::event::CallRole;
use rival_core::plan::{Builtin, FunctionRef};
use rival_core::{IndexedPlan, Path, Plan};

use crate::call::function::UserFunction;
use crate::registry::builtins::{BindError, BuiltinSet};

/// An indexed plan, with its built-in functions as they are called for the first time. Shared by all runs of the plan.
pub(crate) struct BoundPlan {
    indexed: IndexedPlan,
    names_functions: bool,
    has_builtins: bool,
    bound: RwLock<BoundFunctions>,
}

#[derive(Default)]
struct BoundFunctions {
    /// What [`BuiltinSet::generation`] was when they were bound.
    generation: u64,
    /// By the place of the node, and what the function does for it; without a place those of the run itself.
    functions: BTreeMap<(Option<usize>, CallRole), Arc<dyn UserFunction>>,
}

impl BoundPlan {
    pub(crate) fn new(plan: Plan) -> Self {
        let functions = plan.functions();
        let names_functions = functions.iter().any(|function| function.named().is_some());
        let has_builtins = functions.into_iter().any(|function| function.builtin().is_some());
        Self { indexed: IndexedPlan::new(plan), names_functions, has_builtins, bound: RwLock::default() }
    }

    /// Whether its runs need a definition: without one, nothing has the functions that it names.
    pub(crate) fn names_functions(&self) -> bool {
        self.names_functions
    }

    /// Whether it refers to built-in functions.
    pub(crate) fn has_builtins(&self) -> bool {
        self.has_builtins
    }

    /// All built-in functions that it refers to.
    pub(crate) fn builtins(&self) -> impl Iterator<Item = &Builtin> {
        self.indexed.plan().functions().into_iter().filter_map(FunctionRef::builtin)
    }

    /// The built-in function that a node has in a role. One that cannot be bound is not remembered: the next call asks
    /// again.
    pub(crate) fn builtin(
        &self,
        set: &BuiltinSet,
        node: &Path,
        role: CallRole,
        builtin: &Builtin,
    ) -> Result<Arc<dyn UserFunction>, BindError> {
        let key = (self.indexed.node(node).map(|node| node.place()), role);
        let generation = set.generation();
        {
            let bound = self.bound.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(function) = bound.functions.get(&key).filter(|_| bound.generation == generation) {
                return Ok(Arc::clone(function));
            }
        }
        let function = set.bind(builtin)?;
        let mut bound = self.bound.write().unwrap_or_else(PoisonError::into_inner);
        if bound.generation < generation {
            *bound = BoundFunctions { generation, functions: BTreeMap::new() };
        }
        // Built-in functions may have changed meanwhile: then it is for this call alone.
        if bound.generation == generation {
            bound.functions.insert(key, Arc::clone(&function));
        }
        Ok(function)
    }
}

impl Deref for BoundPlan {
    type Target = IndexedPlan;

    fn deref(&self) -> &IndexedPlan {
        &self.indexed
    }
}
