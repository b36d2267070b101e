//! What a function is given, as it travels to the host: values as the text that they are stored as.

use std::fmt::Write;

use rival_core::{FailureRecord, Value};
use rival_engine::{
    CallContext, FailureContext, IterationContext, RunInfo, StepView, UndoContext, UndoOutcome,
};
use serde::Serialize;
use serde_json::value::RawValue;

/// The context of a call as JSON, and apart from it what it says of the run. `names` are those of the steps in
/// `context.seen`.
pub(crate) fn encode(context: &CallContext, names: &[String]) -> (Box<RawValue>, Box<RawValue>) {
    let mut text = Text(String::with_capacity(256 + context.input.len_bytes()));
    text.0.push_str("{\"input\":");
    text.value(&context.input);
    text.0.push_str(",\"steps\":{");
    for (at, (name, seen)) in names.iter().zip(&context.seen).enumerate() {
        text.0.push_str(if at == 0 { "" } else { "," });
        text.json(name);
        text.0.push(':');
        match seen {
            Some(step) => text.step(step),
            None => text.0.push_str("null"),
        }
    }
    text.0.push_str("},\"last\":");
    match &context.last_step {
        Some(step) => text.step(step),
        None => text.0.push_str("null"),
    }
    if let Some(iteration) = &context.iteration {
        text.iteration(iteration);
    }
    if let Some(failure) = &context.failure {
        text.failure(failure);
    }
    if let Some(joined) = &context.joined {
        text.0.push_str(",\"joined\":");
        text.value(joined);
    }
    if let Some(undo) = &context.undo {
        text.undo(undo);
    }
    text.0.push('}');
    let mut run = Text(String::with_capacity(256));
    run.run(&context.run);
    let json = |text: Text| RawValue::from_string(text.0).expect("it is put together from JSON");
    (json(text), json(run))
}

struct Text(String);

impl Text {
    fn value(&mut self, value: &Value) {
        self.0.push_str(value.as_json());
    }

    fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        let json = serde_json::to_string(value).expect("strings, numbers and failures always encode");
        self.0.push_str(&json);
    }

    fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        let _ = write!(self.0, ",\"{name}\":");
        self.json(value);
    }

    /// What is missing is `null`, as everywhere else.
    fn or_null(&mut self, name: &str, value: Option<&Value>) {
        let _ = write!(self.0, ",\"{name}\":{}", value.map_or("null", Value::as_json));
    }

    fn optional(&mut self, name: &str, value: Option<&Value>) {
        if let Some(value) = value {
            let _ = write!(self.0, ",\"{name}\":{}", value.as_json());
        }
    }

    fn step(&mut self, step: &StepView) {
        self.0.push_str("{\"stepName\":");
        self.json(&step.name);
        self.or_null("result", step.result.as_ref());
        self.optional("state", Some(&step.state));
        self.field("status", &step.status);
        self.0.push('}');
    }

    fn run(&mut self, run: &RunInfo) {
        self.0.push_str("{\"runId\":");
        self.json(&run.run_id);
        self.field("workflow", &*run.workflow);
        self.field("node", run.node.as_str());
        self.field("attempt", &run.attempt);
        self.field("call", &run.call);
        self.field("idempotencyKey", &run.idempotency_key());
        if let Some(trace) = &run.trace {
            self.field("traceparent", &trace.to_string());
        }
        self.0.push('}');
    }

    fn iteration(&mut self, iteration: &IterationContext) {
        let _ = write!(self.0, ",\"loop\":{{\"index\":{}", iteration.index);
        self.optional("item", iteration.item.as_ref());
        self.optional("items", iteration.items.as_ref());
        self.or_null("last", iteration.last.as_ref());
        self.0.push('}');
    }

    fn failure(&mut self, failure: &FailureContext) {
        self.0.push_str(",\"failure\":{\"error\":");
        self.error(&failure.error);
        let step = &failure.failed_step;
        self.0.push_str(",\"failedStep\":{\"stepName\":");
        self.json(&step.step_name);
        self.field("path", step.path.as_str());
        self.or_null("result", step.result.as_ref());
        self.optional("state", Some(&step.state));
        self.field("status", &step.status);
        let around = &failure.workflow_state;
        self.0.push_str("},\"workflowState\":{\"runId\":");
        self.json(&around.run_id);
        self.field("workflowName", &around.workflow_name);
        self.optional("input", Some(&around.input));
        self.field("status", &around.status);
        self.0.push_str("}}");
    }

    fn error(&mut self, error: &FailureRecord) {
        self.json(error);
    }

    fn undo(&mut self, undo: &UndoContext) {
        let outcome = match undo.outcome {
            UndoOutcome::Completed => "completed",
            UndoOutcome::Unknown => "unknown",
        };
        let _ = write!(self.0, ",\"undo\":{{\"outcome\":\"{outcome}\"");
        self.or_null("result", undo.result.as_ref());
        self.0.push('}');
    }
}

/// A step as `steps.name` shows it.
pub(crate) fn encode_step(step: &StepView) -> Box<RawValue> {
    let mut text = Text(String::new());
    text.step(step);
    RawValue::from_string(text.0).expect("it is put together from JSON")
}
