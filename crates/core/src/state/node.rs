//! The state of one node.

use serde::{Deserialize, Serialize};

use super::signal::Awaited;
use crate::event::{BlockedReason, Due, Role};
use crate::failure::Failure;
use crate::ids::{Seq, Time};
use crate::path::Path;
use crate::status::NodeStatus;

/// Where a node stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeState {
    /// Its status, as users see it.
    pub status: NodeStatus,
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
    /// The call at work.
    #[serde(skip_serializing_if = "is_default")]
    pub call: Option<OpenCall>,
    /// The call to make next, for a node that waits, is held or is blocked.
    #[serde(skip_serializing_if = "is_default")]
    pub due: Option<Due>,
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
    /// Why it is blocked.
    #[serde(skip_serializing_if = "is_default")]
    pub blocked: Option<BlockedReason>,
    /// When it sleeps until, or is tried again.
    #[serde(skip_serializing_if = "is_default")]
    pub wake_at: Option<Time>,
    /// The signal that it waits for.
    #[serde(skip_serializing_if = "is_default")]
    pub awaited: Option<Awaited>,
    /// Its call was let go inside an operation; the due one starts when an answer is there.
    #[serde(skip_serializing_if = "is_default")]
    pub suspended: bool,
    /// What was left of that call's time.
    #[serde(skip_serializing_if = "is_default")]
    pub time_left_ms: Option<u64>,
    /// When its first call or sleep began.
    #[serde(skip_serializing_if = "is_default")]
    pub started_at: Option<Time>,
    /// When it ended.
    #[serde(skip_serializing_if = "is_default")]
    pub ended_at: Option<Time>,
}

/// A failure on its way up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardFailure {
    /// What went wrong.
    pub failure: Failure,
    /// The node that failed first.
    pub origin: Path,
}

/// A call at work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// Its number.
    pub number: u32,
    /// What the function does for the node.
    pub role: Role,
    /// Which charged attempt it is.
    pub attempt: u32,
    /// The event that started it.
    pub started: Seq,
    /// When it began.
    pub started_at: Time,
    /// When it times out.
    pub deadline: Option<Time>,
    /// Since when it waits inside an operation: that is not part of its time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waits_since: Option<Time>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
