//! JSON Schemas of TypeScript types, from the syntax tree.
//!
//! ```text
//! declared.rs: names -> declarations      read.rs: a type, one layer deep      emit.rs: layer by layer, JSON
//! ```
//!
//! A type is read lazily, one layer at a time, so that types which contain themselves need no care until they are
//! written: those that are met again while they are being written go to `$defs`.

mod declared;
mod docs;
mod emit;
mod keys;
mod read;
mod shape;
mod types;

use std::path::Path;

use oxc::allocator::Allocator;
use serde_json::Value;

use crate::compile::{faults, parse, source_type};
use crate::place::{LineIndex, TextPosition};
use crate::problem::Problem;
use crate::roomy::roomy;

pub(crate) use declared::DeclaredTypes;
pub(crate) use emit::SchemaEmitter;

/// What the text is called in problems: it has no file.
pub(crate) const NAME: &str = "transform.ts";

/// The JSON Schema (2020-12) of an interface, type or enum in a text of TypeScript.
///
/// `undefined` does not exist in JSON: a property that may be `undefined` may be absent. Objects may have properties that
/// their type does not mention, as in TypeScript. All that has no meaning in JSON is a [`Problem`] with its place.
pub fn interface_schema(source: &str, name: &str) -> Result<Value, Vec<Problem>> {
    roomy(source, || read(source, name)).unwrap_or_else(|| Err(vec![too_much()]))
}

fn read(source: &str, name: &str) -> Result<Value, Vec<Problem>> {
    let (allocator, lines, path) = (Allocator::default(), LineIndex::new(source), Path::new(NAME));
    let (program, scoping) =
        parse(&allocator, source_type(path), source).map_err(|found| faults(path, &lines, &found))?;
    let declared = DeclaredTypes::of(&program, &scoping, source);
    SchemaEmitter::new(&declared, &lines, path).root(name)
}

/// The compiler panicked, or had no room.
pub(crate) fn too_much() -> Problem {
    let message = "the compiler cannot deal with this text".to_owned();
    nowhere(Path::new(NAME), message, "Write it more simply, and report this.".to_owned())
}

/// Where a declaration that is missing should be.
pub(crate) fn nowhere(path: &Path, message: String, advice: String) -> Problem {
    Problem::new(path, TextPosition::START, message).advise(advice)
}
