//! Calls, and what they leave to each other.

use std::collections::BTreeMap;

use rival_script_host::frame::{FromHost, ToHost};
use serde_json::json;

use crate::lab::{Lab, PLACES, Place, module};

#[test]
fn functions_are_called_sync_and_async() {
    let code = "
        export const name = 'flow'
        export function add({ input }) { return input.a + input.b }
        export async function later({ input, state }) {
            state.seen = true
            await new Promise((ok) => setTimeout(ok, 1))
            return [input]
        }
        export function nothing() {}
        export const steps = [add, later, nothing]";
    for place in PLACES {
        let mut lab = Lab::of(place, code);
        assert_eq!(lab.call("add", json!({"a": 1, "b": 2})).unwrap(), json!(3));
        lab.begin("later", json!("é\u{1f600}"));
        assert!(matches!(lab.hear(), FromHost::State { .. }), "it is told while the step waits");
        let (_, end) = lab.end();
        assert_eq!((end.outcome.unwrap(), end.state), (json!(["é\u{1f600}"]), Some(json!({"seen": true}))));
        assert_eq!(lab.call("nothing", json!(null)).unwrap(), json!(null));
    }
}

#[test]
fn a_failure_says_where() {
    let code = "export const name = 'flow'
        export function boom() {
            throw Object.assign(new TypeError('no'), { code: 'mine' })
        }
        export const steps = [boom]";
    let mut lab = Lab::of(Place::Thread, code);
    let error = lab.call("boom", json!(null)).unwrap_err();
    assert_eq!(
        (error.name.as_str(), error.message.as_str(), error.code.as_deref()),
        ("TypeError", "no", Some("mine"))
    );
    let stack = error.stack.unwrap();
    assert!(stack.contains("at boom (/flow.js:3:"), "{stack}");
}

#[test]
fn hundreds_wait_beside_each_other() {
    let code = "
        export const name = 'flow'
        export async function nap({ input }) {
            await new Promise((ok) => setTimeout(ok, input % 20))
            return input
        }
        export const steps = [nap]";
    let mut lab = Lab::of(Place::Process, code);
    let mut open: BTreeMap<u64, u64> = (0..500).map(|n| (lab.begin("nap", json!(n)), n)).collect();
    while !open.is_empty() {
        let (id, end) = lab.end();
        let input = open.remove(&id).unwrap();
        assert_eq!(end.outcome.unwrap(), json!(input));
    }
}

