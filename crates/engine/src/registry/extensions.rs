//! Things of other crates that belong to an engine and go with it.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::api::engine::Engine;

/// One thing of each type.
#[derive(Default)]
pub(crate) struct EngineExtensions(Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Engine {
    /// The one thing of this type that goes with the engine; made when it is asked for first.
    pub fn extension<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut extensions = self.shared.extensions.0.lock().unwrap_or_else(PoisonError::into_inner);
        let there = extensions.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(make()));
        Arc::clone(there).downcast().expect("it is kept under its own type")
    }
}
