//! forEach: `machine/for_each.rs`.

use expect_test::expect;
use rival_core::failure::StepError;
use rival_core::{NodeStatus, Path, RunStatus};
use serde_json::json as j;

use crate::support::{Case, for_each, step, tried};
#[test]
fn items_go_one_after_the_other() {
    Case::of(vec![for_each("all", 1, vec![step("a"), step("b")]), step("c")])
        .start()
        .gives("all", 1, j!([7, 8]))
        .ok("all[0]/a", 1)
        .ok("all[0]/b", 1)
        .ok("all[1]/a", 1)
        .ok("all[1]/b", 1)
        .ok("c", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        all#1 called: items attempt 1
            > all#1 returns [7,8], at 0
               3 <2        all#1 succeeded: [7,8]
               4 <3        all started, 2 lanes, 1 at a time
               5 <4        all[0]/a#1 called: step attempt 1
            > all[0]/a#1 returns "all[0]/a!", at 0
               6 <5        all[0]/a#1 succeeded: "all[0]/a!"
               7 <6        all[0]/b#1 called: step attempt 1
            > all[0]/b#1 returns "all[0]/b!", at 0
               8 <7        all[0]/b#1 succeeded: "all[0]/b!"
               9 <8        all[0] through, result in 8
              10 <9        all[1]/a#1 called: step attempt 1
            > all[1]/a#1 returns "all[1]/a!", at 0
              11 <10       all[1]/a#1 succeeded: "all[1]/a!"
              12 <11       all[1]/b#1 called: step attempt 1
            > all[1]/b#1 returns "all[1]/b!", at 0
              13 <12       all[1]/b#1 succeeded: "all[1]/b!"
              14 <13       all[1] through, result in 13
              15 <14       all joined: [8, 13]
              16 <15       all completed, result in 15
              17 <16       c#1 called: step attempt 1
            > c#1 returns "c!", at 0
              18 <17       c#1 succeeded: "c!"
              19 <18       run completed, output in 18
        "#]]);
}

#[test]
fn a_window_refills_when_several_end_together() {
    Case::of(vec![for_each("all", 2, vec![step("a")])])
        .start()
        .gives("all", 1, j!([1, 2, 3, 4, 5]))
        .ok("all[1]/a", 1)
        .ok("all[0]/a", 1)
        .ok("all[3]/a", 1)
        .ok("all[2]/a", 1)
        .ok("all[4]/a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        all#1 called: items attempt 1
            > all#1 returns [1,2,3,4,5], at 0
               3 <2        all#1 succeeded: [1,2,3,4,5]
               4 <3        all started, 5 lanes, 2 at a time
               5 <4        all[0]/a#1 called: step attempt 1
               6 <4        all[1]/a#1 called: step attempt 1
            > all[1]/a#1 returns "all[1]/a!", at 0
               7 <6        all[1]/a#1 succeeded: "all[1]/a!"
               8 <7        all[1] through, result in 7
               9 <8        all[2]/a#1 called: step attempt 1
            > all[0]/a#1 returns "all[0]/a!", at 0
              10 <5        all[0]/a#1 succeeded: "all[0]/a!"
              11 <10       all[0] through, result in 10
              12 <11       all[3]/a#1 called: step attempt 1
            > all[3]/a#1 returns "all[3]/a!", at 0
              13 <12       all[3]/a#1 succeeded: "all[3]/a!"
              14 <13       all[3] through, result in 13
              15 <14       all[4]/a#1 called: step attempt 1
            > all[2]/a#1 returns "all[2]/a!", at 0
              16 <9        all[2]/a#1 succeeded: "all[2]/a!"
              17 <16       all[2] through, result in 16
            > all[4]/a#1 returns "all[4]/a!", at 0
              18 <15       all[4]/a#1 succeeded: "all[4]/a!"
              19 <18       all[4] through, result in 18
              20 <19       all joined: [10, 7, 16, 13, 18]
              21 <20       all completed, result in 20
              22 <21       run completed, output in 20
        "#]]);
}

#[test]
fn an_empty_list_completes_at_once() {
    Case::of(vec![for_each("all", 3, vec![step("a")]), step("b")])
        .start()
        .gives("all", 1, j!([]))
        .ok("b", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        all#1 called: items attempt 1
            > all#1 returns [], at 0
               3 <2        all#1 succeeded: []
               4 <3        all started, 0 lanes
               5 <4        all joined: []
               6 <5        all completed, result in 5
               7 <6        b#1 called: step attempt 1
            > b#1 returns "b!", at 0
               8 <7        b#1 succeeded: "b!"
               9 <8        run completed, output in 8
        "#]]);
}

#[test]
fn items_that_are_no_list_are_an_error() {
    Case::of(vec![for_each("all", 3, vec![step("a")])]).start().gives("all", 1, j!({"a": 1})).then(expect![
        [r#"
            > start, at 0
               1 request   run started
               2 <1        all#1 called: items attempt 1
            > all#1 returns {"a":1}, at 0
               3 <2        all#1 failed: bad_answer `the items of `all` must be a list`, fail
               4 <3        run failed in all: bad_answer `the items of `all` must be a list`
        "#]
    ]);
}

#[test]
fn too_many_items_are_an_error_and_never_cut() {
    let items: Vec<u32> = (0..21).collect();
    Case::of(vec![for_each("all", 3, vec![step("a")])])
        .start()
        .quietly()
        .finish("all", 1, "returns 21 items", crate::support::success(j!(items)))
        .then(expect![[r#"
            > all#1 returns 21 items, at 0
               3 <2        all#1 failed: max_iterations ``all` has 21 items, more than its limit of 20`, fail
               4 <3        run failed in all: max_iterations ``all` has 21 items, more than its limit of 20`
        "#]]);
}

#[test]
fn a_hard_failure_lets_running_items_settle_and_starts_nothing_new() {
    Case::of(vec![for_each("all", 3, vec![step("a"), step("b")]), step("never")])
        .start()
        .gives("all", 1, j!([1, 2, 3, 4]))
        .quietly()
        .fails("all[1]/a", 1, StepError::new("no"))
        .ok("all[0]/a", 1)
        .fails("all[2]/a", 1, StepError::new("me too"))
        .node("all", NodeStatus::Failed)
        .then(expect![[r#"
            > all[1]/a#1 fails (Plain), at 0
               8 <6        all[1]/a#1 failed: error `no`, fail
               9 <8        all[1] failed in all[1]/a
              10 <9        all failing because of all[1]/a
            > all[0]/a#1 returns "all[0]/a!", at 0
              11 <5        all[0]/a#1 succeeded: "all[0]/a!"
            > all[2]/a#1 fails (Plain), at 0
              12 <7        all[2]/a#1 failed: error `me too`, fail
              13 <12       all failed because of all[1]/a
              14 <13       run failed in all[1]/a: error `no`
        "#]]);
}

#[test]
fn waits_of_other_items_are_cancelled_by_a_hard_failure() {
    Case::of(vec![for_each("all", 2, vec![tried("a", 3)])])
        .start()
        .gives("all", 1, j!([1, 2]))
        .fails("all[0]/a", 1, StepError::new("later"))
        .quietly()
        .fails("all[1]/a", 1, StepError::stop("no"))
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > all[1]/a#1 fails (Stop), at 0
               8 <6        all[1]/a#1 failed: error `no`, fail
               9 <8        all[1] failed in all[1]/a
              10 <9        all failing because of all[1]/a
              11 <10       all[0]/a cancelled
              12 <11       all failed because of all[1]/a
              13 <12       run failed in all[1]/a: error `no`
        "#]]);
}

#[test]
fn a_soft_failure_goes_on_and_leaves_null() {
    Case::of(vec![for_each("all", 1, vec![step("a")])])
        .start()
        .gives("all", 1, j!([1, 2]))
        .fails("all[0]/a", 1, StepError::proceed("meh"))
        .ok("all[1]/a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        all#1 called: items attempt 1
            > all#1 returns [1,2], at 0
               3 <2        all#1 succeeded: [1,2]
               4 <3        all started, 2 lanes, 1 at a time
               5 <4        all[0]/a#1 called: step attempt 1
            > all[0]/a#1 fails (Continue), at 0
               6 <5        all[0]/a#1 failed: error `meh`, continue
               7 <6        all[0] through
               8 <7        all[1]/a#1 called: step attempt 1
            > all[1]/a#1 returns "all[1]/a!", at 0
               9 <8        all[1]/a#1 succeeded: "all[1]/a!"
              10 <9        all[1] through, result in 9
              11 <10       all joined: [-, 9]
              12 <11       all completed, result in 11
              13 <12       run completed, output in 11
        "#]]);
}

#[test]
fn a_crash_makes_open_items_again_and_no_others() {
    Case::of(vec![for_each("all", 2, vec![step("a")])])
        .start()
        .gives("all", 1, j!([1, 2, 3]))
        .ok("all[0]/a", 1)
        .quietly()
        .crash()
        .ok("all[2]/a", 2)
        .ok("all[1]/a", 2)
        .then(expect![[r#"
            > activate, at 0
              10 recovery  all[1]/a#1 lost: crash
              11 <10       all[1]/a#2 called: step attempt 1
              12 recovery  all[2]/a#1 lost: crash
              13 <12       all[2]/a#2 called: step attempt 1
            > all[2]/a#2 returns "all[2]/a!", at 0
              14 <13       all[2]/a#2 succeeded: "all[2]/a!"
              15 <14       all[2] through, result in 14
            > all[1]/a#2 returns "all[1]/a!", at 0
              16 <11       all[1]/a#2 succeeded: "all[1]/a!"
              17 <16       all[1] through, result in 16
              18 <17       all joined: [7, 16, 14]
              19 <18       all completed, result in 18
              20 <19       run completed, output in 18
        "#]]);
}

#[test]
fn a_crash_while_a_failing_block_settles_gives_up_what_was_at_work() {
    Case::of(vec![for_each("all", 2, vec![step("a")])])
        .start()
        .gives("all", 1, j!([1, 2, 3]))
        .fails("all[0]/a", 1, StepError::new("no"))
        .quietly()
        .crash()
        .then(expect![[r#"
            > activate, at 0
              10 recovery  all[1]/a#1 cancelled
              11 <10       all failed because of all[0]/a
              12 <11       run failed in all[0]/a: error `no`
        "#]]);
}

#[test]
fn finished_items_leave_the_state() {
    let mut case = Case::of(vec![for_each("all", 1, vec![step("a")])]).start().gives("all", 1, j!([1, 2, 3]));
    case = case.ok("all[0]/a", 1).ok("all[1]/a", 1);
    let inside: Vec<&Path> =
        case.state.nodes.keys().filter(|path| path.is_within(&Path::from("all"))).collect();
    assert_eq!(inside, [&Path::from("all[2]/a")]);
    case.check();
}

#[test]
fn loops_nest_and_the_failed_step_has_its_whole_path() {
    let inner = for_each("inner", 1, vec![step("a")]);
    Case::of(vec![for_each("outer", 1, vec![inner])])
        .start()
        .gives("outer", 1, j!([1, 2]))
        .gives("outer[0]/inner", 1, j!([1]))
        .ok("outer[0]/inner[0]/a", 1)
        .gives("outer[1]/inner", 1, j!([1, 2]))
        .ok("outer[1]/inner[0]/a", 1)
        .fails("outer[1]/inner[1]/a", 1, StepError::new("no"))
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        outer#1 called: items attempt 1
            > outer#1 returns [1,2], at 0
               3 <2        outer#1 succeeded: [1,2]
               4 <3        outer started, 2 lanes, 1 at a time
               5 <4        outer[0]/inner#1 called: items attempt 1
            > outer[0]/inner#1 returns [1], at 0
               6 <5        outer[0]/inner#1 succeeded: [1]
               7 <6        outer[0]/inner started, 1 lanes
               8 <7        outer[0]/inner[0]/a#1 called: step attempt 1
            > outer[0]/inner[0]/a#1 returns "outer[0]/inner[0]/a!", at 0
               9 <8        outer[0]/inner[0]/a#1 succeeded: "outer[0]/inner[0]/a!"
              10 <9        outer[0]/inner[0] through, result in 9
              11 <10       outer[0]/inner joined: [9]
              12 <11       outer[0]/inner completed, result in 11
              13 <12       outer[0] through, result in 11
              14 <13       outer[1]/inner#1 called: items attempt 1
            > outer[1]/inner#1 returns [1,2], at 0
              15 <14       outer[1]/inner#1 succeeded: [1,2]
              16 <15       outer[1]/inner started, 2 lanes, 1 at a time
              17 <16       outer[1]/inner[0]/a#1 called: step attempt 1
            > outer[1]/inner[0]/a#1 returns "outer[1]/inner[0]/a!", at 0
              18 <17       outer[1]/inner[0]/a#1 succeeded: "outer[1]/inner[0]/a!"
              19 <18       outer[1]/inner[0] through, result in 18
              20 <19       outer[1]/inner[1]/a#1 called: step attempt 1
            > outer[1]/inner[1]/a#1 fails (Plain), at 0
              21 <20       outer[1]/inner[1]/a#1 failed: error `no`, fail
              22 <21       outer[1]/inner[1] failed in outer[1]/inner[1]/a
              23 <22       outer[1]/inner failed because of outer[1]/inner[1]/a
              24 <23       outer[1] failed in outer[1]/inner
              25 <24       outer failed because of outer[1]/inner
              26 <25       run failed in outer[1]/inner[1]/a: error `no`
        "#]]);
}

#[test]
fn a_cancel_in_the_middle_ends_all_items() {
    Case::of(vec![for_each("all", 2, vec![step("a")])])
        .start()
        .gives("all", 1, j!([1, 2, 3]))
        .quietly()
        .cancel()
        .stopped("all[0]/a", 1)
        .ok("all[1]/a", 1)
        .then(expect![[r#"
            > cancel, at 0
               7 request   cancel requested: enough, forced at 30000
                stop all[1]/a#1: ending
                stop all[0]/a#1: ending
            > all[0]/a#1 stopped, at 0
               8 <5        all[0]/a#1 cancelled
            > all[1]/a#1 returns "all[1]/a!", at 0
               9 <6        all[1]/a#1 succeeded: "all[1]/a!"
              10 <9        all cancelled
              11 <9        run cancelled: enough
        "#]]);
}

#[test]
fn a_pause_holds_the_next_items() {
    Case::of(vec![for_each("all", 2, vec![step("a")])])
        .start()
        .gives("all", 1, j!([1, 2, 3, 4]))
        .quietly()
        .pause()
        .ok("all[0]/a", 1)
        .ok("all[1]/a", 1)
        .resume()
        .then(expect![[r#"
            > pause, at 0
               7 request   run paused
            > all[0]/a#1 returns "all[0]/a!", at 0
               8 <5        all[0]/a#1 succeeded: "all[0]/a!"
               9 <8        all[0] through, result in 8
              10 <9        all[2]/a held, due: step attempt 1
            > all[1]/a#1 returns "all[1]/a!", at 0
              11 <6        all[1]/a#1 succeeded: "all[1]/a!"
              12 <11       all[1] through, result in 11
              13 <12       all[3]/a held, due: step attempt 1
            > resume, at 0
              14 request   run resumed
              15 <14       all[2]/a#1 called: step attempt 1
              16 <14       all[3]/a#1 called: step attempt 1
        "#]]);
}
