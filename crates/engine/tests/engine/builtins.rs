//! Built-in functions: a plan that has only these needs no registered workflow.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use rival::testing::TestEngine;
use rival::{Definition, NodeStatus, Plan, RunId, RunStatus, Value};
use rival_engine::core::plan::{
    Builtin, ForEachNode, FunctionRef, NestedNode, Node, NodeKind, PlanBlock, SleepLength, SleepNode,
    StepNode,
};
use rival_engine::core::{Event, PlanHash, RunState, Seq, Time, event};
use rival_engine::store::{EventBatch, NewRun, RowUpdate, RunHold, Store};
use rival_engine::template::Template;
use rival_engine::{
    BindError, Builtins, CallContext, CallError, Engine, EngineError, FunctionNeeds, RegisterError,
    UserFunction,
};
use serde_json::json;

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure};

facts![
    a_plan_of_built_in_functions_runs,
    a_function_is_bound_once_for_all_its_calls,
    values_keep_all_digits,
    a_run_goes_on_without_its_workflow,
    a_run_goes_on_when_its_workflow_was_changed_and_taken_away,
    a_missing_function_blocks_its_node_and_no_other,
    a_function_that_comes_lets_its_run_go_on,
    a_function_that_comes_lets_a_live_run_go_on,
    a_function_that_comes_while_its_run_blocks_is_seen,
    an_engine_that_brings_the_function_takes_the_run_up,
    a_function_that_changed_is_bound_again,
    a_sleep_lasts_until_its_moment,
    what_is_no_moment_fails_the_sleep,
    a_value_that_is_not_there_fails_the_step,
    the_input_of_a_nested_workflow_is_checked,
    input_that_is_refused_is_told_to_a_built_in_handler,
    a_plan_of_a_newer_version_waits_for_it,
    what_is_not_known_or_makes_no_sense_is_not_registered,
    a_panic_while_binding_blocks_the_node,
];

/// A built-in function for tests, `echo`: it notes that it was called, and gives what its template becomes. With
/// `{"connection": name}` it is there only while that connection is.
#[derive(Clone, Default)]
struct Echo {
    tape: Tape,
    bound: Arc<AtomicUsize>,
    gone: Arc<AtomicBool>,
    /// What it gives, in place of what its template becomes.
    instead: Arc<Mutex<Option<Value>>>,
    gate: Option<Gate>,
}

struct EchoFunction {
    echo: Echo,
    template: Template,
    needs: FunctionNeeds,
    instead: Option<Value>,
    waits: bool,
}

impl Builtins for Echo {
    fn names(&self) -> Vec<String> {
        vec!["echo".to_owned()]
    }

    fn bind(&self, name: &str, with: &Value) -> Result<Arc<dyn UserFunction>, BindError> {
        let data = with.to_json();
        if data.get("bad").is_some() {
            return Err(BindError::Invalid { function: name.to_owned(), message: "`bad` is bad".to_owned() });
        }
        assert!(!(data.get("panics").is_some() && self.gone.load(Ordering::Acquire)), "out of my mind");
        let connection = data.get("connection").and_then(serde_json::Value::as_str);
        if let Some(connection) = connection.filter(|_| self.gone.load(Ordering::Acquire)) {
            let (function, why) = (format!("tool:{connection}"), "there is no such connection".to_owned());
            return Err(BindError::Missing { function, why });
        }
        self.bound.fetch_add(1, Ordering::AcqRel);
        let given = data.get("give").cloned().unwrap_or_default();
        let template = Template::parse(&given.into()).unwrap();
        let instead = self.instead.lock().unwrap().clone();
        let waits = data.get("waits").is_some();
        Ok(Arc::new(EchoFunction { echo: self.clone(), needs: template.needs(), template, instead, waits }))
    }
}

impl UserFunction for EchoFunction {
    fn needs(&self) -> &FunctionNeeds {
        &self.needs
    }

