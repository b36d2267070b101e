//! The world in which functions run: it outlives engines, and remembers what was done to it.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use rival_core::Time;
use rival_engine::{CallError, VirtualClock};

use crate::crash::CrashSchedule;
use crate::script::{CallKey, SeedScript};

/// What a run's functions have in common.
#[derive(Debug)]
pub struct SimWorld {
    /// What they do.
    pub script: SeedScript,
    /// The time.
    pub clock: VirtualClock,
    /// When the process dies.
    pub crashes: Arc<CrashSchedule>,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    /// When each call was first begun: it ends at the same moment, however often the process dies.
    begun: BTreeMap<(String, CallKey), Time>,
    parts: BTreeMap<(String, CallKey, String), Time>,
    made: Vec<MadeCall>,
    lost: Vec<MadeCall>,
    /// What is at work, and whether it listens when it is told to stop.
    at_work: BTreeMap<u64, (CallKey, bool)>,
    sleepers: BTreeMap<(Time, u64), Waker>,
    next: u64,
}

/// A call that reached its function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeCall {
    /// The run.
    pub run: String,
    /// Which it was.
    pub key: CallKey,
    /// The engine's number for it.
    pub call: u32,
    /// When.
    pub at: Time,
}

impl MadeCall {
    /// The node, by its path in its own run.
    pub fn node(&self) -> &str {
        self.key.node.rsplit(':').next().unwrap_or_default()
    }
}

impl SimWorld {
    /// A world in which nothing has happened.
    pub fn new(script: SeedScript, clock: VirtualClock, crashes: Arc<CrashSchedule>) -> Arc<Self> {
        Arc::new(Self { script, clock, crashes, memory: Mutex::default() })
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A function is called. Gives when this call was first begun, and what marks it as at work.
    pub(crate) fn begin(self: &Arc<Self>, made: MadeCall, listens: bool) -> (Time, AtWork) {
        let mut memory = self.memory();
        let place = (made.run.clone(), made.key.clone());
        let first = *memory.begun.entry(place).or_insert(made.at);
        memory.next += 1;
        let number = memory.next;
        memory.at_work.insert(number, (made.key.clone(), listens));
        memory.made.push(made);
        (first, AtWork { world: Arc::clone(self), number })
    }

    /// When a part of a call was first begun.
    pub(crate) fn first(&self, run: &str, key: &CallKey, part: &str) -> Time {
        let place = (run.to_owned(), key.clone(), part.to_owned());
        *self.memory().parts.entry(place).or_insert(self.clock.now())
    }

    /// The calls that reached their functions, in order.
    pub fn made(&self) -> Vec<MadeCall> {
        self.memory().made.clone()
    }

    /// A call loses what runs it, if chance says so.
    pub(crate) fn loses(&self, made: &MadeCall) -> Result<(), CallError> {
        let Some(reason) = self.crashes.loses() else { return Ok(()) };
        self.memory().lost.push(MadeCall { at: self.clock.now(), ..made.clone() });
        Err(CallError::Lost(reason))
    }

    /// The calls that lost what ran them, and when.
    pub fn lost(&self) -> Vec<MadeCall> {
        self.memory().lost.clone()
    }

    /// What is at work and should have been dropped when its run ended: everything but what listens.
    pub fn left_behind(&self) -> BTreeSet<CallKey> {
        let memory = self.memory();
        memory.at_work.values().filter(|(_, listens)| !listens).map(|(key, _)| key.clone()).collect()
    }

    /// Whether something is at work that listens: after a timeout it goes on for a while, and a stop waits for it.
    pub fn something_listens(&self) -> bool {
        self.memory().at_work.values().any(|(_, listens)| *listens)
    }

    /// The next moment at which a function wants to go on.
    pub fn next(&self) -> Option<Time> {
        self.memory().sleepers.keys().next().map(|(at, _)| *at)
    }

    /// The clock was moved.
    pub fn wake(&self) {
        let now = self.clock.now();
        let due: Vec<Waker> = {
            let mut memory = self.memory();
            let later = memory.sleepers.split_off(&(Time(now.0 + 1), 0));
            std::mem::replace(&mut memory.sleepers, later).into_values().collect()
        };
        due.into_iter().for_each(Waker::wake);
    }

    /// Waits until a moment has come.
    pub(crate) async fn until(&self, at: Time) {
        let mut place = SleeperPlace { world: self, key: None };
        poll_fn(|context| {
            place.leave();
            if self.clock.now() >= at {
                return Poll::Ready(());
            }
            let mut memory = self.memory();
            memory.next += 1;
            let key = (at, memory.next);
            memory.sleepers.insert(key, context.waker().clone());
            drop(memory);
            place.key = Some(key);
            Poll::Pending
        })
        .await;
    }
}

/// A place among the sleepers, which is given back when the function is dropped.
struct SleeperPlace<'a> {
    world: &'a SimWorld,
    key: Option<(Time, u64)>,
}

impl SleeperPlace<'_> {
    fn leave(&mut self) {
        if let Some(key) = self.key.take() {
            self.world.memory().sleepers.remove(&key);
        }
    }
}

impl Drop for SleeperPlace<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A function is at work until this is dropped.
#[derive(Debug)]
pub(crate) struct AtWork {
    world: Arc<SimWorld>,
    number: u64,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.world.memory().at_work.remove(&self.number);
    }
}
