//! Branches side by side.

use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{NodeStatus, RunId, RunStatus, TypedStep, Workflow};
use serde_json::json;

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure, gives, looks, outcome_of, output, results, says};

facts![
    results_are_keyed_in_definition_order,
    branches_run_at_the_same_time,
    a_failing_branch_fails_the_block_when_the_others_have_settled,
    a_soft_failure_leaves_null,
    collected_failures_are_shown_per_branch,
    a_run_is_cancelled_during_fan_out,
    the_first_success_wins,
    a_failure_does_not_win,
    the_first_n_successes_win,
    n_that_cannot_be_reached_fails,
    finally_maps_the_result,
    finally_sees_collected_failures,
    a_failing_finally_fails_the_block,
    a_parallel_block_runs_in_a_loop,
    a_loop_runs_in_a_branch,
    a_parallel_block_runs_in_a_parallel_block,
    thirty_branches_are_joined,
    a_thousand_branches_are_joined,
    names_are_scoped_to_their_branch,
    a_branch_that_waits_does_not_disturb_the_others,
    losers_are_undone_at_once_and_the_block_goes_on,
    the_run_ends_only_when_losers_have_settled,
    after_a_crash_only_open_branches_go_on,
    a_joined_block_is_one_entry,
    a_later_step_reads_what_was_joined,
];

fn two(tape: &Tape, left: TypedStep<u32>, right: TypedStep<u32>) -> Workflow<(), Joined> {
    let after = tape.step("after");
    Workflow::new("w")
        .parallel("p", |p| p.branch("l", |b| b.step(left).step(after)).branch("r", |b| b.step(right)))
        .build()
        .unwrap()
}

async fn results_are_keyed_in_definition_order(lab: Lab) {
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branch("z", |b| b.step(gives("a", 1)))
                .branch("a", |b| b.step(delay_step(Duration::from_secs(5))).step(gives("a", 2)))
                .branch("m", |b| b.step(gives("a", 3)))
        })
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(outcome.output.unwrap().as_json(), r#"{"z":1,"a":2,"m":3}"#);
}

async fn branches_run_at_the_same_time(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = two(&tape, tape.gated("x", &gate), tape.gated("y", &gate));
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(2).await;
    gate.open();
    assert_eq!(output(&engine.finish(run.id()).await.unwrap()), json!({ "l": 1, "r": 1 }));
}

async fn until_told(engine: &TestEngine, run: &RunId, event: &str) {
    while !told(engine, run).await.iter().any(|told| told.starts_with(event)) {
        tokio::task::yield_now().await;
    }
}

async fn a_failing_branch_fails_the_block_when_the_others_have_settled(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = two(&tape, tape.gated("slow", &gate), tape.failing("bad"));
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    until_told(&engine, run.id(), "blockFailing").await;
    gate.open();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(failure(&outcome), "p: bad failed in attempt 1");
    assert_eq!(outcome.failed_step.unwrap().path.as_str(), "p/r/bad");
    assert_eq!(tape.count("after"), 0, "nothing new starts");
    let steps = engine.get(run.id()).await.unwrap().steps;
    let slow = steps.iter().find(|step| step.path.as_str() == "p/l/slow").unwrap();
    assert_eq!(slow.status, NodeStatus::Completed, "what was running is recorded");
}

async fn a_soft_failure_leaves_null(lab: Lab) {
    let tape = Tape::default();
    let soft = tape.failing("soft").continue_on_error();
    let workflow = Workflow::new("w")
        .parallel("p", |p| p.branch("l", |b| b.step(soft)).branch("r", |b| b.step(gives("a", 1))))
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!({ "l": null, "r": 1 }));
}

async fn collected_failures_are_shown_per_branch(lab: Lab) {
    let tape = Tape::default();
    let (bad, next) = (tape.failing("bad"), tape.step("next"));
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branch("l", |b| b.step(bad)).branch("r", |b| b.step(gives("a", 1)).step(next)).collect()
        })
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    let failed = json!({ "code": "error", "message": "bad failed in attempt 1", "step": "p/l/bad" });
    assert_eq!(output(&outcome), json!({ "l": { "$failed": failed }, "r": 1 }));
    let joined = run.output().await.unwrap();
    assert_eq!(joined.failure("l").unwrap().step, "p/l/bad");
    assert_eq!(joined.get::<u32>("r").unwrap(), 1);
}

