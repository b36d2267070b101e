//! Transforms in TypeScript, checked, compiled and run.

use std::time::Duration;

use rival_core::Value;
use rival_script::{Sandbox, TransformError, TransformLimits, transform};
use serde_json::{Value as Json, json};

use crate::support::settings;

const LIMITS: TransformLimits = TransformLimits { time: Duration::from_millis(100), memory: 32 << 20 };

fn sandbox() -> Sandbox {
    Sandbox::new(settings())
}

/// A transform with this body.
async fn run(sandbox: &Sandbox, body: &str, input: Json) -> Result<Json, TransformError> {
    let code = format!(
        "interface Input {{ [key: string]: any }}\ninterface Output {{ [key: string]: any }}\nexport default function (input: Input): Output {{ {body} }}"
    );
    let transform = transform(&code).unwrap_or_else(|problems| panic!("{problems:?}"));
    sandbox.run(&transform, &Value::from(input), LIMITS).await.map(|value| value.to_json())
}

#[tokio::test]
async fn a_transform_is_a_function_of_its_input() {
    let sandbox = sandbox();
    let body = "const names: string[] = input.items.map((item: any) => item.name); return { names, count: names.length }";
    let input = json!({"items": [{"name": "a"}, {"name": "b"}]});
    for _ in 0..3 {
        let output = run(&sandbox, body, input.clone()).await.expect("it ends");
        assert_eq!(output, json!({"names": ["a", "b"], "count": 2}));
    }
}

#[tokio::test]
async fn nothing_is_left_of_the_call_before() {
    let sandbox = sandbox();
    let body = "const seen = (globalThis as any).seen; (globalThis as any).seen = 1; (Array.prototype as any).x = 1; return { seen: seen ?? null, x: ([] as any).x }";
    for _ in 0..2 {
        assert_eq!(run(&sandbox, body, json!({})).await.expect("it ends"), json!({"seen": null, "x": 1}));
    }
}

#[tokio::test]
async fn there_is_no_clock_no_chance_and_no_world() {
    let sandbox = sandbox();
    let names = "'Date,performance,setTimeout,setInterval,queueMicrotask,fetch,console,process,crypto,require,WeakRef,FinalizationRegistry,Atomics,SharedArrayBuffer,Worker,XMLHttpRequest'";
    let body = format!(
        "const there = {names}.split(',').filter((name) => typeof (globalThis as any)[name] !== 'undefined'); return {{ there, random: typeof (Math as any)['ran' + 'dom'] }}"
    );
    let output = run(&sandbox, &body, json!({})).await.expect("it ends");
    assert_eq!(output, json!({"there": [], "random": "undefined"}));
    for body in [
        "return (() => {}).constructor('return 1')()",
        "return Object.getPrototypeOf(function* () {}).constructor('yield 1')().next()",
        "return { then(go: any) { go(1) } }",
    ] {
        assert!(run(&sandbox, body, json!({})).await.is_err(), "{body}");
    }
}

#[tokio::test]
async fn whatever_takes_too_long_is_ended_and_the_next_one_runs() {
    let sandbox = sandbox();
    let bodies = [
        "for (;;) {}",
        "return { a: new Array(2 ** 32 - 1).join() }",
        "return { a: (Array.prototype as any).join.call({ length: 2 ** 53 - 1 }) }",
        "const a: any[] = []; a.length = 2 ** 32 - 1; a.reverse(); return a",
        "const a: any[] = []; a[2 ** 32 - 2] = 1; a.sort(); return a",
        "const a: any[] = []; a.length = 2 ** 32 - 1; a.unshift(1); return a",
        "const s = 'a'.repeat(1e7); return { a: s.indexOf('a'.repeat(5e6) + 'b') }",
        "let n = 3n; for (let i = 0; i < 25; i++) n *= n; return { a: n.toString().length }",
        "const u = new Uint8Array(1e7); for (;;) u.fill(1)",
        "return { a: /(a+)+b/.test('a'.repeat(40)) }",
        "return { a: [1].flatMap(() => { for (;;) {} }) }",
        "const o: any = {}; o.toJSON = () => { for (;;) {} }; return o",
    ];
    for body in bodies {
        let error = run(&sandbox, body, json!({})).await.expect_err(body);
        assert!(
            matches!(error, TransformError::Timeout { ms: 100 } | TransformError::OutOfMemory { .. }),
            "{body}: {error:?}"
        );
        assert_eq!(
            run(&sandbox, "return { fine: true }", json!({})).await.expect("it ends"),
            json!({"fine": true})
        );
    }
}

#[tokio::test]
async fn memory_and_stack_have_limits() {
    let sandbox = sandbox();
    let code = "interface Input {}\ninterface Output {}\nexport default function (input: Input): Output { const all: any[] = []; for (;;) all.push(new Array(1e5).fill(1)) }";
    let patient = TransformLimits { time: Duration::from_secs(30), ..LIMITS };
    let eats = sandbox.run(&transform(code).expect("it is fine"), &Value::null(), patient).await;
    assert_eq!(eats, Err(TransformError::OutOfMemory { bytes: 32 << 20 }));
    let deep =
        run(&sandbox, "const f = (n: number): number => f(n + 1) + 1; return { n: f(0) }", json!({})).await;
    assert!(matches!(deep, Err(TransformError::Failed { .. })), "{deep:?}");
}

#[tokio::test]
async fn errors_name_the_line() {
    let sandbox = sandbox();
    let code = "interface Input { a: number }\ninterface Output { b: number }\n\nexport default function (input: Input): Output {\n    throw new Error('bad input')\n}";
    let transform = transform(code).expect("it is fine");
    let error = sandbox.run(&transform, &Value::from(json!({})), LIMITS).await.expect_err("it throws");
    assert_eq!(error.to_string(), "line 5: bad input");
}
