//! Runs whose workflow is gone, or whose history does not read: they can be ended, and then removed.

use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{RunId, RunStatus, Store, StoreError, signal};
use rival_engine::verify;

use crate::lab::{Lab, facts, told, until_status};
use crate::steps::{Tape, output};

facts![
    a_run_without_its_workflow_is_cancelled,
    a_run_without_its_workflow_is_killed,
    a_run_without_its_workflow_is_cancelled_by_the_next_engine,
    what_cannot_be_undone_without_the_workflow_waits_for_it,
    a_kill_ends_what_cannot_be_undone,
    a_run_whose_history_does_not_read_is_killed_and_removed,
    a_run_whose_history_does_not_read_refuses_everything_else,
    a_parent_goes_on_when_its_damaged_child_is_killed,
    children_are_killed_with_their_damaged_parent,
];

const HOUR: Duration = Duration::from_secs(3_600);

fn sleepy() -> Workflow<(), ()> {
    Workflow::new("w").step(delay_step(HOUR)).build().unwrap()
}

fn paid(tape: &Tape) -> Workflow<(), ()> {
    let (pay, refund) = (tape.step("pay"), tape.step("refund"));
    Workflow::new("w").step(pay.compensate(refund)).step(delay_step(HOUR)).build().unwrap()
}

/// A run that was begun in an earlier life.
async fn left(lab: &Lab, workflow: &Workflow<(), ()>) -> RunId {
    let life = async |engine: TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        engine.come_to_rest().await.unwrap();
        run
    };
    lab.life_of(workflow, life).await
}

async fn without_workflows(lab: &Lab) -> TestEngine {
    lab.builder().build().await.unwrap()
}

async fn a_run_without_its_workflow_is_cancelled(lab: Lab) {
    let run = left(&lab, &sleepy()).await;
    let engine = without_workflows(&lab).await;
    assert_eq!(engine.cancel(&run, "enough").await.unwrap(), RunStatus::Cancelled);
    assert!(verify::check_store(&*lab.store()).await.unwrap().is_sound());
}

async fn a_run_without_its_workflow_is_killed(lab: Lab) {
    let run = left(&lab, &paid(&Tape::default())).await;
    let engine = without_workflows(&lab).await;
    assert_eq!(engine.kill(&run, "enough").await.unwrap(), RunStatus::Cancelled);
    assert!(verify::check_store(&*lab.store()).await.unwrap().is_sound());
}

/// The request was left by a tool, and no caller waits for its answer.
async fn a_run_without_its_workflow_is_cancelled_by_the_next_engine(lab: Lab) {
    let run = left(&lab, &sleepy()).await;
    let tool = Engine::builder().store(lab.store()).clock(rival::Clock::Virtual(lab.clock.clone())).passive();
    tool.build().await.unwrap().cancel(&run, "enough").await.unwrap();
    let engine = without_workflows(&lab).await;
    until_status(&engine, &run, RunStatus::Cancelled).await;
}

async fn what_cannot_be_undone_without_the_workflow_waits_for_it(lab: Lab) {
    let tape = Tape::default();
    let run = left(&lab, &paid(&tape)).await;
    let engine = without_workflows(&lab).await;
    engine.cancel(&run, "enough").await.unwrap();
    until_status(&engine, &run, RunStatus::Blocked).await;
    let note = engine.summary(&run).await.unwrap().note.unwrap();
    assert!(note.contains("needs the function `refund`"), "{note}");
    engine.register(paid(&tape)).await.unwrap();
    until_status(&engine, &run, RunStatus::Cancelled).await;
    assert_eq!(tape.entries(), ["pay", "refund"]);
}

async fn a_kill_ends_what_cannot_be_undone(lab: Lab) {
    let run = left(&lab, &paid(&Tape::default())).await;
    let engine = without_workflows(&lab).await;
    engine.cancel(&run, "enough").await.unwrap();
    until_status(&engine, &run, RunStatus::Blocked).await;
    assert_eq!(engine.kill(&run, "really").await.unwrap(), RunStatus::Cancelled);
    assert_eq!(told(&engine, &run).await.last().unwrap(), "runCancelled");
}

