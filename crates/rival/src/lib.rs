//! Durable workflows as plain functions.
//!
//! A step is an `async fn` whose name is its id and whose arguments say what it needs. A workflow is a list of
//! steps. Rival runs them, records what they return, and goes on after a crash where it was.
//!
//! ```
//! use std::time::Duration;
//!
//! use rival::prelude::*;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Order { id: u32 }
//! #[derive(Serialize, Deserialize)]
//! struct Tree { species: String }
//! #[derive(Serialize, Deserialize)]
//! struct Chopped { logs: u32 }
//!
//! #[step]
//! async fn find_tree(Input(order): Input<Order>, log: Log) -> Result<Tree, StepError> {
//!     log.info((), format_args!("looking for a tree for order {}", order.id));
//!     Ok(Tree { species: "oak".into() })
//! }
//!
//! #[step]
//! async fn chop_tree(tree: Output<find_tree>, state: State) -> Result<Chopped, StepError> {
//!     state.describe(format!("chopped an {}", tree.species));
//!     Ok(Chopped { logs: 12 })
//! }
//!
//! # fn main() -> Result<(), rival::BuildErrors> {
//! let trees: Workflow<Order, Chopped> = Workflow::new("treeProcessing")
//!     .input::<Order>()
//!     .step(find_tree)
//!     .step(chop_tree.timeout(Duration::from_secs(60)).retry(3))
//!     .build()?;
//! # assert_eq!(trees.edges(), [("find_tree".to_owned(), "chop_tree".to_owned())]);
//! # Ok(())
//! # }
//! ```
//!
//! `tree: Output<find_tree>` has the type that `find_tree` returns: a wrong use does not compile. That `find_tree`
//! comes before `chop_tree`, and that the workflow's input is an `Order`, is checked by `build()`, which reports
//! everything that is wrong at once. Nothing of this is left to the run.
//!
//! Then an engine runs it, and goes on with it after a restart:
//!
//! ```
//! # use rival::prelude::*;
//! # #[step]
//! # async fn count() -> Result<u32, StepError> { Ok(12) }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let trees = Workflow::new("trees").input::<u32>().step(count).build()?;
//! # let order = 7;
//! let engine = Engine::builder().workflow(&trees).build().await?; // in memory; `.store(..)` for a file
//! let run = engine.run(&trees, order).await?; // durable from here on
//! let output = run.output().await?;
//! # assert_eq!(output, 12);
//! # Ok(())
//! # }
//! ```
//!
//! A step stays a function. In a unit test, call it: `chop_tree(Output::new(tree), State::test()).await`.
//!
//! # What a step can ask for
//!
//! | argument | what it is |
//! | --- | --- |
//! | [`Input<T>`] | the workflow's input |
//! | [`Output<step>`](Output), `Option<Output<step>>` | what an earlier step returned |
//! | [`State`] | its own state: recorded, shown to people, read by later steps |
//! | [`Log`] | its log |
//! | [`Res<T>`] | something shared that was provided to the engine |
//! | [`Steps`], [`LastStep`] | earlier steps by name |
//! | [`Run`] | run id, attempt, idempotency key |
//! | [`Runs`] | other runs: started, signalled, looked at |
//! | [`Cancellation`] | tells it that it should end |
//! | [`Durable`] | children, signals, sleeps and things done once |
//! | [`Item<T>`](Item), [`Items<T>`](Items), [`Iteration`] | in a forEach: the item, all items, the index |
//! | [`LastIteration<T>`](LastIteration), [`Iteration`] | in a loop: what the iteration before gave, the index |
//! | [`Joined`] | in the `finally` of a parallel block: what the branches gave |
//! | [`Undo<T>`](Undo) | in a compensation: the step that it undoes |
//! | [`Failure`] | in error handlers: what went wrong |
//!
//! Implement [`FromStep`] for arguments of your own.
//!
//! # What a step returns
//!
//! `Result<T, E>`, where `T` can be written and read by serde and `E` is any error. [`StepError`] says what should
//! happen next: stop, go on, try again. An `async fn` runs on the engine's threads and must not block them; a plain
//! `fn` may block, it is given a thread of its own. A panic is a failure of the step.
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `sqlite` (default) | [`SqliteStore`], with SQLite itself |
//! | `conformance` | `rival::store::conformance`: the tests that every [`Store`] passes |
//! | `typescript` | `rival::script`: workflows as TypeScript files |
//! | `anyhow` (default) | `?` from [`StepError`] to `anyhow::Error` |
//! | `http` (default) | [`http_step`] and [`http_by`], with a TLS stack |

