//! A clock that was ahead and is set back: how that changes the state.
//!
//! What was left of each wait, timeout and deadline when the run's last event was written is left now. Only sleeps
//! until a moment of the wall clock stay where they are. When things began stays as it was recorded.

use super::{EndingScope, RunState, StepOps, Timer, TimerKind};
use crate::ids::Time;

impl RunState {
    pub(super) fn set_clock_back(&mut self, by_ms: u64, now: Time) {
        self.at = now;
        let back = |time: &mut Option<Time>| *time = time.map(|time| time.minus_ms(by_ms));
        let timers = std::mem::take(&mut self.timers);
        for mut timer in timers {
            match timer.kind {
                TimerKind::Alarm => {}
                TimerKind::Timeout(_)
                | TimerKind::Retry
                | TimerKind::Sleep
                | TimerKind::Signal
                | TimerKind::Op(_)
                | TimerKind::RunDeadline
                | TimerKind::Force => timer.at = timer.at.minus_ms(by_ms),
            }
            self.timers.insert(timer);
        }
        for (path, node) in &mut self.nodes {
            if let Some(call) = &mut node.call {
                back(&mut call.deadline);
            }
            let Some(at) = node.wake_at else { continue };
            let alarm = Timer { at, node: path.clone(), kind: TimerKind::Alarm };
            if !self.timers.contains(&alarm) {
                node.wake_at = Some(at.minus_ms(by_ms));
            }
        }
        for op in self.ops.values_mut().flat_map(StepOps::iter_mut) {
            back(&mut op.until);
            op.taken = op.taken.map(|sent_at| sent_at.min(now));
        }
        for scope in self.scopes.values_mut() {
            if let EndingScope::Stopping { force_at, .. } = scope {
                *force_at = force_at.minus_ms(by_ms);
            }
        }
        self.signals.set_clock_back(by_ms, now);
    }
}
