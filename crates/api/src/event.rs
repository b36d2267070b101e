//! Events in answers.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rival_core::event::{EventCause, ExternalCause};
use rival_core::{Event, Path, Seq, Time, Value};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One fact about a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Event))]
pub struct EventReply {
    /// Its place in the history, from 1.
    pub seq: Seq,
    /// When it was decided.
    pub at: Time,
    /// What happened: `runStarted`, `callStarted`, `callSucceeded` …
    pub r#type: Cow<'static, str>,
    /// The node that it is about.
    pub node: Option<Path>,
    /// What made it happen.
    pub cause: CauseReply,
    /// What else is known.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub data: Value,
}

/// What made an event happen.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EventCause))]
pub enum CauseReply {
    /// Another event of the run.
    Event(Seq),
    /// `request`, `clock`, `child`, `recovery` or `shutdown`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    Outside(ExternalCause),
}

impl From<&Event> for EventReply {
    fn from(event: &Event) -> Self {
        // As it is stored: the kind is the only key. The data is passed on as text, so that no number loses digits.
        let stored = Value::encode(&event.kind).expect("an event has only string keys");
        let tagged: BTreeMap<String, Box<RawValue>> =
            stored.decode().expect("a kind is an object with one key");
        let (kind, data) = tagged.into_iter().next().expect("a kind is an object with one key");
        Self {
            seq: event.seq,
            at: event.at,
            r#type: kind.into(),
            node: event.kind.node().cloned(),
            cause: match &event.cause {
                EventCause::Event(seq) => CauseReply::Event(*seq),
                EventCause::Outside(outside) => CauseReply::Outside(*outside),
            },
            data: Value::encode(&data).expect("raw JSON is JSON"),
        }
    }
}

/// A part of a run's history.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Events))]
pub struct EventListReply<E = EventReply> {
    /// In order.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<EventReply>))]
    pub events: Vec<E>,
    /// Where to read on, if there may be more.
    pub next: Option<Seq>,
}
