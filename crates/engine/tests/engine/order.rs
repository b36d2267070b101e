//! Steps one after the other: results, failures, skips, states.

use rival::prelude::*;
use rival::{NodeStatus, RunOutcome, RunStatus};
use serde_json::json;

use crate::lab::{Lab, facts, told};
use crate::steps::{Tape, failure, output, results};

facts![
    steps_run_in_order,
    a_hard_failure_names_its_step_and_stops_the_run,
    a_soft_failure_in_the_middle_lets_the_run_go_on,
    a_soft_failure_at_the_end_completes_the_run,
    continue_on_error_makes_any_failure_soft,
    a_soft_failure_comes_after_the_attempts,
    a_skipped_step_lets_the_run_go_on,
    state_is_recorded_on_success_and_on_failure,
    state_is_fresh_at_each_attempt,
    nothing_returned_is_null,
    a_panic_is_a_failure,
    a_panic_of_a_blocking_function_is_a_failure,
    a_panic_is_retried_like_any_error,
    blocking_functions_leave_the_async_threads_alone,
    resources_reach_the_steps,
];

async fn steps_run_in_order(lab: Lab) {
    let tape = Tape::default();
    let steps = (tape.step("a"), tape.step("b"), tape.step("c"));
    let workflow = Workflow::new("w").steps(steps).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["a", "b", "c"]);
    let expected = [
        "runStarted",
        "callStarted a#1",
        "callSucceeded a#1",
        "callStarted b#1",
        "callSucceeded b#1",
        "callStarted c#1",
        "callSucceeded c#1",
        "runCompleted",
    ];
    assert_eq!(told(&engine, run.id()).await, expected);
}

async fn a_hard_failure_names_its_step_and_stops_the_run(lab: Lab) {
    let tape = Tape::default();
    let steps = (tape.step("a"), tape.failing("b"), tape.step("c"));
    let workflow = Workflow::new("w").steps(steps).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(failure(&outcome), "b: b failed in attempt 1");
    assert_eq!(tape.entries(), ["a", "b"]);
    assert_eq!(outcome.result("b").unwrap().status, NodeStatus::Failed);
    assert!(outcome.result("c").is_none() && outcome.output.is_none());
}

async fn a_soft_failure_in_the_middle_lets_the_run_go_on(lab: Lab) {
    let tape = Tape::default();
    let soft = tape.doing("soft", |_| Err(StepError::proceed("never mind")));
    let workflow = Workflow::new("w").step(soft).step(tape.step("b")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(output(&outcome), 1);
    assert_eq!(outcome.result("soft").unwrap().status, NodeStatus::Failed);
    assert!(outcome.error.is_none() && outcome.failed_step.is_none());
    let view = engine.get(run.id()).await.unwrap();
    assert_eq!(view.steps[0].error.as_ref().unwrap().failure.message, "never mind");
}

async fn a_soft_failure_at_the_end_completes_the_run(lab: Lab) {
    let tape = Tape::default();
    let soft = tape.doing("soft", |_| Err(StepError::proceed("never mind")));
    let workflow = Workflow::new("w").step(tape.step("a")).step(soft).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), json!(null));
}

async fn continue_on_error_makes_any_failure_soft(lab: Lab) {
    let tape = Tape::default();
    let plain = tape.failing("plain").continue_on_error();
    let stop = tape.doing("stop", |_| Err(StepError::stop("no"))).continue_on_error();
    let workflow = Workflow::new("w").step(plain).step(stop).step(tape.step("c")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["plain", "stop", "c"]);
}

async fn a_soft_failure_comes_after_the_attempts(lab: Lab) {
    let tape = Tape::default();
    let soft = tape.failing("soft").retry(3).continue_on_error();
    let workflow = Workflow::new("w").step(soft).step(tape.step("b")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Completed);
    assert_eq!(tape.entries(), ["soft", "soft", "soft", "b"]);
}

async fn a_skipped_step_lets_the_run_go_on(lab: Lab) {
    async fn skips(state: State) -> Result<u32, StepError> {
        state.skip();
        state.describe("nothing to do");
        Ok(7)
    }
    async fn after(steps: Steps, last: LastStep) -> Result<u32, StepError> {
        assert_eq!(steps.find("skips").await?.unwrap().status(), NodeStatus::Skipped);
        last.get()
    }
    let workflow = Workflow::new("w").step(skips).step(after).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(output(&outcome), 7);
    let skipped = json!({
        "result": 7, "status": "skipped", "state": { "description": "nothing to do", "skipped": true },
    });
    assert_eq!(results(&outcome)["skips"], skipped);
}

