//! The authoring API as its users see it.

mod build_errors;
mod calls;
mod identity;
mod nested;
mod plain_functions;
mod plans;
mod trees;
