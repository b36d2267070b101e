//! Triggers: what a completed run starts, once, whatever happens.

use std::collections::BTreeMap;
use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{Definition, NodeStatus, Page, Plan, RunId, RunStatus, RunView, StartError, Store, Value};
use rival_engine::core::event::{EventKind, TriggerOrigin};
use rival_engine::core::plan::{
    Builtin, FunctionRef, Node, NodeKind, PlanBlock, RetryPolicy, StepNode, Trigger,
};
use rival_engine::{Engine, RegisterError, TriggerStatus, verify};
use serde_json::json;

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape, says};

facts![
    a_completed_run_starts_what_it_triggers,
    a_value_that_is_not_there_skips_the_trigger,
    a_list_starts_a_run_for_each_item,
    a_list_that_is_none_or_too_long_fails_the_trigger,
    a_trigger_that_fails_stops_no_other_and_is_retried,
    an_item_that_is_refused_stops_no_other,
    a_chain_of_triggers_ends,
    a_chain_through_children_ends,
    the_settings_of_a_trigger_apply_to_what_it_starts,
    a_child_that_completes_triggers,
    a_run_that_does_not_complete_triggers_nothing,
    a_run_that_is_retried_triggers_when_it_completes,
    a_retry_of_a_triggered_run_keeps_its_origin,
    the_triggers_can_be_cancelled_and_done_later,
    the_run_that_triggers_is_found_by_its_id,
    the_plan_alone_says_what_is_triggered,
    what_is_rivals_own_is_not_for_authors,
    a_trigger_that_makes_no_sense_is_not_registered,
    a_run_that_is_through_when_it_begins_triggers_too,
    a_store_that_fails_for_a_while_delays_triggers,
    a_source_that_is_gone_fails_its_triggers,
    each_trigger_fires_once_whenever_the_process_dies,
    a_full_engine_starts_all_the_same,
];

fn value(id: &str, gives: serde_json::Value) -> Node {
    let function: FunctionRef = Builtin::new("value", &gives.into()).unwrap().into();
    Node::new(id, NodeKind::Step(StepNode { function, ..StepNode::default() }))
}

/// A workflow whose output is what a template becomes.
fn gives(name: &str, output: serde_json::Value, triggers: Vec<Trigger>) -> Definition {
    let plan = Plan {
        workflow: name.to_owned(),
        block: PlanBlock::sequence(vec![value("out", output)]),
        on_error: None,
        timeout_ms: None,
        max_retries: 0,
        triggers,
    };
    Definition::new(plan, BTreeMap::new())
}

/// A workflow that gives its input back.
fn echo(name: &str) -> Definition {
    gives(name, json!({"$": ["input"]}), Vec::new())
}

fn trigger(workflow: &str, inputs: serde_json::Value) -> Trigger {
    Trigger::new(workflow, &inputs.into()).unwrap()
}

fn each(workflow: &str, list: serde_json::Value, inputs: serde_json::Value) -> Trigger {
    trigger(workflow, inputs).with_list(&list.into()).unwrap()
}

async fn engine(lab: &Lab, workflows: &[&Definition]) -> TestEngine {
    let add = |builder: rival::testing::TestEngineBuilder, it: &&Definition| builder.workflow((*it).clone());
    workflows.iter().fold(lab.builder(), add).build().await.unwrap()
}

/// Runs a workflow to its end, and everything that follows from it.
async fn run(engine: &TestEngine, workflow: &str, input: serde_json::Value) -> RunView {
    let run = engine.run(workflow, input).id("r").await.unwrap().id().clone();
    engine.finish(&run).await.unwrap();
    engine.advance(Duration::from_secs(60)).await.unwrap();
    engine.get(&run).await.unwrap()
}

async fn ids(engine: &TestEngine, filter: RunFilter) -> Vec<String> {
    let mut ids: Vec<String> = engine
        .runs(&filter, &Page { before: None, limit: 1_000 })
        .await
        .unwrap()
        .into_iter()
        .map(|row| row.id.to_string())
        .collect();
    ids.sort();
    ids
}

/// The runs that are no system's.
async fn authored(engine: &TestEngine) -> Vec<String> {
    ids(engine, RunFilter { no_system: true, ..RunFilter::default() }).await
}

async fn output(engine: &TestEngine, run: &str) -> String {
    let outcome = engine.finish(&RunId::from(run)).await.unwrap();
    outcome.output.expect("it has completed").as_json().to_owned()
}

