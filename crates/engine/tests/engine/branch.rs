//! Choices between blocks.

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{RunStatus, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::lab::{Lab, facts, told};
use crate::steps::{Gate, Tape, failure, gives, looks, outcome_of, output, results, says};

facts![
    the_chosen_case_runs_and_no_other,
    true_and_false_choose_then_and_else,
    false_without_an_else_runs_nothing,
    an_enum_chooses_by_its_name,
    what_no_case_has_runs_the_default,
    what_no_case_has_is_a_failure_without_a_default,
    the_decision_survives_a_restart,
    the_decision_is_made_once,
    a_later_step_reads_the_result,
    two_choices_follow_each_other,
    a_choice_that_fails_fails_the_node,
    a_failing_case_names_the_branch_and_the_step,
    a_workflow_runs_in_a_case,
    a_parallel_block_runs_in_a_case,
    a_run_is_cancelled_inside_of_a_case,
    a_later_edit_of_the_choice_does_not_change_it,
];

fn route(name: &str) -> Workflow<(), u32> {
    route_with(&Tape::default(), name)
}

fn route_with(tape: &Tape, name: &str) -> Workflow<(), u32> {
    let (air, sea, road) =
        (tape.doing("fly", |_| Ok(1)), tape.doing("sail", |_| Ok(2)), tape.doing("drive", |_| Ok(3)));
    Workflow::new("w")
        .branch("route", says("choose", name.to_owned()), |c| {
            c.case("air", |b| b.step(air)).case("sea", |b| b.step(sea)).default(|b| b.step(road))
        })
        .build()
        .unwrap()
}

async fn the_chosen_case_runs_and_no_other(lab: Lab) {
    let tape = Tape::default();
    assert_eq!(output(&outcome_of(&lab, &route_with(&tape, "sea")).await), 2);
    assert_eq!(tape.entries(), ["sail"]);
}

async fn true_and_false_choose_then_and_else(lab: Lab) {
    for (answer, expected) in [(true, 1), (false, 2)] {
        let workflow = Workflow::new(format!("w{answer}"))
            .branch("size", says("large", answer), |c| {
                c.then(|b| b.step(gives("a", 1))).otherwise(|b| b.step(gives("a", 2)))
            })
            .build()
            .unwrap();
        assert_eq!(output(&outcome_of(&lab, &workflow).await), expected);
    }
}

async fn false_without_an_else_runs_nothing(lab: Lab) {
    let tape = Tape::default();
    let body = tape.step("a");
    let workflow =
        Workflow::new("w").branch("size", says("large", false), |c| c.then(|b| b.step(body))).build();
    let workflow = workflow.unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), None);
    assert!(tape.entries().is_empty());
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Way {
    #[allow(dead_code, reason = "the case that is not taken")]
    ByAir,
    BySea,
}

async fn an_enum_chooses_by_its_name(lab: Lab) {
    let workflow = Workflow::new("w")
        .branch("route", says("way", Way::BySea), |c| {
            c.case("byAir", |b| b.step(gives("a", 1))).case("bySea", |b| b.step(gives("a", 2)))
        })
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), 2);
}

async fn what_no_case_has_runs_the_default(lab: Lab) {
    assert_eq!(output(&outcome_of(&lab, &route("moon")).await), 3);
}

async fn what_no_case_has_is_a_failure_without_a_default(lab: Lab) {
    let workflow = Workflow::new("w")
        .branch("route", says("choose", "moon".to_owned()), |c| c.case("air", |b| b.step(gives("a", 1))))
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    let error = outcome.error.as_ref().unwrap();
    assert_eq!(outcome.failed_step.as_ref().unwrap().step_name, "route");
    assert!(error.message.contains("`moon`") && error.message.contains("`air`"), "{error}");
}

/// A choice that writes down that it was asked, and a case that waits.
fn held(tape: &Tape, gate: &Gate, answer: &str) -> Workflow<(), u32> {
    let (noted, answer) = (tape.clone(), answer.to_owned());
    let choose = move || {
        noted.note("asked");
        std::future::ready(Ok::<_, StepError>(answer.clone()))
    };
    let (held, other) = (tape.gated("held", gate), tape.step("other"));
    Workflow::new("w")
        .branch("route", choose, |c| c.case("sea", |b| b.step(held)).default(|b| b.step(other)))
        .build()
        .unwrap()
}

