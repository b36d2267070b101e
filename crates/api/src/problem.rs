//! Refusals and failures, as `application/problem+json` (RFC 9457).

use serde::{Deserialize, Serialize};

/// A problem on the wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Problem))]
pub struct ProblemReply {
    /// The page that explains the code.
    #[cfg_attr(feature = "openapi", schema(example = "/errors/run_not_found"))]
    pub r#type: String,
    /// The status in words.
    #[cfg_attr(feature = "openapi", schema(example = "Not Found"))]
    pub title: String,
    /// The HTTP status.
    #[cfg_attr(feature = "openapi", schema(example = 404))]
    pub status: u16,
    /// A stable word for programs.
    #[cfg_attr(feature = "openapi", schema(example = "run_not_found"))]
    pub code: String,
    /// One sentence for people.
    #[cfg_attr(feature = "openapi", schema(example = "run `x` not found"))]
    pub error: String,
    /// The same sentence, where RFC 9457 has it.
    pub detail: String,
    /// What is wrong, one by one, where that is more than one thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub errors: Vec<ViolationReply>,
    /// What could not be proven of a document, or is probably not meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub warnings: Vec<ViolationReply>,
    /// The id of the run that the request would have started. It is not known whether it did: starting it again under
    /// this id is harmless.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub run_id: Option<String>,
    /// The id of the signal. It is not known whether the run has it: sending it again under this id is harmless.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub signal_id: Option<String>,
}

/// One thing that is wrong with what was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Violation))]
pub struct ViolationReply {
    /// Where, as a JSON pointer, empty for the whole; in a document the step and the field, `notify/recipients`.
    pub path: String,
    /// What is wrong there.
    pub message: String,
    /// In a document: what kind of problem it is, a stable word such as `type_mismatch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub r#type: Option<String>,
    /// In a document: the step that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub step: Option<String>,
    /// In a document: the trigger that it is in, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub trigger: Option<u64>,
    /// In a document: the field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub field: Option<String>,
    /// In a document: the ref as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub r#ref: Option<String>,
    /// In a document: the type that is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub expected: Option<String>,
    /// In a document: the type that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub actual: Option<String>,
    /// In a document: the line of its text, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub line: Option<u32>,
    /// In a document: the column, from 1, in UTF-16 units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub column: Option<u32>,
}
