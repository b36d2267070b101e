//! The state of a run, folded from its events.
//!
//! [`RunState::apply`] is total: it takes any event that the machine wrote. The state holds results by
//! reference to the event that recorded them, so that its size is that of the plan, not of the data.

mod clock;
mod durable;
mod fold;
mod index;
mod lane;
mod node;
mod phase;
mod signal;
mod undo;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use durable::{ChildRef, OpChildren, OpEnd, OpState, StepOps};
pub use index::StateIndex;
pub use lane::EndingScope;
pub use node::{
    HardFailure, LaneProgress, LaneSlot, NodeOutcome, NodeState, OpenCall, TakenDecision, TakenIteration,
};
pub use phase::{NodePhase, WaitReason};
pub use signal::{AwaitedSignal, SignalQueues, SignalWaiter};
pub(crate) use undo::left_undone;
pub use undo::{UndoEntry, UndoList};

use crate::event::{Event, NotUndone, TriggerOrigin};
use crate::failure::FailureRecord;
use crate::ids::{RunId, Seq, Time};
use crate::path::{self, Path};
use crate::plan::PlanHash;
use crate::status::RunStatus;
use crate::trace::TraceParent;

/// The version of the fold. A snapshot of another version is ignored and the history folded again, so
/// raise it whenever the meaning or shape of [`RunState`] changes.
pub const FOLD_VERSION: u32 = 7;

/// Where a run stands after its last event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct RunState {
    /// The last event.
    pub seq: Seq,
    /// When it was decided. Only [`EventKind::ClockSetBack`](crate::event::EventKind::ClockSetBack) takes it back.
    pub at: Time,
    /// The workflow's name.
    pub workflow: String,
    /// The plan that the run keeps.
    pub plan: Option<PlanHash>,
    /// When the run began.
    pub started_at: Time,
    /// How many automatic retries are left.
    pub retries_left: u32,
    /// The run that this one retries.
    pub source: Option<RunId>,
    /// The run that started this one as a child, and waits for it.
    pub parent: Option<RunId>,
    /// The trigger that started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Box<TriggerOrigin>>,
    /// The span, here or elsewhere, that the run was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceParent>,
    /// Nodes that have begun or were imported.
    pub nodes: BTreeMap<Path, NodeState>,
    /// Which nodes do what. It follows from the rest, so a snapshot does not hold it.
    #[serde(skip)]
    index: StateIndex,
    /// When the run times out, unless it is ending.
    deadline: Option<Time>,
    /// When a run that is ending leaves its calls behind.
    force_at: Option<Time>,
    /// Signals, and waits for them.
    pub signals: SignalQueues,
    /// The durable operations of steps.
    pub ops: BTreeMap<Path, StepOps>,
    /// Children that have not ended.
    pub children: BTreeMap<RunId, ChildRef>,
    /// How many children the run has started.
    pub children_started: u32,
    /// Operations without a waiter, with children that are to be cancelled.
    #[serde(rename = "stopping")]
    pub orphaned: BTreeSet<(Path, u32)>,
    /// Parts of the run that are ending while the rest goes on, by the path under which everything ends.
    pub scopes: BTreeMap<Path, EndingScope>,
    /// What has to be undone if the run fails or is cancelled.
    pub undo: UndoList,
    /// The run is paused.
    pub paused: bool,
    /// The run was killed: nothing is undone.
    pub killed: bool,
    /// Keeps the nodes of finished iterations, for a caller that shows the whole run. Not part of a snapshot.
    #[serde(skip)]
    pub whole: bool,
    /// The run is on its way to an end that is not completion.
    pub ending: Option<RunEnding>,
    /// How the run ended.
    pub end: Option<RunEnd>,
}

/// A moment that matters to a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Timer {
    /// When.
    pub at: Time,
    /// For which node; the root for the run itself.
    pub node: Path,
    /// What for.
    pub kind: TimerKind,
}

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TimerKind {
    /// The call with this number times out.
    Timeout(u32),
    /// The next attempt is due.
    Retry,
    /// A sleep for a length of time ends.
    Sleep,
    /// A sleep until a moment of the wall clock ends.
    Alarm,
    /// A wait for a signal times out.
    Signal,
    /// A sleep or wait for a signal inside of a step ends: the operation with this number.
    Op(u32),
    /// The run times out.
    RunDeadline,
    /// Calls that have not settled are left behind.
    Force,
}

impl TimerKind {
    /// A pause holds what would start something new; it does not excuse a call from its timeout.
    fn acts_while_paused(self) -> bool {
        match self {
            Self::Timeout(_) | Self::Force => true,
            Self::Retry | Self::Sleep | Self::Alarm | Self::Signal | Self::Op(_) | Self::RunDeadline => false,
        }
    }
}

/// An end that is coming.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunEnding {
    /// A request asks to cancel the run.
    Cancelling {
        /// The reason that the request gives.
        reason: Option<String>,
    },
    /// A node failed, or the run timed out.
    Failing {
        /// Why.
        failure: FailureRecord,
        /// The node.
        node: Option<Path>,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The terminal status.
    pub status: RunStatus,
    /// When.
    pub at: Time,
    /// The event that holds the output.
    pub output: Option<Seq>,
    /// Why it failed.
    pub failure: Option<FailureRecord>,
    /// The node that failed.
    pub failed: Option<Path>,
    /// Why it was cancelled.
    pub reason: Option<String>,
    /// The run that retries it by itself.
    pub retried_as: Option<RunId>,
    /// The run that starts what it triggers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triggers: Option<RunId>,
    /// What could not be undone.
    #[serde(default)]
    pub not_undone: Vec<NotUndone>,
    /// It completed, and did what can be undone.
    #[serde(default)]
    pub undoable: bool,
}

