//! The result of a block, put together from the events that hold its parts.

use rival_core::event::{Kind, Part, Parts};
use rival_core::{Event, Seq, Value};
use serde_json::json;

/// The key under which a branch that failed is shown in a joined result.
const FAILED: &str = "$failed";

/// What an event puts together, if it does.
pub(crate) fn parts_of(kind: &Kind) -> Option<&Parts> {
    match kind {
        Kind::Joined { parts, .. } => Some(parts),
        _ => None,
    }
}

/// The events that hold the parts.
pub(crate) fn references(kind: &Kind) -> impl Iterator<Item = Seq> {
    let (list, map) = match parts_of(kind) {
        Some(Parts::List(list)) => (Some(list), None),
        Some(Parts::Map(map)) => (None, Some(map)),
        None => (None, None),
    };
    let parts = list.into_iter().flatten().chain(map.into_iter().flatten().map(|(_, part)| part));
    parts.filter_map(|part| match part {
        Part::Absent => None,
        Part::Value(seq) | Part::Failure { failure: seq } => Some(*seq),
    })
}

/// The value that an event holds or puts together; `None` if it holds none, or a part is not at hand.
pub(crate) fn build<'e>(event: &Event, find: &impl Fn(Seq) -> Option<&'e Event>) -> Option<Value> {
    let Some(parts) = parts_of(&event.event) else { return event.event.value().cloned() };
    let mut text = String::new();
    match parts {
        Parts::List(list) => {
            text.push('[');
            for (at, part) in list.iter().enumerate() {
                separate(at, &mut text);
                text.push_str(part_value(*part, find)?.as_json());
            }
            text.push(']');
        }
        Parts::Map(map) => {
            text.push('{');
            for (at, (name, part)) in map.iter().enumerate() {
                separate(at, &mut text);
                text.push_str(&json!(name).to_string());
                text.push(':');
                text.push_str(part_value(*part, find)?.as_json());
            }
            text.push('}');
        }
    }
    Some(Value::from_json(text).expect("JSON values between brackets and commas are JSON"))
}

fn separate(at: usize, text: &mut String) {
    if at > 0 {
        text.push(',');
    }
}

fn part_value<'e>(part: Part, find: &impl Fn(Seq) -> Option<&'e Event>) -> Option<Value> {
    match part {
        Part::Absent => Some(Value::null()),
        Part::Value(seq) => build(find(seq)?, find),
        Part::Failure { failure } => {
            let event = find(failure)?;
            let failure = event.event.failure()?;
            let step = event.event.node().map(ToString::to_string);
            let shown = json!({ "code": failure.code, "message": failure.message, "step": step });
            Some(Value::from(json!({ FAILED: shown })))
        }
    }
}