async fn status(engine: &TestEngine, run: &str) -> RunStatus {
    engine.summary(&RunId::from(run)).await.unwrap().status
}

fn statuses(view: &RunView) -> Vec<&'static str> {
    view.triggers.iter().map(|it| it.status.word()).collect()
}

fn reason(view: &RunView, index: usize) -> (String, String) {
    let reason = view.triggers[index].reason.clone().expect("it says why");
    (reason.code, reason.message)
}

async fn sound(lab: &Lab, engine: TestEngine) {
    engine.shutdown(Duration::ZERO).await;
    let report = verify::check_store(&*lab.store()).await.unwrap();
    assert!(report.is_sound(), "{:#?}", report.breaches);
}

async fn origin_of(engine: &TestEngine, run: &str) -> Option<TriggerOrigin> {
    let first = engine.history(&RunId::from(run)).await.unwrap().remove(0);
    let EventKind::RunStarted { trigger, .. } = first.kind else { panic!("it begins otherwise") };
    trigger.map(|origin| *origin)
}

async fn a_completed_run_starts_what_it_triggers(lab: Lab) {
    let inputs = json!({"n": {"$": ["output", "n"]}, "from": {"$text": ["by ", {"$": ["input", "who"]}]}});
    let source =
        gives("source", json!({"n": 12}), vec![trigger("target", inputs), trigger("other", json!(7))]);
    let engine = engine(&lab, &[&source, &echo("target"), &echo("other")]).await;
    let view = run(&engine, "source", json!({"who": "ann"})).await;
    assert_eq!((view.status, view.trigger_status), (RunStatus::Completed, Some(TriggerStatus::Triggered)));
    assert_eq!(view.trigger_run, Some(RunId::from("r~triggers")));
    assert_eq!(view.triggers[0].runs, [RunId::from("r~t0")]);
    assert_eq!((view.triggers[1].started, view.triggers[1].workflow.as_str()), (1, "other"));
    assert_eq!(output(&engine, "r~t0").await, r#"{"from":"by ann","n":12}"#);
    assert_eq!(output(&engine, "r~t1").await, "7");
    let origin = TriggerOrigin { run: RunId::from("r"), index: 1, item: None, depth: 1 };
    assert_eq!(origin_of(&engine, "r~t1").await, Some(origin.clone()));
    let started = engine.get(&RunId::from("r~t1")).await.unwrap();
    assert_eq!(started.trigger.as_deref(), Some(&origin));
    assert_eq!((started.source, started.trigger_status), (Some(RunId::from("r")), None));
    assert_eq!(authored(&engine).await, ["r", "r~t0", "r~t1"]);
    let of_source = RunFilter { source: Some(RunId::from("r")), ..RunFilter::default() };
    assert_eq!(ids(&engine, of_source).await, ["r~t0", "r~t1", "r~triggers"]);
    sound(&lab, engine).await;
}

/// The example of the format: one of the two values is never there.
async fn a_value_that_is_not_there_skips_the_trigger(lab: Lab) {
    let confirm = json!({"order": {"$": ["output", "confirmation", "order"]}, "email": {"$": ["output", "confirmation", "email"]}});
    let fail = json!({"error": {"$": ["output", "failure", "error"]}});
    let triggers = vec![trigger("confirm", confirm), trigger("handle", fail)];
    let source = gives("source", json!({"$": ["input"]}), triggers);
    let engine = engine(&lab, &[&source, &echo("confirm"), &echo("handle")]).await;
    let good = json!({"confirmation": {"order": {"id": 1}, "email": null}});
    let view = run(&engine, "source", good).await;
    assert_eq!(statuses(&view), ["triggered", "skipped"]);
    assert_eq!(reason(&view, 1), ("missing_ref".into(), "`output.failure.error` is not there".into()));
    assert_eq!(view.trigger_status, Some(TriggerStatus::Triggered));
    assert_eq!(output(&engine, "r~t0").await, r#"{"email":null,"order":{"id":1}}"#);
    let none = engine.run("source", json!({})).id("none").await.unwrap().id().clone();
    engine.finish(&none).await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert_eq!(engine.get(&none).await.unwrap().trigger_status, Some(TriggerStatus::Skipped));
    assert_eq!(authored(&engine).await, ["none", "r", "r~t0"]);
    sound(&lab, engine).await;
}

async fn a_list_starts_a_run_for_each_item(lab: Lab) {
    let inputs =
        json!({"id": {"$": ["item", "id"]}, "at": {"$": ["index"]}, "of": {"$": ["output", "name"]}});
    let list = || json!({"$": ["output", "items"]});
    let triggers = vec![
        each("target", list(), inputs),
        each("target", json!({"$": ["output", "none"]}), json!({})),
        each("target", json!({"$": ["output", "gone"]}), json!({})),
        each("target", list(), json!({"$": ["item", "missing"]})),
    ];
    let items = json!([{"id": "a"}, {"id": 12345678901234567890_u64}, {"no": 1}, {"id": null}]);
    let source = gives("source", json!({"items": items, "none": [], "name": "x"}), triggers);
    let engine = engine(&lab, &[&source, &echo("target")]).await;
    let view = run(&engine, "source", json!(null)).await;
    assert_eq!(statuses(&view), ["triggered", "triggered", "skipped", "skipped"]);
    let first = &view.triggers[0];
    assert_eq!((first.started, first.skipped_items), (3, 1));
    assert_eq!(first.runs, ["r~t0.0", "r~t0.1", "r~t0.3"].map(RunId::from));
    assert_eq!(reason(&view, 0).1, "`item.id` is not there");
    assert_eq!((view.triggers[1].started, &view.triggers[1].reason), (0, &None));
    assert_eq!(reason(&view, 2).1, "`output.gone` is not there");
    assert_eq!(view.triggers[3].skipped_items, 4);
    assert_eq!(output(&engine, "r~t0.1").await, r#"{"at":1,"id":12345678901234567890,"of":"x"}"#);
    assert_eq!(origin_of(&engine, "r~t0.3").await.unwrap().item, Some(3));
    assert_eq!(view.trigger_status, Some(TriggerStatus::Triggered));
    sound(&lab, engine).await;
}

async fn a_list_that_is_none_or_too_long_fails_the_trigger(lab: Lab) {
    let many: Vec<u32> = (0..10_001).collect();
    let triggers = vec![
        each("target", json!({"$": ["output", "text"]}), json!({})),
        each("target", json!({"$": ["output", "many"]}), json!({})),
        trigger("target", json!(1)),
    ];
    let source = gives("source", json!({"text": "no list", "many": many}), triggers);
    let engine = engine(&lab, &[&source, &echo("target")]).await;
    let view = run(&engine, "source", json!(null)).await;
    assert_eq!(statuses(&view), ["failed", "failed", "triggered"]);
    assert_eq!(reason(&view, 0).0, "bad_answer");
    let (code, message) = reason(&view, 1);
    assert_eq!(code, "max_iterations");
    assert_eq!(message, "`target` is to be started for 10001 items, more than 10000");
    assert_eq!((view.status, view.trigger_status), (RunStatus::Completed, Some(TriggerStatus::Failed)));
    let why = engine.explain(&RunId::from("r")).await.unwrap();
    assert!(why.ends_with("`retry` of run `r~triggers` does again what failed"), "{why}");
    let failed = engine.get(&RunId::from("r~triggers")).await.unwrap().error.unwrap();
    assert_eq!(failed.code, "trigger_failed");
    assert_eq!(failed.message, "2 of 3 triggers failed: 1, 2; a retry of this run does those again");
    assert_eq!(authored(&engine).await, ["r", "r~t2"]);
    sound(&lab, engine).await;
}

async fn a_trigger_that_fails_stops_no_other_and_is_retried(lab: Lab) {
    let names = ["a", "later", "b", "c", "d", "e"];
    let triggers = names.map(|name| trigger(name, json!({"to": name}))).to_vec();
    let source = gives("source", json!(1), triggers);
    let targets = ["a", "b", "c", "d", "e"].map(echo);
    let all: Vec<&Definition> = std::iter::once(&source).chain(&targets).collect();
    let engine = engine(&lab, &all).await;
    let view = run(&engine, "source", json!(null)).await;
    assert_eq!(statuses(&view), ["triggered", "failed", "triggered", "triggered", "triggered", "triggered"]);
    assert_eq!(reason(&view, 1).0, "unknown_workflow");
    assert_eq!((view.status, view.trigger_status), (RunStatus::Completed, Some(TriggerStatus::Failed)));
    assert_eq!(authored(&engine).await, ["r", "r~t0", "r~t2", "r~t3", "r~t4", "r~t5"]);

    engine.register(echo("later")).await.unwrap();
    let again = engine.retry_triggers(&RunId::from("r")).await.unwrap().id().clone();
    assert_eq!(again.as_str(), "r~triggers~1");
    engine.come_to_rest().await.unwrap();
    let calls: Vec<String> = engine
        .history(&again)
        .await
        .unwrap()
        .iter()
        .filter(|event| matches!(event.kind, EventKind::CallStarted { .. }))
        .filter_map(|event| event.kind.node().map(ToString::to_string))
        .collect();
    assert_eq!(calls, ["triggers[1]/start", "all"], "only what failed is done again");
    let view = engine.get(&RunId::from("r")).await.unwrap();
    assert_eq!((view.trigger_status, &view.trigger_run), (Some(TriggerStatus::Triggered), &Some(again)));
    assert_eq!(statuses(&view), ["triggered"; 6]);
    assert_eq!(output(&engine, "r~t1").await, r#"{"to":"later"}"#);
    let error = engine.retry_triggers(&RunId::from("r")).await.unwrap_err();
    assert!(matches!(error, StartError::NotRetryable { status: RunStatus::Completed, .. }), "{error}");
    sound(&lab, engine).await;
}

async fn an_item_that_is_refused_stops_no_other(lab: Lab) {
    let source = gives(
        "source",
        json!([1, "two", 3, "four"]),
        vec![each("target", json!({"$": ["output"]}), json!({"$": ["item"]}))],
    );
    let mut target = echo("target");
    target.input_schema = Some(json!({"type": "integer"}));
    let engine = engine(&lab, &[&source, &target]).await;
    let view = run(&engine, "source", json!(null)).await;
    assert_eq!(statuses(&view), ["failed"]);
    let (code, message) = reason(&view, 0);
    assert_eq!(code, "invalid_input");
    assert!(
        message.starts_with("2 of 4 runs could not be started; item 1: the input of workflow `target`"),
        "{message}"
    );
    assert_eq!((view.triggers[0].started, view.triggers[0].runs.len()), (2, 2));
    assert_eq!(authored(&engine).await, ["r", "r~t0.0", "r~t0.2"]);
    sound(&lab, engine).await;
}

/// It triggers itself.
async fn a_chain_of_triggers_ends(lab: Lab) {
    let own = gives("loop", json!(1), vec![trigger("loop", json!(null))]);
    let engine = engine(&lab, &[&own]).await;
    let view = run(&engine, "loop", json!(null)).await;
    assert_eq!(view.trigger_status, Some(TriggerStatus::Triggered));
    let ids = authored(&engine).await;
    assert_eq!(ids.len(), 11, "{ids:?}");
    let last = ids.iter().max_by_key(|id| id.len()).unwrap();
    assert_eq!(origin_of(&engine, last).await.unwrap().depth, 10);
    let view = engine.get(&RunId::from(last.as_str())).await.unwrap();
    assert_eq!((view.status, view.trigger_status), (RunStatus::Completed, Some(TriggerStatus::Failed)));
    let (code, message) = reason(&view, 0);
    assert_eq!(code, "trigger_depth");
    assert!(message.contains("after 10: `loop` (r) -> `loop` (r~t0) -> `loop` (r~t0~t0)"), "{message}");
    sound(&lab, engine).await;
}

/// A workflow whose only step runs `child`.
fn parent_of_child() -> Definition {
    let starts = |durable: Durable| async move { durable.run("child", 7).await };
    Workflow::new("parent").step(starts.named("starts")).build().unwrap().into()
}

/// A run that is started by a step as a child has no trigger of its own.
async fn a_chain_through_children_ends(lab: Lab) {
    let child = gives("child", json!(1), vec![trigger("parent", json!(null))]);
    let parent = parent_of_child();
    let engine = engine(&lab, &[&child, &parent]).await;
    run(&engine, "parent", json!(null)).await;
    let ids = authored(&engine).await;
    assert_eq!(ids.len(), 22, "{ids:?}");
    sound(&lab, engine).await;
}

async fn the_settings_of_a_trigger_apply_to_what_it_starts(lab: Lab) {
    let mut set = trigger("target", json!(null));
    (set.timeout_ms, set.max_retries) = (Some(5_000), Some(2));
    let source = gives("source", json!(1), vec![set]);
    let tape = Tape::default();
    let target: Definition = Workflow::new("target").step(tape.failing("called")).build().unwrap().into();
    let engine = engine(&lab, &[&source, &target]).await;
    run(&engine, "source", json!(null)).await;
    assert_eq!(tape.count("called"), 3);
    assert_eq!(authored(&engine).await, ["r", "r~t0", "r~t0~1", "r~t0~2"]);
    let first = engine.history(&RunId::from("r~t0")).await.unwrap().remove(0);
    let EventKind::RunStarted { deadline, retries_left, .. } = first.kind else { panic!("no start") };
    assert_eq!((deadline.map(|at| at.ms_since(first.at)), retries_left), (Some(5_000), 2));
    assert_eq!(origin_of(&engine, "r~t0~2").await.unwrap().run, RunId::from("r"));
    sound(&lab, engine).await;
}

async fn a_child_that_completes_triggers(lab: Lab) {
    let child = gives("child", json!({"$": ["input"]}), vec![trigger("target", json!({"$": ["output"]}))]);
    let engine = engine(&lab, &[&child, &parent_of_child(), &echo("target")]).await;
    run(&engine, "parent", json!(null)).await;
    assert_eq!(authored(&engine).await, ["r", "r~c1", "r~c1~t0"]);
    assert_eq!(output(&engine, "r~c1~t0").await, "7");
    sound(&lab, engine).await;
}

async fn a_run_that_does_not_complete_triggers_nothing(lab: Lab) {
    let source = gives("source", json!({"$": ["input", "there"]}), vec![trigger("target", json!(1))]);
    let engine = engine(&lab, &[&source, &echo("target")]).await;
    let view = run(&engine, "source", json!({})).await;
    assert_eq!((view.status, view.trigger_status), (RunStatus::Failed, None));
    assert_eq!(ids(&engine, RunFilter::default()).await, ["r"]);
    assert_eq!(engine.triggers(&RunId::from("r")).await.unwrap(), None);
    let error = engine.retry_triggers(&RunId::from("r")).await.unwrap_err();
    assert_eq!(error.to_string(), "run `r~triggers` not found");
}

async fn a_run_that_is_retried_triggers_when_it_completes(lab: Lab) {
    let mut source =
        gives("source", json!({"$": ["input", "there"]}), vec![trigger("target", json!({"$": ["output"]}))]);
    source.plan.max_retries = 0;
    let engine = engine(&lab, &[&source, &echo("target")]).await;
    run(&engine, "source", json!({})).await;
    let again = engine.retry(&RunId::from("r")).input(&json!({"there": 5})).id("again").await.unwrap();
    engine.finish(again.id()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert_eq!(authored(&engine).await, ["again", "again~t0", "r"]);
    let fork = engine.fork(again.id()).from("out").input(&json!({"there": 6})).id("fork").await.unwrap();
    engine.finish(fork.id()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert_eq!(output(&engine, "fork~t0").await, "6");
    sound(&lab, engine).await;
}

async fn a_retry_of_a_triggered_run_keeps_its_origin(lab: Lab) {
    let source = gives("source", json!(1), vec![trigger("target", json!({}))]);
    let target = gives("target", json!({"$": ["input", "there"]}), Vec::new());
    let engine = engine(&lab, &[&source, &target]).await;
    run(&engine, "source", json!(null)).await;
    assert_eq!(status(&engine, "r~t0").await, RunStatus::Failed);
    let again = engine.retry(&RunId::from("r~t0")).input(&json!({"there": 5})).id("again").await.unwrap();
    let view = engine.get(again.id()).await.unwrap();
    assert_eq!(view.source, Some(RunId::from("r~t0")));
    assert_eq!(view.trigger.unwrap().run, RunId::from("r"));
    sound(&lab, engine).await;
}

/// A target that does not check its input at once keeps the triggers at work.
async fn the_triggers_can_be_cancelled_and_done_later(lab: Lab) {
    let source = gives("source", json!(1), vec![trigger("target", json!(1)), trigger("target", json!(2))]);
    let engine = engine(&lab, &[&source, &echo("target")]).await;
    let unwritable = rival::StoreError::Io("a bad moment".into());
    lab.store().fail_next_start(rival::StoreError::Io("not now".into()));
    lab.store().fail_next_start(unwritable.clone());
    // The first start is that of the source itself.
    assert!(engine.run("source", json!(null)).id("r").await.is_err());
    let run = engine.run("source", json!(null)).id("r").await;
    assert!(run.is_err(), "the second failure is for it");
    engine.run("source", json!(null)).id("r").await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert_eq!(authored(&engine).await, ["r", "r~t0", "r~t1"]);
    // Each is tried again a second later.
    let two = engine.run("source", json!(null)).id("two").await.unwrap().id().clone();
    lab.store().fail_next_start(unwritable.clone());
    lab.store().fail_next_start(unwritable);
    engine.come_to_rest().await.unwrap();
    let triggers = RunId::from("two~triggers");
    if engine.summary(&triggers).await.unwrap().status == RunStatus::Waiting {
        assert_eq!(engine.get(&two).await.unwrap().trigger_status, Some(TriggerStatus::Pending));
        engine.cancel(&triggers, "not now").await.unwrap();
        engine.come_to_rest().await.unwrap();
        let view = engine.get(&two).await.unwrap();
        assert_eq!((view.status, view.trigger_status), (RunStatus::Completed, Some(TriggerStatus::Failed)));
        engine.retry_triggers(&two).await.unwrap();
        engine.come_to_rest().await.unwrap();
    }
    let view = engine.get(&two).await.unwrap();
    assert_eq!(view.trigger_status, Some(TriggerStatus::Triggered));
    assert_eq!(authored(&engine).await, ["r", "r~t0", "r~t1", "two", "two~t0", "two~t1"]);
    sound(&lab, engine).await;
}

async fn the_run_that_triggers_is_found_by_its_id(lab: Lab) {
    let source = gives("source", json!(1), vec![trigger("gone", json!(1))]);
    let engine = engine(&lab, &[&source]).await;
    run(&engine, "source", json!(null)).await;
    let first = RunId::from("r~triggers");
    let named = engine.retry(&first).id("mine").await.unwrap().id().clone();
    let same = engine.retry(&first).await.unwrap().id().clone();
    assert_eq!((named.as_str(), &same), ("r~triggers~1", &named));
    engine.advance(Duration::from_secs(60)).await.unwrap();
    assert_eq!(engine.retry_triggers(&RunId::from("r")).await.unwrap().id().as_str(), "r~triggers~2");
    engine.advance(Duration::from_secs(60)).await.unwrap();
    let all = ids(&engine, RunFilter::default()).await;
    assert_eq!(all, ["r", "r~triggers", "r~triggers~1", "r~triggers~2"]);
    sound(&lab, engine).await;
}

/// The workflow was taken away before its run completed, and the engine knows nothing but the target.
async fn the_plan_alone_says_what_is_triggered(lab: Lab) {
    let mut source =
        gives("source", json!({"$": ["input"]}), vec![trigger("target", json!({"$": ["output"]}))]);
    let nap = Node::new(
        "nap",
        NodeKind::Sleep(rival_engine::core::plan::SleepNode {
            wait: rival_engine::core::plan::SleepLength::ForMs(60_000),
        }),
    );
    source.plan.block.nodes.insert(0, nap);
    lab.life(move |lab| async move {
        let engine = engine(&lab, &[&source]).await;
        engine.run("source", json!("x")).id("r").await.unwrap();
        engine.come_to_rest().await.unwrap();
    })
    .await;
    let engine = engine(&lab, &[&echo("target")]).await;
    engine.finish(&RunId::from("r")).await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert_eq!(output(&engine, "r~t0").await, r#""x""#);
    sound(&lab, engine).await;
}

async fn what_is_rivals_own_is_not_for_authors(lab: Lab) {
    let source = gives("source", json!(1), vec![trigger("source", json!(1))]);
    let engine = engine(&lab, &[&source]).await;
    let refused = engine.run("rival:triggers", json!({"source": "r", "workflows": ["x"]})).await.unwrap_err();
    assert!(matches!(refused, StartError::UnknownWorkflow { .. }), "{refused}");
    let error = engine.register(echo("rival:mine")).await.unwrap_err();
    assert!(error.to_string().contains("`rival:mine` is a name of Rival's own"), "{error}");
    let mut bad = echo("bad");
    let function: FunctionRef = Builtin::new("rival:trigger", &json!({}).into()).unwrap().into();
    let step = StepNode { function, retry: RetryPolicy::default(), ..StepNode::default() };
    bad.plan.block.nodes.push(Node::new("own", NodeKind::Step(step)));
    let error = engine.register(bad).await.unwrap_err();
    assert!(matches!(error, RegisterError::FunctionMissing { .. }), "{error}");
    assert!(engine.list().iter().all(|it| it.name == "source"));
    let own = gives("own", json!(1), vec![trigger("rival:triggers", json!({}))]);
    assert!(matches!(engine.register(own).await, Err(RegisterError::Plan { .. })));
}

async fn a_trigger_that_makes_no_sense_is_not_registered(lab: Lab) {
    let engine = engine(&lab, &[]).await;
    let wrong = async |trigger: Trigger| {
        let source = gives("source", json!(1), vec![trigger]);
        let error = engine.register(source).await.unwrap_err();
        assert_eq!(error.code(), "invalid_plan");
        error.to_string()
    };
    assert_eq!(
        wrong(trigger("target", json!({"x": {"$": ["item"]}}))).await,
        "trigger 1 of workflow `source`, which starts `target`, is not valid: inputs: `item` means nothing here; there is \
         output, input"
    );
    let message = wrong(each("target", json!({"$": ["step", "x"]}), json!({}))).await;
    assert!(message.ends_with("forEach: `step` means nothing here; there is output, input"), "{message}");
    let message = wrong(trigger("target", json!({"$": 7}))).await;
    assert!(message.contains("is no reference"), "{message}");
}

/// Everything that it does is taken over from another run.
async fn a_run_that_is_through_when_it_begins_triggers_too(lab: Lab) {
    let gate = Gate::default();
    let held = gate.clone();
    let stubborn = move |_: Cancellation| {
        let held = held.clone();
        async move {
            held.pass().await;
            Ok::<_, StepError>(3)
        }
    };
    let race = Workflow::new("source").parallel("race", |it| {
        it.join(Join::First)
            .branch("slow", |it| it.step(stubborn.named("slow")))
            .branch("fast", |it| it.step(says("fast", 2)))
    });
    let mut source: Definition = race.build().unwrap().into();
    source.plan.triggers = vec![trigger("target", json!({"$": ["output", "fast"]}))];
    let engine = engine(&lab, &[&source, &echo("target")]).await;
    let run = engine.run("source", json!(null)).id("r").await.unwrap().id().clone();
    gate.arrived(1).await;
    engine.kill(&run, "enough").await.unwrap();
    let again = engine.retry(&run).id("again").await.unwrap();
    engine.finish(again.id()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    let events = engine.history(again.id()).await.unwrap();
    assert!(
        !events.iter().any(|event| matches!(event.kind, EventKind::CallStarted { .. })),
        "it calls nothing"
    );
    assert_eq!(status(&engine, "again").await, RunStatus::Completed);
    assert_eq!(output(&engine, "again~t0").await, "2");
    gate.open();
    sound(&lab, engine).await;
}

async fn a_store_that_fails_for_a_while_delays_triggers(lab: Lab) {
    let triggers = vec![each("target", json!({"$": ["output"]}), json!({"$": ["item"]}))];
    let source = gives("source", json!([1, 2, 3]), triggers);
    let engine = engine(&lab, &[&source, &echo("target")]).await;
    let run = engine.run("source", json!(null)).id("r").await.unwrap().id().clone();
    lab.store().fail_next_start(rival::StoreError::Io("a bad moment".into()));
    engine.finish(&run).await.unwrap();
    engine.advance(Duration::from_secs(60)).await.unwrap();
    let view = engine.get(&run).await.unwrap();
    assert_eq!((statuses(&view), view.triggers[0].started), (vec!["triggered"], 3));
    assert_eq!(authored(&engine).await, ["r", "r~t0.0", "r~t0.1", "r~t0.2"]);
    sound(&lab, engine).await;
}

/// The run was purged before its triggers were done again.
async fn a_source_that_is_gone_fails_its_triggers(lab: Lab) {
    let source = gives("source", json!([1]), vec![trigger("later", json!({"$": ["output"]}))]);
    let engine = engine(&lab, &[&source]).await;
    run(&engine, "source", json!(null)).await;
    let ended = engine.summary(&RunId::from("r")).await.unwrap().ended_at.unwrap();
    assert_eq!(lab.store().purge(ended.plus_ms(1), 1).await.unwrap(), 1);
    assert_eq!(ids(&engine, RunFilter::default()).await, ["r~triggers"]);
    engine.register(echo("later")).await.unwrap();
    let again = engine.retry(&RunId::from("r~triggers")).await.unwrap().id().clone();
    engine.finish(&again).await.unwrap();
    let node = engine.get(&again).await.unwrap();
    let step = node.steps.iter().find(|step| step.path.as_str() == "triggers[0]/start").unwrap();
    assert_eq!(
        (step.status, step.error.as_ref().unwrap().failure.code.as_str()),
        (NodeStatus::Failed, "run_not_found")
    );
}

/// Two chains, lists, a value that is not there, and a target that refuses.
fn busy() -> Vec<Definition> {
    let list = json!({"$": ["output", "items"]});
    let triggers = vec![
        each("target", list, json!({"n": {"$": ["item"]}})),
        trigger("next", json!({"$": ["output", "n"]})),
        trigger("target", json!({"$": ["output", "nothing"]})),
        trigger("gone", json!(1)),
    ];
    let source = gives("source", json!({"items": [1, 2, 3], "n": 5}), triggers);
    let next =
        gives("next", json!({"$": ["input"]}), vec![trigger("target", json!({"n": {"$": ["output"]}}))]);
    vec![source, next, echo("target")]
}

/// Whatever is durable when the process dies, and whether its last write was heard of: each run is there, once.
async fn each_trigger_fires_once_whenever_the_process_dies(lab: Lab) {
    for turn in 0.. {
        let (id, unheard) = (format!("r{turn}"), turn % 2 == 1);
        let run = id.clone();
        let has_died = lab
            .life(move |lab| async move {
                let workflows = busy();
                let engine = engine(&lab, &workflows.iter().collect::<Vec<_>>()).await;
                lab.store().die_after(turn / 2, unheard);
                let _ = engine.run("source", json!(null)).id(run.as_str()).await;
                let _ = engine.advance(Duration::from_secs(120)).await;
                lab.store().has_died()
            })
            .await;
        let workflows = busy();
        let engine = engine(&lab, &workflows.iter().collect::<Vec<_>>()).await;
        engine.run("source", json!(null)).id(id.as_str()).await.unwrap();
        engine.finish(&RunId::from(id.as_str())).await.unwrap();
        engine.advance(Duration::from_secs(120)).await.unwrap();
        let of_turn = RunFilter { id_prefix: Some(format!("{id}~")), ..RunFilter::default() };
        let found = ids(&engine, of_turn.clone()).await;
        let expected = ["t0.0", "t0.1", "t0.2", "t1", "t1~t0", "t1~triggers", "triggers"];
        assert_eq!(found, expected.map(|it| format!("{id}~{it}")), "turn {turn}");
        let view = engine.get(&RunId::from(id.as_str())).await.unwrap();
        assert_eq!(statuses(&view), ["triggered", "triggered", "skipped", "failed"], "turn {turn}");
        assert_eq!(output(&engine, &format!("{id}~t1~t0")).await, r#"{"n":5}"#);
        let rows = engine.runs(&of_turn, &Page { before: None, limit: 100 }).await.unwrap();
        assert!(rows.iter().all(|row| row.status.is_terminal()), "turn {turn}");
        sound(&lab, engine).await;
        if !has_died {
            assert!(turn > 20, "{turn} writes cannot be all");
            return;
        }
        lab.life(async |_| {}).await;
    }
}

/// Runs wait for room, and one that triggers waits like any other.
async fn a_full_engine_starts_all_the_same(lab: Lab) {
    let items: Vec<u32> = (0..250).collect();
    let source =
        gives("source", json!(items), vec![each("target", json!({"$": ["output"]}), json!({"$": ["item"]}))]);
    let builder = lab.builder().configure(|it| it.max_live_runs(2));
    let engine = builder.workflow(source).workflow(echo("target")).build().await.unwrap();
    let view = run(&engine, "source", json!(null)).await;
    assert_eq!((view.triggers[0].started, view.triggers[0].runs.len()), (250, 100));
    let completed = RunFilter { statuses: vec![RunStatus::Completed], ..RunFilter::default() };
    assert_eq!(ids(&engine, completed).await.len(), 252);
    sound(&lab, engine).await;
}

/// Not used by a fact: what callers write.
#[allow(dead_code, reason = "it shows that the methods are there for users of the engine")]
async fn as_callers_write_it(engine: &Engine, run: &RunId) -> Result<Value, Box<dyn std::error::Error>> {
    let view = engine.triggers(run).await?.ok_or("nothing is triggered")?;
    engine.retry_triggers(run).await?;
    Ok(Value::encode(&view)?)
}
