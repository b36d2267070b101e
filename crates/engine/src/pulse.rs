//! Whether a function that asks for durable operations has anything to do.
//!
//! A function that only waits for operations can be let go: it will be called again when there is an answer. To know,
//! its future is woken through a bell: between two rings it does nothing, however often somebody looks at it.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures::task::ArcWake;
use rival_core::Time;

use crate::clock::Clock;
use crate::gauge::Gauge;
use crate::mail::{Mail, Mailbox};
use crate::shared::Shared;

/// What is known of a function at work.
pub(crate) struct Pulse {
    state: Mutex<State>,
    shared: Arc<Shared>,
    mailbox: Mailbox,
}

#[derive(Default)]
struct State {
    /// Questions that the function waits for, and whether the actor knows of them.
    asks: BTreeMap<u64, bool>,
    last: u64,
    /// How much it does once or reads, and has not come to the end of.
    working: u32,
    /// Its future was polled, has nothing to do, and was not woken since.
    resting: bool,
    /// Since when it does nothing but wait for answers.
    idle_since: Option<Time>,
    /// Nobody is interested any more, although the function may still be polled once.
    over: bool,
}

impl Pulse {
    pub(crate) fn new(shared: &Arc<Shared>, mailbox: &Mailbox) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), shared: Arc::clone(shared), mailbox: mailbox.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    fn gauge(&self) -> &Gauge {
        &self.shared.gauge
    }

    /// The function asks for something; it does not wait for it any more when the guard is dropped.
    pub(crate) fn ask(self: &Arc<Self>) -> Asked {
        let mut state = self.lock();
        state.last += 1;
        let id = state.last;
        state.asks.insert(id, false);
        Asked { pulse: Arc::clone(self), id }
    }

    /// The function does something once, or reads an answer, until the guard is dropped.
    pub(crate) fn work(self: &Arc<Self>) -> Working {
        self.lock().working += 1;
        Working(Arc::clone(self))
    }

    /// What the function does elsewhere, and not in its future, goes on until the guard is dropped.
    pub(crate) fn work_elsewhere(self: &Arc<Self>) -> Elsewhere {
        let mut state = self.lock();
        state.working += 1;
        self.count_again(&mut state);
        Elsewhere(Arc::clone(self))
    }

    /// The actor knows of a question.
    pub(crate) fn known(&self, ask: u64) {
        let mut state = self.lock();
        if let Some(known) = state.asks.get_mut(&ask) {
            *known = true;
        }
        self.look(state);
    }

    /// The function was polled and waits.
    fn rests(&self) {
        let mut state = self.lock();
        state.resting = true;
        self.look(state);
    }

    /// The function has something to do: it counts as busy from now on.
    fn rings(&self) {
        self.wake(&mut self.lock());
    }

    fn wake(&self, state: &mut State) {
        state.resting = false;
        self.count_again(state);
    }

    /// It counts as busy.
    fn count_again(&self, state: &mut State) {
        if state.idle_since.take().is_some() {
            self.gauge().add();
        }
    }

    /// The call ends: it counts as busy, until whoever ends it says that it is not.
    pub(crate) fn ends(&self) {
        let mut state = self.lock();
        self.wake(&mut state);
        state.over = true;
    }

    /// Notes that it does nothing but wait, if that is so.
    fn look(&self, mut state: MutexGuard<'_, State>) {
        let waits = !state.asks.is_empty() && state.asks.values().all(|known| *known);
        let busy = !state.resting || !waits || state.working > 0;
        if busy || state.over || state.idle_since.is_some() {
            return;
        }
        state.idle_since = Some(self.clock().now());
        drop(state);
        if self.shared.is_short_of_room() {
            self.mailbox.send(Mail::MakeRoom);
        }
        self.gauge().remove(1);
    }

    /// Since when the function does nothing but wait for answers.
    pub(crate) fn idle_since(&self) -> Option<Time> {
        self.lock().idle_since
    }
}

/// A question that a function waits for.
pub(crate) struct Asked {
    pulse: Arc<Pulse>,
    pub(crate) id: u64,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.pulse.lock().asks.remove(&self.id);
    }
}

/// Something that a function does.
pub(crate) struct Working(Arc<Pulse>);

impl Drop for Working {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.working = state.working.saturating_sub(1);
    }
}

/// Something that a function does elsewhere.
pub(crate) struct Elsewhere(Arc<Pulse>);

impl Drop for Elsewhere {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.working = state.working.saturating_sub(1);
        // Its future is not polled for this, so nobody else would look.
        self.0.look(state);
    }
}

/// A future with a bell.
pub(crate) struct Watched<F> {
    future: F,
    bell: Option<Arc<Bell>>,
}

impl<F> Watched<F> {
    /// Without a pulse it is the future itself.
    pub(crate) fn new(future: F, pulse: Option<Arc<Pulse>>) -> Self {
        let bell = |pulse| Arc::new(Bell { pulse, outer: Mutex::new(Ring { waker: None, rung: true }) });
        Self { future, bell: pulse.map(bell) }
    }
}

struct Bell {
    pulse: Arc<Pulse>,
    outer: Mutex<Ring>,
}

struct Ring {
    waker: Option<Waker>,
    rung: bool,
}

impl Bell {
    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.outer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ArcWake for Bell {
    fn wake_by_ref(bell: &Arc<Self>) {
        let mut ring = bell.ring();
        ring.rung = true;
        // Under the lock: whoever has just polled must not note that the future rests, now that it does not.
        bell.pulse.rings();
        let waker = ring.waker.clone();
        drop(ring);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<F: Future + Unpin> Future for Watched<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(bell) = self.bell.clone() else { return Pin::new(&mut self.future).poll(context) };
        let mut ring = bell.ring();
        ring.waker = Some(context.waker().clone());
        // Somebody only looks: whatever the future waits for has not happened.
        if !std::mem::take(&mut ring.rung) {
            return Poll::Pending;
        }
        drop(ring);
        let waker = futures::task::waker(Arc::clone(&bell));
        let polled = Pin::new(&mut self.future).poll(&mut Context::from_waker(&waker));
        if polled.is_pending() {
            let ring = bell.ring();
            if !ring.rung {
                bell.pulse.rests();
            }
        }
        polled
    }
}
