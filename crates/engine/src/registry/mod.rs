//! Workflows that are registered, in all their generations, and what their functions share.

pub(crate) mod bound_plan;
pub(crate) mod builtins;
pub(crate) mod definition;
pub(crate) mod extensions;
pub(crate) mod generations;
pub(crate) mod origin;
pub(crate) mod own_builtins;
pub(crate) mod problem;
pub(crate) mod resources;
pub(crate) mod system;
pub(crate) mod trigger_builtin;
pub(crate) mod workflows;
