//! Blocks that run for each item of a list.

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{NodeStatus, RunStatus, TypedStep, Workflow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure, gives, looks, outcome_of, output, results, says};

facts![
    items_run_one_after_the_other,
    results_are_in_item_order_whoever_ends_first,
    item_index_and_items_are_seen,
    body_steps_see_earlier_steps_of_their_iteration,
    steps_before_and_after_are_joined_by_one_entry,
    a_hard_failure_stops_the_rest,
    a_soft_failure_leaves_null_and_goes_on,
    a_hard_failure_starts_nothing_new_and_lets_the_running_settle,
    a_list_in_a_list_runs_in_order,
    a_sequence_runs_inside_of_a_window,
    a_window_opens_inside_of_a_sequence,
    an_inner_failure_names_the_outer_block_and_the_inner_path,
    items_are_retried_by_themselves,
    an_empty_list_completes_at_once,
    what_is_no_list_fails_the_node,
    too_many_items_fail_before_anything_runs,
    a_run_is_cancelled_in_the_middle,
    many_items_stay_in_order,
    a_window_refills_when_several_end_together,
    more_items_than_the_window_and_one_failing_still_ends,
    after_a_crash_only_the_rest_runs,
    each_iteration_can_be_looked_at,
    an_item_is_seen_in_a_loop_inside,
    a_list_function_that_fails_fails_the_node,
    handlers_are_called_once_for_a_failing_item,
    a_nested_workflow_gets_the_item_as_its_input,
];

fn numbers(count: u32) -> TypedStep<Vec<u32>> {
    says("numbers", (0..count).collect())
}

/// A step that writes down its item and returns ten times as much.
fn tenfold(tape: &Tape, name: &'static str) -> TypedStep<u32> {
    let tape = tape.clone();
    let function = move |Item(item): Item<u32>| {
        tape.note(format!("{name} {item}"));
        async move { Ok::<_, StepError>(item * 10) }
    };
    function.named(name)
}

/// A step that fails for one item, in the way it is told.
fn fails_for(tape: &Tape, wrong: u32, error: fn(String) -> StepError) -> TypedStep<u32> {
    let tape = tape.clone();
    let function = move |Item(item): Item<u32>| {
        tape.note(format!("item {item}"));
        std::future::ready(if item == wrong { Err(error(format!("{item} is bad"))) } else { Ok(item) })
    };
    function.named("check")
}

/// A step that waits at a gate of its item's own.
fn held(tape: &Tape, gates: &[Gate]) -> TypedStep<u32> {
    let (tape, gates) = (tape.clone(), gates.to_vec());
    let function = move |Item(item): Item<u32>| {
        let (tape, gate) = (tape.clone(), gates[usize::try_from(item).unwrap()].clone());
        async move {
            tape.note(format!("begin {item}"));
            gate.pass().await;
            tape.note(format!("end {item}"));
            Ok::<_, StepError>(item)
        }
    };
    function.named("held")
}

fn gates(count: usize) -> Vec<Gate> {
    std::iter::repeat_with(Gate::default).take(count).collect()
}

async fn items_run_one_after_the_other(lab: Lab) {
    let tape = Tape::default();
    let (a, b) = (tenfold(&tape, "a"), tenfold(&tape, "b"));
    let workflow = Workflow::new("w").for_each("all", numbers(3), |e| e.body(|x| x.step(a).step(b)));
    let outcome = outcome_of(&lab, &workflow.build().unwrap()).await;
    assert_eq!(output(&outcome), json!([0, 10, 20]));
    assert_eq!(tape.entries(), ["a 0", "b 0", "a 1", "b 1", "a 2", "b 2"]);
}

