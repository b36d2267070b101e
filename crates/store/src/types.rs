//! What goes into a store and comes out of it.

use std::collections::BTreeMap;
use std::fmt;

use rival_core::{LogLevel, PlanHash, RunId, RunStatus, Seq, Time, Value};

/// Names an engine that has joined a store. Never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EngineId(pub i64);

/// Grows each time a run is claimed; fences the owner before. A run is created with epoch 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub i64);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Numbers a message within a store, in the order in which its receiver must see it. Never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageNo(pub i64);

/// Events that were written together, as bytes that a store does not look into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventBatch {
    /// The first event's number.
    pub first: Seq,
    /// How many there are; at least one.
    pub count: u32,
    /// The encoded events.
    pub body: Vec<u8>,
}

impl EventBatch {
    /// The last event's number.
    pub fn last(&self) -> Seq {
        Seq(self.first.0 + u64::from(self.count) - 1)
    }
}

/// What a commit makes of a run's row. Part of every commit that changes it; replaces all of what was there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowUpdate {
    /// The committing engine keeps the run, and knows by itself when it wakes.
    Owned {
        /// The run's status.
        status: RunStatus,
        /// One line for lists: why the run is blocked.
        note: Option<String>,
    },
    /// The run has no owner afterwards.
    Released {
        /// The run's status.
        status: RunStatus,
        /// When the run must wake.
        wake_at: Option<Time>,
        /// One line for lists: why the run is blocked.
        note: Option<String>,
    },
    /// The run has ended. It has neither owner nor wake-up.
    Ended {
        /// The run's status, which is terminal.
        status: RunStatus,
        /// When.
        at: Time,
        /// One line for lists: the failure's message.
        note: Option<String>,
    },
}

/// What becomes of a run that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunHold {
    /// The engine that commits keeps it.
    Keep,
    /// It has no owner afterwards, and wakes at this time, if at any.
    Release(Option<Time>),
}

impl RowUpdate {
    /// The row of a run with this status. With a terminal one the run has ended, at `ended_at`, whatever `hold` says.
    pub fn new(status: RunStatus, hold: RunHold, ended_at: Time, note: Option<String>) -> Self {
        match hold {
            _ if status.is_terminal() => Self::Ended { status, at: ended_at, note },
            RunHold::Keep => Self::Owned { status, note },
            RunHold::Release(wake_at) => Self::Released { status, wake_at, note },
        }
    }

    /// The run's status.
    pub fn status(&self) -> RunStatus {
        match self {
            Self::Owned { status, .. } | Self::Released { status, .. } | Self::Ended { status, .. } => {
                *status
            }
        }
    }

    /// Whether the committing engine keeps the run.
    pub fn is_owned(&self) -> bool {
        matches!(self, Self::Owned { .. })
    }

    /// When the run must wake, if it has no owner.
    pub fn wake_at(&self) -> Option<Time> {
        match self {
            Self::Released { wake_at, .. } => *wake_at,
            Self::Owned { .. } | Self::Ended { .. } => None,
        }
    }

    /// When the run ended, if it has.
    pub fn ended_at(&self) -> Option<Time> {
        match self {
            Self::Ended { at, .. } => Some(*at),
            Self::Owned { .. } | Self::Released { .. } => None,
        }
    }

    /// One line for lists.
    pub fn note(&self) -> Option<&str> {
        match self {
            Self::Owned { note, .. } | Self::Released { note, .. } | Self::Ended { note, .. } => {
                note.as_deref()
            }
        }
    }
}

/// A run to be created.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// Its workflow.
    pub workflow: String,
    /// Its plan.
    pub plan: PlanHash,
    /// Hash of workflow and canonical input: tells a repeated start from a conflicting one.
    pub fingerprint: Vec<u8>,
    /// When it was started.
    pub created_at: Time,
    /// The run that started it as a child.
    pub parent: Option<RunId>,
    /// The run that it goes on from: that it retries, or that triggers it.
    pub source: Option<RunId>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Its first events; the first one's number is 1. Anything else is refused: by a commit with
    /// [`CommitError::Sequence`](crate::CommitError::Sequence), by a start with
    /// [`StoreError::Invalid`](crate::StoreError::Invalid).
    pub events: EventBatch,
    /// Where it stands after them.
    pub row_update: RowUpdate,
    /// Who owns it, if `row_update` says that it is owned. If that engine is gone, the run can be claimed at once.
    pub engine: EngineId,
}

