//! Signals: messages from outside that a run waits for.

use std::collections::BTreeSet;
use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{NodeStatus, RunError, RunId, RunStatus, signal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::lab::{Lab, facts, since_start, told};
use crate::steps::{Tape, failure, output};

facts![
    a_signal_lets_the_run_go_on_with_its_payload,
    the_deadline_is_recorded_and_shown,
    a_bad_payload_is_refused_with_every_violation,
    an_unknown_signal_is_kept,
    a_signal_sent_before_the_wait_is_kept,
    a_signal_sent_twice_with_one_id_counts_once,
    several_signals_of_one_name_are_taken_one_by_one,
    a_timeout_is_an_error,
    a_timeout_is_a_value,
    a_timeout_after_the_receipt_does_nothing,
    a_signal_sent_in_time_wins_although_nobody_was_there,
    a_signal_sent_too_late_loses_although_nobody_was_there,
    a_signal_to_a_run_that_has_ended_is_a_conflict,
    a_signal_to_nobody_is_not_found,
    too_many_signals_are_refused,
    a_run_that_waits_leaves_memory,
    a_waiting_run_can_be_cancelled,
    a_signal_to_a_paused_run_waits_for_resume,
    waiting_in_one_branch_leaves_the_others_alone,
    an_orderly_stop_loses_no_signal,
];

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Approval {
    by: String,
    amount: u32,
}

const HOUR: Duration = Duration::from_secs(3_600);

fn approval() -> Workflow<(), Approval> {
    Workflow::new("w").step(signal::<Approval>("approval").timeout(HOUR)).build().unwrap()
}

async fn started(engine: &TestEngine) -> RunId {
    let run = engine.run("w", ()).await.unwrap().id().clone();
    engine.come_to_rest().await.unwrap();
    run
}

async fn a_signal_lets_the_run_go_on_with_its_payload(lab: Lab) {
    let engine = lab.engine(&approval()).await;
    let run = started(&engine).await;
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Waiting);
    let status = engine.signal(&run, "approval", json!({"by": "ann", "amount": 3})).await.unwrap();
    assert_eq!(status, RunStatus::Completed);
    assert_eq!(output(&engine.wait(&run).await.unwrap()), json!({"by": "ann", "amount": 3}));
    let expected =
        ["runStarted", "signalAwaited approval", "signalReceived", "signalTaken approval", "runCompleted"];
    assert_eq!(told(&engine, &run).await, expected);
}

async fn the_deadline_is_recorded_and_shown(lab: Lab) {
    let engine = lab.engine(&approval()).await;
    let run = started(&engine).await;
    let view = engine.get(&run).await.unwrap();
    let step = &view.steps[0];
    assert_eq!((step.status, step.wake_at.map(since_start)), (NodeStatus::Waiting, Some(3_600_000)));
    assert_eq!(
        engine.explain(&run).await.unwrap(),
        format!("run `{run}` waits at `approval` for the signal `approval`, for another 60 min")
    );
}

async fn a_bad_payload_is_refused_with_every_violation(lab: Lab) {
    let engine = lab.engine(&approval()).await;
    let run = started(&engine).await;
    let refused = engine.signal(&run, "approval", json!({"by": 1, "amount": -3})).await.unwrap_err();
    let RunError::InvalidSignal { violations, .. } = &refused else { panic!("{refused}") };
    let paths: BTreeSet<&str> = violations.iter().map(|violation| violation.path.as_str()).collect();
    assert_eq!((paths, refused.code()), (["/amount", "/by"].into(), "invalid_signal"));
    assert_eq!(told(&engine, &run).await.len(), 2, "nothing was recorded");
}

async fn an_unknown_signal_is_kept(lab: Lab) {
    let engine = lab.engine(&approval()).await;
    let run = started(&engine).await;
    assert_eq!(engine.signal(&run, "other", ()).await.unwrap(), RunStatus::Waiting);
}

