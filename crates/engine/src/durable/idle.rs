//! Whether a function that asks for durable operations has anything to do.
//!
//! A function that only waits for operations can be suspended: it will be called again when there is an answer. To know,
//! its future is woken through an `IdleWaker`: between two wake-ups it does nothing, however often it is polled.
//!
//! The future's polls are also what its answers go by. A function is told something between two polls, so that whatever
//! it asks for in one of them is known by then, and the next thing after a poll in which it could act on the one before.
//! What it drops while it is polled it gave up itself, unless that poll ends with the news that what ran the function is
//! gone; when the future itself is dropped, the engine let it go.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures::task::ArcWake;
use rival_core::durable::OpKey;
use rival_core::{Path, Time};
use tokio_util::sync::CancellationToken;

use crate::call::parked::CallWatch;
use crate::durable::handle::GivenUp;
use crate::run::mailbox::{ActorMessage, Mailbox};
use crate::schedule::clock::Clock;
use crate::schedule::in_flight::InFlightCount;
use crate::schedule::shared::EngineShared;

/// What is known of a function at work.
pub(crate) struct IdleTracker {
    state: Mutex<IdleState>,
    shared: Arc<EngineShared>,
    mailbox: Mailbox,
    node: Path,
    call: u32,
    /// The function's future is no more.
    gone: CancellationToken,
}

/// How far a question is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestStage {
    /// The actor has not heard of it.
    Sent,
    /// The actor knows of it.
    Known,
    /// It is answered, and the function has not used that.
    Answered,
}

#[derive(Default)]
struct IdleState {
    /// Questions that the function waits for.
    asks: BTreeMap<u64, RequestStage>,
    last: u64,
    /// Questions that are on their way to the actor.
    unheard: u32,
    /// The answers that it has used, in that order.
    used: Vec<u32>,
    /// How many of them it has told of with a question.
    used_told: usize,
    /// Operations that it has given up and not told of.
    given_up: Vec<OpKey>,
    /// How often its future was polled.
    polls: u64,
    /// It is being polled.
    polled: bool,
    /// The poll after whose end it can be told the next thing.
    tell_after: u64,
    /// The actor wants to hear of that.
    is_awaited: bool,
    /// How much it does once or reads, and has not come to the end of.
    working: u32,
    /// How many answers it was told that are still being read from the store.
    reading: u32,
    /// Its future was polled, has nothing to do, and was not woken since.
    resting: bool,
    /// Since when it does nothing but wait for answers.
    idle_since: Option<Time>,
    /// The call is over, although the function may still be polled once.
    over: bool,
}

impl IdleState {
    /// Between two polls, when the actor knows of all questions of the last one: what answers them first is told first.
    /// Not while an answer is being read: the next one could be there before it.
    fn can_be_told(&self) -> bool {
        !self.polled && self.polls >= self.tell_after && self.unheard == 0 && self.reading == 0
    }
}

impl IdleTracker {
    pub(crate) fn new(shared: &Arc<EngineShared>, mailbox: &Mailbox, node: &Path, call: u32) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            shared: Arc::clone(shared),
            mailbox: mailbox.clone(),
            node: node.clone(),
            call,
            gone: CancellationToken::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, IdleState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    fn in_flight(&self) -> &InFlightCount {
        &self.shared.in_flight
    }

    /// The function asks for something; it does not wait for it any more when the guard is dropped.
    pub(crate) fn ask(self: &Arc<Self>) -> PendingRequest {
        // What it gave up before it asks is known before the question.
        self.tell_given_up();
        let mut state = self.lock();
        state.last += 1;
        state.unheard += 1;
        let id = state.last;
        state.asks.insert(id, RequestStage::Sent);
        PendingRequest { idle_tracker: Arc::clone(self), id }
    }

    /// The function does something once, or reads an answer, until the guard is dropped.
    pub(crate) fn work(self: &Arc<Self>) -> WorkGuard {
        self.lock().working += 1;
        WorkGuard(Arc::clone(self))
    }

