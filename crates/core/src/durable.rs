//! Durable operations inside of a step: the words for them, and how a step that is called again finds them.
//!
//! A step asks for operations while it runs: a child, a signal, a sleep, something done once. Each is recorded. When
//! the step is called again, because it was suspended or the process died, it asks for the same operations and is given
//! what was recorded. [`Replay`] is one call's way through them.
//!
//! Answers are given in the order in which they were used the first time: an operation's answer is kept back until
//! everything that the function had asked for before it used that answer has been asked for again. So a race between
//! two operations ends the same way each time, whichever of them is polled first. An operation that the function gave
//! up is never answered again, whatever became of it.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::event::NotUndone;
use crate::failure::FailureRecord;
use crate::ids::Time;
use crate::path::Path;
use crate::state::{OpState, StepOps};
use crate::value::Value;

/// What a durable operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = OperationKind))]
pub enum OpKind {
    /// Something done once, and recorded.
    Once,
    /// A wait for a time.
    Sleep,
    /// A wait for a signal.
    Signal,
    /// A child, and its output.
    Run,
    /// A child for each item of a list.
    Map,
}

impl OpKind {
    /// The word for it, as its method is called.
    pub fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Sleep => "sleep",
            Self::Signal => "signal",
            Self::Run => "run",
            Self::Map => "map",
        }
    }
}

/// What an operation is, with what it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Operation))]
pub enum OpBody {
    /// Something done once.
    Once {},
    /// A wait for a time.
    Sleep {
        /// Until when.
        until: Time,
    },
    /// A wait for a signal.
    Signal {
        /// When it stops waiting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Time>,
        /// A timeout is a value (`null`) rather than a failure.
        #[serde(default, skip_serializing_if = "is_false")]
        timeout_is_value: bool,
    },
    /// A child.
    Run {
        /// What it is given.
        input: Value,
    },
    /// A child for each item.
    Map {
        /// What each is given.
        items: Vec<Value>,
        /// How many may run at a time.
        concurrency: u32,
        /// Let all end, instead of cancelling the others when one fails.
        #[serde(default, skip_serializing_if = "is_false")]
        collect: bool,
    },
}

impl OpBody {
    /// Its kind.
    pub fn kind(&self) -> OpKind {
        match self {
            Self::Once {} => OpKind::Once,
            Self::Sleep { .. } => OpKind::Sleep,
            Self::Signal { .. } => OpKind::Signal,
            Self::Run { .. } => OpKind::Run,
            Self::Map { .. } => OpKind::Map,
        }
    }
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = OperationOutcome))]
pub enum OpOutcome {
    /// A sleep is over, or all children of a map have ended.
    Done {},
    /// With a result.
    Value(Value),
    /// With a failure.
    Failed(FailureRecord),
    /// The run is ending, and no call waits for it any more.
    #[serde(rename = "stopped")]
    Cancelled {},
    /// Its children did not end within the grace period and were left behind, cancelling.
    Left {},
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ChildOutcome {
    /// With an output.
    Completed(Value),
    /// It failed.
    Failed {
        /// Why.
        failure: FailureRecord,
        /// The node that failed, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<Path>,
    },
    /// It was cancelled.
    Cancelled {
        /// In the words of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What it could not undo.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_undone: Vec<NotUndone>,
    },
}

impl ChildOutcome {
    /// Whether it has an output.
    pub fn is_completed(&self) -> bool {
        matches!(self, Self::Completed(_))
    }

    /// What a cancelled child could not undo.
    pub(crate) fn not_undone(&self) -> &[NotUndone] {
        match self {
            Self::Cancelled { not_undone, .. } => not_undone,
            Self::Completed(_) | Self::Failed { .. } => &[],
        }
    }
}

/// Which operation of its step: its kind, its name, and its occurrence among those.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OpKey {
    /// Its kind.
    pub kind: OpKind,
    /// The signal's, workflow's or given name; a sleep has none.
    pub name: String,
    /// Occurrence (from 1) among operations of this kind and name.
    pub occurrence: u32,
}

impl fmt::Display for OpKey {
    /// As messages show it: ``run(`charge`) no. 2``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&label(self.kind.word(), &self.name, self.occurrence))
    }
}

