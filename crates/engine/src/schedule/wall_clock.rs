//! Time for a process whose wall clock may be wrong, and may be set while it runs.
//!
//! Two clocks are read together: the wall clock, which people and NTP set, and one that only counts what has passed.
//! Where they disagree, the wall clock was set:
//!
//! | the wall clock was set | time |
//! | --- | --- |
//! | forward, by up to a day | follows at once: what fell due is done, as after a suspended machine wakes up |
//! | forward, by more | goes on with what has passed, and follows when the wall clock has been steady for a minute |
//! | back, by up to three hours | goes on one eighth slower, until the wall clock is there |
//! | back, by more | the same; when the wall clock has been steady for ten minutes, time is *set back* to it |
//!
//! Only being set back takes time back. Runs that were written in what is the future then are told so one by one
//! (`Input::ClockSetBack`), and so are those that another process left there: a process trusts its own wall clock once
//! it has been steady for ten minutes.

use std::collections::VecDeque;

use rival_core::Time;
use rival_core::view::{ClockStatus, ClockStep};

/// Differences between the two clocks below this are not worth a word: they are read one after the other.
const STEP_MIN_US: i64 = 5_000_000;
/// The wall clock may be set forward by this much without being doubted.
const FORWARD_MAX_US: i64 = 24 * HOUR_US;
/// A wall clock that is further ahead is believed when it has been steady for so long.
const FORWARD_PROOF_US: i64 = 60_000_000;
/// Time waits for a wall clock that was set back by this much, and is not set back.
const BACK_MAX_US: i64 = 3 * HOUR_US;
/// A wall clock that is further back is believed when it has been steady for so long.
pub(crate) const BACK_PROOF_US: i64 = 600_000_000;
const HOUR_US: i64 = 3_600_000_000;
/// Time that is ahead goes slower by one part in so many.
const SLOWER_BY: i64 = 8;
/// How many steps are remembered.
const STEPS_KEPT: usize = 16;

/// Both clocks at one moment, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockReading {
    /// Since 1970, says the wall clock.
    pub(crate) wall: i64,
    /// What has passed since some moment; also while the machine is suspended, where the system can tell.
    pub(crate) passed: i64,
}

/// Makes one time of the readings of two clocks.
#[derive(Debug)]
pub(crate) struct WallTime {
    last: Option<ClockReading>,
    time: i64,
    /// Since when, in what has passed, the wall clock was not set.
    steady_since: i64,
    /// What has passed and was not made use of to let the wall clock catch up.
    slow: i64,
    set_backs: u64,
    steps: u64,
    last_steps: VecDeque<ClockStep>,
}

impl WallTime {
    pub(crate) const fn new() -> Self {
        Self {
            last: None,
            time: 0,
            steady_since: 0,
            slow: 0,
            set_backs: 0,
            steps: 0,
            last_steps: VecDeque::new(),
        }
    }

    /// The time at a reading. One that comes after a later one is of no use.
    pub(crate) fn at(&mut self, reading: ClockReading) -> Time {
        self.follow(reading);
        Time(self.time.div_euclid(1_000))
    }

    fn follow(&mut self, reading: ClockReading) {
        let ClockReading { wall, passed } = reading;
        if self.last.is_some_and(|last| passed < last.passed) {
            return;
        }
        let Some(last) = self.last.replace(reading) else {
            (self.time, self.steady_since) = (wall, passed);
            return;
        };
        let elapsed = passed.saturating_sub(last.passed);
        let step = wall.saturating_sub(last.wall.saturating_add(elapsed));
        if step.saturating_abs() >= STEP_MIN_US {
            self.note(step, reading);
        }
        let expected = self.time.saturating_add(elapsed);
        let ahead = expected.saturating_sub(wall);
        let steady = passed.saturating_sub(self.steady_since);
        let proof = match ahead {
            ..0 if ahead < -FORWARD_MAX_US => FORWARD_PROOF_US,
            ..=BACK_MAX_US => 0,
            _ => BACK_PROOF_US,
        };
        self.time = if ahead <= 0 {
            if steady >= proof { wall } else { expected }
        } else if proof > 0 && steady >= proof {
            self.set_backs += 1;
            tracing::warn!(
                back_ms = ahead / 1_000,
                "time is set back to the wall clock, and so are runs that were written in the future"
            );
            wall
        } else {
            expected - self.slowed(elapsed, ahead)
        };
    }

