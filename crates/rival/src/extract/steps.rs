//! Earlier steps by name, for use that cannot be typed by a function.

use rival_core::{FailureRecord, NodeStatus, StepError};
use rival_engine::{StepView, StepsReader};
use serde::de::DeserializeOwned;

use super::output::MISSING_OUTPUT;
use super::{Asks, Call, FromStep, decode};
use crate::data::Data;

/// Any earlier step by its id: of this workflow, then of the ones around it. Loaded when asked for.
///
/// Where the step is known, ask for `Output<the_step>` instead: that is checked when the workflow is built.
#[derive(Clone, Debug)]
pub struct Steps {
    reader: StepsReader,
    /// Who asks, for messages.
    step: String,
}

impl Steps {
    pub(crate) fn new(reader: StepsReader, step: impl Into<String>) -> Self {
        Self { reader, step: step.into() }
    }

    /// What an earlier step returned. It is an error if there is no such step or it has no result.
    pub async fn get<T: Data>(&self, name: &str) -> Result<T, StepError> {
        let Some(record) = self.find(name).await? else {
            let message = format!(
                "step `{}` asks for the result of `{name}`, but no such step comes before it",
                self.step
            );
            return Err(FailureRecord::new(MISSING_OUTPUT, message).stop());
        };
        record.result()?.ok_or_else(|| no_result(&self.step, &record))
    }

    /// An earlier step; `None` if no step of this name comes before.
    pub async fn find(&self, name: &str) -> Result<Option<StepRecord>, StepError> {
        Ok(self.reader.get(name).await?.map(StepRecord))
    }
}

#[diagnostic::do_not_recommend]
impl FromStep for Steps {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        Ok(Self::new(call.context.steps.clone(), call.step()))
    }
}

/// The step before this one, whichever it is; inside a nested workflow its first step sees the one before the
/// workflow.
#[derive(Clone, Debug)]
pub struct LastStep {
    pub(crate) record: Option<StepRecord>,
    /// Who asks, for messages.
    pub(crate) step: String,
}

impl LastStep {
    /// Its id; `None` if this is the first step of all.
    pub fn name(&self) -> Option<&str> {
        self.record.as_ref().map(StepRecord::name)
    }

    /// What it returned. It is an error if this is the first step or that one has no result.
    pub fn get<T: Data>(&self) -> Result<T, StepError> {
        let Some(record) = &self.record else {
            let message =
                format!("step `{}` asks for the result of the last step, but it is the first", self.step);
            return Err(FailureRecord::new(MISSING_OUTPUT, message).stop());
        };
        record.result()?.ok_or_else(|| no_result(&self.step, record))
    }

    /// The step itself, with status and state.
    pub fn record(&self) -> Option<&StepRecord> {
        self.record.as_ref()
    }
}

#[diagnostic::do_not_recommend]
impl FromStep for LastStep {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        let record = call.context.last_step.clone().map(StepRecord);
        Ok(Self { record, step: call.step().to_owned() })
    }

    fn asks(asks: &mut Asks) {
        asks.last_step = true;
    }
}

/// An earlier step: what it returned, what it put into its state, where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepRecord(pub(crate) StepView);

impl StepRecord {
    /// Its id.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Where it stands.
    pub fn status(&self) -> NodeStatus {
        self.0.status
    }

    /// What it returned; `None` if it has not, or failed.
    pub fn result<T: Data>(&self) -> Result<Option<T>, StepError> {
        let value = self.0.result.as_ref();
        value.map(|value| decode(value, || format!("the result of `{}`", self.name()))).transpose()
    }

    /// What it put into its state under a key; `None` if nothing, or of another type.
    pub fn state<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let value = self.0.state.to_json().get(key)?.clone();
        serde_json::from_value(value).ok()
    }
}

fn no_result(step: &str, record: &StepRecord) -> StepError {
    let (name, status) = (record.name(), record.status());
    let message = format!("step `{step}` asks for the result of `{name}`, which has none (it is {status})");
    FailureRecord::new(MISSING_OUTPUT, message).stop()
}
