//! Moments that have come.
//!
//! The input says only that time has passed; the state says what is due. So a wake-up that comes twice,
//! late or for nothing does no harm.

use super::Machine;
use crate::event::{EventCause, EventKind, ExternalCause};
use crate::state::{Timer, TimerKind};

impl Machine<'_> {
    pub(super) fn set_clock_back(&mut self) {
        let by_ms = self.state.at.ms_since(self.env.now);
        if by_ms == 0 {
            self.env.now = self.env.now.max(self.state.at);
            return;
        }
        self.emit(EventKind::ClockSetBack { by_ms }, EventCause::Outside(ExternalCause::Clock));
    }

    pub(super) fn tick(&mut self) {
        self.keep_deadline();
        self.settle();
        for timer in self.state.due_timers(self.env.now) {
            // An earlier timer of the same tick may have made this one void.
            if self.state.index().timers.contains(&timer) {
                self.fire(&timer);
                self.settle();
            }
        }
    }

    fn fire(&mut self, timer: &Timer) {
        match timer.kind {
            TimerKind::Timeout(call) => self.call_timed_out(&timer.node, call),
            TimerKind::Retry => self.make_due_call(&timer.node, EventCause::Outside(ExternalCause::Clock)),
            TimerKind::Sleep | TimerKind::Alarm => self.sleep_is_over(&timer.node),
            TimerKind::Signal => self.signal_timed_out(&timer.node, None),
            TimerKind::Op(op) => self.op_is_due(&timer.node, op),
            TimerKind::RunDeadline => self.keep_deadline(),
            TimerKind::Force => self.force_end_calls(&timer.node),
        }
    }
}