async fn a_run_is_cancelled_during_fan_out(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let engine = lab.engine(two(&tape, tape.gated("x", &gate), tape.gated("y", &gate))).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(2).await;
    engine.cancel(run.id(), "enough").await.unwrap();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!((outcome.status, outcome.reason.as_deref()), (RunStatus::Cancelled, Some("enough")));
    let steps = engine.get(run.id()).await.unwrap().steps;
    assert!(steps.iter().all(|step| step.status == NodeStatus::Cancelled), "{steps:?}");
    assert_eq!(tape.count("after"), 0);
}

/// Branches that race: two wait, the others are quick.
fn race(join: Join, quick: Vec<(&'static str, TypedStep<u32>)>) -> Workflow<(), u32> {
    let late = |hours: u64| delay_step(Duration::from_secs(hours * 3600));
    Workflow::new("w")
        .parallel("p", |p| {
            let p = p.branch("slower", |b| b.step(late(2)).step(gives("late", 9))).join(join);
            let p = p.branch("slow", |b| b.step(late(1)).step(gives("late", 8)));
            quick.into_iter().fold(p, |p, (name, step)| p.branch(name, |b| b.step(step)))
        })
        .step(gives("next", 1))
        .build()
        .unwrap()
}

async fn the_first_success_wins(lab: Lab) {
    let workflow = race(Join::First, vec![("quick", gives("a", 1))]);
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(output(&outcome), 1);
    assert_eq!(results(&outcome)["p"]["result"], json!({ "quick": 1 }));
    assert_eq!(lab.elapsed(), 0, "nobody waits for those that lost");
}

async fn a_failure_does_not_win(lab: Lab) {
    let tape = Tape::default();
    let workflow = race(Join::First, vec![("bad", tape.failing("bad"))]);
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(results(&outcome)["p"]["result"], json!({ "slow": 8 }));
}

async fn the_first_n_successes_win(lab: Lab) {
    let tape = Tape::default();
    let quick = vec![("bad", tape.failing("bad")), ("x", gives("a", 1)), ("y", gives("a", 2))];
    let outcome = outcome_of(&lab, &race(Join::N(2), quick)).await;
    assert_eq!(results(&outcome)["p"]["result"], json!({ "x": 1, "y": 2 }));
    assert_eq!(lab.elapsed(), 0);
}

async fn n_that_cannot_be_reached_fails(lab: Lab) {
    let tape = Tape::default();
    let quick = vec![("bad", tape.failing("bad")), ("worse", tape.failing("worse")), ("x", gives("a", 1))];
    let outcome = outcome_of(&lab, &race(Join::N(4), quick)).await;
    let error = outcome.error.as_ref().unwrap();
    assert_eq!((error.code.as_str(), outcome.status), ("join_unreachable", RunStatus::Failed));
    assert!(error.message.contains("needs 4 of its 5 branches"), "{error}");
    assert_eq!(outcome.failed_step.as_ref().unwrap().step_name, "p");
    assert!(outcome.result("next").is_none());
    assert_eq!(lab.elapsed(), 0, "it fails as soon as it is clear");
}

#[step]
async fn sum(joined: Joined) -> Result<u32, StepError> {
    Ok(joined.get::<u32>("l")? + joined.get::<u32>("r")?)
}

async fn finally_maps_the_result(lab: Lab) {
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branch("l", |b| b.step(gives("a", 1))).branch("r", |b| b.step(gives("a", 2))).finally(sum)
        })
        .step(looks("look", &["p"]))
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!((output(&outcome), &results(&outcome)["p"]["result"]), (json!("p=3"), &json!(3)));
}

async fn finally_sees_collected_failures(lab: Lab) {
    let tape = Tape::default();
    let bad = tape.failing("bad");
    let failed = |joined: Joined| async move {
        let failed = joined.names().filter(|name| joined.failure(name).is_some());
        Ok::<_, StepError>(failed.map(str::to_owned).collect::<Vec<_>>())
    };
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branch("l", |b| b.step(bad)).branch("r", |b| b.step(gives("a", 2))).collect().finally(failed)
        })
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!(["l"]));
}

