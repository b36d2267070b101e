//! Steps that are undone.

use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{RunStatus, TypedStep, UndoOutcome, Workflow};

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure, outcome_of, output, says};

facts![
    completed_steps_are_undone_in_reverse_order,
    steps_of_branches_are_undone_in_reverse_order_of_completion,
    iterations_are_undone_in_reverse_order,
    only_steps_with_a_compensation_are_undone,
    a_compensation_knows_the_input_the_result_and_earlier_steps,
    the_others_are_undone_when_one_compensation_fails,
    both_errors_are_shown,
    a_view_tells_what_was_undone,
    a_compensation_is_retried,
    a_compensation_is_tried_three_times_unless_told_otherwise,
    a_step_that_failed_is_not_undone,
    a_step_that_timed_out_is_undone_with_unknown_outcome,
    a_run_that_completes_undoes_nothing,
    a_cancelled_run_is_undone,
    a_killed_run_is_not_undone,
    cancel_does_not_interrupt_compensations,
    a_crash_in_a_compensation_calls_it_again,
    the_workflows_handler_is_called_after_compensation,
    a_missing_compensation_blocks_and_goes_on_when_it_is_back,
    a_branch_that_lost_is_undone_while_the_run_goes_on,
    a_retry_runs_again_what_was_undone,
];

/// A step with a compensation that writes down what it undoes.
fn undoable(tape: &Tape, name: &'static str) -> TypedStep<u32> {
    tape.step(name).compensate(undoing(tape, name))
}

fn undoing(tape: &Tape, name: &'static str) -> TypedStep<()> {
    let tape = tape.clone();
    let undo = move |_: Undo<u32>| {
        tape.note(format!("undo {name}"));
        async { Ok::<_, StepError>(()) }
    };
    undo.named(format!("undo {name}"))
}

fn undone(tape: &Tape) -> Vec<String> {
    tape.entries().into_iter().filter(|entry| entry.starts_with("undo")).collect()
}

async fn completed_steps_are_undone_in_reverse_order(lab: Lab) {
    let tape = Tape::default();
    let steps = (undoable(&tape, "a"), undoable(&tape, "b"), undoable(&tape, "c"), tape.failing("bad"));
    let outcome = outcome_of(&lab, &Workflow::new("w").steps(steps).build().unwrap()).await;
    assert_eq!(failure(&outcome), "bad: bad failed in attempt 1");
    assert_eq!(tape.entries(), ["a", "b", "c", "bad", "undo c", "undo b", "undo a"]);
    assert!(outcome.not_undone.is_empty());
}

async fn steps_of_branches_are_undone_in_reverse_order_of_completion(lab: Lab) {
    let tape = Tape::default();
    let (a, b, c) = (undoable(&tape, "a"), undoable(&tape, "b"), undoable(&tape, "c"));
    let second = Duration::from_secs(1);
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branch("l", |x| x.step(delay_step(second * 2)).step(a))
                .branch("m", |x| x.step(b))
                .branch("r", |x| x.step(delay_step(second)).step(c))
        })
        .step(tape.failing("bad"))
        .build()
        .unwrap();
    outcome_of(&lab, &workflow).await;
    assert_eq!(tape.entries()[..3], ["b", "c", "a"]);
    assert_eq!(undone(&tape), ["undo a", "undo c", "undo b"]);
}

async fn iterations_are_undone_in_reverse_order(lab: Lab) {
    let tape = Tape::default();
    let noted = tape.clone();
    let undo = move |undo: Undo<u32>, Item(item): Item<u32>| {
        noted.note(format!("undo {item} with {:?}", undo.result));
        async { Ok::<_, StepError>(()) }
    };
    let charge = |Item(item): Item<u32>| async move { Ok::<_, StepError>(item * 10) };
    let charge = charge.named("charge").compensate(undo.named("refund"));
    let workflow = Workflow::new("w")
        .for_each("all", says("list", vec![1_u32, 2, 3]), |e| e.body(|b| b.step(charge)))
        .step(tape.failing("bad"))
        .build()
        .unwrap();
    outcome_of(&lab, &workflow).await;
    assert_eq!(undone(&tape), ["undo 3 with Some(30)", "undo 2 with Some(20)", "undo 1 with Some(10)"]);
}

async fn only_steps_with_a_compensation_are_undone(lab: Lab) {
    let tape = Tape::default();
    let steps = (undoable(&tape, "a"), tape.step("b"), tape.failing("bad"));
    outcome_of(&lab, &Workflow::new("w").steps(steps).build().unwrap()).await;
    assert_eq!(undone(&tape), ["undo a"]);
}

#[step]
async fn book(Input(room): Input<u32>) -> Result<String, StepError> {
    Ok(format!("room {room}"))
}

#[step]
async fn pay(booked: Output<book>) -> Result<u32, StepError> {
    Ok(u32::try_from(booked.len()).unwrap_or(0))
}

