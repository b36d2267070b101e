//! What functions are given, and what they give back.

use rival_core::RunStatus;
use rival_core::view::RunOutcome;
use serde_json::json;

use crate::support::{Lab, result};

#[tokio::test]
async fn steps_are_found_by_any_way_of_asking() {
    let lab = Lab::good(&[(
        "ask.ts",
        "function a() { return 1 }
function b() { return 2 }
const read = (context, name) => context.steps[name].result
function dynamic(context) {
    const name = ['a', 'b'][1]
    return { helper: read(context, 'a'), dynamic: context.steps[name].result, unknown: context.steps.nope === undefined }
}
function keys({ steps }) { return { keys: Object.keys(steps), has: 'a' in steps, hasNot: 'zzz' in steps } }
function spread({ steps: { a: { result }, ...others } }) { return { result, others: Object.keys(others) } }
async function later({ steps }) { await null; return steps.b.result }
export const steps = [a, b, dynamic, keys, spread, later]",
    )])
    .await;
    let outcome = lab.run("ask", json!(null)).await;
    assert_eq!(outcome.status, RunStatus::Completed, "{:?}", outcome.error);
    assert_eq!(result(&outcome, "dynamic"), json!({"helper": 1, "dynamic": 2, "unknown": true}));
    let keys = result(&outcome, "keys");
    assert_eq!(keys["has"], true);
    assert_eq!(keys["hasNot"], false);
    assert_eq!(keys["keys"], json!(["a", "b", "dynamic"]));
    assert_eq!(result(&outcome, "spread"), json!({"result": 1, "others": ["b", "dynamic", "keys"]}));
    assert_eq!(result(&outcome, "later"), json!(2));
}

#[tokio::test]
async fn results_must_be_json() {
    let files = [
        ("nan.ts", "export const steps = [function a() { return { x: NaN } }]"),
        ("cycle.ts", "export const steps = [function a() { const x: any = {}; x.me = x; return x }]"),
        ("big.ts", "export const steps = [function a() { return 10n }]"),
        ("fn.ts", "export const steps = [function a() { return { f() {} } }]"),
    ];
    let odd = [
        ("date.ts", "export const steps = [function a() { return new Date(NaN) }]"),
        ("headers.ts", "export const steps = [function a() { return new Headers({ a: '1' }) }]"),
        ("response.ts", "export const steps = [function a() { return { it: new Response('x') } }]"),
        ("iterator.ts", "export const steps = [function a() { return new Map().keys() }]"),
    ];
    let files: Vec<_> = files.into_iter().chain(odd).collect();
    let lab = Lab::good(&files).await;
    for workflow in ["nan", "cycle", "big", "fn", "date", "headers", "response", "iterator"] {
        let error = lab.run(workflow, json!(null)).await.error.expect("it is no JSON");
        assert_eq!(error.code, "not_json", "{workflow}: {}", error.message);
    }
}

#[tokio::test]
async fn a_run_knows_itself() {
    let lab = Lab::good(&[(
        "me.ts",
        "export const steps = [function me({ run }) { return [run.runId, run.workflow, run.attempt, run.idempotencyKey] }]",
    )])
    .await;
    let handle = lab.engine.run("me", json!(null)).id("me-1").await.expect("it starts");
    let output = lab.wait(handle.id()).await.output.expect("it completed").to_json();
    assert_eq!(output, json!(["me-1", "me", 1, "me-1/me"]));
}

#[tokio::test]
async fn errors_point_at_the_typescript_line() {
    let lab = Lab::good(&[
        (
            "lib/_deep.ts",
            "interface Long {\n    a: number\n    b: number\n}\n\nexport function deep(x: Long): number {\n    if (x.a) throw new RangeError('too deep')\n    return x.b\n}\n",
        ),
        (
            "deep.ts",
            "import { deep } from './lib/_deep'\n\ntype In = { a: number }\n\nasync function dive({ input }: { input: In }) {\n    await null\n    return deep({ a: input.a, b: 2 })\n}\nexport const steps = [dive]",
        ),
    ])
    .await;
    let error = lab.run("deep", json!({"a": 1})).await.error.expect("it fails");
    assert_eq!(error.message, "too deep");
    let origin = error.origin.expect("it is known");
    assert_eq!(origin.class.as_deref(), Some("RangeError"));
    assert!(origin.file.as_ref().is_some_and(|file| file.ends_with("/lib/_deep.ts")), "{origin:?}");
    assert_eq!(origin.line, Some(7));
    let excerpt: Vec<_> = origin.excerpt.iter().map(|line| (line.line, line.text.as_str())).collect();
    let expected = [
        (5, ""),
        (6, "export function deep(x: Long): number {"),
        (7, "    if (x.a) throw new RangeError('too deep')"),
        (8, "    return x.b"),
    ];
    assert_eq!(excerpt, expected);
    let stack = origin.stack.expect("it has one");
    let lines: Vec<_> = stack.lines().map(str::trim).collect();
    assert!(lines[0].contains("lib/_deep.ts:7:"), "{stack}");
    assert!(lines[1].contains("deep.ts:7:"), "{stack}");
    assert!(!stack.contains("prelude"), "{stack}");
}

