//! Memory that runs out, and memory that comes back.

use rival_script_host::code;
use rival_script_host::frame::{FromHost, ToHost};
use serde_json::json;

use crate::lab::{Lab, PLACES, Place};
use crate::server::Server;

const HUNGRY: &str = "
    export const name = 'flow'
    const kept = []
    export function arrays() { const all = []; for (;;) all.push(new Array(1000).fill(1)) }
    export function objects() { let list = null; for (;;) list = { list } }
    export function text() { const all = []; for (;;) all.push('x'.repeat(100_000)) }
    export function buffer() { return new Uint8Array(1e9).length }
    export async function later() { await null; const all = []; for (;;) all.push({}) }
    export function stubborn() {
        for (;;) { try { const all = []; for (;;) all.push('x'.repeat(1000) + all.length) } catch {} }
    }
    export function quiet() { try { new Uint8Array(1e9) } catch {} return 'fine' }
    export function keep() { for (;;) kept.push(new Array(1000).fill(1)) }
    export function promises() { const again = () => Promise.resolve().then(again); return again() }
    export function echo({ input }) { return input }
    export const steps = [arrays, objects, text, buffer, later, stubborn, quiet, keep, promises, echo]";

#[test]
fn a_call_that_wants_too_much_is_the_one_that_fails() {
    for place in PLACES {
        for hungry in
            ["arrays", "objects", "text", "buffer", "later", "stubborn", "quiet", "keep", "promises"]
        {
            let mut lab = Lab::with_memory(place, 16 * 1024 * 1024);
            lab.realm(1, HUNGRY);
            assert_eq!(lab.call("echo", json!(1)).unwrap(), json!(1));
            let error = lab.call(hungry, json!(null)).unwrap_err();
            assert_eq!(
                (error.code.as_deref(), error.spent),
                (Some(code::MEMORY), true),
                "{hungry}: {error:?}"
            );
            // There is enough left to end what others have begun.
            assert_eq!(lab.call("echo", json!(2)).unwrap(), json!(2), "{hungry}");
        }
    }
}

/// Bodies are held outside of JavaScript while they arrive; they count all the same.
#[test]
fn answers_that_are_on_their_way_count() {
    let code = "
        export const name = 'flow'
        const url = process.env.SERVER
        export async function hoard() {
            await Promise.race(Array.from({ length: 40 }, () => fetch(`${url}/unfinished`)))
        }
        export async function small() { return (await fetch(`${url}/text`)).text() }
        export const steps = [hoard, small]";
    for place in PLACES {
        let mut lab = Lab::with_env(place, &[("SERVER", &Server::start())]);
        lab.realm(1, code);
        let error = lab.call("hoard", json!(null)).unwrap_err();
        let told = "fetch failed: there is no memory left for it: the script and its requests may hold 64 MiB together";
        assert_eq!((error.code.as_deref(), error.message.as_str()), (Some(code::MEMORY), told));
        assert!(!error.spent, "the host goes on");
    }
}

#[test]
fn what_is_sent_counts_too() {
    let code = "
        export const name = 'flow'
        const body = new Uint8Array(16 << 20)
        export async function hoard() {
            const url = `${process.env.SERVER}/hang`
            await Promise.race(Array.from({ length: 40 }, () => fetch(url, { method: 'POST', body })))
        }
        export const steps = [hoard]";
    let mut lab = Lab::with_env(Place::Thread, &[("SERVER", &Server::start())]);
    lab.realm(1, code);
    assert_eq!(lab.call("hoard", json!(null)).unwrap_err().code.as_deref(), Some(code::MEMORY));
}

#[test]
fn garbage_is_not_memory_that_is_held() {
    let code = "
        export const name = 'flow'
        const held = Array.from({ length: 100_000 }, (_, n) => ({ n, held: () => held }))
        export function litter() {
            for (let i = 0; i < 5000; i++) {
                const knot = { text: String(i) }
                knot.knot = knot
            }
            return held.length
        }
        export const steps = [litter]";
    let mut lab = Lab::with_memory(Place::Thread, 36 * 1024 * 1024);
    lab.realm(1, code);
    for _ in 0..100 {
        assert_eq!(lab.call("litter", json!(null)).unwrap(), json!(100_000));
    }
}

#[test]
fn a_realm_that_is_dropped_gives_its_memory_back() {
    let code = "
        export const name = 'flow'
        const held = Array.from({ length: 100_000 }, (_, n) => ({ n, held: () => held }))
        export function size() { return held.length }
        export const steps = [size]";
    let mut lab = Lab::with_memory(Place::Thread, 48 * 1024 * 1024);
    for realm in 1..20 {
        lab.realm(realm, code);
        lab.begin_in(realm, "size", json!(null));
        let size = lab.end().1.outcome;
        assert_eq!(size.as_ref().unwrap_or_else(|error| panic!("realm {realm}: {error:?}")), &json!(100_000));
        lab.tell(&ToHost::Drop { realm });
    }
}

/// There may be more files than fit: those that nothing happens in are evaluated again when they are called.
#[test]
fn realms_make_room_for_others() {
    let code = "
        export const name = 'flow'
        const held = Array.from({ length: 50_000 }, (_, n) => ({ n, held: () => held }))
        let calls = 0
        export function count() { return [held.length, ++calls] }
        export async function nap() { await new Promise((go) => setTimeout(go, 1)); return ++calls }
        export const steps = [count, nap]";
    let mut lab = Lab::with_memory(Place::Thread, 48 * 1024 * 1024);
    for realm in 1..=20 {
        lab.realm(realm, code);
    }
    // One that waits stays.
    for round in 0..2 {
        for realm in 1..=20 {
            lab.begin_in(realm, "count", json!(null));
            let counted = lab.end().1.outcome;
            let counted = counted.unwrap_or_else(|error| panic!("realm {realm}, round {round}: {error:?}"));
            assert_eq!(counted[0], json!(50_000));
        }
    }
    lab.begin_in(20, "nap", json!(null));
    assert!(lab.end().1.outcome.is_ok());
}

#[test]
fn a_realm_that_is_dropped_takes_its_timers_along() {
    let code = "
        export const name = 'flow'
        export function arm() { setInterval(() => console.log('still here'), 1); return new Promise(() => {}) }
        export async function nap() { await new Promise((ok) => setTimeout(ok, 10)) }
        export const steps = [arm, nap]";
    let mut lab = Lab::of(Place::Thread, code);
    lab.realm(2, code);
    lab.begin("arm", json!(null));
    assert_eq!(lab.line().1, "still here");
    lab.tell(&ToHost::Drop { realm: 1 });
    // What was written before the realm was dropped may still come.
    let mark = lab.begin_in(2, "nap", json!(null));
    loop {
        match lab.hear() {
            FromHost::Log { .. } => {}
            FromHost::Done { id, .. } => break assert_eq!(id, mark),
            other => panic!("{other:?}"),
        }
    }
    lab.begin_in(2, "nap", json!(null));
    assert!(lab.end().1.outcome.is_ok());
}
