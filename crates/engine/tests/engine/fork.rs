//! Runs that go on from any point of others, and plans that change.

use rival::Plan;
use rival::prelude::*;
use rival::{RunId, RunStatus, StartError};
use serde_json::json;

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape, output};

facts![
    a_fork_runs_the_node_and_what_comes_after,
    a_fork_may_have_another_input,
    a_fork_with_a_bad_input_is_refused,
    a_fork_inside_of_a_for_each_keeps_the_other_items,
    a_fork_takes_over_the_joined_result_of_a_block,
    a_fork_of_a_completed_run_must_say_from_where,
    a_fork_from_an_unknown_node_is_refused,
    a_run_under_way_cannot_be_forked,
    a_fork_may_be_named_and_started_twice,
    a_taken_id_is_a_conflict_unless_the_same_is_asked_for,
    a_retry_may_be_named_and_asked_for_twice,
    a_named_fork_outlives_its_source_and_its_workflow,
    a_fork_takes_the_workflow_as_it_is_now,
    runs_under_way_keep_their_plan_and_new_ones_take_the_new,
];

async fn completed(engine: &rival::testing::TestEngine, input: impl serde::Serialize) -> RunId {
    let run = engine.run("w", input).id("r").await.unwrap();
    engine.finish(run.id()).await.unwrap();
    run.id().clone()
}

fn three(tape: &Tape) -> Workflow<u32, u32> {
    let (seen, doubled) = (tape.clone(), tape.clone());
    let double = move |Input(n): Input<u32>| {
        doubled.note("double");
        async move { Ok::<_, StepError>(n * 2) }
    };
    let add = move |Input(n): Input<u32>, last: LastStep| {
        seen.note("add");
        async move { Ok::<_, StepError>(n + last.get::<u32>()?) }
    };
    Workflow::new("w")
        .input::<u32>()
        .step(tape.step("first"))
        .step(double.named("double"))
        .step(add.named("add"))
        .build()
        .unwrap()
}

async fn a_fork_runs_the_node_and_what_comes_after(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(&three(&tape)).await;
    let run = completed(&engine, 5).await;
    let fork = engine.fork(&run).from("double").await.unwrap();
    let outcome = engine.finish(fork.id()).await.unwrap();
    assert_eq!(output(&outcome), 15);
    assert_eq!(tape.entries(), ["first", "double", "add", "double", "add"]);
    assert_eq!(engine.get(fork.id()).await.unwrap().source, Some(run.clone()));
    // The old run never changes.
    assert_eq!(engine.get(&run).await.unwrap().status, RunStatus::Completed);
}

async fn a_fork_may_have_another_input(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(&three(&tape)).await;
    let run = completed(&engine, 5).await;
    let fork = engine.fork(&run).from("add").input(&100).await.unwrap();
    // What was recorded before the node is as it was.
    assert_eq!(output(&engine.finish(fork.id()).await.unwrap()), 110);
    assert_eq!(tape.count("double"), 1);
}

async fn a_fork_with_a_bad_input_is_refused(lab: Lab) {
    let engine = lab.engine(&three(&Tape::default())).await;
    let run = completed(&engine, 5).await;
    let refused = engine.fork(&run).from("add").input(&"many").await.unwrap_err();
    assert_eq!(refused.code(), "invalid_input");
}

fn items(tape: &Tape) -> Workflow<(), Vec<u32>> {
    let (listed, seen) = (tape.clone(), tape.clone());
    let list = move || {
        listed.note("list");
        async { Ok::<_, StepError>(vec![1_u32, 2, 3]) }
    };
    let square = move |Item(n): Item<u32>| {
        seen.note(format!("square {n}"));
        async move { Ok::<_, StepError>(n * n) }
    };
    Workflow::new("w")
        .for_each("all", list.named("list"), |e| e.body(|b| b.step(square.named("square"))).concurrency(3))
        .build()
        .unwrap()
}

async fn a_fork_inside_of_a_for_each_keeps_the_other_items(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(&items(&tape)).await;
    let run = completed(&engine, ()).await;
    let before = tape.entries().len();
    let fork = engine.fork(&run).from("all[1]/square").await.unwrap();
    assert_eq!(output(&engine.finish(fork.id()).await.unwrap()), json!([1, 4, 9]));
    assert_eq!(tape.entries()[before..], ["square 2"]);
}

