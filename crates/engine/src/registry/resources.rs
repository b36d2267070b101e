//! Shared things that steps use and that are not recorded: pools, clients, configuration.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Shared things by type.
#[derive(Clone, Default)]
pub struct ResourceMap(HashMap<TypeId, (Arc<dyn Any + Send + Sync>, &'static str)>);

impl ResourceMap {
    /// Adds one; a second of the same type replaces the first.
    pub fn insert<T: Send + Sync + 'static>(&mut self, resource: T) {
        self.0.insert(TypeId::of::<T>(), (Arc::new(resource), std::any::type_name::<T>()));
    }

    /// The one of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let (resource, _) = self.0.get(&TypeId::of::<T>())?;
        Arc::clone(resource).downcast().ok()
    }

    /// Whether there is one of this type.
    pub fn contains(&self, id: TypeId) -> bool {
        self.0.contains_key(&id)
    }
}

impl fmt::Debug for ResourceMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.values().map(|(_, name)| name)).finish()
    }
}
