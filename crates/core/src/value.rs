//! JSON values as the text they were recorded as.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

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

/// Reads a field that is there: `null` is a value like any other, not the absence of one.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

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
