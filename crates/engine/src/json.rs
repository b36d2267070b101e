//! Encodes values strictly: what could not be read back exactly is refused, never changed.
//!
//! `serde_json` writes NaN and infinity as `null`, and `Some` of nothing too. So when a text contains `null`, a second
//! pass over the value looks for them; other values pay nothing.

use rival_core::{VALUE_DEPTH_MAX as DEPTH_MAX, Value, nests_deeper};
use serde::ser::{self, Serialize};

use crate::exact::{DuplicateKey, duplicate_key};

/// Why a value cannot be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// It holds NaN or an infinity.
    #[error("it holds {0}, which JSON cannot say; use an Option or a string")]
    NotFinite(String),
    /// It holds `Some(())` or `Some(None)`.
    #[error(
        "it holds `Some` of nothing (of `()` or of `None`), which would be read as `None`; use a bool or an enum"
    )]
    SomeOfNothing,
    /// It is not JSON, for example because of a map whose keys are no strings.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// An object has a key twice, for example because of a flattened map.
    #[error("{} has the key `{key}` twice", place(path))]
    DuplicateKey {
        /// The object, as `a.b[0]`; empty for the value itself.
        path: String,
        /// The key.
        key: String,
    },
    /// It nests too deep.
    #[error("it nests deeper than {DEPTH_MAX} levels")]
    TooDeep,
}

fn place(path: &str) -> String {
    if path.is_empty() { "it".to_owned() } else { format!("`{path}` in it") }
}

/// Encodes a value, refusing what JSON cannot say.
pub fn encode(value: &(impl Serialize + ?Sized)) -> Result<Value, EncodeError> {
    let raw =
        serde_json::value::to_raw_value(value).map_err(|error| EncodeError::NotJson(error.to_string()))?;
    let text = raw.get();
    if text.contains("null") {
        value.serialize(NullCheck).map_err(|NotFinite(text)| match text.as_str() {
            SOME_OF_NOTHING => EncodeError::SomeOfNothing,
            _ => EncodeError::NotFinite(text),
        })?;
    }
    if is_too_deep(text) {
        return Err(EncodeError::TooDeep);
    }
    if let Some(DuplicateKey { path, key }) = duplicate_key(text) {
        return Err(EncodeError::DuplicateKey { path, key });
    }
    if is_odd(text) {
        let readable: Result<serde_json::Value, _> = serde_json::from_str(text);
        readable.map_err(|error| EncodeError::NotJson(error.to_string()))?;
    }
    Ok(Value::from(raw))
}

/// Whether a text may hold what is JSON by its grammar and cannot be read: half of a surrogate pair, a number that is
/// out of range. Only text that came as such can; what was encoded from values is read back as it was.
fn is_odd(text: &str) -> bool {
    let exponent = |pair: &[u8]| pair[0].is_ascii_digit() && matches!(pair[1], b'e' | b'E');
    text.contains("\\u") || text.as_bytes().windows(2).any(exponent)
}

/// Whether JSON nests so deep that it could not be read back.
pub fn is_too_deep(text: &str) -> bool {
    nests_deeper(text, DEPTH_MAX)
}

/// Serialises to nothing; fails at the first float that is not finite, and at the first `Some` of nothing.
#[derive(Clone, Copy)]
struct NullCheck;

#[derive(Debug)]
struct NotFinite(String);

impl std::fmt::Display for NotFinite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotFinite {}

impl ser::Error for NotFinite {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// What is said of `Some` of nothing; no float is written so.
const SOME_OF_NOTHING: &str = "Some(null)";

/// Whether a value is written as `null`. What is longer is not written to its end.
fn is_null(value: &(impl Serialize + ?Sized)) -> bool {
    let mut text = [0; 4];
    serde_json::to_writer(text.as_mut_slice(), value).is_ok() && text == *b"null"
}

fn finite(value: f64) -> Result<(), NotFinite> {
    if value.is_finite() { Ok(()) } else { Err(NotFinite(value.to_string())) }
}

macro_rules! accept {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, _: $type) -> Result<(), NotFinite> { Ok(()) })*
    };
}

