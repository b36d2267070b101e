//! Functions as the engine calls them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rival::prelude::*;
use rival::{Definition, NodeStatus, Path, RunId, Time, Value};
use rival_core::Behavior;
use rival_engine::{
    CallContext, CallError, CancellationToken, ResourceMap, RunInfo, StateCell, StepView, StepsReader,
};
use serde_json::json;

use crate::trees::{Forest, Order, chop_tree, find_tree};

fn context(step: &str, input: serde_json::Value) -> CallContext {
    let run = Arc::new(RunInfo {
        run_id: Some(RunId::from("r1")),
        workflow: "w".into(),
        node: Path::from(step),
        attempt: 2,
        call: 3,
        trace: None,
        http: Default::default(),
    });
    CallContext {
        input: Value::from(input),
        outputs: Vec::new(),
        seen: Vec::new(),
        last_step: None,
        steps: StepsReader::fixed(Vec::new()),
        state: StateCell::default(),
        log: Log::new(run.clone(), rival::Clock::System),
        run,
        cancellation: CancellationToken::new(),
        resources: Arc::new(ResourceMap::default()),
        failure: None,
        iteration: None,
        joined: None,
        undo: None,
        durable: None,
    }
}

fn view(name: &str, status: NodeStatus, result: Option<serde_json::Value>) -> StepView {
    StepView { name: name.into(), result: result.map(Value::from), state: Value::from(json!({})), status }
}

fn done(name: &str, result: serde_json::Value) -> Option<StepView> {
    Some(view(name, NodeStatus::Completed, Some(result)))
}

async fn call(definition: &Definition, function: &str, context: CallContext) -> Result<Value, StepError> {
    definition.functions[function].call(context).await.map_err(|error| match error {
        CallError::Failed(error) => error,
        CallError::Lost(reason) => panic!("nothing runs elsewhere, and nothing is lost: {reason:?}"),
    })
}

fn trees() -> Definition {
    Workflow::new("w").input::<Order>().step(find_tree).step(chop_tree).build().unwrap().into()
}

/// Fails with an error that became a step's here.
fn reads() -> Result<u32, StepError> {
    Ok("seven".parse::<u32>()?)
}

#[tokio::test]
async fn a_failure_has_the_line_at_which_it_became_one() {
    let definition: Definition = Workflow::new("w").step(reads.named("reads")).build().unwrap().into();
    let error = call(&definition, "reads", context("reads", json!(null))).await.unwrap_err();
    let origin = error.failure.origin.unwrap();
    assert_eq!(origin.class.as_deref(), Some("core::num::error::ParseIntError"));
    assert_eq!((origin.file.as_deref(), origin.line), (Some(file!()), Some(line!() - 9)));
}

