//! What a step sees of others, and workflows inside of workflows.

use std::time::Duration;

use rival::prelude::*;
use rival::{NodeStatus, RunStatus, TypedStep};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure, gives, looks, outcome_of, output, results};

facts![
    a_step_sees_earlier_steps_only,
    a_step_that_comes_later_is_no_step,
    the_last_step_is_the_one_before,
    the_first_step_has_no_last_step,
    a_nested_workflow_gives_its_last_result,
    a_nested_workflow_shows_one_entry,
    a_nested_step_sees_the_steps_around_it,
    the_nearest_step_of_a_name_is_seen,
    the_first_nested_step_inherits_the_last_step,
    nested_steps_are_not_seen_from_outside,
    a_failing_nested_workflow_names_both,
    a_soft_failure_stays_inside,
    workflows_nest_three_deep,
    a_nested_workflow_gets_the_outer_input,
    a_nested_workflow_gets_its_mapped_input,
    a_mapped_input_is_checked_against_the_schema,
    a_mapping_that_fails_fails_the_node,
    a_nested_workflow_can_be_used_twice,
    a_nested_workflow_goes_on_after_a_crash,
    cancel_reaches_a_step_three_deep,
    a_run_timeout_reaches_a_step_three_deep,
];

/// A step that tells the last one.
fn last(name: &'static str) -> TypedStep<String> {
    let function =
        |last: LastStep| async move { Ok::<_, StepError>(last.name().unwrap_or("nobody").to_owned()) };
    function.named(name)
}

async fn a_step_sees_earlier_steps_only(lab: Lab) {
    let look = looks("look", &["a", "b", "look", "c"]);
    let workflow = Workflow::new("w").step(gives("a", 1)).step(gives("b", 2)).step(look).step(gives("c", 3));
    let outcome = outcome_of(&lab, &workflow.build().unwrap()).await;
    assert_eq!(results(&outcome)["look"]["result"], "a=1 b=2");
}

async fn a_step_that_comes_later_is_no_step(lab: Lab) {
    let asks = (|steps: Steps| async move { steps.get::<u32>("later").await }).named("asks");
    let workflow = Workflow::new("w").step(asks).step(gives("later", 1)).build().unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    let expected = "asks: step `asks` asks for the result of `later`, but no such step comes before it";
    assert_eq!(failure(&outcome), expected);
    assert_eq!(outcome.error.unwrap().code, "missing_output");
}

async fn the_last_step_is_the_one_before(lab: Lab) {
    let workflow =
        Workflow::new("w").step(gives("a", 1)).step(gives("b", 2)).step(last("c")).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), "b");
}

async fn the_first_step_has_no_last_step(lab: Lab) {
    let workflow = Workflow::new("w").step(last("a")).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), "nobody");
}

async fn a_nested_workflow_gives_its_last_result(lab: Lab) {
    let inner = Workflow::new("inner").step(gives("a", 1)).step(gives("b", 2)).build().unwrap();
    let after = (|last: LastStep| async move { Ok::<_, StepError>(last.get::<u32>()? + 1) }).named("after");
    let workflow = Workflow::new("w").workflow(&inner).step(after).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), 3);
}

async fn a_nested_workflow_shows_one_entry(lab: Lab) {
    let inner = Workflow::new("inner").step(gives("a", 1)).step(gives("b", 2)).build().unwrap();
    let workflow = Workflow::new("w").workflow(&inner).build().unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    let expected = json!({ "inner": { "result": 2, "state": {}, "status": "completed" } });
    assert_eq!((results(&outcome), output(&outcome)), (expected, json!(2)));
}

async fn a_nested_step_sees_the_steps_around_it(lab: Lab) {
    let inner = Workflow::new("inner").step(gives("b", 2)).step(looks("look", &["a", "b", "c", "inner"]));
    let workflow = Workflow::new("w").step(gives("a", 1)).workflow(&inner.build().unwrap());
    let workflow = workflow.step(gives("c", 3)).build().unwrap();
    assert_eq!(results(&outcome_of(&lab, &workflow).await)["inner"]["result"], "a=1 b=2");
}

async fn the_nearest_step_of_a_name_is_seen(lab: Lab) {
    let inner = Workflow::new("inner").step(gives("a", 2)).step(looks("look", &["a"])).build().unwrap();
    let workflow = Workflow::new("w").step(gives("a", 1)).workflow(&inner).step(looks("look_out", &["a"]));
    let outcome = outcome_of(&lab, &workflow.build().unwrap()).await;
    assert_eq!(results(&outcome)["inner"]["result"], "a=2");
    assert_eq!(results(&outcome)["look_out"]["result"], "a=1");
}

async fn the_first_nested_step_inherits_the_last_step(lab: Lab) {
    let inner = Workflow::new("inner").step(last("first")).build().unwrap();
    let workflow = Workflow::new("w").step(gives("before", 1)).workflow(&inner).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), "before");
}

async fn nested_steps_are_not_seen_from_outside(lab: Lab) {
    let inner = Workflow::new("inner").step(gives("hidden", 1)).build().unwrap();
    let workflow = Workflow::new("w").workflow(&inner).step(looks("look", &["hidden", "inner"]));
    assert_eq!(output(&outcome_of(&lab, &workflow.build().unwrap()).await), "inner=1");
}

