//! The pure core of Rival.
//!
//! Two functions and data: [`RunState::apply`] folds events into a state, [`machine::decide`] decides which events
//! and effects an input leads to. No clock, no I/O, no randomness, no threads: the same machine runs in
//! the engine, under a virtual clock in tests, and in a simulator.

pub mod bound;
mod carried;
pub mod durable;
pub mod event;
pub mod failure;
pub mod fork;
mod ids;
pub mod joined;
mod level;
pub mod machine;
mod path;
pub mod plan;
pub mod repeated;
pub mod state;
mod status;
pub mod text;
mod trace;
mod value;
pub mod verify;
pub mod view;

pub use event::Event;
pub use failure::{Behavior, FailureOrigin, FailureRecord, SourceLine, StepError};
pub use ids::{RunId, Seq, Time};
pub use level::{LogLevel, UnknownLevel};
pub use path::Path;
pub use plan::{IndexedPlan, Plan, PlanHash};
pub use state::RunState;
pub use status::{NodeStatus, RunStatus, UndoStatus, UnknownStatus};
pub use trace::TraceParent;
pub use value::{Segment, VALUE_DEPTH_MAX, Value, nests_deeper};
