//! The engine's time: the wall clock, or one that a test moves.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rival_core::Time;
use tokio::sync::watch;

/// Where an engine's time comes from.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's clock; it never goes backwards while the engine runs.
    #[default]
    System,
    /// A clock that moves only when told to.
    Virtual(VirtualClock),
}

/// The latest time that any engine of this process has seen: a wall clock that steps back is waited out.
static LATEST: AtomicI64 = AtomicI64::new(i64::MIN);

impl Clock {
    /// The time.
    pub fn now(&self) -> Time {
        match self {
            Self::System => {
                let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                let wall = i64::try_from(wall.as_millis()).unwrap_or(i64::MAX);
                Time(LATEST.fetch_max(wall, Ordering::Relaxed).max(wall))
            }
            Self::Virtual(clock) => clock.now(),
        }
    }

    /// Waits until a moment has come.
    pub(crate) async fn until(&self, at: Time) {
        match self {
            // The wall clock may be set while we wait: look again at least every minute.
            Self::System => {
                while self.now() < at {
                    let ms = at.ms_since(self.now()).min(60_000);
                    tokio::time::sleep(Duration::from_millis(ms)).await;
                }
            }
            Self::Virtual(clock) => clock.until(at).await,
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
