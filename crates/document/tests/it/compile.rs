//! Documents as plans, and their runs on an engine whose tools say what the test wants.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use rival::testing::TestEngine;
use rival::{Definition, RunId, RunStatus};
use rival_core::{Plan, Value};
use rival_document::{CheckedDocument, TOOL_BUILTIN, TRANSFORM_BUILTIN};
use rival_engine::template::Template;
use rival_engine::{BindError, Builtins, CallContext, CallError, FunctionNeeds, UserFunction};
use serde_json::{Value as Json, json};

use crate::fakes::FakeWorld;
use crate::seed::{examples, world};

/// Tools and transforms that give what was said for their step, and note what they were given.
#[derive(Clone, Default)]
struct SaidOutputs {
    outputs: Arc<BTreeMap<String, Json>>,
    given: Arc<Mutex<Vec<(String, Json)>>>,
}

struct SaidFunction {
    said: SaidOutputs,
    input: Template,
    needs: FunctionNeeds,
}

impl Builtins for SaidOutputs {
    fn names(&self) -> Vec<String> {
        vec![TOOL_BUILTIN.to_owned(), TRANSFORM_BUILTIN.to_owned()]
    }

    fn bind(&self, _: &str, with: &Value) -> Result<Arc<dyn UserFunction>, BindError> {
        let input = Template::parse(&with.to_json()["input"].clone().into()).unwrap();
        Ok(Arc::new(SaidFunction { said: self.clone(), needs: input.needs(), input }))
    }
}

impl UserFunction for SaidFunction {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        let node = context.run.node.to_string();
        let answer = self.input.fill_in_call(&context, &self.needs).map(|given| {
            let output = self.said.outputs.get(&node).cloned().unwrap_or_default();
            self.said.given.lock().unwrap().push((node, given.unwrap_or_default().to_json()));
            output.into()
        });
        Box::pin(std::future::ready(answer.map_err(|error| CallError::Failed(error.into_step_error()))))
    }
}

impl SaidOutputs {
    fn new(outputs: &[(&str, Json)]) -> Self {
        let outputs = outputs.iter().map(|(node, output)| ((*node).to_owned(), output.clone())).collect();
        Self { outputs: Arc::new(outputs), given: Arc::default() }
    }

    /// What a step was given, one after the other.
    fn given(&self, node: &str) -> Vec<Json> {
        let given = self.given.lock().unwrap();
        given.iter().filter(|(of, _)| of == node).map(|(_, given)| given.clone()).collect()
    }

    async fn engine(&self, document: &CheckedDocument) -> TestEngine {
        let mut definition = Definition::new(document.plan().unwrap(), BTreeMap::new());
        definition.signal_schemas = document.signal_schemas();
        let builtins: Arc<dyn Builtins> = Arc::new(self.clone());
        TestEngine::builder()
            .configure(|it| it.builtins(builtins))
            .workflow(definition)
            .build()
            .await
            .unwrap()
    }

    /// Runs a document to its end.
    async fn run(&self, document: &CheckedDocument, input: Json) -> Json {
        let engine = self.engine(document).await;
        let run = started(&engine, document, input).await;
        let outcome = engine.finish(&run).await.unwrap();
        assert_eq!(outcome.status, RunStatus::Completed, "{:?}", outcome.error);
        outcome.output.unwrap().to_json()
    }
}

async fn started(engine: &TestEngine, document: &CheckedDocument, input: Json) -> RunId {
    engine.run(document.name.as_str(), input).await.unwrap().id().clone()
}

fn checked(world: &FakeWorld, document: &Json) -> CheckedDocument {
    let check = world.check_json(document);
    check.document.unwrap_or_else(|| panic!("{:?}", check.errors))
}

fn example(name: &str) -> CheckedDocument {
    checked(&world(), &examples().into_iter().find(|it| it["name"] == name).unwrap())
}

#[test]
fn every_example_is_a_sound_plan() {
    for document in examples().iter().map(|document| checked(&world(), document)) {
        let plan = document.plan().unwrap();
        assert_eq!(plan.check(), [], "{}", document.name);
        assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
        assert!(plan.functions().iter().all(|function| function.builtin().is_some()));
    }
}

