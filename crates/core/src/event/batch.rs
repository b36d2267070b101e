//! Batches of events as they are stored.

use serde::Deserialize;

use super::{Event, VERSION, first};
use crate::ids::Seq;

/// A stored history that this build cannot read.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The bytes are not events.
    #[error("stored events are damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    /// A later version of Rival wrote them.
    #[error(
        "event {seq} has schema version {found}, but this build reads up to {VERSION}: use a newer rival"
    )]
    TooNew {
        /// The event.
        seq: Seq,
        /// Its version.
        found: u32,
    },
}

/// Writes events as they are stored: a JSON array. What is as in most events is left out, because events are
/// most of what is written. For the same reason the part that is alike in all of them is written by hand, in the
/// form that the derived `Serialize` gives; a test holds the two together.
pub fn encode(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(160 * events.len());
    let mut before = b'[';
    for event in events {
        bytes.push(before);
        before = b',';
        encode_one(event, &mut bytes).expect("events have only string keys and recorded values");
    }
    if events.is_empty() {
        bytes.push(b'[');
    }
    bytes.push(b']');
    bytes
}

fn encode_one(event: &Event, bytes: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    bytes.push(b'{');
    if event.v != 1 {
        bytes.extend_from_slice(b"\"v\":");
        serde_json::to_writer(&mut *bytes, &event.v)?;
        bytes.push(b',');
    }
    bytes.extend_from_slice(b"\"seq\":");
    serde_json::to_writer(&mut *bytes, &event.seq)?;
    bytes.extend_from_slice(b",\"at\":");
    serde_json::to_writer(&mut *bytes, &event.at)?;
    bytes.extend_from_slice(b",\"cause\":");
    serde_json::to_writer(&mut *bytes, &event.cause)?;
    if let Some(by) = &event.by {
        bytes.extend_from_slice(b",\"by\":");
        serde_json::to_writer(&mut *bytes, by)?;
    }
    bytes.extend_from_slice(b",\"event\":");
    serde_json::to_writer(&mut *bytes, &event.kind)?;
    bytes.push(b'}');
    Ok(())
}

/// Reads events as they were stored.
pub fn decode(bytes: &[u8]) -> Result<Vec<Event>, DecodeError> {
    let events = serde_json::from_slice::<Vec<Event>>(bytes);
    // A later version may have kinds and fields that this build cannot read: that is no damage, and the advice for it
    // is another one. So the versions decide first, also where the rest did not decode.
    let newer = match &events {
        Ok(events) => events.iter().map(|event| (event.seq, event.v)).find(|(_, v)| *v > VERSION),
        Err(_) => newer_in(bytes),
    };
    match newer {
        Some((seq, found)) => Err(DecodeError::TooNew { seq, found }),
        None => Ok(events?),
    }
}

/// The first event of a later version, told from nothing but numbers and versions.
fn newer_in(bytes: &[u8]) -> Option<(Seq, u32)> {
    #[derive(Deserialize)]
    struct Versioned {
        #[serde(default = "first")]
        v: u32,
        seq: Seq,
    }
    let events: Vec<Versioned> = serde_json::from_slice(bytes).ok()?;
    events.into_iter().map(|event| (event.seq, event.v)).find(|(_, v)| *v > VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EventCause, EventKind, ExternalCause};
    use crate::ids::Time;

    #[test]
    fn events_are_written_as_serde_writes_them() {
        let event = |cause, by: Option<&str>| {
            Event::new(Seq(7), Time(-1), cause, by.map(str::to_owned), EventKind::RunPaused {})
        };
        let asked = event(EventCause::Outside(ExternalCause::Request), Some("a \"b\""));
        let clock = event(EventCause::Outside(ExternalCause::Clock), Some("a"));
        let events = [event(EventCause::Event(Seq(6)), None), asked, Event { v: 2, ..clock }];
        assert_eq!(
            events.each_ref().map(|event| (event.v, event.by.is_some())),
            [(1, false), (6, true), (2, false)]
        );
        for events in [&events[..0], &events[..1], &events] {
            assert_eq!(String::from_utf8(encode(events)).unwrap(), serde_json::to_string(events).unwrap());
        }
    }

    #[test]
    fn a_kind_of_a_newer_version_asks_for_a_newer_rival() {
        let next = VERSION + 1;
        let unknown = format!(
            r#"[{{"seq":7,"at":1,"cause":6,"event":{{"runPaused":{{}}}}}},
                {{"v":{next},"seq":8,"at":1,"cause":{{"later":1}},"event":{{"runTeleported":{{}}}}}}]"#
        );
        let error = decode(unknown.as_bytes()).unwrap_err();
        assert!(matches!(error, DecodeError::TooNew { seq: Seq(8), found } if found == next), "{error}");
        assert!(error.to_string().contains("use a newer rival"), "{error}");
    }

    #[test]
    fn an_unknown_kind_of_a_known_version_is_damage() {
        for text in [r#"[{"seq":7,"at":1,"cause":6,"event":{"runTeleported":{}}}]"#, "[{]", ""] {
            assert!(matches!(decode(text.as_bytes()), Err(DecodeError::Damaged(_))), "{text}");
        }
    }
}
