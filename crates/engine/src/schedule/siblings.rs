//! Engines of one process on one shared store: they tell each other what each would else learn only from the store,
//! and that only at its next look.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rival_core::RunId;
use rival_store::Store;

use crate::run::mailbox::Mailbox;
use crate::schedule::shared::EngineShared;

/// All engines on one store.
#[derive(Default)]
pub(crate) struct SiblingEngines {
    engines: Mutex<Vec<Weak<EngineShared>>>,
    /// How many there are. Most engines are alone, and should not pay for others.
    count: AtomicUsize,
}

/// One entry for each store that an engine uses, found by where it is in memory.
static ALL: Mutex<Vec<(usize, Weak<SiblingEngines>)>> = Mutex::new(Vec::new());

impl SiblingEngines {
    /// Those on the same store.
    pub(crate) fn on(store: &Arc<dyn Store>) -> Arc<Self> {
        let place = Arc::as_ptr(store).cast::<()>() as usize;
        let mut all = lock(&ALL);
        // A store that is gone may have been where another one is now.
        all.retain(|(_, siblings)| siblings.strong_count() > 0);
        let known = all.iter().find(|(of, _)| *of == place);
        if let Some(known) = known.and_then(|(_, siblings)| siblings.upgrade()) {
            return known;
        }
        let new = Arc::new(Self::default());
        all.push((place, Arc::downgrade(&new)));
        new
    }

    pub(crate) fn join(&self, engine: &Arc<EngineShared>) {
        let mut engines = lock(&self.engines);
        engines.retain(|engine| engine.strong_count() > 0);
        engines.push(Arc::downgrade(engine));
        self.count.store(engines.len(), Ordering::Release);
    }

    /// The others.
    fn of(&self, engine: &EngineShared) -> Vec<Arc<EngineShared>> {
        if self.count.load(Ordering::Acquire) < 2 {
            return Vec::new();
        }
        let all = lock(&self.engines);
        all.iter().filter_map(Weak::upgrade).filter(|other| other.id != engine.id).collect()
    }
}

impl EngineShared {
    /// This engine has left the store: what it had is there for others.
    pub(crate) fn notify_siblings(&self) {
        for other in self.siblings.of(self) {
            other.scheduler.rescan();
            other.scheduler.run_queued();
        }
    }

    /// The mailbox of a run that is live here, or in another engine on the same store.
    pub(crate) fn mailbox_anywhere(&self, run: &RunId) -> Option<Mailbox> {
        let elsewhere = || self.siblings.of(self).iter().find_map(|other| other.mailbox(run));
        self.mailbox(run).or_else(elsewhere)
    }

    /// Tells those who wait for a run in other engines that it has ended; they read its outcome from the store.
    pub(crate) fn ended_elsewhere(&self, run: &RunId) {
        self.siblings.of(self).iter().for_each(|other| other.waiters.ended(run, &None));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
