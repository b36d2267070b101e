//! What the API shows that the engine has in another form.

use std::collections::BTreeMap;

use rival_core::event::{EventCause, ExternalCause};
use rival_core::plan::Graph;
use rival_core::{Event, NodeStatus, Path, RunId, RunStatus, Seq, Time, Value};
use rival_engine::{RunHandle, StepMetrics, WorkflowInfo};
use rival_store::{LogLine, RunRow};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// A run that was started, or acted on a request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Acted)]
pub(crate) struct RunStatusReply {
    /// The run.
    pub(crate) run_id: RunId,
    /// Where it stands.
    pub(crate) status: RunStatus,
    /// What a signal is called: sending it again under this id is harmless.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(crate) signal_id: Option<String>,
}

impl From<&RunHandle> for RunStatusReply {
    fn from(run: &RunHandle) -> Self {
        Self { run_id: run.id().clone(), status: run.status(), signal_id: None }
    }
}

/// A run as lists show it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunSummary {
    /// The run.
    pub(crate) run_id: RunId,
    /// Its workflow.
    pub(crate) workflow: String,
    /// The hash of its plan.
    pub(crate) plan: String,
    /// Where it stands.
    pub(crate) status: RunStatus,
    /// When it was started.
    pub(crate) created_at: Time,
    /// When it ended.
    pub(crate) ended_at: Option<Time>,
    /// When it goes on by itself.
    pub(crate) wake_at: Option<Time>,
    /// The run that started it as a child.
    pub(crate) parent: Option<RunId>,
    /// The run that it goes on from.
    pub(crate) source: Option<RunId>,
    /// Words to find it by.
    pub(crate) tags: Vec<String>,
    /// One line: why it failed or is blocked.
    pub(crate) note: Option<String>,
}

impl From<RunRow> for RunSummary {
    fn from(row: RunRow) -> Self {
        Self {
            run_id: row.id,
            workflow: row.workflow,
            plan: row.plan.to_string(),
            status: row.status,
            created_at: row.created_at,
            ended_at: row.ended_at,
            wake_at: row.wake_at,
            parent: row.parent,
            source: row.source,
            tags: row.tags,
            note: row.note.map(short),
        }
    }
}

/// The beginning of a note: the run itself shows all of it.
fn short(mut note: String) -> String {
    const CHARS_MAX: usize = 1_000;
    if let Some((end, _)) = note.char_indices().nth(CHARS_MAX) {
        note.truncate(end);
        note.push('…');
    }
    note
}

/// A workflow as lists and launch forms show it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowSummary {
    /// Its name.
    pub(crate) name: String,
    /// One line for people.
    pub(crate) description: Option<String>,
    /// JSON Schema of its input.
    #[schema(value_type = Option<Object>)]
    pub(crate) input_schema: Option<serde_json::Value>,
    /// JSON Schemas of the signals that its nodes wait for, by name.
    #[schema(value_type = BTreeMap<String, Object>)]
    pub(crate) signal_schemas: BTreeMap<String, serde_json::Value>,
    /// How many steps it has.
    pub(crate) step_count: usize,
    /// The hash of its plan.
    pub(crate) plan_hash: String,
}

impl From<WorkflowInfo> for WorkflowSummary {
    fn from(info: WorkflowInfo) -> Self {
        Self {
            name: info.name,
            description: info.description,
            input_schema: info.input_schema,
            signal_schemas: info.signal_schemas,
            step_count: info.step_count,
            plan_hash: info.plan_hash,
        }
    }
}

/// A workflow with its structure.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowDetail {
    #[serde(flatten)]
    pub(crate) summary: WorkflowSummary,
    /// The plan as data.
    #[schema(value_type = Object)]
    pub(crate) plan: rival_core::Plan,
    /// The plan for drawing.
    pub(crate) graph: Graph,
    /// The plans that it has had in this store, the oldest first.
    pub(crate) versions: Vec<PlanVersion>,
}

/// A plan that a workflow has or had.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanVersion {
    /// The plan's hash.
    pub(crate) plan_hash: String,
    /// Whether new runs have it.
    pub(crate) current: bool,
}

/// One fact about a run.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Event)]
pub(crate) struct EventShape {
    /// Its place in the history, from 1.
    pub(crate) seq: Seq,
    /// When it was decided.
    pub(crate) at: Time,
    /// What happened: `runStarted`, `callStarted`, `callSucceeded` …
    pub(crate) r#type: String,
    /// The node that it is about.
    pub(crate) node: Option<Path>,
    /// What made it happen.
    pub(crate) cause: CauseShape,
    /// What else is known.
    #[schema(value_type = Object)]
    pub(crate) data: Value,
}

/// What made an event happen.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EventCause)]
pub(crate) enum CauseShape {
    /// Another event of the run.
    Event(Seq),
    /// `request`, `clock`, `child`, `recovery` or `shutdown`.
    #[schema(value_type = String)]
    Outside(ExternalCause),
}

impl From<&Event> for EventShape {
    fn from(event: &Event) -> Self {
        // As it is stored: the kind is the only key. The data is passed on as text, so that no number loses digits.
        let stored = Value::encode(&event.kind).expect("an event has only string keys");
        let tagged: BTreeMap<String, Box<RawValue>> =
            stored.decode().expect("a kind is an object with one key");
        let (kind, data) = tagged.into_iter().next().expect("a kind is an object with one key");
        Self {
            seq: event.seq,
            at: event.at,
            r#type: kind,
            node: event.kind.node().cloned(),
            cause: match &event.cause {
                EventCause::Event(seq) => CauseShape::Event(*seq),
                EventCause::Outside(outside) => CauseShape::Outside(*outside),
            },
            data: Value::encode(&data).expect("raw JSON is JSON"),
        }
    }
}

/// A line that a step wrote.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LogLine)]
pub(crate) struct LogShape {
    /// Its place among the lines of its run, to read on from.
    pub(crate) no: u64,
    /// When.
    pub(crate) timestamp: Time,
    /// `debug`, `info`, `warn` or `error`.
    pub(crate) level: &'static str,
    /// The text.
    pub(crate) message: String,
    /// The path of the step.
    pub(crate) step_name: String,
    /// The charged attempt.
    pub(crate) attempt: u32,
    /// The call.
    pub(crate) call: u32,
    /// The fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(crate) metadata: Option<Value>,
}

impl From<LogLine> for LogShape {
    fn from(line: LogLine) -> Self {
        Self {
            no: line.no,
            timestamp: line.at,
            level: line.level.word(),
            message: line.message,
            step_name: line.node,
            attempt: line.attempt,
            call: line.call,
            metadata: line.fields,
        }
    }
}

/// A run's plan for drawing, with where each node stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunGraph {
    /// The plan.
    #[serde(flatten)]
    pub(crate) graph: Graph,
    /// Where each node stands that has begun, by its path; of nodes inside of loops, each iteration by itself.
    pub(crate) statuses: BTreeMap<String, NodeStatus>,
}

impl RunGraph {
    pub(crate) fn new(graph: Graph, steps: &[StepMetrics]) -> Self {
        let statuses = steps.iter().map(|step| (step.path.to_string(), step.status)).collect();
        Self { graph, statuses }
    }
}
