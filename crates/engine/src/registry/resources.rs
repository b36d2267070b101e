//! Shared things that steps use and that are not recorded: pools, clients, configuration.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Shared things by type.
#[derive(Clone, Default)]
pub struct ResourceMap(HashMap<TypeId, SharedResource>);

/// What a [`ResourceMap`] holds: an `Arc<T>`.
type SharedResource = (Arc<dyn Any + Send + Sync>, &'static str);

impl ResourceMap {
    /// Adds one; a second of the same type replaces the first.
    pub fn insert<T: Send + Sync + 'static>(&mut self, resource: T) {
        let shared: Arc<T> = Arc::new(resource);
        self.0.insert(TypeId::of::<T>(), (Arc::new(shared), std::any::type_name::<T>()));
    }

    /// The one of this type, also if it was added as an `Arc` of it: only so can it be a trait object.
    pub fn get<T: Send + Sync + ?Sized + 'static>(&self) -> Option<Arc<T>> {
        if let Some((resource, _)) = self.0.get(&TypeId::of::<T>()) {
            return resource.downcast_ref::<Arc<T>>().cloned();
        }
        let (resource, _) = self.0.get(&TypeId::of::<Arc<T>>())?;
        resource.downcast_ref::<Arc<Arc<T>>>().map(|shared| Arc::clone(&**shared))
    }

    /// Whether there is one of this type.
    pub fn contains(&self, resource: &ResourceType) -> bool {
        self.0.contains_key(&resource.id) || self.0.contains_key(&resource.shared_id)
    }
}

/// A type that functions ask for as a resource.
#[derive(Clone, Copy, Debug)]
pub struct ResourceType {
    id: TypeId,
    /// Of an `Arc` of it.
    shared_id: TypeId,
    /// The type's name, for messages.
    pub name: &'static str,
}

impl ResourceType {
    /// The type itself.
    pub fn of<T: ?Sized + 'static>() -> Self {
        Self { id: TypeId::of::<T>(), shared_id: TypeId::of::<Arc<T>>(), name: std::any::type_name::<T>() }
    }

    /// Which type it is.
    pub fn id(&self) -> TypeId {
        self.id
    }
}

impl fmt::Debug for ResourceMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.values().map(|(_, name)| name)).finish()
    }
}
