//! An engine on a virtual clock.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use rival_engine::{Engine, EngineBuilder, EngineError, UserFunction, testing};
use rival_store::Store;

use super::Mock;
use crate::{Clock, Definition, RunError, RunId, RunOutcome, RunStatus, Time, VirtualClock};

/// The real engine on a clock that moves only when told to, or when a test waits.
///
/// It is an [`Engine`]: everything that one can do, it can. Only waiting differs: [`TestEngine::finish`] jumps from
/// one moment that matters to the next, so that a workflow that sleeps for a week ends at once.
#[derive(Clone, Debug)]
pub struct TestEngine {
    engine: Engine,
    clock: VirtualClock,
}

/// Puts a [`TestEngine`] together.
#[derive(Debug, Default)]
pub struct TestEngineBuilder {
    engine: EngineBuilder,
    workflows: Vec<Definition>,
    mocks: Vec<(String, Mock)>,
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

    /// Something that steps ask for with `Res<T>`.
    #[must_use]
    pub fn provide<T: Send + Sync + 'static>(mut self, resource: T) -> Self {
        self.engine = self.engine.provide(resource);
        self
    }

    /// Another store than the memory store; a shared one outlives the engine, as after a crash.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.engine = self.engine.shared_store(store);
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
        let mut builder = self.engine.clock(Clock::Virtual(self.clock.clone()));
        for mut workflow in self.workflows {
            for (name, mock) in &self.mocks {
                if let Some(function) = workflow.functions.get_mut(name) {
                    let mock: Arc<dyn UserFunction> = Arc::new(mock.clone());
                    *function = mock;
                }
            }
            builder = builder.workflow(workflow);
        }
        Ok(TestEngine { engine: builder.build().await?, clock: self.clock })
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

    /// Lets time pass: everything that falls due is done, in order, before this returns.
    pub async fn advance(&self, by: Duration) -> Result<(), RunError> {
        let end = self.now().plus_ms(u64::try_from(by.as_millis()).unwrap_or(u64::MAX));
        self.come_to_rest().await?;
        while let Some(next) = self.engine.next_due().await?.filter(|next| *next <= end) {
            self.clock.set(next);
            self.come_to_rest().await?;
        }
        self.clock.set(end);
        self.come_to_rest().await
    }

    /// Waits until nothing happens any more without time passing.
    pub async fn come_to_rest(&self) -> Result<(), RunError> {
        testing::come_to_rest(&self.engine).await
    }

    /// Lets time pass until the run has ended, and gives its outcome.
    ///
    /// # Panics
    /// If the run cannot end by time alone, for example because it is paused; the message says what it waits for.
    pub async fn finish(&self, run: &RunId) -> Result<RunOutcome, RunError> {
        let finished = testing::finish(&self.engine, &self.clock, run).await?;
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