    /// How much of the time that has passed since the last reading is left out.
    fn slowed(&mut self, elapsed: i64, ahead: i64) -> i64 {
        self.slow += elapsed;
        let out = (self.slow / SLOWER_BY).min(ahead);
        self.slow = if out == ahead { 0 } else { self.slow - out * SLOWER_BY };
        out
    }

    fn note(&mut self, step: i64, ClockReading { wall, passed }: ClockReading) {
        let (at, by_ms) = (Time(wall.div_euclid(1_000)), step / 1_000);
        if step > 0 {
            tracing::warn!(by_ms, now = %at, "the wall clock was set forward, or the machine was suspended");
        } else {
            tracing::warn!(by_ms, now = %at, "the wall clock was set back; timers go on");
        }
        self.steady_since = passed;
        self.steps += 1;
        if self.last_steps.len() == STEPS_KEPT {
            self.last_steps.pop_front();
        }
        self.last_steps.push_back(ClockStep { at, by_ms });
    }

    /// How often time was set back.
    pub(crate) fn set_backs(&self) -> u64 {
        self.set_backs
    }

    /// How long, in microseconds from the last reading on, until the wall clock can be trusted against what other
    /// processes wrote; zero if it can be now.
    pub(crate) fn trusted_in(&self) -> i64 {
        let passed = self.last.map_or(0, |last| last.passed);
        (BACK_PROOF_US - passed.saturating_sub(self.steady_since)).max(0)
    }

