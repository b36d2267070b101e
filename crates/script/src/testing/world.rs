//! All that a test has set going, on one clock: the hosts, and an engine for each run.
//!
//! Time stands still while anything is at work, and then goes to the next moment that matters: to an engine, to a timer of a
//! script, or to the test. At one moment, engines come first, then the test's signals, then timers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::select_all;
use rival_core::view::RunOutcome;
use rival_core::{RunStatus, Time};
use rival_engine::{Clock, RunError, VirtualClock, testing};
use rival_script_host::frame::VirtualTime;

use super::start::TestRun;
use crate::pool::HostPool;

/// What is at work for so long in real time is given up, if nothing is due that could end it.
pub(super) const WORK_LIMIT: Duration = Duration::from_secs(10);

/// What is due sooner than this waits so long in real time for what is at work: machines are slow now and then.
const WORK_LEAST: Duration = Duration::from_millis(500);

/// How what is at work came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorldRest {
    /// Nothing happens until time passes.
    Rests,
    /// Something has been at work, in real time, for as long as it is to the next moment that is due.
    Overdue(Time),
    /// Something has been at work for long, and nothing is due.
    Endless,
}

/// The world of one test.
pub(super) struct TestWorld {
    pool: Arc<HostPool>,
    pub(super) clock: VirtualClock,
    pub(super) runs: BTreeMap<u32, TestRun>,
    /// When what is at work began.
    at_work_since: Instant,
}

impl TestWorld {
    /// Begins at the machine's time.
    pub(super) fn new(pool: &Arc<HostPool>) -> Self {
        let clock = VirtualClock::at(Clock::System.now());
        let world =
            Self { pool: Arc::clone(pool), clock, runs: BTreeMap::new(), at_work_since: Instant::now() };
        world.tell_hosts(world.clock.now());
        world
    }

    /// From here on, what is at work has its full time: the world has rested, or the test was given what it asked for.
    pub(super) fn begin_work(&mut self) {
        self.at_work_since = Instant::now();
    }

    /// Tells hosts the time, and until when their timers fire.
    fn tell_hosts(&self, timers_until: Time) {
        let time = VirtualTime { now_ms: self.clock.now().0, timers_until_ms: timers_until.0 };
        self.pool.set_time(time);
    }

    /// Waits until nothing is at work any more.
    pub(super) async fn come_to_rest(&self) -> Result<WorldRest, RunError> {
        loop {
            // Made before the look, so that a change right after it is not missed.
            let stirred = self.runs.values().map(|run| testing::stirred(&run.engine).boxed());
            let news: Vec<_> = stirred.chain([self.pool.rest_changed().boxed()]).collect();
            if self.is_at_rest() {
                return Ok(WorldRest::Rests);
            }
            let due = self.next_due().await?;
            let limit = due
                .map_or(WORK_LIMIT, |due| due.duration_since(self.clock.now()).clamp(WORK_LEAST, WORK_LIMIT));
            let left = limit.saturating_sub(self.at_work_since.elapsed());
            if tokio::time::timeout(left, select_all(news)).await.is_err() {
                return Ok(due.map_or(WorldRest::Endless, WorldRest::Overdue));
            }
        }
    }

    /// Whether engines and hosts have nothing to do. Nothing can have begun between the looks if hosts were sent nothing.
    fn is_at_rest(&self) -> bool {
        let Some(before) = self.pool.rest_mark() else { return false };
        let engines_rest = self.runs.values().all(|run| testing::is_at_rest_but_elsewhere(&run.engine));
        engines_rest && self.pool.rest_mark() == Some(before)
    }

    /// When something is due in an engine.
    async fn next_due(&self) -> Result<Option<Time>, RunError> {
        let mut next = None;
        for run in self.runs.values() {
            next = [next, run.engine.next_due().await?].into_iter().flatten().min();
        }
        Ok(next)
    }

    /// The next moment that matters to anything but the test itself.
    pub(super) async fn next_moment(&self) -> Result<Option<Time>, RunError> {
        let signals = self.runs.values().filter_map(|run| run.signals.next_moment()).min();
        let timer = self.pool.next_timer_ms().map(Time);
        Ok([self.next_due().await?, signals, timer].into_iter().flatten().min())
    }

    /// Does what the present moment still brings after engines have done what was due: sends signals, then lets timers fire.
    /// Says whether there was anything.
    pub(super) async fn do_rest_of_moment(&self) -> Result<bool, RunError> {
        let mut is_any = false;
        for run in self.runs.values() {
            is_any |= run.signals.send_due(&run.engine).await?;
        }
        let now = self.clock.now();
        if !is_any && self.pool.next_timer_ms().is_some_and(|due| due <= now.0) {
            self.tell_hosts(now);
            is_any = true;
        }
        Ok(is_any)
    }

    /// Moves time. Hosts are told first: what engines call at this moment finds it there.
    pub(super) async fn move_to(&mut self, to: Time) -> Result<(), RunError> {
        let before = to.minus_ms(1).max(self.clock.now());
        let time = VirtualTime { now_ms: to.0, timers_until_ms: before.0 };
        self.pool.set_time(time);
        self.clock.set(to);
        for run in self.runs.values() {
            run.engine.tick().await?;
        }
        self.begin_work();
        Ok(())
    }

    /// How the runs ended that did not complete.
    pub(super) async fn failed_runs(&self) -> Vec<RunOutcome> {
        let mut failed = Vec::new();
        for run in self.runs.values() {
            let Ok(summary) = run.engine.summary(&run.id).await else { continue };
            if !summary.status.is_terminal() || summary.status == RunStatus::Completed {
                continue;
            }
            // The test has failed for a reason of its own: what cannot be read of its runs is left out.
            failed.extend(run.engine.wait(&run.id).await.ok());
        }
        failed
    }

    /// What the runs do that have not ended.
    pub(super) async fn explain(&self) -> String {
        let mut told = Vec::new();
        for run in self.runs.values() {
            match run.engine.summary(&run.id).await {
                Ok(summary) if summary.status.is_terminal() => {}
                _ => told.extend(run.explain().await.ok()),
            }
        }
        told.join("; ")
    }

    /// Ends all that is under way.
    pub(super) async fn end(self) {
        for run in self.runs.into_values() {
            run.engine.shutdown(Duration::ZERO).await;
        }
    }
}
