//! Graphs: steps that start as soon as what they come after is done.

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{NodeStatus, RunStatus, TypedStep, Workflow};
use serde_json::json;

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure, gives, looks, outcome_of, output, says};

facts![
    one_step_is_a_graph,
    a_chain_runs_in_its_order_however_it_is_written,
    independent_steps_overlap,
    a_diamond_joins,
    several_last_steps_give_a_map,
    events_have_the_same_order_every_time,
    a_failure_keeps_what_completed_beside_it,
    a_failure_starts_nothing_new,
    a_soft_failure_lets_dependents_go_on,
    only_what_a_step_comes_after_is_seen,
    blocks_are_nodes_of_a_graph,
    a_graph_is_a_nested_workflow,
    a_graph_goes_on_after_a_crash,
    a_graph_is_cancelled,
];

#[step]
async fn validate() -> Result<u32, StepError> {
    Ok(1)
}

#[step]
async fn fraud(valid: Output<validate>) -> Result<u32, StepError> {
    Ok(*valid * 10)
}

#[step]
async fn stock(valid: Output<validate>) -> Result<u32, StepError> {
    Ok(*valid * 100)
}

#[step]
async fn charge(risk: Output<fraud>, stock: Output<stock>) -> Result<u32, StepError> {
    Ok(*risk + *stock)
}

fn diamond() -> Workflow<(), u32> {
    Workflow::dag("w").steps((stock, fraud, validate, charge)).build().unwrap()
}

async fn one_step_is_a_graph(lab: Lab) {
    let workflow = Workflow::dag("w").step(validate).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), 1);
}

async fn a_chain_runs_in_its_order_however_it_is_written(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::dag("w")
        .step(tape.step("b").after("a"))
        .step(tape.step("a"))
        .step(tape.step("c").after("b"))
        .build()
        .unwrap();
    outcome_of(&lab, &workflow).await;
    assert_eq!(tape.entries(), ["a", "b", "c"]);
}

async fn independent_steps_overlap(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::dag("w")
        .step(tape.gated("a", &gate))
        .step(tape.gated("b", &gate))
        .step(tape.step("c").after(("a", "b")))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(2).await;
    assert_eq!(tape.count("c"), 0);
    gate.open();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 1);
}

async fn a_diamond_joins(lab: Lab) {
    assert_eq!(output(&outcome_of(&lab, &diamond()).await), 110);
}

async fn several_last_steps_give_a_map(lab: Lab) {
    let workflow = Workflow::dag("w").steps((validate, fraud, stock)).joined().build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.output.unwrap().as_json(), r#"{"fraud":10,"stock":100}"#);
    assert_eq!(run.output().await.unwrap().get::<u32>("stock").unwrap(), 100);
}

async fn events_have_the_same_order_every_time(lab: Lab) {
    let engine = lab.engine(diamond()).await;
    let mut all = Vec::new();
    for _ in 0..5 {
        let run = engine.run("w", ()).await.unwrap();
        engine.finish(run.id()).await.unwrap();
        all.push(told(&engine, run.id()).await);
    }
    let begun: Vec<&String> = all[0].iter().filter(|event| event.starts_with("callStarted")).collect();
    let expected =
        ["callStarted validate#1", "callStarted stock#1", "callStarted fraud#1", "callStarted charge#1"];
    assert_eq!(begun, expected);
    for told in &all {
        let begun_again: Vec<&String> =
            told.iter().filter(|event| event.starts_with("callStarted")).collect();
        assert_eq!(begun_again, begun);
        assert_eq!(told.len(), all[0].len());
    }
}

async fn a_failure_keeps_what_completed_beside_it(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::dag("w")
        .step(gives("done", 7))
        .step(tape.gated("slow", &gate))
        .step(tape.failing("bad").after("done"))
        .step(tape.step("never").after(("bad", "slow")))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    gate.open();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(failure(&outcome), "bad: bad failed in attempt 1");
    assert_eq!(outcome.result("done").unwrap().result.as_ref().unwrap().as_json(), "7");
    assert_eq!(outcome.result("slow").unwrap().status, NodeStatus::Completed);
    assert_eq!(tape.count("never"), 0);
}