    fn call(&self, context: CallContext) -> BoxFuture<'static, Result<Value, CallError>> {
        self.echo.tape.note(context.run.node.to_string());
        let filled = self.template.fill_in_call(&context, &self.needs);
        let filled = filled.map(|value| self.instead.clone().or(value).unwrap_or_default());
        let gate = self.echo.gate.clone().filter(|_| self.waits);
        Box::pin(async move {
            if let Some(gate) = gate {
                gate.pass().await;
            }
            filled.map_err(|error| CallError::Failed(error.into_step_error()))
        })
    }
}

fn builtin(name: &str, with: serde_json::Value) -> FunctionRef {
    Builtin::new(name, &with.into()).unwrap().into()
}

fn echo(id: &str, with: serde_json::Value) -> Node {
    Node::new(id, NodeKind::Step(StepNode { function: builtin("echo", with), ..StepNode::default() }))
}

#[expect(clippy::needless_pass_by_value, reason = "`json!(..)` reads best by value")]
fn gives(id: &str, give: serde_json::Value) -> Node {
    echo(id, json!({ "give": give }))
}

fn nap(id: &str, moment: serde_json::Value) -> Node {
    Node::new(id, NodeKind::Sleep(SleepNode { wait: SleepLength::Computed(builtin("moment", moment)) }))
}

fn in_phases(phases: Vec<Vec<Node>>) -> Definition {
    let plan = Plan {
        workflow: "doc".to_owned(),
        block: PlanBlock::phases(phases),
        on_error: None,
        timeout_ms: None,
        max_retries: 0,
        triggers: Vec::new(),
    };
    Definition::new(plan, BTreeMap::new())
}

async fn engine_with(lab: &Lab, echo: &Echo, workflows: Vec<Definition>) -> TestEngine {
    let echo: Arc<dyn Builtins> = Arc::new(echo.clone());
    let builder = lab.builder().configure(|it| it.builtins(echo));
    workflows.into_iter().fold(builder, |builder, it| builder.workflow(it)).build().await.unwrap()
}

async fn output_of(engine: &TestEngine, run: &RunId) -> String {
    engine.finish(run).await.unwrap().output.expect("it has completed").as_json().to_owned()
}

async fn begun(engine: &TestEngine, input: serde_json::Value) -> RunId {
    engine.run("doc", input).await.unwrap().id().clone()
}

async fn a_plan_of_built_in_functions_runs(lab: Lab) {
    let each = ForEachNode {
        items: builtin("value", json!({"$": ["list"]})),
        body: PlanBlock::sequence(vec![gives(
            "call",
            json!({"$text": [{"$": ["item"]}, "@", {"$": ["index"]}, {"$": ["name"]}]}),
        )]),
        concurrency: 2,
        max_iterations: Some(10),
    };
    let definition = in_phases(vec![
        vec![gives("list", json!(["a", {"$": ["input", "more"]}])), gives("name", json!("!"))],
        vec![Node::new("each", NodeKind::ForEach(each))],
        vec![
            gives("all", json!({"all": {"$": ["each"]}, "first": {"$": ["each", 0]}})),
            gives("none", json!(null)),
        ],
    ]);
    let engine = engine_with(&lab, &Echo::default(), vec![definition]).await;
    let run = begun(&engine, json!({"more": 7})).await;
    assert_eq!(
        output_of(&engine, &run).await,
        r#"{"all":{"all":["a@0!","7@1!"],"first":"a@0!"},"none":null}"#
    );
}

async fn a_function_is_bound_once_for_all_its_calls(lab: Lab) {
    let items: Vec<u32> = (0..20).collect();
    let each = ForEachNode {
        items: builtin("value", json!(items)),
        body: PlanBlock::sequence(vec![gives("call", json!({"$": ["item"]}))]),
        concurrency: 5,
        max_iterations: None,
    };
    let (given, definition) =
        (Echo::default(), in_phases(vec![vec![Node::new("each", NodeKind::ForEach(each))]]));
    let engine = engine_with(&lab, &given, vec![definition]).await;
    let at_registration = given.bound.load(Ordering::Acquire);
    for _ in 0..3 {
        let run = begun(&engine, json!(null)).await;
        engine.finish(&run).await.unwrap();
    }
    assert_eq!(given.tape.entries().len(), 60);
    assert_eq!(given.bound.load(Ordering::Acquire) - at_registration, 1);
}

