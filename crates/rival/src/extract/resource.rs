//! Shared things that are not recorded.

use std::any::type_name;
use std::ops::Deref;
use std::sync::Arc;

use rival_core::{FailureRecord, StepError};

use super::{Asks, Call, FromStep};

/// Something shared that was provided to the engine: a pool, a client, configuration.
///
/// It may be provided as it is or in an `Arc`; a trait object always is in one:
///
/// ```
/// use std::sync::Arc;
///
/// use rival::prelude::*;
///
/// trait Mailer: Send + Sync {
///     fn send(&self, text: &str) -> bool;
/// }
///
/// struct Postcards;
///
/// impl Mailer for Postcards {
///     fn send(&self, text: &str) -> bool {
///         text.len() < 40
///     }
/// }
///
/// #[step]
/// async fn tell(mailer: Res<dyn Mailer>) -> Result<bool, StepError> {
///     Ok(mailer.send("done"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let telling = Workflow::new("telling").step(tell).build()?;
/// let mailer: Arc<dyn Mailer> = Arc::new(Postcards);
/// let engine = Engine::builder().provide(Arc::clone(&mailer)).workflow(&telling).build().await?;
/// assert!(engine.run(&telling, ()).await?.output().await?);
/// // In a unit test:
/// assert!(tell(mailer.into()).await?);
/// # Ok(())
/// # }
/// ```
///
/// The engine checks when a workflow is registered that all it asks for is there.
#[derive(Debug)]
pub struct Res<T: ?Sized>(Arc<T>);

impl<T> Res<T> {
    /// A resource with this value, for calling a step in a unit test.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T: ?Sized> From<Arc<T>> for Res<T> {
    fn from(shared: Arc<T>) -> Self {
        Self(shared)
    }
}

impl<T: ?Sized> Clone for Res<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Deref for Res<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send + Sync + ?Sized + 'static> FromStep for Res<T> {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        call.context.resources.get().map(Res).ok_or_else(|| {
            let message =
                format!("step `{}` asks for Res<{}>, which was not provided", call.step(), type_name::<T>());
            FailureRecord::new("missing_resource", message).stop()
        })
    }

    fn asks(asks: &mut Asks) {
        asks.resource::<T>();
    }
}
