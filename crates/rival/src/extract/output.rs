//! The result of an earlier step, typed by that step's function.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use rival_core::{FailureRecord, NodeStatus, StepError};
use rival_engine::StepView;

use super::{Asks, Call, FromStep};
use crate::data::Data;
use crate::handle::StepHandle;

/// Code of the failure of a step whose plain `Output<..>` has no value.
pub(crate) const MISSING_OUTPUT: &str = "missing_output";

/// What an earlier step returned: `tree: Output<find_tree>` reads like the value itself.
///
/// Ask for `Option<Output<find_tree>>` where that step may have failed and let the run go on, or where a nested
/// workflow reads a step of the one around it: alone, it then has `None`.
pub struct Output<H> {
    // Not `H::Output`: that would need a bound on `H` here, and one wrong `H` would then be reported many times.
    value: Box<dyn Any + Send + Sync>,
    step: PhantomData<fn() -> H>,
}

impl<H: StepHandle> Output<H>
where
    H::Output: Send + Sync + 'static,
{
    /// An output with this value, for calling a step in a unit test.
    pub fn new(value: H::Output) -> Self {
        Self { value: Box::new(value), step: PhantomData }
    }

    /// The value itself.
    pub fn into_inner(self) -> H::Output {
        *self.value.downcast().expect("an output is only made from a value of its step's type")
    }
}

impl<H: StepHandle> Deref for Output<H>
where
    H::Output: 'static,
{
    type Target = H::Output;

    fn deref(&self) -> &H::Output {
        self.value.downcast_ref().expect("an output is only made from a value of its step's type")
    }
}

impl<H: StepHandle> fmt::Debug for Output<H>
where
    H::Output: fmt::Debug + 'static,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<H: StepHandle> FromStep for Output<H>
where
    H::Output: Data,
{
    fn from_step(call: &Call) -> Result<Self, StepError> {
        read(call)?.ok_or_else(|| missing::<H>(call))
    }

    fn asks(asks: &mut Asks) {
        asks.output::<H>(false);
    }
}

impl<H: StepHandle> FromStep for Option<Output<H>>
where
    H::Output: Data,
{
    fn from_step(call: &Call) -> Result<Self, StepError> {
        read(call)
    }

    fn asks(asks: &mut Asks) {
        asks.output::<H>(true);
    }
}

fn read<H: StepHandle>(call: &Call) -> Result<Option<Output<H>>, StepError>
where
    H::Output: Data,
{
    let Some(value) =
        call.output::<H>().filter(|step| has_result(step)).and_then(|step| step.result.as_ref())
    else {
        return Ok(None);
    };
    let value = call.decode(&format!("the output of `{}`", H::NAME), value)?;
    Ok(Some(Output::new(value)))
}

/// A failed step may show `null` as its result; that is not a value of its type.
fn has_result(step: &StepView) -> bool {
    matches!(step.status, NodeStatus::Completed | NodeStatus::Skipped)
}

fn missing<H: StepHandle>(call: &Call) -> StepError {
    let why = match call.output::<H>() {
        Some(step) => format!("it is {}", step.status),
        None => "it does not come before".to_owned(),
    };
    let message = format!(
        "step `{}` asks for Output<{name}>, but `{name}` has no result ({why}): use Option<Output<{name}>>",
        call.step(),
        name = H::NAME,
    );
    FailureRecord::new(MISSING_OUTPUT, message).stop()
}
