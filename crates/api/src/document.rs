//! Workflows as documents in answers.

use std::collections::BTreeMap;

use rival_core::{Time, Value};
use serde::{Deserialize, Serialize};

use crate::problem::ViolationReply;

/// A document that was saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = SavedDocument))]
pub struct DocumentSavedReply {
    /// Its name, which is that of the workflow.
    pub name: String,
    /// Its version: 1, 2, 3 and so on.
    pub version: u64,
    /// What `If-Match` takes.
    pub etag: String,
    /// What could not be proven of it, or is probably not meant.
    pub warnings: Vec<ViolationReply>,
    /// The schemas of each step, by its name.
    #[serde(rename = "_schemas")]
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, Object>))]
    pub schemas: BTreeMap<String, serde_json::Value>,
    /// What new runs of this name come from instead: a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub shadowed_by: Option<String>,
}

/// A document in a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DocumentSummary {
    /// Its name, which is that of the workflow.
    pub name: String,
    /// Its newest version.
    pub version: u64,
    /// What it is for.
    pub description: Option<String>,
    /// When it was saved.
    pub updated_at: Time,
    /// Who saved it.
    pub updated_by: Option<String>,
    /// How many errors it has now.
    pub problems: usize,
    /// Whether it no longer fits what it refers to, as a tool or a workflow that has changed; new runs have its plan as it was
    /// saved.
    pub stale: bool,
    /// What new runs of this name come from instead: a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub shadowed_by: Option<String>,
}

/// Documents, by name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DocumentList))]
pub struct DocumentListReply<D = DocumentSummary> {
    #[allow(missing_docs, reason = "a doc would be in the OpenAPI document, and the name says it")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<DocumentSummary>))]
    pub documents: Vec<D>,
    /// What `after` takes for the next page; `null` at the end.
    pub next: Option<String>,
}

/// A version of a document.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = WorkflowDocument))]
pub struct DocumentReply {
    /// Its name, which is that of the workflow.
    pub name: String,
    /// The version.
    pub version: u64,
    /// The document.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub document: Value,
    /// The document as it was written: places in problems are in this text.
    pub text: String,
    /// The schemas of each step when it was saved, by its name.
    #[serde(rename = "_schemas")]
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, Object>))]
    pub schemas: BTreeMap<String, serde_json::Value>,
    /// What could not be proven of it when it was saved, or is probably not meant.
    pub warnings: Vec<ViolationReply>,
    /// What is wrong with it now, of the newest version.
    pub errors: Vec<ViolationReply>,
    /// Whether it no longer fits what it refers to; new runs have its plan as it was saved.
    pub stale: bool,
    /// When it was saved.
    pub updated_at: Time,
    /// Who saved it.
    pub updated_by: Option<String>,
    /// What new runs of this name come from instead: a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub shadowed_by: Option<String>,
}

/// A version of a document in a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DocumentVersion {
    /// The version.
    pub version: u64,
    /// When it was saved, or the document was deleted.
    pub at: Time,
    /// Who did it.
    pub by: Option<String>,
    /// Whether the document was deleted then.
    pub deleted: bool,
}

/// Versions of a document, the newest first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DocumentVersionList))]
pub struct DocumentVersionsReply {
    #[allow(missing_docs, reason = "a doc would be in the OpenAPI document, and the name says it")]
    pub versions: Vec<DocumentVersion>,
    /// What `before` takes for the next page; `null` at the end.
    pub next: Option<u64>,
}

/// Whether a text is a document that can be saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = DocumentCheck))]
pub struct DocumentCheckReply {
    #[allow(missing_docs, reason = "a doc would be in the OpenAPI document, and the name says it")]
    pub valid: bool,
    /// Everything that is wrong, in the order of the text.
    pub errors: Vec<ViolationReply>,
    /// What could not be proven, or is probably not meant.
    pub warnings: Vec<ViolationReply>,
    /// How many more errors and warnings there are.
    #[serde(default)]
    pub left_out: usize,
    /// The schemas of each step, by its name, if nothing is wrong.
    #[serde(rename = "_schemas", default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false, value_type = Option<BTreeMap<String, Object>>))]
    pub schemas: Option<BTreeMap<String, serde_json::Value>>,
}
