//! Children: runs that a step starts and waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{ChildFailure, Page, RunId, RunRow, RunStatus, TypedStep};
use rival_engine::verify;
use serde_json::json;

use crate::lab::{Lab, facts, until_status};
use crate::steps::{Gate, Tape, failure, output};

facts![
    a_child_gives_its_output,
    a_child_is_a_run_of_its_own,
    a_child_begins_with_the_commit_that_starts_it,
    a_child_without_room_is_queued,
    a_failing_child_is_a_typed_error,
    several_children_one_after_the_other_and_side_by_side,
    children_have_children,
    a_child_by_name_with_json,
    bad_input_for_a_child_fails_the_operation,
    an_unknown_child_names_the_known_ones,
    a_completed_child_is_not_run_again,
    a_child_that_is_retried_by_itself_counts_at_the_end,
    a_child_is_cancelled_when_its_step_drops_it,
    a_map_keeps_the_order,
    a_map_over_nothing,
    a_map_with_a_failure_cancels_the_rest,
    a_map_that_collects_shows_each,
    a_map_never_exceeds_its_concurrency,
    a_map_of_a_thousand,
    a_crash_after_half_of_the_children_runs_the_rest_only,
    a_crash_between_the_childs_end_and_the_parents_wake,
    a_full_engine_makes_room_for_the_children_it_waits_for,
    cancel_reaches_children_and_grandchildren,
    a_parent_that_fails_leaves_no_child,
    a_parent_that_is_killed_leaves_no_child,
    a_child_that_lost_a_race_is_cancelled_and_waited_for,
    cancel_of_a_child_is_told_to_its_parent,
    a_child_that_is_stuck_is_left_after_the_grace_period,
    a_paused_parent_starts_no_children,
    ids_with_a_tilde_are_for_children,
    a_waiting_parent_names_its_children,
    a_crash_after_any_commit_changes_nothing,
    a_store_that_fails_for_a_while_fails_nobody,
];

const HOUR: Duration = Duration::from_secs(3_600);

/// A workflow `child` that takes a number and gives its double.
fn doubling(tape: &Tape) -> Workflow<u32, u32> {
    let tape = tape.clone();
    let double = move |Input(n): Input<u32>| {
        tape.note(format!("child {n}"));
        async move { Ok::<_, StepError>(2 * n) }
    };
    Workflow::new("child").input::<u32>().step(double.named("double")).build().unwrap()
}

/// A workflow `child` that does as the number says: fails at 13, waits for `go` at 99.
fn moody() -> Workflow<u32, u32> {
    let double = |Input(n): Input<u32>, durable: Durable| async move {
        match n {
            13 => Err(StepError::new("thirteen").code("unlucky")),
            99 => durable.signal::<u32>("go").await,
            n => Ok(2 * n),
        }
    };
    Workflow::new("child").input::<u32>().step(double.named("double")).build().unwrap()
}

fn parent<F, Fut>(child: &Workflow<u32, u32>, body: F) -> Workflow<(), u32>
where
    F: Fn(Durable, Workflow<u32, u32>) -> Fut + Send + Sync + Clone + 'static,
    Fut: Future<Output = Result<u32, StepError>> + Send + 'static,
{
    Workflow::new("parent").step(parent_step(child, body)).build().unwrap()
}

fn parent_step<F, Fut>(child: &Workflow<u32, u32>, body: F) -> TypedStep<u32>
where
    F: Fn(Durable, Workflow<u32, u32>) -> Fut + Send + Sync + Clone + 'static,
    Fut: Future<Output = Result<u32, StepError>> + Send + 'static,
{
    let child = child.clone();
    let function = move |durable: Durable| {
        let (body, child) = (body.clone(), child.clone());
        async move { body(durable, child).await }
    };
    function.named("p")
}

async fn engine(lab: &Lab, parent: &Workflow<(), u32>, child: &Workflow<u32, u32>) -> TestEngine {
    lab.builder().workflow(parent).workflow(child).build().await.unwrap()
}

async fn start(engine: &TestEngine) -> RunId {
    let run = engine.run("parent", ()).id("r").await.unwrap().id().clone();
    engine.come_to_rest().await.unwrap();
    run
}

