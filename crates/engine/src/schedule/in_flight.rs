//! Counts what an engine is busy with, so that a test can wait until it is not.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::Instant;

use crate::call::parked::{CallWatch, StuckPatience};
use crate::schedule::clock::Clock;

/// How often a test that waits looks whether all that is at work is stuck.
const LOOK: Duration = Duration::from_millis(20);

/// Work that has been handed out and not been dealt with: messages to actors, and calls at work.
#[derive(Default)]
pub(crate) struct InFlightCount {
    busy: AtomicI64,
    idle: Notify,
    /// The calls at work, if they are watched: on a virtual clock.
    calls: Mutex<Vec<Weak<CallWatch>>>,
    /// Whether they are; with a real clock nothing of this is counted.
    is_watched: bool,
    has_given_up: AtomicBool,
    /// Counts everything that happens.
    changes: AtomicU64,
    stirred: Notify,
}

impl InFlightCount {
    pub(crate) fn on(clock: &Clock) -> Self {
        Self { is_watched: matches!(clock, Clock::Virtual(_)), ..Self::default() }
    }

    pub(crate) fn add(&self) {
        self.changes();
        self.busy.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn remove(&self, n: usize) {
        let n = i64::try_from(n).unwrap_or(i64::MAX);
        self.changes();
        if n <= 0 {
            return;
        }
        let before = self.busy.fetch_sub(n, Ordering::AcqRel);
        self.tell();
        // Calls that are stuck are counted, and are nothing to wait for.
        if before <= n || (self.has_given_up.load(Ordering::Acquire) && self.is_idle()) {
            self.idle.notify_waiters();
        }
    }

    fn changes(&self) {
        if self.is_watched {
            self.changes.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Callers that wait for a change look again.
    pub(crate) fn tell(&self) {
        if self.is_watched {
            self.stirred.notify_waiters();
        }
    }

    /// Counts one more until it is dropped.
    pub(crate) fn busy(&self) -> InFlightGuard<'_> {
        self.add();
        InFlightGuard(self)
    }

    /// Waits until nothing is at work but calls that are stuck.
    pub(crate) async fn settled(&self) {
        loop {
            let idle = self.idle.notified();
            tokio::pin!(idle);
            // Registered before the look, so that a change right after it is not missed.
            idle.as_mut().enable();
            if self.is_idle() {
                return;
            }
            idle.await;
        }
    }

    fn is_idle(&self) -> bool {
        // In this order: a call that is woken between the two looks is seen as busy.
        let stuck = self.stuck();
        self.busy.load(Ordering::Acquire) <= stuck
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Weak<CallWatch>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stuck(&self) -> i64 {
        let calls = self.calls();
        let stuck = calls.iter().filter_map(Weak::upgrade).filter(|call| call.is_stuck()).count();
        i64::try_from(stuck).unwrap_or(i64::MAX)
    }

    /// Whether a call is stuck.
    pub(crate) fn has_stuck_calls(&self) -> bool {
        self.stuck() > 0
    }

    pub(crate) fn watch(&self, call: &Arc<CallWatch>) {
        let mut calls = self.calls();
        if calls.len() == calls.capacity() {
            calls.retain(|call| call.strong_count() > 0);
        }
        calls.push(Arc::downgrade(call));
    }

    /// A watched call was woken or ends.
    pub(crate) fn stirs(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.stirred.notify_waiters();
    }

    /// Comes when a watched call is woken, waits or ends, or other work is done. It counts from now on, not from when it is
    /// first polled.
    pub(crate) fn stirred(&self) -> Notified<'_> {
        self.stirred.notified()
    }

    /// Whether nothing is at work but calls that wait for something elsewhere.
    pub(crate) fn only_waits_elsewhere(&self) -> bool {
        let waiting = |call: &Arc<CallWatch>| call.is_stuck() || call.waits_elsewhere();
        let waiting = self.calls().iter().filter_map(Weak::upgrade).filter(waiting).count();
        self.busy.load(Ordering::Acquire) <= i64::try_from(waiting).unwrap_or(i64::MAX)
    }

    /// Finds calls that are stuck, for as long as it is polled.
    pub(crate) async fn find_stuck_calls(&self, patience: impl Fn() -> StuckPatience) {
        let mut last = (self.changes.load(Ordering::Acquire), Instant::now());
        loop {
            tokio::time::sleep(LOOK).await;
            let changes = self.changes.load(Ordering::Acquire);
            if changes != last.0 {
                last = (changes, Instant::now());
            } else if self.give_up(last.1.elapsed(), patience()) {
                self.idle.notify_waiters();
            }
        }
    }

    /// Takes the calls at work for stuck, if there is nothing else to wait for.
    fn give_up(&self, quiet: Duration, patience: StuckPatience) -> bool {
        let calls: Vec<Arc<CallWatch>> =
            self.calls().iter().filter_map(Weak::upgrade).filter(|call| call.is_counted()).collect();
        let all = i64::try_from(calls.len()).unwrap_or(i64::MAX) >= self.busy.load(Ordering::Acquire);
        let stand_still = all && calls.iter().all(|call| call.may_be_stuck(quiet, patience));
        if stand_still {
            self.has_given_up.store(true, Ordering::Release);
            calls.iter().for_each(|call| call.is_given_up());
        }
        stand_still
    }
}

/// Counts as one piece of work in flight until dropped.
pub(crate) struct InFlightGuard<'a>(&'a InFlightCount);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.remove(1);
    }
}
