//! Encodes results strictly: what cannot be read back exactly is refused, never changed.

use rival_core::Value;
use serde::Serialize;

/// Why a value cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
}

/// Encodes a value, refusing what JSON cannot say.
pub fn encode(value: &impl Serialize) -> Result<Value, EncodeError> {
    Value::encode(value).map_err(|error| EncodeError::NotJson(error.to_string()))
}
