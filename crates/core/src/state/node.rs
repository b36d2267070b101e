//! The state of one node.

use serde::{Deserialize, Serialize};

use super::phase::{NodePhase, WaitReason};
use super::signal::AwaitedSignal;
use crate::event::{BlockedReason, CallRole, DueCall, ResultPart};
use crate::failure::FailureRecord;
use crate::ids::{Seq, Time};
use crate::path::Path;
use crate::status::NodeStatus;

/// Where a node stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeState {
    /// What it does now.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) phase: NodePhase,
    /// It has started lanes, and has not ended.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) supervises: bool,
    /// How it ended.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) end: Option<NodeOutcome>,
    /// It failed, and the run went on.
    #[serde(skip_serializing_if = "is_default")]
    pub soft: bool,
    /// Its outcome was taken over from another run.
    #[serde(skip_serializing_if = "is_default")]
    pub imported: bool,
    /// How many calls it has had; the last one's number.
    #[serde(skip_serializing_if = "is_default")]
    pub calls: u32,
    /// How many of them were charged.
    #[serde(skip_serializing_if = "is_default")]
    pub attempts: u32,
    /// How many were cut short by a crash since it was last let go on.
    #[serde(skip_serializing_if = "is_default")]
    pub interruptions: u32,
    /// The event that holds its result.
    #[serde(skip_serializing_if = "is_default")]
    pub result: Option<Seq>,
    /// The event that holds its recorded state.
    #[serde(skip_serializing_if = "is_default")]
    pub state: Option<Seq>,
    /// The event that holds its last failure, also one that was followed by a retry.
    #[serde(skip_serializing_if = "is_default")]
    pub failure: Option<Seq>,
    /// The failure that ended it, for a failure that ends what is around it too.
    #[serde(skip_serializing_if = "is_default")]
    pub hard: Option<HardFailure>,
    /// For a nested workflow: the event that holds its mapped input.
    #[serde(skip_serializing_if = "is_default")]
    pub input: Option<Seq>,
    /// For a forEach: the event that holds its items.
    #[serde(skip_serializing_if = "is_default")]
    pub items: Option<Seq>,
    /// For a branch: the case that was chosen.
    #[serde(skip_serializing_if = "is_default")]
    pub case: Option<String>,
    /// What was decided for it in another run.
    #[serde(skip_serializing_if = "is_default")]
    pub decision: Option<Box<TakenDecision>>,
    /// For a forEach, a parallel, and a nested workflow or run that is a graph: the event that joined its parts.
    #[serde(skip_serializing_if = "is_default")]
    pub joined: Option<Seq>,
    /// For a loop, forEach or parallel: how far its lanes are.
    #[serde(skip_serializing_if = "is_default")]
    pub lanes: Option<Box<LaneProgress>>,
    /// A step with a compensation: some call of it ended without telling what it did.
    #[serde(skip_serializing_if = "is_default")]
    pub unknown: bool,
    /// A step with a compensation whose attempt has not ended, and had a call that may have acted: it was suspended while
    /// it waited, or is blocked.
    #[serde(skip_serializing_if = "is_default")]
    pub acted: bool,
    /// Its compensation was called.
    #[serde(skip_serializing_if = "is_default")]
    pub undone: bool,
    /// When its first call or sleep began.
    #[serde(skip_serializing_if = "is_default")]
    pub started_at: Option<Time>,
}

/// How and when a node ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeOutcome {
    /// A terminal status.
    pub status: NodeStatus,
    /// When.
    pub at: Time,
}

impl NodeState {
    /// What it does now.
    pub fn phase(&self) -> &NodePhase {
        &self.phase
    }

    /// Whether it has started lanes, and has not ended.
    pub fn supervises(&self) -> bool {
        self.supervises
    }

    /// Its status, as users see it.
    pub fn status(&self) -> NodeStatus {
        let has_begun = self.supervises || self.started_at.is_some();
        self.end.map_or_else(|| self.phase.status(has_begun), |end| end.status)
    }

    /// Whether it has ended. Its handler or compensation may still be at work.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// When it ended.
    pub fn ended_at(&self) -> Option<Time> {
        self.end.map(|end| end.at)
    }

    /// The call at work.
    pub fn open_call(&self) -> Option<&OpenCall> {
        if let NodePhase::Calling { call, .. } = &self.phase { Some(call) } else { None }
    }