async fn state_is_recorded_on_success_and_on_failure(lab: Lab) {
    async fn good(state: State) -> Result<(), StepError> {
        state.set("seen", 3)?;
        state.describe("saw three");
        Ok(())
    }
    async fn bad(state: State) -> Result<(), StepError> {
        state.set("reached", "half")?;
        Err(StepError::new("no further"))
    }
    let workflow = Workflow::new("w").step(good).step(bad).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    let expected = json!({
        "good": { "result": null, "state": { "seen": 3, "description": "saw three" }, "status": "completed" },
        "bad": { "result": null, "state": { "reached": "half" }, "status": "failed" },
    });
    assert_eq!(results(&outcome), expected);
    let view = engine.get(run.id()).await.unwrap();
    assert_eq!(view.steps[1].state.to_json(), json!({ "reached": "half" }));
}

async fn state_is_fresh_at_each_attempt(lab: Lab) {
    async fn flaky(state: State, run: Run) -> Result<(), StepError> {
        assert_eq!(state.get::<u32>("first"), None);
        if run.attempt() == 1 {
            state.set("first", 1)?;
            return Err(StepError::new("again"));
        }
        state.set("second", 2)
    }
    let workflow = Workflow::new("w").step(flaky.retry(2)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(results(&outcome)["flaky"]["state"], json!({ "second": 2 }));
}

async fn nothing_returned_is_null(lab: Lab) {
    async fn nothing() -> Result<(), StepError> {
        Ok(())
    }
    let workflow = Workflow::new("w").step(nothing).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), json!(null));
    run.output().await.unwrap();
}

async fn a_panic_is_a_failure(lab: Lab) {
    async fn panics() -> Result<(), StepError> {
        panic!("a branch fell")
    }
    let workflow = Workflow::new("w").step(panics).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert!(failure(&outcome).contains("a branch fell"), "{outcome:?}");
    assert_eq!(place(&outcome), (Some(file!()), Some(line!() - 7)));
    assert_eq!(outcome.error.unwrap().code, "panic");
}

/// The file and the line of a run's failure.
fn place(outcome: &RunOutcome) -> (Option<&str>, Option<u32>) {
    let origin = outcome.error.as_ref().and_then(|error| error.origin.as_deref()).expect("it has an origin");
    (origin.file.as_deref(), origin.line)
}

async fn a_panic_of_a_blocking_function_is_a_failure(lab: Lab) {
    fn panics() -> Result<(), StepError> {
        panic!("a branch fell")
    }
    let workflow = Workflow::new("w").step(panics).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert!(failure(&outcome).contains("a branch fell"), "{outcome:?}");
    assert_eq!(place(&outcome), (Some(file!()), Some(line!() - 7)));
    assert_eq!(outcome.error.unwrap().code, "panic");
}

async fn a_panic_is_retried_like_any_error(lab: Lab) {
    let flaky =
        Tape::default().doing("flaky", |attempt| if attempt < 3 { panic!("again") } else { Ok(attempt) });
    let workflow = Workflow::new("w").step(flaky.retry(3)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 3);
}

/// More blocking steps than async threads wait for one another: only threads of their own let them all arrive.
async fn blocking_functions_leave_the_async_threads_alone(lab: Lab) {
    let meeting = std::sync::Arc::new(std::sync::Barrier::new(8));
    let meet = move || {
        meeting.wait();
        Ok::<_, StepError>(())
    };
    let workflow = Workflow::new("w").step(meet.named("meet")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let mut runs = Vec::new();
    for _ in 0..8 {
        runs.push(engine.run(&workflow, ()).await.unwrap());
    }
    for run in runs {
        run.output().await.unwrap();
    }
}

async fn resources_reach_the_steps(lab: Lab) {
    async fn asks(greeting: Res<String>) -> Result<String, StepError> {
        Ok(greeting.to_string())
    }
    let workflow = Workflow::new("w").step(asks).build().unwrap();
    let engine = lab.builder().provide("hello".to_owned()).workflow(&workflow).build().await.unwrap();
    let run = engine.run(&workflow, ()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), "hello");
}
