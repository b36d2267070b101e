//! Timeouts of steps and of runs.

use std::time::Duration;

use rival::prelude::*;
use rival::{NodeStatus, RunStatus, TypedStep};

use crate::lab::{Lab, facts, next_moment, since_start, told};
use crate::steps::{Gate, Tape, failure, output};

facts![
    a_step_with_a_handler_is_stopped_when_it_times_out,
    a_timeout_stops_the_step,
    a_timeout_may_be_retried_and_then_succeed,
    timeouts_run_out_of_attempts,
    a_late_result_is_ignored,
    a_cooperative_step_is_told_and_may_clean_up,
    a_cooperative_step_is_dropped_after_the_grace_period,
    other_steps_are_dropped,
    a_soft_step_may_time_out,
    a_timeout_survives_a_crash,
    a_run_timeout_fails_the_run,
    a_run_timeout_ends_a_sleep,
    a_request_may_set_the_run_timeout,
    a_run_timeout_calls_the_handler,
];

const SECOND: Duration = Duration::from_secs(1);

/// Hangs at a gate in its first attempts.
fn hanging(gate: &Gate, attempts: u32) -> TypedStep<u32> {
    let gate = gate.clone();
    let function = move |run: Run| {
        let gate = gate.clone();
        async move {
            if run.attempt() <= attempts {
                gate.pass().await;
            }
            Ok::<_, StepError>(run.attempt())
        }
    };
    function.named("hangs")
}

async fn a_timeout_stops_the_step(lab: Lab) {
    let gate = Gate::default();
    let workflow = Workflow::new("w").step(hanging(&gate, 9).timeout(SECOND).retry(3)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    gate.arrived(1).await;
    lab.pass(SECOND);
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(failure(&outcome), "hangs: `hangs` took longer than 1000 ms");
    assert_eq!(outcome.error.unwrap().code, "timeout");
    assert_eq!(lab.elapsed(), 1_000);
}

async fn a_timeout_may_be_retried_and_then_succeed(lab: Lab) {
    let gate = Gate::default();
    let step = hanging(&gate, 2).timeout(SECOND).on_timeout_retry().retry(3);
    let workflow = Workflow::new("w").step(step).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    gate.arrived(1).await;
    lab.pass(SECOND);
    next_moment(&engine).await;
    gate.arrived(2).await;
    lab.pass(SECOND);
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), 3);
    // Two timeouts of a second each, then delays of one and two seconds.
    assert_eq!(lab.elapsed(), 5_000);
}

async fn timeouts_run_out_of_attempts(lab: Lab) {
    let gate = Gate::default();
    let step = hanging(&gate, 9).timeout(SECOND).on_timeout_retry().retry(2);
    let workflow = Workflow::new("w").step(step).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    gate.arrived(1).await;
    lab.pass(SECOND);
    next_moment(&engine).await;
    gate.arrived(2).await;
    lab.pass(SECOND);
    assert_eq!(failure(&engine.finish(run.id()).await.unwrap()), "hangs: `hangs` took longer than 1000 ms");
}

/// The first call settles only after the second one has given the result.
async fn a_late_result_is_ignored(lab: Lab) {
    let (first, second) = (Gate::default(), Gate::default());
    let (late, quick) = (first.clone(), second.clone());
    let step = move |run: Run, _told: Cancellation| {
        let (late, quick) = (late.clone(), quick.clone());
        async move {
            let gate = if run.call() == 1 { late } else { quick };
            gate.pass().await;
            Ok::<_, StepError>(run.call())
        }
    };
    let step = step.named("slow").timeout(SECOND).on_timeout_retry().retry(2);
    let workflow = Workflow::new("w").step(step).step(delay_step(SECOND * 60)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    first.arrived(1).await;
    lab.pass(SECOND);
    crate::lab::until_status(&engine, run.id(), RunStatus::Waiting).await;
    lab.pass(SECOND);
    second.arrived(1).await;
    first.open();
    second.open();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.result("slow").unwrap().result.as_ref().unwrap().to_json(), 2);
    let told = told(&engine, run.id()).await;
    assert_eq!(told.iter().filter(|line| line.contains("Succeeded")).count(), 1, "{told:?}");
}

/// A step that hangs at the first gate until it is told to end, then at the second while it cleans up.
fn polite(hangs: &Gate, cleans_up: &Gate) -> TypedStep<u32> {
    let (hangs, cleans_up) = (hangs.clone(), cleans_up.clone());
    let function = move |told: Cancellation| {
        let (hangs, cleans_up) = (hangs.clone(), cleans_up.clone());
        async move {
            tokio::select! {
                () = hangs.pass() => {}
                () = told.cancelled() => cleans_up.pass().await,
            }
            Ok::<_, StepError>(1_u32)
        }
    };
    function.named("polite")
}

