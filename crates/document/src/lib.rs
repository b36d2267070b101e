//! Workflows as JSON documents: from text to a checked document, without any I/O.
//!
//! ```
//! use rival_document::{CheckContext, TypescriptTransforms, check_document};
//! # use rival_document::{ToolCatalog, ToolLookup, WorkflowCatalog, WorkflowLookup};
//! # struct Nothing;
//! # impl ToolCatalog for Nothing {
//! #     fn tool(&self, _: &str, _: &str) -> ToolLookup { ToolLookup::UnknownConnection { known: vec![] } }
//! # }
//! # impl WorkflowCatalog for Nothing {
//! #     fn workflow(&self, _: &str) -> WorkflowLookup { WorkflowLookup::Unknown { known: vec![] } }
//! # }
//! # let (tools, workflows) = (Nothing, Nothing);
//! let text = r#"{
//!   "name": "greet",
//!   "inputSchema": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] },
//!   "steps": [[{
//!     "name": "greeting",
//!     "transform": "interface Input { name: number }\ninterface Output { text: string }\nexport default (input: Input): Output => ({ text: '' })",
//!     "input": { "name": "@input.name" }
//!   }]]
//! }"#;
//! let check = check_document(text, CheckContext { tools: &tools, transforms: &TypescriptTransforms, workflows: &workflows });
//! assert_eq!(check.errors[0].to_string(), "7:25: step `greeting`: expected `number`, but `@input.name` is `string`");
//! ```
//!
//! **Everything at once.** Each stage works on what the earlier ones left whole: the shape, then names and refs, then types. What is
//! wrong is reported once, with its place; what cannot be proven is a warning that says why.
//!
//! **Types.** The schema at the end of each ref must be assignable to the schema that it feeds (`rival_schema::assignable`). What
//! may be absent is an error where a value is required, left out of an optional field, and the condition of a trigger. A
//! path that a schema does not declare is an error, too, although the value may have it: a transform that takes the whole can
//! look for it.
//!
//! **Refs become data.** A [`CheckedDocument`] holds templates, in which `{"$": ["fetch", "users", 0]}` stands for a value, so what it means
//! does not depend on the grammar of refs.
//!
//! All work is bounded: by the size and depth of a document, its steps, and a sum of work for all comparisons of types.

mod built;
mod catalog;
mod check;
mod checked;
mod compile;
mod decode;
mod document_schema;
mod draft;
mod fields;
mod flow;
mod json;
mod known_type;
mod place;
mod problem;
mod read_json;
mod refs;
mod scope;
mod step_schemas;
mod template;
mod triggers;
mod written_triggers;

pub use catalog::{
    CheckContext, ToolCatalog, ToolLookup, ToolSchemas, TransformProblem, TransformReader, TransformSchemas,
    TypescriptTransforms, WorkflowCatalog, WorkflowLookup,
};
pub use check::check_document;
pub use checked::{
    CheckedDocument, CheckedForEach, CheckedStep, CheckedTrigger, DocumentCheck, StepAction, StepSchemas,
};
pub use compile::{TOOL_BUILTIN, TRANSFORM_BUILTIN};
pub use document_schema::document_schema;
pub use draft::RetrySettings;
pub use json::{JsonNode, ObjectMember, PlacedJson, PlacedText};
pub use place::SourcePlace;
pub use problem::{DocumentProblem, ProblemCode};
pub use read_json::{DOCUMENT_BYTES_MAX, DOCUMENT_DEPTH_MAX, JsonError, JsonFault};
pub use refs::{DocumentRef, RefError, RefText, TextPiece};
pub use rival_schema::{PathSegment, path_text};
pub use written_triggers::{TriggersCheck, WrittenTrigger, check_written_triggers};
