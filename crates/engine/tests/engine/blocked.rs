//! Values that cannot be recorded or read, and code that is gone.

use rival::prelude::*;
use rival::{NodeStatus, RunId, RunStatus, TypedStep};

use crate::lab::{Lab, facts, told};
use crate::steps::{Tape, failure, output};

facts![
    a_result_that_is_too_large_ends_the_step,
    a_state_that_is_too_large_ends_the_step,
    a_result_that_is_not_a_number_ends_the_step,
    a_value_that_does_not_decode_blocks_the_step,
    resume_looks_again_and_blocks_again,
    a_mended_type_lets_the_run_go_on,
    a_missing_function_blocks_the_step,
    a_function_that_is_back_lets_the_run_go_on,
    new_runs_take_the_new_plan_and_old_ones_keep_theirs,
    a_run_without_its_workflow_is_blocked_and_says_so,
    registering_the_workflow_lets_the_run_go_on,
];

async fn a_result_that_is_too_large_ends_the_step(lab: Lab) {
    let tape = Tape::default();
    let noted = tape.clone();
    let large = move || {
        noted.note("large");
        async { Ok::<_, StepError>("x".repeat(100)) }
    };
    let workflow = Workflow::new("w").step(large.named("large").retry(3)).build().unwrap();
    let builder = lab.builder().configure(|it| it.max_payload_bytes(100)).workflow(&workflow);
    let outcome = {
        let engine = builder.build().await.unwrap();
        let run = engine.run(&workflow, ()).await.unwrap();
        engine.finish(run.id()).await.unwrap()
    };
    assert!(failure(&outcome).starts_with("large: the result of `large` has 102 bytes"), "{outcome:?}");
    assert_eq!((outcome.error.unwrap().code.as_str(), tape.count("large")), ("payload_too_large", 1));
}

async fn a_state_that_is_too_large_ends_the_step(lab: Lab) {
    let large = |state: State| async move { state.set("x", "x".repeat(100)) };
    let workflow = Workflow::new("w").step(large.named("large")).build().unwrap();
    let builder = lab.builder().configure(|it| it.max_payload_bytes(100)).workflow(&workflow);
    let engine = builder.build().await.unwrap();
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().error.unwrap().code, "payload_too_large");
}

async fn a_result_that_is_not_a_number_ends_the_step(lab: Lab) {
    let nan = || async { Ok::<_, StepError>(f64::NAN) };
    let workflow = Workflow::new("w").step(nan.named("nan").retry(3)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().error.unwrap().code, "not_json");
    assert_eq!(engine.get(run.id()).await.unwrap().steps[0].calls, 1);
}

/// A workflow whose second step reads what the first gave as a `T`.
fn reading<T: rival::Data + std::fmt::Debug>() -> Workflow<(), String> {
    let text = || async { Ok::<_, StepError>("seven".to_owned()) };
    let reads = |last: LastStep| async move { Ok::<_, StepError>(format!("{:?}", last.get::<T>()?)) };
    Workflow::new("w").step(text.named("text")).step(reads.named("reads")).build().unwrap()
}

async fn a_value_that_does_not_decode_blocks_the_step(lab: Lab) {
    let engine = lab.engine(reading::<u32>()).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    let view = engine.get(run.id()).await.unwrap();
    assert_eq!((view.status, view.steps[1].status), (RunStatus::Blocked, NodeStatus::Blocked));
    let note = view.note.unwrap();
    assert!(note.contains("`reads` cannot read a recorded value") && note.contains("u32"), "{note}");
    assert!(engine.active_runs().is_empty());
}

async fn resume_looks_again_and_blocks_again(lab: Lab) {
    let engine = lab.engine(reading::<u32>()).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    engine.resume(run.id()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Blocked);
    let told = told(&engine, run.id()).await;
    assert_eq!(told.iter().filter(|line| *line == "nodeBlocked reads").count(), 2, "{told:?}");
}

