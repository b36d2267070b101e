//! Shared things that are not recorded.

use std::any::type_name;
use std::ops::Deref;
use std::sync::Arc;

use rival_core::StepError;

use super::{Asks, Call, FromStep};

/// Something shared that was provided to the engine: a pool, a client, configuration.
///
/// The engine checks when a workflow is registered that all it asks for is there.
#[derive(Debug)]
pub struct Res<T>(Arc<T>);

impl<T> Res<T> {
    /// A resource with this value, for calling a step in a unit test.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Clone for Res<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Res<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send + Sync + 'static> FromStep for Res<T> {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        call.context.resources.get().map(Res).ok_or_else(|| {
            let message =
                format!("step `{}` asks for Res<{}>, which was not provided", call.step(), type_name::<T>());
            StepError::stop(message).code("missing_resource")
        })
    }

    fn asks(asks: &mut Asks) {
        asks.resource::<T>();
    }
}
