//! What a node does now.

use serde::{Deserialize, Serialize};

use super::{AwaitedSignal, OpenCall, Timer, TimerKind};
use crate::event::{BlockedReason, CallRole, DueCall};
use crate::ids::Time;
use crate::path::Path;
use crate::status::NodeStatus;

/// What a node does now, by itself: lanes that it supervises go on beside it. A node that has ended may still be at
/// something, its handler or its compensation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodePhase {
    /// Nothing: it has not begun, has ended, or only supervises its lanes.
    #[default]
    Idle,
    /// It is next, but held by a pause or an orderly stop.
    Held {
        /// The call to make when it goes on; without one it has not begun, or its block has not.
        due: Option<DueCall>,
    },
    /// Its function is at work.
    Calling {
        /// The call.
        call: OpenCall,
        /// It waits inside an operation, so its time does not run.
        waits: bool,
    },
    /// It waits, and nothing of it is in memory.
    Waiting {
        /// What for.
        why: WaitReason,
        /// The call to make then; a sleep and a signal node make none.
        due: Option<DueCall>,
        /// The moment at which the wait is over by itself.
        until: Option<Time>,
    },
    /// It cannot go on without help.
    Blocked {
        /// Why.
        reason: BlockedReason,
        /// The call to make when help has come.
        due: Option<DueCall>,
    },
}

/// What a node waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitReason {
    /// The end of a sleep for a length of time.
    Sleep,
    /// A moment of the wall clock, which a clock that is set back does not move.
    Alarm,
    /// The next attempt.
    Retry,
    /// A signal.
    Signal(AwaitedSignal),
    /// An answer: its call was suspended inside an operation, and the due one starts when an answer is there.
    Answer,
}

impl WaitReason {
    fn timer(&self) -> Option<TimerKind> {
        match self {
            Self::Sleep => Some(TimerKind::Sleep),
            Self::Alarm => Some(TimerKind::Alarm),
            Self::Retry => Some(TimerKind::Retry),
            Self::Signal(_) => Some(TimerKind::Signal),
            // The operations have timers of their own.
            Self::Answer => None,
        }
    }
}

impl NodePhase {
    pub(super) fn is_idle(&self) -> bool {
        *self == Self::Idle
    }

    /// The status of a node that has not ended.
    pub(super) fn status(&self, has_begun: bool) -> NodeStatus {
        match self {
            // Between a call that decides something for it and the lanes that follow.
            Self::Idle if has_begun => NodeStatus::Running,
            Self::Idle | Self::Held { .. } => NodeStatus::Pending,
            Self::Calling { call, .. } => match call.role {
                // The run's own handler: the run is no node that begins.
                CallRole::OnError | CallRole::Compensate => NodeStatus::Pending,
                CallRole::Step
                | CallRole::Input
                | CallRole::Wait
                | CallRole::Choose
                | CallRole::Test
                | CallRole::Items
                | CallRole::Finally => NodeStatus::Running,
            },
            Self::Waiting { why: WaitReason::Retry, .. } => NodeStatus::WaitingRetry,
            Self::Waiting { .. } => NodeStatus::Waiting,
            Self::Blocked { .. } => NodeStatus::Blocked,
        }
    }

    /// The call to make next, for a node that waits, is held or is blocked.
    pub(super) fn due(&self) -> Option<DueCall> {
        match self {
            Self::Held { due } | Self::Waiting { due, .. } | Self::Blocked { due, .. } => *due,
            Self::Idle | Self::Calling { .. } => None,
        }
    }

    /// The moment that matters to a node in this phase.
    pub(super) fn timer(&self, node: &Path) -> Option<Timer> {
        let (at, kind) = match self {
            Self::Calling { call, waits: false } => (call.deadline?, TimerKind::Timeout(call.number)),
            Self::Waiting { why, until, .. } => ((*until)?, why.timer()?),
            Self::Idle | Self::Held { .. } | Self::Calling { .. } | Self::Blocked { .. } => return None,
        };
        Some(Timer { at, node: node.clone(), kind })
    }
}
