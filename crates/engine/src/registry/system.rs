//! Workflows of Rival's own. Every engine can run them, from their plans alone; no author starts or replaces them.
//!
//! | workflow | what it does | its input |
//! | --- | --- | --- |
//! | `rival:triggers` | starts what a completed run triggers | `{source, workflows}`: the completed run, and what each of its triggers starts |
//!
//! A trigger that fails does not stop the others, so its step fails softly, and the last step fails the run.

use std::sync::{Arc, LazyLock};

use rival_core::plan::{
    BackoffKind, Builtin, ForEachNode, FunctionRef, Node, NodeKind, PlanBlock, RetryPolicy, StepNode,
    TRIGGER_BUILTIN, TRIGGERS_WORKFLOW, VALUE_BUILTIN, is_system_workflow,
};
use rival_core::{Path, Plan, Value};
use serde_json::json;

use crate::registry::bound_plan::BoundPlan;
use crate::registry::workflows::RegisteredWorkflow;

/// The built-in function that fails a run whose triggers were not all done.
pub(crate) const TRIGGERED_BUILTIN: &str = "rival:triggered";

/// The node that goes through the triggers.
const TRIGGERS_NODE: &str = "triggers";
/// The node in it that does one.
const START_NODE: &str = "start";
/// The last node.
const ALL_NODE: &str = "all";

/// How many triggers are done at a time.
const CONCURRENCY: u32 = 4;
/// How often a trigger is tried where trying again may help.
const ATTEMPTS: u32 = 5;
const BACKOFF_MS: u64 = 1_000;

static TRIGGERS: LazyLock<Arc<RegisteredWorkflow>> = LazyLock::new(|| {
    Arc::new(RegisteredWorkflow::without_functions(&Arc::new(BoundPlan::new(triggers_plan()))))
});

/// The workflow that starts what a completed run triggers.
pub(crate) fn triggers_workflow() -> &'static Arc<RegisteredWorkflow> {
    &TRIGGERS
}

/// A workflow of Rival's own, to go on with its runs.
pub(crate) fn system_workflow(name: &str) -> Option<&'static Arc<RegisteredWorkflow>> {
    (name == TRIGGERS_WORKFLOW).then_some(&*TRIGGERS)
}

/// Whether only plans of Rival's own may refer to a built-in function.
pub(crate) fn is_system_builtin(name: &str) -> bool {
    is_system_workflow(name)
}

/// The node that does a trigger, by its number.
pub(crate) fn trigger_node(index: u32) -> Path {
    Path::root().child(TRIGGERS_NODE).iteration(index).child(START_NODE)
}

fn triggers_plan() -> Plan {
    let start = StepNode {
        function: builtin(TRIGGER_BUILTIN, &json!({})),
        retry: RetryPolicy {
            max_attempts: Some(ATTEMPTS),
            backoff: Some(BackoffKind::Exponential),
            backoff_ms: Some(BACKOFF_MS),
            jitter: false,
        },
        continue_on_error: true,
        ..StepNode::default()
    };
    let each = ForEachNode {
        items: builtin(VALUE_BUILTIN, &json!({"$": ["input", "workflows"]})),
        body: PlanBlock::sequence(vec![Node::new(START_NODE, NodeKind::Step(start))]),
        concurrency: CONCURRENCY,
        max_iterations: None,
    };
    let function = builtin(TRIGGERED_BUILTIN, &json!({"$": [TRIGGERS_NODE]}));
    let all = StepNode { function, ..StepNode::default() };
    Plan {
        workflow: TRIGGERS_WORKFLOW.to_owned(),
        block: PlanBlock::sequence(vec![
            Node::new(TRIGGERS_NODE, NodeKind::ForEach(each)),
            Node::new(ALL_NODE, NodeKind::Step(all)),
        ]),
        on_error: None,
        timeout_ms: None,
        max_retries: 0,
        triggers: Vec::new(),
    }
}

fn builtin(name: &str, with: &serde_json::Value) -> FunctionRef {
    Builtin::new(name, &Value::from(with.clone())).expect("its data is not deep").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stored runs have it: another one needs another name, or to leave these as they are.
    #[test]
    fn the_plan_of_the_runs_that_trigger_stays_as_it_is() {
        expect_test::expect![[r#"{"version":2,"workflow":"rival:triggers","block":{"nodes":[{"id":"triggers","kind":"forEach","items":{"use":"value","with":{"$":["input","workflows"]}},"body":{"nodes":[{"id":"start","kind":"step","function":{"use":"rival:trigger","with":{}},"maxAttempts":5,"backoff":"exponential","backoffMs":1000,"continueOnError":true}]},"concurrency":4},{"id":"all","kind":"step","function":{"use":"rival:triggered","with":{"$":["triggers"]}}}]}}"#]].assert_eq(&triggers_plan().to_json());
        assert_eq!(trigger_node(3).as_str(), "triggers[3]/start");
    }
}
