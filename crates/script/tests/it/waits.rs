//! Steps in TypeScript that wait for several things at once, many at a time: none sleeps through its answer, none is
//! blocked, and no message is lost. `RIVAL_WAITS=10000` tries that many runs of each.

use std::sync::Arc;
use std::time::Duration;

use futures::future::{join_all, try_join_all};
use rival_core::{RunId, RunStatus};
use rival_engine::testing::{PlannedSignals, TimeDriver};
use rival_engine::{Clock, Engine, RunError, VirtualClock};
use rival_sqlite::SqliteStore;
use serde_json::{Value as Json, json};

use crate::support::{Lab, settings};

/// How many runs each test tries.
fn runs() -> usize {
    std::env::var("RIVAL_WAITS").ok().and_then(|count| count.parse().ok()).unwrap_or(40)
}

/// How long all of them may take together. A run that is stuck fails its test after this.
fn patience() -> Duration {
    Duration::from_secs(120) + Duration::from_millis(20) * u32::try_from(runs()).expect("so many runs fit")
}

async fn start_all(lab: &Lab, workflow: &str, inputs: impl Iterator<Item = Json>) -> Vec<RunId> {
    let started = try_join_all(inputs.map(|input| lab.engine.run(workflow, input).into_future())).await;
    started.expect("they start").iter().map(|run| run.id().clone()).collect()
}