async fn children(engine: &TestEngine, run: &RunId) -> Vec<RunRow> {
    let filter = RunFilter { parent: Some(run.clone()), ..RunFilter::default() };
    let mut rows = engine.runs(&filter, &Page { limit: 20_000, ..Page::default() }).await.unwrap();
    rows.reverse();
    rows
}

/// Nothing is wrong in the whole store.
async fn sound(lab: &Lab, engine: TestEngine) {
    engine.shutdown(Duration::ZERO).await;
    let report = verify::check_store(&*lab.store()).await.unwrap();
    assert!(report.is_sound(), "{:#?}", report.breaches);
}

/// Claimed runs have a later epoch than the first.
async fn epoch_of_a_child(lab: &Lab, live_max: usize) -> i64 {
    let child = moody();
    let parent = parent(&child, |durable, child| async move { durable.run(&child, 1).await });
    let builder = lab.builder().configure(|it| it.max_live_runs(live_max));
    let engine = builder.workflow(&parent).workflow(&child).build().await.unwrap();
    let run = start(&engine).await;
    assert_eq!(engine.summary(&run).await.unwrap().status, RunStatus::Completed);
    let epoch = children(&engine, &run).await[0].epoch.0;
    sound(lab, engine).await;
    epoch
}

async fn a_child_begins_with_the_commit_that_starts_it(lab: Lab) {
    assert_eq!(epoch_of_a_child(&lab, 10).await, 1);
}

async fn a_child_without_room_is_queued(lab: Lab) {
    assert_eq!(epoch_of_a_child(&lab, 1).await, 2);
}

async fn a_child_gives_its_output(lab: Lab) {
    let child = doubling(&Tape::default());
    let parent = parent(&child, |durable, child| async move { durable.run(&child, 21).await });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 42);
    sound(&lab, engine).await;
}

async fn a_child_is_a_run_of_its_own(lab: Lab) {
    let child = doubling(&Tape::default());
    let parent = parent(&child, |durable, child| async move { durable.run(&child, 21).await });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    engine.finish(&run).await.unwrap();
    let row = &children(&engine, &run).await[0];
    assert_eq!((row.id.as_str(), row.workflow.as_str(), row.status), ("r~c1", "child", RunStatus::Completed));
    let view = engine.get(&row.id).await.unwrap();
    assert_eq!((view.parent, view.input.to_json()), (Some(run.clone()), json!(21)));
    let view = serde_json::to_value(engine.get(&run).await.unwrap()).unwrap();
    let (began, ended) = (&view["createdAt"], &view["endedAt"]);
    let operation = json!({
        "kind": "run", "name": "child", "occurrence": 1, "status": "completed",
        "startedAt": began, "endedAt": ended, "result": 42,
        "children": [{"index": 0, "runId": "r~c1", "status": "completed"}],
    });
    assert_eq!(view["steps"][0]["operations"], json!([operation]));
}

async fn a_failing_child_is_a_typed_error(lab: Lab) {
    let child = moody();
    let parent = parent(&child, |durable, child| async move {
        let error = durable.run(&child, 13).await.unwrap_err();
        let failure = ChildFailure::of(&error).unwrap();
        assert_eq!(failure.child.as_str(), "r~c1");
        assert_eq!(failure.step.unwrap().as_str(), "double");
        assert_eq!((failure.code.as_str(), failure.message.as_str()), ("unlucky", "thirteen"));
        Err(error)
    });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    let outcome = engine.finish(&run).await.unwrap();
    assert_eq!(failure(&outcome), "p: child run `r~c1` failed at `double`: thirteen");
    assert_eq!(outcome.error.unwrap().code, "child_failed");
}

async fn several_children_one_after_the_other_and_side_by_side(lab: Lab) {
    let child = doubling(&Tape::default());
    let parent = parent(&child, |durable, child| async move {
        let first = durable.run(&child, 1).await?;
        let (a, b) = futures::join!(durable.run(&child, first), durable.run(&child, 10));
        Ok(a? + b?)
    });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 24);
    assert_eq!(children(&engine, &run).await.len(), 3);
}

