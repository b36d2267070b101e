//! TypeScript for Rival: module graphs without types, what functions use, schemas of interfaces.
//!
//! [`ScriptProgram::load`] reads files and everything that they import, takes the types away and says what is wrong, with file,
//! line and advice. Nothing here runs a script, and nothing fails as a whole: a broken file has [`Problem`]s, the others
//! load.

mod bounds;
mod check;
mod compile;
mod module;
mod nearest;
mod node;
mod place;
mod problem;
mod program;
mod resolve;
mod roomy;
mod scan;
mod schema;
mod stack;
mod statics;
mod transform;
mod usage;

pub use bounds::ModuleBounds;
pub use module::{ModuleLink, SourceModule};
pub use nearest::nearest;
pub use node::NODE_MODULES;
pub use problem::Problem;
pub use program::ScriptProgram;
pub use schema::interface_schema;
pub use transform::{Transform, transform};
pub use usage::{ContextUsage, StepsUse, WantedStep, outer_names, usage};
