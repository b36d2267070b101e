//! Parallel blocks: `machine/parallel.rs`, `machine/scope.rs`.

use expect_test::expect;
use rival_core::failure::StepError;
use rival_core::plan::{Join, OnFailure, SleepLength};
use rival_core::{NodeStatus, RunStatus};
use serde_json::json as j;

use crate::support::{Case, for_each, joining, parallel, parallel_with, sleep, step, undoable};
#[test]
fn branches_run_side_by_side_and_join_in_their_order() {
    Case::of(vec![parallel("p", vec![("x", vec![step("a"), step("b")]), ("y", vec![step("c")])]), step("d")])
        .start()
        .ok("p/y/c", 1)
        .ok("p/x/a", 1)
        .ok("p/x/b", 1)
        .ok("d", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        p started, 2 lanes
               3 <2        p/x/a#1 called: step attempt 1
               4 <2        p/y/c#1 called: step attempt 1
            > p/y/c#1 returns "p/y/c!", at 0
               5 <4        p/y/c#1 succeeded: "p/y/c!"
               6 <5        p/y through, result in 5
            > p/x/a#1 returns "p/x/a!", at 0
               7 <3        p/x/a#1 succeeded: "p/x/a!"
               8 <7        p/x/b#1 called: step attempt 1
            > p/x/b#1 returns "p/x/b!", at 0
               9 <8        p/x/b#1 succeeded: "p/x/b!"
              10 <9        p/x through, result in 9
              11 <10       p joined: [x 9, y 5]
              12 <11       p completed, result in 11
              13 <12       d#1 called: step attempt 1
            > d#1 returns "d!", at 0
              14 <13       d#1 succeeded: "d!"
              15 <14       run completed, output in 14
        "#]]);
}

#[test]
fn finally_maps_the_joined_result() {
    let p = parallel_with("p", vec![("x", vec![step("a")])], |p| p.finally = Some("f".into()));
    Case::of(vec![p]).start().ok("p/x/a", 1).gives("p", 1, j!(1)).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        p started, 1 lanes
           3 <2        p/x/a#1 called: step attempt 1
        > p/x/a#1 returns "p/x/a!", at 0
           4 <3        p/x/a#1 succeeded: "p/x/a!"
           5 <4        p/x through, result in 4
           6 <5        p joined: [x 4]
           7 <6        p#1 called: finally attempt 1
        > p#1 returns 1, at 0
           8 <7        p#1 succeeded: 1
           9 <8        p completed, result in 8
          10 <9        run completed, output in 8
    "#]]);
}

#[test]
fn a_hard_failure_drains_the_block() {
    let slow = vec![sleep("z", SleepLength::ForMs(1_000)), step("late")];
    Case::of(vec![
        parallel("p", vec![("x", vec![step("a")]), ("y", vec![step("b"), step("c")]), ("z", slow)]),
        step("never"),
    ])
    .start()
    .fails("p/x/a", 1, StepError::new("no"))
    .node("p/z/z", NodeStatus::Cancelled)
    .ok("p/y/b", 1)
    .node("p", NodeStatus::Failed)
    .status(RunStatus::Failed)
    .then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        p started, 3 lanes
           3 <2        p/x/a#1 called: step attempt 1
           4 <2        p/y/b#1 called: step attempt 1
           5 <2        p/z/z sleeps until 1000
        > p/x/a#1 fails (Plain), at 0
           6 <3        p/x/a#1 failed: error `no`, fail
           7 <6        p/x failed in p/x/a
           8 <7        p failing because of p/x/a
           9 <8        p/z/z cancelled
        > p/y/b#1 returns "p/y/b!", at 0
          10 <4        p/y/b#1 succeeded: "p/y/b!"
          11 <10       p failed because of p/x/a
          12 <11       run failed in p/x/a: error `no`
    "#]]);
}

#[test]
fn collect_lets_all_finish_and_shows_failures() {
    let p = parallel_with("p", vec![("x", vec![step("a")]), ("y", vec![step("b")])], |p| {
        p.on_failure = OnFailure::Collect;
    });
    Case::of(vec![p]).start().fails("p/x/a", 1, StepError::new("no")).ok("p/y/b", 1).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        p started, 2 lanes
           3 <2        p/x/a#1 called: step attempt 1
           4 <2        p/y/b#1 called: step attempt 1
        > p/x/a#1 fails (Plain), at 0
           5 <3        p/x/a#1 failed: error `no`, fail
           6 <5        p/x failed in p/x/a
        > p/y/b#1 returns "p/y/b!", at 0
           7 <4        p/y/b#1 succeeded: "p/y/b!"
           8 <7        p/y through, result in 7
           9 <8        p joined: [x failure 5, y 7]
          10 <9        p completed, result in 9
          11 <10       run completed, output in 9
    "#]]);
}

#[test]
fn the_first_success_wins_and_the_others_are_stopped() {
    let branches = vec![
        ("x", vec![step("a")]),
        ("y", vec![step("b"), step("c")]),
        ("z", vec![sleep("s", SleepLength::ForMs(9))]),
    ];
    Case::of(vec![joining("p", Join::First, branches), step("d")])
        .start()
        .ok("p/x/a", 1)
        .ok("d", 1)
        .status(RunStatus::Running)
        .stopped("p/y/b", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        p started, 3 lanes
               3 <2        p/x/a#1 called: step attempt 1
               4 <2        p/y/b#1 called: step attempt 1
               5 <2        p/z/s sleeps until 9
            > p/x/a#1 returns "p/x/a!", at 0
               6 <3        p/x/a#1 succeeded: "p/x/a!"
               7 <6        p/x through, result in 6
               8 <7        p joined: [x 6]
               9 <8        p/y lost, forced at 30000
              10 <8        p/z lost, forced at 30000
              11 <10       p/z/s cancelled
              12 <8        p completed, result in 8
              13 <11       p/z stopped
              14 <12       d#1 called: step attempt 1
                stop p/y/b#1: ending
            > d#1 returns "d!", at 0
              15 <14       d#1 succeeded: "d!"
            > p/y/b#1 stopped, at 0
              16 <4        p/y/b#1 cancelled
              17 <16       p/y stopped
              18 <17       run completed, output in 15
        "#]]);
}

#[test]
fn a_loser_that_does_not_settle_is_left_behind() {
    Case::of(vec![joining("p", Join::First, vec![("x", vec![step("a")]), ("y", vec![step("b")])])])
        .start()
        .ok("p/x/a", 1)
        .quietly()
        .tick_after(30_000)
        .then(expect![[r#"
            > tick, at 30000
              10 clock     p/y/b#1 cancelled, forced
              11 <10       p/y stopped
              12 <11       run completed, output in 7
        "#]]);
}

#[test]
fn what_a_loser_did_is_undone_at_once() {
    let branches = vec![("x", vec![step("a")]), ("y", vec![undoable("b"), undoable("c"), step("d")])];
    Case::of(vec![joining("p", Join::First, branches), step("e")])
        .start()
        .ok("p/y/b", 1)
        .ok("p/y/c", 1)
        .quietly()
        .ok("p/x/a", 1)
        .stopped("p/y/d", 1)
        .ok("p/y/c", 2)
        .crash()
        .ok("p/y/b", 3)
        .ok("e", 2)
        .then(expect![[r#"
            > p/x/a#1 returns "p/x/a!", at 0
               9 <3        p/x/a#1 succeeded: "p/x/a!"
              10 <9        p/x through, result in 9
              11 <10       p joined: [x 9]
              12 <11       p/y lost, forced at 30000
              13 <11       p completed, result in 11
              14 <13       e#1 called: step attempt 1
                stop p/y/d#1: ending
            > p/y/d#1 stopped, at 0
              15 <8        p/y/d#1 cancelled
              16 <15       p/y/c#2 called: compensate attempt 1, until 300000
            > p/y/c#2 returns "p/y/c!", at 0
              17 <16       p/y/c#2 succeeded: "p/y/c!"
              18 <17       p/y/b#2 called: compensate attempt 1, until 300000
            > activate, at 0
              19 recovery  e#1 lost: crash
              20 <19       e#2 called: step attempt 1
              21 recovery  p/y/b#2 lost: crash
              22 <21       p/y/b#3 called: compensate attempt 1, until 300000
            > p/y/b#3 returns "p/y/b!", at 0
              23 <22       p/y/b#3 succeeded: "p/y/b!"
              24 <23       p/y stopped
            > e#2 returns "e!", at 0
              25 <20       e#2 succeeded: "e!"
              26 <25       run completed, output in 25
        "#]]);
}

#[test]
fn so_many_successes_are_enough() {
    let branches = vec![("x", vec![step("a")]), ("y", vec![step("b")]), ("z", vec![step("c")])];
    Case::of(vec![joining("p", Join::N(2), branches)])
        .start()
        .fails("p/y/b", 1, StepError::new("no"))
        .ok("p/z/c", 1)
        .ok("p/x/a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        p started, 3 lanes
               3 <2        p/x/a#1 called: step attempt 1
               4 <2        p/y/b#1 called: step attempt 1
               5 <2        p/z/c#1 called: step attempt 1
            > p/y/b#1 fails (Plain), at 0
               6 <4        p/y/b#1 failed: error `no`, fail
               7 <6        p/y failed in p/y/b
            > p/z/c#1 returns "p/z/c!", at 0
               8 <5        p/z/c#1 succeeded: "p/z/c!"
               9 <8        p/z through, result in 8
            > p/x/a#1 returns "p/x/a!", at 0
              10 <3        p/x/a#1 succeeded: "p/x/a!"
              11 <10       p/x through, result in 10
              12 <11       p joined: [x 10, z 8]
              13 <12       p completed, result in 12
              14 <13       run completed, output in 12
        "#]]);
}

#[test]
fn a_join_that_cannot_be_reached_fails() {
    let branches = vec![("x", vec![step("a")]), ("y", vec![step("b")]), ("z", vec![step("c")])];
    Case::of(vec![joining("p", Join::N(2), branches)])
        .start()
        .fails("p/y/b", 1, StepError::new("no"))
        .fails("p/z/c", 1, StepError::new("neither"))
        .ok("p/x/a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        p started, 3 lanes
               3 <2        p/x/a#1 called: step attempt 1
               4 <2        p/y/b#1 called: step attempt 1
               5 <2        p/z/c#1 called: step attempt 1
            > p/y/b#1 fails (Plain), at 0
               6 <4        p/y/b#1 failed: error `no`, fail
               7 <6        p/y failed in p/y/b
            > p/z/c#1 fails (Plain), at 0
               8 <5        p/z/c#1 failed: error `neither`, fail
               9 <8        p/z failed in p/z/c
              10 <9        p failing because of p/z/c: join_unreachable
            > p/x/a#1 returns "p/x/a!", at 0
              11 <3        p/x/a#1 succeeded: "p/x/a!"
              12 <11       p failed because of p/z/c: join_unreachable ``p` needs 2 of its 3 branches, and only 1 can still complete; `p/z/c` failed last: neither`
              13 <12       run failed in p/z/c: join_unreachable ``p` needs 2 of its 3 branches, and only 1 can still complete; `p/z/c` failed last: neither`
        "#]]);
}

#[test]
fn a_branch_that_waits_never_disturbs_its_siblings() {
    let slow = vec![sleep("z", SleepLength::ForMs(1_000))];
    Case::of(vec![parallel("p", vec![("x", slow), ("y", vec![step("a"), step("b")])])])
        .start()
        .ok("p/y/a", 1)
        .status(RunStatus::Running)
        .ok("p/y/b", 1)
        .status(RunStatus::Waiting)
        .tick_after(1_000)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        p started, 2 lanes
               3 <2        p/x/z sleeps until 1000
               4 <2        p/y/a#1 called: step attempt 1
            > p/y/a#1 returns "p/y/a!", at 0
               5 <4        p/y/a#1 succeeded: "p/y/a!"
               6 <5        p/y/b#1 called: step attempt 1
            > p/y/b#1 returns "p/y/b!", at 0
               7 <6        p/y/b#1 succeeded: "p/y/b!"
               8 <7        p/y through, result in 7
            > tick, at 1000
               9 clock     p/x/z slept
              10 <9        p/x through
              11 <10       p joined: [x -, y 7]
              12 <11       p completed, result in 11
              13 <12       run completed, output in 11
        "#]]);
}

#[test]
fn a_race_inside_of_an_item_goes_on_without_its_losers() {
    let race = joining("race", Join::First, vec![("x", vec![step("a")]), ("y", vec![step("b")])]);
    Case::of(vec![for_each("all", 1, vec![race])])
        .start()
        .gives("all", 1, j!([1]))
        .ok("all[0]/race/x/a", 1)
        .status(RunStatus::Running)
        .stopped("all[0]/race/y/b", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        all#1 called: items attempt 1
            > all#1 returns [1], at 0
               3 <2        all#1 succeeded: [1]
               4 <3        all started, 1 lanes
               5 <4        all[0]/race started, 2 lanes
               6 <5        all[0]/race/x/a#1 called: step attempt 1
               7 <5        all[0]/race/y/b#1 called: step attempt 1
            > all[0]/race/x/a#1 returns "all[0]/race/x/a!", at 0
               8 <6        all[0]/race/x/a#1 succeeded: "all[0]/race/x/a!"
               9 <8        all[0]/race/x through, result in 8
              10 <9        all[0]/race joined: [x 8]
              11 <10       all[0]/race/y lost, forced at 30000
              12 <10       all[0]/race completed, result in 10
              13 <12       all[0] through, result in 10
              14 <13       all joined: [10]
              15 <14       all completed, result in 14
                stop all[0]/race/y/b#1: ending
            > all[0]/race/y/b#1 stopped, at 0
              16 <7        all[0]/race/y/b#1 cancelled
              17 <16       all[0]/race/y stopped
              18 <17       run completed, output in 14
        "#]]);
}

#[test]
fn a_failure_while_losers_settle_ends_them_with_the_run() {
    let race =
        joining("race", Join::First, vec![("x", vec![step("a")]), ("y", vec![undoable("b"), step("c")])]);
    Case::of(vec![race, step("d")])
        .start()
        .ok("race/y/b", 1)
        .ok("race/x/a", 1)
        .quietly()
        .fails("d", 1, StepError::new("no"))
        .stopped("race/y/c", 1)
        .ok("race/y/b", 2)
        .then(expect![[r#"
            > d#1 fails (Plain), at 0
              13 <12       d#1 failed: error `no`, fail
              14 <13       run failing in d: error `no`, forced at 30000
                stop race/y/c#1: ending
            > race/y/c#1 stopped, at 0
              15 <6        race/y/c#1 cancelled
              16 <15       race/y/b#2 called: compensate attempt 1, until 300000
            > race/y/b#2 returns "race/y/b!", at 0
              17 <16       race/y/b#2 succeeded: "race/y/b!"
              18 <17       run failed in d: error `no`
        "#]]);
}

#[test]
fn a_cancel_reaches_every_branch() {
    let slow = vec![sleep("z", SleepLength::ForMs(1_000))];
    Case::of(vec![parallel("p", vec![("x", slow), ("y", vec![step("a"), step("b")])])])
        .start()
        .quietly()
        .cancel()
        .stopped("p/y/a", 1)
        .then(expect![[r#"
            > cancel, at 0
               5 request   cancel requested: enough, forced at 30000
               6 <5        p/x/z cancelled
                stop p/y/a#1: ending
            > p/y/a#1 stopped, at 0
               7 <4        p/y/a#1 cancelled
               8 <7        p cancelled
               9 <7        run cancelled: enough
        "#]]);
}

#[test]
fn a_branch_that_failed_before_somebody_won_is_undone_too() {
    let branches = vec![("x", vec![undoable("a"), step("b")]), ("y", vec![step("c")])];
    Case::of(vec![joining("p", Join::First, branches)])
        .start()
        .ok("p/x/a", 1)
        .fails("p/x/b", 1, StepError::new("no"))
        .quietly()
        .ok("p/y/c", 1)
        .ok("p/x/a", 2)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > p/y/c#1 returns "p/y/c!", at 0
               9 <4        p/y/c#1 succeeded: "p/y/c!"
              10 <9        p/y through, result in 9
              11 <10       p joined: [y 9]
              12 <11       p/x lost, forced at 30000
              13 <11       p completed, result in 11
              14 <12       p/x/a#2 called: compensate attempt 1, until 300000
            > p/x/a#2 returns "p/x/a!", at 0
              15 <14       p/x/a#2 succeeded: "p/x/a!"
              16 <15       p/x stopped
              17 <16       run completed, output in 11
        "#]]);
}

#[test]
fn a_block_that_fails_inside_of_a_failing_block_is_cancelled_with_it() {
    let inner = parallel("in", vec![("x", vec![step("a")]), ("y", vec![step("b")])]);
    Case::of(vec![parallel("out", vec![("p", vec![inner]), ("q", vec![step("c")])])])
        .start()
        .fails("out/p/in/x/a", 1, StepError::new("no"))
        .quietly()
        .fails("out/q/c", 1, StepError::new("neither"))
        .ok("out/p/in/y/b", 1)
        .node("out/p/in", NodeStatus::Cancelled)
        .then(expect![[r#"
            > out/q/c#1 fails (Plain), at 0
              10 <4        out/q/c#1 failed: error `neither`, fail
              11 <10       out/q failed in out/q/c
              12 <11       out failing because of out/q/c
            > out/p/in/y/b#1 returns "out/p/in/y/b!", at 0
              13 <6        out/p/in/y/b#1 succeeded: "out/p/in/y/b!"
              14 <13       out/p/in cancelled
              15 <13       out failed because of out/q/c
              16 <15       run failed in out/q/c: error `neither`
        "#]]);
}

#[test]
fn a_finally_that_is_stopped_ends_its_block_once() {
    let p = parallel_with("p", vec![("x", vec![step("a")])], |p| p.finally = Some("f".into()));
    Case::of(vec![joining("race", Join::First, vec![("l", vec![p]), ("w", vec![step("b")])])])
        .start()
        .ok("race/l/p/x/a", 1)
        .quietly()
        .ok("race/w/b", 1)
        .stopped("race/l/p", 1)
        .then(expect![[r#"
            > race/w/b#1 returns "race/w/b!", at 0
              10 <4        race/w/b#1 succeeded: "race/w/b!"
              11 <10       race/w through, result in 10
              12 <11       race joined: [w 10]
              13 <12       race/l lost, forced at 30000
              14 <12       race completed, result in 12
                stop race/l/p#1: ending
            > race/l/p#1 stopped, at 0
              15 <9        race/l/p#1 cancelled
              16 <15       race/l stopped
              17 <16       run completed, output in 12
        "#]]);
}
