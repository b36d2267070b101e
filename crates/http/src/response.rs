//! An answer as data.

use std::any::type_name;
use std::collections::BTreeMap;

use rival_core::failure::code;
use rival_core::{FailureRecord, StepError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a server answered; this is what is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpResponse {
    /// The status, such as 200.
    pub status: u16,
    /// The headers, with names in lower case; several of one name are joined with a comma.
    pub headers: BTreeMap<String, String>,
    /// The body: JSON if the server says so (or says nothing), otherwise a string; `null` if there is none.
    pub body: Value,
}

impl HttpResponse {
    /// Whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as a type of your own. Trying again would read the same body, so a failure ends the step.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, StepError> {
        T::deserialize(&self.body).map_err(|error| {
            let message = format!("the answer's body is no `{}`: {error}", type_name::<T>());
            FailureRecord::new(code::NOT_JSON, message).stop()
        })
    }

    /// A header by name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(&name.to_ascii_lowercase()).map(String::as_str)
    }

    pub(crate) fn read(status: u16, headers: BTreeMap<String, String>, bytes: &[u8]) -> Self {
        let kind = headers.get("content-type").map(|kind| kind.to_ascii_lowercase());
        let is_json = kind.is_none_or(|kind| kind.contains("/json") || kind.contains("+json"));
        let text = || Value::String(String::from_utf8_lossy(bytes).into_owned());
        let body = match bytes {
            [] => Value::Null,
            _ if is_json => serde_json::from_slice(bytes).unwrap_or_else(|_| text()),
            _ => text(),
        };
        Self { status, headers, body }
    }
}