async fn a_mended_type_lets_the_run_go_on(lab: Lab) {
    let life = async |engine: rival::testing::TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        engine.come_to_rest().await.unwrap();
        assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Blocked);
        run
    };
    let run = lab.life_of(reading::<u32>(), life).await;
    let engine = lab.engine(reading::<String>()).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), "\"seven\"");
}

/// A workflow that sleeps for a second and then calls this step.
fn late(step: TypedStep<u32>) -> Workflow<(), u32> {
    let delay = delay_step(std::time::Duration::from_secs(1));
    Workflow::new("w").step(delay).step(step).build().unwrap()
}

/// A run of the first version, which falls asleep in its own life.
async fn asleep(lab: &Lab, tape: &Tape) -> RunId {
    let life = async |engine: rival::testing::TestEngine| engine.run("w", ()).await.unwrap().id().clone();
    lab.life_of(late(tape.step("old")), life).await
}

async fn a_missing_function_blocks_the_step(lab: Lab) {
    let tape = Tape::default();
    let run = asleep(&lab, &tape).await;
    let engine = lab.engine(late(tape.step("new"))).await;
    engine.advance(std::time::Duration::from_secs(1)).await.unwrap();
    let view = engine.get(&run).await.unwrap();
    assert_eq!((view.status, view.steps[1].status), (RunStatus::Blocked, NodeStatus::Blocked));
    let note = "`old` needs the function `old`, which its workflow no longer has; put it back into the workflow, and the run goes on";
    assert_eq!(view.note.as_deref(), Some(note));
}

async fn a_function_that_is_back_lets_the_run_go_on(lab: Lab) {
    let tape = Tape::default();
    let run = asleep(&lab, &tape).await;
    let life = async |engine: rival::testing::TestEngine| {
        engine.advance(std::time::Duration::from_secs(1)).await.unwrap();
    };
    lab.life_of(late(tape.step("new")), life).await;
    let engine = lab.engine(late(tape.step("old"))).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["old"]);
}

async fn new_runs_take_the_new_plan_and_old_ones_keep_theirs(lab: Lab) {
    let tape = Tape::default();
    let old = asleep(&lab, &tape).await;
    let steps = (delay_step(std::time::Duration::from_secs(1)), tape.step("new"), tape.step("old"));
    let engine = lab.engine(Workflow::new("w").steps(steps).build().unwrap()).await;
    let new = engine.run("w", ()).await.unwrap();
    engine.finish(&old).await.unwrap();
    let outcome = engine.finish(new.id()).await.unwrap();
    assert_eq!(outcome.results.len(), 3);
    assert_eq!(engine.finish(&old).await.unwrap().results.len(), 2);
    assert_eq!((tape.count("old"), tape.count("new")), (2, 1));
}

async fn a_run_without_its_workflow_is_blocked_and_says_so(lab: Lab) {
    let run = asleep(&lab, &Tape::default()).await;
    let engine = lab.builder().build().await.unwrap();
    engine.advance(std::time::Duration::from_secs(1)).await.unwrap();
    let rows = engine.runs(&Default::default(), &Default::default()).await.unwrap();
    assert_eq!((rows[0].id.clone(), rows[0].status), (run, RunStatus::Blocked));
    assert_eq!(
        rows[0].note.as_deref(),
        Some(
            "workflow `w` is not here: the run goes on when its file is loaded, or its program registers it"
        )
    );
    assert!(engine.active_runs().is_empty());
}

async fn registering_the_workflow_lets_the_run_go_on(lab: Lab) {
    let tape = Tape::default();
    let run = asleep(&lab, &tape).await;
    let engine = lab.builder().build().await.unwrap();
    engine.advance(std::time::Duration::from_secs(1)).await.unwrap();
    engine.register(late(tape.step("old"))).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 1);
    let view = engine.get(&run).await.unwrap();
    assert_eq!((view.status, view.note), (RunStatus::Completed, None));
}