impl Serialize for RunState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for RunState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut state = Self::deserialize(deserializer)?;
        state.index = StateIndex::of(&state);
        Ok(state)
    }
}

/// What the events of a history must have left. Folding cannot fail: a history without it is folded as well as it can
/// be, and builds with debug assertions panic.
fn expected<T>(found: Option<T>, what: &str) -> Option<T> {
    debug_assert!(found.is_some(), "it cannot be otherwise: {what}");
    found
}

impl RunState {
    /// Nothing yet, of a run all of whose events are going to be applied.
    pub fn for_whole_run() -> Self {
        Self { whole: true, ..Self::default() }
    }

    /// Folds a whole history and keeps every node, also those of finished iterations.
    pub fn of_whole_run(history: &[Event]) -> Self {
        let mut state = Self::for_whole_run();
        history.iter().for_each(|event| state.apply(event));
        state
    }

    /// The run's status, as users see it.
    pub fn status(&self) -> RunStatus {
        if let Some(end) = &self.end {
            return end.status;
        }
        let StateIndex { calls, calls_waiting, waits, held, blocked, parents, .. } = &self.index;
        let stuck = calls.is_empty() && waits.is_empty() && !blocked.is_empty();
        if self.paused {
            return RunStatus::Paused;
        }
        if self.ending.is_some() && self.undo.is_under_way() {
            return if stuck { RunStatus::Blocked } else { RunStatus::Compensating };
        }
        let failing = match &self.ending {
            Some(RunEnding::Cancelling { .. }) => return RunStatus::Cancelling,
            Some(RunEnding::Failing { .. }) => true,
            None => false,
        };
        if calls.len() > calls_waiting.len() {
            RunStatus::Running
        } else if !waits.is_empty() || !calls_waiting.is_empty() {
            RunStatus::Waiting
        } else if stuck {
            RunStatus::Blocked
        } else if !parents.is_empty() {
            RunStatus::Waiting
        } else if held.contains(&Path::root()) && !failing {
            RunStatus::Queued
        } else {
            RunStatus::Running
        }
    }

    /// Whether the run has ended.
    pub fn is_terminal(&self) -> bool {
        self.end.is_some()
    }

    /// When the run ended; until then, when it last changed.
    pub fn ended_at(&self) -> Time {
        self.end.as_ref().map_or(self.at, |end| end.at)
    }

    /// The earliest moment at which something must be done.
    pub fn next_timer(&self) -> Option<Time> {
        self.index.timers.iter().find(|timer| self.acts(timer)).map(|timer| timer.at)
    }

    /// The timers that are due, in order.
    pub(crate) fn due_timers(&self, now: Time) -> Vec<Timer> {
        let due = self.index.timers.iter().take_while(|timer| timer.at <= now);
        due.filter(|timer| self.acts(timer)).cloned().collect()
    }

    /// Whether a timer would do anything when its moment comes. One that would not is no reason to wake up.
    fn acts(&self, timer: &Timer) -> bool {
        let held = self.paused && !timer.kind.acts_while_paused();
        !held && (timer.kind != TimerKind::Force || self.is_to_be_left(&timer.node))
    }

    /// Whether something inside of a path is left behind when its grace period is over. Compensations are not.
    fn is_to_be_left(&self, scope: &Path) -> bool {
        let mut calls = path::within(&self.index.calls, scope);
        calls.any(|node| !self.undo.is_under_way_at(node)) || self.children_open_within(scope)
    }

    /// Whether a node, or something around it, is ending: nothing new starts there.
    pub fn is_ending(&self, node: &Path) -> bool {
        self.ending.is_some() || (!self.scopes.is_empty() && self.scope_of(node).is_some())
    }

    /// The innermost scope that a node is in.
    pub(crate) fn scope_of(&self, node: &Path) -> Option<(Path, &EndingScope)> {
        node.around().find_map(|path| self.scopes.get(&path).map(|scope| (path, scope)))
    }

    /// How many parts a snapshot of it has.
    pub fn weight(&self) -> u64 {
        let lanes = self.index.supervising.iter().filter_map(|path| self.node(path)?.lanes.as_ref());
        let slots: usize = lanes.map(|lanes| lanes.slots.len()).sum();
        let ops: usize = self.ops.values().map(|ops| ops.iter().len()).sum();
        u64::try_from(self.nodes.len() + slots + ops + self.children.len()).unwrap_or(u64::MAX)
    }

    /// Whether the run waits for something that others have to do: send a signal, end as its child.
    pub fn awaits_others(&self) -> bool {
        self.signals.is_awaited() || !self.children.is_empty()
    }

    /// Whether a wait for a signal has come to its end.
    pub fn signal_is_due(&self, now: Time) -> bool {
        self.due_timers(now).iter().any(|timer| matches!(timer.kind, TimerKind::Signal | TimerKind::Op(_)))
    }

    /// A node's state, if it has begun.
    pub fn node(&self, path: &Path) -> Option<&NodeState> {
        self.nodes.get(path)
    }
}
