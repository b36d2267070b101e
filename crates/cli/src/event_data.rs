//! The data of events, as far as this command uses them.

use rival::event::{CallRole, FailureVerdict, LaneOutcome, TriggerOrigin};
use rival::failure::FailureRecord;
use rival::{Seq, Time, Value};
use rival_api::EventReply;
use rival_core::durable::OpBody;
use serde::Deserialize;

/// What this command uses of an event's data. Each type of event has some of it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct EventData {
    pub(crate) call: Option<u32>,
    pub(crate) attempt: Option<u32>,
    pub(crate) role: CallRole,
    pub(crate) state: Option<Value>,
    pub(crate) skipped: bool,
    pub(crate) forced: bool,
    pub(crate) failure: Option<FailureRecord>,
    pub(crate) verdict: Option<FailureVerdict>,
    pub(crate) name: String,
    pub(crate) until: Option<Time>,
    pub(crate) op: Option<u32>,
    pub(crate) occurrence: Option<u32>,
    pub(crate) what: Option<OpBody>,
    /// The event that holds a signal that was taken.
    pub(crate) signal: Option<Seq>,
    pub(crate) payload: Value,
    pub(crate) case: Option<String>,
    pub(crate) count: Option<u32>,
    pub(crate) child: String,
    pub(crate) next: String,
    pub(crate) undo: String,
    pub(crate) workflow: String,
    pub(crate) source: Option<String>,
    pub(crate) trigger: Option<TriggerOrigin>,
    /// The run that starts what a completed one triggers.
    pub(crate) triggers: Option<String>,
    pub(crate) by_ms: u64,
    /// Of another form for each type that has it.
    pub(crate) reason: Value,
    /// The same.
    pub(crate) outcome: Value,
}

impl EventData {
    /// Reads it; `None` if a newer server has other words than this command.
    pub(crate) fn of(event: &EventReply) -> Option<Self> {
        event.data.decode().ok()
    }

    pub(crate) fn description(&self) -> String {
        let state = self.state.as_ref().map(Value::to_json).unwrap_or_default();
        state["description"].as_str().map_or_else(String::new, |description| format!(", {description}"))
    }

    pub(crate) fn lane_outcome(&self) -> Option<LaneOutcome> {
        if self.outcome.is_null() { Some(LaneOutcome::default()) } else { self.outcome.decode().ok() }
    }
}
