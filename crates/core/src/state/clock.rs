//! A clock that was ahead and is set back: how that changes the state.
//!
//! What was left of each wait, timeout and deadline when the run's last event was written is left now. Only sleeps
//! until a moment of the wall clock stay where they are. When things began stays as it was recorded.

use super::{EndingScope, NodePhase, RunState, StepOps, WaitReason};
use crate::ids::Time;

impl RunState {
    pub(super) fn set_clock_back(&mut self, by_ms: u64, now: Time) {
        self.at = now;
        let back = |time: &mut Option<Time>| *time = time.map(|time| time.minus_ms(by_ms));
        for node in self.nodes.values_mut() {
            match &mut node.phase {
                NodePhase::Calling { call, .. } => back(&mut call.deadline),
                NodePhase::Waiting { why: WaitReason::Alarm, .. } => {}
                NodePhase::Waiting { until, .. } => back(until),
                NodePhase::Idle | NodePhase::Held { .. } | NodePhase::Blocked { .. } => {}
            }
        }
        back(&mut self.deadline);
        back(&mut self.force_at);
        for op in self.ops.values_mut().flat_map(StepOps::iter_mut) {
            back(&mut op.until);
            op.taken = op.taken.map(|sent_at| sent_at.min(now));
        }
        for scope in self.scopes.values_mut() {
            if let EndingScope::Cancelling { force_at, .. } = scope {
                *force_at = force_at.minus_ms(by_ms);
            }
        }
        self.signals.set_clock_back(by_ms, now);
        self.rebuild_index();
    }
}
