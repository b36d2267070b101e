//! Virtual time: what a test kit needs to let time pass.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rival_core::view::RunOutcome;
use rival_core::{RunId, Time, Value};
use tokio::time::Instant;

use crate::api::engine::Engine;
use crate::api::error::RunError;
use crate::call::parked::StuckPatience;
use crate::run::load;
use crate::schedule::clock::VirtualClock;
use crate::schedule::scheduler;

/// How long a test waits, in real time, for a call that does not return and that no amount of time will end.
const RETURN_PATIENCE: Duration = Duration::from_secs(10);

/// Waits until nothing happens any more without time passing. A function that waits for something of its own, and was
/// not woken for a second of real time (20 where it works in another thread), is not waited for; neither is one that
/// was not woken for as long as it is to the next moment at which something is due.
pub async fn come_to_rest(engine: &Engine) -> Result<(), RunError> {
    engine.tick().await?;
    let shared = &engine.shared;
    let patience = || {
        let next = scheduler::next_moment(shared);
        StuckPatience::before(next.map(|at| at.duration_since(shared.clock.now())))
    };
    tokio::select! {
        () = engine.settled() => {}
        () = shared.in_flight.find_stuck_calls(patience) => {}
    }
    Ok(())
}

/// Whether nothing happens any more without time passing, if functions that work in other processes have nothing to do
/// there.
pub fn is_at_rest_but_elsewhere(engine: &Engine) -> bool {
    let shared = &engine.shared;
    let scans = shared.scheduler.scans();
    shared.in_flight.only_waits_elsewhere()
        && !scheduler::has_work(shared)
        && shared.scheduler.scans() == scans
}

/// Comes when work was done, or a function was woken or waits. It counts from now on, not from when it is first polled.
pub fn stirred(engine: &Engine) -> impl Future<Output = ()> {
    engine.shared.in_flight.stirred()
}

/// Whether a run waits for a signal.
pub async fn is_waiting_for(engine: &Engine, run: &RunId, signal: &str) -> Result<bool, RunError> {
    let row = engine.row(run).await?;
    let loaded = load::load_state(&*engine.shared.store.get()?, run, &row.plan).await;
    Ok(loaded.is_ok_and(|(state, _)| state.signals.is_awaited_by_name(signal)))
}

/// Signals that a test sends when their moment has come.
#[derive(Debug, Default)]
pub struct PlannedSignals(Mutex<Vec<PlannedSignal>>);

#[derive(Debug)]
struct PlannedSignal {
    at: Time,
    run: RunId,
    name: String,
    payload: Value,
}

impl PlannedSignals {
    /// Plans one.
    pub fn add(&self, at: Time, run: &RunId, name: impl Into<String>, payload: Value) {
        self.lock().push(PlannedSignal { at, run: run.clone(), name: name.into(), payload });
    }

    /// The moment of the first one.
    pub fn next_moment(&self) -> Option<Time> {
        self.lock().iter().map(|signal| signal.at).min()
    }

