//! What a step can ask for: each argument of a step function is an extractor.

mod durable;
mod failure;
mod input;
mod iteration;
mod joined;
mod output;
mod resource;
mod run;
mod runs;
mod state;
mod steps;
mod undo;

use std::any::{TypeId, type_name};
use std::sync::Arc;

use rival_core::failure::code;
use rival_core::{FailureRecord, StepError, Value};
use rival_engine::{CallContext, Log, ResourceType, StepView};

pub use durable::{ChildFailure, Durable, Map, MapEach, SignalWait};
pub use failure::Failure;
pub use input::Input;
pub use iteration::{Item, Items, Iteration, LastIteration};
pub use joined::{BranchFailure, Joined};
pub use output::Output;
pub use resource::Res;
pub use run::{Cancellation, Run};
pub use runs::Runs;
pub use state::State;
pub use steps::{LastStep, StepRecord, Steps};
pub use undo::Undo;

use crate::data::Data;
use crate::handle::StepHandle;

/// Something that a step can ask for by having an argument of this type.
///
/// Write your own by combining others: declare in [`asks`](Self::asks) what it is made of, then take it.
///
/// ```
/// use rival::prelude::*;
/// use rival::{Asks, Call};
///
/// struct Tenant(String);
///
/// impl FromStep for Tenant {
///     fn from_step(call: &Call) -> Result<Self, StepError> {
///         let run = Run::from_step(call)?;
///         Ok(Tenant(run.workflow().to_owned()))
///     }
///     fn asks(asks: &mut Asks) {
///         Run::asks(asks);
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a step",
    label = "not something a step can ask for",
    note = "a step asks for: `Input<T>`, `Output<step>`, `Option<Output<step>>`, `State`, `Log`, `Res<T>`, `Steps`, `LastStep`, `Run`, `Runs`, `Cancellation`, `Durable`; inside of a forEach or loop also for `Item<T>`, `Items<T>`, `Iteration`, `LastIteration<T>`; an error handler for `Failure`, a compensation for `Undo<T>`, a `finally` for `Joined`",
    note = "for the workflow's input write `Input(x): Input<{Self}>`; for shared things (pools, clients) write `Res<{Self}>`"
)]
pub trait FromStep: Sized + Send + 'static {
    /// Takes it from the call.
    fn from_step(call: &Call) -> Result<Self, StepError>;

    /// Declares what must be there for it, so that `build()` can check it and the engine load it.
    fn asks(_asks: &mut Asks) {}
}

// Those without a type of their own need no mention where one is missing: the notes above name them all.
#[diagnostic::do_not_recommend]
impl FromStep for Log {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        Ok(call.context.log.clone())
    }
}

/// What a function's arguments ask for.
#[derive(Debug, Default)]
pub struct Asks {
    pub(crate) inputs: Vec<TypeAsk>,
    pub(crate) outputs: Vec<OutputAsk>,
    pub(crate) resources: Vec<ResourceType>,
    pub(crate) last_step: bool,
    pub(crate) cancellation: bool,
    pub(crate) failure: bool,
    pub(crate) joined: bool,
    pub(crate) durable: bool,
    /// It is given a thread.
    pub(crate) blocking: bool,
    pub(crate) iteration: bool,
    /// All items of the forEach, not only one.
    pub(crate) all_items: bool,
    /// What an item must be.
    pub(crate) items: Vec<TypeAsk>,
    /// What an iteration of the loop must give.
    pub(crate) last_iterations: Vec<TypeAsk>,
    /// What the step that is undone must return.
    pub(crate) undo: Vec<TypeAsk>,
}

/// A type that a function asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeAsk {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

impl PartialEq for TypeAsk {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl TypeAsk {
    pub(crate) fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: type_name::<T>() }
    }
}

/// A step whose output a function asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputAsk {
    pub(crate) step: TypeId,
    pub(crate) name: &'static str,
    pub(crate) optional: bool,
}

impl Asks {
    pub(crate) fn input<T: 'static>(&mut self) {
        self.inputs.push(TypeAsk::of::<T>());
    }

    pub(crate) fn resource<T: ?Sized + 'static>(&mut self) {
        self.resources.push(ResourceType::of::<T>());
    }

    pub(crate) fn needs_iteration(&self) -> bool {
        self.iteration || self.all_items || !self.items.is_empty() || !self.last_iterations.is_empty()
    }

    /// Asking twice for one step loads it once; it may only be absent if both say so.
    pub(crate) fn output<H: StepHandle>(&mut self, optional: bool) {
        let step = H::id();
        match self.outputs.iter_mut().find(|ask| ask.step == step) {
            Some(ask) => ask.optional &= optional,
            None => self.outputs.push(OutputAsk { step, name: H::NAME, optional }),
        }
    }
}

/// One call of a function, which its arguments are taken from.
#[derive(Debug)]
pub struct Call {
    pub(crate) context: CallContext,
    asks: Arc<Asks>,
}

impl Call {
    pub(crate) fn new(context: CallContext, asks: Arc<Asks>) -> Self {
        Self { context, asks }
    }

    /// The id of the step that is called, for messages.
    pub fn step(&self) -> &str {
        self.context.run.node.as_str()
    }

    pub(crate) fn output<H: StepHandle>(&self) -> Option<&StepView> {
        let step = H::id();
        let at = self.asks.outputs.iter().position(|ask| ask.step == step)?;
        self.context.outputs.get(at)?.as_ref()
    }

    /// Decodes a recorded value for this step.
    pub(crate) fn decode<T: Data>(&self, what: &str, value: &Value) -> Result<T, StepError> {
        decode(value, || format!("step `{}`: {what}", self.step()))
    }
}

/// Decodes a recorded value. Trying again would read the same value, so a failure ends the step.
pub(crate) fn decode<T: Data>(value: &Value, what: impl Fn() -> String) -> Result<T, StepError> {
    value.decode().map_err(|error| {
        let message = format!("{} does not decode into `{}`: {error}", what(), type_name::<T>());
        FailureRecord::new(code::DECODE, message).stop()
    })
}