async fn a_compensation_knows_the_input_the_result_and_earlier_steps(lab: Lab) {
    let tape = Tape::default();
    let noted = tape.clone();
    let refund = move |Input(room): Input<u32>, booked: Output<book>, undo: Undo<u32>| {
        noted.note(format!("undo {room}, {}, {:?}, {:?}", *booked, undo.result, undo.outcome));
        async { Ok::<_, StepError>(()) }
    };
    let workflow = Workflow::new("w")
        .input::<u32>()
        .step(book)
        .step(pay.compensate(refund.named("refund")))
        .step(tape.failing("bad"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, 7).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(undone(&tape), ["undo 7, room 7, Some(6), Completed"]);
}

async fn the_others_are_undone_when_one_compensation_fails(lab: Lab) {
    let tape = Tape::default();
    let stuck = tape.step("b").compensate(tape.failing("stuck").retry(1));
    let steps = (undoable(&tape, "a"), stuck, undoable(&tape, "c"), tape.failing("bad"));
    outcome_of(&lab, &Workflow::new("w").steps(steps).build().unwrap()).await;
    assert_eq!(tape.entries()[4..], ["undo c", "stuck", "undo a"]);
}

async fn a_view_tells_what_was_undone(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let held = gate.clone();
    let undo = move || {
        let held = held.clone();
        async move {
            held.pass().await;
            Ok::<_, StepError>(())
        }
    };
    let stuck = tape.step("stuck").compensate(tape.failing("stays").retry(1));
    let (inner, plain) = (undoable(&tape, "inner"), tape.step("plain"));
    let flow = Workflow::new("w").step(tape.step("slow").compensate(undo.named("undo slow")));
    let flow = flow
        .step(tape.step("keeps"))
        .step(stuck)
        .parallel("both", |p| p.branch("x", |b| b.step(inner)).branch("y", |b| b.step(plain)))
        .step(tape.failing("bad"));
    let engine = lab.engine(&flow.build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    let shown = async || {
        let view = engine.get(&run).await.unwrap();
        let steps = view.steps.iter().map(|step| format!("{} {}", step.path, step.standing()));
        steps.collect::<Vec<_>>()
    };
    gate.arrived(1).await;
    assert_eq!(shown().await[0], "slow undoing");
    gate.open();
    engine.finish(&run).await.unwrap();
    let expected = [
        "slow undone",
        "keeps completed",
        "stuck not_undone",
        "both undone",
        "both/x/inner undone",
        "both/y/plain completed",
        "bad failed",
    ];
    assert_eq!(shown().await, expected);
}

async fn both_errors_are_shown(lab: Lab) {
    let tape = Tape::default();
    let steps = (tape.step("a").compensate(tape.failing("stuck").retry(1)), tape.failing("bad"));
    let outcome = outcome_of(&lab, &Workflow::new("w").steps(steps).build().unwrap()).await;
    assert_eq!(failure(&outcome), "bad: bad failed in attempt 1");
    let not_undone: Vec<_> =
        outcome.not_undone.iter().map(|it| format!("{}: {}", it.node, it.failure)).collect();
    assert_eq!(not_undone, ["a: stuck failed in attempt 1"]);
}

async fn a_compensation_is_retried(lab: Lab) {
    let tape = Tape::default();
    let flaky =
        tape.doing("flaky", |attempt| if attempt < 3 { Err(StepError::new("not yet")) } else { Ok(attempt) });
    let steps = (tape.step("a").compensate(flaky.retry(3)), tape.failing("bad"));
    let outcome = outcome_of(&lab, &Workflow::new("w").steps(steps).build().unwrap()).await;
    assert!(outcome.not_undone.is_empty());
    assert_eq!(tape.count("flaky"), 3);
}

async fn a_compensation_is_tried_three_times_unless_told_otherwise(lab: Lab) {
    let tape = Tape::default();
    let steps = (tape.step("a").compensate(tape.failing("stuck")), tape.failing("bad"));
    outcome_of(&lab, &Workflow::new("w").steps(steps).build().unwrap()).await;
    assert_eq!(tape.count("stuck"), 3);
}

async fn a_step_that_failed_is_not_undone(lab: Lab) {
    let tape = Tape::default();
    let bad = tape.failing("bad").compensate(undoing(&tape, "bad"));
    outcome_of(&lab, &Workflow::new("w").steps((tape.step("a"), bad)).build().unwrap()).await;
    assert!(undone(&tape).is_empty());
}

async fn a_step_that_timed_out_is_undone_with_unknown_outcome(lab: Lab) {
    let tape = Tape::default();
    let noted = tape.clone();
    let undo = move |undo: Undo<u32>| {
        assert_eq!(undo.outcome, UndoOutcome::Unknown);
        noted.note(format!("undo {:?}", undo.result));
        async { Ok::<_, StepError>(()) }
    };
    let gate = Gate::default();
    let slow = tape.gated("slow", &gate).timeout(Duration::from_secs(1)).compensate(undo.named("undo"));
    let engine = lab.engine(Workflow::new("w").step(slow).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    lab.pass(Duration::from_secs(1));
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.error.unwrap().code, "timeout");
    assert_eq!(undone(&tape), ["undo None"]);
}

async fn a_run_that_completes_undoes_nothing(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w").steps((undoable(&tape, "a"), undoable(&tape, "b"))).build().unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), 1);
    assert!(undone(&tape).is_empty());
}

async fn a_cancelled_run_is_undone(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow =
        Workflow::new("w").steps((undoable(&tape, "a"), tape.gated("held", &gate))).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    engine.cancel(run.id(), "enough").await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Cancelled);
    assert_eq!(undone(&tape), ["undo a"]);
}

async fn a_killed_run_is_not_undone(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow =
        Workflow::new("w").steps((undoable(&tape, "a"), tape.gated("held", &gate))).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    engine.kill(run.id(), "at once").await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Cancelled);
    assert!(undone(&tape).is_empty());
}

