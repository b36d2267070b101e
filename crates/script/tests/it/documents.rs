//! Documents whose transforms run in the sandbox.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rival_core::{RunId, RunStatus};
use rival_document::{
    CheckContext, ToolCatalog, ToolLookup, TypescriptTransforms, WorkflowCatalog, WorkflowLookup,
    check_document,
};
use rival_engine::store::{MemoryStore, Store};
use rival_engine::{Builtins, Definition, Engine};
use rival_script::{Sandbox, TransformBuiltins, TransformLimits};
use serde_json::json;

use crate::support::settings;

/// No tools, and no other workflows.
struct Nothing;

impl ToolCatalog for Nothing {
    fn tool(&self, _: &str, _: &str) -> ToolLookup {
        ToolLookup::UnknownConnection { known: Vec::new() }
    }
}

impl WorkflowCatalog for Nothing {
    fn workflow(&self, _: &str) -> WorkflowLookup {
        WorkflowLookup::Unknown { known: Vec::new() }
    }
}

const DOUBLED: &str = "interface Input { n: number }\ninterface Output { n: number }\nexport default (input: Input): Output => { if (input.n > 1000) { throw new Error('too much') }; return { n: 2 * input.n } }";

/// Doubles its input, waits for `go`, and doubles again.
fn definition() -> Definition {
    let number = json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] });
    let document = json!({ "name": "doubled", "inputSchema": number, "steps": [
        [{ "name": "once", "transform": DOUBLED, "input": { "n": "@input.n" } }],
        [{ "name": "pause", "waitForSignal": { "name": "go" } }],
        [{ "name": "twice", "transform": DOUBLED, "input": { "n": "@once.output.n" } }]
    ] });
    let context = CheckContext { tools: &Nothing, transforms: &TypescriptTransforms, workflows: &Nothing };
    let check = check_document(&document.to_string(), context);
    let document = check.document.unwrap_or_else(|| panic!("{:?}", check.errors));
    Definition::new(document.plan().expect("its templates are JSON"), BTreeMap::new())
}

async fn engine(store: &Arc<MemoryStore>) -> Engine {
    let builtins: Arc<dyn Builtins> =
        Arc::new(TransformBuiltins::new(Sandbox::new(settings()), TransformLimits::default()));
    let store: Arc<dyn Store> = Arc::clone(store) as Arc<dyn Store>;
    Engine::builder().store(store).builtins(builtins).build().await.expect("it is built")
}

async fn begun(engine: &Engine, n: u32) -> RunId {
    engine.register(definition()).await.expect("it is sound");
    engine.run("doubled", json!({ "n": n })).await.expect("it begins").id().clone()
}

#[tokio::test]
async fn a_run_goes_on_from_its_plan_alone() {
    let store = Arc::new(MemoryStore::default());
    let first = engine(&store).await;
    let run = begun(&first, 3).await;
    first.shutdown(Duration::from_secs(5)).await;
    // This one has never heard of the document.
    let second = engine(&store).await;
    second.signal(&run, "go", json!(null)).await.expect("the run waits for it");
    let outcome = second.wait(&run).await.expect("it is there");
    assert_eq!(outcome.status, RunStatus::Completed);
    assert_eq!(outcome.output.expect("it has one").to_json(), json!({ "n": 12 }));
}

#[tokio::test]
async fn a_transform_that_throws_fails_its_step_with_its_line() {
    let engine = engine(&Arc::new(MemoryStore::default())).await;
    let run = begun(&engine, 2000).await;
    let outcome = engine.wait(&run).await.expect("it is there");
    assert_eq!(outcome.status, RunStatus::Failed);
    let failure = outcome.error.expect("it has failed");
    assert_eq!(failure.message, "line 3: too much");
}
