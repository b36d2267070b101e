//! Runs, workflow files and clocks as people and programs see them: written by the engine, read by clients.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::durable;
use crate::event::{NotUndone, TriggerOrigin};
use crate::failure::{FailureOrigin, FailureRecord};
use crate::ids::{RunId, Seq, Time};
use crate::path::Path;
use crate::status::{NodeStatus, RunStatus, UndoStatus};
use crate::value::{self, Value};

/// How a run ended, with what its steps left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunOutcome {
    /// The run.
    pub run_id: RunId,
    /// Its workflow.
    pub workflow: String,
    /// How it ended.
    pub status: RunStatus,
    /// The result of its last node, if it completed.
    pub output: Option<Value>,
    /// What each node of the outermost block left, in plan order.
    #[serde(serialize_with = "write_map", deserialize_with = "read_map")]
    #[cfg_attr(feature = "openapi", schema(value_type = std::collections::BTreeMap<String, StepOutcome>))]
    pub results: Vec<(String, StepOutcome)>,
    /// Why it failed.
    pub error: Option<FailureRecord>,
    /// The node of the outermost block that failed.
    pub failed_step: Option<FailedAt>,
    /// Why it was cancelled.
    pub reason: Option<String>,
    /// The run that retries it by itself.
    pub retried_as: Option<RunId>,
    /// Steps whose compensation failed.
    pub not_undone: Vec<NotUndone>,
}

impl RunOutcome {
    /// What a node left, by name.
    pub fn result(&self, name: &str) -> Option<&StepOutcome> {
        self.results.iter().find(|(node, _)| node == name).map(|(_, result)| result)
    }
}

/// What a node left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StepResult))]
pub struct StepOutcome {
    /// What it returned.
    pub result: Option<Value>,
    /// What it put into its state.
    pub state: Value,
    /// How it ended.
    pub status: NodeStatus,
}

/// Where a run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FailedAt {
    /// The node of the outermost block.
    pub step_name: String,
    /// The node that failed first; deeper if it is inside of a nested workflow.
    pub path: Path,
}

/// A run with everything that is known of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Run))]
pub struct RunView {
    /// The run.
    pub run_id: RunId,
    /// Its workflow.
    pub workflow: String,
    /// The hash of its plan.
    pub plan: String,
    /// Where it stands.
    pub status: RunStatus,
    /// What it was given.
    pub input: Value,
    /// The result of its last node, if it completed.
    pub output: Option<Value>,
    /// Why it failed, or is failing.
    pub error: Option<FailureRecord>,
    /// Where it failed.
    pub failed_step: Option<FailedAt>,
    /// Why it was cancelled.
    pub reason: Option<String>,
    /// When it was started.
    pub created_at: Time,
    /// When it ended.
    pub ended_at: Option<Time>,
    /// The run that started it as a child.
    pub parent: Option<RunId>,
    /// The run that it goes on from: that it retries, or that triggers it.
    pub source: Option<RunId>,
    /// The trigger that started it, or the run that it retries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub trigger: Option<Box<TriggerOrigin>>,
    /// What became of what it triggers; absent if it triggers nothing, or has not completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub trigger_status: Option<TriggerStatus>,
    /// The run that starts what it triggers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub trigger_run: Option<RunId>,
    /// What became of each of its triggers, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub triggers: Vec<TriggerView>,
    /// The run that retries it by itself.
    pub retried_as: Option<RunId>,
    /// Steps whose compensation failed.
    pub not_undone: Vec<NotUndone>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// One line: why it failed or is blocked.
    pub note: Option<String>,
    /// How many events it has.
    pub events: Seq,
    /// Its nodes that have begun, in plan order; the others are pending.
    pub steps: Vec<StepMetrics>,
    /// How many nodes of early iterations are left out of an answer of bounded size.
    pub omitted_steps: usize,
}

/// What became of a trigger, or of all triggers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TriggerStatus {
    /// Not done yet. Of all: the run that does them has not ended.
    Pending,
    /// It has started what it should. Of all: none failed, and not all were skipped.
    Triggered,
    /// A value that it needs is not there. Of all: each was skipped.
    Skipped,
    /// It has not started all that it should. Of all: at least one, or the run that does them was cancelled.
    Failed,
}

impl TriggerStatus {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Triggered => "triggered",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}

/// What became of one trigger of a completed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Trigger))]
pub struct TriggerView {
    /// Which of the run's triggers, from 0.
    pub index: u32,
    /// The workflow that it starts.
    pub workflow: String,
    /// Where it stands.
    pub status: TriggerStatus,
    /// How many runs it has started.
    pub started: usize,
    /// The first of them, up to 100. The others are called like them: `<run>~t<index>.<item>`.
    pub runs: Vec<RunId>,
    /// How many items were left out because a value is not there.
    #[serde(default, skip_serializing_if = "is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub skipped_items: usize,
    /// Why it was skipped, left items out, or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub reason: Option<FailureRecord>,
}

/// What became of the triggers of a completed run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TriggersView {
    /// The run that does them; the latest, if it was retried.
    pub run: RunId,
    /// What became of all of them.
    pub status: TriggerStatus,
    /// Each of them, in their order.
    pub triggers: Vec<TriggerView>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A node with its metrics.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = Step))]
