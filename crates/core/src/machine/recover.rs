//! What a crash or an orderly stop left behind, dealt with when the run is loaded; and calls that were cut short while
//! the run was live, because what ran their function is gone.
//!
//! | found | and | then |
//! | --- | --- | --- |
//! | a run past its deadline | it is not paused | `RunFailing`, before anything starts |
//! | a call at work | it, or something around it, is ending | `CallCancelled` |
//! | | the step is at most once | `CallFailed` with code `interrupted` |
//! | | it was cut short five times, not as a bystander | `NodeBlocked`, quarantined |
//! | | otherwise | `CallLost` and a new call, uncharged |
//! | | it waits inside a durable operation | `CallSuspended` and a new call |
//! | a step that was suspended | an operation has ended that it may not have been told of | a new call |
//! | a held node | the run is not paused | it goes on |
//! | a signal that is kept | a wait for it is open | it is taken |
//! | a node blocked for a missing function or a value that does not decode | | it is tried again |
//! | a timer that is due | | it acts |

use super::{INTERRUPTIONS_MAX, Machine};
use crate::event::{
    BlockedReason, CallRole, EventCause, EventKind, ExternalCause, FailureVerdict, LostReason,
};
use crate::failure::{FailureRecord, code};
use crate::ids::Seq;
use crate::path::Path;
use crate::state::OpenCall;

impl Machine<'_> {
    pub(super) fn activate(&mut self, loaded: Seq) {
        self.keep_deadline();
        // Those that end now come first: nothing should start in a block that fails with them.
        for all in [false, true] {
            for node in self.state.index().calls.clone() {
                // It may have ended with one before it.
                let Some(open) = self.state.node(&node).and_then(|node| node.open_call().cloned()) else {
                    continue;
                };
                let legacy = open.started <= loaded;
                if legacy && (all || self.is_over(&node, &open)) {
                    let cause = EventCause::Outside(ExternalCause::Recovery);
                    self.call_cut_short(&node, &open, LostReason::Crash, cause);
                    self.settle();
                }
            }
        }
        let cause = self.state.seq;
        self.unblock(cause, |reason| match reason {
            // The code may be another one now.
            BlockedReason::FunctionMissing { .. }
            | BlockedReason::Undecodable { .. }
            | BlockedReason::Nondeterminism { .. } => true,
            // A call that kills the process is not made again until an operator resumes the run.
            BlockedReason::Quarantined { .. } => false,
        });
        self.release_held(cause);
        self.start_held_children(cause);
        self.give_answers();
        self.settle();
        self.take_all_signals();
        self.tick();
    }

    /// A call has ended without a word of its function.
    pub(super) fn call_cut_short(
        &mut self,
        node: &Path,
        open: &OpenCall,
        reason: LostReason,
        cause: EventCause,
    ) {
        if self.is_call_ending(node, open.role) {
            self.cancel_unfinished(node, open, false, cause);
        } else if self.state.is_waiting(node) {
            self.waiting_call_was_lost(node, open, cause);
        } else {
            self.call_was_lost(node, open, reason, cause);
        }
    }

    /// The process that ran a function is gone, while the run is live.
    pub(super) fn lost_what_ran_it(&mut self, node: &Path, open: &OpenCall, reason: LostReason) {
        let cause = EventCause::Event(open.started);
        // What was more than a bystander did something, whatever else it waited for: it must not go round for ever.
        if reason == LostReason::Crash && !self.is_call_ending(node, open.role) {
            self.call_was_lost(node, open, reason, cause);
        } else {
            self.call_cut_short(node, open, reason, cause);
        }
    }

    /// The call says nothing about its function: make it again, unless that is not allowed.
    fn call_was_lost(&mut self, node: &Path, open: &OpenCall, reason: LostReason, cause: EventCause) {
        if self.must_not_be_called_again(node, open) {
            return self.interrupted_for_good(node, open, cause);
        }
        let event = EventKind::CallLost { node: node.clone(), call: open.number, reason };
        let lost = self.emit(event, cause);
        let interruptions = self.state.node(node).map_or(0, |node| node.interruptions);
        if interruptions >= INTERRUPTIONS_MAX {
            let reason = BlockedReason::Quarantined { interruptions };
            self.emit(EventKind::NodeBlocked { node: node.clone(), reason }, lost);
        } else {
            self.make_due_call(node, EventCause::Event(lost));
        }
    }

    /// Whether a call that is cut short now ends its node.
    pub(super) fn is_over(&self, node: &Path, open: &OpenCall) -> bool {
        self.is_call_ending(node, open.role) || self.must_not_be_called_again(node, open)
    }

    pub(super) fn must_not_be_called_again(&self, node: &Path, open: &OpenCall) -> bool {
        open.role == CallRole::Step && self.step(node).is_some_and(|step| step.at_most_once)
    }

    pub(super) fn interrupted_for_good(&mut self, node: &Path, open: &OpenCall, cause: EventCause) {
        let message = format!("`{node}` was interrupted and must not be called again; it may have acted");
        let failure = FailureRecord::new(code::INTERRUPTED, message);
        let proceed = self.step(node).is_some_and(|step| step.continue_on_error);
        let verdict = if proceed { FailureVerdict::Continue } else { FailureVerdict::Fail };
        let state = self.env.states.written(node, open.number);
        self.call_failed(node, open, failure, state, verdict, cause);
    }

    pub(super) fn unblock(&mut self, cause: Seq, which: impl Fn(&BlockedReason) -> bool) {
        for node in self.state.index().blocked.clone() {
            let Some(state) = self.state.node(&node) else {
                return self.broken(&node, "a node is blocked that is gone");
            };
            if !state.blocked().is_some_and(&which) {
                continue;
            }
            let due = state.due();
            let seq = self.emit(EventKind::NodeUnblocked { node: node.clone() }, cause);
            if let Some(due) = due {
                self.begin_call(&node, due, seq);
            }
        }
    }
}
