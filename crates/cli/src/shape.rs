//! What the API answers, as far as it is shown to people.

use std::collections::BTreeMap;

use rival::{RunStatus, Time};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A run in a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SummaryJson {
    pub(crate) run_id: String,
    pub(crate) workflow: String,
    pub(crate) status: RunStatus,
    pub(crate) created_at: Time,
    pub(crate) ended_at: Option<Time>,
    pub(crate) note: Option<String>,
}

/// A page of runs, each as it came.
#[derive(Debug, Deserialize)]
pub(crate) struct RunListJson {
    pub(crate) runs: Vec<Box<RawValue>>,
    pub(crate) cursor: Option<String>,
}

/// What starts and requests answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunStatusJson {
    pub(crate) run_id: String,
    pub(crate) status: RunStatus,
}

/// A failure.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct FailureJson {
    pub(crate) code: String,
    pub(crate) message: String,
}

/// Where a run failed.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct FailedAtJson {
    pub(crate) path: String,
}

/// A step whose compensation failed.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct NotUndoneJson {
    pub(crate) node: String,
    pub(crate) failure: FailureJson,
}

/// A run with everything.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunJson {
    pub(crate) run_id: String,
    pub(crate) workflow: String,
    pub(crate) plan: String,
    pub(crate) status: RunStatus,
    pub(crate) input: Value,
    pub(crate) output: Option<Value>,
    pub(crate) error: Option<FailureJson>,
    pub(crate) failed_step: Option<FailedAtJson>,
    pub(crate) reason: Option<String>,
    pub(crate) created_at: Time,
    pub(crate) ended_at: Option<Time>,
    pub(crate) parent: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) retried_as: Option<String>,
    pub(crate) not_undone: Vec<NotUndoneJson>,
    pub(crate) tags: Vec<String>,
    pub(crate) note: Option<String>,
    pub(crate) events: u64,
    pub(crate) steps: Vec<StepJson>,
}

impl RunJson {
    /// How long it took, or has taken until `now`.
    pub(crate) fn took(&self, now: Time) -> u64 {
        self.ended_at.unwrap_or(now).ms_since(self.created_at)
    }
}

/// A node that has begun.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepJson {
    pub(crate) path: String,
    pub(crate) kind: String,
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) result: Option<Value>,
    pub(crate) state: Value,
    pub(crate) started_at: Option<Time>,
    pub(crate) duration: Option<u64>,
    pub(crate) retry_count: u32,
    pub(crate) calls: u32,
    pub(crate) error: Option<FailureJson>,
    pub(crate) wake_at: Option<Time>,
    pub(crate) operations: Vec<OperationJson>,
}

impl StepJson {
    /// What the step says about itself.
    pub(crate) fn description(&self) -> Option<&str> {
        self.state.get("description").and_then(Value::as_str)
    }
}

/// What a step asked for durably.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct OperationJson {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) status: String,
    pub(crate) children: Vec<ChildJson>,
}

/// A child of such an operation.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ChildJson {
    pub(crate) status: String,
}

/// How a run ended.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutcomeJson {
    pub(crate) run_id: String,
    pub(crate) status: RunStatus,
    pub(crate) output: Option<Box<RawValue>>,
    pub(crate) error: Option<FailureJson>,
    pub(crate) failed_step: Option<FailedAtJson>,
    pub(crate) reason: Option<String>,
    pub(crate) retried_as: Option<String>,
}

/// Something that happened.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct EventJson {
    pub(crate) seq: u64,
    pub(crate) at: Time,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) node: Option<String>,
    pub(crate) data: Value,
}

/// Some events, each as it came.
#[derive(Debug, Deserialize)]
pub(crate) struct EventPage {
    pub(crate) events: Vec<Box<RawValue>>,
    pub(crate) next: Option<u64>,
}

/// A line that a step wrote.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogLineJson {
    pub(crate) timestamp: Time,
    pub(crate) level: String,
    pub(crate) message: String,
    pub(crate) step_name: String,
    pub(crate) attempt: u32,
    pub(crate) call: u32,
    #[serde(default)]
    pub(crate) metadata: Option<Value>,
}

/// Some lines, each as it came.
#[derive(Debug, Deserialize)]
pub(crate) struct LogPage {
    pub(crate) logs: Vec<Box<RawValue>>,
    pub(crate) next: Option<u64>,
}

/// A workflow.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowJson {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) input_schema: Option<Value>,
    #[serde(default)]
    pub(crate) signal_schemas: BTreeMap<String, Value>,
    pub(crate) step_count: usize,
    pub(crate) plan_hash: String,
    #[serde(default)]
    pub(crate) graph: Option<GraphJson>,
    #[serde(default)]
    pub(crate) versions: Vec<VersionJson>,
}

/// One version of a workflow.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct VersionJson {
    pub(crate) current: bool,
}

/// The structure of a workflow.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct GraphJson {
    pub(crate) workflow: String,
    pub(crate) nodes: Vec<NodeJson>,
}

/// A node of it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct NodeJson {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) children: Vec<NodeJson>,
}