pub struct StepMetrics {
    /// Its path.
    pub path: Path,
    /// Its id.
    pub name: String,
    /// Its kind.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::plan::NodeKindName))]
    pub kind: Cow<'static, str>,
    /// Where it stands.
    pub status: NodeStatus,
    /// What became of what it did, if the run took that back or tries to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub undo: Option<UndoStatus>,
    /// What it returned.
    pub result: Option<Value>,
    /// What it put into its state.
    pub state: Value,
    /// When it began.
    pub started_at: Option<Time>,
    /// When it ended.
    pub completed_at: Option<Time>,
    /// How long it took, in milliseconds.
    pub duration: Option<u64>,
    /// Attempts after the first.
    pub retry_count: u32,
    /// Calls, with those that a crash cut short.
    pub calls: u32,
    /// Its last failure.
    pub error: Option<StepFailure>,
    /// When it is tried again or wakes up.
    pub wake_at: Option<Time>,
    /// What it has asked for durably, in the order in which it asked.
    pub operations: Vec<OperationView>,
}

impl StepMetrics {
    /// The word for where it stands: what was taken back is not completed any more.
    pub fn standing(&self) -> &'static str {
        self.undo.map_or_else(|| self.status.word(), UndoStatus::word)
    }
}

/// A failure of an attempt.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepFailure {
    /// What went wrong.
    #[serde(flatten)]
    pub failure: FailureRecord,
    /// In which attempt.
    pub attempt_number: u32,
    /// When.
    pub occurred_at: Time,
}

/// By hand: what serde flattens it cannot read as text, as the details are.
impl<'de> Deserialize<'de> for StepFailure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Flat {
            code: String,
            message: String,
            #[serde(default, deserialize_with = "value::present")]
            details: Option<Value>,
            #[serde(default)]
            origin: Option<Box<FailureOrigin>>,
            attempt_number: u32,
            occurred_at: Time,
        }
        let Flat { code, message, details, origin, attempt_number, occurred_at } =
            Flat::deserialize(deserializer)?;
        Ok(Self { failure: FailureRecord { code, message, details, origin }, attempt_number, occurred_at })
    }
}

/// A durable operation of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StepOperation))]
pub struct OperationView {
    /// What it is.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::durable::OpKind))]
    pub kind: Cow<'static, str>,
    /// The signal's, workflow's or given name; a sleep has none.
    pub name: String,
    /// Occurrence (from 1) among operations of this kind and name.
    pub occurrence: u32,
    /// Where it stands: `waiting`, `completed`, `failed` or `cancelled`.
    pub status: NodeStatus,
    /// When the step asked for it; something that is done once is recorded when it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub started_at: Option<Time>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub ended_at: Option<Time>,
    /// When it ends by itself, while it waits for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub wake_at: Option<Time>,
    /// What came of it: what was done once, the signal's payload, the child's output.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "value::present")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub result: Option<Value>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub error: Option<FailureRecord>,
    /// The runs that it started, in the order of the items.
    pub children: Vec<ChildView>,
}

impl OperationView {
    /// Which one it is, as messages say it: ``signal(`approval`) no. 2``.
    pub fn label(&self) -> String {
        durable::label(&self.kind, &self.name, self.occurrence)
    }
}

/// A child of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ChildRun))]
pub struct ChildView {
    /// Which item of a map it works on.
    pub index: u32,
    /// The run; if it was retried by itself, the last one.
    pub run_id: RunId,
    /// Where it stands: `waiting`, `completed`, `failed` or `cancelled`.
    pub status: NodeStatus,
}

/// Something wrong in a file that workflows come from. Shown as `file:line:column: message`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourceProblem {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The workflows that are as they were before the file was changed, because of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<String>,
}

impl fmt::Display for SourceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

/// One time that the wall clock was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClockStep {
    /// What the wall clock said afterwards.
    pub at: Time,
    /// By how many milliseconds; less than zero if it was set back.
    pub by_ms: i64,
}

/// What is known of a clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ClockStatus {
    /// The engine's time.
    pub now: Time,
    /// How far the engine's time is ahead of the wall clock, in milliseconds; less than zero if it is behind.
    pub ahead_ms: i64,
    /// How often the wall clock was set by five seconds or more since the process began.
    pub steps: u64,
    /// The last of these steps, the oldest first.
    pub last_steps: Vec<ClockStep>,
}

fn write_map<S: Serializer>(results: &[(String, StepOutcome)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(results.iter().map(|(name, result)| (name, result)))
}

/// The order of the plan is the order of the text.
fn read_map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, StepOutcome)>, D::Error> {
    struct InOrder;

    impl<'de> Visitor<'de> for InOrder {
        type Value = Vec<(String, StepOutcome)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map of what nodes left")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut results = Vec::new();
            while let Some(result) = map.next_entry()? {
                results.push(result);
            }
            Ok(results)
        }
    }

    deserializer.deserialize_map(InOrder)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What clients read is what the engine wrote, to the digit, and fields of a newer server do not disturb them.
    #[test]
    fn views_are_read_as_they_were_written() {
        let failure = r#"{"code":"c","message":"m","details":{"n":12345678901234567890.10},"attemptNumber":2,"occurredAt":7}"#;
        let read: StepFailure = serde_json::from_str(failure).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), failure);
        let outcome = r#"{"runId":"r","workflow":"w","status":"failed","output":null,"results":{"b":{"result":1.50,"state":{},"status":"completed"},"a":{"result":null,"state":{},"status":"failed"}},"error":{"code":"c","message":"m"},"failedStep":{"stepName":"a","path":"a"},"reason":null,"retriedAs":null,"notUndone":[]}"#;
        let read: RunOutcome = serde_json::from_str(outcome).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), outcome);
        let newer = outcome.replacen('{', r#"{"mood":["good"],"#, 1);
        assert_eq!(serde_json::from_str::<RunOutcome>(&newer).unwrap(), read);
    }
}