async fn a_failing_nested_workflow_names_both(lab: Lab) {
    let tape = Tape::default();
    let inner = Workflow::new("inner").step(tape.failing("bad")).step(tape.step("never")).build().unwrap();
    let workflow = Workflow::new("w").workflow(&inner).step(tape.step("neither")).build().unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(failure(&outcome), "inner: bad failed in attempt 1");
    assert_eq!(outcome.failed_step.as_ref().unwrap().path.as_str(), "inner/bad");
    assert_eq!(outcome.result("inner").unwrap().status, NodeStatus::Failed);
    assert_eq!(tape.entries(), ["bad"]);
}

async fn a_soft_failure_stays_inside(lab: Lab) {
    let tape = Tape::default();
    let soft = tape.failing("soft").continue_on_error();
    let inner = Workflow::new("inner").step(soft).step(gives("b", 2)).build().unwrap();
    let workflow = Workflow::new("w").workflow(&inner).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), 2);
}

async fn workflows_nest_three_deep(lab: Lab) {
    let innermost = Workflow::new("innermost").step(looks("look", &["a", "b"])).build().unwrap();
    let middle = Workflow::new("middle").step(gives("b", 2)).workflow(&innermost).build().unwrap();
    let workflow = Workflow::new("w").step(gives("a", 1)).workflow(&middle).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), "a=1 b=2");
    let told = told(&engine, run.id()).await;
    assert!(told.contains(&"callSucceeded middle/innermost/look#1".to_owned()), "{told:?}");
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Parcel {
    #[schemars(range(min = 1))]
    weight: u32,
}

fn ship() -> Workflow<Parcel, u32> {
    let weigh = |Input(parcel): Input<Parcel>| async move { Ok::<_, StepError>(parcel.weight) };
    Workflow::new("ship").input::<Parcel>().step(weigh.named("weigh")).build().unwrap()
}

async fn a_nested_workflow_gets_the_outer_input(lab: Lab) {
    let workflow = Workflow::new("w").input::<Parcel>().workflow(&ship()).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, Parcel { weight: 4 }).await.unwrap();
    assert_eq!(run.output().await.unwrap(), 4);
}

fn mapped(weight: u32) -> Workflow<(), u32> {
    let pack =
        move |last: LastStep| async move { Ok::<_, StepError>(Parcel { weight: last.get::<u32>()? * 10 }) };
    Workflow::new("w").step(gives("a", weight)).workflow_with(&ship(), pack.named("pack")).build().unwrap()
}

async fn a_nested_workflow_gets_its_mapped_input(lab: Lab) {
    assert_eq!(output(&outcome_of(&lab, &mapped(2)).await), 20);
}

async fn a_mapped_input_is_checked_against_the_schema(lab: Lab) {
    let outcome = outcome_of(&lab, &mapped(0)).await;
    let error = failure(&outcome);
    assert!(
        error.starts_with("ship: the input of nested workflow `ship` is not valid: /weight: 0 is"),
        "{error}"
    );
    assert_eq!(outcome.error.unwrap().code, "invalid_input");
}

async fn a_mapping_that_fails_fails_the_node(lab: Lab) {
    let pack = || async { Err::<Parcel, _>(StepError::new("no box")) };
    let workflow = Workflow::new("w").workflow_with(&ship(), pack.named("pack")).build().unwrap();
    assert_eq!(failure(&outcome_of(&lab, &workflow).await), "ship: no box");
}

async fn a_nested_workflow_can_be_used_twice(lab: Lab) {
    let inner = Workflow::new("inner").step(gives("a", 1)).build().unwrap();
    let workflow = Workflow::new("w").workflow(&inner).workflow(&inner).build().unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(
        outcome.results.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["inner", "inner_2"]
    );
}

async fn a_nested_workflow_goes_on_after_a_crash(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let inner = Workflow::new("inner").step(tape.step("a")).step(tape.gated("b", &gate)).build().unwrap();
    let workflow = Workflow::new("w").workflow(&inner).build().unwrap();
    let held = gate.clone();
    let life = async move |engine: rival::testing::TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        held.arrived(1).await;
        run
    };
    let run = lab.life_of(&workflow, life).await;
    gate.open();
    assert_eq!(output(&lab.engine(&workflow).await.finish(&run).await.unwrap()), 2);
    assert_eq!(tape.entries(), ["a", "b", "b"]);
}

/// A step that hangs, three workflows deep.
fn deep(gate: &Gate) -> Workflow<(), u32> {
    let innermost = Workflow::new("innermost").step(Tape::default().gated("held", gate)).build().unwrap();
    let middle = Workflow::new("middle").workflow(&innermost).build().unwrap();
    Workflow::new("w").timeout(Duration::from_secs(60)).workflow(&middle).build().unwrap()
}

async fn cancel_reaches_a_step_three_deep(lab: Lab) {
    let gate = Gate::default();
    let engine = lab.engine(deep(&gate)).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    engine.cancel(run.id(), "enough").await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Cancelled);
    let told = told(&engine, run.id()).await;
    assert!(told.contains(&"callCancelled middle/innermost/held#1".to_owned()), "{told:?}");
}

async fn a_run_timeout_reaches_a_step_three_deep(lab: Lab) {
    let gate = Gate::default();
    let engine = lab.engine(deep(&gate)).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    lab.pass(Duration::from_secs(60));
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.error.unwrap().code, "run_timeout");
    let told = told(&engine, run.id()).await;
    assert!(told.contains(&"callCancelled middle/innermost/held#1".to_owned()), "{told:?}");
}
