//! Durable operations inside of steps.

use rival_core::RunStatus;
use rival_engine::Engine;
use serde_json::json;

use crate::support::{Lab, settings};

#[tokio::test]
async fn children_signals_sleeps_and_things_done_once() {
    let lab = Lab::good(&[
        ("double.ts", "export const steps = [function double({ input }) { return input.n * 2 }]"),
        (
            "parent.ts",
            "let done = 0
async function work({ durable, input }) {
    const one = await durable.run('double', { n: input.n })
    const many = await durable.map([1, 2, 3].map((n) => ({ n })), 'double')
    const once = await durable.once('count', async () => { done += 1; return done })
    await durable.sleep(5)
    const said = await durable.signal('word')
    return { one, many, once, said }
}
export const steps = [work]",
        ),
    ])
    .await;
    let run = lab.start("parent", json!({"n": 21})).await;
    lab.engine.signal(&run, "word", json!("go")).await.expect("it is sent");
    let outcome = lab.wait(&run).await;
    assert_eq!(outcome.status, RunStatus::Completed, "{:?}", outcome.error);
    let output = outcome.output.expect("it completed").to_json();
    assert_eq!(output, json!({"one": 42, "many": [2, 4, 6], "once": 1, "said": "go"}));
}

#[tokio::test]
async fn a_step_that_waits_is_let_go_and_called_again() {
    // There is room for one: whoever only waits has to go when another comes.
    let files = [
        ("other.ts", "export const steps = [function other() { return 1 }]"),
        (
            "waits.ts",
            "async function work({ durable, run }) {
    const first = await durable.once('first', () => run.call)
    const said = await durable.signal('word')
    return { first, said, call: run.call }
}
export const steps = [work]",
        ),
    ];
    let lab = Lab::of(Engine::builder().max_live_runs(1), settings()).await.load(&files).await;
    let run = lab.start("waits", json!(null)).await;
    lab.run("other", json!(null)).await;
    lab.engine.signal(&run, "word", json!("go")).await.expect("it is sent");
    let output = lab.wait(&run).await.output.expect("it completed").to_json();
    assert_eq!(output["first"], 1);
    assert_eq!(output["said"], "go");
    assert_eq!(output["call"], 2);
}

#[tokio::test]
async fn a_step_that_does_something_else_meanwhile_is_not_let_go() {
    let server = crate::web::serve().await;
    let lab = Lab::good(&[(
        "both.ts",
        "async function work({ durable, run, input }) {
    const [said, fetched] = await Promise.all([
        durable.signal('word', { timeout: 60000 }),
        fetch(input.url + '/slow?ms=1500').then((answer) => answer.json()),
    ])
    return { said, path: fetched.path, call: run.call }
}
export const steps = [work]",
    )])
    .await;
    let run = lab.start("both", json!({"url": server})).await;
    lab.engine.signal(&run, "word", json!("go")).await.expect("it is sent");
    let output = lab.wait(&run).await.output.expect("it completed").to_json();
    assert_eq!(output, json!({"said": "go", "path": "/slow", "call": 1}));
}

#[tokio::test]
async fn a_child_that_fails_is_an_error_that_can_be_caught() {
    let lab = Lab::good(&[
        ("bad.ts", "export const steps = [function breaks() { throw new Error('broken') }]"),
        (
            "parent.ts",
            "async function work({ durable }) {
    try {
        await durable.run('bad', {})
    } catch (error) {
        return { code: error.code, said: error.message.includes('broken'), is: error instanceof Error }
    }
}
export const steps = [work]",
        ),
    ])
    .await;
    assert_eq!(
        lab.output("parent", json!(null)).await,
        json!({"code": "child_failed", "said": true, "is": true})
    );
}

#[tokio::test]
async fn things_done_once_that_fail_throw() {
    let lab = Lab::good(&[(
        "once.ts",
        "async function work({ durable, run }) {
    return await durable.once('flaky', () => { if (run.attempt < 2) throw new Error('not yet'); return run.attempt })
}
export const steps = [{ fn: work, maxAttempts: 3, backoffMs: 1 }]",
    )])
    .await;
    assert_eq!(lab.output("once", json!(null)).await, json!(2));
}

#[tokio::test]
async fn conditions_have_no_durable_operations() {
    let lab = Lab::good(&[(
        "cond.ts",
        "import { branch } from 'rival'
export const steps = [branch({
    name: 'check',
    if: async ({ durable }) => { await durable.sleep(1); return true },
    then: [function yes() { return 1 }],
    else: [function no() { return 0 }],
})]",
    )])
    .await;
    let outcome = lab.run("cond", json!(null)).await;
    let error = outcome.error.expect("it fails");
    assert!(error.message.contains("durable operations belong to steps"), "{}", error.message);
}
