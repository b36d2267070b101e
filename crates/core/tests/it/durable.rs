//! Durable operations and children: `machine/durable.rs`, `machine/child.rs`, `durable.rs`.

use expect_test::expect;
use rival_core::durable::{ChildOutcome, OpKey, OpKind, Replay, ReplayResult};
use rival_core::event::{EventCause, EventKind};
use rival_core::failure::{FailureRecord, StepError};
use rival_core::machine::{OnceRequest, OpRequest};
use rival_core::plan::Join;
use rival_core::{Event, NodeStatus, Path, RunStatus, Seq, Time};
use serde_json::json as j;

use crate::support::{Case, json, parallel_with, step, step_with, tried};

fn once(value: serde_json::Value) -> OpRequest {
    OpRequest::Once(OnceRequest::Record(Ok(json(value))))
}

pub(crate) fn run() -> OpRequest {
    OpRequest::Run { input: json(j!({"x": 1})) }
}

pub(crate) fn signal(timeout_ms: Option<u64>) -> OpRequest {
    OpRequest::Signal { timeout_ms, timeout_is_value: false }
}

fn map(count: u32, concurrency: u32, collect: bool) -> OpRequest {
    let items = (0..count).map(|n| json(j!(n))).collect();
    OpRequest::Map { items, concurrency, collect }
}

fn failed() -> ChildOutcome {
    ChildOutcome::Failed { failure: FailureRecord::new("error", "no"), step: Some(Path::from("x")) }
}

pub(crate) fn cancelled() -> ChildOutcome {
    ChildOutcome::Cancelled { reason: None, not_undone: Vec::new() }
}

pub(crate) fn started() -> Case {
    Case::of(vec![step("a"), step("b")]).start().quietly()
}

