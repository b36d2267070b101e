//! Signals: `machine/signal.rs`.

use expect_test::expect;
use rival_core::machine::SIGNALS_MAX;
use rival_core::{NodeStatus, RunStatus, Time};
use serde_json::json as j;

use crate::support::{Case, signal, step};

fn waits(timeout_ms: Option<u64>) -> Case {
    Case::of(vec![signal("s", "go", timeout_ms, false), step("a")])
}

#[test]
fn a_signal_is_taken_by_the_node_that_waits_for_it() {
    waits(Some(100))
        .start()
        .status(RunStatus::Waiting)
        .node("s", NodeStatus::Waiting)
        .next_timer(Some(100))
        .after(40)
        .signal_sent("go", j!({"by": "ann"}), Time(40))
        .node("s", NodeStatus::Completed)
        .next_timer(None)
        .ok("a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        s waits for go, until 100
            > signal go sent at 40, at 40
               3 request   signal go received: {"by":"ann"}, sent at 40
               4 <3        s takes 3
               5 <4        a#1 called: step attempt 1
            > a#1 returns "a!", at 40
               6 <5        a#1 succeeded: "a!"
               7 <6        run completed, output in 6
        "#]]);
}

#[test]
fn a_signal_that_is_sent_early_is_kept() {
    Case::of(vec![step("a"), signal("s", "go", None, false)])
        .start()
        .signal("go")
        .signal("other")
        .ok("a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > signal go sent at 0, at 0
               3 request   signal go received: null, sent at 0
            > signal other sent at 0, at 0
               4 request   signal other received: null, sent at 0
            > a#1 returns "a!", at 0
               5 <2        a#1 succeeded: "a!"
               6 <5        s waits for go
               7 <3        s takes 3
               8 <7        run completed, output in 3
        "#]]);
}

#[test]
fn several_signals_of_one_name_are_taken_one_by_one_the_oldest_first() {
    Case::of(vec![signal("s", "go", None, false), signal("t", "go", None, false)])
        .start()
        .signal_sent("go", j!(1), Time(0))
        .signal_sent("go", j!(2), Time(0))
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        s waits for go
            > signal go sent at 0, at 0
               3 request   signal go received: 1, sent at 0
               4 <3        s takes 3
               5 <4        t waits for go
            > signal go sent at 0, at 0
               6 request   signal go received: 2, sent at 0
               7 <6        t takes 6
               8 <7        run completed, output in 6
        "#]]);
}

#[test]
fn a_timeout_fails_the_node() {
    waits(Some(100)).start().tick_after(99).tick_after(1).signal("go").status(RunStatus::Failed).then(
        expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        s waits for go, until 100
        > tick, at 99
        > tick, at 100
           3 clock     s waited in vain: signal_timeout
           4 <3        run failed in s: signal_timeout ``s` waited for the signal `go`, and none came in time`
        > signal go sent at 100, at 100
    "#]],
    );
}

#[test]
fn a_timeout_may_be_a_value() {
    Case::of(vec![signal("s", "go", Some(100), true)])
        .start()
        .tick_after(100)
        .node("s", NodeStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        s waits for go, until 100
            > tick, at 100
               3 clock     s waited in vain: null
               4 <3        run completed, output in 3
        "#]]);
}

#[test]
fn the_timer_of_a_signal_that_was_taken_does_nothing() {
    waits(Some(100)).start().signal("go").quietly().tick_after(100).node("a", NodeStatus::Running).then(
        expect![[r#"
            > tick, at 100
        "#]],
    );
}

#[test]
fn a_signal_sent_in_time_wins_however_late_it_is_seen() {
    waits(Some(100)).start().after(5_000).signal_sent("go", j!(1), Time(99)).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        s waits for go, until 100
        > signal go sent at 99, at 5000
           3 request   signal go received: 1, sent at 99
           4 <3        s takes 3
           5 <4        a#1 called: step attempt 1
    "#]]);
}

#[test]
fn a_signal_sent_at_the_deadline_is_too_late() {
    Case::of(vec![signal("s", "go", Some(100), true), signal("t", "go", None, false)])
        .start()
        .after(5_000)
        .signal_sent("go", j!(1), Time(100))
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        s waits for go, until 100
            > signal go sent at 100, at 5000
               3 request   signal go received: 1, sent at 100
               4 clock     s waited in vain: null
               5 <4        t waits for go
               6 <3        t takes 3
               7 <6        run completed, output in 3
        "#]]);
}

#[test]
fn a_signal_that_comes_while_the_run_is_paused_is_kept_until_it_goes_on() {
    waits(Some(100)).start().pause().after(50).signal("go").after(100).tick().resume().then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        s waits for go, until 100
        > pause, at 0
           3 request   run paused
        > signal go sent at 50, at 50
           4 request   signal go received: null, sent at 50
        > tick, at 150
        > resume, at 150
           5 request   run resumed
           6 <4        s takes 4
           7 <6        a#1 called: step attempt 1
    "#]]);
}

#[test]
fn a_signal_that_comes_too_late_for_a_paused_run_loses_on_resume() {
    waits(Some(100)).start().pause().after(150).signal("go").resume().status(RunStatus::Failed).then(
        expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        s waits for go, until 100
        > pause, at 0
           3 request   run paused
        > signal go sent at 150, at 150
           4 request   signal go received: null, sent at 150
        > resume, at 150
           5 request   run resumed
           6 clock     s waited in vain: signal_timeout
           7 <6        run failed in s: signal_timeout ``s` waited for the signal `go`, and none came in time`
    "#]],
    );
}

#[test]
fn a_wait_that_an_engine_without_room_comes_to_is_held() {
    waits(Some(100)).full().start().roomy().after(20).activate().next_timer(Some(120)).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        (run) held
        > activate, at 20
           3 <2        (run) started
           4 <3        s waits for go, until 120
    "#]]);
}

#[test]
fn cancel_ends_the_wait_and_leaves_no_timer() {
    let case = waits(Some(100)).start().cancel().status(RunStatus::Cancelled).next_timer(None);
    case.then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        s waits for go, until 100
        > cancel, at 0
           3 request   cancel requested: enough, forced at 30000
           4 <3        s cancelled
           5 <4        run cancelled: enough
    "#]]);
}

#[test]
fn a_run_keeps_signals_up_to_a_limit_and_refuses_the_next() {
    let mut case = Case::of(vec![step("a")]).start();
    for _ in 0..SIGNALS_MAX {
        case = case.signal("go");
    }
    case.quietly().signal("go").signal("other").then(expect![[r#"
        > signal go sent at 0, at 0
            refused
        > signal other sent at 0, at 0
            refused
    "#]]);
}

#[test]
fn a_crash_changes_nothing_for_a_wait() {
    waits(Some(100)).start().crash().signal("go").then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        s waits for go, until 100
        > activate, at 0
        > signal go sent at 0, at 0
           3 request   signal go received: null, sent at 0
           4 <3        s takes 3
           5 <4        a#1 called: step attempt 1
    "#]]);
}

#[test]
fn a_signal_that_comes_while_the_engine_stops_is_taken_at_the_next_start() {
    let case = Case::of(vec![signal("s", "go", None, false)]).start().full().signal("go");
    assert!(case.state.is_held_back(), "somebody has to look at it");
    let case = case.roomy().activate();
    assert!(!case.state.is_held_back());
    case.then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        s waits for go
        > signal go sent at 0, at 0
           3 request   signal go received: null, sent at 0
        > activate, at 0
           4 <3        s takes 3
           5 <4        run completed, output in 3
    "#]]);
}
