//! The engine's time: the wall clock, or one that a test moves.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rival_core::Time;
use rival_core::view::ClockStatus;
use tokio::sync::watch;

use crate::schedule::wall_clock::{ClockReading, WallTime};

/// Where an engine's time comes from.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's clock. Steps of it are survived in both directions; see `docs/semantics.md`.
    #[default]
    System,
    /// A clock that moves only when told to.
    Virtual(VirtualClock),
    /// A machine's clock that a test sets: everything but the readings is as with [`Clock::System`].
    Stepped(SteppedClock),
}

/// The time of this process; all its engines have the same.
static SYSTEM: Mutex<WallTime> = Mutex::new(WallTime::new());

/// The last millisecond that was looked at, if the wall clock and time say the same in it.
static SAME: AtomicI64 = AtomicI64::new(i64::MIN);

/// The wall clock may be set while something waits for a moment: look again at least so often.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

impl Clock {
    /// The time.
    pub fn now(&self) -> Time {
        match self {
            Self::System => system_now(),
            Self::Virtual(clock) => clock.now(),
            Self::Stepped(clock) => clock.now(),
        }
    }

    /// What is known of it; a virtual clock is always right.
    pub fn status(&self) -> ClockStatus {
        let now = self.now();
        let right = ClockStatus { now, ahead_ms: 0, steps: 0, last_steps: Vec::new() };
        self.wall().map_or(right, |wall| wall.status())
    }

    /// How often time was set back since the process began.
    pub(crate) fn set_backs(&self) -> u64 {
        self.wall().map_or(0, |wall| wall.set_backs())
    }

    /// How long until the wall clock can be trusted against times that lie in its future; never for a virtual clock.
    pub(crate) fn trusted_in(&self) -> Option<Duration> {
        self.now();
        let us = self.wall()?.trusted_in();
        Some(Duration::from_micros(us.unsigned_abs()))
    }

    /// Waits until a moment has come, or time was set back.
    pub(crate) async fn until(&self, at: Time) {
        let set_backs = self.set_backs();
        let has_come = |clock: &Self| clock.now() >= at || clock.set_backs() != set_backs;
        match self {
            Self::System => {
                while !has_come(self) {
                    let left = at.duration_since(self.now());
                    tokio::time::sleep(left.min(LOOK_AGAIN)).await;
                }
            }
            Self::Virtual(clock) => clock.until(at).await,
            Self::Stepped(clock) => clock.until(|| has_come(self)).await,
        }
    }

    /// Waits until the wall clock can be trusted.
    pub(crate) async fn until_trusted(&self) {
        let is_trusted = |clock: &Self| clock.trusted_in().is_some_and(|left| left.is_zero());
        match self {
            Self::System => {
                while let Some(left) = self.trusted_in().filter(|left| !left.is_zero()) {
                    tokio::time::sleep(left).await;
                }
            }
            Self::Virtual(_) => std::future::pending().await,
            Self::Stepped(clock) => clock.until(|| is_trusted(self)).await,
        }
    }

    fn wall(&self) -> Option<MutexGuard<'_, WallTime>> {
        match self {
            Self::System => Some(lock(&SYSTEM)),
            Self::Virtual(_) => None,
            Self::Stepped(clock) => Some(lock(&clock.time)),
        }
    }
}

/// Every decision asks for the time, and both clocks and the lock are read once in a millisecond: within one, a wall clock
/// that time goes by says the same again. Whether it was set is seen from one such look to the next, however far apart.
fn system_now() -> Time {
    let wall = wall_us();
    let moment = Time(wall.div_euclid(1_000));
    if SAME.load(Ordering::Acquire) == moment.0 {
        return moment;
    }
    // Read before the lock, because reading takes longest.
    let reading = ClockReading { wall, passed: passed_us() };
    let mut system = lock(&SYSTEM);
    let now = system.at(reading);
    // With the lock: an earlier moment must not take the place of a later one.
    SAME.store(if now == moment { moment.0 } else { i64::MIN }, Ordering::Release);
    now
}

fn wall_us() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |us| -us),
    }
}

/// What has passed since the machine was started, also while it was suspended.
#[cfg(target_os = "linux")]
fn passed_us() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_nsec / 1_000)
}

/// What has passed since the first look. Whether a suspended machine counts is the system's choice; where it does not,
/// waking up looks like a wall clock that was set forward.
#[cfg(not(target_os = "linux"))]
fn passed_us() -> i64 {
    static FIRST: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    i64::try_from(FIRST.elapsed().as_micros()).unwrap_or(i64::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A machine with a wall clock that a test sets.
#[derive(Clone, Debug)]
pub struct SteppedClock {
    time: Arc<Mutex<WallTime>>,
    reading: Arc<watch::Sender<ClockReading>>,
}

impl SteppedClock {
    /// A machine whose wall clock stands at a moment.
    pub fn at(now: Time) -> Self {
        let reading = ClockReading { wall: now.0.saturating_mul(1_000), passed: 0 };
        Self { time: Arc::new(Mutex::new(WallTime::new())), reading: Arc::new(watch::Sender::new(reading)) }
    }

    /// Lets time pass, in steps of at most a second.
    pub fn pass(&self, time: Duration) {
        let mut left = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        while left > 0 {
            let us = left.min(1_000_000);
            left -= us;
            self.reading.send_modify(|reading| {
                reading.wall += us;
                reading.passed += us;
            });
            self.now();
        }
    }

    /// Sets the wall clock forward, or back if the number of milliseconds is less than zero.
    pub fn step(&self, by_ms: i64) {
        self.reading.send_modify(|reading| reading.wall = reading.wall.saturating_add(by_ms * 1_000));
        self.now();
    }

    /// What the wall clock says.
    pub fn wall(&self) -> Time {
        Time(self.reading.borrow().wall.div_euclid(1_000))
    }

    /// The process ends, and another one begins on the same machine.
    #[must_use]
    pub fn after_restart(&self) -> Self {
        let time = Arc::new(Mutex::new(WallTime::new()));
        Self { time, reading: Arc::clone(&self.reading) }
    }

    fn now(&self) -> Time {
        // Read under the lock: readings come in order.
        let mut time = lock(&self.time);
        let reading = *self.reading.borrow();
        time.at(reading)
    }

    async fn until(&self, has_come: impl Fn() -> bool) {
        let mut moved = self.reading.subscribe();
        while !has_come() {
            // The sender lives in `self`, so waiting cannot fail.
            let _ = moved.changed().await;
        }
    }
}

/// A clock that a test moves.
#[derive(Clone, Debug)]
pub struct VirtualClock {
    now: Arc<Mutex<Time>>,
    moved: Arc<watch::Sender<Time>>,
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self::at(Time(1_700_000_000_000))
    }
}

impl VirtualClock {
    /// A clock that stands at a moment.
    pub fn at(now: Time) -> Self {
        Self { now: Arc::new(Mutex::new(now)), moved: Arc::new(watch::Sender::new(now)) }
    }

    /// The time.
    pub fn now(&self) -> Time {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the clock forward to a moment; never back.
    pub fn set(&self, to: Time) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        *now = to.max(*now);
        self.moved.send_replace(*now);
    }

    async fn until(&self, at: Time) {
        let mut moved = self.moved.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = moved.wait_for(|now| *now >= at).await;
    }
}
