//! The zod schemas of the module `rival/document`, against the list of cases that the published JSON Schema is held to.

use serde_json::{Value, json};

use crate::support::Lab;

const CASES: &str = include_str!("../../../document/tests/cases/documents.json");

const FILE: &str = "import { StepSchema, TriggerSchema, WorkflowSchema } from 'rival/document'
const schemas = { step: StepSchema, trigger: TriggerSchema, document: WorkflowSchema }
function judge({ input }) {
    return input.map(([kind, text]) => {
        const parsed = schemas[kind].safeParse(JSON.parse(text))
        return parsed.success ? { value: parsed.data } : { issues: parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) }
    })
}
export const steps = [judge]";

/// What the schemas say to values, each of which is a step, a trigger or a document.
async fn judged(values: Vec<(&str, Value)>) -> Vec<Value> {
    let lab = Lab::good(&[("judge.ts", FILE)]).await;
    // As texts: JavaScript reads the numbers itself.
    let given: Vec<Value> = values.iter().map(|(kind, value)| json!([kind, value.to_string()])).collect();
    match lab.output("judge", json!(given)).await {
        Value::Array(answers) => answers,
        other => panic!("{other}"),
    }
}

fn subject(case: &Value) -> (&'static str, Value) {
    let kind = ["step", "trigger", "document"].into_iter().find(|kind| case.get(kind).is_some());
    let kind = kind.expect("a case is one of them");
    (kind, case[kind].clone())
}

#[tokio::test]
async fn they_accept_and_refuse_what_the_published_schema_does() {
    let cases: Vec<Value> = serde_json::from_str(CASES).expect("the cases are JSON");
    let answers = judged(cases.iter().map(subject).collect()).await;
    assert_eq!(answers.len(), cases.len());
    for (case, answer) in cases.iter().zip(&answers) {
        assert_eq!(case["accepted"] == true, answer.get("value").is_some(), "{}: {answer}", case["about"]);
    }
}

#[tokio::test]
async fn they_fill_in_defaults_and_nothing_else() {
    let step = json!({ "name": "a", "tool": { "connectionId": "c", "toolName": "t" }, "retry": {}, "forEach": "@input.list",
        "input": { "z": 1, "a": [{ "__proto__": 1, "constructor": null }] } });
    let answers = judged(vec![("document", json!({ "name": "d", "steps": [[step]] }))]).await;
    let filled = json!({ "name": "a", "tool": { "connectionId": "c", "toolName": "t" }, "as": "item", "maxIterations": 100,
        "retry": { "maxAttempts": 3, "backoffMs": 1000 }, "forEach": "@input.list",
        "input": { "z": 1, "a": [{ "__proto__": 1, "constructor": null }] } });
    assert_eq!(answers, [json!({ "value": { "name": "d", "steps": [[filled]] } })]);
}

#[tokio::test]
async fn what_is_wrong_has_its_path() {
    let document = json!({ "name": "d", "steps": [
        [{ "name": "two words", "sleep": {} }, { "name": "b", "sleep": { "ms": 1 }, "retry": {}, "concurrency": 2 }, { "name": "c" }]
    ] });
    let answers = judged(vec![("document", document)]).await;
    let expected = json!([{ "issues": [
        "steps.0.0.name: a name has letters, digits, `_` and `-`",
        "steps.0.0.sleep: `sleep` has either `ms` or `until`",
        "steps.0.1.retry: a `sleep` step takes no `retry`",
        "steps.0.1.concurrency: `concurrency` is for a step with `forEach`",
        "steps.0.2: a step has exactly one of `tool`, `transform`, `sleep`, `waitForSignal`"
    ] }]);
    assert_eq!(json!(answers), expected);
}
