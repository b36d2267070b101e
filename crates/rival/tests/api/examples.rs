//! The example programs without their `main`: their workflows build, and their own tests run.

#[path = "../../examples-pending/dynamic.rs"]
mod dynamic;
#[path = "../../examples-pending/handlers.rs"]
mod handlers;
#[path = "../../examples-pending/nested.rs"]
mod nested;
#[path = "../../examples-pending/readme.rs"]
mod readme;
#[path = "../../examples-pending/resources.rs"]
mod resources;
#[path = "../../examples-pending/retries.rs"]
mod retries;
