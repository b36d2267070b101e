//! Steps that wait for several things at once, many at a time: none sleeps through its answer, none is blocked, and no
//! message is lost.
//!
//! `RIVAL_WAITS=10000` tries that many runs of each; without it a size that takes seconds.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{join_all, try_join_all};
use futures::stream::FuturesUnordered;
use rival::prelude::*;
use rival::testing::TestEngine;
use rival::{Definition, RunError, RunHandle, RunId, RunOutcome, RunStatus, SqliteStore};

/// How many runs each test tries.
fn runs() -> usize {
    std::env::var("RIVAL_WAITS").ok().and_then(|count| count.parse().ok()).unwrap_or(200)
}

/// How long a run may take that nothing holds up. A run that is stuck fails its test after this.
const PATIENCE: Duration = Duration::from_secs(60);

fn multi_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap()
}

/// What became of runs that should all have completed.
async fn all_complete(engine: &Engine, runs: &[RunId]) -> Vec<RunOutcome> {
    let waits = runs.iter().map(|run| engine.wait_for(run, PATIENCE));
    let ended = join_all(waits).await;
    let mut outcomes = Vec::new();
    let mut stuck = Vec::new();
    for (run, ended) in runs.iter().zip(ended) {
        match ended {
            Ok(outcome) if outcome.status == RunStatus::Completed => outcomes.push(outcome),
            Ok(outcome) => stuck.push(format!("{run} is {:?}: {:?}", outcome.status, outcome.error)),
            Err(error) => stuck.push(format!("{run}: {error}; {}", engine.explain(run).await.unwrap())),
        }
    }
    assert!(stuck.is_empty(), "{} of {} did not complete: {:#?}", stuck.len(), runs.len(), first(&stuck));
    outcomes
}

fn first(stuck: &[String]) -> &[String] {
    &stuck[..stuck.len().min(5)]
}

/// The sleep of a race ends just before, at and just after the moment at which the function is suspended.
#[test]
fn a_sleep_that_ends_when_its_step_is_let_go_wakes_it() {
    multi_thread().block_on(async {
        let race = |Input(ms): Input<u64>, durable: Durable| async move {
            tokio::select! {
                said = durable.signal::<u32>("m") => said.map(|it| format!("signal {it}")),
                slept = durable.sleep(Duration::from_millis(ms)) => slept.map(|()| "slept".to_owned()),
            }
        };
        let workflow = Workflow::new("w").input::<u64>().step(race.named("race")).build().unwrap();
        let engine =
            TestEngine::builder().workflow(&workflow).configure(|it| it.max_live_runs(100_000)).build();
        let engine = engine.await.unwrap();
        let moments = [4_999, 5_000, 5_001, 9_998, 9_999, 10_000, 10_001, 10_002, 14_999, 15_000, 15_001];
        let started = (0..runs()).map(|n| engine.run("w", moments[n % moments.len()]).into_future());
        let started = try_join_all(started).await.unwrap();
        for run in &started {
            let ended = tokio::time::timeout(PATIENCE, engine.finish(run.id())).await;
            let ended = ended.unwrap_or_else(|_| panic!("{} is stuck", run.id()));
            let ended = ended.unwrap_or_else(|error| panic!("{}: {error}", run.id()));
            assert_eq!(ended.status, RunStatus::Completed, "{:?}", ended.error);
            assert_eq!(ended.output.unwrap().to_json(), serde_json::json!("slept"));
        }
    });
}

fn two_signals() -> Definition {
    let race = |durable: Durable| async move {
        tokio::select! {
            a = durable.signal::<u32>("a") => a,
            b = durable.signal::<u32>("b") => b,
        }
    };
    Workflow::new("w").step(race.named("race")).build().unwrap().into()
}

/// One of two signals comes while the engine has room for four runs only.
#[test]
fn one_of_two_signals_wakes_its_step_in_a_full_engine() {
    multi_thread().block_on(async {
        let engine = Engine::builder().workflow(two_signals()).max_live_runs(4).build().await.unwrap();
        let started = try_join_all((0..runs()).map(|_| engine.run("w", ()).into_future())).await.unwrap();
        let ids: Vec<RunId> = started.iter().map(|run| run.id().clone()).collect();
        let sent = ids.iter().enumerate().map(|(n, run)| {
            let name = if n % 2 == 0 { "a" } else { "b" };
            engine.signal(run, name, n).into_future()
        });
        try_join_all(sent).await.unwrap();
        let outcomes = all_complete(&engine, &ids).await;
        for (n, outcome) in outcomes.iter().enumerate() {
            assert_eq!(outcome.output.as_ref().unwrap().to_json(), serde_json::json!(n));
        }
    });
}

