//! The engine of Rival: it holds definitions, runs one actor per live run, calls functions, keeps timers,
//! and recovers after a crash.
//!
//! Rust users normally come through the `rival` crate, which adds typed steps and the builder.

mod api;
mod call;
mod durable;
mod exact;
mod inspect;
mod json;
mod registry;
mod run;
mod schedule;
pub mod template;
pub mod testing;

pub use api::engine::{Engine, EngineBuilder, WAIT_DEFAULT, WeakEngine, WorkflowInfo};
pub use api::error::{EngineError, ImportError, RegisterError, RunError, StartError, Violation};
pub use api::figures::{FunctionHosts, HostFigures};
pub use api::fork::ForkRequest;
pub use api::handle::RunHandle;
pub use api::observer::{CallEnd, Called, Committed, Observer, ServedRequest};
pub use api::records::Records;
pub use api::signal::SignalRequest;
pub use api::start::{RunRequest, RunTarget, is_run_id};
pub use call::context::{
    CallContext, FailedStep, FailureContext, IterationContext, RunInfo, StateCell, StepView, StepsReader,
    UndoContext, UndoOutcome, WorkflowState,
};
pub use call::exchange::{HttpExchange, SentRequest};
pub use call::function::{CallError, FunctionNeeds, OutputNeed, UserFunction};
pub use call::log::Log;
pub use call::panics::panicked;
pub use durable::handle::{BusyGuard, DurableHandle, MAP_CONCURRENCY};
pub use exact::{InexactNumber, inexact_number};
pub use inspect::archive::{Archive, ArchivedLog, ArchivedPlan, ArchivedRun, IMPORTED, Imported};
pub use inspect::bounded::{ValueLimits, ValuePiece, is_omitted};
pub use inspect::verify;
pub use json::{EncodeError, encode, is_too_deep};
pub use registry::builtins::{BindError, Builtins};
pub use registry::definition::{CheckError, Definition, FormerPlan, InputCheck, ResourceNeed};
pub use registry::origin::{WorkflowKind, WorkflowOrigin};
pub use registry::resources::{ResourceMap, ResourceType};
pub use registry::trigger_builtin::check_trigger;
pub use rival_core as core;
pub use rival_core::event::ValueField;
pub use rival_core::view::{
    ChildView, ClockStatus, ClockStep, FailedAt, OperationView, RunOutcome, RunView, SourceProblem,
    StepFailure, StepMetrics, StepOutcome, TriggerStatus, TriggerView, TriggersView,
};
pub use rival_store as store;
pub use schedule::clock::{Clock, SteppedClock, VirtualClock};
pub use tokio_util::sync::CancellationToken;