async fn a_failure_starts_nothing_new(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::dag("w")
        .step(tape.gated("slow", &gate))
        .step(tape.failing("bad"))
        .step(tape.step("after slow").after("slow"))
        .step(tape.step("last").after(("after slow", "bad")))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    while !told(&engine, run.id()).await.iter().any(|event| event.starts_with("callFailed bad")) {
        tokio::task::yield_now().await;
    }
    gate.open();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Failed);
    assert_eq!((tape.count("slow"), tape.count("after slow")), (1, 0));
}

async fn a_soft_failure_lets_dependents_go_on(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::dag("w")
        .step(tape.failing("soft").continue_on_error())
        .step(tape.step("next").after("soft"))
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), 1);
    assert_eq!(tape.entries(), ["soft", "next"]);
}

async fn only_what_a_step_comes_after_is_seen(lab: Lab) {
    let last = |last: LastStep| async move { Ok::<_, StepError>(last.name().is_none()) };
    let workflow = Workflow::dag("w")
        .step(gives("a", 1))
        .step(gives("b", 2).after("a"))
        .step(gives("beside", 3))
        .step(looks("look", &["a", "b", "beside"]).after("b"))
        .step(last.named("no last step").after("b"))
        .joined()
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(output(&outcome), json!({ "beside": 3, "look": "a=1 b=2", "no last step": true }));
}

async fn blocks_are_nodes_of_a_graph(lab: Lab) {
    let step = |n: u32| -> TypedStep<u32> { gives("x", n) };
    let workflow = Workflow::dag("w")
        .parallel("p", |p| p.branch("l", |b| b.step(step(1))).after("c"))
        .branch("c", says("yes", true), |c| c.then(|b| b.step(step(2))))
        .for_each("e", says("list", vec![1_u32, 2]), |e| e.body(|b| b.step(step(3))).after("p"))
        .repeat("r", |l| l.body(|b| b.step(fraud)).until(says("done", true)).after("e"))
        .step(validate)
        .step(looks("look", &["p", "c", "e", "r", "validate"]).after("r"))
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), r#"p={"l":1} c=2 e=[3,3] r=10 validate=1"#);
}

async fn a_graph_is_a_nested_workflow(lab: Lab) {
    let inner = Workflow::dag("inner").steps((stock, fraud, validate, charge)).build().unwrap();
    let workflow = Workflow::new("w")
        .workflow(&inner)
        .parallel("p", |p| p.branch("b", |b| b.as_graph().steps((stock, fraud, validate, charge))))
        .step(looks("look", &["inner", "p"]))
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), r#"inner=110 p={"b":110}"#);
}

async fn a_graph_goes_on_after_a_crash(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::dag("w")
        .step(tape.step("a"))
        .step(tape.step("b").after("a"))
        .step(tape.gated("held", &gate).after("a"))
        .step(tape.step("c").after(("b", "held")))
        .build()
        .unwrap();
    let reached = gate.clone();
    let life = async move |engine: TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        reached.arrived(1).await;
        while !told(&engine, &run).await.contains(&"callSucceeded b#1".to_owned()) {
            tokio::task::yield_now().await;
        }
        run
    };
    let run = lab.life_of(&workflow, life).await;
    gate.open();
    assert_eq!(output(&lab.engine(&workflow).await.finish(&run).await.unwrap()), 1);
    assert_eq!((tape.count("a"), tape.count("b"), tape.count("held"), tape.count("c")), (1, 1, 2, 1));
}

async fn a_graph_is_cancelled(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::dag("w")
        .step(tape.gated("a", &gate))
        .step(tape.gated("b", &gate))
        .step(tape.step("c").after(("a", "b")))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(2).await;
    engine.cancel(run.id(), "enough").await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Cancelled);
    assert_eq!(tape.count("c"), 0);
}
