//! Steps that are undone.

use std::time::Duration;

use rival::prelude::*;
use rival::{Join, NodeStatus, RunStatus, TypedStep, UndoOutcome};

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape, failure, output};

facts![
    completed_steps_are_undone_the_last_first,
    only_steps_with_a_compensation_are_undone,
    a_run_with_nothing_to_undo_just_fails,
    branches_are_undone_in_the_order_of_their_ends,
    items_are_undone_with_their_own_item,
    a_compensation_is_told_what_the_step_was_given_and_returned,
    a_compensation_that_fails_does_not_keep_the_others_from_running,
    a_compensation_is_tried_again,
    the_handler_comes_after_the_compensations,
    a_cancel_undoes_and_is_told_why,
    a_second_cancel_does_not_interrupt_a_compensation,
    a_kill_undoes_nothing,
    a_step_that_timed_out_is_undone_as_unknown,
    a_crash_inside_of_a_compensation_calls_it_again,
    a_missing_compensation_blocks_and_goes_on_when_it_is_back,
    a_branch_that_lost_is_undone_while_the_run_goes_on,
    a_retry_runs_again_what_was_undone,
];

/// A step with a compensation that writes `undo <name>`.
fn undoable(tape: &Tape, name: &'static str) -> TypedStep<u32> {
    let (undone, note) = (tape.clone(), format!("undo {name}"));
    let undo = move || {
        undone.note(note.clone());
        async { Ok::<_, StepError>(()) }
    };
    tape.step(name).compensate(undo.named(format!("undo_{name}")))
}