    /// What the function does elsewhere, and not in its future, goes on until the guard is dropped.
    pub(crate) fn work_elsewhere(self: &Arc<Self>) -> ExternalWork {
        let mut state = self.lock();
        state.working += 1;
        self.count_again(&mut state);
        ExternalWork(Arc::clone(self))
    }

    /// The actor knows of a question.
    pub(crate) fn known(&self, ask: u64) {
        let mut state = self.lock();
        if let Some(stage) = state.asks.get_mut(&ask).filter(|stage| **stage == RequestStage::Sent) {
            *stage = RequestStage::Known;
        }
        self.note_if_idle(state);
    }

    /// The actor has taken a question out of its mailbox.
    pub(crate) fn heard(&self) {
        let mut state = self.lock();
        state.unheard = state.unheard.saturating_sub(1);
        self.tell_that_it_listens(&mut state);
    }

    /// Whether the function can be told something now. If not, the actor hears when it can.
    pub(crate) fn listens(&self) -> bool {
        let mut state = self.lock();
        state.is_awaited = !state.can_be_told();
        !state.is_awaited
    }

    fn tell_that_it_listens(&self, state: &mut IdleState) {
        if state.can_be_told() && std::mem::take(&mut state.is_awaited) {
            self.mailbox.send(ActorMessage::ReplyWanted { node: self.node.clone(), call: self.call });
        }
    }

    /// Tells the function an answer to one of its questions: the next one only after it has been polled for this.
    pub(crate) fn told(&self, ask: u64, tell: impl FnOnce()) {
        let mut state = self.lock();
        if let Some(stage) = state.asks.get_mut(&ask) {
            *stage = RequestStage::Answered;
        }
        self.count_again(&mut state);
        // Another task waits for the answer, not the function's own future: it is not polled for this.
        if let Some(mut state) = self.rests_after(state, tell)
            && let Some(stage) = state.asks.get_mut(&ask)
        {
            *stage = RequestStage::Sent;
        }
    }

