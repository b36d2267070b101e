//! Places inside of values.

use std::fmt::Write;

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathSegment {
    /// A property of an object.
    Key(String),
    /// An element of a list, from 0.
    Index(usize),
    /// All properties that have no name in the schema; only in verdicts.
    AnyKey,
    /// All elements of a list; only in verdicts.
    AnyIndex,
}

/// A path as it is written in a program: `users[0].name`. The value itself is the empty text.
pub fn path_text(path: &[PathSegment]) -> String {
    let mut text = String::new();
    for segment in path {
        let written = match segment {
            PathSegment::Key(key) if is_plain(key) && text.is_empty() => write!(text, "{key}"),
            PathSegment::Key(key) if is_plain(key) => write!(text, ".{key}"),
            PathSegment::Key(key) => write!(text, "[{}]", serde_json::Value::from(key.as_str())),
            PathSegment::Index(index) => write!(text, "[{index}]"),
            PathSegment::AnyKey => write!(text, "[*]"),
            PathSegment::AnyIndex => write!(text, "[]"),
        };
        written.expect("a text takes everything");
    }
    text
}

/// Whether a key needs no quotes.
pub(crate) fn is_plain(key: &str) -> bool {
    let mut chars = key.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$')
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'))
}
