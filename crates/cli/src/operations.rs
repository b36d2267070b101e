//! The durable operations of a step, for people.

use rival::{NodeStatus, Time};
use rival_api::{OperationView, StepMetrics};

use crate::out::{clean, short};
use crate::pick::{PickedItems, pick};
use crate::text::length;

/// How many operations of a step are shown at a time.
const SHOWN: usize = 8;
/// How much of what came of one is shown.
const RESULT: usize = 60;

/// Those of a step that are shown: what failed and what waits, and else the latest.
pub(crate) fn shown(step: &StepMetrics) -> PickedItems<&OperationView> {
    pick(step.operations.iter().collect(), SHOWN, |operation| rank(operation.status))
}

/// How much an operation, or a node, asks to be seen.
pub(crate) fn rank(status: NodeStatus) -> u8 {
    match status {
        NodeStatus::Failed | NodeStatus::Blocked => 2,
        NodeStatus::Running | NodeStatus::Waiting | NodeStatus::WaitingRetry => 1,
        NodeStatus::Pending | NodeStatus::Completed | NodeStatus::Skipped | NodeStatus::Cancelled => 0,
    }
}

/// How long it took, or has to wait. Something that is done once is recorded when it is done.
pub(crate) fn time(operation: &OperationView, now: Time) -> String {
    let Some(since) = operation.started_at.filter(|_| operation.kind != "once") else {
        return String::new();
    };
    match (operation.ended_at, operation.wake_at) {
        (Some(end), _) => length(end.ms_since(since)),
        (None, Some(wake)) => format!("in {}", length(wake.ms_since(now))),
        (None, None) => length(now.ms_since(since)),
    }
}

/// What came of it, or how that begins.
pub(crate) fn detail(operation: &OperationView) -> String {
    detail_within(operation, RESULT)
}

/// What came of it, with no more of its result or error than that.
pub(crate) fn detail_within(operation: &OperationView, max: usize) -> String {
    let result = operation.result.as_ref().map(|result| result.to_json().to_string());
    let said = operation.error.as_ref().map(|error| error.message.clone()).or(result);
    let said = said.map(|said| short(&clean(&said), max));
    said.into_iter().chain(children(operation)).collect::<Vec<_>>().join("; ")
}

/// The runs that it started. Those that failed are named, because they are what one looks at next.
fn children(operation: &OperationView) -> Option<String> {
    let all = operation.children.len();
    let count = |status| operation.children.iter().filter(|child| child.status == status).count();
    let failed = operation.children.iter().filter(|child| child.status == NodeStatus::Failed);
    match &*operation.children {
        [] => None,
        [only] if operation.kind == "run" => Some(format!("run {}", only.run_id)),
        _ => {
            let ended = format!("{} of {all} runs ended", all - count(NodeStatus::Waiting));
            let first = failed.clone().next().map(|child| &child.run_id);
            let failed = first.map(|run| format!(", {} failed: {run}", count(NodeStatus::Failed)));
            Some(ended + &failed.unwrap_or_default())
        }
    }
}
