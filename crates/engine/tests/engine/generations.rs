//! Workflows that are replaced while their runs are under way.

use std::sync::{Arc, Weak};
use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{RegisterError, RunId, RunStatus, StartError};

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape, gives, output};

facts![
    a_run_keeps_the_functions_that_it_began_with,
    a_developers_engine_calls_the_newest_functions,
    replacing_registers_what_is_new,
    children_take_the_newest,
    forks_take_the_newest,
    a_run_from_before_the_process_takes_the_first,
    a_retired_workflow_is_not_started_and_its_runs_go_on,
    a_retired_workflow_can_be_registered_again,
    a_run_that_retries_itself_finds_the_functions_of_its_plan,
    a_restored_function_lets_a_run_of_an_older_process_go_on,
    a_broken_definition_changes_nothing,
    definitions_are_kept_for_as_long_as_a_run_may_need_them,
    a_start_that_is_under_way_takes_the_new_definition,
];

const HOUR: Duration = Duration::from_secs(3_600);

/// A workflow that sleeps for an hour and then gives this.
fn giving(result: u32) -> Workflow<(), u32> {
    Workflow::new("w").step(delay_step(HOUR)).step(gives("last", result)).build().unwrap()
}

async fn asleep(engine: &TestEngine) -> RunId {
    let run = engine.run("w", ()).await.unwrap().id().clone();
    engine.come_to_rest().await.unwrap();
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Waiting);
    run
}

async fn output_of(engine: &TestEngine, run: &RunId) -> serde_json::Value {
    output(&engine.finish(run).await.unwrap())
}

async fn a_run_keeps_the_functions_that_it_began_with(lab: Lab) {
    let engine = lab.engine(giving(1)).await;
    // All in one moment: the clock tells nothing.
    let first = asleep(&engine).await;
    engine.replace(&giving(2)).await.unwrap();
    let second = asleep(&engine).await;
    engine.replace(&giving(3)).await.unwrap();
    let third = asleep(&engine).await;
    assert_eq!(output_of(&engine, &third).await, 3);
    assert_eq!(output_of(&engine, &second).await, 2);
    assert_eq!(output_of(&engine, &first).await, 1);
}

async fn a_developers_engine_calls_the_newest_functions(lab: Lab) {
    let builder = lab.builder().configure(rival::EngineBuilder::newest_functions);
    let engine = builder.workflow(giving(1)).build().await.unwrap();
    let run = asleep(&engine).await;
    engine.replace(&giving(2)).await.unwrap();
    // A definition without the function that the plan of the run names changes nothing for it.
    let other = Workflow::new("w").step(gives("other", 3)).build().unwrap();
    let renamed = asleep(&engine).await;
    assert_eq!(output_of(&engine, &run).await, 2);
    engine.replace(&other).await.unwrap();
    assert_eq!(output_of(&engine, &renamed).await, 2);
}

async fn replacing_registers_what_is_new(lab: Lab) {
    let engine = lab.builder().build().await.unwrap();
    engine.replace(&giving(1)).await.unwrap();
    let error = engine.register(&giving(2)).await.unwrap_err();
    assert!(matches!(error, RegisterError::Duplicate(_)), "{error}");
    assert_eq!(engine.list().len(), 1);
    let run = asleep(&engine).await;
    assert_eq!(output_of(&engine, &run).await, 1);
}

