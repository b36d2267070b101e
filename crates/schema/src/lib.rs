//! JSON Schemas for Rival, made canonical: any draft, in the meaning of 2020-12.

mod draft;
mod kinds;
mod loops;
mod node;
mod number;
mod path;
mod read;
mod read_nested;
mod refs;
mod schema;
mod text;

pub use path::{PathSegment, path_text};
pub use schema::{JsonSchema, SchemaError};
