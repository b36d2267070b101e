//! Events in answers.

use rival_core::event::{EventCause, EventKind, ExternalCause};
use rival_core::{Event, Path, Seq, Time, Value};
use serde::{Deserialize, Serialize};

/// One fact about a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EventReply {
    /// Its place in the history, from 1.
    pub seq: Seq,
    /// When it was decided.
    pub at: Time,
    /// What happened: `runStarted`, `callStarted`, `callSucceeded` …
    pub r#type: String,
    /// The node that it is about.
    pub node: Option<Path>,
    /// What made it happen.
    pub cause: CauseReply,
    /// Who asked for it, if a request made it happen and said so: the name of a token, or of a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What else is known.
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
    /// Something outside of it.
    Outside(ExternalCause),
}

impl From<&Event> for EventReply {
    fn from(event: &Event) -> Self {
        let (kind, data) = type_and_data(&event.kind);
        Self {
            seq: event.seq,
            at: event.at,
            r#type: kind,
            node: event.kind.node().cloned(),
            cause: match &event.cause {
                EventCause::Event(seq) => CauseReply::Event(*seq),
                EventCause::Outside(outside) => CauseReply::Outside(*outside),
            },
            by: event.by.clone(),
            data,
        }
    }
}

/// The two parts of `{"callStarted":{…}}`, as a kind is stored. They are cut out of its text, so that no number loses
/// digits.
fn type_and_data(kind: &EventKind) -> (String, Value) {
    let stored = serde_json::to_string(kind).expect("an event has only string keys");
    let inside = stored.strip_prefix("{\"").and_then(|stored| stored.strip_suffix('}'));
    let (name, data) = inside.and_then(|inside| inside.split_once("\":")).expect("the kind is the only key");
    (name.to_owned(), Value::from_json(data.to_owned()).expect("a part of JSON is JSON"))
}

/// A part of a run's history.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EventList))]
pub struct EventListReply<E = EventReply> {
    /// In order.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<EventReply>))]
    pub items: Vec<E>,
    /// Where to read on, if there may be more.
    pub cursor: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_shown_by_its_type_and_data() {
        let shown = |stored: &str| {
            let event: Event = serde_json::from_str(stored).unwrap();
            serde_json::to_string(&EventReply::from(&event)).unwrap()
        };
        let paused = r#"{"v":5,"seq":7,"at":1,"cause":"request","event":{"runPaused":{}}}"#;
        let expected =
            r#"{"seq":7,"at":1,"type":"runPaused","node":null,"cause":{"outside":"request"},"data":{}}"#;
        assert_eq!(shown(paused), expected);
        let asked = paused.replace(r#""cause":"request","#, r#""cause":"request","by":"ann","#);
        assert_eq!(shown(&asked), expected.replace(r#""data":{}"#, r#""by":"ann","data":{}"#));
        let called = r#"{"seq":8,"at":2,"cause":6,"event":{"callSucceeded":{"node":"a\"b","call":1,"result":{"\":":1.10}}}}"#;
        let expected = r#"{"seq":8,"at":2,"type":"callSucceeded","node":"a\"b","cause":{"event":6},"data":{"node":"a\"b","call":1,"result":{"\":":1.10}}}"#;
        assert_eq!(shown(called), expected);
    }
}
