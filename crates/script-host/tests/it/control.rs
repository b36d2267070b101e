//! What reaches a host while JavaScript is stuck.

use rival_script_host::code;
use rival_script_host::frame::{ControlFrame, ControlReply};
use serde_json::json;

use crate::lab::{Lab, PLACES, Place};

const SPINS: &str = "
    export const name = 'flow'
    export function spin() { for (;;) {} }
    export async function spinInside() { for (;;) {} }
    export async function spinAfterAwait() { await null; for (;;) {} }
    export async function spinAfterTimer() { await new Promise((ok) => setTimeout(ok, 1)); for (;;) {} }
    export function spinInCallback() { return new Promise(() => setTimeout(() => { for (;;) {} }, 1)) }
    export async function spinStubbornly() {
        for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }
    }
    export function spinInMicrotasks() {
        const again = () => { Promise.resolve().then(again) }
        again()
        return new Promise(() => {})
    }
    export function spinInChains({ input }) {
        const ticks = () => { for (let i = 0; i < input; i++) {} }
        const again = () => { Promise.resolve().then(again); ticks() }
        again()
        return new Promise(() => {})
    }
    export function spinInSort() { return [3, 1, 2].sort(() => { for (;;) {} }) }
    export async function nap({ input }) { await new Promise((ok) => setTimeout(ok, 5)); return input }
    export function echo({ input }) { return input }
    export const steps = [spin, spinInside, spinAfterAwait, spinAfterTimer, spinInCallback, spinStubbornly,
        spinInMicrotasks, spinInChains, spinInSort, nap, echo]";

#[test]
fn a_spinning_call_is_interrupted_and_the_others_go_on() {
    for place in PLACES {
        let mut lab = Lab::of(place, SPINS);
        for spin in [
            "spin",
            "spinInside",
            "spinAfterAwait",
            "spinAfterTimer",
            "spinInCallback",
            "spinStubbornly",
            "spinInMicrotasks",
            "spinInSort",
        ] {
            let nap = lab.begin("nap", json!("rested"));
            let stuck = lab.begin(spin, json!(null));
            let echo = lab.begin("echo", json!("here"));
            let mut waiting = vec![nap, stuck, echo];
            // A call that spins only after a timer is not in it all the time before.
            while !lab.interrupt(stuck) {
                std::thread::yield_now();
            }
            while !waiting.is_empty() {
                let (id, end) = lab.end();
                waiting.retain(|call| *call != id);
                match end.outcome {
                    Ok(value) if id == nap => assert_eq!(value, "rested"),
                    Ok(value) if id == echo => assert_eq!(value, "here"),
                    Err(error) if id == stuck => assert_eq!(error.code.as_deref(), Some(code::INTERRUPTED)),
                    other => panic!("{spin}: {other:?}"),
                }
            }
        }
        // Nothing of them is left.
        assert_eq!(lab.call("echo", json!(1)).unwrap(), json!(1));
    }
}

/// Jobs that begin the next one and then do more, by every length of that: an interrupt that comes once in so many
/// calls may always find the next one begun.
#[test]
fn a_chain_of_jobs_is_interrupted_whatever_its_rhythm() {
    let mut lab = Lab::of(Place::Thread, SPINS);
    // The file is evaluated: an interrupt must not hit that.
    assert_eq!(lab.call("echo", json!(0)).unwrap(), json!(0));
    for length in 0..40 {
        let stuck = lab.begin("spinInChains", json!(length));
        lab.until_in(stuck);
        assert!(lab.interrupt(stuck));
        let (id, end) = lab.end();
        assert_eq!((id, end.outcome.unwrap_err().code.as_deref()), (stuck, Some(code::INTERRUPTED)));
    }
}

#[test]
fn only_the_call_that_is_meant_is_interrupted() {
    let mut lab = Lab::of(Place::Process, SPINS);
    let napping = lab.begin("nap", json!(1));
    let (id, _) = lab.end();
    assert_eq!(id, napping);
    assert!(!lab.interrupt(napping));
    let stuck = lab.begin("spin", json!(null));
    lab.until_in(stuck);
    assert!(!lab.interrupt(napping));
    assert!(lab.interrupt(stuck));
    assert_eq!(lab.end().0, stuck);
    assert_eq!(lab.call("echo", json!(2)).unwrap(), json!(2));
}

#[test]
fn a_stuck_host_says_with_what() {
    let mut lab = Lab::of(Place::Process, SPINS);
    assert_eq!(lab.call("echo", json!(1)).unwrap(), json!(1));
    let ControlReply::Pong { ping, current, .. } = lab.ask(&ControlFrame::Ping(7)) else { panic!() };
    assert_eq!((ping, current), (7, None));
    let stuck = lab.begin("spin", json!(null));
    lab.until_in(stuck);
    let since = |lab: &mut Lab| match lab.ask(&ControlFrame::Ping(8)) {
        ControlReply::Pong { since_ms, .. } => since_ms,
        other @ ControlReply::Interrupted { .. } => panic!("{other:?}"),
    };
    let first = since(&mut lab);
    while since(&mut lab) == first {
        std::thread::yield_now();
    }
    assert!(since(&mut lab) > first);
}

#[test]
fn a_file_that_never_loads_is_interrupted() {
    let mut lab = Lab::of(Place::Thread, "console.log('loading'); export const name = 'flow'; for (;;) {}");
    let stuck = lab.begin("any", json!(null));
    lab.until_said(stuck, "loading");
    assert!(lab.interrupt(stuck));
    let error = lab.end().1.outcome.unwrap_err();
    assert_eq!(error.code.as_deref(), Some(code::INTERRUPTED), "{error:?}");
    // QuickJS never evaluates a module again that was stopped in the middle: calls of this realm would wait for ever.
    assert!(error.spent, "{error:?}");
    // The other realms work until the parent has replaced the host.
    lab.realm(2, SPINS);
    lab.begin_in(2, "echo", json!(3));
    assert_eq!(lab.end().1.outcome.unwrap(), json!(3));
}

#[test]
fn a_killed_host_is_gone() {
    let mut lab = Lab::of(Place::Process, SPINS);
    let stuck = lab.begin("spin", json!(null));
    lab.until_in(stuck);
    lab.child().kill().unwrap();
    assert!(lab.try_hear().is_none());
}

#[test]
fn a_host_ends_with_its_parent_also_when_it_is_stuck() {
    for stuck in ["spin", "nap"] {
        let mut lab = Lab::of(Place::Process, SPINS);
        let call = lab.begin(stuck, json!(null));
        if stuck == "spin" {
            lab.until_in(call);
        }
        lab.hang_up();
        assert!(lab.child().wait().unwrap().success());
    }
}

/// The sockets may live on in another process. Here the host's parent is a shell, and the test has the other ends.
#[test]
fn a_host_ends_with_its_parent_also_when_its_sockets_do_not() {
    let (mut lab, mut shell) = Lab::orphan();
    lab.realm(1, SPINS);
    let stuck = lab.begin("spin", json!(null));
    lab.until_in(stuck);
    shell.kill().unwrap();
    shell.wait().unwrap();
    assert!(lab.try_hear().is_none());
}
