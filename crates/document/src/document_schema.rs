//! The shape of documents as a JSON Schema.

use serde_json::Value;

/// The JSON Schema (2020-12) of documents. It says everything of the shape that a JSON Schema can say; names, refs and types
/// are for [`check_document`](crate::check_document).
pub fn document_schema() -> Value {
    serde_json::from_str(include_str!("../document.schema.json")).expect("a test reads this very text")
}
