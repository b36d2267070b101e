//! Sets of the kinds of JSON values.

use serde_json::Value;

use crate::number::is_integer;

/// A set of kinds. Whole numbers and fractions are two kinds, so that `number` is both and `integer` is one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct KindSet(u8);

impl KindSet {
    pub(crate) const NONE: KindSet = KindSet(0);
    pub(crate) const NULL: KindSet = KindSet(1);
    pub(crate) const BOOLEAN: KindSet = KindSet(2);
    pub(crate) const INTEGER: KindSet = KindSet(4);
    pub(crate) const NUMBER: KindSet = KindSet(4 | 8);
    pub(crate) const STRING: KindSet = KindSet(16);
    pub(crate) const ARRAY: KindSet = KindSet(32);
    pub(crate) const OBJECT: KindSet = KindSet(64);
    pub(crate) const ALL: KindSet = KindSet(127);

    /// The kinds that a union is taken apart by.
    pub(crate) const PARTS: [KindSet; 6] =
        [KindSet::STRING, KindSet::NUMBER, KindSet::BOOLEAN, KindSet::NULL, KindSet::OBJECT, KindSet::ARRAY];

    /// The kinds that a word of `type` stands for.
    pub(crate) fn of_word(word: &str) -> Option<KindSet> {
        Some(match word {
            "null" => KindSet::NULL,
            "boolean" => KindSet::BOOLEAN,
            "integer" => KindSet::INTEGER,
            "number" => KindSet::NUMBER,
            "string" => KindSet::STRING,
            "array" => KindSet::ARRAY,
            "object" => KindSet::OBJECT,
            _ => return None,
        })
    }

    /// The kind of a value.
    pub(crate) fn of_value(value: &Value) -> KindSet {
        match value {
            Value::Null => KindSet::NULL,
            Value::Bool(_) => KindSet::BOOLEAN,
            Value::Number(number) if is_integer(number) => KindSet::INTEGER,
            Value::Number(_) => KindSet(8),
            Value::String(_) => KindSet::STRING,
            Value::Array(_) => KindSet::ARRAY,
            Value::Object(_) => KindSet::OBJECT,
        }
    }

    pub(crate) fn both(self, other: KindSet) -> KindSet {
        KindSet(self.0 & other.0)
    }

    pub(crate) fn either(self, other: KindSet) -> KindSet {
        KindSet(self.0 | other.0)
    }

    /// Whether all of these kinds are in the other set.
    pub(crate) fn within(self, other: KindSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether the sets share a kind.
    pub(crate) fn meets(self, other: KindSet) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The set in as few parts as a union in TypeScript has.
    pub(crate) fn parts(self) -> Vec<KindSet> {
        let parts = KindSet::PARTS.into_iter().map(|part| part.both(self));
        parts.filter(|part| !part.is_empty()).collect()
    }

    /// The set as TypeScript writes it.
    pub(crate) fn words(self) -> String {
        if self == KindSet::ALL {
            return "unknown".to_owned();
        }
        let words = self.parts().into_iter().map(KindSet::word).collect::<Vec<_>>();
        if words.is_empty() { "never".to_owned() } else { words.join(" | ") }
    }

    fn word(self) -> &'static str {
        match self {
            KindSet::STRING => "string",
            KindSet::INTEGER => "integer",
            KindSet::BOOLEAN => "boolean",
            KindSet::NULL => "null",
            KindSet::OBJECT => "object",
            KindSet::ARRAY => "unknown[]",
            _ => "number",
        }
    }
}
