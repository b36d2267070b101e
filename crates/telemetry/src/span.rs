//! Runs and calls as spans.

use std::time::{Duration, SystemTime};

use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use rival_core::{Path, Time, TraceParent};
use rival_engine::{Called, Committed};

use crate::exception::SpanException;
use crate::http_span;

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
    let end_time = moment(last.at);
    let exception = last.kind.failure().map(|failure| SpanException::of_failure(failure, commit.workflow));
    let data = SpanData {
        parent_span_id: state.trace.map_or(SpanId::INVALID, |starter| SpanId::from_bytes(starter.span_id)),
        parent_span_is_remote: state.trace.is_some(),
        name: commit.workflow.to_owned().into(),
        start_time: moment(state.started_at),
        end_time,
        ..new_span(at, attributes, scope)
    };
    Some(with_exception(data, exception))
}

/// The span of a call.
pub(crate) fn of_call(call: &Called<'_>, scope: &InstrumentationScope) -> Option<SpanData> {
    let run = TraceParent::of_run(call.run, call.state.trace);
    if !run.sampled {
        return None;
    }
    let mut attributes = vec![
        KeyValue::new("rival.run_id", call.run.to_string()),
        KeyValue::new("rival.workflow", call.workflow.to_owned()),
        KeyValue::new("rival.node", call.node.to_string()),
        KeyValue::new("rival.role", call.role.name()),
        KeyValue::new("rival.attempt", i64::from(call.attempt)),
        KeyValue::new("rival.call", i64::from(call.call)),
        KeyValue::new("rival.outcome", call.end.name()),
    ];
    attributes.extend(iteration(call.node).map(|index| KeyValue::new("rival.iteration", i64::from(index))));
    let mut exception = SpanException::of_call(call);
    let mut kind = SpanKind::Internal;
    if let Some(http) = call.http {
        kind = SpanKind::Client;
        attributes.extend(http_span::of_exchange(http, call.attempt));
        if let (Some(exception), Some(status)) =
            (&mut exception, http.status().filter(|status| *status >= 400))
        {
            exception.error_type = status.to_string();
        }
    }
    let end_time = moment(call.ended_at);
    let data = SpanData {
        parent_span_id: SpanId::from_bytes(run.span_id),
        span_kind: kind,
        name: name(call.workflow, call.node).into(),
        // Moments are in milliseconds: a call that is shorter would seem to begin before its run.
        start_time: (end_time - call.took).max(moment(call.state.started_at)),
        end_time,
        ..new_span(run.of_call(call.run, call.node, call.role, call.call), attributes, scope)
    };
    Some(with_exception(data, exception))
}

/// The same for all iterations of a node: names are what spans are grouped by.
fn name(workflow: &str, node: &Path) -> String {
    if node.is_root() { workflow.to_owned() } else { format!("{workflow}/{}", node.in_plan()) }
}

/// Which iteration of the nearest loop or forEach a node is part of.
fn iteration(node: &Path) -> Option<u32> {
    node.around().find_map(|path| path.as_iteration()).map(|(_, index)| index)
}

/// A span that says nothing but where it is.
pub(crate) fn new_span(at: TraceParent, attributes: Vec<KeyValue>, scope: &InstrumentationScope) -> SpanData {
    let (trace, id) = (TraceId::from_bytes(at.trace_id), SpanId::from_bytes(at.span_id));
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
        status: Status::Unset,
        instrumentation_scope: scope.clone(),
    }
}

/// The span, with what went wrong at its end.
fn with_exception(mut span: SpanData, exception: Option<SpanException>) -> SpanData {
    if let Some(exception) = exception {
        span.status = Status::error(exception.description());
        span.attributes.push(KeyValue::new("error.type", exception.error_type.clone()));
        span.events.events.push(exception.into_event(span.end_time));
    }
    span
}

fn moment(time: Time) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(time.0).unwrap_or(0))
}