/// Which operation it is, for people.
pub(crate) fn label(kind: &str, name: &str, occurrence: u32) -> String {
    let name = if name.is_empty() { String::new() } else { format!("(`{name}`)") };
    let number = if occurrence == 1 { String::new() } else { format!(" no. {occurrence}") };
    format!("{kind}{name}{number}")
}

/// One call's way through the operations that its step has recorded.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    attempt: u32,
    /// Recorded in this attempt before the call, not given up, and not asked for yet.
    left: BTreeSet<u32>,
    /// Asked for, and its answer not used yet.
    open: BTreeSet<u32>,
    /// Asked for and not recorded yet: a `once` at work.
    unrecorded: usize,
}

/// What became of a question for an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayResult {
    /// It is recorded under this number.
    Recorded(u32),
    /// It is a new one.
    New,
    /// Something to be done once that is new, or was at work beside others when the call before was cut short. Which one,
    /// shows when the function has said what else it asks for now: the message is for the case that it is alone.
    Undecided(String),
    /// The function is not what it was: what was recorded, and what is asked for now.
    Mismatch(String),
}

impl Replay {
    /// The way of a new call of this attempt.
    pub fn new(ops: Option<&StepOps>, attempt: u32) -> Self {
        let left = ops.into_iter().flat_map(StepOps::iter);
        let left = left.filter(|(_, op)| op.attempt == attempt && !op.dropped);
        Self { left: left.map(|(number, _)| number).collect(), attempt, ..Self::default() }
    }

    /// The function asks for an operation, and has used these answers since it last asked.
    pub fn ask(&mut self, ops: Option<&StepOps>, key: &OpKey, hash: &str, used: &[u32]) -> ReplayResult {
        self.used(used);
        let recorded = ops.and_then(|ops| ops.find(key));
        if let Some((number, op)) = recorded {
            if op.hash != hash {
                return ReplayResult::Mismatch(format!(
                    "{key} was asked for before with other arguments than now"
                ));
            }
            self.left.remove(&number);
            self.open.insert(number);
            return ReplayResult::Recorded(number);
        }
        // With several operations under way their order is not promised; one after the other, it is.
        let in_order = self.open.is_empty() && self.unrecorded == 0;
        match self.left.first().and_then(|number| ops?.get(*number)) {
            Some(op) if in_order => {
                let message = format!("{} was asked for before, where {key} is asked for now", op.key);
                // It is recorded when it is done, so it leaves no trace before.
                if key.kind == OpKind::Once {
                    ReplayResult::Undecided(message)
                } else {
                    ReplayResult::Mismatch(message)
                }
            }
            _ => ReplayResult::New,
        }
    }

    /// Whether nothing is under way beside what the function asks for, although it had asked for more.
    pub fn is_alone(&self) -> bool {
        self.open.is_empty() && self.unrecorded == 0 && !self.left.is_empty()
    }

    /// The function used these answers.
    pub fn used(&mut self, used: &[u32]) {
        for number in used {
            self.open.remove(number);
        }
    }

    /// The function gave this operation up.
    pub fn dropped(&mut self, number: u32) {
        self.open.remove(&number);
    }

    /// Whether everything that was recorded before the call has been asked for again.
    pub fn has_caught_up(&self) -> bool {
        self.left.is_empty()
    }

    /// A new operation was recorded under this number.
    pub fn recorded(&mut self, number: u32) {
        self.open.insert(number);
    }

    /// The function does something once, and comes back with its outcome.
    pub fn working(&mut self) {
        self.unrecorded += 1;
    }

    /// It has come back.
    pub fn worked(&mut self) {
        self.unrecorded = self.unrecorded.saturating_sub(1);
    }

    /// Whether an operation's answer may be given now.
    pub fn is_due(&self, op: &OpState) -> bool {
        if op.dropped {
            // It was given up before: the function goes on without it, as it did then.
            return false;
        }
        match (self.left.first(), op.used_by) {
            (None, _) => true,
            (Some(next), Some(user)) => user <= *next,
            // Kept from an earlier attempt, whose order says nothing about this one.
            (Some(_), None) => op.attempt != self.attempt,
        }
    }

    /// Why the function cannot be what it was, if it has come to its end without asking for all that it asked for
    /// before.
    pub fn forgot(&self, ops: Option<&StepOps>) -> Option<String> {
        let op = ops?.get(*self.left.first()?)?;
        Some(format!("{} was asked for before, and now the step comes to its end without it", op.key))
    }
}

fn is_false(b: &bool) -> bool {
    !*b
}