/// The outputs of runs that must all complete.
async fn outputs(engine: &Engine, runs: &[RunId]) -> Vec<Json> {
    let ended = join_all(runs.iter().map(|run| engine.wait_for(run, patience()))).await;
    let mut stuck = Vec::new();
    let mut outputs = Vec::new();
    for (run, ended) in runs.iter().zip(ended) {
        match ended {
            Ok(outcome) if outcome.status == RunStatus::Completed => {
                outputs.push(outcome.output.expect("it completed").to_json());
            }
            Ok(outcome) => stuck.push(format!("{run} is {:?}: {:?}", outcome.status, outcome.error)),
            Err(error) => stuck.push(format!("{run}: {error}")),
        }
    }
    assert!(stuck.is_empty(), "{} of {} did not complete: {:#?}", stuck.len(), runs.len(), stuck.first());
    outputs
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sleep_that_ends_when_its_step_is_let_go_wakes_it() {
    let clock = VirtualClock::default();
    let builder = Engine::builder().clock(Clock::Virtual(clock.clone())).max_live_runs(100_000);
    let race = "export const steps = [async function race({ durable, input }) {
        const said = await durable.race([durable.signal('m'), durable.sleep(input.ms)])
        return said ?? 'slept'
    }]";
    let lab = Lab::of(builder, settings()).await.load(&[("race.ts", race)]).await;
    lab.assert_good();
    let moments = [4_999, 5_000, 5_001, 9_998, 9_999, 10_000, 10_001, 10_002, 14_999, 15_000, 15_001];
    let inputs = (0..runs()).map(|n| json!({ "ms": moments[n % moments.len()] }));
    for run in start_all(&lab, "race", inputs).await {
        let driver = TimeDriver { engine: &lab.engine, clock: &clock, signals: &PlannedSignals::default() };
        let ended = driver.finish(&run).await.expect("it is read");
        let outcome = ended.unwrap_or_else(|waits| panic!("{waits}"));
        assert_eq!(outcome.status, RunStatus::Completed, "{run}: {:?}", outcome.error);
        assert_eq!(outcome.output.expect("it completed").to_json(), json!("slept"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_signals_wakes_its_step_in_a_full_engine() {
    let race = "export const steps = [async function race({ durable }) {
        return Promise.race([durable.signal('a'), durable.signal('b')])
    }]";
    let lab = Lab::of(Engine::builder().max_live_runs(4), settings()).await.load(&[("race.ts", race)]).await;
    let started = start_all(&lab, "race", (0..runs()).map(|_| json!({}))).await;
    let sent = started.iter().enumerate().map(|(n, run)| {
        let name = if n % 2 == 0 { "a" } else { "b" };
        lab.engine.signal(run, name, n).into_future()
    });
    try_join_all(sent).await.expect("they are sent");
    let expected: Vec<Json> = (0..started.len()).map(|n| json!(n)).collect();
    assert_eq!(outputs(&lab.engine, &started).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn parents_with_racing_children_are_not_blocked_in_a_full_engine() {
    let files = [
        ("child.ts", "export const steps = [function double({ input }) { return input.n * 2 }]"),
        (
            "parent.ts",
            "export const steps = [async function race({ durable }) {
    const open = new Map([0, 1, 2, 3, 4, 5, 6, 7].map((n) => [n, durable.run('child', { n }).then((twice) => [n, twice])]))
    const ended = []
    while (open.size > 0) {
        const [n, twice] = await Promise.race(open.values())
        open.delete(n)
        ended.push(twice)
    }
    let sum = 0
    for (const n of ended) sum += await durable.once('o' + n, () => n)
    return sum
}]",
        ),
    ];
    let lab = Lab::of(Engine::builder().max_live_runs(3), settings()).await.load(&files).await;
    lab.assert_good();
    let started = start_all(&lab, "parent", (0..(runs() / 5).max(1)).map(|_| json!({}))).await;
    for output in outputs(&lab.engine, &started).await {
        assert_eq!(output, json!(56));
    }
}

/// Signals arrive while the engine shuts down; what was answered with a yes is taken, at the latest by the next engine.
async fn signals_around_a_shutdown(code: &str, names: &[&'static str]) {
    let (count, name) = (runs(), |n: usize| names[n % names.len()]);
    let folder = tempfile::tempdir().expect("a folder");
    let open = async || {
        let store = SqliteStore::open(folder.path().join("rival.db")).expect("the store opens");
        let lab = Lab::of(Engine::builder().store(store), settings()).await.load(&[("flow.ts", code)]).await;
        lab.assert_good();
        lab
    };
    let lab = open().await;
    let ids = start_all(&lab, "flow", (0..count).map(|_| json!({}))).await;
    let half = Arc::new(tokio::sync::Semaphore::new(0));
    let senders: Vec<_> = ids
        .iter()
        .enumerate()
        .map(|(n, run)| {
            let (engine, run, half) = (lab.engine.clone(), run.clone(), Arc::clone(&half));
            let name = name(n);
            tokio::spawn(async move {
                if n == count / 2 {
                    half.add_permits(1);
                }
                engine.signal(&run, name, n).id("only").await
            })
        })
        .collect();
    drop(half.acquire().await.expect("it is open"));
    lab.engine.shutdown(Duration::from_millis(50)).await;
    let answers = join_all(senders).await;
    drop(lab);
    let lab = open().await;
    for (n, answer) in answers.into_iter().enumerate() {
        match answer.expect("it does not panic") {
            Ok(_) => {}
            Err(RunError::ShuttingDown) => match lab.engine.signal(&ids[n], name(n), n).id("only").await {
                Ok(_) | Err(RunError::Finished { .. }) => {}
                Err(error) => panic!("{error}"),
            },
            Err(error) => panic!("{}: {error}", ids[n]),
        }
    }
    let expected: Vec<Json> = (0..count).map(|n| json!(n)).collect();
    assert_eq!(outputs(&lab.engine, &ids).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_that_comes_while_the_engine_stops_is_taken_by_the_next() {
    let race = "export const steps = [async function race({ durable }) {
        return Promise.race([durable.signal('a'), durable.signal('b')])
    }]";
    signals_around_a_shutdown(race, &["a", "b"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_for_a_node_that_comes_while_the_engine_stops_is_taken_by_the_next() {
    let wait = "import { signal } from 'rival'
export const steps = [signal('m'), function said({ lastStep }) { return lastStep.result }]";
    signals_around_a_shutdown(wait, &["m"]).await;
}
