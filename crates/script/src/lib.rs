//! Workflows as TypeScript files.
//!
//! Files become definitions like any other: a plan, and functions that are called in *script hosts*, child processes
//! that can be killed. [`Scripts`] holds the hosts and knows the files; [`Sandbox`] runs transforms.

mod advice;
mod call;
mod check;
pub mod code;
mod context;
mod definition;
mod describe;
mod discover;
mod error;
mod files;
mod function;
mod host;
mod launch;
mod ops;
mod pool;
mod realm;
mod registry;
mod sandbox;
mod settings;
pub mod testing;
mod transforms;
mod triggers;
pub mod types;
mod variables;
mod wanted;
mod watch;

pub use error::ScriptsError;
pub use files::{Loaded, Scripts};
pub use launch::confinement;
pub use registry::RegisterFiles;
pub use rival_script_host::{AllowError, OutgoingPolicy, main_if_asked, was_asked as main_was_asked};
pub use rival_typescript::{Problem, Transform, transform};
pub use sandbox::{Sandbox, TransformError, TransformLimits};
pub use settings::{Hosting, ScriptSettings};
pub use transforms::TransformBuiltins;
pub use watch::{SourceWatcher, Watching};