/// As the store says it: what it keeps of the run contradicts itself.
fn damage(lab: &Lab, times: usize) {
    for _ in 0..times {
        lab.store().fail_next_load(StoreError::Damaged("a page is not what was written".into()));
    }
}

async fn a_run_whose_history_does_not_read_is_killed_and_removed(lab: Lab) {
    let engine = lab.engine(&sleepy()).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    engine.come_to_rest().await.unwrap();
    damage(&lab, 1);
    assert_eq!(engine.kill(&run, "enough").await.unwrap(), RunStatus::Cancelled);
    let row = engine.summary(&run).await.unwrap();
    let note =
        "killed (enough) without a look at its history: the store is damaged: a page is not what was written";
    assert_eq!((row.status, row.note.as_deref()), (RunStatus::Cancelled, Some(note)));
    // A caller that repeats the request gets the same answer.
    assert_eq!(engine.kill(&run, "enough").await.unwrap(), RunStatus::Cancelled);
    let report = verify::check_store(&*lab.store()).await.unwrap();
    assert!(!report.is_sound());
    let told = report.breaches[0].to_string();
    assert!(told.contains("it was killed without a look at its history"), "{told}");
    let ended = row.ended_at.unwrap().plus_ms(1);
    assert_eq!(lab.store().purge(ended, 10).await.unwrap(), 1);
}

async fn a_run_whose_history_does_not_read_refuses_everything_else(lab: Lab) {
    let engine = lab.engine(&sleepy()).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    engine.come_to_rest().await.unwrap();
    damage(&lab, 3);
    assert_eq!(engine.cancel(&run, "enough").await.unwrap_err().code(), "run_unreachable");
    assert_eq!(engine.signal(&run, "word", 1).await.unwrap_err().code(), "run_unreachable");
    assert_eq!(engine.resume(&run).await.unwrap_err().code(), "run_unreachable");
    assert!(lab.store().messages(&run).await.unwrap().is_empty(), "what was refused is not acted on later");
    // It reads again, and nothing has changed.
    assert_eq!(engine.pause(&run).await.unwrap(), RunStatus::Paused);
}

fn family() -> (Workflow<(), String>, Workflow<(), u32>) {
    let child: Workflow<(), u32> = Workflow::new("child").step(signal::<u32>("go")).build().unwrap();
    let asked = child.clone();
    let parent = move |durable: Durable| {
        let child = asked.clone();
        async move {
            Ok::<_, StepError>(match durable.run(&child, ()).await {
                Ok(_) => "completed".to_owned(),
                Err(error) => error.failure.code,
            })
        }
    };
    (Workflow::new("parent").step(parent.named("parent")).build().unwrap(), child)
}

async fn a_parent_goes_on_when_its_damaged_child_is_killed(lab: Lab) {
    let (parent, child) = family();
    let engine = lab.builder().workflow(&parent).workflow(&child).build().await.unwrap();
    let run = engine.run(&parent, ()).id("p").await.unwrap();
    engine.come_to_rest().await.unwrap();
    damage(&lab, 1);
    engine.kill(&"p~c1".into(), "enough").await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), "child_cancelled");
}

async fn children_are_killed_with_their_damaged_parent(lab: Lab) {
    let (parent, child) = family();
    let engine = lab.builder().workflow(&parent).workflow(&child).build().await.unwrap();
    let run = engine.run(&parent, ()).id("p").await.unwrap().id().clone();
    // The parent is released, so that it must be loaded.
    engine.advance(Duration::from_secs(11)).await.unwrap();
    assert!(engine.active_runs().is_empty());
    damage(&lab, 1);
    assert_eq!(engine.kill(&run, "enough").await.unwrap(), RunStatus::Cancelled);
    until_status(&engine, &"p~c1".into(), RunStatus::Cancelled).await;
}
