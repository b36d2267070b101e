//! What scripts can do to each other: nothing. Files have realms of their own, and what calls leave behind ends.

use rival_script_host::frame::{FromHost, ToHost};
use serde_json::json;

use crate::lab::{Lab, PLACES, Place, file};

#[test]
fn what_a_file_does_to_globals_no_other_file_sees() {
    let changed = "
        export const name = 'flow'
        globalThis.fetch = () => 'stolen'
        console.log = () => {}
        Array.prototype.last = function () { return this[this.length - 1] }
        export function look() { return [fetch(), [1, 2].last()] }
        export const steps = [look]";
    let plain = "
        export const name = 'flow'
        export function look() { console.log('heard'); return [typeof fetch('http://127.0.0.1:1').catch(() => {}), typeof [].last] }
        export const steps = [look]";
    let mut lab = Lab::of(Place::Thread, changed);
    lab.realm(2, plain);
    assert_eq!(lab.call("look", json!(null)).unwrap(), json!(["stolen", 2]));
    lab.begin_in(2, "look", json!(null));
    assert_eq!(lab.line().1, "heard");
    assert_eq!(lab.end().1.outcome.unwrap(), json!(["object", "undefined"]));
}

/// What a step may try to change for the calls after it.
const CHANGES: &[&str] = &[
    "Array.prototype.map = null",
    "Object.prototype.toJSON = () => 'HIJACKED'",
    "Object.prototype.then = (go) => go('HIJACKED')",
    "Object.prototype.toString = null",
    "Object.defineProperty(Object.prototype, 'x', { value: 1 })",
    "Object.setPrototypeOf(Array.prototype, { x: 1 })",
    "Object.getPrototypeOf([].values()).next = null",
    "Object.getPrototypeOf(async () => {}).x = 1",
    "Object.getPrototypeOf(log).x = 1",
    "Object.getPrototypeOf(durable).sleep = null",
    "Object.getPrototypeOf(run.abortSignal).aborted = true",
    "JSON.stringify = () => '1'",
    "JSON.stringify.call = 1",
    "Promise.prototype.then = null",
    "Promise.resolve = null",
    "Map.prototype.get = null",
    "Error.prototype.name = 'x'",
    "Error.prepareStackTrace = () => 'x'",
    "TypeError.prototype.x = 1",
    "Math.random = () => 4",
    "Date.now = () => 0",
    "globalThis.fetch = () => 'stolen'",
    "globalThis.JSON = null",
    "delete globalThis.fetch",
    "console.log = null",
    "URL.prototype.x = 1",
    "Headers.prototype.get = null",
    "crypto.randomUUID = () => 'x'",
    "process.env.GREETING = 'bye'",
    "StepError.prototype.x = 1",
];

#[test]
fn a_step_cannot_change_built_ins() {
    let attempts = CHANGES
        .iter()
        .map(|change| format!("({{ log, durable, run }}) => {{ {change}; return 'changed' }},"));
    let code = format!(
        "import {{ StepError }} from 'rival'
        export const name = 'flow'
        const attempts = [{}]
        export function attempt(context) {{
            try {{ return attempts[context.input](context) }} catch (error) {{ return error.constructor.name }}
        }}
        export const steps = [attempt]",
        attempts.collect::<String>()
    );
    let mut lab = Lab::new(Place::Thread);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file("/flow.js", &code)] });
    for (number, change) in CHANGES.iter().enumerate() {
        assert_eq!(lab.call("attempt", json!(number)).unwrap(), json!("TypeError"), "{change}");
    }
}

#[test]
fn a_file_that_replaces_the_core_of_the_language_is_refused() {
    for (change, said) in [
        ("Object.prototype.toJSON = () => 'HIJACKED'", "adds `toJSON` to `Object.prototype`"),
        ("Array.prototype.toJSON = () => 'HIJACKED'", "adds `toJSON` to `Array.prototype`"),
        ("Object.prototype.then = () => {}", "adds `then` to `Object.prototype`"),
        ("Array.prototype.map = () => []", "replaces the built-in `Array.prototype.map`"),
        ("JSON.stringify = () => '1'", "replaces the built-in `JSON.stringify`"),
        ("globalThis.Promise = class {}", "replaces the built-in `Promise`"),
        ("delete Map.prototype.get", "replaces the built-in `Map.prototype.get`"),
        (
            "Array.prototype[Symbol.iterator] = null",
            "replaces the built-in `Array.prototype[Symbol(Symbol.iterator)]`",
        ),
    ] {
        let code = format!("{change}\nexport const steps = [function a() {{ return 1 }}]");
        let error = Lab::of(Place::Thread, &code).describe("/flow.js").unwrap_err();
        assert_eq!(error.code.as_deref(), Some("changed_builtin"), "{change}: {error:?}");
        let expected = format!("the file {said}: what its workflows record would not be what they return");
        assert_eq!(error.message, expected);
    }
}