async fn results_are_in_item_order_whoever_ends_first(lab: Lab) {
    let (tape, gates) = (Tape::default(), gates(3));
    let body = held(&tape, &gates);
    let workflow =
        Workflow::new("w").for_each("all", numbers(3), |e| e.body(|b| b.step(body)).concurrency(3)).build();
    let engine = lab.engine(workflow.unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    for gate in gates.iter().rev() {
        gate.arrived(1).await;
    }
    for (item, gate) in gates.iter().enumerate().rev() {
        gate.open();
        while !tape.entries().contains(&format!("end {item}")) {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), json!([0, 1, 2]));
    assert_eq!(tape.entries()[3..], ["end 2", "end 1", "end 0"]);
}

async fn item_index_and_items_are_seen(lab: Lab) {
    let tell = |Item(item): Item<String>, iteration: Iteration, Items(items): Items<String>| async move {
        Ok::<_, StepError>(format!("{item} is {} of {}", iteration.index(), items.join("")))
    };
    let letters = says("letters", vec!["x".to_owned(), "y".to_owned()]);
    let workflow = Workflow::new("w").for_each("all", letters, |e| e.body(|b| b.step(tell.named("tell"))));
    let outcome = outcome_of(&lab, &workflow.build().unwrap()).await;
    assert_eq!(output(&outcome), json!(["x is 0 of xy", "y is 1 of xy"]));
}

#[step]
async fn double(Item(item): Item<u32>) -> Result<u32, StepError> {
    Ok(item * 2)
}

#[step]
async fn plus_one(doubled: Output<double>) -> Result<u32, StepError> {
    Ok(*doubled + 1)
}

async fn body_steps_see_earlier_steps_of_their_iteration(lab: Lab) {
    for concurrency in [1, 3] {
        let workflow = Workflow::new(format!("w{concurrency}"))
            .for_each("all", numbers(3), |e| {
                e.body(|b| b.step(double).step(plus_one)).concurrency(concurrency)
            })
            .build()
            .unwrap();
        assert_eq!(output(&outcome_of(&lab, &workflow).await), json!([1, 3, 5]));
    }
}

async fn steps_before_and_after_are_joined_by_one_entry(lab: Lab) {
    let workflow = Workflow::new("w")
        .step(gives("before", 7))
        .for_each("all", numbers(2), |e| e.body(|b| b.step(looks("look", &["before", "all", "after"]))))
        .step(looks("after", &["all", "look"]))
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(output(&outcome), r#"all=["before=7","before=7"]"#);
    assert_eq!(results(&outcome)["all"]["status"], "completed");
}

async fn a_hard_failure_stops_the_rest(lab: Lab) {
    let tape = Tape::default();
    let check = fails_for(&tape, 1, StepError::new);
    let workflow = Workflow::new("w")
        .for_each("all", numbers(4), |e| e.body(|b| b.step(check)))
        .step(tape.step("never"))
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(failure(&outcome), "all: 1 is bad");
    assert_eq!(outcome.failed_step.unwrap().path.as_str(), "all[1]/check");
    assert_eq!(tape.entries(), ["item 0", "item 1"]);
}

async fn a_soft_failure_leaves_null_and_goes_on(lab: Lab) {
    let tape = Tape::default();
    let check = fails_for(&tape, 1, StepError::proceed);
    let workflow =
        Workflow::new("w").for_each("all", numbers(3), |e| e.body(|b| b.step(check))).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!([0, null, 2]));
    let tape = Tape::default();
    let check = fails_for(&tape, 0, StepError::new).continue_on_error();
    let workflow =
        Workflow::new("v").for_each("all", numbers(2), |e| e.body(|b| b.step(check))).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!([null, 1]));
}

/// A step that fails for item 0 when the gate is open, and passes through another gate for the others.
fn first_fails(tape: &Tape, bad: &Gate, good: &Gate) -> TypedStep<u32> {
    let (tape, bad, good) = (tape.clone(), bad.clone(), good.clone());
    let function = move |Item(item): Item<u32>| {
        let (tape, bad, good) = (tape.clone(), bad.clone(), good.clone());
        async move {
            tape.note(format!("begin {item}"));
            if item == 0 {
                bad.pass().await;
                return Err(StepError::new("0 is bad"));
            }
            good.pass().await;
            tape.note(format!("end {item}"));
            Ok(item)
        }
    };
    function.named("work")
}

