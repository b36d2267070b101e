//! Runs and calls as spans.

use std::time::{Duration, SystemTime};

use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use rival_core::{Time, TraceParent};
use rival_engine::{Called, Committed};

/// The span of a run, if this commit ends it: from its start, in whatever process that was. `None` too if the
/// caller that started it does not record the trace.
pub(crate) fn of_run(commit: &Committed<'_>, scope: &InstrumentationScope) -> Option<SpanData> {
    let last = commit.events.last().filter(|event| event.kind.is_terminal())?;
    let state = commit.state;
    let at = TraceParent::of_run(commit.run, state.trace);
    if !at.sampled {
        return None;
    }
    let mut attributes = vec![
        KeyValue::new("rival.run_id", commit.run.to_string()),
        KeyValue::new("rival.workflow", commit.workflow.to_owned()),
        KeyValue::new("rival.status", commit.status.to_string()),
    ];
    let runs = [("rival.parent_run_id", &state.parent), ("rival.source_run_id", &state.source)];
    for (name, run) in runs {
        attributes.extend(run.as_ref().map(|run| KeyValue::new(name, run.to_string())));
    }
    let problem = last.kind.failure().map(|failure| (failure.code.as_str(), failure.message.as_str()));
    Some(SpanData {
        parent_span_id: state.trace.map_or(SpanId::INVALID, |starter| SpanId::from_bytes(starter.span_id)),
        parent_span_is_remote: state.trace.is_some(),
        name: commit.workflow.to_owned().into(),
        start_time: moment(state.started_at),
        end_time: moment(last.at),
        ..span(at, attributes, problem, scope)
    })
}

/// The span of a call.
pub(crate) fn of_call(call: &Called<'_>, scope: &InstrumentationScope) -> Option<SpanData> {
    let run = TraceParent::of_run(call.run, call.state.trace);
    if !run.sampled {
        return None;
    }
    let attributes = vec![
        KeyValue::new("rival.run_id", call.run.to_string()),
        KeyValue::new("rival.workflow", call.workflow.to_owned()),
        KeyValue::new("rival.node", call.node.to_string()),
        KeyValue::new("rival.role", call.role.name()),
        KeyValue::new("rival.attempt", i64::from(call.attempt)),
        KeyValue::new("rival.call", i64::from(call.call)),
        KeyValue::new("rival.outcome", call.end.name()),
    ];
    let node = if call.node.is_root() { String::new() } else { format!("/{}", call.node) };
    let problem = call.problem();
    let problem = problem.as_ref().map(|(code, message)| (*code, &**message));
    let end_time = moment(call.ended_at);
    Some(SpanData {
        parent_span_id: SpanId::from_bytes(run.span_id),
        name: format!("{}{node}", call.workflow).into(),
        // Moments are in milliseconds: a call that is shorter would seem to begin before its run.
        start_time: (end_time - call.took).max(moment(call.state.started_at)),
        end_time,
        ..span(run.of_call(call.run, call.node, call.role, call.call), attributes, problem, scope)
    })
}

/// What is alike in both.
fn span(
    at: TraceParent,
    mut attributes: Vec<KeyValue>,
    problem: Option<(&str, &str)>,
    scope: &InstrumentationScope,
) -> SpanData {
    let (trace, id) = (TraceId::from_bytes(at.trace_id), SpanId::from_bytes(at.span_id));
    attributes.extend(problem.map(|(code, _)| KeyValue::new("error.type", code.to_owned())));
    SpanData {
        span_context: SpanContext::new(trace, id, TraceFlags::SAMPLED, false, TraceState::default()),
        parent_span_id: SpanId::INVALID,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: "".into(),
        start_time: SystemTime::UNIX_EPOCH,
        end_time: SystemTime::UNIX_EPOCH,
        attributes,
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: problem.map_or(Status::Unset, |(code, message)| Status::error(format!("{code}: {message}"))),
        instrumentation_scope: scope.clone(),
    }
}

fn moment(time: Time) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(time.0).unwrap_or(0))
}
