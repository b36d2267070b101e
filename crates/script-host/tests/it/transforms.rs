//! Transforms: what they can do, and what they cannot.

use rival_script_host::code;
use serde_json::json;

use crate::lab::{Lab, PLACES, Place};

#[test]
fn a_transform_turns_json_into_json() {
    let code = "
        function full({ first, last }) { return `${first} ${last}` }
        export default function (input) {
            const rows = input.people.map((person) => ({ name: full(person), age: person.age ?? null, gone: undefined }))
            const byAge = Map.groupBy(rows, (row) => row.age)
            return { rows, ages: [...byAge.keys()], big: 2 ** 40, small: 1e-9, negative: -0, half: 0.5, huge: 1e300 }
        }";
    for place in PLACES {
        let mut lab = Lab::new(place);
        let input = json!({"people": [{"first": "Ada", "last": "L\u{1f600}", "age": 36}, {"first": "\"", "last": "\n"}]});
        let expected = json!({
            "rows": [{"name": "Ada L\u{1f600}", "age": 36}, {"name": "\" \n", "age": null}],
            "ages": [36, null],
            "big": 1_099_511_627_776_u64, "small": 1e-9, "negative": -0.0, "half": 0.5, "huge": 1e300,
        });
        for _ in 0..3 {
            assert_eq!(lab.transform(code, input.clone()).unwrap(), expected);
        }
        assert_eq!(lab.transform("export default (input) => input", json!(null)).unwrap(), json!(null));
        assert_eq!(lab.transform("export default () => {}", json!(1)).unwrap(), json!(null));
        assert_eq!(
            lab.transform(
                "export default () => [undefined, -0, new (class { toJSON() { return 1 } })()]",
                json!(1)
            )
            .unwrap(),
            json!([null, -0.0, 1])
        );
        let half = lab.transform("export default () => ({ a: ['\\ud83d'] })", json!(1)).unwrap_err();
        assert!(half.message.contains("a[0]") && half.message.contains("lone surrogate"), "{}", half.message);
    }
}

#[test]
fn every_call_begins_anew() {
    let code = "
        let count = 0
        export default () => {
            Array.prototype.mine = (Array.prototype.mine ?? 0) + 1
            globalThis.mine = (globalThis.mine ?? 0) + 1
            return [++count, [].mine, globalThis.mine]
        }";
    let mut lab = Lab::new(Place::Thread);
    for _ in 0..3 {
        assert_eq!(lab.transform(code, json!(null)).unwrap(), json!([1, 1, 1]));
    }
}

/// What there is, exactly. Whatever QuickJS adds one day must be looked at first: it may tell the time.
#[test]
fn a_transform_has_the_language_and_nothing_else() {
    let names = "
        AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DataView
        DisposableStack Error EvalError Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array
        Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect
        RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array
        Uint8ClampedArray WeakMap WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape globalThis
        isFinite isNaN parseFloat parseInt undefined unescape";
    let mut lab = Lab::new(Place::Thread);
    let found =
        lab.transform("export default () => Object.getOwnPropertyNames(globalThis).sort()", json!(null));
    assert_eq!(found.unwrap(), json!(names.split_whitespace().collect::<Vec<_>>()));
    let random = lab.transform("export default () => typeof Math.random", json!(null));
    assert_eq!(random.unwrap(), json!("undefined"));
}

#[test]
fn no_code_comes_out_of_text() {
    let mut lab = Lab::new(Place::Thread);
    for attempt in [
        "eval('1')",
        "Function('return 1')()",
        "new Function('return 1')()",
        "(() => {}).constructor('return 1')()",
        "(async () => {}).constructor('return 1')()",
        "(function* () {}).constructor('yield 1')().next()",
        "(async function* () {}).constructor('yield 1')()",
        "Reflect.construct((() => {}).constructor, ['return 1'])()",
        "globalThis.eval('1')",
        "(0, [].at.constructor)('return this')()",
    ] {
        let error = lab.transform(&format!("export default () => {attempt}"), json!(null)).unwrap_err();
        assert!(["TypeError", "ReferenceError"].contains(&&*error.name), "{attempt}: {error:?}");
    }
}