async fn children_have_children(lab: Lab) {
    let leaf = doubling(&Tape::default());
    let inner = leaf.clone();
    let middle = move |Input(n): Input<u32>, durable: Durable| {
        let leaf = inner.clone();
        async move { durable.run(&leaf, n + 1).await }
    };
    let middle = Workflow::new("middle").input::<u32>().step(middle.named("m")).build().unwrap();
    let parent = parent(&middle, |durable, child| async move { durable.run(&child, 1).await });
    let engine = lab.builder().workflow(&parent).workflow(&middle).workflow(&leaf).build().await.unwrap();
    let run = start(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 4);
    assert_eq!(children(&engine, &"r~c1".into()).await[0].id.as_str(), "r~c1~c1");
}

async fn a_child_by_name_with_json(lab: Lab) {
    let child = doubling(&Tape::default());
    let parent = parent(&child, |durable, _| async move {
        let output: rival::Value = durable.run("child", json!(4)).await?;
        Ok(output.decode()?)
    });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 8);
}

async fn bad_input_for_a_child_fails_the_operation(lab: Lab) {
    let child = doubling(&Tape::default());
    let parent = parent(&child, |durable, _| async move {
        durable.run("child", json!("four")).await?;
        Ok(1)
    });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    let outcome = engine.finish(&run).await.unwrap();
    assert_eq!(outcome.error.unwrap().code, "invalid_input");
    assert!(children(&engine, &run).await.is_empty());
}

async fn an_unknown_child_names_the_known_ones(lab: Lab) {
    let child = doubling(&Tape::default());
    let parent = parent(&child, |durable, _| async move {
        durable.map([1, 2], "chidl").await?;
        Ok(1)
    });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    let outcome = engine.finish(&run).await.unwrap();
    assert_eq!(
        failure(&outcome),
        "p: no workflow is called `chidl`; registered are: child, parent; did you mean `child`?"
    );
}

async fn a_completed_child_is_not_run_again(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let child = doubling(&tape);
    let held = gate.clone();
    let parent = parent(&child, move |durable, child| {
        let held = held.clone();
        async move {
            let doubled = durable.run(&child, 21).await?;
            held.pass().await;
            Ok(doubled)
        }
    });
    let (arrived, both) = (gate.clone(), (parent.clone(), child.clone()));
    lab.life(|lab| async move {
        let engine = engine(&lab, &both.0, &both.1).await;
        engine.run("parent", ()).id("r").await.unwrap();
        arrived.arrived(1).await;
    })
    .await;
    gate.open();
    let engine = engine(&lab, &parent, &child).await;
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 42);
    assert_eq!(tape.entries(), ["child 21"]);
}

async fn a_child_that_is_retried_by_itself_counts_at_the_end(lab: Lab) {
    let tries = Arc::new(AtomicU32::new(0));
    let flaky = move |Input(n): Input<u32>| {
        let tried = tries.fetch_add(1, Ordering::AcqRel);
        async move { if tried < 2 { Err(StepError::new("not yet")) } else { Ok(n) } }
    };
    let child =
        Workflow::new("child").input::<u32>().step(flaky.named("flaky")).max_retries(2).build().unwrap();
    let parent = parent(&child, |durable, child| async move { durable.run(&child, 5).await });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 5);
    let ids: Vec<String> = children(&engine, &run).await.iter().map(|row| row.id.to_string()).collect();
    assert_eq!(ids, ["r~c1", "r~c1~1", "r~c1~2"]);
    sound(&lab, engine).await;
}

fn mapping(child: &Workflow<u32, u32>, items: Vec<u32>, concurrency: u32) -> Workflow<(), u32> {
    parent(child, move |durable, child| {
        let items = items.clone();
        async move {
            let doubled = durable.map(items.clone(), &child).concurrency(concurrency).await?;
            let expected: Vec<u32> = items.iter().map(|n| 2 * n).collect();
            assert_eq!(doubled, expected);
            Ok(doubled.iter().sum())
        }
    })
}