async fn a_fork_takes_over_the_joined_result_of_a_block(lab: Lab) {
    let tape = Tape::default();
    let (a, b) = (tape.step("a"), tape.step("b"));
    let last = |last: LastStep| async move { last.get::<serde_json::Value>() };
    let workflow = Workflow::new("w")
        .parallel("p", |p| p.branch("x", |block| block.step(a)).branch("y", |block| block.step(b)))
        .step(last.named("last"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = completed(&engine, ()).await;
    let fork = engine.fork(&run).from("last").await.unwrap();
    assert_eq!(output(&engine.finish(fork.id()).await.unwrap()), json!({ "x": 1, "y": 1 }));
    assert_eq!(tape.entries().len(), 2);
}

async fn a_fork_of_a_completed_run_must_say_from_where(lab: Lab) {
    let engine = lab.engine(&three(&Tape::default())).await;
    let run = completed(&engine, 5).await;
    assert_eq!(engine.fork(&run).await.unwrap_err().code(), "no_fork_point");
}

async fn a_fork_from_an_unknown_node_is_refused(lab: Lab) {
    let engine = lab.engine(&three(&Tape::default())).await;
    let run = completed(&engine, 5).await;
    let error = engine.fork(&run).from("sub").await.unwrap_err();
    assert_eq!(error.to_string(), "workflow `w` has no node `sub` to go on from");
}

async fn a_run_under_way_cannot_be_forked(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let engine = lab.engine(&Workflow::new("w").step(tape.gated("a", &gate)).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    let error = engine.fork(run.id()).from("a").await.unwrap_err();
    assert!(matches!(error, StartError::NotEnded { .. }), "{error}");
    gate.open();
    engine.finish(run.id()).await.unwrap();
}

async fn a_fork_may_be_named_and_started_twice(lab: Lab) {
    let tape = Tape::default();
    let engine = lab.engine(&three(&tape)).await;
    let run = completed(&engine, 5).await;
    for _ in 0..2 {
        let fork = engine.fork(&run).from("add").id("again").await.unwrap();
        assert_eq!(output(&engine.finish(fork.id()).await.unwrap()), 15);
    }
    assert_eq!(tape.count("add"), 2);
}

/// Whatever makes the request is compared: its kind, its source, the node, and the input.
async fn a_taken_id_is_a_conflict_unless_the_same_is_asked_for(lab: Lab) {
    let engine = lab.engine(&three(&Tape::default())).await;
    let run = completed(&engine, 5).await;
    let other = engine.run("w", 5).id("other").await.unwrap().id().clone();
    let plain = engine.run("w", 5).id("plain").await.unwrap().id().clone();
    for run in [&other, &plain] {
        engine.finish(run).await.unwrap();
    }
    let fork = engine.fork(&run).from("add").id("fork").await.unwrap();
    let refused = [
        engine.fork(&other).from("add").id("fork").await,
        engine.fork(&run).from("double").id("fork").await,
        engine.fork(&run).from("add").input(&5).id("fork").await,
        engine.fork(&run).from("add").id("plain").await,
        engine.fork(&run).from("add").id("r").await,
        engine.run("w", 5).id("fork").await,
    ];
    for refused in refused {
        assert_eq!(refused.unwrap_err().code(), "run_conflict");
    }
    assert_eq!(engine.fork(&run).from("add").id("fork").await.unwrap().id(), fork.id());
    let with_input = engine.fork(&run).from("add").input(&7).id("seven").await.unwrap();
    assert_eq!(engine.fork(&run).from("add").input(&7).id("seven").await.unwrap().id(), with_input.id());
    let refused = engine.fork(&run).from("add").input(&8).id("seven").await;
    assert_eq!(refused.unwrap_err().code(), "run_conflict");
}

async fn a_retry_may_be_named_and_asked_for_twice(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w").step(tape.failing("a")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = completed(&engine, ()).await;
    for _ in 0..2 {
        let again = engine.retry(&run).id("again").await.unwrap();
        engine.finish(again.id()).await.unwrap();
    }
    assert_eq!(tape.count("a"), 2);
    // A fork is another request, although it would do the same.
    assert_eq!(engine.fork(&run).id("again").await.unwrap_err().code(), "run_conflict");
    let refused = engine.retry(&"again".into()).id("again").await.unwrap_err();
    assert_eq!(refused.code(), "run_conflict");
}

async fn a_named_fork_outlives_its_source_and_its_workflow(lab: Lab) {
    let engine = lab.engine(&three(&Tape::default())).await;
    let run = completed(&engine, 5).await;
    lab.pass(std::time::Duration::from_secs(1));
    let fork = engine.fork(&run).from("add").id("fork").await.unwrap();
    engine.finish(fork.id()).await.unwrap();
    let ended = engine.summary(fork.id()).await.unwrap().ended_at.unwrap();
    assert_eq!(rival::Store::purge(&*lab.store(), ended, 10).await.unwrap(), 1);
    assert!(engine.retire("w").await.unwrap());
    assert_eq!(engine.fork(&run).from("add").id("fork").await.unwrap().id(), fork.id());
    assert_eq!(engine.fork(&run).from("add").id("new").await.unwrap_err().code(), "run_not_found");
}

async fn a_fork_takes_the_workflow_as_it_is_now(lab: Lab) {
    let tape = Tape::default();
    let old = Workflow::new("w").step(tape.step("a")).step(tape.failing("b")).build().unwrap();
    let new = Workflow::new("w").step(tape.step("a")).step(tape.step("c")).build().unwrap();
    let run = lab.life_of(&old, |engine| async move { completed(&engine, ()).await }).await;
    let engine = lab.engine(&new).await;
    let again = engine.retry(&run).await.unwrap();
    assert_eq!(output(&engine.finish(again.id()).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["a", "b", "c"]);
}

async fn runs_under_way_keep_their_plan_and_new_ones_take_the_new(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let old = Workflow::new("w").step(tape.gated("a", &gate)).step(tape.step("b")).build().unwrap();
    let new = Workflow::new("w")
        .step(tape.gated("a", &gate))
        .step(tape.step("new"))
        .step(tape.step("b"))
        .build()
        .unwrap();
    let at = gate.clone();
    let run = lab
        .life_of(&old, |engine| async move {
            let run = engine.run("w", ()).await.unwrap();
            at.arrived(1).await;
            run.id().clone()
        })
        .await;
    gate.open();
    let engine = lab.engine(&new).await;
    engine.finish(&run).await.unwrap();
    assert_eq!(tape.entries(), ["a", "a", "b"]);
    let fresh = engine.run("w", ()).await.unwrap();
    engine.finish(fresh.id()).await.unwrap();
    assert_eq!(tape.entries()[3..], ["a", "new", "b"]);
    assert_ne!(engine.get(&run).await.unwrap().plan, engine.get(fresh.id()).await.unwrap().plan);
    let (before, now) = (engine.plan(&run).await.unwrap(), engine.plan(fresh.id()).await.unwrap());
    assert_eq!((&before, &now), (old.plan(), new.plan()));
    assert_eq!(Plan::diff(&before, &now).to_string(), "+ step `new`\n");
}