    /// Does what wakes the function's future, which is told the next thing only after it was polled for that. Gives the
    /// state if the future was not woken.
    fn rests_after<'a>(
        &'a self,
        mut state: MutexGuard<'a, IdleState>,
        tell: impl FnOnce(),
    ) -> Option<MutexGuard<'a, IdleState>> {
        let poll = state.polls + 1;
        state.tell_after = poll;
        drop(state);
        tell();
        let mut state = self.lock();
        let rests = state.resting && state.polls < poll;
        if rests {
            state.tell_after = state.polls;
        }
        rests.then_some(state)
    }

    /// An answer is read from the store until the guard is dropped.
    pub(crate) fn read(self: &Arc<Self>) -> ReadGuard {
        let mut state = self.lock();
        state.working += 1;
        state.reading += 1;
        ReadGuard(Arc::clone(self))
    }

    /// The function used the answer of an operation.
    pub(crate) fn use_up(&self, op: u32) {
        self.lock().used.push(op);
    }

    /// How many answers the function has used, and those that no question has told of.
    pub(crate) fn uses(&self) -> (usize, Vec<u32>) {
        let state = self.lock();
        (state.used.len(), state.used[state.used_told..].to_vec())
    }

    /// Those of the first so many answers which the function has used that no question has told of. One does now, and is
    /// recorded.
    pub(crate) fn newly_used(&self, uses: usize) -> Vec<u32> {
        let mut state = self.lock();
        let from = state.used_told.min(uses);
        state.used_told = state.used_told.max(uses);
        state.used[from..uses].to_vec()
    }

    /// The answers that the function has used.
    pub(crate) fn used(&self) -> Vec<u32> {
        self.lock().used.clone()
    }

    /// Comes when the function's future is no more.
    pub(crate) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// The future of an operation is dropped before its answer was used. If the function's own future is being polled
    /// here, the function has dropped it.
    pub(crate) fn dropped(&self, key: &OpKey) {
        if POLLED.get() == std::ptr::from_ref(self) {
            self.lock().given_up.push(key.clone());
        }
    }

    /// Tells the actor what the function has given up.
    pub(crate) fn tell_given_up(&self) {
        for key in std::mem::take(&mut self.lock().given_up) {
            let given_up = GivenUp { node: self.node.clone(), call: self.call, key };
            self.mailbox.send(ActorMessage::OpDropped(Box::new(given_up)));
        }
    }

    fn poll_begins(&self) -> PollGuard {
        let mut state = self.lock();
        state.polled = true;
        PollGuard { outer: POLLED.replace(std::ptr::from_ref(self)) }
    }

    /// The function was polled. It waits, has been woken since, or has ended.
    fn poll_ends(&self, pending: bool, rests: bool) {
        // One that has ended tells when it is known how.
        if pending {
            self.tell_given_up();
        }
        let mut state = self.lock();
        state.polled = false;
        state.polls += 1;
        self.tell_that_it_listens(&mut state);
        if rests {
            state.resting = true;
            self.note_if_idle(state);
        }
    }

    /// The function has something to do: it counts as busy from now on.
    fn on_wake(&self) {
        self.wake(&mut self.lock());
    }

    fn wake(&self, state: &mut IdleState) {
        state.resting = false;
        self.count_again(state);
    }

    /// It counts as busy.
    fn count_again(&self, state: &mut IdleState) {
        if state.idle_since.take().is_some() {
            self.in_flight().add();
        }
    }

    /// The call ends: it counts as busy until the caller that ends it removes it.
    pub(crate) fn ends(&self) {
        let mut state = self.lock();
        self.wake(&mut state);
        state.over = true;
    }

    /// Notes that it does nothing but wait, if that is so.
    fn note_if_idle(&self, mut state: MutexGuard<'_, IdleState>) {
        // An answer that it has not used after it was polled for it is one that it does not wait for now.
        let polled = state.polls >= state.tell_after;
        let waits_for = |stage: &RequestStage| {
            *stage == RequestStage::Known || (*stage == RequestStage::Answered && polled)
        };
        let waits = !state.asks.is_empty() && state.asks.values().all(waits_for);
        let busy = !state.resting || !waits || state.working > 0;
        if busy || state.over || state.idle_since.is_some() {
            return;
        }
        state.idle_since = Some(self.clock().now());
        drop(state);
        if self.shared.is_short_of_room() {
            self.mailbox.send(ActorMessage::SuspendIdle);
        }
        self.in_flight().remove(1);
    }

    /// Since when the function does nothing but wait for answers.
    pub(crate) fn idle_since(&self) -> Option<Time> {
        self.lock().idle_since
    }
}

/// A question that a function waits for.
pub(crate) struct PendingRequest {
    idle_tracker: Arc<IdleTracker>,
    pub(crate) id: u64,
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        let mut state = self.idle_tracker.lock();
        state.asks.remove(&self.id);
        // Another task than the function's own may have waited, and then its future is not polled for this.
        self.idle_tracker.note_if_idle(state);
    }
}

thread_local! {
    /// The function whose future this thread polls.
    static POLLED: Cell<*const IdleTracker> = const { Cell::new(std::ptr::null()) };
}

/// While it lives, a function is being polled by this thread.
struct PollGuard {
    outer: *const IdleTracker,
}

impl Drop for PollGuard {
    fn drop(&mut self) {
        POLLED.set(self.outer);
    }
}

/// Something that a function does.
pub(crate) struct WorkGuard(Arc<IdleTracker>);

impl Drop for WorkGuard {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.working = state.working.saturating_sub(1);
        self.0.note_if_idle(state);
    }
}

/// The reading of an answer.
pub(crate) struct ReadGuard(Arc<IdleTracker>);

