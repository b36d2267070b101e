//! The engine of Rival: it holds definitions, runs one actor per live run, calls functions, keeps timers,
//! and recovers after a crash.
//!
//! Rust users normally come through the `rival` crate, which adds typed steps and the builder.

mod actor;
mod ahead;
mod archive;
mod aside;
mod bounded;
mod call;
mod child;
mod clock;
mod companions;
mod context;
mod control;
mod definition;
mod durable;
mod engine;
mod error;
mod exact;
mod explain;
mod fork;
mod function;
mod gauge;
mod generations;
mod handle;
mod hub;
mod items;
mod job;
mod json;
mod keeper;
mod load;
mod log;
mod mail;
mod neighbours;
mod observer;
mod ops;
mod parked;
mod problem;
mod pulse;
mod registry;
mod report;
mod resources;
mod shared;
mod signal;
mod slot;
mod start;
mod talk;
pub mod testing;
mod undo;
mod values;
pub mod verify;
mod view;
mod wall;

pub use archive::{Archive, ArchivedLog, ArchivedPlan, ArchivedRun, IMPORTED, Imported};
pub use bounded::{ValueLimits, ValuePiece, is_omitted};
pub use clock::{Clock, SteppedClock, VirtualClock};
pub use context::{
    CallContext, FailedStep, FailureContext, IterationContext, RunInfo, StateCell, StepView, StepsReader,
    UndoContext, UndoOutcome, WorkflowState,
};
pub use definition::{CheckError, Definition, FormerPlan, InputCheck, ResourceNeed};
pub use durable::{BusyGuard, DurableHandle, MAP_CONCURRENCY};
pub use engine::{Engine, EngineBuilder, WAIT_DEFAULT, WeakEngine, WorkflowInfo};
pub use error::{EngineError, ImportError, RegisterError, RunError, StartError, Violation};
pub use exact::{InexactNumber, inexact_number};
pub use fork::ForkRequest;
pub use function::{CallError, FunctionNeeds, OutputNeed, UserFunction};
pub use handle::RunHandle;
pub use json::{EncodeError, encode, is_too_deep};
pub use log::Log;
pub use observer::{CallEnd, Called, Committed, Observer};
pub use ops::{ChildView, OperationView};
pub use problem::SourceProblem;
pub use resources::ResourceMap;
pub use rival_core as core;
pub use rival_core::event::ValueField;
pub use rival_store as store;
pub use signal::SignalRequest;
pub use start::{RunRequest, RunTarget, is_run_id};
pub use tokio_util::sync::CancellationToken;
pub use view::{FailedAt, RunOutcome, RunView, StepFailure, StepMetrics, StepOutcome};
pub use wall::{ClockStatus, ClockStep};
