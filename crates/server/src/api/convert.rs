//! What the engine and the store have, as the API shows it.

pub(crate) mod document;

use rival_api::{LogReply, RunGraph, RunStatusReply, RunSummary, ViolationReply, WorkflowSummary};
use rival_core::plan::Graph;
use rival_core::view::StepMetrics;
use rival_engine::{RunHandle, Violation, WorkflowInfo};
use rival_store::{LogLine, RunRow};

pub(crate) fn status_reply(run: &RunHandle) -> RunStatusReply {
    RunStatusReply { run_id: run.id().clone(), status: run.status(), signal_id: None, hint: None }
}

pub(crate) fn run_summary(row: RunRow) -> RunSummary {
    RunSummary {
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
        children: None,
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

pub(crate) fn workflow_summary(info: WorkflowInfo) -> WorkflowSummary {
    WorkflowSummary {
        name: info.name,
        description: info.description,
        input_schema: info.input_schema,
        signal_schemas: info.signal_schemas,
        step_count: info.step_count,
        plan_hash: info.plan_hash,
        kind: info.origin.kind.word().to_owned(),
        file: info.origin.file,
    }
}

pub(crate) fn log_reply(line: LogLine) -> LogReply {
    LogReply {
        no: line.no,
        timestamp: line.at,
        level: line.level,
        message: line.message,
        step_name: line.node,
        attempt: line.attempt,
        call: line.call,
        metadata: line.fields,
    }
}

pub(crate) fn run_graph(graph: Graph, steps: &[StepMetrics]) -> RunGraph {
    let statuses = steps.iter().map(|step| (step.path.to_string(), step.status)).collect();
    let undo = steps.iter().filter_map(|step| Some((step.path.to_string(), step.undo?))).collect();
    RunGraph { graph, statuses, undo }
}

pub(crate) fn violations(violations: Vec<Violation>) -> Vec<ViolationReply> {
    let reply = |violation: Violation| ViolationReply {
        path: violation.path,
        message: violation.message,
        ..ViolationReply::default()
    };
    violations.into_iter().map(reply).collect()
}
