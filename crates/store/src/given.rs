//! A store as its user gives it to an engine.

use std::fmt;
use std::sync::Arc;

use crate::{MemoryStore, Store};

/// A store, or an [`Arc`] of one; any of them converts into it.
#[derive(Clone)]
pub struct GivenStore {
    /// The store.
    pub store: Arc<dyn Store>,
    /// It has no other user, so it is closed when the engine stops.
    pub is_owned: bool,
}

// Here, beside `Store`, because only this crate can know that no `Arc` is a store itself.
impl<S: Store> From<S> for GivenStore {
    fn from(store: S) -> Self {
        Self { store: Arc::new(store), is_owned: true }
    }
}

impl<S: Store> From<Arc<S>> for GivenStore {
    fn from(store: Arc<S>) -> Self {
        Self { store, is_owned: false }
    }
}

impl From<Arc<dyn Store>> for GivenStore {
    fn from(store: Arc<dyn Store>) -> Self {
        Self { store, is_owned: false }
    }
}

impl Default for GivenStore {
    fn default() -> Self {
        // Not closed: it holds nothing but memory, and what is in it can be looked at after the engine's end.
        Arc::new(MemoryStore::default()).into()
    }
}

impl fmt::Debug for GivenStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GivenStore").field("is_owned", &self.is_owned).finish_non_exhaustive()
    }
}