async fn cancel_does_not_interrupt_compensations(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let slow = tape.step("b").compensate(tape.gated("undo b", &gate));
    let steps = (undoable(&tape, "a"), slow, tape.failing("bad"));
    let engine = lab.engine(Workflow::new("w").steps(steps).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Compensating);
    engine.cancel(run.id(), "too late").await.unwrap();
    gate.open();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(
        (outcome.status, undone(&tape)),
        (RunStatus::Failed, vec!["undo b".to_owned(), "undo a".to_owned()])
    );
    assert!(outcome.not_undone.is_empty());
}

async fn a_crash_in_a_compensation_calls_it_again(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let slow = tape.step("b").compensate(tape.gated("undo b", &gate));
    let steps = (undoable(&tape, "a"), slow, tape.failing("bad"));
    let workflow = Workflow::new("w").steps(steps).build().unwrap();
    let reached = gate.clone();
    let life = async move |engine: TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        reached.arrived(1).await;
        run
    };
    let run = lab.life_of(&workflow, life).await;
    gate.open();
    let outcome = lab.engine(&workflow).await.finish(&run).await.unwrap();
    assert_eq!(outcome.status, RunStatus::Failed);
    assert_eq!(undone(&tape), ["undo b", "undo b", "undo a"]);
    assert_eq!(tape.count("bad"), 1);
}

async fn the_workflows_handler_is_called_after_compensation(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w")
        .on_error(tape.handler("handler"))
        .steps((undoable(&tape, "a"), tape.failing("bad")))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(tape.entries()[2..], ["undo a", "handler(bad: bad failed in attempt 1)"]);
    assert_eq!(told(&engine, run.id()).await.last().map(String::as_str), Some("runFailed bad"));
}

async fn a_missing_compensation_blocks_and_goes_on_when_it_is_back(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow =
        |undo: TypedStep<u32>| Workflow::new("w").step(undo).step(tape.gated("b", &gate)).build().unwrap();
    let (with, without) = (workflow(undoable(&tape, "a")), workflow(tape.step("a")));
    let at = gate.clone();
    let run = lab
        .life_of(&with, |engine| async move {
            let run = engine.run("w", ()).await.unwrap();
            at.arrived(1).await;
            run.id().clone()
        })
        .await;
    let (at, there) = (gate.clone(), run.clone());
    lab.life_of(&without, |engine| async move {
        at.arrived(2).await;
        engine.cancel(&there, "enough").await.unwrap();
        engine.settled().await;
        assert_eq!(engine.get(&there).await.unwrap().status, RunStatus::Blocked);
    })
    .await;
    assert_eq!(tape.count("undo a"), 0);
    let engine = lab.engine(&with).await;
    assert_eq!(engine.finish(&run).await.unwrap().status, RunStatus::Cancelled);
    assert_eq!(tape.count("undo a"), 1);
}

async fn a_branch_that_lost_is_undone_while_the_run_goes_on(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let (lost, held) = (undoable(&tape, "lost"), tape.gated("held", &gate));
    let winner = tape.step("winner");
    let workflow = Workflow::new("w")
        .parallel("race", |p| {
            p.branch("slow", |b| b.step(lost).step(held))
                .branch("quick", |b| b.step(rival::delay_step(Duration::from_secs(5))).step(winner))
                .join(Join::First)
        })
        .step(tape.step("after"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    lab.pass(Duration::from_secs(5));
    engine.tick().await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(output(&outcome), 1);
    let entries = tape.entries();
    assert_eq!(entries[..3], ["lost", "held", "winner"]);
    assert!(
        entries.contains(&"undo lost".to_owned()) && entries.contains(&"after".to_owned()),
        "{entries:?}"
    );
    let race = outcome.result("race").unwrap().result.as_ref().unwrap().to_json();
    assert_eq!(race, serde_json::json!({ "quick": 1 }));
}

async fn a_retry_runs_again_what_was_undone(lab: Lab) {
    let tape = Tape::default();
    let seen = tape.clone();
    let healing =
        tape.doing("c", move |_| if seen.count("c") == 1 { Err(StepError::new("not yet")) } else { Ok(7) });
    let workflow = Workflow::new("w")
        .step(tape.step("kept"))
        .step(undoable(&tape, "a"))
        .step(tape.step("after"))
        .step(healing)
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    let again = engine.retry(run.id()).await.unwrap();
    assert_eq!(output(&engine.finish(again.id()).await.unwrap()), 7);
    assert_eq!(tape.entries(), ["kept", "a", "after", "c", "undo a", "a", "after", "c"]);
}
