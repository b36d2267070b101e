//! How much scripts may log. What a call may keep of it is the engine's decision, which says so in the log; here is only seen
//! to it that a script that logs without end does not keep engine and socket busy.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::frame::CallId;

/// Twice what the engine keeps of a call: it has said by then that there is no more.
const CALL_BYTES: usize = 2 * 1024 * 1024;
/// What may be logged outside of calls, by all files of a host.
const LOOSE_BYTES: usize = 256 * 1024;
const LOOSE_WINDOW: Duration = Duration::from_secs(1);

/// What was logged so far.
#[derive(Debug)]
pub(crate) struct LogQuota {
    calls: HashMap<CallId, usize>,
    window: Instant,
    loose: usize,
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogAdmission {
    Yes,
    No,
    /// No, and it is the first.
    NoMore,
}

impl LogQuota {
    pub(crate) fn new() -> Self {
        Self { calls: HashMap::new(), window: Instant::now(), loose: 0 }
    }

    /// Whether a call that is open may log this much more.
    pub(crate) fn admit(&mut self, call: CallId, bytes: usize) -> LogAdmission {
        let used = self.calls.entry(call).or_default();
        take(used, bytes, CALL_BYTES)
    }

    /// Whether code outside of calls may log this much more.
    pub(crate) fn admit_loose(&mut self, bytes: usize, now: Instant) -> LogAdmission {
        if now.saturating_duration_since(self.window) >= LOOSE_WINDOW {
            self.window = now;
            self.loose = 0;
        }
        take(&mut self.loose, bytes, LOOSE_BYTES)
    }

    /// A call is over.
    pub(crate) fn forget(&mut self, call: CallId) {
        self.calls.remove(&call);
    }
}

fn take(used: &mut usize, bytes: usize, most: usize) -> LogAdmission {
    let was_full = *used > most;
    *used = used.saturating_add(bytes);
    match (*used > most, was_full) {
        (false, _) => LogAdmission::Yes,
        (true, true) => LogAdmission::No,
        (true, false) => LogAdmission::NoMore,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_heard_until_it_has_said_too_much() {
        let mut logs = LogQuota::new();
        assert_eq!(logs.admit(1, CALL_BYTES), LogAdmission::Yes);
        assert_eq!(logs.admit(2, 1), LogAdmission::Yes);
        assert_eq!(logs.admit(1, 1), LogAdmission::NoMore);
        assert_eq!(logs.admit(1, 1), LogAdmission::No);
        logs.forget(1);
        assert_eq!(logs.admit(1, 1), LogAdmission::Yes);
    }

    #[test]
    fn what_is_no_call_has_so_much_a_second() {
        let (mut logs, now) = (LogQuota::new(), Instant::now());
        assert_eq!(logs.admit_loose(LOOSE_BYTES, now), LogAdmission::Yes);
        assert_eq!(logs.admit_loose(1, now), LogAdmission::NoMore);
        assert_eq!(logs.admit_loose(1, now), LogAdmission::No);
        assert_eq!(logs.admit_loose(1, now + LOOSE_WINDOW), LogAdmission::Yes);
    }
}
