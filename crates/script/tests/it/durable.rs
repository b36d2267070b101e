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
    // The engine has room for one live run: a run that only waits has to leave memory when another one starts.
    let files = [
        ("other.ts", "export const steps = [function other() { return 1 }]"),
        (
            "waits.ts",
            "async function work({ durable, run, log }) {
    log.info('begun')
    const first = await durable.once('first', () => { log.info('the first'); return run.call })
    const word = durable.signal('word')
    log.info('waiting')
    const said = await word
    log.info('told')
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
    // What it does again on its way to the wait, it does not write again.
    let lines: Vec<String> = lab.logs(&run).await.into_iter().map(|line| line.message).collect();
    assert_eq!(lines, ["begun", "the first", "waiting", "told"]);
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

/// Runs a step and sends it messages once it waits: its output after these.
async fn told(code: &str, waits_for: &str, messages: &[&str]) -> serde_json::Value {
    let file = format!("export const steps = [async function work({{ durable, log }}) {{\n{code}\n}}]");
    let lab = Lab::good(&[("work.ts", &file)]).await;
    let run = lab.start("work", json!(null)).await;
    until(&lab, &run, waits_for).await;
    for message in messages {
        lab.engine.signal(&run, "m", json!(message)).await.expect("it is sent");
    }
    let outcome = lab.wait(&run).await;
    assert!(outcome.error.is_none(), "{:#?}", outcome.error);
    outcome.output.expect("it completed").to_json()
}

/// Waits for the nth event of a kind.
async fn until(lab: &Lab, run: &rival_core::RunId, kind_and_count: &str) {
    let (kind, count) = kind_and_count.split_once(' ').expect("a kind and a count");
    let count: usize = count.parse().expect("a number");
    loop {
        let history = lab.engine.history(run).await.expect("it is read");
        let json = serde_json::to_value(&history).expect("events are JSON");
        let found =
            json.as_array().expect("a list").iter().filter(|event| event["event"].get(kind).is_some());
        if found.count() >= count {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_losers_of_a_durable_race_are_given_up() {
    let code = "const first = await durable.race([durable.signal('m'), durable.sleep(1)])
    const second = await durable.signal('m')
    return { first: first ?? null, second }";
    assert_eq!(told(code, "opDropped 1", &["hello"]).await, json!({"first": null, "second": "hello"}));
}

#[tokio::test]
async fn any_gives_up_those_that_did_not_win() {
    let code = "const first = await durable.any([durable.once('no', () => { throw new Error('no') }), durable.sleep(1), durable.signal('m')])
    return { first: first ?? null, second: await durable.signal('m') }";
    assert_eq!(told(code, "opDropped 1", &["hello"]).await, json!({"first": null, "second": "hello"}));
}

#[tokio::test]
async fn an_abort_signal_gives_an_operation_up() {
    let code = "const aborts = new AbortController()
    const wait = durable.signal('m', { abort: aborts.signal })
    await durable.sleep(1)
    aborts.abort(new Error('enough'))
    const why = await wait.catch((error) => error.message)
    return { why, second: await durable.signal('m') }";
    assert_eq!(told(code, "opDropped 1", &["hello"]).await, json!({"why": "enough", "second": "hello"}));
}

#[tokio::test]
async fn a_wait_goes_on_through_many_plain_races() {
    let code = "const stop = durable.signal('m')
    let rounds = 0
    while (true) {
        const said = await Promise.race([stop, durable.sleep(1)])
        if (said !== undefined && said !== null) return { said, more: rounds >= 2 }
        rounds += 1
    }";
    assert_eq!(told(code, "opEnded 3", &["stop"]).await, json!({"said": "stop", "more": true}));
}

#[tokio::test]
async fn a_wait_that_lost_its_race_yields_to_a_newer_one() {
    let code = "const first = durable.signal('m')
    await Promise.race([first, durable.sleep(1)])
    const second = await durable.signal('m')
    const why = await first.catch((error) => error.code)
    return { second, why }";
    let output = told(code, "opDropped 1", &["hello"]).await;
    assert_eq!(output, json!({"second": "hello", "why": "operation_dropped"}));
}

/// The loser has taken the message by then.
#[tokio::test]
async fn a_message_that_a_loser_took_goes_to_the_newer_wait() {
    let code = "const first = durable.signal('m')
    await Promise.race([first, durable.sleep(1)])
    await durable.signal('n')
    return await durable.signal('m')";
    let file = format!("export const steps = [async function work({{ durable }}) {{\n{code}\n}}]");
    let lab = Lab::good(&[("work.ts", &file)]).await;
    let run = lab.start("work", json!(null)).await;
    until(&lab, &run, "opStarted 3").await;
    lab.engine.signal(&run, "m", json!("hello")).await.expect("it is sent");
    until(&lab, &run, "signalTaken 1").await;
    lab.engine.signal(&run, "n", json!(null)).await.expect("it is sent");
    assert_eq!(lab.wait(&run).await.output.expect("it completed").to_json(), json!("hello"));
}

#[tokio::test]
async fn two_waits_for_one_signal_take_two_messages() {
    let code = "const [one, two] = [durable.signal('m'), durable.signal('m')]
    return [await one, await two]";
    assert_eq!(told(code, "opStarted 2", &["first", "second"]).await, json!(["first", "second"]));
}

#[tokio::test]
async fn an_operation_that_is_refused_has_the_line_that_asked() {
    let files = [
        (
            "w.ts",
            "async function send({ durable }) {
    const other = 1
    return await durable.run('shipmnt', other)
}
export const steps = [send]
",
        ),
        ("shipment.ts", "export const steps = [function pack() { return 1 }]"),
    ];
    let lab = Lab::good(&files).await;
    let error = lab.run("w", json!(null)).await.error.expect("it fails");
    assert!(error.message.contains("did you mean `shipment`?"), "{}", error.message);
    let origin = error.origin.expect("it has a place");
    assert!(origin.file.expect("a file").ends_with("w.ts"));
    assert_eq!(origin.line, Some(3));
}

#[tokio::test]
async fn a_durable_sleep_is_said_to_be_one() {
    let files = [(
        "w.ts",
        "async function nap({ durable }) { await durable.sleep('2 days') }\nexport const steps = [nap]\n",
    )];
    let lab = Lab::good(&files).await;
    let run = lab.start("w", json!(null)).await;
    let told = format!("run `{run}` sleeps at `nap` for another 2 days");
    // Until it has come so far. A run that never does fails the test by its own limit.
    while lab.engine.explain(&run).await.expect("the run is there") != told {
        tokio::task::yield_now().await;
    }
}