/// What libraries do all the time must go on to work when built-ins are frozen.
#[test]
fn objects_can_have_what_built_ins_have() {
    let code = "
        export const name = 'flow'
        BigInt.prototype.toJSON = function () { return String(this) }
        if (!Array.prototype.second) Array.prototype.second = function () { return this[1] }
        class Failure extends Error { constructor(text) { super(text); this.name = 'Failure'; this.message = text + '!' } }
        class Old { name = 'old'; toString = () => 'own' }
        function Older() { this.constructor = Older; this.valueOf = () => 7 }
        export async function work() {
            Older.prototype.toString = function () { return 'older' }
            const object = {}
            object.toString = () => 'object'
            object.hasOwnProperty = () => true
            object['constructor'] = 'constructor'
            const fn = () => {}
            fn.toString = () => 'fn'
            fn.bind = () => 'bound'
            const list = [1, 2]
            list.toString = () => 'list'
            const date = new Date(0)
            date.toJSON = () => 'date'
            const error = new Error('a')
            error.name = 'Named'
            error.message = 'b'
            const type = new TypeError('t')
            type.name = 'Typed'
            const promise = Promise.resolve(1)
            const parsed = JSON.parse('{\"constructor\":1,\"toString\":2,\"__proto__\":3}')
            const keyed = {}
            for (const key of ['toString', 'valueOf', 'constructor', 'length']) keyed[key] = key
            Error.stackTraceLimit = 5
            globalThis.mine = (globalThis.mine ?? 0) + 1
            return [
                String(new Failure('x')), String(new Old()), String(new Older()), new Older() + 1, String(object), object.constructor,
                String(fn), fn.bind(), String(list), JSON.stringify(date), String(error), String(type), await promise,
                Object.keys(parsed).length, Object.keys(keyed), [1, 2].second(), String({}), String([1]), {}.constructor === Object,
                Object.keys({}).length, (() => { let seen = 0; for (const _ in {}) seen++; return seen })(), globalThis.mine,
            ]
        }
        export const steps = [work]";
    for place in PLACES {
        let mut lab = Lab::of(place, code);
        let expected = |times| {
            json!([
                "Failure: x!",
                "own",
                "older",
                8,
                "object",
                "constructor",
                "fn",
                "bound",
                "list",
                "\"date\"",
                "Named: b",
                "Typed: t",
                1,
                3,
                ["toString", "valueOf", "constructor", "length"],
                2,
                "[object Object]",
                "1",
                true,
                0,
                0,
                times
            ])
        };
        assert_eq!(lab.call("work", json!(null)).unwrap(), expected(1));
        assert_eq!(lab.call("work", json!(null)).unwrap(), expected(2));
    }
}

const LEAVING: &str = "
    export const name = 'flow'
    const nap = (ms) => new Promise((go) => setTimeout(go, ms))
    let wake
    const woken = new Promise((go) => { wake = go })
    const early = nap(20).then(() => 'early')
    export function interval() { setInterval(() => console.log('tick'), 1) }
    export function detached() { (async () => { await null; setInterval(() => console.log('tick'), 1) })() }
    export async function thrown() { setInterval(() => console.log('tick'), 1); throw new Error('enough') }
    export async function waiter() { await woken; await nap(5); await nap(5); return 'woken' }
    export function waker() { wake(); return 'waker' }
    export async function top() { return early }
    export async function rest() { await nap(30); return 'rested' }
    export const steps = [interval, detached, thrown, waiter, waker, top, rest]";

#[test]
fn what_a_call_leaves_behind_ends_with_it() {
    for place in PLACES {
        for leaving in ["interval", "detached", "thrown"] {
            let mut lab = Lab::of(place, LEAVING);
            let _ = lab.call(leaving, json!(null));
            // Nothing is said while it rests.
            assert_eq!(lab.call("rest", json!(null)).unwrap(), json!("rested"), "{leaving}");
        }
    }
}

/// A promise of one call wakes another, which works in the turn of the first and goes on after its end.
#[test]
fn a_call_that_another_one_wakes_goes_on() {
    let mut lab = Lab::of(Place::Thread, LEAVING);
    let waiter = lab.begin("waiter", json!(null));
    assert_eq!(lab.call("waker", json!(null)).unwrap(), json!("waker"));
    let (id, end) = lab.end();
    assert_eq!((id, end.outcome.unwrap()), (waiter, json!("woken")));
}

#[test]
fn what_a_file_begins_is_for_all_its_calls() {
    let mut lab = Lab::of(Place::Thread, LEAVING);
    lab.describe("/flow.js").unwrap();
    assert_eq!(lab.call("top", json!(null)).unwrap(), json!("early"));
}

