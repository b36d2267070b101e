//! A step's own state.

use rival_core::failure::code;
use rival_core::{FailureRecord, StepError};
use rival_engine::StateCell;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Call, FromStep};

/// A step's own state: starts empty at each call and is recorded with its outcome, also when it fails.
///
/// Later steps read it by name through [`Steps`](super::Steps); people see it in the UI.
#[derive(Clone, Debug, Default)]
pub struct State(pub(crate) StateCell);

impl State {
    /// Sets a key to anything that can be written as JSON.
    pub fn set(&self, key: impl Into<String>, value: impl Serialize) -> Result<(), StepError> {
        let key = key.into();
        let value = rival_engine::encode(&value).map_err(|error| {
            FailureRecord::new(code::NOT_JSON, format!("the state `{key}` cannot be recorded: {error}"))
                .stop()
        })?;
        self.0.set(key, value.to_json());
        Ok(())
    }

    /// What a key was set to during this call; `None` if it was not, or to another type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.0.get(key)?).ok()
    }

    /// Says in one line, for people, what the step did.
    pub fn describe(&self, text: impl Into<String>) {
        self.0.set("description", text.into().into());
    }

    /// Marks the step as skipped. What it returns is still its result, and the run goes on.
    pub fn skip(&self) {
        self.0.set("skipped", true.into());
    }

    /// Whether the step was marked as skipped.
    pub fn is_skipped(&self) -> bool {
        self.0.is_skipped()
    }
}

#[diagnostic::do_not_recommend]
impl FromStep for State {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        Ok(Self(call.context.state.clone()))
    }
}