/// Also when the run has ended with the timeout.
async fn a_cooperative_step_is_told_and_may_clean_up(lab: Lab) {
    let (hangs, cleans_up) = (Gate::default(), Gate::default());
    let workflow = Workflow::new("w").step(polite(&hangs, &cleans_up).timeout(SECOND)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    hangs.arrived(1).await;
    lab.pass(SECOND);
    assert_eq!(run.wait().await.unwrap().error.unwrap().code, "timeout");
    cleans_up.arrived(1).await;
    cleans_up.open();
    engine.settled().await;
}

async fn a_cooperative_step_is_dropped_after_the_grace_period(lab: Lab) {
    let (hangs, cleans_up) = (Gate::default(), Gate::default());
    let workflow = Workflow::new("w").step(polite(&hangs, &cleans_up).timeout(SECOND)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    hangs.arrived(1).await;
    lab.pass(SECOND);
    run.wait().await.unwrap();
    cleans_up.arrived(1).await;
    lab.pass(SECOND * 30);
    // The engine comes to rest although the gate stays closed.
    engine.settled().await;
}

async fn other_steps_are_dropped(lab: Lab) {
    struct Dropped(Gate);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.open();
        }
    }
    let (dropped, gate) = (Gate::default(), Gate::default());
    let (seen, held) = (dropped.clone(), gate.clone());
    let step = move || {
        let (seen, held) = (Dropped(seen.clone()), held.clone());
        async move {
            let _seen = seen;
            held.pass().await;
            Ok::<_, StepError>(1_u32)
        }
    };
    let workflow = Workflow::new("w").step(step.named("rude").timeout(SECOND)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    gate.arrived(1).await;
    lab.pass(SECOND);
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Failed);
    dropped.pass().await;
}

async fn a_soft_step_may_time_out(lab: Lab) {
    let gate = Gate::default();
    let soft = hanging(&gate, 9).timeout(SECOND).continue_on_error();
    let workflow = Workflow::new("w").step(soft).step(Tape::default().step("next")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    gate.arrived(1).await;
    lab.pass(SECOND);
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!((output(&outcome), outcome.result("hangs").unwrap().status), (1.into(), NodeStatus::Failed));
}

/// A call that is made again after a crash has its whole time again.
async fn a_timeout_survives_a_crash(lab: Lab) {
    let gate = Gate::default();
    let workflow = {
        let step = Tape::default().gated("hangs", &gate).timeout(SECOND);
        Workflow::new("w").step(step).build().unwrap()
    };
    let arrived = gate.clone();
    let run = lab
        .life_of(&workflow, async move |engine| {
            let run = engine.run("w", ()).await.unwrap().id().clone();
            arrived.arrived(1).await;
            run
        })
        .await;
    lab.pass(Duration::from_millis(700));
    let engine = lab.engine(&workflow).await;
    gate.arrived(2).await;
    lab.pass(Duration::from_millis(999));
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Running);
    lab.pass(Duration::from_millis(1));
    assert_eq!(engine.finish(&run).await.unwrap().error.unwrap().code, "timeout");
}

async fn a_run_timeout_fails_the_run(lab: Lab) {
    let gate = Gate::default();
    let workflow = Workflow::new("w").timeout(SECOND).step(hanging(&gate, 9)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    gate.arrived(1).await;
    lab.pass(SECOND);
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(failure(&outcome), "-: the run took longer than 1000 ms");
    assert_eq!(outcome.error.as_ref().unwrap().code, "run_timeout");
    assert_eq!(outcome.result("hangs").unwrap().status, NodeStatus::Cancelled);
}

async fn a_run_timeout_ends_a_sleep(lab: Lab) {
    let workflow = Workflow::new("w").timeout(SECOND).step(delay_step(SECOND * 60)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.error.unwrap().code, "run_timeout");
    let view = engine.get(run.id()).await.unwrap();
    assert_eq!(since_start(view.ended_at.unwrap()), 1_000);
}

async fn a_request_may_set_the_run_timeout(lab: Lab) {
    let workflow = Workflow::new("w").step(delay_step(SECOND * 60)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).timeout(SECOND * 2).await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().error.unwrap().code, "run_timeout");
    assert_eq!(lab.elapsed(), 2_000);
}

async fn a_run_timeout_calls_the_handler(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w").timeout(SECOND).on_error(tape.handler("alarm"));
    let workflow = workflow.step(delay_step(SECOND * 60)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(tape.entries(), ["alarm(: the run took longer than 1000 ms)"]);
}

/// Writes down that the function it is in was dropped.
struct Dropped(Tape);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.note("dropped");
    }
}

async fn a_step_with_a_handler_is_stopped_when_it_times_out(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let (noted, held) = (tape.clone(), gate.clone());
    let slow = move || {
        let (guard, held) = (Dropped(noted.clone()), held.clone());
        async move {
            let _guard = guard;
            held.pass().await;
            Ok::<_, StepError>(())
        }
    };
    let slow = slow.named("slow").timeout(SECOND).on_error(tape.handler("handler"));
    let engine = lab.engine(Workflow::new("w").step(slow).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    lab.pass(SECOND);
    engine.finish(run.id()).await.unwrap();
    // The handler's call replaces the step's call, which does not go on behind it: the thread running it drops it.
    while tape.entries().len() < 2 {
        tokio::task::yield_now().await;
    }
    let mut entries = tape.entries();
    entries.sort();
    assert_eq!(entries, ["dropped", "handler(slow: `slow` took longer than 1000 ms)"]);
}