async fn a_signal_sent_before_the_wait_is_kept(lab: Lab) {
    let tape = Tape::default();
    let workflow = Workflow::new("w")
        .step(delay_step(HOUR))
        .step(signal::<u32>("go"))
        .step(tape.step("after"))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    engine.handle(run.clone()).await.unwrap().signal("go", 7).await.unwrap();
    let outcome = engine.finish(&run).await.unwrap();
    assert_eq!(outcome.result("go").unwrap().result.as_ref().unwrap().to_json(), json!(7));
    assert_eq!(tape.count("after"), 1);
}

async fn a_signal_sent_twice_with_one_id_counts_once(lab: Lab) {
    let workflow = Workflow::new("w")
        .step(signal::<u32>("go"))
        .step(signal::<u32>("go").named("again").timeout_value(HOUR))
        .build()
        .unwrap();
    let run = lab
        .life_of(&workflow, async |engine: TestEngine| {
            let run = started(&engine).await;
            for _ in 0..3 {
                engine.signal(&run, "go", 1).id("first").await.unwrap();
            }
            run
        })
        .await;
    let engine = lab.engine(&workflow).await;
    engine.signal(&run, "go", 1).id("first").await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), json!(null));
}

async fn several_signals_of_one_name_are_taken_one_by_one(lab: Lab) {
    let mut workflow = Workflow::new("w").step(signal::<u32>("go"));
    for _ in 0..2 {
        workflow = workflow.step(signal::<u32>("go"));
    }
    let engine = lab.engine(workflow.build().unwrap()).await;
    let run = started(&engine).await;
    for n in 1..=3 {
        engine.signal(&run, "go", n).await.unwrap();
    }
    let outcome = engine.wait(&run).await.unwrap();
    let taken: Vec<String> =
        outcome.results.iter().map(|(_, step)| step.result.as_ref().unwrap().as_json().to_owned()).collect();
    assert_eq!(taken, ["1", "2", "3"]);
}

async fn a_timeout_is_an_error(lab: Lab) {
    let engine = lab.engine(&approval()).await;
    let run = started(&engine).await;
    let outcome = engine.finish(&run).await.unwrap();
    assert_eq!(
        failure(&outcome),
        "approval: `approval` waited for the signal `approval`, and none came in time"
    );
    assert_eq!(outcome.error.unwrap().code, "signal_timeout");
    assert_eq!(lab.elapsed(), 3_600_000);
}

