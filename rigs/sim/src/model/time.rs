//! The model's time: futures that are polled all together, at one moment after the other.
//!
//! No task is woken. At each moment all tasks are polled until nothing changes; then the clock moves to the
//! earliest moment that a task waits for.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::call::is_within;
use crate::dice::hash;

/// A part of the model at work.
pub(super) type ModelTask<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// How long what was told to stop may take.
pub(super) const GRACE: u64 = 30_000;

#[derive(Default)]
pub(super) struct ModelClock<'a> {
    /// Decides what comes first of the things that happen at one moment.
    order: u64,
    /// How much it has decided.
    decided: Cell<u64>,
    now: Cell<u64>,
    wanted: RefCell<BTreeSet<u64>>,
    changes: Cell<u64>,
    pub(super) paused: Cell<bool>,
    /// What goes on beside each run: losers that settle, children.
    beside: RefCell<Vec<((u64, String), ModelTask<'a, ()>)>>,
    /// How much of that each run has, by the path that it is at.
    open: RefCell<BTreeMap<(u64, String), usize>>,
}

impl<'a> ModelClock<'a> {
    /// A clock under which things of one moment happen in one of many orders. Order 0 is that of the plan, and in a race
    /// of two kinds of things the first kind wins; order 1 turns all of that round; others are chance.
    pub(super) fn with_order(order: u64) -> Self {
        Self { order, ..Self::default() }
    }

    /// Decides between two things of one moment: true for the one that is not usual.
    pub(super) fn either(&self) -> bool {
        self.order > 0 && (self.order == 1 || self.roll() % 2 == 1)
    }

    /// In which order so many things come.
    pub(super) fn sequence(&self, count: usize) -> Vec<usize> {
        let mut sequence: Vec<usize> = (0..count).collect();
        match self.order {
            0 => {}
            1 => sequence.reverse(),
            _ => sequence.sort_by_cached_key(|_| self.roll()),
        }
        sequence
    }

    fn roll(&self) -> u64 {
        self.decided.set(self.decided.get() + 1);
        hash(self.order, &[&self.decided.get().to_le_bytes()])
    }

    pub(super) fn now(&self) -> u64 {
        self.now.get()
    }

    /// Something changed that others may see.
    pub(super) fn changed(&self) {
        self.changes.set(self.changes.get() + 1);
    }

    pub(super) fn spawn(&self, run: u64, path: &str, task: ModelTask<'a, ()>) {
        let place = (run, path.to_owned());
        self.beside.borrow_mut().push((place.clone(), task));
        *self.open.borrow_mut().entry(place).or_default() += 1;
        self.changed();
    }

    pub(super) fn pause(&self, paused: bool) {
        self.paused.set(paused);
        self.changed();
    }

    /// Whether a moment has come; if not, notes that a task waits for it.
    pub(super) fn has_come(&self, at: u64) -> bool {
        let come = self.now.get() >= at;
        if !come {
            self.wanted.borrow_mut().insert(at);
        }
        come
    }