mod after;
mod batch;
mod block;
mod branch;
mod build;
mod config;
mod data;
mod delay;
mod each;
mod error;
mod extract;
mod function;
mod handle;
#[cfg(feature = "http")]
mod http;
mod nested;
mod parallel;
pub mod prelude;
mod repeat;
mod returns;
mod signal;
mod step;
mod trigger;
mod workflow;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub mod testing;

pub use after::Dependencies;
pub use batch::IntoSteps;
pub use block::{Block, BlockBuilder, Inner};
pub use branch::{BranchBuilder, CaseBuilder, Cases, ThenBuilder};
pub use config::StepConfig;
pub use data::{Data, InputData};
pub use delay::{Delay, DelayLength, Moment, delay_by, delay_step, delay_until};
pub use each::{EachBuilder, EachWithBody, ItemList};
pub use error::{BuildError, BuildErrors};
pub use extract::{
    Asks, BranchFailure, Call, Cancellation, ChildFailure, Durable, Failure, FromStep, Input, Item, Items,
    Iteration, Joined, LastIteration, LastStep, Map, MapEach, Output, Res, Run, Runs, SignalWait, State,
    StepRecord, Steps, Undo,
};
pub use handle::StepHandle;
#[cfg(feature = "http")]
pub use http::{http_by, http_step};
pub use nested::{NestedWorkflow, WorkflowNode};
pub use parallel::ParallelBuilder;
pub use repeat::{LoopBuilder, LoopWithBody, RepeatedLoop};
pub use returns::{IntoStepError, StepResult, StepReturn};
pub use rival_core::event;
pub use rival_core::failure;
pub use rival_core::plan;
pub use rival_core::plan::{BackoffKind, Graph, GraphEdge, GraphNode, Join, OnTimeout, Plan, PlanHash};
pub use rival_core::{
    Behavior, Event, FailureOrigin, FailureRecord, NodeStatus, Path, RunId, RunState, RunStatus, Seq,
    StepError, Time, TraceParent, Value,
};
pub use rival_engine::{
    Archive, ArchivedLog, ArchivedPlan, ArchivedRun, CallEnd, Called, CancellationToken, ChildView, Clock,
    ClockStatus, ClockStep, Committed, Definition, Engine, EngineBuilder, EngineError, FailedAt, FailedStep,
    FailureContext, ForkRequest, HttpExchange, ImportError, Imported, Log, Observer, OperationView,
    RegisterError, RunError, RunHandle, RunOutcome, RunRequest, RunTarget, RunView, SentRequest,
    ServedRequest, SignalRequest, StartError, StepFailure, StepMetrics, StepOutcome, SteppedClock,
    TriggerStatus, TriggerView, TriggersView, UndoOutcome, Violation, VirtualClock, WorkflowInfo,
    WorkflowState,
};
#[cfg(feature = "http")]
pub use rival_http::{Http, HttpResponse, OutgoingPolicy};
pub use rival_macros::step;
#[cfg(feature = "typescript")]
pub use rival_script as script;
#[cfg(feature = "sqlite")]
pub use rival_sqlite::SqliteStore;
/// What a store of your own needs: the trait [`Store`], what it is given and gives, `async_trait`, and with the feature
/// `conformance` the suite that every store passes.
pub use rival_store as store;
pub use rival_store::{
    LogFilter, LogLevel, LogLine, MemoryStore, Page, RunFilter, RunRow, Store, StoreError,
};
pub use signal::{Signal, signal};
pub use step::{IntoStep, StepFn, TypedStep};
pub use trigger::{Trigger, TriggerTarget, TriggerValue};
pub use workflow::{Head, Workflow, WorkflowBuilder};

/// The code in the guide, on the page about tests and in the README is compiled and run with the code in these docs.
#[cfg(all(doctest, feature = "http", feature = "sqlite"))]
mod pages {
    #[doc = include_str!("../../../docs/guide.md")]
    mod guide {}
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[doc = include_str!("../../../docs/testing.md")]
    mod testing {}
}
