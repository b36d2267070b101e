//! Who waits for a run, and who watches one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rival_core::view::RunOutcome;
use rival_core::{RunId, Seq};
use tokio::sync::{oneshot, watch};

use crate::schedule::shared::EngineShared;

/// What a waiter is told: the outcome, or that it can be read from the store.
pub(crate) type EndNotice = Option<Arc<RunOutcome>>;

#[derive(Debug, Default)]
pub(crate) struct RunWaiters {
    waiters: Mutex<HashMap<RunId, Vec<oneshot::Sender<EndNotice>>>>,
    watchers: Mutex<HashMap<RunId, watch::Sender<Seq>>>,
    /// How many runs are watched: most are not, and their commits should not pay for the others.
    watched: AtomicUsize,
    closed: AtomicBool,
}

impl RunWaiters {
    /// The engine has stopped: drops all waiters and watchers, now and from now on, so that they learn of it.
    pub(crate) fn close(&self) {
        let (mut waiters, mut watchers) = (lock(&self.waiters), lock(&self.watchers));
        self.closed.store(true, Ordering::Release);
        waiters.clear();
        watchers.clear();
        self.watched.store(0, Ordering::Release);
    }

    /// Whether a caller waits for a run.
    pub(crate) fn is_awaited(&self, run: &RunId) -> bool {
        lock(&self.waiters).get(run).is_some_and(|waiters| waiters.iter().any(|waiter| !waiter.is_closed()))
    }

    /// Tells all waiters of a run that it has ended.
    pub(crate) fn ended(&self, run: &RunId, outcome: &EndNotice) {
        for waiter in lock(&self.waiters).remove(run).unwrap_or_default() {
            // A waiter that is gone needs no answer.
            let _ = waiter.send(outcome.clone());
        }
    }

    /// Forgets waiters that gave up, so that a run that never ends holds nothing.
    fn gave_up(&self, run: &RunId) {
        let mut waiters = lock(&self.waiters);
        if let Some(of_run) = waiters.get_mut(run) {
            of_run.retain(|waiter| !waiter.is_closed());
            if of_run.is_empty() {
                waiters.remove(run);
            }
        }
    }

    /// Follows the number of a run's last durable event.
    fn watch(&self, run: &RunId) -> watch::Receiver<Seq> {
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
        let watchers = lock(&self.watchers);
        if let Some(sender) = watchers.get(run) {
            sender.send_replace(seq);
        }
    }

    /// Forgets a run that is no longer watched.
    fn unwatched(&self, run: &RunId) {
        let mut watchers = lock(&self.watchers);
        if watchers.get(run).is_some_and(|sender| sender.receiver_count() == 0) {
            watchers.remove(run);
            self.watched.store(watchers.len(), Ordering::Release);
        }
    }
}

/// A waiter for a run's end. Removes itself when dropped.
pub(crate) struct EndWaiter {
    shared: Arc<EngineShared>,
    run: RunId,
    /// Comes when the run has ended; an error if the engine stops first.
    pub(crate) notice: oneshot::Receiver<EndNotice>,
}

impl EndWaiter {
    pub(crate) fn new(shared: &Arc<EngineShared>, run: &RunId) -> Self {
        let (sender, notice) = oneshot::channel();
        let mut waiters = lock(&shared.waiters.waiters);
        // In an engine that has stopped no notice comes.
        if !shared.waiters.closed.load(Ordering::Acquire) {
            let of_run = waiters.entry(run.clone()).or_default();
            of_run.retain(|waiter| !waiter.is_closed());
            of_run.push(sender);
        }
        drop(waiters);
        Self { shared: Arc::clone(shared), run: run.clone(), notice }
    }
}

impl Drop for EndWaiter {
    fn drop(&mut self) {
        self.notice.close();
        self.shared.waiters.gave_up(&self.run);
    }
}

/// A watcher of a run. Removes itself when dropped.
pub(crate) struct RunWatch {
    shared: Arc<EngineShared>,
    run: RunId,
    durable: Option<watch::Receiver<Seq>>,
}

impl RunWatch {
    pub(crate) fn new(shared: &Arc<EngineShared>, run: &RunId) -> Self {
        Self { shared: Arc::clone(shared), run: run.clone(), durable: Some(shared.waiters.watch(run)) }
    }

    pub(crate) fn mark_unchanged(&mut self) {
        if let Some(durable) = &mut self.durable {
            durable.mark_unchanged();
        }
    }

    /// Waits until more is durable; `false` if the engine stops first.
    pub(crate) async fn changed(&mut self) -> bool {
        match &mut self.durable {
            Some(durable) => durable.changed().await.is_ok(),
            None => false,
        }
    }
}

impl Drop for RunWatch {
    fn drop(&mut self) {
        self.durable = None;
        self.shared.waiters.unwatched(&self.run);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::api::engine::Engine;

    #[tokio::test]
    async fn nobody_is_remembered_who_went_away() {
        let engine = Engine::builder().build().await.unwrap();
        let run = RunId::from("nobody");
        drop(engine.subscribe(&run, Seq::ZERO));
        drop(tokio::time::timeout(Duration::ZERO, engine.wait(&run)).await);
        let waiters = &engine.shared.waiters;
        assert!(lock(&waiters.waiters).is_empty());
        assert!(lock(&waiters.watchers).is_empty());
        assert_eq!(waiters.watched.load(Ordering::Acquire), 0);
    }
}
