//! Blocks that run again and again.

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{RunOutcome, RunStatus, TypedStep, Workflow};
use serde_json::json;

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure, gives, looks, outcome_of, output, says};

facts![
    until_true_ends_after_the_first_iteration,
    while_false_runs_nothing,
    a_loop_runs_n_times,
    a_while_loop_runs_n_times,
    iterations_have_keys,
    too_many_iterations_are_a_failure,
    an_until_test_stands_in_the_iteration_that_ended,
    a_while_test_stands_in_the_iteration_that_would_begin,
    the_last_iteration_is_seen_in_body_and_test,
    a_later_step_sees_the_last_result,
    a_test_that_fails_fails_the_node,
    a_body_that_fails_names_the_loop_and_the_step,
    a_soft_failure_goes_on,
    a_loop_is_cancelled_in_the_middle,
    a_loop_goes_on_after_a_crash,
    a_loop_in_a_loop_starts_anew,
    the_last_iteration_is_seen_in_a_for_each_inside,
];

#[step]
async fn count(LastIteration(last): LastIteration<u32>) -> Result<u32, StepError> {
    Ok(last.unwrap_or(0) + 1)
}

#[step]
async fn is_three(counted: Output<count>) -> Result<bool, StepError> {
    Ok(*counted == 3)
}

#[step]
async fn is_below_three(counted: Option<Output<count>>) -> Result<bool, StepError> {
    Ok(counted.is_none_or(|counted| *counted < 3))
}

async fn until_true_ends_after_the_first_iteration(lab: Lab) {
    let tape = Tape::default();
    let body = tape.step("body");
    let workflow = Workflow::new("w")
        .repeat("poll", |l| l.body(|b| b.step(body)).until(says("done", true)))
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), 1);
    assert_eq!(tape.entries(), ["body"]);
}

async fn while_false_runs_nothing(lab: Lab) {
    let tape = Tape::default();
    let body = tape.step("body");
    let workflow = Workflow::new("w")
        .repeat("poll", |l| l.body(|b| b.step(body)).while_true(says("more", false)))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), None);
    assert!(tape.entries().is_empty());
}

async fn a_loop_runs_n_times(lab: Lab) {
    let workflow = Workflow::new("w").repeat("poll", |l| l.body(|b| b.step(count)).until(is_three)).build();
    assert_eq!(output(&outcome_of(&lab, &workflow.unwrap()).await), 3);
}

async fn a_while_loop_runs_n_times(lab: Lab) {
    let workflow =
        Workflow::new("w").repeat("poll", |l| l.body(|b| b.step(count)).while_true(is_below_three)).build();
    assert_eq!(output(&outcome_of(&lab, &workflow.unwrap()).await), 3);
}

async fn iterations_have_keys(lab: Lab) {
    let workflow =
        Workflow::new("w").repeat("poll", |l| l.body(|b| b.step(count)).until(is_three)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    let told = told(&engine, run.id()).await;
    let calls: Vec<&String> = told.iter().filter(|event| event.starts_with("callSucceeded poll[")).collect();
    let expected =
        ["callSucceeded poll[0]/count#1", "callSucceeded poll[1]/count#1", "callSucceeded poll[2]/count#1"];
    assert_eq!(calls, expected);
}

async fn too_many_iterations_are_a_failure(lab: Lab) {
    let tape = Tape::default();
    let (body, again) = (tape.step("until"), tape.step("while"));
    let until = Workflow::new("u")
        .repeat("poll", |l| l.body(|b| b.step(body)).until(says("done", false)).max_iterations(2))
        .build()
        .unwrap();
    is_too_much(&outcome_of(&lab, &until).await);
    let during = Workflow::new("d")
        .repeat("poll", |l| l.body(|b| b.step(again)).while_true(says("more", true)).max_iterations(2))
        .build()
        .unwrap();
    is_too_much(&outcome_of(&lab, &during).await);
    assert_eq!(tape.entries(), ["until", "until", "while", "while"]);
}

fn is_too_much(outcome: &RunOutcome) {
    assert_eq!(outcome.error.as_ref().unwrap().code, "max_iterations");
    assert_eq!(outcome.failed_step.as_ref().unwrap().step_name, "poll");
}

/// A test that says whether this many iterations are done.
fn after(iterations: u32) -> TypedStep<bool> {
    (move |iteration: Iteration| std::future::ready(Ok::<_, StepError>(iteration.index() + 1 == iterations)))
        .named("after")
}

async fn an_until_test_stands_in_the_iteration_that_ended(lab: Lab) {
    let tape = Tape::default();
    let body = tape.step("body");
    let workflow =
        Workflow::new("w").repeat("poll", |l| l.body(|b| b.step(body)).until(after(4))).build().unwrap();
    outcome_of(&lab, &workflow).await;
    assert_eq!(tape.entries().len(), 4);
}

async fn a_while_test_stands_in_the_iteration_that_would_begin(lab: Lab) {
    let tape = Tape::default();
    let body = tape.step("body");
    let more = |iteration: Iteration| async move { Ok::<_, StepError>(iteration.index() < 3) };
    let workflow =
        Workflow::new("w").repeat("poll", |l| l.body(|b| b.step(body)).while_true(more)).build().unwrap();
    outcome_of(&lab, &workflow).await;
    assert_eq!(tape.entries().len(), 3);
}

async fn the_last_iteration_is_seen_in_body_and_test(lab: Lab) {
    let done = |LastIteration(last): LastIteration<u32>| async move { Ok::<_, StepError>(last == Some(5)) };
    let workflow =
        Workflow::new("w").repeat("poll", |l| l.body(|b| b.step(count)).until(done)).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), 5);
}

