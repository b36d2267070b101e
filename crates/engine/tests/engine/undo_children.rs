//! Completed children that are undone with their parent.

use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{Definition, Page, RunFilter, RunId, RunStatus, Store, TypedStep, Value};
use rival_engine::verify;

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape, says};

facts![
    a_completed_child_is_undone_at_its_place,
    the_child_itself_stays_as_it_is,
    every_child_of_a_map_is_undone_the_last_first,
    children_of_children_are_undone,
    a_childs_compensations_see_what_its_steps_saw,
    what_a_child_cannot_undo_is_told_to_its_parent,
    a_child_with_nothing_to_undo_needs_no_run,
    a_cancelled_parent_undoes_its_children,
    a_killed_parent_undoes_no_child,
    a_child_of_a_branch_that_lost_is_undone_while_the_run_goes_on,
    a_retry_asks_an_undone_child_again,
    a_child_of_a_live_run_is_not_removed_and_is_undone,
    a_parent_says_what_undoes_its_child,
    a_crash_after_any_commit_undoes_all_the_same,
];

fn undoable(tape: &Tape, name: &'static str) -> TypedStep<u32> {
    let noted = tape.clone();
    let undo = move || {
        noted.note(format!("undo {name}"));
        async { Ok::<_, StepError>(()) }
    };
    tape.step(name).compensate(undo.named(format!("undo {name}")))
}

fn undone(tape: &Tape) -> Vec<String> {
    tape.entries().into_iter().filter(|entry| entry.starts_with("undo")).collect()
}

/// A workflow `child` of two steps that can be undone.
fn child(tape: &Tape) -> Definition {
    Workflow::new("child").steps((undoable(tape, "x"), undoable(tape, "y"))).build().unwrap().into()
}

/// A step that runs a workflow.
fn asks(name: &'static str, workflow: &'static str) -> TypedStep<()> {
    let ask = move |durable: Durable| async move {
        let _: Value = durable.run(workflow, ()).await?;
        Ok::<_, StepError>(())
    };
    ask.named(name)
}

/// A workflow `parent` whose step in the middle has a child.
fn parent(tape: &Tape) -> Definition {
    let steps = (undoable(tape, "a"), asks("ask", "child"), undoable(tape, "b"), tape.failing("bad"));
    Workflow::new("parent").steps(steps).build().unwrap().into()
}

async fn engine(lab: &Lab, workflows: &[&Definition]) -> TestEngine {
    let builder = workflows.iter().fold(lab.builder(), |builder, it| builder.workflow((*it).clone()));
    builder.build().await.unwrap()
}

async fn finish(engine: &TestEngine, id: &str) -> rival::RunOutcome {
    let run = engine.run("parent", ()).id(id).await.unwrap();
    engine.finish(run.id()).await.unwrap()
}

async fn ids(engine: &TestEngine) -> Vec<String> {
    let rows = engine.runs(&RunFilter::default(), &Page::default()).await.unwrap();
    let mut ids: Vec<String> = rows.into_iter().map(|row| format!("{} {}", row.id, row.status)).collect();
    ids.sort();
    ids
}

async fn sound(lab: &Lab, engine: TestEngine) {
    engine.shutdown(Duration::ZERO).await;
    let report = verify::check_store(&*lab.store()).await.unwrap();
    assert!(report.breaches.is_empty(), "{:#?}", report.breaches);
}

async fn a_completed_child_is_undone_at_its_place(lab: Lab) {
    let tape = Tape::default();
    let engine = engine(&lab, &[&parent(&tape), &child(&tape)]).await;
    let outcome = finish(&engine, "r").await;
    assert_eq!(outcome.status, RunStatus::Failed);
    assert!(outcome.not_undone.is_empty());
    assert_eq!(undone(&tape), ["undo b", "undo y", "undo x", "undo a"]);
    sound(&lab, engine).await;
}

async fn the_child_itself_stays_as_it_is(lab: Lab) {
    let tape = Tape::default();
    let engine = engine(&lab, &[&parent(&tape), &child(&tape)]).await;
    finish(&engine, "r").await;
    assert_eq!(ids(&engine).await, ["r failed", "r~c1 completed", "r~c1~undo cancelled"]);
    let undo = engine.get(&RunId::from("r~c1~undo")).await.unwrap();
    assert_eq!((undo.source, undo.parent), (Some(RunId::from("r~c1")), Some(RunId::from("r"))));
    assert_eq!(undo.reason.as_deref(), Some("what it did for run `r` is undone"));
}