/// One transition of a run.
///
/// Written in this order: `events`, `snapshot` and `consumed`, `row_update`, `runs`, `messages`, `logs`. So a run
/// that is started here can be sent a message here.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The run.
    pub run: RunId,
    /// The epoch at which the caller owns it.
    pub epoch: Epoch,
    /// New events, if any.
    pub events: Option<EventBatch>,
    /// Where the run stands now, if its row changes. While messages other than the consumed ones wait, a run
    /// that is released is due at `now` or earlier: they came too late for this writer to see, and no other engine would
    /// look. Not if it is queued, because its turn will come, nor if it is blocked, because looking at it does not
    /// help; the sender of the message checks on its own. At its end, they are dropped and counted.
    pub row_update: Option<RowUpdate>,
    /// Messages to other runs, with the rules of [`Store::send`](crate::Store::send): those to runs that have
    /// ended, or do not exist, are dropped.
    pub messages: Vec<(RunId, NewMessage)>,
    /// Messages that this transition acts on; they are gone afterwards. Naming one that does not wait for this
    /// run (any more) refuses the commit as fenced: acting on it would be a second delivery.
    pub consumed: Vec<MessageNo>,
    /// Those of `consumed` that are refused and not acted on: their ids are free again.
    pub refused: Vec<MessageNo>,
    /// Runs that this transition starts. An id that exists already is left as it is.
    pub runs: Vec<NewRun>,
    /// Log lines that belong to the calls that ended.
    pub logs: Vec<LogLine>,
    /// A snapshot of the state after the events; replaces the last one.
    pub snapshot: Option<Snapshot>,
    /// The time of the transition.
    pub now: Time,
}

impl Commit {
    /// A commit that changes nothing yet.
    pub fn new(run: RunId, epoch: Epoch, now: Time) -> Self {
        Self {
            run,
            epoch,
            events: None,
            row_update: None,
            messages: Vec::new(),
            consumed: Vec::new(),
            refused: Vec::new(),
            runs: Vec::new(),
            logs: Vec::new(),
            snapshot: None,
            now,
        }
    }
}

/// A run that the caller owns from now on.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its row, as it is after the claim.
    pub row: RunRow,
    /// The epoch to commit with, that of the row.
    pub epoch: Epoch,
}

/// A message to be sent.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// Makes sending idempotent: a run acts on at most one message with this id, ever.
    pub id: Option<String>,
    /// What it says; a store does not look into it.
    pub body: Value,
}

/// What became of a message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendResult {
    /// It waits for the run, under this number.
    Kept(MessageNo),
    /// The run knows a message with this id, under this number: it waits, or the run has acted on it.
    Known(MessageNo),
    /// The run has ended and does not know it. It is counted and dropped.
    Ended,
    /// There is no such run, and nothing to count it on.
    NotFound,
}

impl SendResult {
    /// The number of the message, if the run has it or had it.
    pub fn no(self) -> Option<MessageNo> {
        match self {
            Self::Kept(no) | Self::Known(no) => Some(no),
            Self::Ended | Self::NotFound => None,
        }
    }
}

/// A message that waits for its receiver.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its place in the order.
    pub no: MessageNo,
    /// The sender's id for it.
    pub id: Option<String>,
    /// What it says.
    pub body: Value,
    /// When it was sent.
    pub sent_at: Time,
}

/// A folded state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The last event that is in it.
    pub seq: Seq,
    /// The version of the fold that made it.
    pub fold: u32,
    /// The plan it was folded under.
    pub plan: PlanHash,
    /// The encoded state.
    pub body: Vec<u8>,
}