/// While the step goes on.
async fn a_child_is_cancelled_when_its_step_drops_it(lab: Lab) {
    let child = moody();
    let parent = parent(&child, |durable, child| async move {
        tokio::select! {
            output = durable.run(&child, 99) => return output,
            slept = durable.sleep(Duration::from_secs(60)) => slept?,
        }
        durable.signal::<u32>("end").await
    });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    engine.advance(Duration::from_secs(60)).await.unwrap();
    let rows = children(&engine, &run).await;
    assert_eq!(rows.iter().map(|row| row.status).collect::<Vec<_>>(), [RunStatus::Cancelled]);
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Waiting);
    engine.signal(&run, "end", 7).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 7);
}

async fn a_map_keeps_the_order(lab: Lab) {
    let child = doubling(&Tape::default());
    let parent = mapping(&child, (1..=12).collect(), 5);
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 156);
    sound(&lab, engine).await;
}

async fn a_map_over_nothing(lab: Lab) {
    let child = doubling(&Tape::default());
    let parent = mapping(&child, Vec::new(), 5);
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 0);
}

async fn a_map_with_a_failure_cancels_the_rest(lab: Lab) {
    let child = moody();
    let parent = parent(&child, |durable, child| async move {
        durable.map([1, 99, 13, 4], &child).concurrency(3).await?;
        Ok(1)
    });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    let outcome = engine.finish(&run).await.unwrap();
    assert_eq!(outcome.error.unwrap().code, "child_failed");
    let statuses: Vec<RunStatus> = children(&engine, &run).await.iter().map(|row| row.status).collect();
    assert!(statuses.contains(&RunStatus::Cancelled) && statuses.iter().all(|status| status.is_terminal()));
    sound(&lab, engine).await;
}

async fn a_map_that_collects_shows_each(lab: Lab) {
    let child = moody();
    let parent = parent(&child, |durable, child| async move {
        let each = durable.map([1, 13, 3], &child).collect().await?;
        let codes: Vec<Result<u32, String>> =
            each.into_iter().map(|one| one.map_err(|error| error.failure.code)).collect();
        assert_eq!(codes, [Ok(2), Err("child_failed".to_owned()), Ok(6)]);
        Ok(1)
    });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    output(&engine.finish(&run).await.unwrap());
}

/// How many children run at a time, and the most there were.
#[derive(Clone, Default)]
struct Crowd(Arc<(AtomicU32, AtomicU32)>);

impl Crowd {
    fn child(&self) -> Workflow<u32, u32> {
        let crowd = self.clone();
        let double = move |Input(n): Input<u32>| {
            let crowd = crowd.clone();
            async move {
                let there = crowd.0.0.fetch_add(1, Ordering::AcqRel) + 1;
                crowd.0.1.fetch_max(there, Ordering::AcqRel);
                tokio::task::yield_now().await;
                crowd.0.0.fetch_sub(1, Ordering::AcqRel);
                Ok::<_, StepError>(2 * n)
            }
        };
        Workflow::new("child").input::<u32>().step(double.named("double")).build().unwrap()
    }

    fn most(&self) -> u32 {
        self.0.1.load(Ordering::Acquire)
    }
}

async fn a_map_never_exceeds_its_concurrency(lab: Lab) {
    let crowd = Crowd::default();
    let child = crowd.child();
    let parent = mapping(&child, (1..=40).collect(), 3);
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    output(&engine.finish(&run).await.unwrap());
    assert!((1..=3).contains(&crowd.most()), "{} at a time", crowd.most());
}

async fn a_map_of_a_thousand(lab: Lab) {
    let crowd = Crowd::default();
    let child = crowd.child();
    let parent = mapping(&child, (1..=1_000).collect(), 50);
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 1_001_000);
    assert!(crowd.most() <= 50, "{} at a time", crowd.most());
    assert_eq!(children(&engine, &run).await.len(), 1_000);
}

