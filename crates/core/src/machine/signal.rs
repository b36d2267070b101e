//! Signals: messages from outside, and the nodes and operations that wait for them.
//!
//! | when | and | then |
//! | --- | --- | --- |
//! | a signal node's turn comes | | `SignalAwaited`, unless it is held |
//! | a signal arrives | too many are kept already | it is refused, nothing is recorded |
//! | | otherwise | `SignalReceived`: it is kept |
//! | a signal is kept, a wait for its name is open | it was sent before the wait's deadline | `SignalTaken`: the oldest wait takes the oldest signal |
//! | | it was there when the wait began | `SignalTaken`, whatever the deadline |
//! | | it was sent later | `SignalTimedOut` for that wait; the next one is asked |
//! | | the run is paused, or the engine stops | nothing until it goes on |
//! | the deadline comes | | `SignalTimedOut`: a failure with code `signal_timeout`, or `null` |
//!
//! What decides between a signal and a deadline is when the signal was sent, not when the run was there to see it. So
//! the engine gives the machine the signals that wait before it ticks.

use super::{Machine, MachineTask};
use crate::event::{EventCause, EventKind, ExternalCause};
use crate::failure::{FailureRecord, code};
use crate::ids::{Seq, Time};
use crate::path::Path;
use crate::plan::{NodeKind, SignalNode};
use crate::state::SignalWaiter;
use crate::value::Value;

/// How many signals that were not taken a run keeps.
pub const SIGNALS_MAX: usize = 1_000;

/// A signal as it was sent.
#[derive(Clone, Debug)]
pub struct SentSignal {
    /// Its name.
    pub name: String,
    /// The sender's id for it.
    pub id: Option<String>,
    /// What it says.
    pub payload: Value,
    /// When it was sent.
    pub sent_at: Time,
    /// Who sent it.
    pub by: Option<String>,
}

impl Machine<'_> {
    pub(super) fn start_signal(&mut self, path: &Path, signal: &SignalNode, cause: Seq) {
        if self.hold(path, None, cause) {
            return;
        }
        let until = signal.timeout_ms.map(|ms| self.env.now.plus_ms(ms));
        let name = signal.signal.clone();
        self.emit(EventKind::SignalAwaited { node: path.clone(), name: name.clone(), until }, cause);
        self.take_signals(&name);
    }

    pub(super) fn signal_arrived(&mut self, signal: SentSignal) {
        self.keep_deadline();
        if self.state.signals.kept() >= SIGNALS_MAX {
            self.decision.refused = true;
            return;
        }
        let SentSignal { name, id, payload, sent_at, by: _ } = signal;
        // A clock that was ahead may have dated it.
        let sent_at = sent_at.min(self.env.now);
        let event = EventKind::SignalReceived { name: name.clone(), id, payload, sent_at };
        self.emit(event, EventCause::Outside(ExternalCause::Request));
        self.take_signals(&name);
    }

    /// Gives the signals that are kept to those that wait for them.
    pub(super) fn take_all_signals(&mut self) {
        for name in self.state.signals.paired() {
            self.take_signals(&name);
        }
    }

    pub(super) fn take_signals(&mut self, name: &str) {
        while !self.holding() && self.state.ending.is_none() {
            let Some((signal, sent_at, since, wait)) = self.state.signals.pair(name) else { return };
            let SignalWaiter { node, op, until } = wait.clone();
            // One that was there when the wait began is in time, also for a wait of no time at all.
            let came_later = signal > since;
            if came_later && until.is_some_and(|until| until <= sent_at.min(self.env.now)) {
                self.signal_timed_out(&node, op);
                continue;
            }
            let taken = self.emit(EventKind::SignalTaken { node: node.clone(), op, signal }, signal);
            self.wait_is_over(&node, op, taken);
        }
    }

    /// The deadline of a wait has come, and no signal that was sent before it is there.
    pub(super) fn signal_timed_out(&mut self, node: &Path, op: Option<u32>) {
        let failure = self.timeout_failure(node, op);
        let event = EventKind::SignalTimedOut { node: node.clone(), op, failure };
        let seq = self.emit(event, EventCause::Outside(ExternalCause::Clock));
        self.wait_is_over(node, op, seq);
    }

    fn wait_is_over(&mut self, node: &Path, op: Option<u32>, cause: Seq) {
        match op {
            Some(op) => self.op_answered(node, op, cause),
            None => self.todo.push_back(MachineTask::Ended(node.clone(), cause)),
        }
    }

    fn timeout_failure(&self, node: &Path, op: Option<u32>) -> Option<FailureRecord> {
        let (name, is_value) = match op {
            Some(op) => {
                let op = self.state.op(node, op)?;
                (&op.key.name, op.timeout_is_value)
            }
            None => {
                let NodeKind::Signal(signal) = &self.plan.node(node)?.node().kind else { return None };
                (&signal.signal, signal.timeout_is_value)
            }
        };
        let message = || format!("`{node}` waited for the signal `{name}`, and none came in time");
        (!is_value).then(|| FailureRecord::new(code::SIGNAL_TIMEOUT, message()))
    }
}