async fn completed_steps_are_undone_the_last_first(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w")
        .step(undoable(&tape, "a"))
        .step(undoable(&tape, "b"))
        .step(tape.failing("c"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(failure(&outcome), "c: c failed in attempt 1");
    assert_eq!(outcome.not_undone, []);
    assert_eq!(tape.entries(), ["a", "b", "c", "undo b", "undo a"]);
    // What was undone is shown as what it was.
    assert_eq!(outcome.result("a").unwrap().status, NodeStatus::Completed);
}

async fn only_steps_with_a_compensation_are_undone(lab: Lab) {
    let tape = Tape::default();
    let soft = tape.failing("soft").compensate(tape.step("never")).continue_on_error();
    let workflow = Workflow::new("w")
        .step(undoable(&tape, "a"))
        .step(tape.step("plain"))
        .step(soft)
        .step(tape.failing("c"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(tape.entries(), ["a", "plain", "soft", "c", "undo a"]);
}

async fn a_run_with_nothing_to_undo_just_fails(lab: Lab) {
    let tape = Tape::default();
    let bad = tape.failing("a").compensate(tape.step("x"));
    let engine = lab.engine(&Workflow::new("w").step(bad).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    assert_eq!(failure(&engine.finish(run.id()).await.unwrap()), "a: a failed in attempt 1");
    assert_eq!(tape.entries(), ["a"]);
}

async fn branches_are_undone_in_the_order_of_their_ends(lab: Lab) {
    let tape = Tape::default();
    let (slow, quick) = (undoable(&tape, "slow"), undoable(&tape, "quick"));
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branch("x", |b| b.step(rival::delay_step(Duration::from_secs(60))).step(slow))
                .branch("y", |b| b.step(quick))
        })
        .step(tape.failing("c"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(tape.entries(), ["quick", "slow", "c", "undo slow", "undo quick"]);
}

async fn items_are_undone_with_their_own_item(lab: Lab) {
    let tape = Tape::default();
    let (done, undone) = (tape.clone(), tape.clone());
    let book = move |Item(item): Item<u32>| {
        done.note(format!("book {item}"));
        async move { Ok::<_, StepError>(item * 10) }
    };
    let free = move |Item(item): Item<u32>, undo: Undo<u32>| {
        undone.note(format!("free {item}, which was {:?}", undo.result));
        async { Ok::<_, StepError>(()) }
    };
    let workflow = Workflow::new("w")
        .for_each("all", (|| async { Ok::<_, StepError>(vec![1_u32, 2]) }).named("items"), |e| {
            e.body(|b| b.step(book.named("book").compensate(free.named("free"))))
        })
        .step(tape.failing("c"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    let expected = ["book 1", "book 2", "c", "free 2, which was Some(20)", "free 1, which was Some(10)"];
    assert_eq!(tape.entries(), expected);
}

async fn a_compensation_is_told_what_the_step_was_given_and_returned(lab: Lab) {
    let tape = Tape::default();
    let told = tape.clone();
    let undo = move |Input(amount): Input<u32>, undo: Undo<u32>, run: Run| {
        let outcome = undo.outcome;
        told.note(format!("{amount} {:?} {outcome:?} {}", undo.result, run.attempt()));
        async { Ok::<_, StepError>(()) }
    };
    let workflow = Workflow::new("w")
        .input::<u32>()
        .step(tape.step("a").compensate(undo.named("undo")))
        .step(tape.failing("b"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", 5_u32).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(tape.entries(), ["a", "b", "5 Some(1) Completed 1"]);
}

async fn a_compensation_that_fails_does_not_keep_the_others_from_running(lab: Lab) {
    let tape = Tape::default();
    let stuck = tape.step("b").compensate(tape.failing("stuck").retry(1));
    let workflow =
        Workflow::new("w").step(undoable(&tape, "a")).step(stuck).step(tape.failing("c")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(failure(&outcome), "c: c failed in attempt 1");
    let left: Vec<String> =
        outcome.not_undone.iter().map(|left| format!("{}: {}", left.node, left.failure)).collect();
    assert_eq!(left, ["b: stuck failed in attempt 1"]);
    assert_eq!(tape.entries(), ["a", "b", "c", "stuck", "undo a"]);
    assert_eq!(engine.get(run.id()).await.unwrap().not_undone.len(), 1);
}

async fn a_compensation_is_tried_again(lab: Lab) {
    let tape = Tape::default();
    let undo = tape.doing("undo", |attempt| if attempt < 3 { Err(StepError::new("busy")) } else { Ok(0) });
    let workflow =
        Workflow::new("w").step(tape.step("a").compensate(undo)).step(tape.failing("b")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.not_undone, []);
    assert_eq!(tape.entries(), ["a", "b", "undo", "undo", "undo"]);
}

async fn the_handler_comes_after_the_compensations(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w")
        .step(undoable(&tape, "a"))
        .step(tape.failing("b"))
        .on_error(tape.handler("handler"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(tape.entries(), ["a", "b", "undo a", "handler(b: b failed in attempt 1)"]);
}

async fn a_cancel_undoes_and_is_told_why(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow =
        Workflow::new("w").step(undoable(&tape, "a")).step(tape.gated("b", &gate)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    engine.cancel(run.id(), "enough").await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!((outcome.status, outcome.reason.as_deref()), (RunStatus::Cancelled, Some("enough")));
    assert_eq!(tape.entries(), ["a", "b", "undo a"]);
}

async fn a_second_cancel_does_not_interrupt_a_compensation(lab: Lab) {
    let (tape, gate, undoing) = (Tape::default(), Gate::default(), Gate::default());
    let workflow = Workflow::new("w")
        .step(tape.step("a").compensate(tape.gated("undo", &undoing)))
        .step(tape.gated("b", &gate))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    engine.cancel(run.id(), "enough").await.unwrap();
    undoing.arrived(1).await;
    assert_eq!(engine.cancel(run.id(), "really").await.unwrap(), RunStatus::Compensating);
    undoing.open();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!((outcome.status, outcome.reason.as_deref()), (RunStatus::Cancelled, Some("enough")));
    assert_eq!(tape.count("undo"), 1);
}

async fn a_kill_undoes_nothing(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow =
        Workflow::new("w").step(undoable(&tape, "a")).step(tape.gated("b", &gate)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    assert_eq!(engine.kill(run.id(), "now").await.unwrap(), RunStatus::Cancelled);
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!((outcome.status, outcome.reason.as_deref()), (RunStatus::Cancelled, Some("now")));
    assert_eq!(tape.entries(), ["a", "b"]);
}

async fn a_step_that_timed_out_is_undone_as_unknown(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let told = tape.clone();
    let undo = move |undo: Undo<u32>| {
        assert_eq!(undo.outcome, UndoOutcome::Unknown);
        told.note(format!("undo {:?}", undo.result));
        async { Ok::<_, StepError>(()) }
    };
    let slow = tape.gated("a", &gate).timeout(Duration::from_secs(5)).compensate(undo.named("undo"));
    let engine = lab.engine(&Workflow::new("w").step(slow).build().unwrap()).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    lab.pass(Duration::from_secs(5));
    engine.tick().await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(outcome.error.unwrap().code, "timeout");
    assert_eq!(tape.entries(), ["a", "undo None"]);
}

async fn a_crash_inside_of_a_compensation_calls_it_again(lab: Lab) {
    let (tape, undoing) = (Tape::default(), Gate::default());
    let workflow = Workflow::new("w")
        .step(undoable(&tape, "a"))
        .step(tape.step("b").compensate(tape.gated("undo b", &undoing).named("undo_b")))
        .step(tape.failing("c"))
        .build()
        .unwrap();
    let at = undoing.clone();
    let run = lab
        .life_of(&workflow, |engine| async move {
            let run = engine.run("w", ()).await.unwrap();
            at.arrived(1).await;
            run.id().clone()
        })
        .await;
    undoing.open();
    let engine = lab.engine(&workflow).await;
    assert_eq!(failure(&engine.finish(&run).await.unwrap()), "c: c failed in attempt 1");
    assert_eq!(tape.entries(), ["a", "b", "c", "undo b", "undo b", "undo a"]);
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