async fn a_crash_after_half_of_the_children_runs_the_rest_only(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let (noted, held) = (tape.clone(), gate.clone());
    let double = move |Input(n): Input<u32>| {
        noted.note(format!("child {n}"));
        let held = held.clone();
        async move {
            if n > 10 {
                held.pass().await;
            }
            Ok::<_, StepError>(2 * n)
        }
    };
    let child = Workflow::new("child").input::<u32>().step(double.named("double")).build().unwrap();
    let parent = mapping(&child, (1..=20).collect(), 10);
    let (arrived, both) = (gate.clone(), (parent.clone(), child.clone()));
    lab.life(|lab| async move {
        let engine = engine(&lab, &both.0, &both.1).await;
        engine.run("parent", ()).id("r").await.unwrap();
        arrived.arrived(10).await;
    })
    .await;
    gate.open();
    let engine = engine(&lab, &parent, &child).await;
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 420);
    for n in 1..=10 {
        assert_eq!(tape.count(&format!("child {n}")), 1, "child {n} had completed");
    }
    sound(&lab, engine).await;
}

/// The child ends in a life in which its parent's workflow is not even known.
async fn a_crash_between_the_childs_end_and_the_parents_wake(lab: Lab) {
    let child = moody();
    let parent = parent(&child, |durable, child| async move { durable.run(&child, 99).await });
    let both = (parent.clone(), child.clone());
    lab.life(|lab| async move {
        let engine = engine(&lab, &both.0, &both.1).await;
        start(&engine).await;
        engine.advance(HOUR).await.unwrap();
    })
    .await;
    lab.life_of(&child, async |engine: TestEngine| {
        engine.signal(&"r~c1".into(), "go", 5).await.unwrap();
        engine.come_to_rest().await.unwrap();
        assert_eq!(engine.status(&"r~c1".into()).await.unwrap(), RunStatus::Completed);
    })
    .await;
    let engine = engine(&lab, &parent, &child).await;
    assert_eq!(output(&engine.finish(&"r".into()).await.unwrap()), 5);
}

async fn a_full_engine_makes_room_for_the_children_it_waits_for(lab: Lab) {
    let child = doubling(&Tape::default());
    let parent = mapping(&child, (1..=5).collect(), 2);
    let engine = lab
        .builder()
        .workflow(&parent)
        .workflow(&child)
        .configure(|engine| engine.max_live_runs(1))
        .build()
        .await
        .unwrap();
    let run = start(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 30);
    assert_eq!(lab.elapsed(), 0, "nobody waited for the time to pass");
}

async fn cancel_reaches_children_and_grandchildren(lab: Lab) {
    let leaf = moody();
    let inner = leaf.clone();
    let middle = move |Input(n): Input<u32>, durable: Durable| {
        let leaf = inner.clone();
        async move { durable.run(&leaf, n).await }
    };
    let middle = Workflow::new("middle").input::<u32>().step(middle.named("m")).build().unwrap();
    let parent = parent(&middle, |durable, child| async move { durable.run(&child, 99).await });
    for let_go in [false, true] {
        let engine = lab.builder().workflow(&parent).workflow(&middle).workflow(&leaf).build().await.unwrap();
        let id = if let_go { "let-go" } else { "at-hand" };
        let run = engine.run("parent", ()).id(id).await.unwrap().id().clone();
        engine.come_to_rest().await.unwrap();
        if let_go {
            engine.advance(HOUR).await.unwrap();
        }
        engine.cancel(&run, "enough").await.unwrap();
        engine.come_to_rest().await.unwrap();
        for run in [id.to_owned(), format!("{id}~c1"), format!("{id}~c1~c1")] {
            assert_eq!(engine.status(&run.into()).await.unwrap(), RunStatus::Cancelled);
        }
        sound(&lab, engine).await;
    }
}

async fn a_parent_that_fails_leaves_no_child(lab: Lab) {
    let child = moody();
    let parent = parent(&child, |durable, child| async move {
        let waits = durable.run(&child, 99);
        let fails = durable.run(&child, 13);
        futures::try_join!(waits, fails)?;
        Ok(1)
    });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    let outcome = engine.finish(&run).await.unwrap();
    assert_eq!(outcome.status, RunStatus::Failed);
    let statuses: Vec<RunStatus> = children(&engine, &run).await.iter().map(|row| row.status).collect();
    assert_eq!(statuses, [RunStatus::Cancelled, RunStatus::Failed]);
    sound(&lab, engine).await;
}