async fn values_keep_all_digits(lab: Lab) {
    let template = json!({"n": {"$": ["input", "n"]}, "t": {"$text": ["=", {"$": ["input", "n"]}]}});
    let engine = engine_with(
        &lab,
        &Echo::default(),
        vec![in_phases(vec![vec![gives("a", template)], vec![gives("b", json!({"$": ["a"]}))]])],
    )
    .await;
    let input = Value::from_json(r#"{"n": 12345678901234567890.123456789012345678900}"#.to_owned()).unwrap();
    let run = engine.run("doc", input).await.unwrap().id().clone();
    let expected = r#"{"n":12345678901234567890.123456789012345678900,"t":"=12345678901234567890.123456789012345678900"}"#;
    assert_eq!(output_of(&engine, &run).await, expected);
}

/// Sleeps until the second second, then calls `echo`, which the sleep must not lose.
fn sleepy() -> Definition {
    let at = Time(rival::VirtualClock::default().now().0 + 2_000).to_string();
    in_phases(vec![
        vec![gives("early", json!({"from": {"$": ["input"]}}))],
        vec![nap("nap", json!(at))],
        vec![echo("late", json!({"give": {"$": ["early", "from"]}, "connection": "github"}))],
    ])
}

async fn asleep(lab: &Lab, given: &Echo) -> RunId {
    let given = given.clone();
    lab.life(move |lab| async move {
        let engine = engine_with(&lab, &given, vec![sleepy()]).await;
        let run = begun(&engine, json!(41)).await;
        engine.come_to_rest().await.unwrap();
        run
    })
    .await
}

async fn a_run_goes_on_without_its_workflow(lab: Lab) {
    let given = Echo::default();
    let run = asleep(&lab, &given).await;
    let engine = engine_with(&lab, &given, Vec::new()).await;
    assert!(engine.list().is_empty());
    assert_eq!(output_of(&engine, &run).await, "41");
    assert_eq!(given.tape.entries(), ["early", "late"]);
}

async fn a_run_goes_on_when_its_workflow_was_changed_and_taken_away(lab: Lab) {
    let given = Echo::default();
    let engine = engine_with(&lab, &given, vec![sleepy()]).await;
    let run = begun(&engine, json!(41)).await;
    engine.come_to_rest().await.unwrap();
    engine.replace(in_phases(vec![vec![gives("other", json!(1))]])).await.unwrap();
    assert!(engine.retire("doc").await.unwrap());
    assert_eq!(output_of(&engine, &run).await, "41");
}

async fn a_missing_function_blocks_its_node_and_no_other(lab: Lab) {
    let given = Echo { gone: Arc::new(AtomicBool::new(true)), ..Echo::default() };
    let definition = in_phases(vec![
        vec![echo("tool", json!({"connection": "github"})), gives("a", json!(1))],
        vec![gives("b", json!(2))],
    ]);
    let engine = engine_with(&lab, &given, vec![definition]).await;
    let run = begun(&engine, json!(null)).await;
    engine.come_to_rest().await.unwrap();
    let view = engine.get(&run).await.unwrap();
    let statuses: Vec<NodeStatus> = view.steps.iter().map(|step| step.status).collect();
    assert_eq!(
        (view.status, statuses),
        (RunStatus::Blocked, vec![NodeStatus::Blocked, NodeStatus::Completed])
    );
    let note = "`tool` needs `tool:github`, which cannot be called: there is no such connection; once it can, the run goes on";
    assert_eq!(view.note.as_deref(), Some(note));
    // Without the connection nothing changes.
    engine.builtins_changed().await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Blocked);
}

async fn a_function_that_comes_lets_its_run_go_on(lab: Lab) {
    let given = Echo { gone: Arc::new(AtomicBool::new(true)), ..Echo::default() };
    let run = asleep(&lab, &given).await;
    // Its workflow is not registered any more, and another one is blocked for another reason.
    let engine = engine_with(&lab, &given, Vec::new()).await;
    engine.advance(Duration::from_secs(2)).await.unwrap();
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Blocked);
    assert!(engine.active_runs().is_empty());
    given.gone.store(false, Ordering::Release);
    engine.builtins_changed().await.unwrap();
    assert_eq!(output_of(&engine, &run).await, "41");
}