impl ser::Serializer for NullCheck {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    accept! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    fn serialize_f32(self, value: f32) -> Result<(), NotFinite> {
        finite(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), NotFinite> {
        finite(value)
    }

    fn serialize_none(self) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotFinite> {
        value.serialize(self)?;
        if is_null(value) { Err(NotFinite(SOME_OF_NOTHING.to_owned())) } else { Ok(()) }
    }

    fn serialize_unit(self) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NotFinite> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, NotFinite> {
        Ok(self)
    }
}

macro_rules! accept_parts {
    ($($trait:ident: $method:ident($($key:ty)?)),* $(,)?) => {$(
        impl ser::$trait for NullCheck {
            type Ok = ();
            type Error = NotFinite;
            fn $method<T: Serialize + ?Sized>(&mut self, $(_: $key,)? value: &T) -> Result<(), NotFinite> {
                value.serialize(*self)
            }
            fn end(self) -> Result<(), NotFinite> {
                Ok(())
            }
        }
    )*};
}

accept_parts! {
    SerializeSeq: serialize_element(),
    SerializeTuple: serialize_element(),
    SerializeTupleStruct: serialize_field(),
    SerializeTupleVariant: serialize_field(),
    SerializeStruct: serialize_field(&'static str),
    SerializeStructVariant: serialize_field(&'static str),
}

impl ser::SerializeMap for NullCheck {
    type Ok = ();
    type Error = NotFinite;

    // `serde_json` has written the keys already and refuses those that are not finite.
    fn serialize_key<T: Serialize + ?Sized>(&mut self, _: &T) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
        value.serialize(*self)
    }

    fn end(self) -> Result<(), NotFinite> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_json_can_say_is_encoded_as_it_is() {
        assert_eq!(encode(&(1, "null", Option::<f64>::None)).unwrap().as_json(), r#"[1,"null",null]"#);
        assert_eq!(encode(&u64::MAX).unwrap().as_json(), "18446744073709551615");
    }

    #[test]
    fn a_float_that_is_not_finite_is_refused_wherever_it_is() {
        let error = encode(&BTreeMap::from([("deep", vec![Some((1, f64::NAN))])])).unwrap_err();
        assert_eq!(error, EncodeError::NotFinite("NaN".into()));
        assert_eq!(encode(&f32::INFINITY).unwrap_err(), EncodeError::NotFinite("inf".into()));
    }

    #[test]
    fn some_of_nothing_is_refused_wherever_it_is() {
        let refused = Err(EncodeError::SomeOfNothing);
        assert_eq!(encode(&Some(())), refused);
        assert_eq!(encode(&Some(Option::<u32>::None)), refused);
        assert_eq!(encode(&vec![Some(()), None]), refused);
        assert_eq!(encode(&BTreeMap::from([("deep", (1, Some(serde_json::Value::Null)))])), refused);
        assert_eq!(encode(&vec![Option::<()>::None]).unwrap().as_json(), "[null]");
        assert_eq!(encode(&Some(Some(vec![Option::<u8>::None]))).unwrap().as_json(), "[null]");
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused() {
        #[derive(serde::Serialize)]
        struct Flat {
            id: u32,
            #[serde(flatten)]
            more: BTreeMap<String, u32>,
        }
        let flat = Flat { id: 1, more: BTreeMap::from([("id".to_owned(), 2)]) };
        let error = encode(&[flat]).unwrap_err();
        assert_eq!(error.to_string(), "`[0]` in it has the key `id` twice");
    }

    #[test]
    fn a_map_with_keys_that_are_no_strings_is_refused() {
        assert!(matches!(encode(&BTreeMap::from([((1, 2), 3)])), Err(EncodeError::NotJson(_))));
    }

    #[test]
    fn what_nests_too_deep_to_be_read_back_is_refused() {
        let mut value = serde_json::json!("[[[[");
        for _ in 0..DEPTH_MAX {
            value = serde_json::json!([value]);
        }
        assert!(encode(&value).unwrap().decode::<serde_json::Value>().is_ok());
        assert_eq!(encode(&serde_json::json!([value])).unwrap_err(), EncodeError::TooDeep);
    }
}