/// A run as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// Its id.
    pub id: RunId,
    /// Its place in the order of all runs, which is the order of their creation; pages continue from
    /// it. Never given twice, also not after the run was removed.
    pub no: i64,
    /// Its workflow.
    pub workflow: String,
    /// Its plan.
    pub plan: PlanHash,
    /// See [`NewRun::fingerprint`].
    pub fingerprint: Vec<u8>,
    /// Its status.
    pub status: RunStatus,
    /// When it was started.
    pub created_at: Time,
    /// When it ended.
    pub ended_at: Option<Time>,
    /// When the run must wake.
    pub wake_at: Option<Time>,
    /// Who owns it.
    pub owner: Option<EngineId>,
    /// How often it has been claimed, plus one.
    pub epoch: Epoch,
    /// The run that started it as a child.
    pub parent: Option<RunId>,
    /// The run that it goes on from: that it retries, or that triggers it.
    pub source: Option<RunId>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// One line: the failure's message, or why it is blocked.
    pub note: Option<String>,
    /// Messages that came after its end, or waited unread when it ended.
    pub dropped_messages: u32,
}

/// How much a store holds, for graphs and alerts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreFigures {
    /// How many runs have each status; a status that no run has may be missing.
    pub runs: BTreeMap<RunStatus, u64>,
    /// When the run was started that is the first in the queue.
    pub queue_head: Option<Time>,
    /// How many runs without an owner should have woken by now.
    pub overdue: u64,
    /// When the first of them should have.
    pub overdue_since: Option<Time>,
    /// How many bytes the store takes on its disk; `None` if it has none.
    pub bytes: Option<u64>,
    /// How many bytes are left to it there.
    pub free_bytes: Option<u64>,
}

/// Which runs to list; empty means all. A run must pass every filter that is set.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    /// Only with ids that begin so.
    pub id_prefix: Option<String>,
    /// Only of this workflow.
    pub workflow: Option<String>,
    /// Only with one of these statuses.
    pub statuses: Vec<RunStatus>,
    /// Only started at or after.
    pub created_from: Option<Time>,
    /// Only started before.
    pub created_to: Option<Time>,
    /// Only children of this run.
    pub parent: Option<RunId>,
    /// Only runs that are no children.
    pub roots: bool,
    /// Only runs that go on from this one.
    pub source: Option<RunId>,
    /// Only with this tag.
    pub tag: Option<String>,
    /// Only runs of workflows that authors wrote: not of Rival's own, see [`rival_core::plan::is_system_workflow`].
    pub no_system: bool,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// Continue after the run with this number, the last of the page before.
    pub before: Option<i64>,
    /// How many at most.
    pub limit: usize,
}

impl Default for Page {
    fn default() -> Self {
        Self { before: None, limit: 100 }
    }
}

/// A line that a step wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Its place among the lines of its run, which grows; a store gives it. Zero before.
    pub no: u64,
    /// The run.
    pub run: RunId,
    /// The node's path.
    pub node: String,
    /// The charged attempt.
    pub attempt: u32,
    /// The call.
    pub call: u32,
    /// When.
    pub at: Time,
    /// How much it matters.
    pub level: LogLevel,
    /// The text.
    pub message: String,
    /// The fields, a JSON object.
    pub fields: Option<Value>,
}

/// Which log lines to read.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    /// Only of this node.
    pub node: Option<String>,
    /// Only this level and above.
    pub level: Option<LogLevel>,
    /// Only those after the line with this number.
    pub after: Option<u64>,
    /// How many at most, fewer if they are long; absent means all. The latest ones, but with `after` the first ones
    /// after it.
    pub limit: Option<usize>,
}

impl LogLine {
    /// About how many bytes it holds.
    pub fn len_bytes(&self) -> usize {
        self.message.len() + self.fields.as_ref().map_or(0, Value::len_bytes)
    }
}

/// Something that a store found wrong with what it keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreDamage {
    /// The run that it is about, if it is about one.
    pub run: Option<RunId>,
    /// What is wrong, in a sentence.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_a_terminal_status_is_neither_kept_nor_due() {
        for hold in [RunHold::Keep, RunHold::Release(Some(Time(5)))] {
            let row = RowUpdate::new(RunStatus::Failed, hold, Time(9), None);
            assert_eq!((row.is_owned(), row.wake_at(), row.ended_at()), (false, None, Some(Time(9))));
        }
        let kept = RowUpdate::new(RunStatus::Running, RunHold::Keep, Time(9), None);
        assert_eq!((kept.is_owned(), kept.wake_at(), kept.ended_at()), (true, None, None));
    }
}
