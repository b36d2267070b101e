//! Steps that do not stop by themselves, and those beside them.

use std::time::Duration;

use rival_core::RunStatus;
use serde_json::json;

use crate::support::{Lab, settings};

const FILE: &str = "
export const name = 'work'
async function work({ input }) {
    const answer = await fetch(input.url + '/slow?ms=400')
    return (await answer.json()).path
}
export const steps = [{ fn: work, timeout: 30000 }]
";

const STUCK: &str = "import { createWorkflow } from 'rival'
function spins() { for (;;) {} }
async function spinsLater() { await new Promise((go) => setTimeout(go, 1)); for (;;) {} }
function blocks() { return new Array(2 ** 32 - 1).join() }
async function waits({ run }) {
    await new Promise((_, no) => run.abortSignal.addEventListener('abort', () => no(new Error('told: ' + run.abortSignal.aborted))))
}
export const spin = createWorkflow('spins').step({ fn: spins, timeout: 300 })
export const later = createWorkflow('spinsLater').step({ fn: spinsLater, timeout: 300 })
export const block = createWorkflow('blocks').step({ fn: blocks, timeout: 300 })
export const wait = createWorkflow('waits').step({ fn: waits, timeout: 300 })
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_fetches_survive_two_that_are_stuck() {
    let server = crate::web::serve().await;
    let lab = Lab::good(&[("work.ts", FILE), ("stuck.ts", STUCK)]).await;
    let mut runs = Vec::new();
    for _ in 0..500 {
        runs.push(lab.start("work", json!({"url": server})).await);
    }
    let spins = lab.start("spins", json!(null)).await;
    let blocks = lab.start("blocks", json!(null)).await;
    for stuck in [&spins, &blocks] {
        let outcome = lab.wait(stuck).await;
        assert_eq!(outcome.error.expect("it is stopped").code, "timeout");
    }
    for run in &runs {
        let outcome = lab.wait(run).await;
        assert_eq!(outcome.status, RunStatus::Completed, "{:?}", outcome.error);
        let view = lab.engine.get(run).await.expect("it is there");
        assert_eq!(view.steps[0].retry_count, 0, "one charged attempt");
    }
}

#[tokio::test]
async fn every_kind_of_stuck_step_ends_at_its_timeout() {
    let lab = Lab::good(&[("stuck.ts", STUCK)]).await;
    for workflow in ["spins", "spinsLater", "blocks", "waits"] {
        let outcome = lab.run(workflow, json!(null)).await;
        assert_eq!(outcome.error.expect("it is stopped").code, "timeout", "{workflow}");
    }
    // The hosts are as good as new.
    assert_eq!(lab.run("spins", json!(null)).await.status, RunStatus::Failed);
}

#[tokio::test]
async fn a_step_that_computes_for_ever_without_a_timeout_is_stopped_when_others_wait() {
    let file = "import { createWorkflow } from 'rival'
function spins() { for (;;) {} }
async function naps() { await new Promise((go) => setTimeout(go, 50)); return 'rested' }
export const a = createWorkflow('spins').step(spins)
export const b = createWorkflow('naps').step(naps)
";
    let settings =
        rival_script::ScriptSettings { hosts: 1, stuck_after: Duration::from_millis(500), ..settings() };
    let lab = Lab::with(settings, &[("a.ts", file)]).await;
    let naps = lab.start("naps", json!(null)).await;
    let spins = lab.start("spins", json!(null)).await;
    assert_eq!(lab.wait(&spins).await.error.expect("it is stopped").code, "script_stuck");
    assert_eq!(lab.wait(&naps).await.output.expect("it completed").to_json(), json!("rested"));
}

#[tokio::test]
async fn a_step_that_eats_all_memory_fails_and_others_go_on() {
    let file = "import { createWorkflow } from 'rival'
function eats() { const all = []; for (;;) all.push('x'.repeat(1 << 20) + all.length) }
export const a = createWorkflow('eats').step(eats)
export const b = createWorkflow('fine').step(function fine() { return 1 })
";
    let settings = rival_script::ScriptSettings { memory_limit: 64 << 20, ..settings() };
    let lab = Lab::with(settings, &[("a.ts", file)]).await;
    let outcome = lab.run("eats", json!(null)).await;
    assert_eq!(outcome.error.expect("it fails").code, "out_of_memory");
    assert_eq!(lab.output("fine", json!(null)).await, json!(1));
}

#[tokio::test]
async fn cancelling_reaches_the_script() {
    let lab = Lab::good(&[("stuck.ts", &STUCK.replace("timeout: 300", "timeout: 60000"))]).await;
    for workflow in ["spins", "blocks", "waits"] {
        let run = lab.start(workflow, json!(null)).await;
        while lab.engine.get(&run).await.expect("it is there").steps.is_empty() {
            tokio::task::yield_now().await;
        }
        lab.engine.cancel(&run, "enough").await.expect("it can be cancelled");
        assert_eq!(lab.wait(&run).await.status, RunStatus::Cancelled, "{workflow}");
    }
}