    /// The call to make next, for a node that waits, is held or is blocked.
    pub fn due(&self) -> Option<DueCall> {
        self.phase.due()
    }

    /// When it sleeps until, is tried again, or stops waiting for a signal.
    pub fn wake_at(&self) -> Option<Time> {
        if let NodePhase::Waiting { until, .. } = &self.phase { *until } else { None }
    }

    /// The signal that it waits for.
    pub fn awaited(&self) -> Option<&AwaitedSignal> {
        if let NodePhase::Waiting { why: WaitReason::Signal(awaited), .. } = &self.phase {
            Some(awaited)
        } else {
            None
        }
    }

    /// Whether its call was suspended inside an operation: it is called again when an answer is there.
    pub(crate) fn is_suspended(&self) -> bool {
        matches!(self.phase, NodePhase::Waiting { why: WaitReason::Answer, .. })
    }

    /// Whether it does nothing by itself.
    pub(crate) fn is_idle(&self) -> bool {
        self.phase.is_idle()
    }

    /// Why it is blocked.
    pub fn blocked(&self) -> Option<&BlockedReason> {
        if let NodePhase::Blocked { reason, .. } = &self.phase { Some(reason) } else { None }
    }
}

/// How far the lanes of a loop, forEach or parallel are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LaneProgress {
    /// How many there are; a loop does not know.
    pub count: u32,
    /// How many go on at a time.
    pub window: u32,
    /// How many have ended.
    pub ended: u32,
    /// How many of them ended well.
    pub succeeded: u32,
    /// What each lane left, by its place. A loop, which knows no count, keeps none.
    pub slots: Vec<LaneSlot>,
    /// In a loop: which iteration is next.
    pub next: u32,
    /// In a loop: the result of the last iteration.
    pub last: Option<Seq>,
    /// In a loop: the last iteration that was taken over from another run.
    pub imported: Option<TakenIteration>,
}

impl LaneProgress {
    /// What the lane at this place left.
    pub fn slot(&self, index: u32) -> LaneSlot {
        usize::try_from(index).ok().and_then(|at| self.slots.get(at)).copied().unwrap_or_default()
    }
}

/// An iteration of a loop that was taken over from another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenIteration {
    /// Its number.
    pub index: u32,
    /// The event that holds its result.
    pub result: Seq,
    /// The loop goes on after it, without a test.
    pub tested: bool,
}

/// What a lane left. Short names, because a snapshot may have 100,000 of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LaneSlot {
    /// It has not ended.
    #[default]
    #[serde(rename = "o")]
    Open,
    /// It was cancelled.
    #[serde(rename = "s")]
    Cancelled,
    /// It completed without a result.
    #[serde(rename = "n")]
    Nothing,
    /// It completed, and this event holds its result.
    #[serde(rename = "v")]
    Value(Seq),
    /// It failed, and this event holds the failure.
    #[serde(rename = "f")]
    Failure(Seq),
}

impl LaneSlot {
    /// The slot as a part of the joined result.
    pub fn part(self) -> ResultPart {
        match self {
            Self::Open | Self::Cancelled | Self::Nothing => ResultPart::Absent,
            Self::Value(seq) => ResultPart::Value(seq),
            Self::Failure(failure) => ResultPart::Failure { failure },
        }
    }
}

/// A decision of a supervisor that was taken over from another run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenDecision {
    /// The case of a branch.
    pub case: Option<String>,
    /// How many items a forEach has.
    pub count: Option<u32>,
}

/// A failure on its way up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardFailure {
    /// What went wrong.
    pub failure: FailureRecord,
    /// The node that failed first.
    pub origin: Path,
}

/// A call at work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// Its number.
    pub number: u32,
    /// What the function does for the node.
    pub role: CallRole,
    /// Which charged attempt it is.
    pub attempt: u32,
    /// The event that started it.
    pub started: Seq,
    /// When it began.
    pub started_at: Time,
    /// When it times out.
    pub deadline: Option<Time>,
    /// How long one stretch of its work may take. While it waits inside an operation its time does not run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limit_ms: Option<u64>,
    /// It goes the way of an earlier call again, and has not come to a new wait.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replays: bool,
    /// What it does may have to be undone.
    #[serde(default, skip_serializing_if = "is_default")]
    pub undoable: bool,
    /// What it waited for was cancelled, because something around it is ending.
    #[serde(default, skip_serializing_if = "is_default")]
    pub told: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
