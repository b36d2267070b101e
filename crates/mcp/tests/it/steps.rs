//! Tools as steps of runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rival_core::{RunId, RunStatus};
use rival_document::{
    CheckContext, ProblemCode, TypescriptTransforms, WorkflowCatalog, WorkflowLookup, check_document,
};
use rival_engine::store::{MemoryStore, Store};
use rival_engine::{Builtins, Definition, Engine, RunOutcome};
use rival_mcp::{ToolBuiltins, code};
use serde_json::{Value as Json, json};

use crate::support::{Lab, PATIENCE, lines, scripted, until};

struct NoWorkflows;

impl WorkflowCatalog for NoWorkflows {
    fn workflow(&self, _: &str) -> WorkflowLookup {
        WorkflowLookup::Unknown { known: Vec::new() }
    }
}

/// An engine whose steps call the tools of a lab.
async fn engine(lab: &Lab) -> Engine {
    engine_on(lab, &Arc::new(MemoryStore::default())).await
}

async fn engine_on(lab: &Lab, store: &Arc<MemoryStore>) -> Engine {
    let builtins: Arc<dyn Builtins> = Arc::new(ToolBuiltins::new(lab.0.clone()));
    let store: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
    let engine = Engine::builder().store(store).builtins(builtins).build().await.unwrap();
    lab.0.attach(&engine);
    engine
}

/// Registers a document with these phases.
async fn register(lab: &Lab, engine: &Engine, phases: Json) {
    let document = json!({ "name": "d", "inputSchema": {}, "steps": phases });
    let context = CheckContext { tools: &lab.0, transforms: &TypescriptTransforms, workflows: &NoWorkflows };
    let check = check_document(&document.to_string(), context);
    let document = check.document.unwrap_or_else(|| panic!("{:?}", check.errors));
    engine.register(Definition::new(document.plan().unwrap(), BTreeMap::new())).await.unwrap();
}

async fn begin(engine: &Engine, input: Json) -> RunId {
    engine.run("d", input).await.unwrap().id().clone()
}

