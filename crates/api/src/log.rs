//! Lines of logs in answers.

use rival_core::{LogLevel, Time, Value};
use serde::{Deserialize, Serialize};

/// A line that a step wrote.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LogLine))]
pub struct LogReply {
    /// Its place among the lines of its run, to read on from.
    pub no: u64,
    /// When.
    pub timestamp: Time,
    /// How much it matters.
    pub level: LogLevel,
    /// The text.
    pub message: String,
    /// The path of the step.
    pub step_name: String,
    /// The charged attempt.
    pub attempt: u32,
    /// The call.
    pub call: u32,
    /// The fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub metadata: Option<Value>,
}

/// What a run's steps wrote.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LogList))]
pub struct LogListReply<L = LogReply> {
    /// The oldest first.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<LogReply>))]
    pub items: Vec<L>,
    /// Where to read on, if there may be more.
    pub cursor: Option<String>,
}
