//! Loops: `machine/looping.rs`.

use expect_test::expect;
use rival_core::failure::StepError;
use rival_core::plan::LoopTest;
use rival_core::{NodeStatus, Path, Plan, RunStatus};
use serde_json::json as j;

use crate::support::{Case, looping, plan, step, until};
#[test]
fn until_is_asked_after_each_iteration() {
    Case::of(vec![until("poll", vec![step("a"), step("b")]), step("c")])
        .start()
        .ok("poll[0]/a", 1)
        .ok("poll[0]/b", 1)
        .gives("poll", 1, j!(false))
        .ok("poll[1]/a", 1)
        .ok("poll[1]/b", 1)
        .gives("poll", 2, j!(true))
        .node("poll", NodeStatus::Completed)
        .ok("c", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        poll started
               3 <2        poll[0]/a#1 called: step attempt 1
            > poll[0]/a#1 returns "poll[0]/a!", at 0
               4 <3        poll[0]/a#1 succeeded: "poll[0]/a!"
               5 <4        poll[0]/b#1 called: step attempt 1
            > poll[0]/b#1 returns "poll[0]/b!", at 0
               6 <5        poll[0]/b#1 succeeded: "poll[0]/b!"
               7 <6        poll[0] through, result in 6
               8 <7        poll#1 called: test attempt 1
            > poll#1 returns false, at 0
               9 <8        poll#1 succeeded: false
              10 <9        poll[1]/a#1 called: step attempt 1
            > poll[1]/a#1 returns "poll[1]/a!", at 0
              11 <10       poll[1]/a#1 succeeded: "poll[1]/a!"
              12 <11       poll[1]/b#1 called: step attempt 1
            > poll[1]/b#1 returns "poll[1]/b!", at 0
              13 <12       poll[1]/b#1 succeeded: "poll[1]/b!"
              14 <13       poll[1] through, result in 13
              15 <14       poll#2 called: test attempt 1
            > poll#2 returns true, at 0
              16 <15       poll#2 succeeded: true
              17 <16       poll completed, result in 13
              18 <17       c#1 called: step attempt 1
            > c#1 returns "c!", at 0
              19 <18       c#1 succeeded: "c!"
              20 <19       run completed, output in 19
        "#]]);
}

#[test]
fn while_is_asked_before_each_iteration() {
    let work = looping("work", vec![step("a")], LoopTest::While("test".into()));
    Case::of(vec![work])
        .start()
        .gives("work", 1, j!(true))
        .ok("work[0]/a", 1)
        .gives("work", 2, j!(false))
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        work started
               3 <2        work#1 called: test attempt 1
            > work#1 returns true, at 0
               4 <3        work#1 succeeded: true
               5 <4        work[0]/a#1 called: step attempt 1
            > work[0]/a#1 returns "work[0]/a!", at 0
               6 <5        work[0]/a#1 succeeded: "work[0]/a!"
               7 <6        work[0] through, result in 6
               8 <7        work#2 called: test attempt 1
            > work#2 returns false, at 0
               9 <8        work#2 succeeded: false
              10 <9        work completed, result in 6
              11 <10       run completed, output in 6
        "#]]);
}

#[test]
fn while_that_is_false_at_once_runs_nothing() {
    let work = looping("work", vec![step("a")], LoopTest::While("test".into()));
    Case::of(vec![work]).start().gives("work", 1, j!(false)).status(RunStatus::Completed).then(expect![[
        r#"
        > start, at 0
           1 request   run started
           2 <1        work started
           3 <2        work#1 called: test attempt 1
        > work#1 returns false, at 0
           4 <3        work#1 succeeded: false
           5 <4        work completed
           6 <5        run completed
    "#
    ]]);
}

#[test]
fn more_iterations_than_allowed_are_an_error() {
    Case::of(vec![until("poll", vec![step("a")])])
        .start()
        .ok("poll[0]/a", 1)
        .gives("poll", 1, j!(false))
        .ok("poll[1]/a", 1)
        .gives("poll", 2, j!(false))
        .ok("poll[2]/a", 1)
        .quietly()
        .gives("poll", 3, j!(false))
        .then(expect![[r#"
            > poll#3 returns false, at 0
              17 <16       poll#3 failed: max_iterations ``poll` is not done after 3 iterations, which is its limit`, fail
              18 <17       run failed in poll: max_iterations ``poll` is not done after 3 iterations, which is its limit`
        "#]]);
}

#[test]
fn a_test_that_answers_neither_is_an_error() {
    Case::of(vec![until("poll", vec![step("a")])])
        .start()
        .ok("poll[0]/a", 1)
        .quietly()
        .gives("poll", 1, j!("yes"))
        .then(expect![[r#"
            > poll#1 returns "yes", at 0
               7 <6        poll#1 failed: bad_answer `the test of `poll` must answer true or false, not "yes"`, fail
               8 <7        run failed in poll: bad_answer `the test of `poll` must answer true or false, not "yes"`
        "#]]);
}

#[test]
fn a_failing_iteration_fails_the_loop() {
    Case::of(vec![until("poll", vec![step("a")])])
        .start()
        .ok("poll[0]/a", 1)
        .gives("poll", 1, j!(false))
        .quietly()
        .fails("poll[1]/a", 1, StepError::new("no"))
        .then(expect![[r#"
            > poll[1]/a#1 fails (Plain), at 0
               9 <8        poll[1]/a#1 failed: error `no`, fail
              10 <9        poll failed because of poll[1]/a
              11 <10       run failed in poll[1]/a: error `no`
        "#]]);
}

#[test]
fn the_state_keeps_the_last_iteration_only() {
    let case = Case::of(vec![until("poll", vec![step("a")])])
        .start()
        .ok("poll[0]/a", 1)
        .gives("poll", 1, j!(false))
        .ok("poll[1]/a", 1);
    assert!(case.state.node(&Path::from("poll[0]/a")).is_none());
    assert!(case.state.node(&Path::from("poll[1]/a")).is_some());
    case.check();
}

#[test]
fn a_test_that_crashes_is_asked_again() {
    Case::of(vec![until("poll", vec![step("a")])])
        .start()
        .ok("poll[0]/a", 1)
        .quietly()
        .crash()
        .gives("poll", 2, j!(true))
        .then(expect![[r#"
            > activate, at 0
               7 recovery  poll#1 lost: crash
               8 <7        poll#2 called: test attempt 1
            > poll#2 returns true, at 0
               9 <8        poll#2 succeeded: true
              10 <9        poll completed, result in 4
              11 <10       run completed, output in 4
        "#]]);
}

#[test]
fn a_loop_whose_test_fails_ends_once() {
    Case::with(Plan { on_error: Some("h".into()), ..plan(vec![until("poll", vec![step("a")])]) }, |_| {})
        .start()
        .ok("poll[0]/a", 1)
        .quietly()
        .fails("poll", 1, StepError::new("no"))
        .ok("", 1)
        .then(expect![[r#"
            > poll#1 fails (Plain), at 0
               7 <6        poll#1 failed: error `no`, fail
               8 <7        run failing in poll: error `no`, forced at 30000
               9 <8        (run)#1 called: onError attempt 1, until 300000
            > (run)#1 returns "!", at 0
              10 <9        (run)#1 succeeded: "!"
              11 <10       run failed in poll: error `no`
        "#]]);
}
