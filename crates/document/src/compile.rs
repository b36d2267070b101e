//! A checked document as a plan: each step is a built-in function with its data, so that a run needs nothing but its plan.
//!
//! | step | node |
//! | --- | --- |
//! | `tool`, `transform` | a step that calls the built-in function of that name |
//! | `sleep` | a sleep; one until a ref calls `moment` |
//! | `waitForSignal` | a signal |
//! | a trigger | a trigger of the plan, with its templates as they are |
//! | any of them with `forEach` | a forEach over what `value` gives, with the node as its body |

use std::collections::BTreeMap;

use rival_core::plan::{
    BadBuiltin, Builtin, ForEachNode, FunctionRef, MOMENT_BUILTIN, Node, NodeKind, PlanBlock, RetryPolicy,
    SignalNode, SleepLength, SleepNode, StepNode, Trigger, VALUE_BUILTIN,
};
use rival_core::{Plan, Value};
use serde_json::json;

use crate::checked::{CheckedDocument, CheckedStep, CheckedTrigger, StepAction};

/// The built-in function that calls a tool: `{connection, tool, input}`, where `input` is a template.
pub const TOOL_BUILTIN: &str = "tool";
/// The built-in function that calls a transform: `{source, input}`, where `input` is a template.
pub const TRANSFORM_BUILTIN: &str = "transform";

/// The node that is done for each item.
const ITEM_NODE: &str = "call";

impl CheckedDocument {
    /// The plan of its runs.
    pub fn plan(&self) -> Result<Plan, BadBuiltin> {
        let phases = self.phases.iter().map(|steps| steps.iter().map(node).collect());
        Ok(Plan {
            workflow: self.name.clone(),
            block: PlanBlock::phases(phases.collect::<Result<_, _>>()?),
            on_error: None,
            timeout_ms: None,
            max_retries: 0,
            triggers: self.triggers.iter().map(CheckedTrigger::planned).collect::<Result<_, _>>()?,
        })
    }

    /// The schemas of the signals that its runs wait for, by name.
    pub fn signal_schemas(&self) -> BTreeMap<String, serde_json::Value> {
        let signals = self.phases.iter().flatten().filter_map(|step| match &step.action {
            StepAction::WaitForSignal { signal, schema } => Some((signal.clone(), schema.clone()?)),
            _ => None,
        });
        signals.collect()
    }
}

fn node(step: &CheckedStep) -> Result<Node, BadBuiltin> {
    let kind = kind(step)?;
    let Some(each) = &step.for_each else { return Ok(Node::new(&step.name, kind)) };
    let each = ForEachNode {
        items: builtin(VALUE_BUILTIN, &each.items)?,
        body: PlanBlock::sequence(vec![Node::new(ITEM_NODE, kind)]),
        concurrency: each.concurrency,
        max_iterations: Some(each.max_iterations),
    };
    Ok(Node::new(&step.name, NodeKind::ForEach(each)))
}

fn kind(step: &CheckedStep) -> Result<NodeKind, BadBuiltin> {
    Ok(match &step.action {
        StepAction::Tool { connection, tool, input } => {
            let with = json!({ "connection": connection, "tool": tool, "input": input });
            NodeKind::Step(call(step, builtin(TOOL_BUILTIN, &with)?))
        }
        StepAction::Transform { source, input } => {
            let with = json!({ "source": source, "input": input });
            NodeKind::Step(call(step, builtin(TRANSFORM_BUILTIN, &with)?))
        }
        StepAction::SleepFor { ms } => NodeKind::Sleep(SleepNode { wait: SleepLength::ForMs(*ms) }),
        StepAction::SleepUntil { at_ms } => NodeKind::Sleep(SleepNode { wait: SleepLength::UntilMs(*at_ms) }),
        StepAction::SleepUntilComputed { moment } => {
            let wait = SleepLength::Computed(builtin(MOMENT_BUILTIN, moment)?);
            NodeKind::Sleep(SleepNode { wait })
        }
        StepAction::WaitForSignal { signal, .. } => NodeKind::Signal(SignalNode {
            signal: signal.clone(),
            timeout_ms: step.timeout_ms,
            timeout_is_value: step.continue_on_error,
        }),
    })
}

fn call(step: &CheckedStep, function: FunctionRef) -> StepNode {
    let retry = step.retry.map(|retry| RetryPolicy {
        max_attempts: Some(retry.max_attempts),
        backoff_ms: Some(retry.backoff_ms),
        ..RetryPolicy::default()
    });
    StepNode {
        function,
        retry: retry.unwrap_or_default(),
        timeout_ms: step.timeout_ms,
        continue_on_error: step.continue_on_error,
        ..StepNode::default()
    }
}

impl CheckedTrigger {
    /// The trigger as a plan has it.
    pub(crate) fn planned(&self) -> Result<Trigger, BadBuiltin> {
        let mut planned = Trigger::new(&self.workflow, &Value::from(self.inputs.clone()))?;
        if let Some(list) = &self.for_each {
            planned = planned.with_list(&Value::from(list.clone()))?;
        }
        (planned.timeout_ms, planned.max_retries) = (self.workflow_timeout_ms, self.max_retries);
        Ok(planned)
    }
}

fn builtin(name: &str, with: &serde_json::Value) -> Result<FunctionRef, BadBuiltin> {
    Builtin::new(name, &Value::from(with.clone())).map(FunctionRef::from)
}