async fn a_parent_that_is_killed_leaves_no_child(lab: Lab) {
    let child = moody();
    let parent = parent(&child, |durable, child| async move { durable.run(&child, 99).await });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    engine.kill(&run, "now").await.unwrap();
    engine.come_to_rest().await.unwrap();
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Cancelled);
    assert_eq!(engine.status(&"r~c1".into()).await.unwrap(), RunStatus::Cancelled);
}

async fn a_child_that_lost_a_race_is_cancelled_and_waited_for(lab: Lab) {
    let child = moody();
    let parent = parent(&child, |durable, child| async move {
        let child = durable.run(&child, 99);
        tokio::select! {
            output = child => output,
            slept = durable.sleep(HOUR) => slept.map(|()| 7),
        }
    });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 7);
    assert_eq!(engine.status(&"r~c1".into()).await.unwrap(), RunStatus::Cancelled);
    sound(&lab, engine).await;
}

async fn cancel_of_a_child_is_told_to_its_parent(lab: Lab) {
    let child = moody();
    let parent = parent(&child, |durable, child| async move { durable.run(&child, 99).await });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    engine.cancel(&"r~c1".into(), "not this one").await.unwrap();
    let outcome = engine.finish(&run).await.unwrap();
    assert_eq!(failure(&outcome), "p: child run `r~c1` was cancelled: not this one");
}

async fn a_child_that_is_stuck_is_left_after_the_grace_period(lab: Lab) {
    let gate = Gate::default();
    let held = gate.clone();
    let stuck = move |Input(n): Input<u32>, _cancellation: Cancellation| {
        let held = held.clone();
        async move {
            held.pass().await;
            Ok::<_, StepError>(n)
        }
    };
    let child = Workflow::new("child").input::<u32>().step(stuck.named("stuck")).build().unwrap();
    let parent = parent(&child, |durable, child| async move { durable.run(&child, 1).await });
    let engine = engine(&lab, &parent, &child).await;
    let run = engine.run("parent", ()).id("r").await.unwrap().id().clone();
    gate.arrived(1).await;
    engine.cancel(&run, "enough").await.unwrap();
    until_status(&engine, &"r~c1".into(), RunStatus::Cancelling).await;
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Cancelling, "it waits for its child");
    lab.pass(Duration::from_secs(30));
    engine.tick().await.unwrap();
    until_status(&engine, &run, RunStatus::Cancelled).await;
    until_status(&engine, &"r~c1".into(), RunStatus::Cancelled).await;
}

async fn a_paused_parent_starts_no_children(lab: Lab) {
    let gate = Gate::default();
    let held = gate.clone();
    let child = doubling(&Tape::default());
    let parent = parent(&child, move |durable, child| {
        let held = held.clone();
        async move {
            held.pass().await;
            durable.run(&child, 4).await
        }
    });
    let engine = engine(&lab, &parent, &child).await;
    let run = engine.run("parent", ()).id("r").await.unwrap().id().clone();
    gate.arrived(1).await;
    engine.pause(&run).await.unwrap();
    gate.open();
    engine.come_to_rest().await.unwrap();
    assert!(children(&engine, &run).await.is_empty());
    engine.resume(&run).await.unwrap();
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 8);
}

async fn ids_with_a_tilde_are_for_children(lab: Lab) {
    let child = doubling(&Tape::default());
    let engine = lab.engine(&child).await;
    let refused = engine.run(&child, 1).id("r~c1").await.unwrap_err();
    assert_eq!(refused.code(), "invalid_run_id");
}

async fn a_waiting_parent_names_its_children(lab: Lab) {
    let child = moody();
    let parent = parent(&child, |durable, child| async move { durable.run(&child, 99).await });
    let engine = engine(&lab, &parent, &child).await;
    let run = start(&engine).await;
    assert_eq!(engine.status(&run).await.unwrap(), RunStatus::Waiting);
    assert_eq!(engine.explain(&run).await.unwrap(), "run `r` waits at `p` for the child `r~c1`");
}

