//! Bodies of requests.

use rival_core::Value;
use serde::{Deserialize, Deserializer, Serialize};

/// A run to be started.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StartRequest))]
pub struct StartRun {
    /// What it is given.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub input: Value,
    /// Its id, if you choose it: starting it again with the same input gives the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub tags: Vec<String>,
    /// Fails the run with `run_timeout` when it is older.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Retries the run by itself this often if it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
}

/// Why.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ReasonRequest))]
pub struct ReasonBody {
    /// In your words; it is shown with the run.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub reason: String,
}

/// Nothing to say.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EmptyRequest))]
pub struct EmptyBody {}

/// Where a new run goes on from an old one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ForkRequest))]
pub struct ForkBody {
    /// The node that runs again, with everything after it: `charge`, `items[3]/charge`. Where it failed, if not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Another input than the old run had.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The new run's id, if you choose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

/// `null` is an input like any other, not the absence of one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// What a signal says.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = SignalRequest))]
pub struct SignalBody {
    /// Anything that fits the schema of the signal.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub payload: Value,
    /// Makes sending idempotent: the run takes a signal with this id once. Without one the server makes one up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// An input to check.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ValidateRequest))]
pub struct CheckBody {
    /// What a run would be given.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub input: Value,
}