#[test]
fn a_stopped_call_leaves_nothing() {
    let code = "
        export const name = 'flow'
        export function forever() { setInterval(() => console.log('tick'), 1); return new Promise(() => {}) }
        export async function rest() { await new Promise((go) => setTimeout(go, 30)); return 'rested' }
        export const steps = [forever, rest]";
    let mut lab = Lab::of(Place::Thread, code);
    let call = lab.begin("forever", json!(null));
    assert_eq!(lab.line().1, "tick");
    lab.tell(&ToHost::Abort { id: call, reason: "cancelled".to_owned(), keep: false });
    // Lines that were on their way may still come.
    while !matches!(lab.hear(), FromHost::Aborted { .. }) {}
    assert_eq!(lab.call("rest", json!(null)).unwrap(), json!("rested"));
}

#[test]
fn a_script_that_logs_without_end_is_not_heard_without_end() {
    let code = "
        export const name = 'flow'
        export function shout({ log }) { for (let n = 0; n < 1000; n++) log.info('x'.repeat(60_000)) }
        export const steps = [shout]";
    let mut lab = Lab::of(Place::Thread, code);
    lab.begin("shout", json!(null));
    let mut bytes = 0;
    let last = loop {
        match lab.hear() {
            FromHost::Log { message, .. } if message.starts_with('x') => bytes += message.len(),
            other => break other,
        }
    };
    assert!(bytes <= 2 << 20, "{bytes}");
    assert!(matches!(last, FromHost::Log { message, .. } if message.ends_with("lines were dropped")));
    assert!(lab.end().1.outcome.is_ok());
}

#[test]
fn messages_of_zod_in_other_languages_are_there() {
    let code = "
        import { z } from 'zod'
        export const name = 'flow'
        export function work() {
            const english = z.number().safeParse('x').error.issues[0].message
            z.config(z.locales.de())
            return [english, z.number().safeParse('x').error.issues[0].message]
        }
        export const steps = [work]";
    let mut lab = Lab::new(Place::Thread);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file("/flow.js", code)] });
    let said = lab.call("work", json!(null)).unwrap();
    assert_eq!(said[0], "Invalid input: expected number, received string");
    assert!(said[1].as_str().unwrap().starts_with("Ungültige Eingabe"), "{said}");
}

#[test]
fn parts_of_zod_that_are_evaluated_late_belong_to_the_rest() {
    let flow = "
        import { z } from 'zod'
        export const name = 'flow'
        export function look() {
            const schema = z.object({ n: z.number() })
            const compiled = z.compile(schema)
            const made = z.fromJSONSchema({ type: 'array', items: { type: 'string' } })
            let refused
            try { z.compile(z.string().refine(async () => true), { strict: true }) } catch (error) { refused = error }
            return [
                compiled.parse({ n: 1 }), compiled.safeParse({ n: 'x' }).success, compiled instanceof z.ZodObject,
                made.parse(['a']), made instanceof z.ZodArray,
                refused instanceof z.ZodCompileAsyncError || refused instanceof z.ZodCompileUnsupportedError,
                z.core.util === z.util, typeof z.z,
            ]
        }
        export const steps = [look]";
    let expected = json!([{ "n": 1 }, false, true, ["a"], true, true, true, "undefined"]);
    let mut lab = Lab::new(Place::Thread);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![file("/flow.js", flow)] });
    assert_eq!(lab.call("look", json!(null)).unwrap(), expected);
}

/// The first realm of a host finds out what is built in, and the others go by what it found.
#[test]
fn built_ins_are_frozen_alike_in_all_realms_of_a_host() {
    let flow = "
        export const name = 'flow'
        export function look() {
            const found = new Map([[globalThis, 'globalThis']])
            const seen = []
            for (const [object, path] of found) {
                const visit = (value, part) => {
                    if (Object(value) === value && !found.has(value)) found.set(value, `${path}.${part}`)
                }
                visit(Object.getPrototypeOf(object), 'prototype of it')
                for (const key of Reflect.ownKeys(object)) {
                    const { value, get, set } = Object.getOwnPropertyDescriptor(object, key)
                    visit(value, String(key))
                    visit(get, `get ${String(key)}`)
                    visit(set, `set ${String(key)}`)
                }
                if (Object.isExtensible(object) || !(Object.isFrozen(object) || typeof object === 'function')) seen.push(path)
            }
            return { open: seen.sort(), count: found.size }
        }
        export const steps = [look]";
    let mut lab = Lab::of(Place::Thread, flow);
    let first = lab.call("look", json!(null)).unwrap();
    assert!(first["count"].as_u64().unwrap() > 500, "{first}");
    for realm in 2..5 {
        lab.realm(realm, flow);
        lab.begin_in(realm, "look", json!(null));
        assert_eq!(lab.end().1.outcome.unwrap(), first);
    }
    assert_eq!(first["open"], json!(["globalThis"]));
}