async fn a_later_step_sees_the_last_result(lab: Lab) {
    let workflow = Workflow::new("w")
        .repeat("poll", |l| l.body(|b| b.step(count)).until(is_three))
        .step(looks("look", &["poll", "count"]))
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), "poll=3");
}

async fn a_test_that_fails_fails_the_node(lab: Lab) {
    let broken = || async { Err::<bool, _>(StepError::new("who knows")) };
    let workflow = Workflow::new("w")
        .repeat("poll", |l| l.body(|b| b.step(gives("a", 1))).until(broken))
        .build()
        .unwrap();
    assert_eq!(failure(&outcome_of(&lab, &workflow).await), "poll: who knows");
}

async fn a_body_that_fails_names_the_loop_and_the_step(lab: Lab) {
    let tape = Tape::default();
    let bad = |iteration: Iteration| {
        std::future::ready(if iteration.index() == 1 { Err(StepError::new("enough")) } else { Ok(1) })
    };
    let workflow = Workflow::new("w")
        .repeat("poll", |l| l.body(|b| b.step(bad.named("bad"))).until(says("done", false)))
        .step(tape.step("never"))
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(failure(&outcome), "poll: enough");
    assert_eq!(outcome.failed_step.unwrap().path.as_str(), "poll[1]/bad");
    assert!(tape.entries().is_empty());
}

async fn a_soft_failure_goes_on(lab: Lab) {
    let tape = Tape::default();
    let soft = tape.failing("soft").continue_on_error();
    let workflow =
        Workflow::new("w").repeat("poll", |l| l.body(|b| b.step(soft)).until(after(2))).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!(null));
    assert_eq!(tape.count("soft"), 2);
}

async fn a_loop_is_cancelled_in_the_middle(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let body = tape.gated("held", &gate);
    let workflow = Workflow::new("w")
        .repeat("poll", |l| l.body(|b| b.step(body)).until(says("done", false)))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    engine.cancel(run.id(), "enough").await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Cancelled);
    assert_eq!(tape.count("held"), 1);
}

async fn a_loop_goes_on_after_a_crash(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let (noted, held) = (tape.clone(), gate.clone());
    let body = move |iteration: Iteration| {
        noted.note(format!("iteration {}", iteration.index()));
        let held = (iteration.index() == 2).then(|| held.clone());
        async move {
            if let Some(gate) = held {
                gate.pass().await;
            }
            Ok::<_, StepError>(iteration.index())
        }
    };
    let workflow = Workflow::new("w")
        .repeat("poll", |l| l.body(|b| b.step(body.named("body"))).until(after(4)))
        .build()
        .unwrap();
    let reached = gate.clone();
    let life = async move |engine: TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        reached.arrived(1).await;
        run
    };
    let run = lab.life_of(&workflow, life).await;
    gate.open();
    assert_eq!(output(&lab.engine(&workflow).await.finish(&run).await.unwrap()), 3);
    let expected = ["iteration 0", "iteration 1", "iteration 2", "iteration 2", "iteration 3"];
    assert_eq!(tape.entries(), expected);
}

async fn a_loop_in_a_loop_starts_anew(lab: Lab) {
    let tape = Tape::default();
    let noted = tape.clone();
    let body = move |iteration: Iteration, LastIteration(last): LastIteration<u32>| {
        noted.note(format!("{} after {last:?}", iteration.index()));
        async move { Ok::<_, StepError>(iteration.index()) }
    };
    let workflow = Workflow::new("w")
        .repeat("outer", |l| {
            l.body(|b| b.repeat("inner", |l| l.body(|b| b.step(body.named("body"))).until(after(2))))
                .until(after(2))
        })
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), 1);
    assert_eq!(tape.entries(), ["0 after None", "1 after Some(0)", "0 after None", "1 after Some(0)"]);
}

async fn the_last_iteration_is_seen_in_a_for_each_inside(lab: Lab) {
    let add = |Item(item): Item<u32>, LastIteration(last): LastIteration<Vec<u32>>| async move {
        Ok::<_, StepError>(item + last.map_or(0, |last| last.iter().sum()))
    };
    let workflow = Workflow::new("w")
        .repeat("again", |l| {
            l.body(|b| {
                b.for_each("all", says("list", vec![1_u32, 2]), |e| e.body(|b| b.step(add.named("add"))))
            })
            .until(after(2))
        })
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!([4, 5]));
}