#[test]
fn lines_belong_to_the_call_that_wrote_them() {
    let code = "
        export const name = 'flow'
        export async function talk({ input }) {
            console.log('begin', input)
            for (let i = 0; i < 3; i++) {
                await new Promise((ok) => setTimeout(ok, 1))
                await null
                console.log('after', input)
            }
        }
        export const steps = [talk]";
    let mut lab = Lab::of(Place::Thread, code);
    let calls: Vec<u64> = (0..20).map(|n| lab.begin("talk", json!(n))).collect();
    let mut lines = 0;
    let mut ended = 0;
    while ended < calls.len() {
        match lab.hear() {
            FromHost::Log { id, message, .. } => {
                lines += 1;
                let who = calls.iter().position(|call| *call == id).unwrap().to_string();
                assert_eq!(message.split(' ').next_back().unwrap(), who);
            }
            FromHost::Done { .. } => ended += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(lines, 80);
}

#[test]
fn a_question_is_answered_while_other_frames_queue_up() {
    let code = "
        export const name = 'flow'
        export function look({ steps }) { return steps.earlier.result + 1 }
        export function echo({ input }) { return input }
        export const steps = [look, echo]";
    for place in PLACES {
        let mut lab = Lab::of(place, code);
        let asking = lab.begin("look", json!(null));
        let (id, op, kind, args) = lab.op();
        assert_eq!((id, kind.as_str(), &args["name"]), (asking, "look", &json!("earlier")));
        let others: Vec<u64> = (0..5).map(|n| lab.begin("echo", json!(n))).collect();
        lab.answer(id, op, json!({"result": 41, "state": {}, "status": "completed"}));
        let (id, end) = lab.end();
        assert_eq!((id, end.outcome.unwrap()), (asking, json!(42)));
        for (n, other) in others.into_iter().enumerate() {
            let (id, end) = lab.end();
            assert_eq!((id, end.outcome.unwrap()), (other, json!(n)));
        }
    }
}

#[test]
fn an_operation_is_answered_later() {
    let code = "
        export const name = 'flow'
        export async function wait({ durable }) { return (await durable.signal('go')).n }
        export const steps = [wait]";
    let mut lab = Lab::of(Place::Thread, code);
    let calls = [lab.begin("wait", json!(null)), lab.begin("wait", json!(null))];
    let mut ops = Vec::new();
    while ops.len() < 2 {
        match lab.hear() {
            FromHost::Op { id, op, .. } => ops.push((id, op)),
            FromHost::Idle { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    ops.reverse();
    for (id, op) in ops {
        lab.answer(id, op, json!({"n": id}));
        let (ended, end) = loop {
            if let FromHost::Done { id, value, .. } = lab.hear() {
                break (id, value);
            }
        };
        assert_eq!((ended, end.get()), (id, &*id.to_string()));
    }
    assert_eq!(calls.len(), 2);
}

#[test]
fn an_abort_is_heard() {
    let code = "
        export const name = 'flow'
        export function wait({ run }) {
            return new Promise((ok, no) => run.abortSignal.addEventListener('abort', () => no(new Error('told'))))
        }
        export const steps = [wait]";
    let mut lab = Lab::of(Place::Thread, code);
    let call = lab.begin("wait", json!(null));
    lab.tell(&ToHost::Abort { id: call, reason: "late".to_owned(), keep: true });
    let (mut aborted, mut failed) = (false, false);
    while !(aborted && failed) {
        match lab.hear() {
            FromHost::Aborted { id } if id == call => aborted = true,
            FromHost::Failed { id, error, .. } if id == call => failed = error.message == "told",
            other => panic!("{other:?}"),
        }
    }
    // One that is gone is answered, too.
    lab.tell(&ToHost::Abort { id: call, reason: "late".to_owned(), keep: true });
    assert!(matches!(lab.hear(), FromHost::Aborted { id } if id == call));
}

#[test]
fn a_forgotten_call_says_nothing_more() {
    let code = "
        export const name = 'flow'
        export async function nap({ input }) {
            await new Promise((ok) => setTimeout(ok, input))
            return input
        }
        export const steps = [nap]";
    let mut lab = Lab::of(Place::Thread, code);
    let gone = lab.begin("nap", json!(1));
    lab.tell(&ToHost::Forget { id: gone });
    assert_eq!(lab.call("nap", json!(20)).unwrap(), json!(20));
}

#[test]
fn what_nobody_awaits_is_a_line_in_the_log() {
    let code = "
        export const name = 'flow'
        export function careless() {
            Promise.reject(new Error('lost'))
            setTimeout(() => { throw new Error('also lost') }, 1)
            return new Promise((ok) => setTimeout(ok, 10, null))
        }
        export async function careful() {
            const failing = Promise.reject(new Error('found'))
            try { await failing } catch (error) { return error.message }
        }
        export const steps = [careless, careful]";
    let mut lab = Lab::of(Place::Thread, code);
    assert_eq!(lab.call("careful", json!(null)).unwrap(), json!("found"));
    let call = lab.begin("careless", json!(null));
    for lost in ["lost", "also lost"] {
        let (id, message) = lab.line();
        assert_eq!(id, call);
        assert!(message.contains(&format!("Error: {lost}")) && message.contains("/flow.js:"), "{message}");
    }
    assert_eq!(lab.end().1.outcome.unwrap(), json!(null));
}

#[test]
fn modules_are_linked_by_what_the_parent_says() {
    let mut lab = Lab::new(Place::Thread);
    let main = "
        import { twice } from './tools.ts'
        export const name = 'flow'
        export async function use({ input }) {
            const { other } = await import('./lazy.ts')
            const bad = await import('./' + 'unknown.ts').catch((error) => error.message)
            return [twice(input), other, bad.includes('unknown.ts'), import.meta.url]
        }
        export const steps = [use]";
    let modules = vec![
        module("/flow.js", main, &[("./tools.ts", "/src/tools.ts"), ("./lazy.ts", "/src/lazy.ts")]),
        module("/src/tools.ts", "export const twice = (n) => 2 * n", &[]),
    ];
    lab.tell(&ToHost::Realm { realm: 1, modules });
    // More of the same realm.
    let lazy = module("/src/lazy.ts", "export const other = 'lazy'", &[]);
    lab.tell(&ToHost::Realm { realm: 1, modules: vec![lazy] });
    assert_eq!(lab.call("use", json!(21)).unwrap(), json!([42, "lazy", true, "file:///flow.js"]));
}

#[test]
fn realms_are_worlds_of_their_own() {
    let code = |n: u32| {
        format!(
            "globalThis.count = (globalThis.count ?? 0) + {n}
            export const name = 'flow'
            export function count() {{ return globalThis.count }}
            export const steps = [count]"
        )
    };
    let mut lab = Lab::new(Place::Thread);
    lab.realm(1, &code(1));
    lab.realm(2, &code(2));
    for (realm, expected) in [(1, 1), (2, 2), (1, 1)] {
        lab.begin_in(realm, "count", json!(null));
        assert_eq!(lab.end().1.outcome.unwrap(), json!(expected));
    }
    lab.tell(&ToHost::Drop { realm: 1 });
    lab.begin_in(1, "count", json!(null));
    assert!(lab.end().1.outcome.unwrap_err().message.contains("no realm 1"));
    lab.begin_in(2, "count", json!(null));
    assert_eq!(lab.end().1.outcome.unwrap(), json!(2));
}