async fn a_failing_finally_fails_the_block(lab: Lab) {
    let workflow = Workflow::new("w")
        .parallel("p", |p| p.branch("x", |b| b.step(gives("a", 1))).finally(sum))
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(failure(&outcome), "p: no branch `l` was joined; there are: `x`");
}

async fn a_parallel_block_runs_in_a_loop(lab: Lab) {
    let twice = |iteration: Iteration| async move { Ok::<_, StepError>(iteration.index() == 1) };
    let tape = Tape::default();
    let (x, y) = (tape.step("x"), tape.step("y"));
    let workflow = Workflow::new("w")
        .repeat("again", |l| {
            l.body(|b| b.parallel("p", |p| p.branch("l", |b| b.step(x)).branch("r", |b| b.step(y))))
                .until(twice)
        })
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!({ "l": 1, "r": 1 }));
    assert_eq!((tape.count("x"), tape.count("y")), (2, 2));
}

async fn a_loop_runs_in_a_branch(lab: Lab) {
    let thrice = |iteration: Iteration| async move { Ok::<_, StepError>(iteration.index() == 2) };
    let tape = Tape::default();
    let x = tape.step("x");
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branch("l", |b| b.repeat("again", |l| l.body(|b| b.step(x)).until(thrice))).branch("r", |b| {
                b.for_each("all", says("list", vec![1_u32, 2]), |e| e.body(|b| b.step(gives("a", 1))))
            })
        })
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!({ "l": 1, "r": [1, 1] }));
    assert_eq!(tape.count("x"), 3);
}

async fn a_parallel_block_runs_in_a_parallel_block(lab: Lab) {
    let inner = |b: Block<()>| {
        b.parallel("p", |p| p.branches(["l", "r"], |_, b| b.step(gives("a", 1)).step(gives("b", 2))))
    };
    let workflow = Workflow::new("w").parallel("p", |p| p.branch("l", inner).branch("r", inner)).build();
    // Each branch has functions of its own under one name: they are known by their paths.
    let outcome = outcome_of(&lab, &workflow.unwrap()).await;
    let both = json!({ "l": 2, "r": 2 });
    assert_eq!(output(&outcome), json!({ "l": both, "r": both }));
}

async fn fan_out(lab: &Lab, count: u32) {
    let one = gives("one", 1);
    let count_them = |joined: Joined| async move {
        let sum: Result<u32, StepError> = joined.iter::<u32>().map(|(_, one)| one).sum();
        Ok::<_, StepError>((sum?, joined.names().last().unwrap_or_default().to_owned()))
    };
    let names = (0..count).map(|n| format!("b{n}"));
    let workflow = Workflow::new("w")
        .parallel("p", |p| p.branches(names, |_, b| b.step(one.clone())).finally(count_them))
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(lab, &workflow).await), json!([count, format!("b{}", count - 1)]));
}

async fn thirty_branches_are_joined(lab: Lab) {
    fan_out(&lab, 30).await;
}

async fn a_thousand_branches_are_joined(lab: Lab) {
    fan_out(&lab, 1_000).await;
}

async fn names_are_scoped_to_their_branch(lab: Lab) {
    let (look_l, look_r) =
        (looks("look", &["a", "b", "p", "before"]), looks("look", &["a", "b", "p", "before"]));
    let workflow = Workflow::new("w")
        .step(gives("before", 0))
        .parallel("p", |p| {
            p.branch("l", |b| b.step(gives("a", 1)).step(look_l))
                .branch("r", |b| b.step(gives("b", 2)).step(look_r))
        })
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(output(&outcome), json!({ "l": "a=1 before=0", "r": "b=2 before=0" }));
}

