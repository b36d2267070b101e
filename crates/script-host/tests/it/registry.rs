//! `WorkflowRegistry` in a step.

use rival_script_host::frame::{ScriptError, ToHost};
use serde_json::json;

use crate::lab::{Lab, Place, file};

const FLOW: &str = "
    import { createWorkflow, WorkflowRegistry } from 'rival'
    const registry = new WorkflowRegistry()
    export const other = createWorkflow('other').step(function go() {})
    export const name = 'flow'
    async function launches() {
        const launched = registry.launch(other, { n: 1 })
        const { runId } = await launched
        return [runId === launched.runId, runId]
    }
    async function refused() {
        try { await registry.launch('other', 7) } catch (error) { return [error.name, error.code, error.issues] }
    }
    async function looks() {
        const run = registry.getWorkflow('r1')
        return [await registry.list(), await registry.getActiveRuns('other'), await registry.getActiveRuns(), await run.getState(), await run.cancel('why'), await registry.cancel('r2')]
    }
    export const steps = [launches, refused, looks]";

fn lab() -> Lab {
    let mut lab = Lab::new(Place::Thread);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file("/flow.js", FLOW)] });
    lab
}

#[test]
fn runs_are_launched() {
    let mut lab = lab();
    lab.begin("launches", json!(null));
    let (id, op, kind, args) = lab.op();
    assert_eq!(
        (kind.as_str(), &args["workflow"], &args["input"]),
        ("registry.launch", &json!("other"), &json!({"n": 1}))
    );
    lab.answer(id, op, json!({"status": "running"}));
    assert_eq!(lab.end().1.outcome.unwrap(), json!([true, args["runId"]]));
}

#[test]
fn refused_input_carries_issues() {
    let mut lab = lab();
    lab.begin("refused", json!(null));
    let (id, op, ..) = lab.op();
    let issues = json!([{"path": ["a"], "message": "wrong", "code": "custom"}]);
    let error = ScriptError {
        name: "ZodError".to_owned(),
        message: "refused".to_owned(),
        code: Some("invalid_input".to_owned()),
        details: Some(json!({"issues": issues})),
        ..ScriptError::default()
    };
    lab.tell(&ToHost::Answer { id, op, value: None, error: Some(error) });
    assert_eq!(lab.end().1.outcome.unwrap(), json!(["ZodError", "invalid_input", issues]));
}

#[test]
fn everything_else_is_asked_of_the_engine() {
    let mut lab = lab();
    lab.begin("looks", json!(null));
    for (n, (kind, args)) in [
        ("registry.list", json!({})),
        ("registry.active", json!({"workflow": "other"})),
        ("registry.active", json!({})),
        ("registry.get", json!({"runId": "r1"})),
        ("registry.cancel", json!({"runId": "r1", "reason": "why"})),
        ("registry.cancel", json!({"runId": "r2"})),
    ]
    .into_iter()
    .enumerate()
    {
        let (id, op, asked, with) = lab.op();
        assert_eq!((asked.as_str(), with), (kind, args));
        lab.answer(id, op, json!(n));
    }
    assert_eq!(lab.end().1.outcome.unwrap(), json!([0, 1, 2, 3, 4, 5]));
}
