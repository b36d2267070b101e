//! What a compensation is told of the step that it undoes.

use rival_core::{FailureRecord, StepError};
use rival_engine::UndoOutcome;

use super::{Asks, Call, FromStep, TypeAsk};
use crate::data::Data;

/// The step that a compensation undoes: `undo: Undo<Receipt>`, where `Receipt` is what the step returns.
///
/// A step whose outcome is not known, because it timed out or was killed, may have acted or not: then there is no
/// result, and the compensation has to find out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo<T> {
    /// What the step returned, if it completed.
    pub result: Option<T>,
    /// How it ended.
    pub outcome: UndoOutcome,
}

impl<T> Undo<T> {
    /// Of a step that returned this, for calling a compensation in a unit test.
    pub fn completed(result: T) -> Self {
        Self { result: Some(result), outcome: UndoOutcome::Completed }
    }

    /// Of a step whose outcome is not known, for calling a compensation in a unit test.
    pub fn unknown() -> Self {
        Self { result: None, outcome: UndoOutcome::Unknown }
    }
}

impl<T: Data> FromStep for Undo<T> {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        let Some(undo) = &call.context.undo else {
            let message = format!("`{}` asks for Undo, but nothing is undone", call.step());
            return Err(FailureRecord::new("missing_undo", message).stop());
        };
        let decode = |result| call.decode("the result of the step that is undone", result);
        Ok(Self { result: undo.result.as_ref().map(decode).transpose()?, outcome: undo.outcome })
    }

    fn asks(asks: &mut Asks) {
        asks.undo.push(TypeAsk::of::<T>());
    }
}
