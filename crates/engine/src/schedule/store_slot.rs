//! An engine's hold on its store, which it can release while others still hold the engine.

use std::sync::{Arc, PoisonError, RwLock};

use rival_store::{Store, StoreError};

/// The store that it was given, until it is released.
pub(crate) struct StoreSlot {
    store: RwLock<Option<Arc<dyn Store>>>,
}

impl StoreSlot {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store: RwLock::new(Some(store)) }
    }

    /// Lets the store go, if so. Questions that are under way hold it until they are answered.
    pub(crate) fn take_if(&self, so: bool) -> Option<Arc<dyn Store>> {
        so.then(|| self.store.write().unwrap_or_else(PoisonError::into_inner).take()).flatten()
    }

    /// The store, or [`StoreError::Closed`] once it is released. To be held for one question only.
    pub(crate) fn get(&self) -> Result<Arc<dyn Store>, StoreError> {
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        store.clone().ok_or(StoreError::Closed)
    }
}
