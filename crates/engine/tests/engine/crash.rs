//! Processes that die: what was recorded stays, what was cut short is made again.

use rival::event::{EventKind, LostReason};
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{NodeStatus, RunError, RunId, RunStatus};

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure, output};

facts![
    completed_steps_are_not_called_again,
    a_call_cut_short_is_made_again_uncharged,
    the_idempotency_key_is_the_same_in_every_call,
    five_crashes_put_a_step_in_quarantine,
    a_quarantined_step_stays_there_over_restarts,
    resume_lets_a_quarantined_step_go_on,
    an_at_most_once_step_fails_instead,
    an_at_most_once_step_that_may_fail_lets_the_run_go_on,
    a_handler_cut_short_is_called_again,
    queued_runs_are_still_queued,
    a_run_that_sleeps_is_not_touched,
    a_started_run_is_never_lost,
];

/// Starts a run and dies as soon as its gate is reached.
async fn die_at(lab: &Lab, workflow: &Workflow<(), u32>, gate: &Gate) -> RunId {
    let gate = gate.clone();
    let life = async move |engine: TestEngine| {
        engine.run("w", ()).id("r").await.unwrap();
        gate.arrived(1).await;
    };
    lab.life_of(workflow, life).await;
    "r".into()
}

async fn completed_steps_are_not_called_again(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let steps = (tape.step("a"), tape.step("b"), tape.gated("c", &gate));
    let workflow = Workflow::new("w").steps(steps).build().unwrap();
    let run = die_at(&lab, &workflow, &gate).await;
    gate.open();
    let engine = lab.engine(&workflow).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 2);
    assert_eq!(tape.entries(), ["a", "b", "c", "c"]);
}

async fn a_call_cut_short_is_made_again_uncharged(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::new("w").step(tape.gated("only", &gate)).build().unwrap();
    let run = die_at(&lab, &workflow, &gate).await;
    gate.open();
    let engine = lab.engine(&workflow).await;
    engine.finish(&run).await.unwrap();
    let expected = [
        "runStarted",
        "callStarted only#1",
        "callLost only#1",
        "callStarted only#2",
        "callSucceeded only#2",
        "runCompleted",
    ];
    assert_eq!(told(&engine, &run).await, expected);
    let step = &engine.get(&run).await.unwrap().steps[0];
    assert_eq!((step.calls, step.retry_count), (2, 0));
    let history = engine.history(&run).await.unwrap();
    assert!(matches!(history[2].kind, EventKind::CallLost { reason: LostReason::Crash, .. }));
}

async fn the_idempotency_key_is_the_same_in_every_call(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let (noted, held) = (tape.clone(), gate.clone());
    let step = move |run: Run| {
        noted.note(run.idempotency_key());
        let held = held.clone();
        async move {
            held.pass().await;
            Ok::<_, StepError>(1_u32)
        }
    };
    let workflow = Workflow::new("w").step(step.named("only")).build().unwrap();
    let run = die_at(&lab, &workflow, &gate).await;
    gate.open();
    lab.engine(&workflow).await.finish(&run).await.unwrap();
    assert_eq!(tape.entries(), ["r/only", "r/only"]);
}

/// Starts a run and dies five times while its step is at work.
async fn die_five_times(lab: &Lab, workflow: &Workflow<(), u32>, gate: &Gate) -> RunId {
    let run = die_at(lab, workflow, gate).await;
    for count in 2..=5 {
        let gate = gate.clone();
        lab.life_of(workflow, async move |_engine| gate.arrived(count).await).await;
    }
    run
}

async fn five_crashes_put_a_step_in_quarantine(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::new("w").step(tape.gated("deadly", &gate)).build().unwrap();
    let run = die_five_times(&lab, &workflow, &gate).await;
    let engine = lab.engine(&workflow).await;
    engine.come_to_rest().await.unwrap();
    let view = engine.get(&run).await.unwrap();
    assert_eq!((view.status, view.steps[0].status), (RunStatus::Blocked, NodeStatus::Blocked));
    let note = "the process died 5 times while `deadly` ran; `resume` tries it again";
    assert_eq!(view.note.as_deref(), Some(note));
    assert_eq!(tape.count("deadly"), 5);
    assert!(engine.active_runs().is_empty());
}

async fn a_quarantined_step_stays_there_over_restarts(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::new("w").step(tape.gated("deadly", &gate)).build().unwrap();
    let run = die_five_times(&lab, &workflow, &gate).await;
    for _ in 0..2 {
        let run = run.clone();
        let life = async move |engine: TestEngine| {
            engine.come_to_rest().await.unwrap();
            assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Blocked);
        };
        lab.life_of(&workflow, life).await;
    }
    assert_eq!(tape.count("deadly"), 5);
}