async fn end(engine: &Engine, run: &RunId) -> RunOutcome {
    engine.wait_for(run, PATIENCE).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_calls_a_tool_with_values_of_its_run_and_is_tried_again_under_the_same_key() {
    let lab = Lab::scripted(json!({}));
    lab.until_ready().await;
    let engine = engine(&lab).await;
    let step = json!({ "name": "get", "tool": { "connectionId": "s", "toolName": "flaky" }, "input": { "failures": "@input.n" }, "retry": { "maxAttempts": 3, "backoffMs": 1 } });
    register(&lab, &engine, json!([[step]])).await;
    let run = begin(&engine, json!({"n": 2})).await;
    let outcome = end(&engine, &run).await;
    let told = outcome.output.expect("it completes").to_json();
    let key = format!("{run}/get");
    for (meta, attempt) in told.as_array().unwrap().iter().zip(1..) {
        assert_eq!(meta["rival/idempotencyKey"], json!(key));
        assert_eq!((&meta["rival/attempt"], &meta["rival/step"]), (&json!(attempt), &json!("get")));
        assert_eq!((&meta["rival/runId"], &meta["rival/workflow"]), (&json!(run.as_str()), &json!("d")));
    }
    assert_eq!(told.as_array().unwrap().len(), 3);
    let outcome = end(&engine, &begin(&engine, json!({"n": 3})).await).await;
    let failure = outcome.error.expect("it has failed");
    assert_eq!(
        (failure.code.as_str(), failure.message.as_str()),
        (code::TOOL_FAILED, "tool `flaky` failed: not yet")
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_is_cancelled_or_times_out_is_cancelled_at_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let lab = Lab::scripted(json!({"env": {"SCRIPT_LOG": log}}));
    lab.until_ready().await;
    let engine = engine(&lab).await;
    let wait = |name: &str, timeout: Option<u64>| {
        let mut step = json!({ "name": name, "tool": { "connectionId": "s", "toolName": "wait" }, "input": { "ms": 60_000, "name": name } });
        if let Some(ms) = timeout {
            step["timeout"] = json!(ms);
        }
        json!([[step]])
    };
    let told =
        |times: usize| lines(&log).iter().filter(|line| line.starts_with("cancelled")).count() >= times;
    register(&lab, &engine, wait("cancelled", None)).await;
    let run = begin(&engine, json!({})).await;
    until("the tool waits", || lines(&log).contains(&"waits cancelled".to_owned())).await;
    engine.cancel(&run, "enough").await.unwrap();
    assert_eq!(end(&engine, &run).await.status, RunStatus::Cancelled);
    until("the server is told", || told(1)).await;
    engine.retire("d").await.unwrap();
    register(&lab, &engine, wait("late", Some(300))).await;
    let outcome = end(&engine, &begin(&engine, json!({})).await).await;
    assert_eq!(outcome.error.expect("it has failed").code, "timeout");
    until("the server is told", || told(2)).await;
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_waits_for_a_connection_that_is_not_there() {
    let lab = Lab::scripted(json!({}));
    lab.until_ready().await;
    let store = Arc::new(MemoryStore::default());
    let first = engine_on(&lab, &store).await;
    let steps = json!([[{ "name": "pause", "waitForSignal": { "name": "go" } }],
        [{ "name": "say", "tool": { "connectionId": "s", "toolName": "text" }, "input": { "text": "there" } }]]);
    register(&lab, &first, steps).await;
    let run = begin(&first, json!({})).await;
    first.shutdown(PATIENCE).await;
    lab.end().await;
    // Another process, without the document and without the connection.
    let lab = Lab::new();
    let second = engine_on(&lab, &store).await;
    second.signal(&run, "go", json!(null)).await.unwrap();
    let blocked = async {
        while second.get(&run).await.unwrap().status != RunStatus::Blocked {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, blocked).await.expect("it is blocked");
    let why = second.explain(&run).await.unwrap();
    assert!(why.contains("tool:s") && why.contains("no connection is called `s`"), "{why}");
    lab.define("s", scripted(json!({})));
    assert_eq!(end(&second, &run).await.output.unwrap().to_json(), json!("there"));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_in_a_step_fails_the_attempt_and_not_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let lab = Lab::scripted(json!({"env": {"SCRIPT_LOG": log}}));
    let pid = lab.ask("pid", json!({})).await;
    let engine = engine(&lab).await;
    let steps = json!([[{ "name": "w", "tool": { "connectionId": "s", "toolName": "wait" }, "input": { "ms": 1_500 }, "retry": { "maxAttempts": 2, "backoffMs": 1 } }]]);
    register(&lab, &engine, steps).await;
    let run = begin(&engine, json!({})).await;
    until("the tool waits", || lines(&log).len() == 1).await;
    assert!(std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    let outcome = end(&engine, &run).await;
    assert_eq!(outcome.output.unwrap().to_json(), json!("waited"));
    let history = serde_json::to_string(&engine.history(&run).await.unwrap()).unwrap();
    assert!(history.contains(code::CONNECTION_LOST), "{history}");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phase_of_a_thousand_tools_stays_within_the_limit_of_its_connection() {
    let lab = Lab::scripted(json!({"concurrency": 5}));
    lab.until_ready().await;
    let engine = engine(&lab).await;
    let steps: Vec<Json> = (0..1_000)
        .map(|n| json!({ "name": format!("s{n}"), "tool": { "connectionId": "s", "toolName": "work" }, "input": { "ms": 1 } }))
        .collect();
    register(
        &lab,
        &engine,
        json!([steps, [{ "name": "most", "tool": { "connectionId": "s", "toolName": "busiest" } }]]),
    )
    .await;
    let outcome = end(&engine, &begin(&engine, json!({})).await).await;
    assert_eq!(outcome.output.unwrap().to_json(), json!(5));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_checked_against_the_tools_that_are_there() {
    let lab = Lab::scripted(json!({"tools": ["text"]}));
    lab.until_ready().await;
    let codes = |connection: &str, tool: &str| {
        let tool = json!({ "connectionId": connection, "toolName": tool });
        let document = json!({ "name": "d", "steps": [[{ "name": "a", "tool": tool, "input": {} }]] });
        let context =
            CheckContext { tools: &lab.0, transforms: &TypescriptTransforms, workflows: &NoWorkflows };
        let check = check_document(&document.to_string(), context);
        check.errors.iter().map(|error| error.code).collect::<Vec<_>>()
    };
    assert_eq!(codes("s", "text"), []);
    assert_eq!(codes("s", "echo"), [ProblemCode::UnknownTool]);
    assert_eq!(codes("t", "text"), [ProblemCode::UnknownConnection]);
    lab.end().await;
}