async fn a_timeout_is_a_value(lab: Lab) {
    let workflow: Workflow<(), Option<u32>> =
        Workflow::new("w").step(signal::<u32>("go").timeout_value(HOUR)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run(&workflow, ()).await.unwrap();
    engine.finish(run.id()).await.unwrap();
    assert_eq!(run.output().await.unwrap(), None);
}

async fn a_timeout_after_the_receipt_does_nothing(lab: Lab) {
    let workflow = Workflow::new("w")
        .step(signal::<u32>("go").timeout(HOUR))
        .step(delay_step(2 * HOUR))
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    engine.signal(&run, "go", 1).await.unwrap();
    output(&engine.finish(&run).await.unwrap());
    assert_eq!(lab.elapsed(), 7_200_000);
}

/// Leaves a message while no engine runs, as another process would.
async fn sent_while_nobody_was_there(lab: &Lab, sent_after: Duration) -> (RunId, TestEngine) {
    let run = lab.life_of(&approval(), async |engine: TestEngine| started(&engine).await).await;
    lab.pass(sent_after);
    let body = json!({"signal": {"name": "approval", "id": null, "payload": {"by": "ann", "amount": 1}}});
    let message = rival_store::NewMessage { id: None, body: body.into() };
    rival::Store::send(&*lab.store(), &run, message, lab.clock.now()).await.unwrap();
    lab.pass(2 * HOUR);
    let engine = lab.engine(&approval()).await;
    engine.come_to_rest().await.unwrap();
    (run, engine)
}

async fn a_signal_sent_in_time_wins_although_nobody_was_there(lab: Lab) {
    let (run, engine) = sent_while_nobody_was_there(&lab, HOUR - Duration::from_millis(1)).await;
    assert_eq!(output(&engine.wait(&run).await.unwrap())["by"], "ann");
}

async fn a_signal_sent_too_late_loses_although_nobody_was_there(lab: Lab) {
    let (run, engine) = sent_while_nobody_was_there(&lab, HOUR).await;
    assert_eq!(engine.wait(&run).await.unwrap().error.unwrap().code, "signal_timeout");
}

async fn a_signal_to_a_run_that_has_ended_is_a_conflict(lab: Lab) {
    let engine = lab.engine(&approval()).await;
    let run = started(&engine).await;
    engine.cancel(&run, "enough").await.unwrap();
    let refused = engine.signal(&run, "approval", json!({"by": "ann", "amount": 3})).await.unwrap_err();
    assert_eq!(
        (refused.code(), refused.to_string()),
        ("run_finished", format!("run `{run}` has ended: it was cancelled"))
    );
}

async fn a_signal_to_nobody_is_not_found(lab: Lab) {
    let engine = lab.engine(&approval()).await;
    assert_eq!(engine.signal(&"nobody".into(), "go", ()).await.unwrap_err().code(), "run_not_found");
}

async fn too_many_signals_are_refused(lab: Lab) {
    let workflow = Workflow::new("w").step(signal::<u32>("go")).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    for n in 0..1_000 {
        engine.signal(&run, "other", n).await.unwrap();
    }
    let refused = engine.signal(&run, "go", 1).await.unwrap_err();
    assert_eq!(refused.code(), "signals_full");
    assert_eq!(
        refused.to_string(),
        format!("run `{run}` keeps 1000 signals that nobody has taken, and takes no more")
    );
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Waiting);
    // One that is sent again is refused again, not taken for one that was kept.
    for _ in 0..2 {
        assert_eq!(engine.signal(&run, "go", 1).id("s").await.unwrap_err().code(), "signals_full");
    }
}

async fn a_run_that_waits_leaves_memory(lab: Lab) {
    let engine = lab.engine(&approval()).await;
    started(&engine).await;
    assert!(engine.active_runs().is_empty());
}

async fn a_waiting_run_can_be_cancelled(lab: Lab) {
    let engine = lab.engine(&approval()).await;
    let run = started(&engine).await;
    assert_eq!(engine.cancel(&run, "enough").await.unwrap(), RunStatus::Cancelled);
}

async fn a_signal_to_a_paused_run_waits_for_resume(lab: Lab) {
    let engine = lab.engine(&approval()).await;
    let run = started(&engine).await;
    engine.pause(&run).await.unwrap();
    let payload = json!({"by": "ann", "amount": 3});
    assert_eq!(engine.signal(&run, "approval", payload).await.unwrap(), RunStatus::Paused);
    engine.advance(2 * HOUR).await.unwrap();
    assert_eq!(engine.resume(&run).await.unwrap(), RunStatus::Completed);
}

async fn waiting_in_one_branch_leaves_the_others_alone(lab: Lab) {
    let tape = Tape::default();
    let (a, b) = (tape.step("a"), tape.step("b"));
    let workflow = Workflow::new("w")
        .parallel("p", |p| {
            p.branch("waits", |branch| branch.step(signal::<u32>("go")))
                .branch("works", |branch| branch.step(a).step(b))
        })
        .build()
        .unwrap();
    let engine = lab.engine(&workflow).await;
    let run = started(&engine).await;
    assert_eq!(tape.entries(), ["a", "b"]);
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Waiting);
    engine.signal(&run, "go", 5).await.unwrap();
    assert_eq!(output(&engine.wait(&run).await.unwrap()), json!({"waits": 5, "works": 1}));
}

async fn an_orderly_stop_loses_no_signal(lab: Lab) {
    let run = lab
        .life_of(&approval(), async |engine: TestEngine| {
            let run = started(&engine).await;
            engine.shutdown(Duration::from_secs(1)).await;
            run
        })
        .await;
    let engine = lab.engine(&approval()).await;
    engine.signal(&run, "approval", json!({"by": "ann", "amount": 3})).await.unwrap();
    output(&engine.wait(&run).await.unwrap());
}