    pub(crate) fn status(&self) -> ClockStatus {
        let wall = self.last.map_or(0, |last| last.wall);
        ClockStatus {
            now: Time(self.time.div_euclid(1_000)),
            ahead_ms: (self.time - wall) / 1_000,
            steps: self.steps,
            last_steps: self.last_steps.iter().copied().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;
    const MINUTE: i64 = 60 * SECOND;
    const YEAR: i64 = 365 * 24 * HOUR_US;

    /// A machine with two clocks, and the time that is made of them.
    struct Machine {
        clocks: ClockReading,
        time: WallTime,
    }

    impl Machine {
        fn new() -> Self {
            let mut machine =
                Self { clocks: ClockReading { wall: 60 * YEAR, passed: 7 * MINUTE }, time: WallTime::new() };
            machine.look();
            machine
        }

        fn look(&mut self) -> i64 {
            self.time.at(self.clocks).0 * 1_000
        }

        /// Lets time pass, with a look every second.
        fn pass(&mut self, us: i64) -> i64 {
            let end = self.clocks.passed + us;
            while self.clocks.passed < end {
                let step = SECOND.min(end - self.clocks.passed);
                self.clocks.passed += step;
                self.clocks.wall += step;
                self.look();
            }
            self.look()
        }

        fn set(&mut self, by: i64) -> i64 {
            self.clocks.wall += by;
            self.look()
        }

        /// How far time is ahead of the wall clock.
        fn ahead(&mut self) -> i64 {
            self.look() - self.clocks.wall
        }
    }

    #[test]
    fn time_is_the_wall_clock_as_long_as_that_is_steady() {
        let mut machine = Machine::new();
        assert_eq!(machine.pass(3 * HOUR_US), machine.clocks.wall);
        assert_eq!(machine.time.status().steps, 0);
    }

    #[test]
    fn a_day_forward_is_followed_at_once() {
        let mut machine = Machine::new();
        let before = machine.look();
        assert_eq!(machine.set(24 * HOUR_US), before + 24 * HOUR_US);
        let step = ClockStep { at: Time(machine.clocks.wall / 1_000), by_ms: 24 * 3_600_000 };
        assert_eq!(machine.time.status().last_steps, [step]);
    }

    #[test]
    fn ten_years_for_a_second_are_not_followed() {
        let mut machine = Machine::new();
        let before = machine.look();
        assert_eq!(machine.set(10 * YEAR), before);
        assert_eq!(machine.pass(SECOND), before + SECOND);
        assert_eq!(machine.set(-10 * YEAR), before + SECOND);
        assert_eq!(machine.pass(20 * MINUTE), before + SECOND + 20 * MINUTE);
        assert_eq!((machine.ahead(), machine.time.status().steps), (0, 2));
    }

    #[test]
    fn ten_years_are_followed_after_a_minute() {
        let mut machine = Machine::new();
        let before = machine.look();
        machine.set(10 * YEAR);
        assert_eq!(machine.pass(MINUTE - SECOND), before + MINUTE - SECOND);
        assert_eq!(machine.pass(SECOND), before + MINUTE + 10 * YEAR);
        assert_eq!(machine.time.set_backs(), 0);
    }

    #[test]
    fn two_hours_back_time_goes_on_slower_and_never_back() {
        let mut machine = Machine::new();
        let before = machine.look();
        assert_eq!(machine.set(-2 * HOUR_US), before);
        assert_eq!(machine.pass(8 * MINUTE), before + 7 * MINUTE);
        machine.pass(16 * HOUR_US);
        assert_eq!((machine.ahead(), machine.time.set_backs()), (0, 0));
    }

    #[test]
    fn many_looks_slow_time_down_as_much_as_one() {
        let (mut often, mut once) = (Machine::new(), Machine::new());
        often.set(-HOUR_US);
        once.set(-HOUR_US);
        for _ in 0..8_000_000 / 13 {
            often.clocks.passed += 13;
            often.clocks.wall += 13;
            often.look();
        }
        once.clocks.passed += 8 * SECOND;
        once.clocks.wall += 8 * SECOND;
        assert!((often.look() - once.look()).abs() < 1_001);
    }

    #[test]
    fn a_year_back_is_followed_after_ten_minutes() {
        let mut machine = Machine::new();
        machine.set(-YEAR);
        machine.pass(10 * MINUTE - SECOND);
        assert!(machine.ahead() > YEAR - 2 * MINUTE);
        machine.pass(SECOND);
        assert_eq!((machine.ahead(), machine.time.set_backs()), (0, 1));
    }

    #[test]
    fn a_minute_in_another_year_changes_nothing() {
        let mut machine = Machine::new();
        machine.set(-YEAR);
        machine.pass(MINUTE);
        machine.set(YEAR);
        machine.pass(20 * MINUTE);
        assert_eq!((machine.ahead(), machine.time.set_backs()), (0, 0));
    }

    #[test]
    fn a_wall_clock_is_trusted_when_it_has_been_steady() {
        let mut machine = Machine::new();
        assert_eq!(machine.time.trusted_in(), 10 * MINUTE);
        machine.pass(9 * MINUTE);
        assert_eq!(machine.time.trusted_in(), MINUTE);
        machine.set(6 * SECOND);
        assert_eq!(machine.time.trusted_in(), 10 * MINUTE);
        machine.pass(11 * MINUTE);
        assert_eq!(machine.time.trusted_in(), 0);
    }

    #[test]
    fn absurd_readings_are_survived() {
        let mut machine = Machine::new();
        for wall in [i64::MAX, i64::MIN, 0, i64::MAX] {
            machine.clocks.wall = wall;
            machine.look();
            machine.clocks.passed += 20 * MINUTE;
            machine.look();
        }
    }
}