async fn every_child_of_a_map_is_undone_the_last_first(lab: Lab) {
    let tape = Tape::default();
    let noted = tape.clone();
    let undo = move |Input(n): Input<u32>| {
        noted.note(format!("undo {n}"));
        async { Ok::<_, StepError>(()) }
    };
    let work = |Input(n): Input<u32>| async move { Ok::<_, StepError>(n) };
    let work = work.named("work").compensate(undo.named("undo"));
    let child = Workflow::new("child").input::<u32>().step(work).build().unwrap();
    let all = |durable: Durable| async move {
        let done: Vec<Value> = durable.map([1_u32, 2, 3], "child").concurrency(1).await?;
        Ok::<_, StepError>(done.len())
    };
    let parent = Workflow::new("parent").step(all.named("all")).step(tape.failing("bad")).build().unwrap();
    let engine = engine(&lab, &[&parent.into(), &child.into()]).await;
    finish(&engine, "r").await;
    assert_eq!(undone(&tape), ["undo 3", "undo 2", "undo 1"]);
    sound(&lab, engine).await;
}

async fn children_of_children_are_undone(lab: Lab) {
    let tape = Tape::default();
    let middle = Workflow::new("middle").steps((undoable(&tape, "m"), asks("ask", "child"))).build().unwrap();
    let parent = Workflow::new("parent").steps((asks("ask", "middle"), tape.failing("bad"))).build().unwrap();
    let engine = engine(&lab, &[&parent.into(), &middle.into(), &child(&tape)]).await;
    finish(&engine, "r").await;
    assert_eq!(undone(&tape), ["undo y", "undo x", "undo m"]);
    sound(&lab, engine).await;
}

async fn a_childs_compensations_see_what_its_steps_saw(lab: Lab) {
    let tape = Tape::default();
    let noted = tape.clone();
    let undo = move |undo: Undo<u32>, Input(base): Input<u32>, Item(item): Item<u32>| {
        noted.note(format!("undo {item} of {base} with {:?}", undo.result));
        async { Ok::<_, StepError>(()) }
    };
    let charge =
        |Input(base): Input<u32>, Item(item): Item<u32>| async move { Ok::<_, StepError>(base * item) };
    let charge = charge.named("charge").compensate(undo.named("refund"));
    let child = Workflow::new("child")
        .input::<u32>()
        .for_each("all", says("list", vec![1_u32, 2]), |each| each.body(|body| body.step(charge)))
        .build()
        .unwrap();
    let ask = |durable: Durable| async move {
        let _: Value = durable.run("child", 10_u32).await?;
        Ok::<_, StepError>(())
    };
    let parent = Workflow::new("parent").step(ask.named("ask")).step(tape.failing("bad")).build().unwrap();
    let engine = engine(&lab, &[&parent.into(), &child.into()]).await;
    finish(&engine, "r").await;
    assert_eq!(undone(&tape), ["undo 2 of 10 with Some(20)", "undo 1 of 10 with Some(10)"]);
}

async fn what_a_child_cannot_undo_is_told_to_its_parent(lab: Lab) {
    let tape = Tape::default();
    let stuck = || async { Err::<(), _>(StepError::stop("the bank is closed")) };
    let x = tape.step("x").compensate(stuck.named("stuck"));
    let child = Workflow::new("child").step(x).build().unwrap();
    let engine = engine(&lab, &[&parent(&tape), &child.into()]).await;
    let outcome = finish(&engine, "r").await;
    let [not_undone] = &outcome.not_undone[..] else { panic!("{:?}", outcome.not_undone) };
    assert_eq!((not_undone.node.as_str(), not_undone.failure.code.as_str()), ("ask", "not_undone"));
    assert_eq!(not_undone.failure.message, "`x` of run `r~c1` could not be undone: the bank is closed");
    assert_eq!(undone(&tape), ["undo b", "undo a"]);
    sound(&lab, engine).await;
}

async fn a_child_with_nothing_to_undo_needs_no_run(lab: Lab) {
    let tape = Tape::default();
    let child = Workflow::new("child").step(tape.step("x")).build().unwrap();
    let engine = engine(&lab, &[&parent(&tape), &child.into()]).await;
    finish(&engine, "r").await;
    assert_eq!(ids(&engine).await, ["r failed", "r~c1 completed"]);
}

async fn a_cancelled_parent_undoes_its_children(lab: Lab) {
    let tape = Tape::default();
    let steps = (asks("ask", "child"), delay_step(Duration::from_secs(60)));
    let parent = Workflow::new("parent").steps(steps).build().unwrap();
    let engine = engine(&lab, &[&parent.into(), &child(&tape)]).await;
    let run = engine.run("parent", ()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    run.cancel("enough").await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Cancelled);
    assert_eq!(undone(&tape), ["undo y", "undo x"]);
    sound(&lab, engine).await;
}

async fn a_killed_parent_undoes_no_child(lab: Lab) {
    let tape = Tape::default();
    let steps = (asks("ask", "child"), delay_step(Duration::from_secs(60)));
    let parent = Workflow::new("parent").steps(steps).build().unwrap();
    let engine = engine(&lab, &[&parent.into(), &child(&tape)]).await;
    let run = engine.run("parent", ()).id("r").await.unwrap();
    engine.come_to_rest().await.unwrap();
    run.kill("now").await.unwrap();
    assert_eq!(ids(&engine).await, ["r cancelled", "r~c1 completed"]);
    assert!(undone(&tape).is_empty());
}

