//! When the process dies, and when only what runs a function does.
//!
//! A crash is at a boundary, that is at something the store is asked to write, before it is written or after, or
//! inside of a function. From then on nothing is written or read, until the next life. A function that loses what runs
//! it says so, and the engine lives on.

use std::future::pending;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use rival_core::event::LostReason;

use crate::dice::SeededDice;
use crate::script::ScriptPart;

/// Where the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashSide {
    /// What was to be written is not.
    Before,
    /// It is written, but the process dies before it hears of it.
    After,
}

/// Where in a function the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashInside {
    /// When it was called.
    Beginning,
    /// When its work is done.
    End,
}

/// Which crashes there are to be.
#[derive(Clone, Debug)]
pub enum CrashFate {
    /// None.
    Spared,
    /// One, at the boundary with this number, from 0.
    At(u64, CrashSide),
    /// Some, by chance.
    Chance(SeededDice),
}

/// How many crashes chance brings to one run; more of them end in quarantine.
const MOST: u32 = 4;
/// How many calls of one run lose what runs them because of another call.
const BYSTANDERS_MOST: u32 = 10;

/// The crashes of one run.
#[derive(Debug)]
pub struct CrashSchedule {
    state: Mutex<CrashState>,
}

#[derive(Debug)]
struct CrashState {
    fate: CrashFate,
    /// Decides which calls lose what runs them.
    losses: Option<SeededDice>,
    bystanders: u32,
    dead: bool,
    count: u32,
    /// Boundaries so far.
    boundaries: u64,
    /// What the store is doing.
    in_flight: u32,
    /// Who waits for rest, or for the end of this life.
    watcher: Option<Waker>,
    at_rest: bool,
    place: Option<CrashPlace>,
}

/// Where a crash was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CrashPlace {
    /// Between functions, at something that was to be written.
    Boundary,
    /// Inside of a function.
    Function(ScriptPart),
    /// Nowhere: the engine stopped in order, while calls were at work or not.
    Stop,
}

impl CrashSchedule {
    /// The crashes that fate holds.
    pub fn new(fate: CrashFate) -> Self {
        let losses = match &fate {
            CrashFate::Chance(dice) => Some(dice.branch("losses")),
            CrashFate::Spared | CrashFate::At(..) => None,
        };
        let state = CrashState {
            fate,
            losses,
            bystanders: 0,
            dead: false,
            count: 0,
            boundaries: 0,
            in_flight: 0,
            watcher: None,
            at_rest: false,
            place: None,
        };
        Self { state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, CrashState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new life begins.
    pub fn live(&self) {
        let mut state = self.state();
        state.dead = false;
        state.in_flight = 0;
        state.watcher = None;
    }

    /// Whether this life is over.
    pub fn is_dead(&self) -> bool {
        self.state().dead
    }

    /// How many boundaries there were.
    pub fn boundaries(&self) -> u64 {
        self.state().boundaries
    }

    /// Where the last crash was.
    pub fn place(&self) -> Option<CrashPlace> {
        self.state().place
    }

    /// The process dies inside of a function, if it is time for that.
    pub(crate) async fn inside(&self, part: ScriptPart, at: CrashInside) {
        let dead = {
            let mut state = self.state();
            if !state.dead && state.falls_inside(part, at) {
                state.die(CrashPlace::Function(part));
            }
            state.dead
        };
        if dead {
            pending::<()>().await;
        }
    }

    /// Whether a function loses what runs it now.
    pub(crate) fn loses(&self) -> Option<LostReason> {
        let mut state = self.state();
        let dice = state.losses.as_mut()?;
        let (lost, counts) = (dice.percent(2), dice.percent(30));
        if !lost {
            None
        } else if counts && state.count < MOST {
            state.count += 1;
            Some(LostReason::Crash)
        } else if !counts && state.bystanders < BYSTANDERS_MOST {
            state.bystanders += 1;
            Some(LostReason::Bystander)
        } else {
            None
        }
    }

    /// Whether the engine is to stop in order now.
    pub(crate) fn stops(&self) -> bool {
        let mut state = self.state();
        let CrashFate::Chance(dice) = &mut state.fate else { return false };
        let stops = dice.percent(1) && state.count < MOST;
        if stops {
            state.count += 1;
            state.place = Some(CrashPlace::Stop);
        }
        stops
    }

    /// Something is to be written: on which side of it the process dies, if it does.
    pub(crate) fn boundary(&self) -> Option<CrashSide> {
        let mut state = self.state();
        let number = state.boundaries;
        state.boundaries += 1;
        match &mut state.fate {
            CrashFate::Spared => None,
            CrashFate::At(at, side) => (*at == number).then_some(*side),
            CrashFate::Chance(dice) => {
                let roll = dice.below(100);
                let falls = roll < 8 && state.count < MOST;
                falls.then_some(if roll < 4 { CrashSide::Before } else { CrashSide::After })
            }
        }
    }

    /// The process dies at a boundary.
    pub(crate) async fn die<T>(&self) -> T {
        self.state().die(CrashPlace::Boundary);
        pending().await
    }

    /// The store does something until this is dropped; after the crash it does not.
    pub(crate) async fn enter(&self) -> InFlight<'_> {
        let dead = {
            let mut state = self.state();
            state.in_flight += u32::from(!state.dead);
            state.dead
        };
        if dead { pending().await } else { InFlight(self) }
    }

    /// Nothing can go on in the runtime, unless the store answers.
    pub(crate) fn parked(&self) {
        let mut state = self.state();
        if state.in_flight == 0 {
            state.at_rest = true;
            state.wake();
        }
    }

    /// Waits for the end of this life.
    pub(crate) async fn death(&self) {
        std::future::poll_fn(|context| {
            let mut state = self.state();
            if state.dead {
                return Poll::Ready(());
            }
            state.watcher = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Waits until nothing happens any more without time passing.
    pub(crate) async fn rest(&self) {
        self.state().at_rest = false;
        std::future::poll_fn(|context| {
            let mut state = self.state();
            if state.at_rest {
                return Poll::Ready(());
            }
            state.watcher = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Something that the store is doing.
pub(crate) struct InFlight<'a>(&'a CrashSchedule);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.in_flight = state.in_flight.saturating_sub(1);
    }
}

impl CrashState {
    fn die(&mut self, place: CrashPlace) {
        self.dead = true;
        self.count += 1;
        self.place = Some(place);
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(watcher) = self.watcher.take() {
            watcher.wake();
        }
    }

    fn falls_inside(&mut self, part: ScriptPart, at: CrashInside) -> bool {
        let CrashFate::Chance(dice) = &mut self.fate else { return false };
        let likely = match part {
            ScriptPart::Handler | ScriptPart::Undo | ScriptPart::Once => 10,
            _ => 2,
        };
        let falls = dice.percent(likely) && self.count < MOST;
        falls && (at == CrashInside::End || dice.percent(50))
    }
}