#[test]
fn nothing_happens_later() {
    let mut lab = Lab::new(Place::Thread);
    for later in [
        "export default async () => 1",
        "export default () => Promise.resolve(1)",
        "export default () => ({ then(ok) { ok(1) } })",
        "export default () => import('zod')",
        "export default () => (async () => { for (;;) await null })()",
        "await new Promise(() => {}); export default () => 1",
    ] {
        let error = lab.transform(later, json!(null)).unwrap_err();
        assert_eq!(error.code.as_deref(), Some(code::ASYNC), "{later}: {error:?}");
        assert!(error.message.contains("synchronous"), "{error:?}");
    }
}

#[test]
fn errors_say_where() {
    let mut lab = Lab::new(Place::Thread);
    for (code, expected) in [
        (
            "export default (a) => {\n  return a.b.c\n}",
            "2:10 TypeError: cannot read property 'c' of undefined",
        ),
        ("export default () => {\n\n  throw new RangeError('mine')\n}", "3:13 RangeError: mine"),
        ("export default () => {\n  return 1 +\n}", "3:1 SyntaxError: unexpected token in expression: '}'"),
        ("const a = 1\nmissing()\nexport default () => a", "2:1 ReferenceError: missing is not defined"),
        ("import 'zod'\nexport default () => 1", "?:? ReferenceError: could not load module 'zod'"),
    ] {
        let error = lab.transform(code, json!({})).unwrap_err();
        let place = error.details.unwrap_or_else(|| json!({"line": "?", "column": "?"}));
        let found = format!("{}:{} {}: {}", place["line"], place["column"], error.name, error.message);
        assert_eq!(found.replace('"', ""), expected, "{:?}", error.stack);
    }
}

#[test]
fn what_is_not_json_is_named() {
    let mut lab = Lab::new(Place::Thread);
    for (output, problem) in [
        ("{ a: [1, { b: NaN }] }", "`a[1].b` is NaN"),
        ("[-1 / 0]", "`[0]` is -Infinity"),
        ("10n", "it is a BigInt"),
        ("({ f() {} })", "`f` is a function"),
        ("[Symbol('x')]", "`[0]` is a symbol"),
        ("new Map([[1, 2]])", "it is a Map"),
        ("[new Set()]", "`[0]` is a Set"),
        ("[new Error('x')]", "`[0]` is an Error"),
        ("(() => { const a = {}; a.a = a; return a })()", "contains itself"),
        ("(() => { let a = []; for (let i = 0; i < 200; i++) a = [a]; return a })()", "nested deeper"),
        ("[Promise.resolve()]", "`[0]` is a promise"),
    ] {
        let error = lab.transform(&format!("export default () => ({output})"), json!(null)).unwrap_err();
        assert_eq!(error.code.as_deref(), Some(code::NOT_JSON), "{error:?}");
        assert!(error.message.contains(problem), "{}", error.message);
    }
    let none = lab.transform("export default 42", json!(null)).unwrap_err();
    assert_eq!(none.code.as_deref(), Some(code::NO_FUNCTION));
}

#[test]
fn limits_end_a_transform() {
    for place in PLACES {
        let mut lab = Lab::new(place);
        for (body, code) in [
            ("for (;;) {}", code::LATE),
            ("for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }", code::LATE),
            ("const all = []; for (;;) all.push({})", code::MEMORY),
            ("for (;;) { try { const all = []; for (;;) all.push({}) } catch {} }", code::MEMORY),
            ("try { new ArrayBuffer(1e9) } catch {} return 1", code::MEMORY),
        ] {
            let limit_ms = if code == code::LATE { 100 } else { 60_000 };
            lab.begin_transform(&format!("export default () => {{ {body} }}"), json!(null), limit_ms);
            let error = lab.end().1.outcome.unwrap_err();
            assert_eq!((error.code.as_deref(), error.spent), (Some(code), false), "{body}: {error:?}");
        }
        let deep = lab
            .transform("const f = (n) => f(n + 1) + 1; export default () => f(0)", json!(null))
            .unwrap_err();
        assert_eq!((deep.name.as_str(), deep.code), ("RangeError", None));
        assert_eq!(lab.transform("export default () => 'fine'", json!(null)).unwrap(), json!("fine"));
    }
}

#[test]
fn a_transform_is_interrupted_like_a_call() {
    let mut lab = Lab::new(Place::Process);
    lab.begin_transform("export default () => { for (;;) {} }", json!(null), 60_000);
    lab.until_in(1);
    assert!(lab.interrupt(1));
    assert_eq!(lab.end().1.outcome.unwrap_err().code.as_deref(), Some(code::INTERRUPTED));
}
