//! JSON Schemas for Rival: made canonical, walked along paths, compared.
//!
//! ```
//! use rival_schema::{AssignVerdict, JsonSchema, PathSegment, SchemaLookup, assignable, schema_at};
//! use serde_json::json;
//!
//! let user = json!({"type": "object", "properties": {"age": {"type": "number"}, "name": {"type": "string"}}, "required": ["name"]});
//! let user = JsonSchema::read(&user)?;
//! assert_eq!(user.to_string(), "{ age?: number; name: string }");
//!
//! let SchemaLookup::Found { schema, optional } = schema_at(&user, &[PathSegment::Key("age".into())]) else { panic!() };
//! assert!(optional);
//!
//! let text = JsonSchema::read(&json!({"type": "string"}))?;
//! let AssignVerdict::No(mismatch) = assignable(&schema, &text) else { panic!() };
//! assert_eq!(mismatch.message, "the value is `number`, and `string` is expected");
//! # Ok::<(), rival_schema::SchemaError>(())
//! ```
//!
//! **Three answers.** Whether all values of one schema satisfy another cannot be decided for all schemas. [`assignable`] says
//! yes only with a proof in which each keyword of the target was looked at, and no only with a witness: an instance of the
//! source that the target refuses. Everything else is unknown, with the place and the reason.
//!
//! **Formats are notes**, as 2020-12 has them. The same format on both sides is fine; one that only the target has is
//! unknown.
//!
//! **What is not stated is not used against a schema.** `{}` allows numbers, but says nothing: into `{"type": "string"}` it is
//! unknown, not wrong. The same holds for properties that an open object does not declare.
//!
//! There is no I/O and no clock, and all work is bounded: a hostile schema ends as unknown.

mod assign;
mod compose;
mod draft;
mod flat;
mod judge;
mod kinds;
mod lookup;
mod loops;
mod nearest;
mod node;
mod number;
mod path;
mod pattern;
mod prove;
mod read;
mod read_nested;
mod refs;
mod schema;
mod text;
mod witness;
mod workspace;

pub use assign::{AssignVerdict, TypeMismatch, assignable, assignable_within};
pub use compose::{DeclaredProperty, ObjectField};
pub use lookup::{SchemaLookup, schema_at, schemas_inside};
pub use nearest::nearest;
pub use path::{PathSegment, path_text};
pub use schema::{JsonSchema, SchemaError};