async fn a_hard_failure_starts_nothing_new_and_lets_the_running_settle(lab: Lab) {
    let (tape, bad, good) = (Tape::default(), Gate::default(), Gate::default());
    let work = first_fails(&tape, &bad, &good);
    let next = tape.step("next");
    let workflow = Workflow::new("w")
        .for_each("all", numbers(5), |e| e.body(|b| b.step(work).step(next)).concurrency(2))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    bad.arrived(1).await;
    good.arrived(1).await;
    bad.open();
    while !told(&engine, run.id()).await.iter().any(|event| event.starts_with("blockFailing")) {
        tokio::task::yield_now().await;
    }
    good.open();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(failure(&outcome), "all: 0 is bad");
    assert_eq!(tape.entries()[2..], ["end 1"]);
    let told = told(&engine, run.id()).await;
    assert!(told.contains(&"callSucceeded all[1]/work#1".to_owned()), "{told:?}");
}

/// A forEach over 0 and 1 inside of one over 0 and 1.
fn nested(tape: &Tape, outer: u32, inner: u32) -> Workflow<(), Vec<Vec<u32>>> {
    let body = tenfold(tape, "a");
    Workflow::new("w")
        .for_each("outer", numbers(2), |e| {
            e.body(|b| {
                b.for_each("inner", numbers(2).named("more"), |e| e.body(|b| b.step(body)).concurrency(inner))
            })
            .concurrency(outer)
        })
        .build()
        .unwrap()
}

async fn a_list_in_a_list_runs_in_order(lab: Lab) {
    let tape = Tape::default();
    assert_eq!(output(&outcome_of(&lab, &nested(&tape, 1, 1)).await), json!([[0, 10], [0, 10]]));
    assert_eq!(tape.entries(), ["a 0", "a 1", "a 0", "a 1"]);
}

async fn a_sequence_runs_inside_of_a_window(lab: Lab) {
    let tape = Tape::default();
    assert_eq!(output(&outcome_of(&lab, &nested(&tape, 2, 1)).await), json!([[0, 10], [0, 10]]));
    assert_eq!(tape.entries().len(), 4);
}

async fn a_window_opens_inside_of_a_sequence(lab: Lab) {
    let tape = Tape::default();
    assert_eq!(output(&outcome_of(&lab, &nested(&tape, 1, 2)).await), json!([[0, 10], [0, 10]]));
    assert_eq!(tape.count("a 0"), 2);
}

async fn an_inner_failure_names_the_outer_block_and_the_inner_path(lab: Lab) {
    let tape = Tape::default();
    let check = fails_for(&tape, 1, StepError::new);
    let workflow = Workflow::new("w")
        .for_each("outer", numbers(2), |e| {
            e.body(|b| b.for_each("inner", numbers(2).named("more"), |e| e.body(|b| b.step(check))))
        })
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(failure(&outcome), "outer: 1 is bad");
    assert_eq!(outcome.failed_step.unwrap().path.as_str(), "outer[0]/inner[1]/check");
}

async fn items_are_retried_by_themselves(lab: Lab) {
    let tape = Tape::default();
    let noted = tape.clone();
    let flaky = move |Item(item): Item<u32>, run: Run| {
        noted.note(format!("{item} in attempt {}", run.attempt()));
        std::future::ready(if run.attempt() > item { Ok(item) } else { Err(StepError::new("not yet")) })
    };
    let flaky = flaky.named("flaky").retry(3);
    let workflow =
        Workflow::new("w").for_each("all", numbers(3), |e| e.body(|b| b.step(flaky))).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!([0, 1, 2]));
    let expected = ["0 in attempt 1", "1 in attempt 1", "1 in attempt 2"];
    assert_eq!(tape.entries()[..3], expected);
    assert_eq!(tape.entries().len(), 6);
}

