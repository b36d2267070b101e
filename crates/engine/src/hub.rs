//! Who waits for a run, and who watches one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rival_core::{RunId, Seq};
use tokio::sync::{oneshot, watch};

use crate::view::RunOutcome;

/// What a waiter is told: the outcome, or that it can be read from the store.
pub(crate) type Ended = Option<Arc<RunOutcome>>;

#[derive(Debug, Default)]
pub(crate) struct Hub {
    waiters: Mutex<HashMap<RunId, Vec<oneshot::Sender<Ended>>>>,
    watchers: Mutex<HashMap<RunId, watch::Sender<Seq>>>,
    /// How many runs are watched: most have nobody watching, and a commit should not pay for the others.
    watched: AtomicUsize,
    closed: AtomicBool,
}

impl Hub {
    /// The engine has stopped: lets go of everybody, now and from now on, so that they know.
    pub(crate) fn close(&self) {
        let (mut waiters, mut watchers) = (lock(&self.waiters), lock(&self.watchers));
        self.closed.store(true, Ordering::Release);
        waiters.clear();
        watchers.clear();
        self.watched.store(0, Ordering::Release);
    }

    /// Asks to be told when a run ends.
    pub(crate) fn wait(&self, run: &RunId) -> oneshot::Receiver<Ended> {
        let (tell, told) = oneshot::channel();
        let mut waiters = lock(&self.waiters);
        if self.closed.load(Ordering::Acquire) {
            return told;
        }
        let of_run = waiters.entry(run.clone()).or_default();
        of_run.retain(|waiter| !waiter.is_closed());
        of_run.push(tell);
        told
    }

    /// Whether somebody waits for a run.
    pub(crate) fn is_awaited(&self, run: &RunId) -> bool {
        lock(&self.waiters).get(run).is_some_and(|waiters| waiters.iter().any(|waiter| !waiter.is_closed()))
    }

    /// Tells everybody who waits that a run has ended.
    pub(crate) fn ended(&self, run: &RunId, outcome: &Ended) {
        for waiter in lock(&self.waiters).remove(run).unwrap_or_default() {
            // A waiter that is gone needs no answer.
            let _ = waiter.send(outcome.clone());
        }
    }

    /// Forgets waiters that gave up, so that a run that never ends holds nothing.
    pub(crate) fn gave_up(&self, run: &RunId) {
        let mut waiters = lock(&self.waiters);
        if let Some(of_run) = waiters.get_mut(run) {
            of_run.retain(|waiter| !waiter.is_closed());
            if of_run.is_empty() {
                waiters.remove(run);
            }
        }
    }

    /// Follows the number of a run's last durable event.
    pub(crate) fn watch(&self, run: &RunId) -> watch::Receiver<Seq> {
        let mut watchers = lock(&self.watchers);
        if self.closed.load(Ordering::Acquire) {
            return watch::Sender::new(Seq::ZERO).subscribe();
        }
        let sender = watchers.entry(run.clone()).or_insert_with(|| watch::Sender::new(Seq::ZERO));
        let receiver = sender.subscribe();
        self.watched.store(watchers.len(), Ordering::Release);
        receiver
    }

    /// Says that a run's events are durable up to this one.
    pub(crate) fn durable(&self, run: &RunId, seq: Seq) {
        if self.watched.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut watchers = lock(&self.watchers);
        let Some(sender) = watchers.get(run) else { return };
        sender.send_replace(seq);
        if sender.receiver_count() == 0 {
            watchers.remove(run);
            self.watched.store(watchers.len(), Ordering::Release);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
