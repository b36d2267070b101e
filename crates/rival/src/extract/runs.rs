//! Other runs, as a step starts them and sends them signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rival_core::{FailureRecord, RunId, StepError};
use rival_engine::{Engine, RunError, RunHandle, RunInfo, RunRequest, RunTarget, SignalRequest};
use serde::Serialize;

use super::{Call, FromStep};

/// Other runs: a step starts them, sends them signals, and looks at them.
///
/// A run that is started here is on its own. For one that the step waits for, and that is cancelled and undone with it, use
/// [`Durable::run`](crate::Durable::run).
///
/// A step that is called again starts the same runs and sends the same signals, and each of them is there once: they are named
/// after the step and their order in it. A step that starts them in no certain order names them itself, with `.id(..)`.
///
/// ```
/// use rival::prelude::*;
///
/// #[step]
/// async fn print(Input(page): Input<u32>) -> Result<u32, StepError> {
///     Ok(page * 2)
/// }
///
/// #[step]
/// async fn order(Input(customer): Input<String>, runs: Runs) -> Result<String, StepError> {
///     let printed = runs.start("printing", 7).await?;
///     runs.signal(customer, "ordered", printed.id()).await?;
///     Ok(printed.id().to_string())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let printing = Workflow::new("printing").input::<u32>().step(print).build()?;
/// let ordering = Workflow::new("ordering").input::<String>().step(order).build()?;
/// let customer = Workflow::new("customer").step(signal::<String>("ordered")).build()?;
/// let workflows = Engine::builder().workflow(&printing).workflow(&ordering).workflow(&customer);
/// let engine = workflows.build().await?;
///
/// let ada = engine.run(&customer, ()).id("ada").await?;
/// let id = engine.run(&ordering, "ada".to_owned()).await?.output().await?;
/// assert_eq!(ada.output().await?, id);
/// assert_eq!(engine.handle(id).await?.of(&printing)?.output().await?, 14);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Runs {
    engine: Engine,
    info: Arc<RunInfo>,
    /// How many the call has started and sent.
    started: Arc<AtomicU32>,
    sent: Arc<AtomicU32>,
}

impl Runs {
    pub(crate) fn new(engine: Engine, info: Arc<RunInfo>) -> Self {
        Self { engine, info, started: Arc::default(), sent: Arc::default() }
    }

    /// Starts a run: `runs.start(&workflow, input).await?`, or by name with any input; `.id(..)` and more before the `.await`,
    /// as with [`Engine::run`]. It returns as soon as the start is durable.
    pub fn start<I: Serialize, W: RunTarget<I>>(&self, workflow: W, input: I) -> RunRequest<W::Output> {
        let n = self.started.fetch_add(1, Ordering::Relaxed);
        self.engine.run(workflow, input).id(self.info.derived_id("run", n))
    }

    /// Sends a run a signal, as [`Engine::signal`] does.
    pub fn signal(
        &self,
        run: impl Into<RunId>,
        name: impl Into<String>,
        payload: impl Serialize,
    ) -> SignalRequest {
        let n = self.sent.fetch_add(1, Ordering::Relaxed);
        self.engine.signal(&run.into(), name, payload).id(self.info.derived_id("signal", n))
    }

    /// A run that exists, as [`Engine::handle`] gives it. To wait for it holds the step in memory, and its time runs.
    pub async fn handle(&self, run: impl Into<RunId>) -> Result<RunHandle, RunError> {
        self.engine.handle(run).await
    }
}

#[diagnostic::do_not_recommend]
impl FromStep for Runs {
    fn from_step(call: &Call) -> Result<Self, StepError> {
        let context = &call.context;
        let engine = context.engine().ok_or_else(|| {
            let message = format!("`{}` asks for Runs, and there is no run", call.step());
            FailureRecord::new("missing_runs", message).stop()
        })?;
        Ok(Self::new(engine, Arc::clone(&context.run)))
    }
}
