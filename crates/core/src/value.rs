//! JSON values as the text they were recorded as.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// How many levels a value may have that is read piece by piece; `serde_json` reads no more than 128.
pub const VALUE_DEPTH_MAX: usize = 120;

/// A JSON value, kept as text: recorded once and read back byte for byte, never re-encoded.
///
/// Cheap to clone. What a step reads is exactly what was recorded, big integers included.
#[derive(Clone)]
pub struct Value(Arc<RawValue>);

impl Value {
    /// `null`, the result of a function that returns nothing.
    pub fn null() -> Self {
        static NULL: LazyLock<Value> = LazyLock::new(|| Value(Arc::from(RawValue::NULL.to_owned())));
        NULL.clone()
    }

    /// Takes text that must be JSON.
    pub fn from_json(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(|raw| Self(raw.into()))
    }

    /// Encodes a serialisable value. Non-finite floats become `null` here; results of steps go
    /// through the engine's stricter encoder.
    pub fn encode(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self::from)
    }

    /// The JSON text.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// Decodes into a Rust type.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0.get())
    }

    /// Decodes into a `serde_json::Value`; any recorded value has one.
    pub fn to_json(&self) -> serde_json::Value {
        self.decode().unwrap_or(serde_json::Value::Null)
    }

    /// The text with the keys of all objects in order: however the keys were ordered, it is the same.
    pub fn canonical(&self) -> Cow<'_, str> {
        let text = self.as_json();
        // Without objects, a text is canonical as it is.
        if !text.contains('{') {
            return Cow::Borrowed(text);
        }
        let mut value = self.to_json();
        // Any crate of the build may turn on the serde_json feature that keeps the order of keys.
        value.sort_all_objects();
        Cow::Owned(value.to_string())
    }

    /// The same value with the keys of all objects in order and no spaces. Numbers are not read: they keep all digits, and
    /// `1.0` stays `1.0`.
    pub fn sorted(&self) -> Result<Self, serde_json::Error> {
        if nests_deeper(self.as_json(), VALUE_DEPTH_MAX) {
            return Err(serde_json::Error::custom(format!("it has more than {VALUE_DEPTH_MAX} levels")));
        }
        let mut text = String::with_capacity(self.len_bytes());
        write_sorted(&self.0, &mut text)?;
        Self::from_json(text)
    }

    /// The value at the end of a way into this one, exactly as it is written here; `None` if the way leads nowhere. The
    /// text is walked: no tree is made of it.
    pub fn at(&self, way: &[Segment]) -> Option<Self> {
        if way.is_empty() {
            return Some(self.clone());
        }
        way.iter()
            .try_fold(&*self.0, |inside, segment| segment.find(inside))
            .map(|found| found.to_owned().into())
    }

    /// Length of the JSON text in bytes.
    pub fn len_bytes(&self) -> usize {
        self.0.get().len()
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        self.0.get() == "null"
    }
}

impl Default for Value {
    fn default() -> Self {
        Self::null()
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl Eq for Value {}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

impl From<Box<RawValue>> for Value {
    fn from(raw: Box<RawValue>) -> Self {
        // Most functions return nothing.
        if raw.get() == "null" { Self::null() } else { Self(raw.into()) }
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        Self::encode(&value).expect("a serde_json::Value always encodes")
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Value {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::schema::{ObjectBuilder, SchemaType};
        let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
        any.description(Some("Any JSON value.")).into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Value {}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|raw| Self(raw.into()))
    }
}

/// One step of a way into a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Segment {
    /// The item of a list, from 0, or the field of an object that has this number as its key.
    Index(u32),
    /// The field of an object. If it is there twice, the later one, as everywhere in JSON.
    Key(String),
}

impl From<&str> for Segment {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<u32> for Segment {
    fn from(index: u32) -> Self {
        Self::Index(index)
    }
}

/// As in `.users` and `[0]`, after what they lead into.
impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Key(key) => write!(f, ".{key}"),
        }
    }
}

impl Segment {
    fn find<'a>(&self, value: &'a RawValue) -> Option<&'a RawValue> {
        let json = value.get();
        match (json.as_bytes().first(), self) {
            (Some(b'{'), Self::Key(key)) => find(json, FieldFinder(key)),
            (Some(b'{'), Self::Index(index)) => find(json, FieldFinder(&index.to_string())),
            (Some(b'['), Self::Index(index)) => find(json, ItemFinder(*index)),
            _ => None,
        }
    }
}

fn find<'a>(json: &'a str, finder: impl Visitor<'a, Value = Option<&'a RawValue>>) -> Option<&'a RawValue> {
    serde_json::Deserializer::from_str(json).deserialize_any(finder).ok().flatten()
}

struct FieldFinder<'k>(&'k str);

impl<'de> Visitor<'de> for FieldFinder<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(is_it) = fields.next_key_seed(IsKey(self.0))? {
            if is_it {
                found = Some(fields.next_value()?);
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

struct ItemFinder(u32);

impl<'de> Visitor<'de> for ItemFinder {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        for _ in 0..self.0 {
            if items.next_element::<IgnoredAny>()?.is_none() {
                return Ok(None);
            }
        }
        let found = items.next_element()?;
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }
}

/// Compares a key without keeping it.
struct IsKey<'k>(&'k str);