async fn a_child_of_a_branch_that_lost_is_undone_while_the_run_goes_on(lab: Lab) {
    let tape = Tape::default();
    let parent = Workflow::new("parent")
        .parallel("race", |race| {
            race.branch("slow", |b| b.step(asks("ask", "child")).step(delay_step(Duration::from_secs(60))))
                .branch("fast", |b| b.step(delay_step(Duration::from_secs(1))))
                .join(Join::First)
        })
        .step(delay_step(Duration::from_secs(60)).named("last"))
        .build()
        .unwrap();
    let engine = engine(&lab, &[&parent.into(), &child(&tape)]).await;
    let run = engine.run("parent", ()).await.unwrap();
    engine.advance(Duration::from_secs(1)).await.unwrap();
    assert_eq!(undone(&tape), ["undo y", "undo x"]);
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Waiting);
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Completed);
    sound(&lab, engine).await;
}

async fn a_retry_asks_an_undone_child_again(lab: Lab) {
    let tape = Tape::default();
    let engine = engine(&lab, &[&parent(&tape), &child(&tape)]).await;
    finish(&engine, "r").await;
    let again = engine.retry(&RunId::from("r")).await.unwrap();
    engine.finish(again.id()).await.unwrap();
    assert_eq!(tape.count("x"), 2);
    assert_eq!(tape.count("undo x"), 2);
    sound(&lab, engine).await;
}

async fn a_child_of_a_live_run_is_not_removed_and_is_undone(lab: Lab) {
    let tape = Tape::default();
    let steps = (asks("ask", "child"), delay_step(Duration::from_secs(60)), tape.failing("bad"));
    let parent = Workflow::new("parent").steps(steps).build().unwrap();
    let engine = engine(&lab, &[&parent.into(), &child(&tape)]).await;
    let run = engine.run("parent", ()).id("r").await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert_eq!(lab.store().purge(engine.now().plus_ms(1), 10).await.unwrap(), 0);
    let outcome = engine.finish(run.id()).await.unwrap();
    assert!(outcome.not_undone.is_empty(), "{outcome:?}");
    assert_eq!(engine.status(&"r~c1~undo".into()).await.unwrap(), RunStatus::Cancelled);
}

async fn a_parent_says_what_undoes_its_child(lab: Lab) {
    let tape = Tape::default();
    let gate = Gate::default();
    let held = gate.clone();
    let undo = move || {
        let gate = held.clone();
        async move {
            gate.pass().await;
            Ok::<_, StepError>(())
        }
    };
    let child = Workflow::new("child").step(tape.step("x").compensate(undo.named("undo"))).build().unwrap();
    let steps = (asks("ask", "child"), tape.failing("bad"));
    let parent = Workflow::new("parent").steps(steps).build().unwrap();
    let engine = engine(&lab, &[&parent.into(), &child.into()]).await;
    let run = engine.run("parent", ()).id("r").await.unwrap();
    gate.arrived(1).await;
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Compensating);
    assert_eq!(
        engine.explain(run.id()).await.unwrap(),
        "run `r` waits for the run `r~c1~undo`, which undoes a child"
    );
    gate.open();
    engine.finish(run.id()).await.unwrap();
}

async fn a_crash_after_any_commit_undoes_all_the_same(lab: Lab) {
    let tape = Tape::default();
    for commits in 0.. {
        let id = format!("r{commits}");
        let (run, made) = (id.clone(), tape.clone());
        let cut_short = lab
            .life(move |lab| async move {
                let engine = engine(&lab, &[&parent(&made), &child(&made)]).await;
                let dead = rival::StoreError::Poisoned("the process is dead".into());
                lab.store().fail_commits(commits, 100, &dead);
                engine.run("parent", ()).id(run.as_str()).await.unwrap();
                engine.come_to_rest().await.unwrap();
                lab.store().failures_left() < 100
            })
            .await;
        let engine = engine(&lab, &[&parent(&tape), &child(&tape)]).await;
        let outcome = engine.finish(&RunId::from(id.as_str())).await.unwrap();
        assert_eq!(outcome.status, RunStatus::Failed, "after {commits} commits");
        assert!(outcome.not_undone.is_empty(), "after {commits} commits");
        let undo = engine.get(&RunId::from(format!("{id}~c1~undo"))).await.unwrap();
        assert_eq!(undo.status, RunStatus::Cancelled, "after {commits} commits");
        sound(&lab, engine).await;
        if !cut_short {
            assert!(commits > 8, "{commits} commits cannot be all");
            return;
        }
    }
}
