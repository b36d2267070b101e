//! How far a call repeats what an earlier call of its attempt has done.
//!
//! | the earlier call | it is repeated until |
//! | --- | --- |
//! | was suspended | the function uses an answer that it had not used, or asks for something new |
//! | was lost after it had asked for something | the function has asked for all of that again |
//! | failed: this is a new attempt | nothing is repeated |
//!
//! What a function does before that point it has done before, and its log lines are stored.

use std::collections::BTreeSet;

use crate::durable::OpKey;
use crate::state::StepOps;

/// The part of a call that repeats an earlier one.
#[derive(Clone, Debug, Default)]
pub struct RepeatedPart {
    /// Asked for before in this attempt, and not yet again.
    left: BTreeSet<OpKey>,
    /// All that is recorded, also of earlier attempts.
    known: BTreeSet<OpKey>,
    /// The operations whose answers were used before.
    used: BTreeSet<u32>,
    /// The earlier call did nothing more than that before it was suspended.
    to_the_wait: bool,
    over: bool,
}

impl RepeatedPart {
    /// The part of a new call of this attempt.
    pub fn new(ops: Option<&StepOps>, attempt: u32) -> Self {
        let Some(ops) = ops else { return Self { over: true, ..Self::default() } };
        let own = || ops.iter().filter(move |(_, op)| op.attempt == attempt);
        let left: BTreeSet<OpKey> =
            own().filter(|(_, op)| !op.dropped).map(|(_, op)| op.key.clone()).collect();
        let to_the_wait = ops.was_suspended_last();
        Self {
            over: left.is_empty() && !to_the_wait,
            left,
            known: ops.iter().map(|(_, op)| op.key.clone()).collect(),
            used: ops.iter().filter(|(_, op)| op.used_no.is_some()).map(|(number, _)| number).collect(),
            to_the_wait,
        }
    }

    /// Whether the call has come to something new.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The function asks for an operation.
    pub fn asks(&mut self, key: &OpKey) {
        self.left.remove(key);
        let is_new = !self.known.contains(key);
        self.over |= self.left.is_empty() && (is_new || !self.to_the_wait);
    }

    /// The function is given an operation's answer.
    pub fn hears(&mut self, op: u32) {
        self.over |= self.left.is_empty() && !self.used.contains(&op);
    }
}