impl<'de> DeserializeSeed<'de> for IsKey<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for IsKey<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

/// Whether JSON has more levels than this.
pub fn nests_deeper(text: &str, levels: usize) -> bool {
    if text.len() <= 2 * levels {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            // What is no JSON may close more than it opens.
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > levels {
            return true;
        }
    }
    false
}

fn write_sorted(raw: &RawValue, text: &mut String) -> Result<(), serde_json::Error> {
    let json = raw.get();
    match json.as_bytes().first() {
        Some(b'{') => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(json)?;
            text.push('{');
            for (number, (key, value)) in fields.into_iter().enumerate() {
                text.push_str(if number > 0 { "," } else { "" });
                text.push_str(&serde_json::to_string(&key)?);
                text.push(':');
                write_sorted(value, text)?;
            }
            text.push('}');
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(json)?;
            text.push('[');
            for (number, value) in items.into_iter().enumerate() {
                text.push_str(if number > 0 { "," } else { "" });
                write_sorted(value, text)?;
            }
            text.push(']');
        }
        // One text can be written in many ways.
        Some(b'"') => {
            let words: Cow<'_, str> = serde_json::from_str(json)?;
            text.push_str(&serde_json::to_string(&words)?);
        }
        Some(_) | None => text.push_str(json),
    }
    Ok(())
}

/// Reads a field that is there: `null` is a value like any other, not the absence of one.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sorted_value_has_one_text_and_all_its_digits() {
        let text = r#" { "b" : [ 1.0, 123456789012345678901234567890, {"z":-0, "a":"\u0041\/"} ], "a": 1E5, "b2": "é" } "#;
        let sorted = Value::from_json(text.to_owned()).unwrap().sorted().unwrap();
        let expected = r#"{"a":1E5,"b":[1.0,123456789012345678901234567890,{"a":"A/","z":-0}],"b2":"é"}"#;
        assert_eq!(sorted.as_json(), expected);
        assert_eq!(sorted.sorted().unwrap(), sorted);
    }

    #[test]
    fn a_way_leads_to_a_value_as_it_is_written() {
        let text = r#"{"a": [ {"b":"x"}, 12345678901234567890.10 , [ ] ], "0": -0, "k\u0041": 1, "a.b": null, "k":1, "k": 2}"#;
        let value = Value::from_json(text.to_owned()).unwrap();
        let at = |way: &[Segment]| value.at(way).map(|found| found.as_json().to_owned());
        assert_eq!(at(&[]).as_deref(), Some(text));
        assert_eq!(at(&["a".into(), 1.into()]).as_deref(), Some("12345678901234567890.10"));
        assert_eq!(at(&["a".into(), 0.into(), "b".into()]).as_deref(), Some(r#""x""#));
        assert_eq!(at(&["a".into(), 2.into()]).as_deref(), Some("[ ]"));
        assert_eq!(at(&[0.into()]).as_deref(), Some("-0"), "a field that is called so");
        assert_eq!(at(&["kA".into()]).as_deref(), Some("1"));
        assert_eq!(at(&["a.b".into()]).as_deref(), Some("null"));
        assert_eq!(at(&["k".into()]).as_deref(), Some("2"), "as others read it");
        for nowhere in [
            &["b".into()][..],
            &["a".into(), 3.into()],
            &["a".into(), "0".into()],
            &["kA".into(), "x".into()],
        ] {
            assert_eq!(at(nowhere), None, "{nowhere:?}");
        }
    }

    #[test]
    fn a_way_leads_through_what_nests_deep() {
        let levels = 100_000;
        let deep = Value::from_json(format!("{}1{}", "[".repeat(levels), "]".repeat(levels))).unwrap();
        let found = deep.at(&vec![Segment::Index(0); 300]).unwrap();
        assert_eq!(found.len_bytes(), 2 * (levels - 300) + 1);
    }

    #[test]
    fn levels_are_counted_outside_of_texts() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(!nests_deeper(&nested(120), 120) && nests_deeper(&nested(121), 120));
        assert!(!nests_deeper(&format!("\"\\\"{}\"", "[".repeat(500)), 120));
        let deep = Value::from_json(nested(100_000)).unwrap();
        assert!(deep.sorted().is_err());
    }

    /// Without `serde_json/float_roundtrip` the last bit of one in some hundred is lost.
    #[test]
    fn floats_are_read_back_to_the_last_bit() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let float = f64::from_bits(bits);
            if float.is_finite() {
                let read: f64 = Value::encode(&float).unwrap().decode().unwrap();
                assert_eq!(read.to_bits(), float.to_bits(), "{float:e}");
            }
        }
        let minus_zero: f64 = Value::from_json("-0".to_owned()).unwrap().decode().unwrap();
        assert!(minus_zero.is_sign_negative());
    }
}
