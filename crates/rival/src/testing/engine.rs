//! An engine on a virtual clock.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use rival_engine::testing::{PlannedSignals, TimeDriver};
use rival_engine::{Engine, EngineBuilder, EngineError, UserFunction, encode};
use rival_store::GivenStore;
use serde::Serialize;

use super::mock::{Mock, OnceMocks};
use crate::{Clock, Definition, RunError, RunId, RunOutcome, RunStatus, Time, VirtualClock};

/// The real engine on a clock that moves only when told to, or when a test waits.
///
/// It is an [`Engine`]: everything that one can do, it can. Only waiting differs: [`TestEngine::finish`] jumps from
/// one moment that matters to the next, so that a workflow that sleeps for a week ends at once.
#[derive(Clone, Debug)]
pub struct TestEngine {
    engine: Engine,
    clock: VirtualClock,
    signals: Arc<PlannedSignals>,
}

/// Puts a [`TestEngine`] together.
#[derive(Debug, Default)]
pub struct TestEngineBuilder {
    engine: EngineBuilder,
    workflows: Vec<Definition>,
    mocks: Vec<(String, Mock)>,
    workflow_mocks: Vec<(String, Mock)>,
    once_mocks: OnceMocks,
    clock: VirtualClock,
}

impl TestEngineBuilder {
    /// A workflow to register.
    #[must_use]
    pub fn workflow(mut self, workflow: impl Into<Definition>) -> Self {
        self.workflows.push(workflow.into());
        self
    }

    /// Replaces a function of every workflow, by its name.
    #[must_use]
    pub fn mock(mut self, function: impl Into<String>, mock: &Mock) -> Self {
        self.mocks.push((function.into(), mock.clone()));
        self
    }

    /// Replaces a workflow that steps start as a child, by its name; it need not be registered.
    #[must_use]
    pub fn mock_workflow(mut self, workflow: impl Into<String>, mock: &Mock) -> Self {
        self.workflow_mocks.push((workflow.into(), mock.clone()));
        self
    }

    /// Replaces what steps do with `durable.once`, by its name.
    #[must_use]
    pub fn mock_once(mut self, name: impl Into<String>, mock: &Mock) -> Self {
        self.once_mocks.0.insert(name.into(), mock.clone());
        self
    }

    /// Something that steps ask for with `Res<T>`: a `T`, or an `Arc<T>`.
    #[must_use]
    pub fn provide<T: Send + Sync + 'static>(mut self, resource: T) -> Self {
        self.engine = self.engine.provide(resource);
        self
    }

    /// Another store than the memory store; one in an `Arc` outlives the engine, as after a crash.
    #[must_use]
    pub fn store(mut self, store: impl Into<GivenStore>) -> Self {
        self.engine = self.engine.store(store);
        self
    }

    /// Another clock, for an engine that follows another one.
    #[must_use]
    pub fn clock(mut self, clock: VirtualClock) -> Self {
        self.clock = clock;
        self
    }

    /// Changes any other setting of the engine.
    #[must_use]
    pub fn configure(mut self, change: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Self {
        self.engine = change(self.engine);
        self
    }

    /// Starts the engine.
    ///
    /// # Panics
    /// If a mock replaces nothing: with a typing error in its name the real function would be called.
    pub async fn build(self) -> Result<TestEngine, EngineError> {
        for (name, _) in &self.mocks {
            let known: Vec<&str> = self
                .workflows
                .iter()
                .flat_map(|workflow| workflow.functions.keys())
                .map(String::as_str)
                .collect();
            assert!(
                known.contains(&name.as_str()),
                "no function is called `{name}`; there are: {}",
                known.join(", ")
            );
        }
        let builder = self.engine.clock(Clock::Virtual(self.clock.clone()));
        let mut builder =
            if self.once_mocks.0.is_empty() { builder } else { builder.provide(self.once_mocks) };
        let is_mocked = |workflow: &Definition| {
            self.workflow_mocks.iter().any(|(name, _)| *name == workflow.plan.workflow)
        };
        for mut workflow in self.workflows.into_iter().filter(|workflow| !is_mocked(workflow)) {
            for (name, mock) in &self.mocks {
                if let Some(function) = workflow.functions.get_mut(name) {
                    let mock: Arc<dyn UserFunction> = Arc::new(mock.clone());
                    *function = mock;
                }
            }
            builder = builder.workflow(workflow);
        }
        for (name, mock) in &self.workflow_mocks {
            builder = builder.workflow(mock.workflow(name));
        }
        let signals = Arc::default();
        Ok(TestEngine { engine: builder.build().await?, clock: self.clock, signals })
    }
}

impl TestEngine {
    /// Puts one together.
    pub fn builder() -> TestEngineBuilder {
        let builder = TestEngineBuilder::default();
        // Tests ask servers that they have started themselves.
        #[cfg(feature = "http")]
        let builder = builder.provide(rival_http::OutgoingPolicy::public().allow_loopback());
        builder
    }

    /// The engine's time.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    fn driver(&self) -> TimeDriver<'_> {
        TimeDriver { engine: &self.engine, clock: &self.clock, signals: &self.signals }
    }

    /// Lets time pass: everything that falls due is done, in order, before this returns.
    pub async fn advance(&self, by: Duration) -> Result<(), RunError> {
        self.driver().advance_to(self.now() + by).await
    }

    /// Waits until nothing happens any more without time passing.
    pub async fn come_to_rest(&self) -> Result<(), RunError> {
        self.driver().come_to_rest().await
    }

    /// Sends a run a signal when so much time has passed, unless the run has ended by then. Time passes in
    /// [`finish`](Self::finish), [`advance`](Self::advance) and [`until_waiting_for`](Self::until_waiting_for).
    ///
    /// # Panics
    /// If the payload cannot be written as JSON.
    #[allow(clippy::needless_pass_by_value, reason = "tests write the payload in place")]
    pub fn signal_after(
        &self,
        time: Duration,
        run: &RunId,
        name: impl Into<String>,
        payload: impl Serialize,
    ) {
        let payload = encode(&payload).expect("a signal's payload can be written as JSON");
        self.signals.add(self.now() + time, run, name, payload);
    }

    /// Lets time pass until a run waits for a signal.
    ///
    /// # Panics
    /// If it never does; the message says what it does instead.
    pub async fn until_waiting_for(&self, run: &RunId, signal: &str) -> Result<(), RunError> {
        let waits = self.driver().until_waiting_for(run, signal).await?;
        waits.unwrap_or_else(|does| panic!("the run never waits for the signal `{signal}`: {does}"));
        Ok(())
    }

    /// Lets time pass until the run has ended, and gives its outcome.
    ///
    /// # Panics
    /// If the run cannot end by time alone, for example because it is paused; the message says what it waits for.
    pub async fn finish(&self, run: &RunId) -> Result<RunOutcome, RunError> {
        let finished = self.driver().finish(run).await?;
        Ok(finished.unwrap_or_else(|waits| panic!("{waits}, and no amount of time will change that")))
    }

    /// Where a run stands.
    pub async fn status(&self, run: &RunId) -> Result<RunStatus, RunError> {
        Ok(self.engine.handle(run.clone()).await?.status())
    }
}

impl Deref for TestEngine {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}