#[tokio::test]
async fn a_stack_that_a_step_reads_is_that_of_typescript_and_begins_with_the_error() {
    let lab = Lab::good(&[(
        "reads.ts",
        "interface Gone {\n    a: number\n}\n\nasync function reads() {\n    await null\n    const error = new RangeError('odd')\n    const own = new Error('x')\n    own.stack = 'mine'\n    return [...error.stack.split('\\n'), own.stack]\n}\nexport const steps = [reads]",
    )])
    .await;
    let lines = lab.output("reads", json!(null)).await;
    assert_eq!(lines[0], "RangeError: odd");
    let place = lines[1].as_str().expect("a text");
    assert!(place.starts_with("    at reads (file:///") && place.contains("/reads.ts:7:"), "{lines}");
    assert_eq!(lines.as_array().expect("a list").len(), 3, "frames of Rival itself are left out: {lines}");
    assert_eq!(lines[2], "mine");
}

#[tokio::test]
async fn errors_that_are_written_to_the_log_do_too() {
    let lab = Lab::good(&[(
        "writes.ts",
        "interface Gone {\n    a: number\n}\nfunction a() {\n    console.error(new Error('odd'))\n}\nexport const steps = [a]",
    )])
    .await;
    let run = lab.start("writes", json!(null)).await;
    lab.wait(&run).await;
    let line = &lab.logs(&run).await[0].message;
    assert!(line.starts_with("Error: odd\n") && line.contains("writes.ts:5:"), "{line}");
}

#[tokio::test]
async fn state_is_recorded_also_when_a_step_fails() {
    let lab = Lab::good(&[(
        "fails.ts",
        "export const steps = [function a({ state }) { state.description = 'half-way'; throw new Error('no') }]",
    )])
    .await;
    let outcome = lab.run("fails", json!(null)).await;
    assert_eq!(outcome.result("a").expect("it ran").state.to_json(), json!({"description": "half-way"}));
}

#[tokio::test]
async fn compensations_are_told_what_they_undo() {
    let lab = Lab::good(&[(
        "saga.ts",
        "function reserve() { return { id: 7 } }
function release({ result, outcome, input, log }) { log.info({ result, outcome, input }, 'released') }
function breaks() { throw new Error('no') }
export const steps = [{ fn: reserve, compensate: release }, breaks]",
    )])
    .await;
    let run = lab.start("saga", json!({"n": 1})).await;
    let outcome = lab.wait(&run).await;
    assert_eq!(outcome.status, RunStatus::Failed);
    let logs = lab.logs(&run).await;
    let fields = logs[0].fields.as_ref().expect("it has fields").to_json();
    assert_eq!(fields, json!({"result": {"id": 7}, "outcome": "completed", "input": {"n": 1}}));
}

#[tokio::test]
async fn each_runs_for_every_item() {
    let lab = Lab::good(&[(
        "each.ts",
        "import { forEach, sleep } from 'rival'
export const steps = [
    forEach({
        name: 'items',
        items: ({ input }) => input.items,
        concurrency: 4,
        body: [
            function double({ loop }) { return loop.item * 2 },
            sleep(1),
            function tell({ loop, steps }) { return `${loop.index}/${loop.items.length}: ${steps.double.result}` },
        ],
    }),
]",
    )])
    .await;
    let items: Vec<u32> = (0..12).collect();
    let output = lab.output("each", json!({"items": items})).await;
    let expected: Vec<String> = items.iter().map(|n| format!("{n}/12: {}", n * 2)).collect();
    assert_eq!(output, json!(expected));
}