impl ReadGuard {
    /// The answer is read: `tell` gives it to the function.
    pub(crate) fn done(self, tell: impl FnOnce()) {
        let idle_tracker = Arc::clone(&self.0);
        let state = idle_tracker.lock();
        drop(idle_tracker.rests_after(state, tell));
    }
}

impl Drop for ReadGuard {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.reading = state.reading.saturating_sub(1);
        state.working = state.working.saturating_sub(1);
        self.0.tell_that_it_listens(&mut state);
        self.0.note_if_idle(state);
    }
}

/// Something that a function does elsewhere.
pub(crate) struct ExternalWork(Arc<IdleTracker>);

impl Drop for ExternalWork {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.working = state.working.saturating_sub(1);
        // Its future is not polled for this, so the check is made here.
        self.0.note_if_idle(state);
    }
}

/// The future of a call, woken through those that watch it.
pub(crate) struct WatchedFuture<F> {
    future: F,
    /// If the function asks for durable operations.
    idle_waker: Option<Arc<IdleWaker>>,
    /// On a virtual clock.
    watch: Option<Arc<CallWatch>>,
}

impl<F> WatchedFuture<F> {
    /// Without an idle tracker and a watch it is the future itself.
    pub(crate) fn new(
        future: F,
        idle_tracker: Option<Arc<IdleTracker>>,
        watch: Option<Arc<CallWatch>>,
    ) -> Self {
        let idle_waker = |idle_tracker| {
            Arc::new(IdleWaker { idle_tracker, outer: Mutex::new(WakeState { waker: None, is_woken: true }) })
        };
        Self { future, idle_waker: idle_tracker.map(idle_waker), watch }
    }
}

impl<F> Drop for WatchedFuture<F> {
    fn drop(&mut self) {
        if let Some(idle_waker) = &self.idle_waker {
            idle_waker.idle_tracker.gone.cancel();
        }
    }
}

struct IdleWaker {
    idle_tracker: Arc<IdleTracker>,
    outer: Mutex<WakeState>,
}

struct WakeState {
    waker: Option<Waker>,
    is_woken: bool,
}

impl IdleWaker {
    fn state(&self) -> MutexGuard<'_, WakeState> {
        self.outer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ArcWake for IdleWaker {
    fn wake_by_ref(idle_waker: &Arc<Self>) {
        let mut state = idle_waker.state();
        state.is_woken = true;
        // Under the lock: a poll that has just ended must not note the future as idle after this wake-up.
        idle_waker.idle_tracker.on_wake();
        let waker = state.waker.clone();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<F: Future + Unpin> Future for WatchedFuture<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        if self.idle_waker.is_none() && self.watch.is_none() {
            return Pin::new(&mut self.future).poll(context);
        }
        let (idle_waker, watch) = (self.idle_waker.clone(), self.watch.clone());
        let mut waker = context.waker().clone();
        if let Some(idle_waker) = &idle_waker {
            let mut state = idle_waker.state();
            state.waker = Some(waker);
            // A poll without a wake-up: what the future waits for has not happened.
            if !std::mem::take(&mut state.is_woken) {
                return Poll::Pending;
            }
            waker = futures::task::waker(Arc::clone(idle_waker));
        }
        let here = idle_waker.as_ref().map(|idle_waker| idle_waker.idle_tracker.poll_begins());
        if let Some(watch) = &watch {
            waker = watch.polls(waker);
        }
        let polled = Pin::new(&mut self.future).poll(&mut Context::from_waker(&waker));
        if let Some(watch) = watch {
            watch.was_polled();
            if polled.is_ready() {
                watch.ends();
            }
        }
        drop(here);
        if let Some(idle_waker) = &idle_waker {
            let state = idle_waker.state();
            let rests = polled.is_pending() && !state.is_woken;
            idle_waker.idle_tracker.poll_ends(polled.is_pending(), rests);
        }
        polled
    }
}