    /// Sends those whose moment has come, and says whether there were any. One to a run that has ended is dropped.
    pub async fn send_due(&self, engine: &Engine) -> Result<bool, RunError> {
        let now = engine.clock().now();
        let mut due: Vec<PlannedSignal> = self.lock().extract_if(.., |signal| signal.at <= now).collect();
        due.sort_by_key(|signal| signal.at);
        let is_any = !due.is_empty();
        for PlannedSignal { run, name, payload, .. } in due {
            match engine.signal(&run, name, payload).await {
                Ok(_) | Err(RunError::Finished { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(is_any)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PlannedSignal>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An engine whose time a test moves.
#[derive(Clone, Copy, Debug)]
pub struct TimeDriver<'a> {
    /// The engine.
    pub engine: &'a Engine,
    /// Its clock.
    pub clock: &'a VirtualClock,
    /// What the test sends meanwhile.
    pub signals: &'a PlannedSignals,
}

impl TimeDriver<'_> {
    /// Lets time pass until a moment: everything that falls due is done, in order.
    pub async fn advance_to(self, end: Time) -> Result<(), RunError> {
        self.come_to_rest().await?;
        while let Some(next) = self.next_moment().await?.filter(|next| *next <= end) {
            self.clock.set(next);
            self.come_to_rest().await?;
        }
        self.clock.set(end);
        self.come_to_rest().await
    }

    /// Lets time pass until a run has ended, from one moment that matters to the next. Gives in the end what came of it, or
    /// what the run waits for, if no amount of time will end it.
    pub async fn finish(self, run: &RunId) -> Result<Result<RunOutcome, String>, RunError> {
        self.finish_with(run, RETURN_PATIENCE).await
    }

    async fn finish_with(
        self,
        run: &RunId,
        patience: Duration,
    ) -> Result<Result<RunOutcome, String>, RunError> {
        if self.pass_until(run, None, patience).await? {
            return self.engine.wait(run).await.map(Ok);
        }
        self.engine.explain(run).await.map(Err)
    }

    /// Lets time pass until a run waits for a signal. Gives what the run does instead, if it never does.
    pub async fn until_waiting_for(self, run: &RunId, signal: &str) -> Result<Result<(), String>, RunError> {
        self.pass_until(run, Some(signal), RETURN_PATIENCE).await?;
        if is_waiting_for(self.engine, run, signal).await? {
            return Ok(Ok(()));
        }
        self.engine.explain(run).await.map(Err)
    }

    /// Lets time pass until a run has ended, or waits for a signal; gives false if no amount of time brings that about.
    async fn pass_until(
        self,
        run: &RunId,
        signal: Option<&str>,
        patience: Duration,
    ) -> Result<bool, RunError> {
        let in_flight = &self.engine.shared.in_flight;
        let mut stuck_since = None;
        loop {
            self.come_to_rest().await?;
            if self.has_ended_or_waits(run, signal).await? {
                return Ok(true);
            }
            stuck_since = in_flight.has_stuck_calls().then(|| stuck_since.unwrap_or_else(Instant::now));
            let left = stuck_since.map(|since| patience.saturating_sub(since.elapsed()));
            let stirred = in_flight.stirred();
            match (self.next_moment().await?, left) {
                (_, Some(Duration::ZERO)) => return Ok(false),
                (Some(next), _) => self.clock.set(next),
                // The function may still return, in real time.
                (None, Some(left)) => _ = tokio::time::timeout(left, stirred).await,
                (None, None) => return self.has_ended_or_waits(run, signal).await,
            }
        }
    }

    async fn has_ended_or_waits(self, run: &RunId, signal: Option<&str>) -> Result<bool, RunError> {
        if self.engine.summary(run).await?.status.is_terminal() {
            return Ok(true);
        }
        match signal {
            Some(signal) => is_waiting_for(self.engine, run, signal).await,
            None => Ok(false),
        }
    }

    /// Waits until nothing happens any more without time passing. Signals whose moment has come are sent.
    pub async fn come_to_rest(self) -> Result<(), RunError> {
        come_to_rest(self.engine).await?;
        while self.signals.send_due(self.engine).await? {
            come_to_rest(self.engine).await?;
        }
        Ok(())
    }

    async fn next_moment(self) -> Result<Option<Time>, RunError> {
        Ok([self.engine.next_due().await?, self.signals.next_moment()].into_iter().flatten().min())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::future::BoxFuture;

    use super::*;
    use crate::call::context::CallContext;
    use crate::call::function::{CallError, FunctionNeeds, UserFunction};
    use crate::registry::definition::Definition;
    use crate::schedule::clock::Clock;

    struct Never(FunctionNeeds);

    impl UserFunction for Never {
        fn needs(&self) -> &FunctionNeeds {
            &self.0
        }

        fn call(&self, _: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
            Box::pin(std::future::pending())
        }
    }

    #[tokio::test]
    async fn a_call_that_no_amount_of_time_ends_is_named() {
        let never = Arc::new(Never(FunctionNeeds::default()));
        let workflow = Definition::of_step("w", "never", never);
        let clock = VirtualClock::default();
        let builder = Engine::builder().clock(Clock::Virtual(clock.clone())).workflow(workflow);
        let engine = builder.build().await.unwrap();
        let run = engine.run("w", ()).await.unwrap();
        let signals = PlannedSignals::default();
        let driver = TimeDriver { engine: &engine, clock: &clock, signals: &signals };
        let told = driver.finish_with(run.id(), Duration::from_millis(1)).await.unwrap();
        assert!(told.unwrap_err().contains("`never`"));
    }
}