async fn die_inside(lab: &Lab, workflow: &Workflow<(), u32>, gate: &Gate) -> rival::RunId {
    let reached = gate.clone();
    let life = async move |engine: TestEngine| {
        let run = engine.run("w", ()).await.unwrap().id().clone();
        reached.arrived(1).await;
        run
    };
    let run = lab.life_of(workflow, life).await;
    gate.open();
    run
}

async fn the_decision_survives_a_restart(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let run = die_inside(&lab, &held(&tape, &gate, "sea"), &gate).await;
    let engine = lab.engine(held(&tape, &gate, "sea")).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 2);
    assert_eq!(tape.entries(), ["asked", "held", "held"]);
}

async fn the_decision_is_made_once(lab: Lab) {
    let engine = lab.engine(route("sea")).await;
    let run = engine.run("w", ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    let told = told(&engine, run.id()).await;
    assert_eq!(told.iter().filter(|event| event.starts_with("callStarted route#")).count(), 1, "{told:?}");
}

async fn a_later_step_reads_the_result(lab: Lab) {
    let workflow = Workflow::new("w")
        .step(gives("before", 1))
        .branch("size", says("large", true), |c| c.then(|b| b.step(looks("look", &["before", "size"]))))
        .step(looks("after", &["size", "look"]))
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(output(&outcome), r#"size="before=1""#);
    assert_eq!(
        results(&outcome)["size"],
        json!({ "result": "before=1", "state": {}, "status": "completed" })
    );
}

async fn two_choices_follow_each_other(lab: Lab) {
    let workflow = Workflow::new("w")
        .branch("one", says("yes", true), |c| c.then(|b| b.step(gives("a", 1))))
        .branch("two", says("no", false), |c| {
            c.then(|b| b.step(gives("a", 2)))
                .otherwise(|b| b.step(looks("look", &["one", "a"])).step(gives("a", 3)))
        })
        .step(looks("after", &["one", "two"]))
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), "one=1 two=3");
}

async fn a_choice_that_fails_fails_the_node(lab: Lab) {
    let broken = || async { Err::<bool, _>(StepError::new("who knows")) };
    let workflow =
        Workflow::new("w").branch("size", broken, |c| c.then(|b| b.step(gives("a", 1)))).build().unwrap();
    assert_eq!(failure(&outcome_of(&lab, &workflow).await), "size: who knows");
}

async fn a_failing_case_names_the_branch_and_the_step(lab: Lab) {
    let tape = Tape::default();
    let bad = tape.failing("bad");
    let workflow = Workflow::new("w")
        .branch("size", says("large", true), |c| c.then(|b| b.step(bad)))
        .step(tape.step("never"))
        .build()
        .unwrap();
    let outcome = outcome_of(&lab, &workflow).await;
    assert_eq!(failure(&outcome), "size: bad failed in attempt 1");
    assert_eq!(outcome.failed_step.unwrap().path.as_str(), "size/then/bad");
    assert_eq!(tape.entries(), ["bad"]);
}

async fn a_workflow_runs_in_a_case(lab: Lab) {
    let inner = Workflow::new("inner").step(gives("a", 1)).step(gives("b", 2)).build().unwrap();
    let workflow = Workflow::new("w")
        .branch("size", says("large", true), |c| c.then(|b| b.workflow(&inner)))
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), 2);
}

async fn a_parallel_block_runs_in_a_case(lab: Lab) {
    let workflow = Workflow::new("w")
        .branch("size", says("large", true), |c| {
            c.then(|b| {
                b.parallel("p", |p| {
                    p.branch("l", |b| b.step(gives("a", 1))).branch("r", |b| b.step(gives("a", 2)))
                })
            })
        })
        .build()
        .unwrap();
    assert_eq!(output(&outcome_of(&lab, &workflow).await), json!({ "l": 1, "r": 2 }));
}

async fn a_run_is_cancelled_inside_of_a_case(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let engine = lab.engine(held(&tape, &gate, "sea")).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    engine.cancel(run.id(), "enough").await.unwrap();
    assert_eq!(engine.finish(run.id()).await.unwrap().status, RunStatus::Cancelled);
}

/// The function may answer otherwise after a restart: what was decided stays.
async fn a_later_edit_of_the_choice_does_not_change_it(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let run = die_inside(&lab, &held(&tape, &gate, "sea"), &gate).await;
    let engine = lab.engine(held(&tape, &gate, "air")).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 2);
    assert_eq!(tape.count("other"), 0);
}