#[tokio::test]
async fn values_flow_from_step_to_step() {
    let users = json!([{ "id": "1", "name": "A", "email": "a@x", "active": true }]);
    let said = SaidOutputs::new(&[
        ("fetch", json!({ "users": users })),
        ("extract-emails", json!({ "emails": ["a@x"] })),
        ("send-batch", json!("sent")),
    ]);
    assert_eq!(said.run(&example("emails"), json!(null)).await, json!("sent"));
    assert_eq!(said.given("fetch"), [json!({})]);
    assert_eq!(said.given("extract-emails"), [json!({ "users": users })]);
    assert_eq!(said.given("send-batch"), [json!({ "recipients": ["a@x"] })]);
}

#[tokio::test]
async fn a_phase_of_several_steps_gives_all_their_outputs() {
    let mut document = example("parallel-pipeline");
    document.phases.pop();
    let said = SaidOutputs::new(&[("A", json!({ "data": { "n": 1 } })), ("B", json!(2)), ("E", json!(5))]);
    assert_eq!(said.run(&document, json!(null)).await, json!({ "B": 2, "C": null, "D": null, "E": 5 }));
    assert_eq!(said.given("C"), [json!({ "data": { "n": 1 } })]);
}

#[tokio::test]
async fn a_step_is_done_for_each_item() {
    let said = SaidOutputs::new(&[
        ("get-items", json!({ "items": [{ "id": "a" }, { "id": "b" }] })),
        ("process-item[1]/call", json!({ "ok": true })),
    ]);
    assert_eq!(said.run(&example("for-each"), json!(null)).await, json!([null, { "ok": true }]));
    assert_eq!(said.given("process-item[0]/call"), [json!({ "data": { "id": "a" } })]);
    assert_eq!(said.given("process-item[1]/call"), [json!({ "data": { "id": "b" } })]);
}

#[tokio::test]
async fn what_is_absent_is_left_out_of_optional_fields() {
    let said = SaidOutputs::new(&[("process-order", json!({ "success": false, "error": "no" }))]);
    said.run(&example("order-processor"), json!(null)).await;
    assert_eq!(said.given("decide-next"), [json!({ "success": false, "error": "no" })]);
}

#[tokio::test]
async fn a_document_sleeps_and_waits_for_signals() {
    let document = json!({ "name": "approval", "inputSchema": {
        "type": "object", "properties": { "from": { "type": "string", "format": "date-time" } }, "required": ["from"]
    }, "steps": [
        [{ "name": "later", "sleep": { "until": "@input.from" } }],
        [{ "name": "wait", "sleep": { "ms": 30000 } }],
        [{ "name": "approved", "waitForSignal": { "name": "approve", "schema": { "type": "object", "properties": {
            "by": { "type": "string" } }, "required": ["by"] } } }],
        [{ "name": "send", "tool": { "connectionId": "email", "toolName": "send" },
           "input": { "recipients": ["@approved.output.by"] } }]
    ] });
    let (document, said) = (checked(&world(), &document), SaidOutputs::new(&[]));
    let engine = said.engine(&document).await;
    let run = started(&engine, &document, json!({ "from": "1970-01-02T00:00:00Z" })).await;
    engine.until_waiting_for(&run, "approve").await.unwrap();
    engine.signal(&run, "approve", json!({ "by": "a@x" })).await.unwrap();
    assert_eq!(engine.finish(&run).await.unwrap().status, RunStatus::Completed);
    assert_eq!(said.given("send"), [json!({ "recipients": ["a@x"] })]);
}

/// `null` is a value; nothing is inside of it.
#[tokio::test]
async fn a_value_that_is_not_there_fails_the_step_that_needs_it() {
    let process = |name: &str, data: &str| json!({ "name": name, "tool": { "connectionId": "processor", "toolName": "process" }, "input": { "data": data } });
    let document = json!({ "name": "d", "steps": [
        [process("inputData", "@input.a")], [process("deep", "@input.a.b"), process("named", "@inputData.output")]
    ] });
    let (document, said) = (checked(&world(), &document), SaidOutputs::new(&[]));
    let engine = said.engine(&document).await;
    for (input, code) in [
        (json!({ "a": { "b": null } }), None),
        (json!({ "a": null }), Some("missing_ref")),
        (json!({ "a": [1] }), Some("missing_ref")),
        (json!({}), Some("missing_ref")),
    ] {
        let run = started(&engine, &document, input).await;
        let outcome = engine.finish(&run).await.unwrap();
        assert_eq!(outcome.error.as_ref().map(|error| &*error.code), code);
    }
    assert_eq!(said.given("deep"), [json!({ "data": null })]);
}