async fn a_function_that_comes_lets_a_live_run_go_on(lab: Lab) {
    let gate = Gate::default();
    let given = Echo { gone: Arc::new(AtomicBool::new(true)), gate: Some(gate.clone()), ..Echo::default() };
    let definition = in_phases(vec![vec![
        echo("tool", json!({"connection": "github"})),
        echo("long", json!({"waits": 1})),
    ]]);
    let engine = engine_with(&lab, &given, vec![definition]).await;
    let run = begun(&engine, json!(null)).await;
    gate.arrived(1).await;
    while !told(&engine, &run).await.contains(&"nodeBlocked tool".to_owned()) {
        tokio::task::yield_now().await;
    }
    given.gone.store(false, Ordering::Release);
    engine.builtins_changed().await.unwrap();
    while given.tape.count("tool") == 0 {
        tokio::task::yield_now().await;
    }
    gate.open();
    assert_eq!(output_of(&engine, &run).await, r#"{"tool":null,"long":null}"#);
}

/// The connection comes after it was looked for, and before the run is given back as blocked.
async fn a_function_that_comes_while_its_run_blocks_is_seen(lab: Lab) {
    let given = Echo { gone: Arc::new(AtomicBool::new(true)), ..Echo::default() };
    let definition = in_phases(vec![vec![echo("tool", json!({"connection": "github"}))]]);
    let engine = engine_with(&lab, &given, vec![definition]).await;
    let held = Gate::default();
    lab.store().hold_next_commit(&held);
    let run = begun(&engine, json!(null)).await;
    held.arrived(1).await;
    given.gone.store(false, Ordering::Release);
    engine.builtins_changed().await.unwrap();
    held.open();
    assert_eq!(output_of(&engine, &run).await, "null");
}

async fn an_engine_that_brings_the_function_takes_the_run_up(lab: Lab) {
    let given = Echo::default();
    let run = asleep(&lab, &given).await;
    let blocked = run.clone();
    let without = async move |lab: Lab| {
        let engine = lab.builder().build().await.unwrap();
        engine.advance(Duration::from_secs(2)).await.unwrap();
        let view = engine.get(&blocked).await.unwrap();
        let note = "`late` needs `echo`, which cannot be called: this engine has no such built-in function; once it can, the run goes on";
        assert_eq!((view.status, view.note.as_deref()), (RunStatus::Blocked, Some(note)));
    };
    lab.life(without).await;
    let engine = engine_with(&lab, &given, Vec::new()).await;
    assert_eq!(output_of(&engine, &run).await, "41");
}

async fn a_function_that_changed_is_bound_again(lab: Lab) {
    let given = Echo::default();
    let engine = engine_with(&lab, &given, vec![in_phases(vec![vec![gives("a", json!(1))]])]).await;
    let first = begun(&engine, json!(null)).await;
    assert_eq!(output_of(&engine, &first).await, "1");
    *given.instead.lock().unwrap() = Some(json!(2).into());
    let second = begun(&engine, json!(null)).await;
    assert_eq!(output_of(&engine, &second).await, "1", "it is bound once");
    engine.builtins_changed().await.unwrap();
    let third = begun(&engine, json!(null)).await;
    assert_eq!(output_of(&engine, &third).await, "2");
}

async fn a_sleep_lasts_until_its_moment(lab: Lab) {
    let begin = lab.clock.now();
    let nodes = vec![
        nap("number", json!({"$": ["input", "number"]})),
        nap("text", json!({"$": ["input", "text"]})),
        nap("past", json!(0)),
        nap("float", json!({"$": ["input", "float"]})),
    ];
    let engine = engine_with(&lab, &Echo::default(), vec![in_phases(vec![nodes])]).await;
    let text = Time(begin.0 + 3_000).to_string().replace("Z", "+00:00");
    let float = Value::from_json(format!("{}.0e3", begin.0 / 1_000 + 1)).unwrap();
    let input = json!({"number": begin.0 + 5_000, "text": text, "float": float});
    let run = begun(&engine, input).await;
    engine.finish(&run).await.unwrap();
    let view = engine.get(&run).await.unwrap();
    let ended: Vec<u64> = view.steps.iter().map(|step| step.duration.unwrap()).collect();
    assert_eq!(ended, [5_000, 3_000, 0, 1_000]);
}

async fn what_is_no_moment_fails_the_sleep(lab: Lab) {
    let engine =
        engine_with(&lab, &Echo::default(), vec![in_phases(vec![vec![nap("nap", json!({"$": ["input"]}))]])])
            .await;
    for bad in [json!("tomorrow"), json!(1.5), json!(null), json!([1]), json!("2027-01-31"), json!(1e300)] {
        let run = begun(&engine, bad.clone()).await;
        let outcome = engine.finish(&run).await.unwrap();
        let expected = format!(
            "nap: {bad} is no moment: give milliseconds since 1970, or a text such as \"2027-01-31T09:00:00Z\""
        );
        assert_eq!(failure(&outcome), expected);
        assert_eq!(outcome.error.unwrap().code, "bad_answer");
    }
}

async fn a_value_that_is_not_there_fails_the_step(lab: Lab) {
    let omitting = json!({"a": {"$": ["input", "x"], "missing": "omit"}, "b": [{"$": ["input", "x"], "missing": "omit"}]});
    let definition = in_phases(vec![
        vec![gives("omits", omitting)],
        vec![gives("fails", json!({"$": ["omits", "b", 3, "name"]}))],
    ]);
    let engine = engine_with(&lab, &Echo::default(), vec![definition]).await;
    let run = begun(&engine, json!({})).await;
    let outcome = engine.finish(&run).await.unwrap();
    assert_eq!(outcome.results[0].1.result.as_ref().unwrap().as_json(), r#"{"b":[null]}"#);
    assert_eq!(failure(&outcome), "fails: `omits.b[3].name` is not there");
    assert_eq!(outcome.error.unwrap().code, "missing_ref");
}

async fn the_input_of_a_nested_workflow_is_checked(lab: Lab) {
    let nested = |give: serde_json::Value| NestedNode {
        workflow: "inner".to_owned(),
        block: PlanBlock::sequence(vec![gives("in", json!({"$": ["input"]}))]),
        input: Some(builtin("value", give)),
        on_error: None,
    };
    let node = |id: &str| Node::new(id, NodeKind::Workflow(nested(json!({"$": ["input", "n"]}))));
    let mut definition = in_phases(vec![vec![node("number"), node("text")]]);
    definition.nested_schemas.insert("number".into(), json!({"type": "number"}));
    definition.nested_schemas.insert("text".into(), json!({}));
    let engine = engine_with(&lab, &Echo::default(), vec![definition]).await;
    let run = begun(&engine, json!({"n": 7})).await;
    assert_eq!(output_of(&engine, &run).await, r#"{"number":7,"text":7}"#);
    let run = begun(&engine, json!({"n": "x"})).await;
    let failed = failure(&engine.finish(&run).await.unwrap());
    assert!(failed.contains("the input of nested workflow `number` is not valid"), "{failed}");
}

async fn input_that_is_refused_is_told_to_a_built_in_handler(lab: Lab) {
    let given = Echo::default();
    let mut definition = in_phases(vec![vec![gives("a", json!(1))]]);
    definition.plan.on_error = Some(builtin("echo", json!({})));
    definition.input_schema = Some(json!({"type": "object"}));
    let engine = engine_with(&lab, &given, vec![definition]).await;
    engine.run("doc", json!(7)).await.expect_err("it is refused");
    assert_eq!(given.tape.entries(), [""], "the handler of the workflow was called");
}

async fn a_plan_of_a_newer_version_waits_for_it(lab: Lab) {
    let store = lab.store();
    let hash = PlanHash::new("newer");
    store.put_plan(&hash, r#"{"version":99,"workflow":"doc","block":{"zigzag":[]}}"#).await.unwrap();
    let plan = rival_engine::core::IndexedPlan::new(in_phases(vec![vec![gives("a", json!(1))]]).plan);
    let (now, run) = (lab.clock.now(), RunId::from("new"));
    store
        .start(new_run(&run, &hash, &first_event(&plan, now), now, store.join().await.unwrap()))
        .await
        .unwrap();
    let engine = engine_with(&lab, &Echo::default(), Vec::new()).await;
    engine.come_to_rest().await.unwrap();
    let rows = engine.runs(&Default::default(), &Default::default()).await.unwrap();
    let note = "the plan was made by a newer version of Rival: it has version 99, and this one reads up to 3; use that version";
    assert_eq!((rows[0].status, rows[0].note.as_deref()), (RunStatus::Blocked, Some(note)));
    let error = engine.get(&run).await.expect_err("its plan does not read");
    assert_eq!(error.code(), "store_newer");
    // What is asked of it waits for the newer version, but for a kill.
    engine.pause(&run).await.unwrap();
    assert_eq!(store.messages(&run).await.unwrap().len(), 1);
    engine.kill(&run, "enough").await.unwrap();
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Cancelled);
}

fn first_event(plan: &rival_engine::core::IndexedPlan, now: Time) -> Event {
    use rival_engine::core::machine::{DecisionEnv, MachineInput, NoStates, RunStart, decide};
    let run = RunId::from("new");
    let env = DecisionEnv { run: &run, now, admit: false, states: &NoStates };
    let start = MachineInput::Start(RunStart::new(Value::null()));
    decide(plan, &mut RunState::default(), start, env).events.remove(0)
}

fn new_run(
    run: &RunId,
    plan: &PlanHash,
    first: &Event,
    now: Time,
    engine: rival_engine::store::EngineId,
) -> NewRun {
    let body = event::encode(std::slice::from_ref(first));
    NewRun {
        id: run.clone(),
        workflow: "doc".to_owned(),
        plan: plan.clone(),
        fingerprint: Vec::new(),
        created_at: now,
        parent: None,
        source: None,
        tags: Vec::new(),
        events: EventBatch { first: Seq(1), count: 1, body },
        row_update: RowUpdate::new(RunStatus::Waiting, RunHold::Release(Some(now)), now, None),
        engine,
    }
}

async fn a_panic_while_binding_blocks_the_node(lab: Lab) {
    let given = Echo::default();
    let engine =
        engine_with(&lab, &given, vec![in_phases(vec![vec![echo("a", json!({"panics": 1}))]])]).await;
    given.gone.store(true, Ordering::Release);
    let run = begun(&engine, json!(null)).await;
    engine.come_to_rest().await.unwrap();
    let view = engine.get(&run).await.unwrap();
    let note = "`a` needs `echo`, which cannot be called: the function panicked: out of my mind; once it can, the run goes on";
    assert_eq!((view.status, view.note.as_deref()), (RunStatus::Blocked, Some(note)));
    given.gone.store(false, Ordering::Release);
    engine.resume(&run).await.unwrap();
    assert_eq!(output_of(&engine, &run).await, "null");
}

async fn what_is_not_known_or_makes_no_sense_is_not_registered(lab: Lab) {
    let engine = engine_with(&lab, &Echo::default(), Vec::new()).await;
    let unknown = Node::new(
        "a",
        NodeKind::Step(StepNode { function: builtin("nothing", json!({})), ..StepNode::default() }),
    );
    let error = engine.register(in_phases(vec![vec![unknown]])).await.expect_err("it is not known");
    assert!(
        matches!(&error, RegisterError::FunctionMissing { function, .. } if function == "nothing"),
        "{error}"
    );
    let error =
        engine.register(in_phases(vec![vec![echo("a", json!({"bad": 1}))]])).await.expect_err("it is bad");
    let message =
        "workflow `doc` cannot run: the data of built-in function `echo` is not valid: `bad` is bad";
    assert_eq!((error.to_string().as_str(), error.code()), (message, "invalid_plan"));
    let error =
        engine.register(in_phases(vec![vec![nap("a", json!({"$": []}))]])).await.expect_err("it is bad");
    assert!(matches!(&error, RegisterError::Builtin { .. }), "{error}");
    let twice: Arc<dyn Builtins> = Arc::new(Echo::default());
    let built = Engine::builder().builtins(Arc::clone(&twice)).builtins(twice).build().await;
    assert!(matches!(built, Err(EngineError::BuiltinTaken(name)) if name == "echo"));
}
