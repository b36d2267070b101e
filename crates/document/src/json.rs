//! JSON with the place of every value.

use serde_json::{Map, Number, Value};

use crate::place::SourcePlace;

/// A JSON value that knows where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedJson {
    /// Where it begins.
    pub place: SourcePlace,
    /// The value.
    pub node: JsonNode,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonNode {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number {
        /// As it is kept.
        number: Number,
        /// Whether it is kept as it was written; otherwise digits were lost.
        exact: bool,
    },
    /// A text.
    Text(PlacedText),
    /// A list.
    List(Vec<PlacedJson>),
    /// An object, in the order of the text; no two keys are the same.
    Object(Vec<ObjectMember>),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectMember {
    /// The key.
    pub key: PlacedText,
    /// The value.
    pub value: PlacedJson,
}

/// A text that knows where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedText {
    text: String,
    place: SourcePlace,
    /// The text between the quotes as it is written, if that is another.
    raw: Option<Box<str>>,
}

impl PlacedText {
    pub(crate) fn new(text: String, place: SourcePlace, raw: Option<Box<str>>) -> Self {
        PlacedText { text, place, raw }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where its opening quote is.
    pub fn place(&self) -> SourcePlace {
        self.place
    }

    /// The places of bytes of the text; to be asked for in ascending order.
    pub(crate) fn places(&self) -> TextPlaces<'_> {
        let raw = self.raw.as_deref().unwrap_or(&self.text);
        TextPlaces { raw, is_escaped: self.raw.is_some(), decoded: 0, at: 0, place: self.place.after("\"") }
    }

    /// The place of a byte of the text.
    pub(crate) fn place_at(&self, offset: usize) -> SourcePlace {
        self.places().place(offset)
    }
}

/// Follows a text through its escapes. One walk serves any number of places, so many of them in a long text cost little.
pub(crate) struct TextPlaces<'a> {
    raw: &'a str,
    is_escaped: bool,
    /// How many bytes of the text lie behind.
    decoded: usize,
    at: usize,
    place: SourcePlace,
}

impl TextPlaces<'_> {
    pub(crate) fn place(&mut self, offset: usize) -> SourcePlace {
        while self.decoded < offset && self.at < self.raw.len() {
            let rest = &self.raw[self.at..];
            let (written, decoded) = self.unit(rest);
            self.place = self.place.after(&rest[..written]);
            self.at += written;
            self.decoded += decoded;
        }
        self.place
    }

    /// How many bytes the next character takes as it is written, and as it is.
    fn unit(&self, rest: &str) -> (usize, usize) {
        let first = rest.chars().next().map_or(1, char::len_utf8);
        if !self.is_escaped || !rest.starts_with('\\') {
            return (first, first);
        }
        let code = |at: usize| rest.get(at..at + 4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        if !rest.starts_with("\\u") {
            return (2.min(rest.len()), 1);
        }
        match code(2) {
            // Two escapes that are one character.
            Some(0xD800..=0xDBFF) => (12.min(rest.len()), 4),
            Some(code) => (6, char::from_u32(code).map_or(1, char::len_utf8)),
            None => (first, first),
        }
    }
}

impl PlacedJson {
    /// The value at a JSON pointer (RFC 6901).
    pub fn find(&self, pointer: &str) -> Option<&PlacedJson> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, part| {
            let part = part.replace("~1", "/").replace("~0", "~");
            match &value.node {
                JsonNode::List(items) => items.get(part.parse::<usize>().ok()?),
                JsonNode::Object(members) => {
                    members.iter().find(|member| member.key.as_str() == part).map(|member| &member.value)
                }
                _ => None,
            }
        })
    }

    /// The value without its places.
    pub fn to_value(&self) -> Value {
        match &self.node {
            JsonNode::Null => Value::Null,
            JsonNode::Bool(value) => Value::Bool(*value),
            JsonNode::Number { number, .. } => Value::Number(number.clone()),
            JsonNode::Text(text) => Value::String(text.text.clone()),
            JsonNode::List(items) => items.iter().map(PlacedJson::to_value).collect(),
            JsonNode::Object(members) => {
                let fields = members.iter().map(|member| (member.key.text.clone(), member.value.to_value()));
                Value::Object(fields.collect::<Map<String, Value>>())
            }
        }
    }

    /// The kind of the value in a word, with its article.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.node {
            JsonNode::Null => "null",
            JsonNode::Bool(_) => "a boolean",
            JsonNode::Number { .. } => "a number",
            JsonNode::Text(_) => "a text",
            JsonNode::List(_) => "a list",
            JsonNode::Object(_) => "an object",
        }
    }
}