#[tokio::test]
async fn packages_that_ship_modules_can_be_imported() {
    let lab = Lab::good(&[
        ("node_modules/greet/package.json", r#"{"name": "greet", "type": "module", "exports": {".": {"import": "./lib/index.js"}, "./loud": "./lib/loud.js"}}"#),
        ("node_modules/greet/lib/index.js", "export { hello } from './hello.js'\n"),
        ("node_modules/greet/lib/hello.js", "export const hello = (name) => `hello ${name}`\n"),
        ("node_modules/greet/lib/loud.js", "import { hello } from 'greet'\nexport default (name) => hello(name).toUpperCase()\n"),
        ("names.json", r#"["Ada"]"#),
        (
            "greet.ts",
            "import { hello } from 'greet'\nimport loud from 'greet/loud'\nimport names from './names.json'\n\
             export const steps = [async function greet() { const later = await import('greet'); return [hello(names[0]), loud(names[0]), later.hello('later')] }]",
        ),
    ])
    .await;
    assert_eq!(lab.output("greet", json!(null)).await, json!(["hello Ada", "HELLO ADA", "hello later"]));
}

#[tokio::test]
async fn only_allowed_variables_are_seen() {
    let settings = rival_script::ScriptSettings {
        env: [("API_URL".to_owned(), "http://here".to_owned())].into(),
        ..crate::support::settings()
    };
    let file = "export const steps = [function env() { return { url: process.env.API_URL, path: process.env.PATH ?? null, all: Object.keys(process.env) } }]";
    let lab = Lab::with(settings, &[("env.ts", file)]).await;
    assert_eq!(
        lab.output("env", json!(null)).await,
        json!({"url": "http://here", "path": null, "all": ["API_URL"]})
    );
}

#[tokio::test]
async fn errors_are_known_by_their_class_and_their_parts() {
    let lab = Lab::good(&[(
        "parts.ts",
        "class PaymentError extends Error { name = 'PaymentError' }
export const onError = ({ error }) => { console.log(error.name, error.stack.includes('parts.ts')) }
function one({ input }) {
    if (input.many) return Promise.any([Promise.reject(new Error('one')), Promise.reject(new Error('two'))])
    throw new PaymentError('no money')
}
export const steps = [one]",
    )])
    .await;
    let run = lab.start("parts", json!({})).await;
    let error = lab.wait(&run).await.error.expect("it fails");
    let origin = error.origin.expect("it is known");
    // Where it was thrown, not where its class is.
    assert_eq!((origin.class.as_deref(), origin.line), (Some("PaymentError"), Some(5)));
    assert_eq!(lab.logs(&run).await[0].message, "PaymentError true");
    let error = lab.run("parts", json!({"many": true})).await.error.expect("it fails");
    assert!(error.message.contains("one; two"), "{}", error.message);
}

#[tokio::test]
async fn writing_a_line_never_fails_a_step() {
    let lab = Lab::good(&[(
        "lines.ts",
        "function lines({ log }) {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    console.log(proxy)
    log.info({ get odd() { throw new Error('no') } }, 'odd')
    console.log('x'.repeat(1 << 20))
    return 'fine'
}
export const steps = [lines]",
    )])
    .await;
    let run = lab.start("lines", json!(null)).await;
    assert_eq!(lab.wait(&run).await.output.expect("it completed").to_json(), "fine");
    let lines = lab.logs(&run).await;
    assert_eq!(lines.len(), 3);
    assert!(lines[2].message.len() < 70_000);
}

#[tokio::test]
async fn a_state_may_be_replaced_as_a_whole() {
    let lab =
        Lab::good(&[("state.ts", "export const steps = [function a(cx) { cx.state = { mine: 1 } }]")]).await;
    let outcome = lab.run("state", json!(null)).await;
    assert_eq!(outcome.result("a").expect("it ran").state.to_json(), json!({"mine": 1}));
}

/// `Intl` is evaluated in the step, when built-ins are frozen.
#[tokio::test]
async fn dates_have_languages_and_time_zones() {
    let lab = Lab::good(&[(
        "zone.ts",
        "const show = (zone) => new Date(0).toLocaleString('de', { timeZone: zone })
export const steps = [function a() { return [show('America/New_York'), typeof Intl.Collator] }]",
    )])
    .await;
    assert_eq!(lab.output("zone", json!(null)).await, json!(["31.12.1969, 19:00:00", "function"]));
}

#[tokio::test]
async fn requests_say_what_is_true_of_them() {
    let server = crate::web::serve().await;
    let lab = Lab::good(&[(
        "sends.ts",
        "async function sends({ input }) {
    const ask = async (init) => (await (await fetch(input.url + '/', init)).json()).headers
    const wrong = await ask({ method: 'POST', body: 'abcdef', headers: { 'content-length': '3', host: 'evil.example' } })
    const empty = await ask({ method: 'POST' })
    const plain = await ask({ headers: { 'content-length': '3' } })
    return [wrong['content-length'], wrong.host === 'evil.example', empty['content-length'], plain['content-length'] ?? null]
}
export const steps = [sends]",
    )])
    .await;
    assert_eq!(lab.output("sends", json!({"url": server})).await, json!(["6", false, "0", null]));
}

#[tokio::test]
async fn a_step_that_is_not_there_is_named() {
    // Its name is not in the text: one that is, is told when the file is loaded.
    let files = [(
        "w.ts",
        "function find() { return 1 }
function use({ input, steps }) {
    if (steps.maybe !== undefined || steps.other?.result) return 'never'
    return input === 1 ? steps['f' + 'nd'].result : input.a.b
}
export const steps = [find, use]
",
    )];
    let lab = Lab::good(&files).await;
    let told = |outcome: RunOutcome| outcome.error.expect("it fails").message;
    let missing = "cannot read property 'result' of undefined: no step `fnd` has ended before this one; there are `find`";
    assert_eq!(told(lab.run("w", json!(1)).await), missing);
    assert_eq!(told(lab.run("w", json!(2)).await), "cannot read property 'b' of undefined");
}