async fn an_empty_list_completes_at_once(lab: Lab) {
    let tape = Tape::default();
    let body = tenfold(&tape, "a");
    let workflow =
        Workflow::new("w").for_each("all", numbers(0), |e| e.body(|b| b.step(body))).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!([]));
    assert!(tape.entries().is_empty());
}

async fn what_is_no_list_fails_the_node(lab: Lab) {
    let workflow = Workflow::new("w")
        .for_each("all", says("nothing", json!({ "a": 1 })), |e| e.body(|b| b.step(gives("a", 1))))
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(outcome.failed_step.as_ref().unwrap().step_name, "all");
    assert!(failure(&outcome).contains("must be a list"), "{outcome:?}");
}

async fn too_many_items_fail_before_anything_runs(lab: Lab) {
    let tape = Tape::default();
    let body = tenfold(&tape, "a");
    let workflow = Workflow::new("w")
        .for_each("all", numbers(4), |e| e.body(|b| b.step(body)).max_iterations(3))
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(outcome.error.as_ref().unwrap().code, "max_iterations");
    assert!(tape.entries().is_empty());
}

async fn a_run_is_cancelled_in_the_middle(lab: Lab) {
    let (tape, gates) = (Tape::default(), gates(5));
    gates[0].open();
    let body = held(&tape, &gates);
    let workflow =
        Workflow::new("w").for_each("all", numbers(5), |e| e.body(|b| b.step(body)).concurrency(2)).build();
    let engine = lab.engine(workflow.unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    gates[1].arrived(1).await;
    gates[2].arrived(1).await;
    engine.cancel(run.id(), "enough").await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.status, RunStatus::Cancelled);
    assert!(!tape.entries().contains(&"begin 3".to_owned()));
    assert!(engine.active_runs().is_empty());
}

async fn many_items_stay_in_order(lab: Lab) {
    let tape = Tape::default();
    let body = tenfold(&tape, "a");
    let workflow =
        Workflow::new("w").for_each("all", numbers(120), |e| e.body(|b| b.step(body)).concurrency(7)).build();
    let outcome = outcome_of(&lab, &workflow.unwrap()).await;
    assert_eq!(output(&outcome), json!((0..120).map(|n| n * 10).collect::<Vec<u32>>()));
}

async fn a_window_refills_when_several_end_together(lab: Lab) {
    let (tape, gates) = (Tape::default(), gates(6));
    let body = held(&tape, &gates);
    let workflow =
        Workflow::new("w").for_each("all", numbers(6), |e| e.body(|b| b.step(body)).concurrency(3)).build();
    let engine = lab.engine(workflow.unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    for gate in &gates[..3] {
        gate.arrived(1).await;
    }
    assert_eq!(tape.entries().len(), 3, "no more than the window begin");
    gates[..3].iter().for_each(Gate::open);
    for gate in &gates[3..] {
        gate.arrived(1).await;
    }
    gates[3..].iter().for_each(Gate::open);
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), json!([0, 1, 2, 3, 4, 5]));
}

async fn more_items_than_the_window_and_one_failing_still_ends(lab: Lab) {
    let check = fails_for(&Tape::default(), 3, StepError::new);
    let workflow = Workflow::new("w")
        .for_each("all", numbers(20), |e| e.body(|b| b.step(check)).concurrency(4))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    assert_eq!(failure(&engine.finish(run.id()).await.unwrap()), "all: 3 is bad");
    let told = told(&engine, run.id()).await;
    let failed = told.iter().position(|event| event == "callFailed all[3]/check#1").unwrap();
    assert!(!told[failed..].iter().any(|event| event.starts_with("callStarted")), "{told:?}");
}

