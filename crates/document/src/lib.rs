//! Workflows as JSON documents.

mod built;
mod catalog;
mod check;
mod checked;
mod decode;
mod document_schema;
mod draft;
mod fields;
mod flow;
mod json;
mod place;
mod problem;
mod read_json;
mod refs;
mod scope;
mod step_schemas;
mod template;
mod triggers;

pub use catalog::{
    CheckContext, ToolCatalog, ToolLookup, ToolSchemas, TransformProblem, TransformReader, TransformSchemas,
    TypescriptTransforms, WorkflowCatalog, WorkflowLookup,
};
pub use check::check_document;
pub use checked::{
    CheckedDocument, CheckedForEach, CheckedStep, CheckedTrigger, DocumentCheck, StepAction, StepSchemas,
};
pub use document_schema::document_schema;
pub use draft::RetrySettings;
pub use json::{JsonNode, ObjectMember, PlacedJson, PlacedText};
pub use place::SourcePlace;
pub use problem::{DocumentProblem, ProblemCode};
pub use read_json::{DOCUMENT_BYTES_MAX, DOCUMENT_DEPTH_MAX, JsonError, JsonFault};
pub use refs::{DocumentRef, RefError, RefText, TextPiece};