#[tokio::test]
async fn a_call_takes_its_arguments_and_records_its_result() {
    let mut resources = ResourceMap::default();
    resources.insert(Forest { trees: 3 });
    let context = CallContext { resources: Arc::new(resources), ..context("find_tree", json!({ "id": 7 })) };
    let log = context.log.clone();
    let result = call(&trees(), "find_tree", context).await.unwrap();
    assert_eq!(result.as_json(), r#"{"species":"oak"}"#);
    assert_eq!(log.take()[0].message, "order 7");
}

#[tokio::test]
async fn state_is_recorded() {
    let context = CallContext {
        outputs: vec![done("find_tree", json!({ "species": "elm" }))],
        ..context("chop_tree", json!({ "id": 7 }))
    };
    let state = context.state.clone();
    assert_eq!(call(&trees(), "chop_tree", context).await.unwrap().as_json(), r#"{"logs":7}"#);
    assert_eq!(state.to_value().unwrap().as_json(), r#"{"species":"elm"}"#);
}

#[tokio::test]
async fn a_missing_resource_ends_the_step() {
    let error = call(&trees(), "find_tree", context("find_tree", json!({ "id": 7 }))).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "step `find_tree` asks for Res<api::trees::Forest>, which was not provided"
    );
}

#[tokio::test]
async fn a_value_of_another_type_ends_the_step() {
    let bad_input = call(&trees(), "find_tree", context("find_tree", json!({}))).await.unwrap_err();
    assert_eq!((bad_input.failure.code.as_str(), bad_input.behavior), ("decode", Behavior::Stop));
    assert_eq!(
        bad_input.to_string(),
        "step `find_tree`: the input does not decode into `api::trees::Order`: missing field `id` at line 1 column 2"
    );

    let outputs = vec![done("find_tree", json!({ "species": 1 }))];
    let context = CallContext { outputs, ..context("chop_tree", json!({ "id": 7 })) };
    let bad_output = call(&trees(), "chop_tree", context).await.unwrap_err();
    assert_eq!(
        bad_output.to_string(),
        "step `chop_tree`: the output of `find_tree` does not decode into `api::trees::Tree`: invalid type: \
         integer `1`, expected a string at line 1 column 12"
    );
}

#[tokio::test]
async fn a_missing_output_ends_the_step() {
    let soft = Some(view("find_tree", NodeStatus::Failed, Some(json!(null))));
    for (output, why) in [(soft, "it is failed"), (None, "it does not come before")] {
        let context = CallContext { outputs: vec![output], ..context("chop_tree", json!({ "id": 7 })) };
        let error = call(&trees(), "chop_tree", context).await.unwrap_err();
        assert_eq!((error.failure.code.as_str(), error.behavior), ("missing_output", Behavior::Stop));
        assert_eq!(
            error.to_string(),
            format!(
                "step `chop_tree` asks for Output<find_tree>, but `find_tree` has no result ({why}): use \
                 Option<Output<find_tree>>"
            )
        );
    }
}

#[step]
async fn one() -> Result<u8, StepError> {
    Ok(1)
}
#[step]
async fn two() -> Result<u8, StepError> {
    Ok(2)
}
#[step]
async fn three(state: State) -> Result<Option<u8>, StepError> {
    state.skip();
    Ok(None)
}
#[step]
async fn mix(
    three: Option<Output<three>>,
    again: Output<one>,
    first: Output<one>,
    two: Option<Output<two>>,
) -> Result<Vec<Option<u8>>, StepError> {
    Ok(vec![three.and_then(Output::into_inner), Some(*again), Some(*first), two.map(Output::into_inner)])
}

#[tokio::test]
async fn outputs_come_in_the_order_in_which_they_are_asked_for() {
    let soft = two.continue_on_error();
    let workflow = Workflow::new("w").step(one).step(soft).step(three).step(mix).build().unwrap();
    let definition = workflow.definition();
    let needs = definition.functions["mix"].needs();
    assert_eq!(
        needs.outputs.iter().map(|it| it.function.as_str()).collect::<Vec<_>>(),
        ["three", "one", "two"]
    );

    let skipped = Some(view("three", NodeStatus::Skipped, Some(json!(null))));
    let failed = Some(view("two", NodeStatus::Failed, None));
    let outputs = vec![skipped, done("one", json!(1)), failed];
    let result = call(&definition, "mix", CallContext { outputs, ..context("mix", json!(null)) }).await;
    assert_eq!(result.unwrap().as_json(), "[null,1,1,null]");
}

#[step]
fn blocking(run: Run) -> Result<String, StepError> {
    std::thread::sleep(Duration::from_millis(1));
    Ok(run.idempotency_key())
}
#[step]
fn panics() -> Result<(), StepError> {
    panic!("a branch fell")
}
#[step]
async fn bad_key() -> Result<BTreeMap<Vec<u8>, u8>, StepError> {
    Ok(BTreeMap::from([(vec![1], 1)]))
}
#[step]
async fn not_a_number() -> Result<f64, StepError> {
    Ok(f64::NAN)
}
#[step]
fn fails() -> Result<u8, std::num::ParseIntError> {
    "x".parse()
}

fn odd() -> Definition {
    let steps = (blocking, panics, bad_key, not_a_number, fails);
    Workflow::new("w").steps(steps).build().unwrap().into()
}

#[tokio::test]
async fn blocking_functions_run_off_the_async_threads() {
    let result = call(&odd(), "blocking", context("blocking", json!(null))).await;
    assert_eq!(result.unwrap().as_json(), r#""r1/blocking""#);
    let error = call(&odd(), "fails", context("fails", json!(null))).await.unwrap_err();
    assert_eq!(
        (error.behavior, error.to_string().as_str()),
        (Behavior::Plain, "invalid digit found in string")
    );
}

#[tokio::test]
async fn a_panic_is_a_failure() {
    let error = call(&odd(), "panics", context("panics", json!(null))).await.unwrap_err();
    assert_eq!(
        (error.failure.code.as_str(), error.to_string().as_str()),
        ("panic", "the function panicked: a branch fell")
    );
}

#[tokio::test]
async fn a_result_that_is_not_json_ends_the_step() {
    let error = call(&odd(), "bad_key", context("bad_key", json!(null))).await.unwrap_err();
    assert_eq!((error.failure.code.as_str(), error.behavior), ("not_json", Behavior::Stop));
    assert!(error.to_string().contains("key must be a string"), "{error}");
}

#[tokio::test]
async fn a_result_that_is_not_a_number_ends_the_step() {
    let error = call(&odd(), "not_a_number", context("not_a_number", json!(null))).await.unwrap_err();
    assert_eq!(error.failure.code, "not_json");
}

#[step]
async fn dynamic(steps: Steps, last: LastStep, stop: Cancellation) -> Result<u8, StepError> {
    assert!(!stop.is_cancelled());
    Ok(steps.get::<u8>("one").await? + last.get::<u8>()?)
}

#[tokio::test]
async fn steps_are_there_by_name() {
    let workflow = Workflow::new("w").step(one).step(two).step(dynamic).build().unwrap();
    let definition = workflow.definition();
    let needs = definition.functions["dynamic"].needs();
    assert!(needs.last_step && needs.cancellation && needs.outputs.is_empty());

    let views = vec![view("one", NodeStatus::Completed, Some(json!(1)))];
    let context = CallContext {
        steps: StepsReader::fixed(views),
        last_step: done("two", json!(2)),
        ..context("dynamic", json!(null))
    };
    assert_eq!(call(&definition, "dynamic", context).await.unwrap().as_json(), "3");
}

#[tokio::test]
async fn computed_delays_answer_in_the_engines_form() {
    async fn for_a_while() -> Result<Duration, StepError> {
        Ok(Duration::from_millis(1500))
    }
    async fn until() -> Result<Time, StepError> {
        Ok(Time(99))
    }
    let workflow = Workflow::new("w").step(delay_by(for_a_while)).step(delay_by(until)).build().unwrap();
    let definition = workflow.definition();
    let answer = async |function| call(&definition, function, context("delay", json!(null))).await.unwrap();
    assert_eq!(answer("for_a_while").await.as_json(), r#"{"forMs":1500}"#);
    assert_eq!(answer("until").await.as_json(), r#"{"untilMs":99}"#);
}

#[tokio::test]
async fn a_function_may_be_a_step_and_compute_a_delay() {
    #[step]
    async fn pause() -> Result<Duration, StepError> {
        Ok(Duration::from_secs(2))
    }
    #[step]
    async fn reader(pause: Output<pause>) -> Result<u64, StepError> {
        Ok(pause.as_secs())
    }
    let workflow = Workflow::new("w")
        .step(delay_by(pause))
        .step(pause)
        .step(delay_by(pause))
        .step(reader)
        .build()
        .unwrap();
    let definition = workflow.definition();
    let keys: Vec<String> = definition.functions.keys().cloned().collect();
    let [step, delay, reader] = keys.as_slice() else { panic!("{keys:?}") };
    assert_eq!((delay.strip_prefix(step.as_str()), reader.as_str()), (Some("[mapped]"), "reader"));
    let answer = async |function| call(&definition, function, context("w", json!(null))).await.unwrap();
    assert_eq!(answer(delay.as_str()).await.as_json(), r#"{"forMs":2000}"#);
    assert_eq!(answer(step.as_str()).await.as_json(), r#"{"secs":2,"nanos":0}"#);
    assert_eq!(workflow.edges(), [("pause".to_owned(), "reader".to_owned())]);
}

struct Count<'a>(&'a std::sync::atomic::AtomicU32);

impl Drop for Count<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_dropped_call_of_an_async_step_is_dropped_inside() {
    static DROPPED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    #[step]
    async fn forever() -> Result<(), StepError> {
        let _count = Count(&DROPPED);
        std::future::pending().await
    }
    let definition = Workflow::new("w").step(forever).build().unwrap().definition();
    let call = call(&definition, "forever", context("forever", json!(null)));
    assert!(tokio::time::timeout(Duration::from_millis(5), call).await.is_err());
    assert_eq!(DROPPED.load(std::sync::atomic::Ordering::SeqCst), 1);
}