    /// Runs until the end, or as far as it goes: `None` if nothing will ever happen again.
    pub(super) fn run<T>(&self, mut main: ModelTask<'a, T>, mut outside: ModelTask<'a, ()>) -> Option<T> {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            let before = self.changes.get();
            self.wanted.borrow_mut().clear();
            let first_outside = self.either();
            if first_outside {
                let _ = outside.as_mut().poll(&mut context);
            }
            if let Poll::Ready(end) = main.as_mut().poll(&mut context) {
                return Some(end);
            }
            self.poll_beside(&mut context);
            if !first_outside {
                let _ = outside.as_mut().poll(&mut context);
            }
            if self.changes.get() != before {
                continue;
            }
            let next = self.wanted.borrow().iter().copied().find(|at| *at > self.now.get())?;
            self.now.set(next);
        }
    }

    /// Drops what goes on beside the run.
    pub(super) fn forget(&self) {
        self.beside.borrow_mut().clear();
    }

    fn poll_beside(&self, context: &mut Context<'_>) {
        let mut tasks = std::mem::take(&mut *self.beside.borrow_mut());
        let mut done = vec![false; tasks.len()];
        for n in self.sequence(tasks.len()) {
            let (place, task) = &mut tasks[n];
            done[n] = task.as_mut().poll(context).is_ready();
            if done[n] {
                *self.open.borrow_mut().entry(place.clone()).or_default() -= 1;
                self.changed();
            }
        }
        let mut done = done.into_iter();
        tasks.retain(|_| done.next() == Some(false));
        self.beside.borrow_mut().splice(0..0, tasks);
    }

    /// Waits until nothing goes on beside a run inside of this path.
    pub(super) async fn alone(&self, run: u64, path: &str) {
        poll_fn(|_| {
            let open = self.open.borrow();
            let mut inside =
                open.iter().filter(|((of, at), _)| *of == run && at != path && is_within(at, path));
            if inside.all(|(_, count)| *count == 0) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Lets all other tasks have a turn at this moment.
    pub(super) async fn turn(&self) {
        let mut had = false;
        poll_fn(|_| {
            if had {
                return Poll::Ready(());
            }
            had = true;
            self.changed();
            Poll::Pending
        })
        .await;
    }

    /// Waits for the turn to start something new; false if the scope is ending.
    pub(super) async fn may_start(&self, scope: &ModelScope) -> bool {
        poll_fn(|_| match scope.ending() {
            Some(_) => Poll::Ready(false),
            None if self.paused.get() => Poll::Pending,
            None => Poll::Ready(true),
        })
        .await
    }

    /// Waits for a moment; false if the scope is ending first. In a paused run no moment comes.
    pub(super) async fn wait(&self, at: u64, scope: &ModelScope) -> bool {
        let mut held = false;
        poll_fn(|_| {
            if scope.ending().is_some() {
                return Poll::Ready(false);
            }
            if self.paused.get() {
                held = true;
                return Poll::Pending;
            }
            // What a pause held starts before what fell due meanwhile acts.
            if std::mem::take(&mut held) {
                self.changed();
                return Poll::Pending;
            }
            if self.has_come(at) { Poll::Ready(true) } else { Poll::Pending }
        })
        .await
    }
}

/// How everything in a scope ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ScopeEnding {
    /// Nothing new starts, waits are cancelled, calls settle.
    Settle,
    /// Calls are told to stop too.
    Stop,
    /// Everything ends at once.
    Kill,
}

/// A part of the run that ends as one: the run itself, a block, a lane.
pub(super) struct ModelScope {
    outer: Option<Rc<Self>>,
    ending: Cell<Option<(ScopeEnding, u64)>>,
}

impl ModelScope {
    pub(super) fn run() -> Rc<Self> {
        Rc::new(Self { outer: None, ending: Cell::new(None) })
    }

    pub(super) fn inside(self: &Rc<Self>) -> Rc<Self> {
        Rc::new(Self { outer: Some(Rc::clone(self)), ending: Cell::new(None) })
    }

    /// Ends it, unless it is ending so already.
    pub(super) fn end(&self, ending: ScopeEnding, clock: &ModelClock<'_>) {
        if self.ending.get().is_none_or(|(before, _)| before < ending) {
            self.ending.set(Some((ending, clock.now())));
            clock.changed();
        }
    }

    /// How it is ending, by itself or with what is around it, and since when.
    pub(super) fn ending(&self) -> Option<(ScopeEnding, u64)> {
        let outer = self.outer.as_ref().and_then(|outer| outer.ending());
        match (self.ending.get(), outer) {
            (Some(own), Some(outer)) if own.0 == outer.0 => Some((own.0, own.1.min(outer.1))),
            (Some(own), Some(outer)) => Some(if own.0 > outer.0 { own } else { outer }),
            (own, outer) => own.or(outer),
        }
    }
}

impl ModelScope {
    /// Until when calls that were told to stop may take: 30 seconds after the run began to end, else after the first of
    /// the lanes around them was told.
    pub(super) fn patience(&self) -> u64 {
        self.told_at().map_or(0, |(_, told)| told)
    }

    /// The moment at which its calls are left behind, and whether the run itself is ending.
    fn told_at(&self) -> Option<(bool, u64)> {
        let own = self.ending.get().and_then(|(ending, at)| match ending {
            ScopeEnding::Settle if self.outer.is_some() => None,
            ScopeEnding::Settle | ScopeEnding::Stop => Some((self.outer.is_none(), at + GRACE)),
            ScopeEnding::Kill => Some((true, at)),
        });
        let outer = self.outer.as_ref().and_then(|outer| outer.told_at());
        match (own, outer) {
            (Some((false, own)), Some((false, outer))) => Some((false, own.min(outer))),
            (own, Some((true, outer))) if own.is_none_or(|(of_run, _)| !of_run) => Some((true, outer)),
            (own, outer) => own.or(outer),
        }
    }
}

/// Lanes that run side by side.
pub(super) struct ModelLanes<'a, T> {
    tasks: Vec<Option<ModelTask<'a, T>>>,
}

impl<'a, T> ModelLanes<'a, T> {
    pub(super) fn new() -> Self {
        Self { tasks: Vec::new() }
    }

    pub(super) fn push(&mut self, task: ModelTask<'a, T>) {
        self.tasks.push(Some(task));
    }

    pub(super) fn open(&self) -> usize {
        self.tasks.iter().flatten().count()
    }

    /// Takes those that have not ended.
    pub(super) fn take_open(&mut self) -> Vec<(usize, ModelTask<'a, T>)> {
        self.tasks.iter_mut().enumerate().filter_map(|(n, task)| Some((n, task.take()?))).collect()
    }

    /// The next one to end, with its place.
    pub(super) async fn next(&mut self, clock: &ModelClock<'_>) -> (usize, T) {
        poll_fn(|context| {
            for n in clock.sequence(self.tasks.len()) {
                let Some(task) = &mut self.tasks[n] else { continue };
                if let Poll::Ready(end) = task.as_mut().poll(context) {
                    self.tasks[n] = None;
                    clock.changed();
                    return Poll::Ready((n, end));
                }
            }
            Poll::Pending
        })
        .await
    }
}
