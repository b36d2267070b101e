//! The result of a block, put together from the events that hold its parts.

use serde_json::json;

use crate::event::{Event, EventKind, ResultPart, ResultParts};
use crate::ids::Seq;
use crate::value::Value;

/// The key under which a branch that failed is shown in a joined result.
const FAILED: &str = "$failed";

/// What an event puts together, if it does.
pub fn parts_of(kind: &EventKind) -> Option<&ResultParts> {
    if let EventKind::Joined { parts, .. } = kind { Some(parts) } else { None }
}

/// The events that hold the parts of what an event puts together.
pub fn references(kind: &EventKind) -> impl Iterator<Item = Seq> {
    parts_of(kind).into_iter().flat_map(holders)
}

/// The events that hold these parts.
pub fn holders(parts: &ResultParts) -> impl Iterator<Item = Seq> {
    let (list, map) = match parts {
        ResultParts::List(list) => (Some(list), None),
        ResultParts::Map(map) => (None, Some(map)),
    };
    let parts = list.into_iter().flatten().chain(map.into_iter().flatten().map(|(_, part)| part));
    parts.filter_map(|part| match part {
        ResultPart::Absent => None,
        ResultPart::Value(seq) | ResultPart::Failure { failure: seq } => Some(*seq),
    })
}

/// What an event holds, of that which a result is put together from.
#[derive(Clone, Debug)]
pub enum HeldPart {
    /// A value.
    Value(Value),
    /// Where the parts of one are.
    Parts(ResultParts),
}

impl HeldPart {
    /// What this event holds.
    pub fn new(kind: EventKind) -> Option<Self> {
        if let EventKind::Joined { parts, .. } = kind {
            return Some(Self::Parts(parts));
        }
        Self::shown(&kind)
    }

    /// The value that an event holds; a failure as it is shown in the place of a value.
    fn shown(kind: &EventKind) -> Option<Self> {
        if let Some(value) = kind.value() {
            return Some(Self::Value(value.clone()));
        }
        let failure = kind.failure()?;
        let step = kind.node().map(ToString::to_string);
        let shown = json!({ "code": failure.code, "message": failure.message, "step": step });
        Some(Self::Value(Value::from(json!({ FAILED: shown }))))
    }
}

/// The value that an event holds or puts together; `None` if it holds none, or a part is not at hand.
pub fn build<'e>(event: &Event, find: &impl Fn(Seq) -> Option<&'e Event>) -> Option<Value> {
    match parts_of(&event.kind) {
        Some(parts) => put_together(parts, &|seq| build(find(seq)?, find)),
        None => match HeldPart::shown(&event.kind)? {
            HeldPart::Value(value) => Some(value),
            HeldPart::Parts(_) => None,
        },
    }
}

/// A value from its parts; `None` if one is not to be had.
pub fn put_together(parts: &ResultParts, read: &dyn Fn(Seq) -> Option<Value>) -> Option<Value> {
    let mut text = String::new();
    match parts {
        ResultParts::List(list) => {
            text.push('[');
            for (at, part) in list.iter().enumerate() {
                separate(at, &mut text);
                text.push_str(part_value(*part, read)?.as_json());
            }
            text.push(']');
        }
        ResultParts::Map(map) => {
            text.push('{');
            for (at, (name, part)) in map.iter().enumerate() {
                separate(at, &mut text);
                text.push_str(&json!(name).to_string());
                text.push(':');
                text.push_str(part_value(*part, read)?.as_json());
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

fn part_value(part: ResultPart, read: &dyn Fn(Seq) -> Option<Value>) -> Option<Value> {
    match part {
        ResultPart::Absent => Some(Value::null()),
        ResultPart::Value(seq) | ResultPart::Failure { failure: seq } => read(seq),
    }
}