async fn children_take_the_newest(lab: Lab) {
    let child = giving(1);
    let asks = |durable: Durable| async move {
        durable.sleep(HOUR).await?;
        durable.run("w", ()).await
    };
    let parent = Workflow::new("parent").step(asks.named("asks")).build().unwrap();
    let engine = lab.builder().workflow(&child).workflow(&parent).build().await.unwrap();
    let run = engine.run(&parent, ()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    engine.replace(&giving(2)).await.unwrap();
    assert_eq!(output_of(&engine, run.id()).await, 2);
}

async fn forks_take_the_newest(lab: Lab) {
    let engine = lab.engine(giving(1)).await;
    let run = asleep(&engine).await;
    assert_eq!(output_of(&engine, &run).await, 1);
    engine.replace(&giving(2)).await.unwrap();
    let fork = engine.fork(&run).from("last").await.unwrap();
    assert_eq!(output_of(&engine, fork.id()).await, 2);
}

async fn a_run_from_before_the_process_takes_the_first(lab: Lab) {
    let run = lab.life_of(giving(1), async |engine: TestEngine| asleep(&engine).await).await;
    let engine = lab.engine(giving(2)).await;
    engine.replace(&giving(3)).await.unwrap();
    assert_eq!(output_of(&engine, &run).await, 2);
}

async fn a_retired_workflow_is_not_started_and_its_runs_go_on(lab: Lab) {
    let engine = lab.engine(giving(1)).await;
    let run = asleep(&engine).await;
    assert!(engine.retire("w").await.unwrap());
    assert!(!engine.retire("w").await.unwrap());
    assert!(engine.list().is_empty());
    let error = engine.run("w", ()).await.unwrap_err();
    assert!(matches!(error, StartError::UnknownWorkflow { .. }), "{error}");
    assert_eq!(output_of(&engine, &run).await, 1);
    let error = engine.fork(&run).from("last").await.unwrap_err();
    assert!(matches!(error, StartError::UnknownWorkflow { .. }), "{error}");
}

async fn a_retired_workflow_can_be_registered_again(lab: Lab) {
    let engine = lab.engine(giving(1)).await;
    let first = asleep(&engine).await;
    engine.retire("w").await.unwrap();
    engine.register(&giving(2)).await.unwrap();
    let second = asleep(&engine).await;
    assert_eq!(output_of(&engine, &second).await, 2);
    assert_eq!(output_of(&engine, &first).await, 1);
}

async fn a_run_that_retries_itself_finds_the_functions_of_its_plan(lab: Lab) {
    let tape = Tape::default();
    let noted = tape.clone();
    let flaky = tape.doing("flaky", move |_| match noted.count("flaky") {
        1 => Err(StepError::new("not yet")),
        _ => Ok(1),
    });
    let old = Workflow::new("w").max_retries(1).step(delay_step(HOUR)).step(flaky).build().unwrap();
    let engine = lab.engine(&old).await;
    let run = asleep(&engine).await;
    engine.replace(&giving(2)).await.unwrap();
    engine.finish(&run).await.unwrap();
    let retry = RunId::from(format!("{run}~1"));
    assert_eq!(output_of(&engine, &retry).await, 1);
}

async fn a_restored_function_lets_a_run_of_an_older_process_go_on(lab: Lab) {
    let run = lab.life_of(giving(1), async |engine: TestEngine| asleep(&engine).await).await;
    let other = Workflow::new("w").step(gives("renamed", 0)).build().unwrap();
    let engine = lab.engine(&other).await;
    engine.advance(HOUR).await.unwrap();
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Blocked);
    engine.replace(&giving(2)).await.unwrap();
    assert_eq!(output_of(&engine, &run).await, 2);
}

async fn a_broken_definition_changes_nothing(lab: Lab) {
    let engine = lab.engine(giving(1)).await;
    let mut broken = giving(2).definition();
    broken.functions.remove("last");
    let error = engine.replace(broken).await.unwrap_err();
    assert!(matches!(error, RegisterError::FunctionMissing { .. }), "{error}");
    let run = asleep(&engine).await;
    assert_eq!(output_of(&engine, &run).await, 1);
}

/// The same, and something that lives as long as its function.
fn watched(result: u32) -> (Workflow<(), u32>, Weak<()>) {
    let life = Arc::new(());
    let weak = Arc::downgrade(&life);
    let last = move || {
        let _life = Arc::clone(&life);
        std::future::ready(Ok::<_, StepError>(result))
    };
    (Workflow::new("w").step(delay_step(HOUR)).step(last.named("last")).build().unwrap(), weak)
}

async fn definitions_are_kept_for_as_long_as_a_run_may_need_them(lab: Lab) {
    let (first, first_lives) = watched(1);
    let engine = lab.engine(first).await;
    let (second, second_lives) = watched(2);
    engine.replace(second).await.unwrap();
    assert!(first_lives.upgrade().is_none(), "no run was begun with it");
    let run = asleep(&engine).await;
    engine.replace(&giving(3)).await.unwrap();
    engine.replace(&giving(4)).await.unwrap();
    assert!(second_lives.upgrade().is_some(), "a run waits that needs it");
    assert_eq!(output_of(&engine, &run).await, 2);
    engine.retire("w").await.unwrap();
    assert!(second_lives.upgrade().is_none(), "its last run has ended");
}

/// Input checks that wait at a gate are in `input_check.rs`; this one is replaced while it waits.
async fn a_start_that_is_under_way_takes_the_new_definition(lab: Lab) {
    let gate = Gate::default();
    let mut slow = giving(1).definition();
    slow.input_check = Some(Arc::new(crate::input_check::At(gate.clone())));
    let engine = lab.engine(slow).await;
    let starts = engine.clone();
    let started = tokio::spawn(async move { starts.run("w", ()).await.unwrap().id().clone() });
    gate.arrived(1).await;
    engine.replace(&giving(2)).await.unwrap();
    gate.open();
    let run = started.await.unwrap();
    assert_eq!(output_of(&engine, &run).await, 2);
}
