//! What timers go by: the machine's clock, or one that a test moves.

use std::time::{Duration, Instant};

use crate::frame::VirtualTime;

/// Longer than any host lives; an `Instant` cannot count much further.
const TIMER_MS_MAX: f64 = 1e12;

/// The time of a host.
#[derive(Debug)]
pub(crate) enum HostClock {
    /// The machine's, since the host began.
    Machine(Instant),
    /// One that only the parent moves, since 1970.
    Virtual(VirtualTime),
}

impl HostClock {
    pub(crate) fn new(time: Option<VirtualTime>) -> Self {
        time.map_or_else(|| Self::Machine(Instant::now()), Self::Virtual)
    }

    pub(crate) fn virtual_time(&self) -> Option<VirtualTime> {
        match self {
            Self::Machine(_) => None,
            Self::Virtual(time) => Some(*time),
        }
    }

    /// The parent moves it; the machine's clock is not the parent's to move.
    pub(crate) fn set(&mut self, to: VirtualTime) {
        if let Self::Virtual(time) = self {
            *time = to;
        }
    }

    /// Timers up to here are due.
    pub(crate) fn timers_until(&self) -> Duration {
        match self {
            Self::Machine(start) => start.elapsed(),
            Self::Virtual(time) => since_1970(time.timers_until_ms),
        }
    }

    /// When a timer of so many milliseconds is due.
    pub(crate) fn due_in(&self, ms: f64) -> Duration {
        // A cast of what is no number gives 0.
        let ms = ms.clamp(0.0, TIMER_MS_MAX).max(0.0);
        match self {
            Self::Machine(start) => start.elapsed() + Duration::from_secs_f64(ms / 1000.0),
            // What is to happen next is due whether or not timers of this moment are.
            Self::Virtual(_) if ms == 0.0 => Duration::ZERO,
            Self::Virtual(time) => since_1970(time.now_ms) + whole_ms(ms),
        }
    }
}

/// Virtual time goes from one millisecond to another.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to TIMER_MS_MAX")]
fn whole_ms(ms: f64) -> Duration {
    Duration::from_millis(ms.ceil() as u64)
}

fn since_1970(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}
