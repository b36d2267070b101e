//! The example programs without their `main`: their workflows build, and their own tests run.

#[path = "../../examples/dynamic.rs"]
mod dynamic;
#[path = "../../examples/handlers.rs"]
mod handlers;
#[path = "../../examples/nested.rs"]
mod nested;
#[path = "../../examples/readme.rs"]
mod readme;
#[path = "../../examples/resources.rs"]
mod resources;
#[path = "../../examples/retries.rs"]
mod retries;