/// Parents race eight children each, and then do something once for each, in an engine with room for three runs.
#[test]
fn parents_with_racing_children_are_not_blocked_in_a_full_engine() {
    const CHILDREN: u32 = 8;
    let parents = (runs() / 5).max(1);
    multi_thread().block_on(async move {
        let double = |Input(n): Input<u32>| async move { Ok::<_, StepError>(n * 2) };
        let child = Workflow::new("child").input::<u32>().step(double.named("double")).build().unwrap();
        let parent = |durable: Durable| async move {
            let mut racing: FuturesUnordered<_> =
                (0..CHILDREN).map(|n| durable.run::<u32, _>("child", n)).collect();
            let mut sum = 0_u64;
            let mut ended = Vec::new();
            while let Some(output) = racing.next().await {
                ended.push(output?.to_json().as_u64().unwrap());
            }
            for n in ended {
                sum += durable.once(&format!("o{n}"), move || async move { Ok::<_, StepError>(n) }).await?;
            }
            Ok::<_, StepError>(sum)
        };
        let parent = Workflow::new("parent").step(parent.named("race")).build().unwrap();
        let engine = Engine::builder().workflow(&child).workflow(&parent).max_live_runs(3).build();
        let engine = engine.await.unwrap();
        let started = (0..parents).map(|_| engine.run("parent", ()).into_future());
        let started: Vec<RunHandle> = try_join_all(started).await.unwrap();
        let ids: Vec<RunId> = started.iter().map(|run| run.id().clone()).collect();
        for outcome in all_complete(&engine, &ids).await {
            assert_eq!(outcome.output.unwrap().to_json(), serde_json::json!(56));
        }
    });
}

fn store(folder: &tempfile::TempDir) -> SqliteStore {
    SqliteStore::open(folder.path().join("rival.db")).unwrap()
}

/// Signals arrive while the engine shuts down. Those that were answered with a yes are taken, at the latest by the next
/// engine; the others are sent again.
fn signals_around_a_shutdown(workflow: Definition, names: &'static [&'static str]) {
    multi_thread().block_on(async move {
        let count = runs();
        let folder = tempfile::tempdir().unwrap();
        let builder = || Engine::builder().workflow(workflow.clone());
        let engine = builder().store(store(&folder)).build().await.unwrap();
        let started = try_join_all((0..count).map(|n| engine.run("w", ()).id(format!("r{n}")).into_future()));
        let ids: Vec<RunId> = started.await.unwrap().iter().map(|run| run.id().clone()).collect();
        // They set out together, and the engine stops in the middle of them.
        let half = Arc::new(tokio::sync::Semaphore::new(0));
        let senders: Vec<_> = ids
            .iter()
            .enumerate()
            .map(|(n, run)| {
                let (engine, run, half) = (engine.clone(), run.clone(), Arc::clone(&half));
                tokio::spawn(async move {
                    if n == count / 2 {
                        half.add_permits(1);
                    }
                    engine.signal(&run, names[n % names.len()], n).id("only").await
                })
            })
            .collect();
        drop(half.acquire().await.unwrap());
        engine.shutdown(Duration::from_millis(50)).await;
        let answers = join_all(senders).await;
        drop(engine);
        let engine = builder().store(store(&folder)).build().await.unwrap();
        for (n, answer) in answers.into_iter().enumerate() {
            match answer.unwrap() {
                Ok(_) => {}
                Err(RunError::ShuttingDown) => {
                    match engine.signal(&ids[n], names[n % names.len()], n).id("only").await {
                        Ok(_) | Err(RunError::Finished { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                Err(error) => panic!("{}: {error}", ids[n]),
            }
        }
        let outcomes = all_complete(&engine, &ids).await;
        for (n, outcome) in outcomes.iter().enumerate() {
            assert_eq!(outcome.output.as_ref().unwrap().to_json(), serde_json::json!(n));
        }
        engine.shutdown(Duration::from_secs(5)).await;
    });
}

#[test]
fn a_signal_that_comes_while_the_engine_stops_is_taken_by_the_next() {
    let workflow = Workflow::new("w").step(signal::<u32>("approval")).build().unwrap();
    signals_around_a_shutdown((&workflow).into(), &["approval"]);
}

#[test]
fn a_race_of_signals_over_a_stop_of_the_engine_has_a_winner() {
    signals_around_a_shutdown(two_signals(), &["a", "b"]);
}