/// A parent that does everything: once, a sleep that loses against a child, a map with a failure, a sleep.
fn everything(tape: &Tape, child: &Workflow<u32, u32>) -> Workflow<(), u32> {
    let tape = tape.clone();
    parent(child, move |durable, child| {
        let tape = tape.clone();
        async move {
            let one = durable
                .once("one", move || async move {
                    tape.note("once");
                    Ok::<_, StepError>(1)
                })
                .await?;
            let first = tokio::select! {
                output = durable.run(&child, 5) => output?,
                slept = durable.sleep(24 * HOUR) => slept.map(|()| 0)?,
            };
            let each = durable.map([1, 13, 3], &child).concurrency(2).collect().await?;
            let good: u32 = each.into_iter().flatten().sum();
            durable.sleep(HOUR).await?;
            Ok(one + first + good)
        }
    })
}

/// Whatever is durable when the process dies, the run comes to the same end, and nothing is wrong in the store.
async fn a_crash_after_any_commit_changes_nothing(lab: Lab) {
    let (tape, child) = (Tape::default(), moody());
    let parent = everything(&tape, &child);
    for commits in 0.. {
        let (run, both) = (RunId::from(format!("r{commits}")), (parent.clone(), child.clone()));
        let id = run.clone();
        let cut_short = lab
            .life(move |lab| async move {
                let engine = engine(&lab, &both.0, &both.1).await;
                let dead = rival::StoreError::Poisoned("the process is dead".into());
                lab.store().fail_commits(commits, 100, &dead);
                engine.run("parent", ()).id(id.as_str()).await.unwrap();
                engine.advance(2 * HOUR).await.unwrap();
                lab.store().failures_left() < 100
            })
            .await;
        let engine = engine(&lab, &parent, &child).await;
        assert_eq!(output(&engine.finish(&run).await.unwrap()), 19, "after {commits} commits");
        let rows = children(&engine, &run).await;
        assert_eq!(rows.len(), 4, "after {commits} commits");
        assert!(rows.iter().all(|row| row.status.is_terminal()), "after {commits} commits");
        sound(&lab, engine).await;
        if !cut_short {
            assert!(commits > 10, "{commits} commits cannot be all");
            return;
        }
    }
}

async fn a_store_that_fails_for_a_while_fails_nobody(lab: Lab) {
    let (tape, child) = (Tape::default(), moody());
    let parent = everything(&tape, &child);
    let engine = engine(&lab, &parent, &child).await;
    let full = rival::StoreError::Io("a bad moment".into());
    lab.store().fail_commits(4, 3, &full);
    let run = start(&engine).await;
    lab.store().fail_next_load(full.clone());
    lab.store().fail_next_messages(full);
    assert_eq!(output(&engine.finish(&run).await.unwrap()), 19);
    assert_eq!(tape.count("once"), 1);
}

/// Linear, on the memory store: what one child costs must not grow with their number.
#[test]
fn cancel_with_ten_thousand_children() {
    crate::lab::run(crate::lab::Kind::Memory, async |lab: Lab| {
        let child = moody();
        let parent = parent(&child, |durable, child| async move {
            durable.map(std::iter::repeat_n(99, 10_000), &child).concurrency(10_000).await?;
            Ok(1)
        });
        let engine = engine(&lab, &parent, &child).await;
        let run = start(&engine).await;
        assert_eq!(children(&engine, &run).await.len(), 10_000);
        engine.cancel(&run, "enough").await.unwrap();
        let rest = tokio::time::timeout(std::time::Duration::from_secs(20), engine.come_to_rest()).await;
        let rows = children(&engine, &run).await;
        let open = rows.iter().filter(|row| row.status != RunStatus::Cancelled).count();
        let why = engine.explain(&run).await.unwrap();
        assert!(
            rest.is_ok(),
            "no rest with {open} open children, {} live runs: {why}",
            engine.active_runs().len()
        );
        assert_eq!((engine.status(&run).await.unwrap(), open), (RunStatus::Cancelled, 0), "{why}");
    });
}