async fn a_branch_that_waits_does_not_disturb_the_others(lab: Lab) {
    let tape = Tape::default();
    let (flaky, quick) = (tape.failing("flaky").retry(3), tape.step("quick"));
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branch("sleeps", |b| b.step(delay_step(Duration::from_secs(3600))))
                .branch("retries", |b| b.step(flaky.continue_on_error()))
                .branch("works", |b| b.step(quick).step(gives("a", 1)))
        })
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.come_to_rest().await.unwrap();
    let steps = engine.get(run.id()).await.unwrap().steps;
    let status = |path: &str| steps.iter().find(|step| step.path.as_str() == path).unwrap().status;
    assert_eq!(status("p/works/a"), NodeStatus::Completed);
    assert_eq!(status("p/sleeps/delay"), NodeStatus::Waiting);
    assert_eq!(status("p/retries/flaky"), NodeStatus::WaitingRetry);
    assert_eq!(engine.status(run.id()).await.unwrap(), RunStatus::Waiting);
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(output(&outcome), json!({ "sleeps": null, "retries": null, "works": 1 }));
}

async fn losers_are_undone_at_once_and_the_block_goes_on(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let noted = tape.clone();
    let undo = move |undo: Undo<u32>| {
        noted.note(format!("undo {:?}", undo.result));
        async { Ok::<_, StepError>(()) }
    };
    let (book, wins) = (tape.step("book").compensate(undo.named("undo")), tape.gated("wins", &gate));
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branch("loses", |b| b.step(book).step(delay_step(Duration::from_secs(3600))))
                .branch("wins", |b| b.step(wins))
                .join(Join::First)
        })
        .step(tape.step("next"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    until_told(&engine, run.id(), "sleepStarted p/loses/delay").await;
    gate.open();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(results(&outcome)["p"]["result"], json!({ "wins": 1 }));
    let mut entries = tape.entries();
    entries.sort();
    assert_eq!(
        (output(&outcome), entries),
        (json!(1), vec!["book".into(), "next".into(), "undo Some(1)".into(), "wins".into()])
    );
    assert_eq!(lab.elapsed(), 0);
}

async fn the_run_ends_only_when_losers_have_settled(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let noted = tape.clone();
    let told_gate = gate.clone();
    let stubborn = move |cancellation: Cancellation| {
        let (tape, gate) = (noted.clone(), told_gate.clone());
        async move {
            cancellation.cancelled().await;
            tape.note("told");
            gate.pass().await;
            Ok::<_, StepError>(1)
        }
    };
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branch("loses", |b| b.step(stubborn.named("stubborn")))
                .branch("wins", |b| b.step(gives("a", 1)))
                .join(Join::First)
        })
        .step(tape.step("next"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    until_told(&engine, run.id(), "callSucceeded next").await;
    assert_eq!(
        engine.status(run.id()).await.unwrap(),
        RunStatus::Running,
        "the block went on, the run has not ended"
    );
    gate.open();
    let outcome = engine.finish(run.id()).await.unwrap();
    assert_eq!(output(&outcome), 1);
    assert_eq!(results(&outcome)["p"]["result"], json!({ "wins": 1 }));
}

async fn after_a_crash_only_open_branches_go_on(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow = two(&tape, tape.step("done"), tape.gated("held", &gate));
    let reached = gate.clone();
    let life = async move |engine: TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        reached.arrived(1).await;
        until_told(&engine, &run, "callSucceeded p/l/after").await;
        run
    };
    let run = lab.life_of(&workflow, life).await;
    gate.open();
    let outcome = lab.engine(&workflow).await.finish(&run).await.unwrap();
    assert_eq!(output(&outcome), json!({ "l": 1, "r": 2 }));
    assert_eq!((tape.count("done"), tape.count("after"), tape.count("held")), (1, 1, 2));
}

async fn a_joined_block_is_one_entry(lab: Lab) {
    let workflow = Workflow::new("w")
        .parallel("p", |p| p.branch("l", |b| b.step(gives("a", 1))))
        .step(looks("look", &["p", "a", "l"]))
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(output(&outcome), r#"p={"l":1}"#);
    assert_eq!(outcome.results.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["p", "look"]);
}

async fn a_later_step_reads_what_was_joined(lab: Lab) {
    let read = |steps: Steps, last: LastStep| async move {
        let joined: Joined = steps.get("p").await?;
        assert_eq!(joined, last.get()?);
        joined.get::<u32>("l")
    };
    let workflow = Workflow::new("w")
        .parallel("p", |p| p.branch("l", |b| b.step(gives("a", 7))))
        .step(read.named("read"))
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), 7);
}