#[test]
fn what_is_done_once_is_recorded_in_one_go() {
    started().asks("a", 1, "key", once(j!(7))).status(RunStatus::Running).then(expect![[r#"
        > a#1 asks, at 0
           3 <2        a#1.1 once key
           4 <3        a.1 ended: 7
            answer a#1: operation 1
    "#]]);
}

#[test]
fn a_sleep_is_answered_at_its_moment() {
    started()
        .asks("a", 1, "", OpRequest::Sleep(100))
        .status(RunStatus::Waiting)
        .next_timer(Some(100))
        .tick_after(100)
        .status(RunStatus::Running)
        .ok("a", 1)
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 sleep until 100
            > tick, at 100
               4 clock     a.1 ended: done
                answer a#1: operation 1
            > a#1 returns "a!", at 100
               5 <2        a#1 succeeded: "a!"
               6 <5        b#1 called: step attempt 1
        "#]]);
}

#[test]
fn a_signal_is_taken_by_the_oldest_wait_whether_node_or_operation() {
    started()
        .asks("a", 1, "go", signal(None))
        .asks_after("a", 1, ("go", 2), &[], signal(Some(10)))
        .signal("go")
        .tick_after(10)
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 signal go
            > a#1 asks, at 0
               4 <2        a#1.2 signal go until 10 no. 2
            > signal go sent at 0, at 0
               5 request   signal go received: null, sent at 0
               6 <5        a.1 takes 5
                answer a#1: operation 1
            > tick, at 10
               7 clock     a.2 waited in vain: signal_timeout
                answer a#1: operation 2
        "#]]);
}

#[test]
fn a_child_is_started_in_the_same_commit_and_its_end_is_the_answer() {
    started()
        .asks("a", 1, "charge", run())
        .status(RunStatus::Waiting)
        .child_completes("r~c1", j!({"ok": true}))
        .child_completes("r~c1", j!({"ok": true}))
        .ok("a", 1)
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 run charge with {"x":1}
               4 <3        a.1[0] started r~c1
                start r~c1 of charge, input in 3
            > child ended, at 0
               5 child     a.1[0] r~c1 completed {"ok":true}
                answer a#1: operation 1
            > child ended, at 0
            > a#1 returns "a!", at 0
               6 <2        a#1 succeeded: "a!"
               7 <6        b#1 called: step attempt 1
        "#]]);
}

#[test]
fn a_child_that_is_retried_by_itself_ends_with_its_last_run() {
    started()
        .asks("a", 1, "charge", run())
        .child_retried("r~c1", "r~c1~1")
        .child_ends("r~c1", failed())
        .child_ends("r~c1~1", failed())
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 run charge with {"x":1}
               4 <3        a.1[0] started r~c1
                start r~c1 of charge, input in 3
            > child retried, at 0
               5 child     a.1[0] r~c1 is retried as r~c1~1
            > child ended, at 0
            > child ended, at 0
               6 child     a.1[0] r~c1~1 failed error
                answer a#1: operation 1
        "#]]);
}

#[test]
fn a_child_that_cannot_be_started_fails_the_operation() {
    let refused = FailureRecord::new("invalid_input", "x is missing");
    started().asks_refused("a", 1, "charge", OpRequest::Run { input: json(j!(1)) }, refused).then(expect![[
        r#"
        > a#1 asks, at 0
           3 <2        a#1.1 run charge with 1
           4 <3        a.1 ended: invalid_input `x is missing`
            answer a#1: operation 1
    "#
    ]]);
}

#[test]
fn a_map_refills_its_window_without_the_function() {
    started()
        .asks("a", 1, "work", map(3, 2, false))
        .suspend("a", 1)
        .child_completes("r~c2", j!("b"))
        .child_completes("r~c1", j!("a"))
        .child_completes("r~c3", j!("c"))
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 map work over 3, 2 at a time
               4 <3        a.1[0] started r~c1
               5 <3        a.1[1] started r~c2
                start r~c1 of work, input in 3, item 0
                start r~c2 of work, input in 3, item 1
            > suspend, at 0
               6 <2        a#1 let go
            > child ended, at 0
               7 child     a.1[1] r~c2 completed "b"
               8 <7        a.1[2] started r~c3
                start r~c3 of work, input in 3, item 2
            > child ended, at 0
               9 child     a.1[0] r~c1 completed "a"
            > child ended, at 0
              10 child     a.1[2] r~c3 completed "c"
              11 <10       a.1 ended: done
              12 <11       a#2 called: step attempt 1
        "#]]);
}

#[test]
fn a_map_over_nothing_ends_at_once() {
    started().asks("a", 1, "work", map(0, 2, false)).then(expect![[r#"
        > a#1 asks, at 0
           3 <2        a#1.1 map work over 0, 2 at a time
           4 <3        a.1 ended: done
            answer a#1: operation 1
    "#]]);
}

#[test]
fn the_first_failure_in_a_map_cancels_the_others() {
    started()
        .asks("a", 1, "work", map(4, 2, false))
        .child_ends("r~c2", failed())
        .child_ends("r~c1", cancelled())
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 map work over 4, 2 at a time
               4 <3        a.1[0] started r~c1
               5 <3        a.1[1] started r~c2
                start r~c1 of work, input in 3, item 0
                start r~c2 of work, input in 3, item 1
            > child ended, at 0
               6 child     a.1[1] r~c2 failed error
               7 <6        a.1 stopping
                cancel r~c1
            > child ended, at 0
               8 child     a.1[0] r~c1 cancelled
               9 <8        a.1 ended: done
                answer a#1: operation 1
        "#]]);
}

#[test]
fn a_map_that_collects_goes_on() {
    started()
        .asks("a", 1, "work", map(2, 1, true))
        .child_ends("r~c1", failed())
        .child_completes("r~c2", j!(1))
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 map work over 2, 1 at a time
               4 <3        a.1[0] started r~c1
                start r~c1 of work, input in 3, item 0
            > child ended, at 0
               5 child     a.1[0] r~c1 failed error
               6 <5        a.1[1] started r~c2
                start r~c2 of work, input in 3, item 1
            > child ended, at 0
               7 child     a.1[1] r~c2 completed 1
               8 <7        a.1 ended: done
                answer a#1: operation 1
        "#]]);
}

#[test]
fn a_call_that_is_let_go_is_made_again_when_an_answer_is_there() {
    started()
        .asks("a", 1, "go", signal(None))
        .suspend("a", 1)
        .status(RunStatus::Waiting)
        .node("a", NodeStatus::Waiting)
        .signal("go")
        .ok("a", 2)
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 signal go
            > suspend, at 0
               4 <2        a#1 let go
            > signal go sent at 0, at 0
               5 request   signal go received: null, sent at 0
               6 <5        a.1 takes 5
               7 <6        a#2 called: step attempt 1
            > a#2 returns "a!", at 0
               8 <7        a#2 succeeded: "a!"
               9 <8        b#1 called: step attempt 1
        "#]]);
}

#[test]
fn only_a_call_that_waits_is_let_go() {
    started().suspend("a", 1).asks("a", 1, "key", once(j!(1))).suspend("a", 1).then(expect![[r#"
        > suspend, at 0
        > a#1 asks, at 0
           3 <2        a#1.1 once key
           4 <3        a.1 ended: 1
            answer a#1: operation 1
        > suspend, at 0
    "#]]);
}

#[test]
fn a_call_that_has_not_used_an_answer_is_not_let_go() {
    started()
        .asks("a", 1, "go", signal(None))
        .asks("a", 1, "", OpRequest::Sleep(100))
        .tick_after(100)
        .suspend("a", 1)
        .suspend_after("a", 1, &[2])
        .signal("go")
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 signal go
            > a#1 asks, at 0
               4 <2        a#1.2 sleep until 100
            > tick, at 100
               5 clock     a.2 ended: done
                answer a#1: operation 2
            > suspend, at 100
            > suspend, at 100
               6 <2        a#1 let go, after [2]
            > signal go sent at 100, at 100
               7 request   signal go received: null, sent at 100
               8 <7        a.1 takes 7
               9 <8        a#2 called: step attempt 1
        "#]]);
}

/// The last event of a history as version 4 wrote it.
fn let_go_by_an_older_build(mut case: Case) -> Case {
    let event = EventKind::CallSuspended {
        node: "a".into(),
        call: 1,
        used: Vec::new(),
        told: Vec::new(),
        state: None,
    };
    let event = Event {
        v: 1,
        seq: case.state.seq.next(),
        at: case.now,
        cause: EventCause::Event(Seq(2)),
        by: None,
        kind: event,
    };
    case.state.apply(&event);
    case.events.push(event);
    case
}

#[test]
fn a_step_that_an_older_build_let_go_with_an_answer_is_called_again() {
    let case = started()
        .asks("a", 1, "go", signal(None))
        .asks("a", 1, "", OpRequest::Sleep(100))
        .tick_after(100)
        .quietly();
    let case = let_go_by_an_older_build(case);
    assert!(case.state.is_held_back(), "somebody has to look at it");
    case.activate().suspend_after("a", 2, &[2]).activate().then(expect![[r#"
        > activate, at 100
           7 recovery  a#2 called: step attempt 1
        > suspend, at 100
           8 <7        a#2 let go, after [2]
        > activate, at 100
    "#]]);
}

/// Within the millisecond in which the signal was sent, too.
#[test]
fn a_wait_of_no_time_takes_a_signal_that_is_there() {
    started().signal("m").asks("a", 1, "m", signal(Some(0))).asks("a", 1, "n", signal(Some(0))).tick().then(
        expect![[r#"
            > signal m sent at 0, at 0
               3 request   signal m received: null, sent at 0
            > a#1 asks, at 0
               4 <2        a#1.1 signal m until 0
               5 <3        a.1 takes 3
                answer a#1: operation 1
            > a#1 asks, at 0
               6 <2        a#1.2 signal n until 0
            > tick, at 0
               7 clock     a.2 waited in vain: signal_timeout
                answer a#1: operation 2
        "#]],
    );
}

#[test]
fn a_call_that_goes_the_way_again_has_the_time_of_every_stretch() {
    let timed = step_with("a", |step| step.timeout_ms = Some(100));
    Case::of(vec![timed])
        .start()
        .after(90)
        .asks("a", 1, "go", signal(None))
        .crash()
        .next_timer(None)
        .after(5_000)
        .signal("go")
        .next_timer(Some(5_290))
        .after(150)
        .asks_after("a", 2, ("", 1), &[1], OpRequest::Sleep(1_000))
        .tick_after(1_000)
        .next_timer(Some(6_340))
        .crash()
        .next_timer(Some(6_540))
        .ok("a", 3)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1, until 100
            > a#1 asks, at 90
               3 <2        a#1.1 signal go
            > activate, at 90
               4 recovery  a#1 let go
               5 <4        a#2 called: step attempt 1, until 190
            > signal go sent at 5090, at 5090
               6 request   signal go received: null, sent at 5090
               7 <6        a.1 takes 6
                answer a#2: operation 1
            > a#2 asks, at 5240
               8 <5        a#2.2 sleep until 6240, after [1]
            > tick, at 6240
               9 clock     a.2 ended: done
                answer a#2: operation 2
            > activate, at 6240
              10 recovery  a#2 lost: crash
              11 <10       a#3 called: step attempt 1, until 6540
            > a#3 returns "a!", at 6240
              12 <11       a#3 succeeded: "a!"
              13 <12       run completed, output in 12
        "#]]);
}

#[test]
fn waiting_does_not_consume_the_steps_time() {
    let timed = step_with("a", |step| step.timeout_ms = Some(100));
    Case::of(vec![timed])
        .start()
        .after(40)
        .asks("a", 1, "go", signal(None))
        .next_timer(None)
        .after(5_000)
        .signal("go")
        .next_timer(Some(5_140))
        .asks_after("a", 1, ("", 1), &[1], OpRequest::Sleep(1_000))
        .suspend("a", 1)
        .tick_after(1_000)
        .next_timer(Some(6_340))
        .tick_after(300)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1, until 100
            > a#1 asks, at 40
               3 <2        a#1.1 signal go
            > signal go sent at 5040, at 5040
               4 request   signal go received: null, sent at 5040
               5 <4        a.1 takes 4
                answer a#1: operation 1
            > a#1 asks, at 5040
               6 <2        a#1.2 sleep until 6040, after [1]
            > suspend, at 5040
               7 <2        a#1 let go
            > tick, at 6040
               8 clock     a.2 ended: done
               9 <8        a#2 called: step attempt 1, until 6340
            > tick, at 6340
              10 clock     a#2 failed: timeout ``a` took longer than 100 ms`, fail
              11 <10       run failed in a: timeout ``a` took longer than 100 ms`
                stop a#2: timeout
        "#]]);
}

#[test]
fn a_call_that_returns_leaves_nothing_open() {
    started()
        .asks("a", 1, "slow", run())
        .asks("a", 1, "", OpRequest::Sleep(100))
        .ok("a", 1)
        .next_timer(None)
        .ok("b", 1)
        .status(RunStatus::Waiting)
        .child_ends("r~c1", cancelled())
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 run slow with {"x":1}
               4 <3        a.1[0] started r~c1
                start r~c1 of slow, input in 3
            > a#1 asks, at 0
               5 <2        a#1.2 sleep until 100
            > a#1 returns "a!", at 0
               6 <2        a#1 succeeded: "a!"
               7 <6        b#1 called: step attempt 1
               8 <7        a.1 stopping
                cancel r~c1
            > b#1 returns "b!", at 0
               9 <7        b#1 succeeded: "b!"
            > child ended, at 0
              10 child     a.1[0] r~c1 cancelled
              11 <10       run completed, output in 9
        "#]]);
}

#[test]
fn a_failing_attempt_keeps_what_went_well() {
    let case = Case::of(vec![tried("a", 2)])
        .start()
        .asks("a", 1, "key", once(j!(7)))
        .asks("a", 1, "bad", OpRequest::Once(OnceRequest::Record(Err(FailureRecord::new("error", "no")))))
        .asks("a", 1, "slow", run())
        .fails("a", 1, StepError::new("no"))
        .child_ends("r~c1", cancelled())
        .tick_after(1_000);
    let ops: Vec<String> =
        case.state.ops[&Path::from("a")].iter().map(|(_, op)| op.key.to_string()).collect();
    assert_eq!(ops, ["once(`key`)"]);
    case.asks("a", 2, "slow", run()).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > a#1 asks, at 0
           3 <2        a#1.1 once key
           4 <3        a.1 ended: 7
            answer a#1: operation 1
        > a#1 asks, at 0
           5 <2        a#1.2 once bad
           6 <5        a.2 ended: error `no`
            answer a#1: operation 2
        > a#1 asks, at 0
           7 <2        a#1.3 run slow with {"x":1}
           8 <7        a.3[0] started r~c1
            start r~c1 of slow, input in 7
        > a#1 fails (Plain), at 0
           9 <2        a#1 failed: error `no`, retry at 1000
          10 <9        a.3 stopping
            cancel r~c1
        > child ended, at 0
          11 child     a.3[0] r~c1 cancelled
        > tick, at 1000
          12 clock     a#2 called: step attempt 2
        > a#2 asks, at 1000
          13 <12       a#2.4 run slow with {"x":1}
          14 <13       a.4[0] started r~c2
            start r~c2 of slow, input in 13
    "#]]);
}

#[test]
fn cancel_reaches_the_children_first_and_waits_for_them() {
    started()
        .asks("a", 1, "work", map(3, 2, false))
        .suspend("a", 1)
        .cancel()
        .status(RunStatus::Cancelling)
        .child_ends("r~c1", cancelled())
        .child_completes("r~c2", j!(1))
        .status(RunStatus::Cancelled)
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 map work over 3, 2 at a time
               4 <3        a.1[0] started r~c1
               5 <3        a.1[1] started r~c2
                start r~c1 of work, input in 3, item 0
                start r~c2 of work, input in 3, item 1
            > suspend, at 0
               6 <2        a#1 let go
            > cancel, at 0
               7 request   cancel requested: enough, forced at 30000
               8 <7        a cancelled
               9 <7        a.1 stopping
                cancel r~c1
                cancel r~c2
            > child ended, at 0
              10 child     a.1[0] r~c1 cancelled
            > child ended, at 0
              11 child     a.1[1] r~c2 completed 1
              12 <11       run cancelled: enough
        "#]]);
}

#[test]
fn children_that_do_not_end_in_time_are_left_behind() {
    started()
        .asks("a", 1, "slow", run())
        .cancel()
        .stopped("a", 1)
        .tick_after(30_000)
        .status(RunStatus::Cancelled)
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 run slow with {"x":1}
               4 <3        a.1[0] started r~c1
                start r~c1 of slow, input in 3
            > cancel, at 0
               5 request   cancel requested: enough, forced at 30000
               6 <5        a.1 stopping
                cancel r~c1
                stop a#1: ending
            > a#1 stopped, at 0
               7 <2        a#1 cancelled
            > tick, at 30000
               8 clock     a.1 ended: left behind
               9 <8        run cancelled: enough
        "#]]);
}

#[test]
fn a_child_that_is_retried_while_it_is_cancelled_is_cancelled_again() {
    started().asks("a", 1, "slow", run()).cancel().quietly().child_retried("r~c1", "r~c1~1").then(expect![[
        r#"
        > child retried, at 0
           7 child     a.1[0] r~c1 is retried as r~c1~1
            cancel r~c1~1
    "#
    ]]);
}

#[test]
fn a_step_that_fails_the_run_takes_its_children_with_it() {
    started()
        .asks("a", 1, "slow", run())
        .fails("a", 1, StepError::stop("no"))
        .child_ends("r~c1", cancelled())
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 run slow with {"x":1}
               4 <3        a.1[0] started r~c1
                start r~c1 of slow, input in 3
            > a#1 fails (Stop), at 0
               5 <2        a#1 failed: error `no`, fail
               6 <5        run failing in a: error `no`, forced at 30000
               7 <6        a.1 stopping
                cancel r~c1
            > child ended, at 0
               8 child     a.1[0] r~c1 cancelled
               9 <8        run failed in a: error `no`
        "#]]);
}

#[test]
fn a_waiting_call_that_a_crash_cuts_off_is_no_interruption() {
    let case = started().asks("a", 1, "go", signal(None)).crashes(7);
    assert_eq!(case.state.node(&Path::from("a")).map(|node| node.interruptions), Some(0));
    case.quietly().signal("go").then(expect![[r#"
        > signal go sent at 0, at 0
          18 request   signal go received: null, sent at 0
          19 <18       a.1 takes 18
            answer a#8: operation 1
    "#]]);
}

#[test]
fn an_orderly_stop_holds_a_waiting_call() {
    started()
        .asks("a", 1, "slow", run())
        .full()
        .let_go()
        .child_completes("r~c1", j!(1))
        .roomy()
        .activate()
        .then(expect![[r#"
            > a#1 asks, at 0
               3 <2        a#1.1 run slow with {"x":1}
               4 <3        a.1[0] started r~c1
                start r~c1 of slow, input in 3
            > let go, at 0
               5 shutdown  a#1 let go
               6 <5        a held, due: step attempt 1
            > child ended, at 0
               7 child     a.1[0] r~c1 completed 1
            > activate, at 0
               8 <7        a#2 called: step attempt 1
        "#]]);
}

#[test]
fn a_paused_run_starts_no_children_and_no_calls() {
    started()
        .pause()
        .asks("a", 1, "work", map(2, 2, false))
        .resume()
        .suspend("a", 1)
        .pause()
        .child_completes("r~c1", j!(1))
        .child_completes("r~c2", j!(2))
        .status(RunStatus::Paused)
        .resume()
        .then(expect![[r#"
            > pause, at 0
               3 request   run paused
            > a#1 asks, at 0
               4 <2        a#1.1 map work over 2, 2 at a time
            > resume, at 0
               5 request   run resumed
               6 <5        a.1[0] started r~c1
               7 <5        a.1[1] started r~c2
                start r~c1 of work, input in 4, item 0
                start r~c2 of work, input in 4, item 1
            > suspend, at 0
               8 <2        a#1 let go
            > pause, at 0
               9 request   run paused
            > child ended, at 0
              10 child     a.1[0] r~c1 completed 1
            > child ended, at 0
              11 child     a.1[1] r~c2 completed 2
              12 <11       a.1 ended: done
              13 <12       a held, due: step attempt 1
            > resume, at 0
              14 request   run resumed
              15 <14       a#2 called: step attempt 1
        "#]]);
}

pub(crate) fn key(kind: OpKind, name: &str) -> OpKey {
    OpKey { kind, name: name.into(), occurrence: 1 }
}

/// A call that is made again after it did `a`, then `b`.
fn again() -> (Case, Replay) {
    let case =
        started().asks("a", 1, "a", once(j!(1))).asks_after("a", 1, ("b", 1), &[1], once(j!(2))).crash();
    let replay = Replay::new(case.state.ops.get(&Path::from("a")), 1);
    (case, replay)
}

#[test]
fn a_call_that_is_made_again_finds_what_it_asked_for() {
    let (case, mut replay) = again();
    let ops = case.state.ops.get(&Path::from("a"));
    assert_eq!(replay.ask(ops, &key(OpKind::Once, "a"), "h", &[]), ReplayResult::Recorded(1));
    assert_eq!(replay.ask(ops, &key(OpKind::Once, "b"), "h", &[1]), ReplayResult::Recorded(2));
    assert_eq!(replay.ask(ops, &key(OpKind::Once, "c"), "h", &[2]), ReplayResult::New);
    assert_eq!(replay.forgot(ops), None);
}

#[test]
fn a_function_that_has_changed_is_found_out() {
    let (case, replay) = again();
    let ops = case.state.ops.get(&Path::from("a"));
    let mut other = replay.clone();
    let ReplayResult::Mismatch(why) = other.ask(ops, &key(OpKind::Once, "a"), "other", &[]) else { panic!() };
    assert_eq!(why, "once(`a`) was asked for before with other arguments than now");
    let mut other = replay.clone();
    let ReplayResult::Mismatch(why) = other.ask(ops, &key(OpKind::Sleep, ""), "h", &[]) else { panic!() };
    assert_eq!(why, "once(`a`) was asked for before, where sleep is asked for now");
    let mut other = replay;
    other.ask(ops, &key(OpKind::Once, "a"), "h", &[]);
    let why = other.forgot(ops).unwrap();
    assert_eq!(why, "once(`b`) was asked for before, and now the step comes to its end without it");
}

/// The first time the signal came first, and the step went on with `signalled`; then the sleep was over too.
#[test]
fn a_race_ends_the_same_way_each_time() {
    let case = started()
        .asks("a", 1, "go", signal(None))
        .asks("a", 1, "", OpRequest::Sleep(100))
        .signal("go")
        .asks_after("a", 1, ("signalled", 1), &[1], once(j!(1)))
        .tick_after(100)
        .crash();
    let ops = case.state.ops.get(&Path::from("a"));
    let mut replay = Replay::new(ops, 1);
    let due = |replay: &Replay, op: u32| replay.is_due(ops.unwrap().get(op).unwrap());
    assert_eq!(replay.ask(ops, &key(OpKind::Sleep, ""), "h", &[]), ReplayResult::Recorded(2));
    assert!(!due(&replay, 2), "the sleep was over later than the step went on");
    assert_eq!(replay.ask(ops, &key(OpKind::Signal, "go"), "h", &[]), ReplayResult::Recorded(1));
    assert!(due(&replay, 1) && !due(&replay, 2));
    assert_eq!(replay.ask(ops, &key(OpKind::Once, "signalled"), "h", &[1]), ReplayResult::Recorded(3));
    assert!(due(&replay, 2));
    assert_eq!(case.now, Time(100));
}

/// Two branches side by side: `p/x/a` and `p/y/b`.
fn side_by_side(join: Join) -> Case {
    let branches = vec![("x", vec![step("a")]), ("y", vec![step("b")])];
    let p = parallel_with("p", branches, |p| p.join = join);
    Case::of(vec![p, step("end")]).start().quietly()
}

#[test]
fn a_block_that_fails_does_not_wait_for_what_its_steps_wait_for() {
    side_by_side(Join::All)
        .asks("p/x/a", 1, "go", signal(None))
        .asks("p/x/a", 1, "slow", run())
        .fails("p/y/b", 1, StepError::new("no"))
        .fails("p/x/a", 1, StepError::new("stopped"))
        .child_ends("r~c1", cancelled())
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > p/x/a#1 asks, at 0
               5 <3        p/x/a#1.1 signal go
            > p/x/a#1 asks, at 0
               6 <3        p/x/a#1.2 run slow with {"x":1}
               7 <6        p/x/a.2[0] started r~c1
                start r~c1 of slow, input in 6
            > p/y/b#1 fails (Plain), at 0
               8 <4        p/y/b#1 failed: error `no`, fail
               9 <8        p/y failed in p/y/b
              10 <9        p failing because of p/y/b
              11 <10       p/x/a.1 ended: stopped
              12 <10       p/x/a.2 stopping
                cancel r~c1
                answer p/x/a#1: operation 1
            > p/x/a#1 fails (Plain), at 0
              13 <3        p/x/a#1 failed: error `stopped`, fail, told to stop
            > child ended, at 0
              14 child     p/x/a.2[0] r~c1 cancelled
              15 <14       p failed because of p/y/b
              16 <15       run failed in p/y/b: error `no`
        "#]]);
}

#[test]
fn a_block_that_fails_cancels_a_step_that_was_let_go() {
    side_by_side(Join::All)
        .asks("p/x/a", 1, "go", signal(None))
        .suspend("p/x/a", 1)
        .fails("p/y/b", 1, StepError::new("no"))
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > p/x/a#1 asks, at 0
               5 <3        p/x/a#1.1 signal go
            > suspend, at 0
               6 <3        p/x/a#1 let go
            > p/y/b#1 fails (Plain), at 0
               7 <4        p/y/b#1 failed: error `no`, fail
               8 <7        p/y failed in p/y/b
               9 <8        p failing because of p/y/b
              10 <9        p/x/a cancelled
              11 <10       p failed because of p/y/b
              12 <11       run failed in p/y/b: error `no`
        "#]]);
}

#[test]
fn a_lane_that_lost_takes_its_children_with_it_and_the_run_waits_for_them() {
    side_by_side(Join::First)
        .asks("p/x/a", 1, "slow", run())
        .suspend("p/x/a", 1)
        .ok("p/y/b", 1)
        .ok("end", 1)
        .status(RunStatus::Waiting)
        .child_ends("r~c1", cancelled())
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > p/x/a#1 asks, at 0
               5 <3        p/x/a#1.1 run slow with {"x":1}
               6 <5        p/x/a.1[0] started r~c1
                start r~c1 of slow, input in 5
            > suspend, at 0
               7 <3        p/x/a#1 let go
            > p/y/b#1 returns "p/y/b!", at 0
               8 <4        p/y/b#1 succeeded: "p/y/b!"
               9 <8        p/y through, result in 8
              10 <9        p joined: [y 8]
              11 <10       p/x lost, forced at 30000
              12 <11       p/x/a cancelled
              13 <11       p/x/a.1 stopping
              14 <10       p completed, result in 10
              15 <14       end#1 called: step attempt 1
                cancel r~c1
            > end#1 returns "end!", at 0
              16 <15       end#1 succeeded: "end!"
            > child ended, at 0
              17 child     p/x/a.1[0] r~c1 cancelled
              18 <17       p/x stopped
              19 <18       run completed, output in 16
        "#]]);
}

#[test]
fn a_kill_leaves_the_children_to_themselves() {
    started().asks("a", 1, "slow", run()).kill().status(RunStatus::Cancelled).then(expect![[r#"
        > a#1 asks, at 0
           3 <2        a#1.1 run slow with {"x":1}
           4 <3        a.1[0] started r~c1
            start r~c1 of slow, input in 3
        > kill, at 0
           5 request   kill requested: now, forced at 0
           6 <5        a.1 stopping
           7 clock     a#1 cancelled, forced
           8 clock     a.1 ended: left behind
           9 <8        run cancelled: now
            cancel r~c1
            stop a#1: ending
    "#]]);
}
