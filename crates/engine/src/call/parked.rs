//! Calls at work that do not return, for tests on a virtual clock.
//!
//! A test that waits until nothing happens any more must not wait for a function that waits for something that will not
//! come without time passing, such as its own timeout. So the futures of calls are watched: one that was polled, waits,
//! and is not woken for a while in real time is *stuck*, until something wakes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;

use futures::task::ArcWake;

use crate::durable::idle::IdleTracker;
use crate::schedule::in_flight::InFlightCount;

/// How long a call waits, without being woken, before it counts as stuck: no longer than until the next moment that matters,
/// which comes in real time, too, but long enough for something that is about to answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StuckPatience {
    here: Duration,
    /// For a function that works in another thread or process, where it is not seen to.
    elsewhere: Duration,
}

impl StuckPatience {
    /// With so much time until the next moment that matters; none if there is no such moment.
    pub(crate) fn before(next: Option<Duration>) -> Self {
        let next = next.unwrap_or(Duration::MAX);
        Self {
            here: next.clamp(Duration::from_millis(250), Duration::from_secs(1)),
            elsewhere: next.clamp(Duration::from_millis(250), Duration::from_secs(20)),
        }
    }
}

/// What is known of a call at work.
pub(crate) struct CallWatch {
    in_flight: Arc<InFlightCount>,
    /// Its future was polled, and not woken since.
    waits: AtomicBool,
    /// Its future is being polled.
    polled: AtomicBool,
    stuck: AtomicBool,
    /// It has ended, or was told to.
    over: AtomicBool,
    elsewhere: bool,
    /// One that waits for durable operations is not counted as busy.
    idle_tracker: Option<Arc<IdleTracker>>,
    outer: Mutex<Option<Waker>>,
}

impl CallWatch {
    pub(crate) fn new(
        in_flight: &Arc<InFlightCount>,
        elsewhere: bool,
        idle_tracker: Option<Arc<IdleTracker>>,
    ) -> Arc<Self> {
        let watch = Arc::new(Self {
            in_flight: Arc::clone(in_flight),
            waits: AtomicBool::new(false),
            polled: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
            over: AtomicBool::new(false),
            elsewhere,
            idle_tracker,
            outer: Mutex::default(),
        });
        in_flight.watch(&watch);
        watch
    }

    /// Its future is about to be polled for the owner of `outer`; gives the waker to poll it with. A wake-up during the poll,
    /// or right after, is the last word.
    pub(crate) fn polls(self: &Arc<Self>, outer: Waker) -> Waker {
        *self.outer.lock().unwrap_or_else(PoisonError::into_inner) = Some(outer);
        self.polled.store(true, Ordering::Release);
        self.waits.store(true, Ordering::Release);
        futures::task::waker(Arc::clone(self))
    }

    /// The poll is over: if nothing has woken the call, it waits.
    pub(crate) fn was_polled(&self) {
        self.polled.store(false, Ordering::Release);
        self.in_flight.tell();
    }

    /// The call ends: what comes of it is counted from now on.
    pub(crate) fn ends(&self) {
        self.over.store(true, Ordering::Release);
        self.in_flight.stirs();
    }

    fn wakes(&self) {
        self.waits.store(false, Ordering::Release);
        self.stuck.store(false, Ordering::Release);
        self.in_flight.stirs();
    }

    /// Whether the in-flight count includes it.
    pub(crate) fn is_counted(&self) -> bool {
        let idle = self.idle_tracker.as_ref().is_some_and(|idle_tracker| idle_tracker.idle_since().is_some());
        !idle && !self.over.load(Ordering::Acquire)
    }

    pub(crate) fn is_stuck(&self) -> bool {
        self.stuck.load(Ordering::Acquire) && self.is_counted()
    }

    fn waits(&self) -> bool {
        !self.polled.load(Ordering::Acquire) && self.waits.load(Ordering::Acquire)
    }

    /// Whether it waits for something elsewhere.
    pub(crate) fn waits_elsewhere(&self) -> bool {
        self.elsewhere && self.waits() && self.is_counted()
    }

    /// Whether it has waited for so long that it may be stuck.
    pub(crate) fn may_be_stuck(&self, quiet: Duration, patience: StuckPatience) -> bool {
        let patience = if self.elsewhere { patience.elsewhere } else { patience.here };
        self.waits() && quiet >= patience
    }

    pub(crate) fn is_given_up(&self) {
        self.stuck.store(true, Ordering::Release);
    }
}

impl ArcWake for CallWatch {
    fn wake_by_ref(watch: &Arc<Self>) {
        watch.wakes();
        let outer = watch.outer.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(outer) = outer {
            outer.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_with_the_next_moment() {
        let ms = |ms| Duration::from_millis(ms);
        let patience = |next| {
            let StuckPatience { here, elsewhere } = StuckPatience::before(next);
            (here, elsewhere)
        };
        assert_eq!(patience(Some(ms(300))), (ms(300), ms(300)));
        assert_eq!(patience(Some(ms(1))), (ms(250), ms(250)));
        assert_eq!(patience(Some(ms(5_000))), (ms(1_000), ms(5_000)));
        assert_eq!(patience(None), (ms(1_000), ms(20_000)));
    }
}