/// With five more lives.
async fn resume_lets_a_quarantined_step_go_on(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::new("w").step(tape.gated("deadly", &gate)).build().unwrap();
    let run = die_five_times(&lab, &workflow, &gate).await;
    let (resumed, held) = (run.clone(), gate.clone());
    let life = async move |engine: TestEngine| {
        engine.come_to_rest().await.unwrap();
        assert_eq!(engine.resume(&resumed).await.unwrap(), RunStatus::Running);
        held.arrived(6).await;
    };
    lab.life_of(&workflow, life).await;
    gate.open();
    let engine = lab.engine(&workflow).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 7);
}

async fn an_at_most_once_step_fails_instead(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let pay = tape.gated("pay", &gate).at_most_once().retry(3);
    let workflow = Workflow::new("w").step(pay).build().unwrap();
    let run = die_at(&lab, &workflow, &gate).await;
    gate.open();
    let outcome = lab.engine(&workflow).await.finish(&run).await.unwrap();
    assert!(failure(&outcome).contains("was interrupted and must not be called again"), "{outcome:?}");
    assert_eq!((outcome.error.unwrap().code.as_str(), tape.count("pay")), ("interrupted", 1));
}

async fn an_at_most_once_step_that_may_fail_lets_the_run_go_on(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let pay = tape.gated("pay", &gate).at_most_once().continue_on_error();
    let workflow = Workflow::new("w").step(pay).step(tape.step("next")).build().unwrap();
    let run = die_at(&lab, &workflow, &gate).await;
    gate.open();
    assert_eq!(output(&lab.engine(&workflow).await.finish(&run).await.unwrap()), 1);
    assert_eq!(tape.entries(), ["pay", "next"]);
}

async fn a_handler_cut_short_is_called_again(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let handler = tape.gated("alarm", &gate);
    let workflow = Workflow::new("w").on_error(handler).step(tape.failing("bad")).build().unwrap();
    let run = die_at(&lab, &workflow, &gate).await;
    gate.open();
    let outcome = lab.engine(&workflow).await.finish(&run).await.unwrap();
    assert_eq!(failure(&outcome), "bad: bad failed in attempt 1");
    assert_eq!(tape.entries(), ["bad", "alarm", "alarm"]);
}

async fn queued_runs_are_still_queued(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = Workflow::new("w").step(tape.gated("only", &gate)).build().unwrap();
    let (definition, held) = (workflow.clone(), gate.clone());
    let life = async move |lab: Lab| {
        let builder = lab.builder().configure(|it| it.max_live_runs(1)).workflow(definition);
        let engine = builder.build().await.unwrap();
        engine.run("w", ()).id("first").await.unwrap();
        held.arrived(1).await;
        assert_eq!(engine.run("w", ()).id("second").await.unwrap().status(), RunStatus::Queued);
    };
    lab.life(life).await;
    gate.open();
    let engine = lab.engine(&workflow).await;
    for run in ["first", "second"] {
        engine.finish(&run.into()).await.unwrap();
    }
    assert_eq!(tape.count("only"), 3);
}

async fn a_run_that_sleeps_is_not_touched(lab: Lab) {
    let day = std::time::Duration::from_secs(86_400);
    let workflow = Workflow::new("w").step(delay_step(day)).build().unwrap();
    let run = lab.life_of(&workflow, async |engine| engine.run("w", ()).await.unwrap().id().clone()).await;
    let engine = lab.engine(&workflow).await;
    engine.come_to_rest().await.unwrap();
    assert_eq!(told(&engine, &run).await, ["runStarted", "sleepStarted delay"]);
    assert!(matches!(
        engine.wait_for(&run, std::time::Duration::ZERO).await,
        Err(RunError::WaitTimeout { .. })
    ));
    assert_eq!(engine.finish(&run).await.unwrap().status, RunStatus::Completed);
}

/// The process dies right after `run` has answered, wherever the runs are by then.
async fn a_started_run_is_never_lost(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w").step(tape.step("a")).step(tape.step("b")).build().unwrap();
    let life = async |engine: TestEngine| {
        let mut runs = Vec::new();
        for _ in 0..20 {
            runs.push(engine.run("w", ()).await.unwrap().id().clone());
        }
        runs
    };
    let runs = lab.life_of(&workflow, life).await;
    let engine = lab.engine(&workflow).await;
    for run in runs {
        assert_eq!(output(&engine.finish(&run).await.unwrap()), 1);
    }
}
