//! Branches: `machine/branch.rs`.

use expect_test::expect;
use rival_core::failure::StepError;
use rival_core::{NodeStatus, RunStatus};
use serde_json::json as j;

use crate::support::{Case, branch, step};
#[test]
fn the_answer_names_the_case() {
    let route = branch("route", vec![("air", vec![step("fly")]), ("sea", vec![step("sail")])], None);
    Case::of(vec![route, step("done")])
        .start()
        .gives("route", 1, j!("sea"))
        .ok("route/sea/sail", 1)
        .ok("done", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        route#1 called: choose attempt 1
            > route#1 returns "sea", at 0
               3 <2        route#1 succeeded: "sea"
               4 <3        route started, case sea
               5 <4        route/sea/sail#1 called: step attempt 1
            > route/sea/sail#1 returns "route/sea/sail!", at 0
               6 <5        route/sea/sail#1 succeeded: "route/sea/sail!"
               7 <6        route completed, result in 6
               8 <7        done#1 called: step attempt 1
            > done#1 returns "done!", at 0
               9 <8        done#1 succeeded: "done!"
              10 <9        run completed, output in 9
        "#]]);
}

#[test]
fn true_and_false_mean_then_and_else() {
    let check = || branch("check", vec![("then", vec![step("a")]), ("else", vec![step("b")])], None);
    Case::of(vec![check()])
        .start()
        .gives("check", 1, j!(true))
        .ok("check/then/a", 1)
        .status(RunStatus::Completed);
    Case::of(vec![check()]).start().gives("check", 1, j!(false)).ok("check/else/b", 1).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        check#1 called: choose attempt 1
        > check#1 returns false, at 0
           3 <2        check#1 succeeded: false
           4 <3        check started, case else
           5 <4        check/else/b#1 called: step attempt 1
        > check/else/b#1 returns "check/else/b!", at 0
           6 <5        check/else/b#1 succeeded: "check/else/b!"
           7 <6        check completed, result in 6
           8 <7        run completed, output in 6
    "#]]);
}

#[test]
fn without_an_else_nothing_happens() {
    let check = branch("check", vec![("then", vec![step("a")])], None);
    Case::of(vec![check, step("b")])
        .start()
        .gives("check", 1, j!(false))
        .node("check", NodeStatus::Completed)
        .ok("b", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        check#1 called: choose attempt 1
            > check#1 returns false, at 0
               3 <2        check#1 succeeded: false
               4 <3        check started
               5 <4        check completed
               6 <5        b#1 called: step attempt 1
            > b#1 returns "b!", at 0
               7 <6        b#1 succeeded: "b!"
               8 <7        run completed, output in 7
        "#]]);
}

#[test]
fn the_default_takes_what_no_case_does() {
    let route = branch("route", vec![("air", vec![step("fly")])], Some(vec![step("wait")]));
    Case::of(vec![route]).start().gives("route", 1, j!("rail")).ok("route/default/wait", 1).then(expect![[
        r#"
            > start, at 0
               1 request   run started
               2 <1        route#1 called: choose attempt 1
            > route#1 returns "rail", at 0
               3 <2        route#1 succeeded: "rail"
               4 <3        route started, case default
               5 <4        route/default/wait#1 called: step attempt 1
            > route/default/wait#1 returns "route/default/wait!", at 0
               6 <5        route/default/wait#1 succeeded: "route/default/wait!"
               7 <6        route completed, result in 6
               8 <7        run completed, output in 6
        "#
    ]]);
}

#[test]
fn an_unknown_case_without_a_default_is_an_error() {
    let route = branch("route", vec![("air", vec![step("fly")]), ("sea", vec![step("sail")])], None);
    Case::of(vec![route]).start().gives("route", 1, j!("rail")).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        route#1 called: choose attempt 1
        > route#1 returns "rail", at 0
           3 <2        route#1 failed: no_such_case ``route` has no case `rail` and no default; its cases are `air`, `sea``, fail
           4 <3        run failed in route: no_such_case ``route` has no case `rail` and no default; its cases are `air`, `sea``
    "#]]);
}

#[test]
fn an_answer_that_names_no_case_at_all_is_an_error() {
    let route = branch("route", vec![("air", vec![step("fly")])], None);
    Case::of(vec![route]).start().gives("route", 1, j!(7)).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        route#1 called: choose attempt 1
        > route#1 returns 7, at 0
           3 <2        route#1 failed: bad_answer ``route` must be answered with true, false or the name of a case, not 7`, fail
           4 <3        run failed in route: bad_answer ``route` must be answered with true, false or the name of a case, not 7`
    "#]]);
}

#[test]
fn a_failure_inside_fails_the_branch() {
    let route = branch("route", vec![("air", vec![step("fly"), step("land")])], None);
    Case::of(vec![route, step("never")])
        .start()
        .gives("route", 1, j!("air"))
        .fails("route/air/fly", 1, StepError::new("storm"))
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        route#1 called: choose attempt 1
            > route#1 returns "air", at 0
               3 <2        route#1 succeeded: "air"
               4 <3        route started, case air
               5 <4        route/air/fly#1 called: step attempt 1
            > route/air/fly#1 fails (Plain), at 0
               6 <5        route/air/fly#1 failed: error `storm`, fail
               7 <6        route failed because of route/air/fly
               8 <7        run failed in route/air/fly: error `storm`
        "#]]);
}

#[test]
fn the_choice_survives_a_crash() {
    let check = branch("check", vec![("then", vec![step("a")]), ("else", vec![step("b")])], None);
    Case::of(vec![check])
        .start()
        .crash()
        .gives("check", 2, j!(true))
        .quietly()
        .crash()
        .ok("check/then/a", 2)
        .then(expect![[r#"
            > activate, at 0
               8 recovery  check/then/a#1 lost: crash
               9 <8        check/then/a#2 called: step attempt 1
            > check/then/a#2 returns "check/then/a!", at 0
              10 <9        check/then/a#2 succeeded: "check/then/a!"
              11 <10       check completed, result in 10
              12 <11       run completed, output in 10
        "#]]);
}
