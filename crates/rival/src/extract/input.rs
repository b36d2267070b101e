//! The workflow's input.

use rival_core::StepError;

use super::{Asks, Call, FromStep};
use crate::data::Data;

/// The workflow's input: `Input(order): Input<Order>`.
///
/// The type is the one that the workflow declares with `.input::<T>()`, or `serde_json::Value` to take it
/// comes; `build()` refuses any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input<T>(pub T);

impl<T: Data> FromStep for Input<T> {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        call.decode("the input", &call.context.input).map(Input)
    }

    fn asks(asks: &mut Asks) {
        asks.input::<T>();
    }
}