async fn after_a_crash_only_the_rest_runs(lab: Lab) {
    let (tape, gates) = (Tape::default(), gates(4));
    gates[..2].iter().for_each(Gate::open);
    let listed = tape.clone();
    let list = move || {
        listed.note("list");
        std::future::ready(Ok::<_, StepError>(vec![0_u32, 1, 2, 3]))
    };
    let body = held(&tape, &gates);
    let workflow = Workflow::new("w").for_each("all", list, |e| e.body(|b| b.step(body))).build().unwrap();
    let third = gates[2].clone();
    let life = async move |engine: TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        third.arrived(1).await;
        run
    };
    let run = lab.life_of(&workflow, life).await;
    gates.iter().for_each(Gate::open);
    let engine = lab.engine(&workflow).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), json!([0, 1, 2, 3]));
    let begun: Vec<String> = tape.entries().into_iter().filter(|entry| !entry.starts_with("end")).collect();
    assert_eq!(begun, ["list", "begin 0", "begin 1", "begin 2", "begin 2", "begin 3"]);
}

async fn each_iteration_can_be_looked_at(lab: Lab) {
    let tape = Tape::default();
    let check = fails_for(&tape, 1, StepError::proceed);
    let workflow =
        Workflow::new("w").for_each("all", numbers(3), |e| e.body(|b| b.step(check))).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    let steps = engine.get(run.id()).await.unwrap().steps;
    let seen: Vec<_> = steps.iter().map(|step| (step.path.as_str(), step.status)).collect();
    let expected = [
        ("all", NodeStatus::Completed),
        ("all[0]/check", NodeStatus::Completed),
        ("all[1]/check", NodeStatus::Failed),
        ("all[2]/check", NodeStatus::Completed),
    ];
    assert_eq!(seen, expected);
}

async fn an_item_is_seen_in_a_loop_inside(lab: Lab) {
    let tape = Tape::default();
    let body = tenfold(&tape, "a");
    let workflow = Workflow::new("w")
        .for_each("all", numbers(2), |e| {
            e.body(|b| b.repeat("poll", |l| l.body(|b| b.step(body)).until(says("done", true))))
        })
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!([0, 10]));
}

async fn a_list_function_that_fails_fails_the_node(lab: Lab) {
    let list = || async { Err::<Vec<u32>, _>(StepError::new("no list")) };
    let workflow =
        Workflow::new("w").for_each("all", list, |e| e.body(|b| b.step(gives("a", 1)))).build().unwrap();
    assert_eq!(failure(&outcome_of(&lab, &workflow).await), "all: no list");
}

async fn handlers_are_called_once_for_a_failing_item(lab: Lab) {
    let tape = Tape::default();
    let check = fails_for(&Tape::default(), 1, StepError::new).on_error(tape.handler("step"));
    let workflow = Workflow::new("w")
        .on_error(tape.handler("workflow"))
        .for_each("all", numbers(3), |e| e.body(|b| b.step(check)))
        .build()
        .unwrap();
    outcome_of(&lab, &workflow).await;
    assert_eq!(tape.entries(), ["step(check: 1 is bad)", "workflow(all: 1 is bad)"]);
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Parcel {
    #[schemars(range(max = 10))]
    weight: u32,
}

async fn a_nested_workflow_gets_the_item_as_its_input(lab: Lab) {
    let weigh = |Input(parcel): Input<Parcel>| async move { Ok::<_, StepError>(parcel.weight) };
    let ship = Workflow::new("ship").input::<Parcel>().step(weigh.named("weigh")).build().unwrap();
    let each = |name: &str, weights: &[u32]| {
        let pack = |Item(weight): Item<u32>| async move { Ok::<_, StepError>(Parcel { weight }) };
        Workflow::new(name)
            .for_each("all", says("weights", weights.to_vec()), |e| {
                e.body(|b| b.workflow_with(&ship, pack.named("pack")))
            })
            .build()
            .unwrap()
    };
    assert_eq!(output(&outcome_of(&lab, &each("light", &[1, 2])).await), json!([1, 2]));
    let outcome = outcome_of(&lab, &each("heavy", &[1, 20])).await;
    assert_eq!(outcome.error.unwrap().code, "invalid_input", "each input is checked against the schema");
    assert_eq!(outcome.failed_step.unwrap().path.as_str(), "all[1]/ship");
}
