//! Operations that a function gives up.

use expect_test::expect;
use rival_core::durable::{OpKind, Replay, ReplayResult};
use rival_core::event::EventKind;
use rival_core::failure::StepError;
use rival_core::machine::{OnceRequest, OpRequest};
use rival_core::{NodeStatus, Path, Time};
use serde_json::json as j;

use crate::durable::{cancelled, key, run, signal, started};
use crate::support::{Case, tried};

/// A step with so many attempts, whose child and whose wait for a signal have ended.
fn answered(attempts: u32) -> Case {
    Case::of(vec![tried("a", attempts)])
        .start()
        .asks("a", 1, "work", run())
        .asks("a", 1, "m", signal(None))
        .child_completes("r~c1", j!(1))
        .signal("m")
}

#[test]
fn a_wait_that_is_given_up_takes_no_signal() {
    started()
        .asks("a", 1, "m", signal(Some(500)))
        .asks("a", 1, "", OpRequest::Sleep(100))
        .tick_after(100)
        .drops("a", 1, 1)
        .next_timer(None)
        .asks_after("a", 1, ("m", 2), &[2], signal(None))
        .signal("m")
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 signal m until 500
            > a#1 asks, at 0
               4 <2        a#1.2 sleep until 100
            > tick, at 100
               5 clock     a.2 ended: done
                answer a#1: operation 2
            > a#1 drops, at 100
               6 <2        a#1.1 given up
            > a#1 asks, at 100
               7 <2        a#1.3 signal m no. 2, after [2]
            > signal m sent at 100, at 100
               8 request   signal m received: null, sent at 100
               9 <8        a.3 takes 8
                answer a#1: operation 3
        "#]]);
}

#[test]
fn a_signal_that_was_taken_and_not_used_is_kept_where_it_was() {
    started()
        .asks("a", 1, "m", signal(None))
        .signal_sent("m", j!("first"), Time(0))
        .signal_sent("m", j!("second"), Time(0))
        .drops("a", 1, 1)
        .drops("a", 1, 1)
        .asks("a", 1, "other", signal(None))
        .asks_after("a", 1, ("m", 2), &[], signal(None))
        .asks_after("a", 1, ("m", 3), &[3], signal(None))
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 signal m
            > signal m sent at 0, at 0
               4 request   signal m received: "first", sent at 0
               5 <4        a.1 takes 4
                answer a#1: operation 1
            > signal m sent at 0, at 0
               6 request   signal m received: "second", sent at 0
            > a#1 drops, at 0
               7 <2        a#1.1 given up
            > a#1 drops, at 0
            > a#1 asks, at 0
               8 <2        a#1.2 signal other
            > a#1 asks, at 0
               9 <2        a#1.3 signal m no. 2
              10 <4        a.3 takes 4
                answer a#1: operation 3
            > a#1 asks, at 0
              11 <2        a#1.4 signal m no. 3, after [3]
              12 <6        a.4 takes 6
                answer a#1: operation 4
        "#]]);
}

#[test]
fn children_that_are_given_up_are_cancelled_and_nobody_is_told() {
    started()
        .asks("a", 1, "work", run())
        .asks("a", 1, "go", signal(None))
        .drops("a", 1, 1)
        .suspend("a", 1)
        .child_ends("r~c1", cancelled())
        .node("a", NodeStatus::Waiting)
        .signal("go")
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 run work with {"x":1}
               4 <3        a.1[0] started r~c1
                start r~c1 of work, input in 3
            > a#1 asks, at 0
               5 <2        a#1.2 signal go
            > a#1 drops, at 0
               6 <2        a#1.1 given up
               7 <6        a.1 stopping
                cancel r~c1
            > suspend, at 0
               8 <2        a#1 let go
            > child ended, at 0
               9 child     a.1[0] r~c1 cancelled
            > signal go sent at 0, at 0
              10 request   signal go received: null, sent at 0
              11 <10       a.2 takes 10
              12 <11       a#2 called: step attempt 1
        "#]]);
}

#[test]
fn a_kill_reaches_children_that_are_cancelling() {
    started().asks("a", 1, "work", run()).drops("a", 1, 1).quietly().kill().then(expect![[r#"
        > kill, at 0
           7 request   kill requested: now, forced at 0
           8 clock     a#1 cancelled, forced
           9 clock     a.1 ended: left behind
          10 <9        run cancelled: now
            cancel r~c1
            stop a#1: ending
    "#]]);
}

#[test]
fn what_is_given_up_before_it_is_done_once_is_recorded() {
    let case =
        started().asks("a", 1, "key", OpRequest::Once(OnceRequest::Drop)).asks("a", 1, "go", signal(None));
    let case = case.crash();
    let mut replay = Replay::new(case.state.ops.get(&Path::from("a")), 1);
    let ops = case.state.ops.get(&Path::from("a"));
    assert_eq!(replay.ask(ops, &key(OpKind::Once, "key"), "h", &[]), ReplayResult::Recorded(1));
    assert!(!replay.is_due(ops.unwrap().get(1).unwrap()), "it is never answered");
    case.check();
}

#[test]
fn a_later_attempt_is_given_what_ended_well_although_it_was_given_up() {
    let case =
        answered(2).drops("a", 1, 1).drops("a", 1, 2).fails("a", 1, StepError::new("no")).tick_after(1_000);
    let ops = case.state.ops.get(&Path::from("a"));
    let mut replay = Replay::new(ops, 2);
    assert_eq!(replay.ask(ops, &key(OpKind::Run, "work"), "h", &[]), ReplayResult::Recorded(1));
    assert_eq!(replay.ask(ops, &key(OpKind::Signal, "m"), "h", &[]), ReplayResult::New);
    assert!(replay.is_due(ops.unwrap().get(1).unwrap()));
    case.asks("a", 2, "m", signal(None)).quietly().then(expect![[r#""#]]);
}

#[test]
fn what_an_attempt_gave_up_stays_so_when_it_is_called_again() {
    let case = Case::of(vec![tried("a", 2)])
        .start()
        .asks("a", 1, "work", run())
        .child_completes("r~c1", j!(1))
        .fails("a", 1, StepError::new("no"))
        .tick_after(1_000)
        .drops("a", 2, 1)
        .asks("a", 2, "m", signal(None))
        .suspend("a", 2)
        .signal("m");
    let ops = case.state.ops.get(&Path::from("a"));
    let mut replay = Replay::new(ops, 2);
    assert_eq!(replay.ask(ops, &key(OpKind::Run, "work"), "h", &[]), ReplayResult::Recorded(1));
    assert!(!replay.is_due(ops.unwrap().get(1).unwrap()), "it is never answered");
    case.drops("a", 3, 1).check();
}

#[test]
fn each_attempt_can_give_up_what_ended_well_before() {
    let case = answered(3)
        .drops("a", 1, 1)
        .fails("a", 1, StepError::new("no"))
        .tick_after(1_000)
        .drops("a", 2, 1)
        .drops("a", 2, 2)
        .fails("a", 2, StepError::new("no"))
        .tick_after(2_000)
        .drops("a", 3, 1);
    let dropped = case.events.iter().filter(|event| matches!(event.kind, EventKind::OpDropped { .. }));
    assert_eq!(dropped.count(), 4);
    assert_eq!(case.state.signals.kept(), 1, "the next wait takes it");
    case.check();
}
