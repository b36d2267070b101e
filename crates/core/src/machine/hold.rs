//! Pause, resume, and an orderly stop: what is next is held, and recorded as held.
//!
//! | state | what happens | then |
//! | --- | --- | --- |
//! | going on | pause is asked for | `RunPaused`; calls at work finish and are recorded |
//! | paused, or the engine stops | a node's turn comes | `NodeHeld` |
//! | paused | a retry or sleep is due | nothing until resume |
//! | paused or blocked | resume is asked for | `RunResumed`; held and blocked nodes go on, due timers act |
//! | the engine stops | calls are still at work at the end of the drain | `CallLost` with `shutdown`: never counted |
//! | | the step is at most once | `CallFailed` with code `interrupted`, as after a crash |
//! | | the run is ending | `CallCancelled`: it was told to stop |

use super::{Machine, MachineTask};
use crate::event::{DueCall, EventCause, EventKind, ExternalCause, LostReason};
use crate::ids::Seq;
use crate::path::Path;
use crate::state::OpenCall;

impl Machine<'_> {
    pub(super) fn holding(&self) -> bool {
        self.state.paused || !self.env.admit
    }

    /// Holds a node if nothing new may start now. Gives whether it did.
    pub(super) fn hold(&mut self, node: &Path, due: Option<DueCall>, cause: Seq) -> bool {
        if self.holding() {
            self.emit(EventKind::NodeHeld { node: node.clone(), due }, cause);
        }
        self.holding()
    }

    pub(super) fn pause(&mut self) {
        if !self.state.paused && self.state.ending.is_none() {
            self.emit(EventKind::RunPaused {}, EventCause::Outside(ExternalCause::Request));
        }
    }

    pub(super) fn resume(&mut self) {
        if !self.state.paused && self.state.index().blocked.is_empty() {
            return;
        }
        let seq = self.emit(EventKind::RunResumed {}, EventCause::Outside(ExternalCause::Request));
        self.keep_deadline();
        self.unblock(seq, |_| true);
        self.release_held(seq);
        self.start_held_children(seq);
        self.settle();
        self.take_all_signals();
        self.tick();
    }

    /// Lets held nodes go on.
    pub(super) fn release_held(&mut self, cause: Seq) {
        if self.holding() {
            return;
        }
        for node in self.state.index().held.clone() {
            match self.state.node(&node).and_then(|node| node.due()) {
                Some(due) => self.start_call(&node, due, EventCause::Event(cause)),
                None => self.release_node(node, cause),
            }
        }
    }

    /// A held node without a call that is due: it has not begun, or its mapped input is there and its
    /// block has not begun.
    fn release_node(&mut self, node: Path, cause: Seq) {
        if self.state.node(&node).is_some_and(|node| node.input.is_some()) {
            self.start_nested_block(&node, cause);
        } else {
            self.todo.push_back(MachineTask::Start(node, cause));
        }
    }

    fn release_call(&mut self, node: Path, open: &OpenCall) {
        let cause = EventCause::Outside(ExternalCause::Shutdown);
        if self.is_call_ending(&node, open.role) {
            self.cancel_unfinished(&node, open, false, cause);
        } else if self.state.is_waiting(&node) {
            self.waiting_call_was_lost(&node, open, cause);
        } else if self.must_not_be_called_again(&node, open) {
            self.interrupted_for_good(&node, open, cause);
        } else {
            self.emit(EventKind::CallLost { node, call: open.number, reason: LostReason::Shutdown }, cause);
        }
    }

    pub(super) fn release_calls(&mut self) {
        // Whatever follows from letting go is held: an engine that stops starts nothing.
        self.env.admit = false;
        // Those that end now come first, as after a crash: what is around them may fail with them, and then nothing of
        // it is to be called again.
        for all in [false, true] {
            for node in self.state.index().calls.clone() {
                // It may have ended with one before it.
                let Some(open) = self.state.node(&node).and_then(|node| node.open_call().cloned()) else {
                    continue;
                };
                if all || self.is_over(&node, &open) {
                    self.release_call(node, &open);
                    self.settle();
                }
            }
        }
    }
}
