//! Nested workflows: `machine/nested.rs`.

use expect_test::expect;
use rival_core::failure::StepError;
use rival_core::{NodeStatus, Plan, RunStatus};
use serde_json::json as j;

use crate::support::{Case, nested, nested_with, plan, step, step_with};

#[test]
fn the_result_of_a_nested_workflow_is_its_last_nodes() {
    Case::of(vec![nested("n", vec![step("a"), step("b")]), step("c")])
        .start()
        .node("n", NodeStatus::Running)
        .ok("n/a", 1)
        .ok("n/b", 1)
        .node("n", NodeStatus::Completed)
        .ok("c", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        n started
               3 <2        n/a#1 called: step attempt 1
            > n/a#1 returns "n/a!", at 0
               4 <3        n/a#1 succeeded: "n/a!"
               5 <4        n/b#1 called: step attempt 1
            > n/b#1 returns "n/b!", at 0
               6 <5        n/b#1 succeeded: "n/b!"
               7 <6        n completed, result in 6
               8 <7        c#1 called: step attempt 1
            > c#1 returns "c!", at 0
               9 <8        c#1 succeeded: "c!"
              10 <9        run completed, output in 9
        "#]]);
}

#[test]
fn workflows_nest_three_deep() {
    Case::of(vec![nested("x", vec![nested("y", vec![nested("z", vec![step("a")])]), step("b")])])
        .start()
        .ok("x/y/z/a", 1)
        .ok("x/b", 1)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        x started
               3 <2        x/y started
               4 <3        x/y/z started
               5 <4        x/y/z/a#1 called: step attempt 1
            > x/y/z/a#1 returns "x/y/z/a!", at 0
               6 <5        x/y/z/a#1 succeeded: "x/y/z/a!"
               7 <6        x/y/z completed, result in 6
               8 <7        x/y completed, result in 6
               9 <8        x/b#1 called: step attempt 1
            > x/b#1 returns "x/b!", at 0
              10 <9        x/b#1 succeeded: "x/b!"
              11 <10       x completed, result in 10
              12 <11       run completed, output in 10
        "#]]);
}

fn handled_everywhere() -> Plan {
    let a = step_with("a", |step| step.on_error = Some("ha".into()));
    let z = nested("z", vec![a, step("never")]);
    let y = nested_with("y", vec![z], |nested| nested.on_error = Some("hy".into()));
    Plan { on_error: Some("h".into()), ..plan(vec![nested("x", vec![y, step("never")])]) }
}

#[test]
fn a_failure_three_deep_calls_each_handler_once_from_the_inside_out() {
    Case::with(handled_everywhere(), |_| {})
        .start()
        .fails("x/y/z/a", 1, StepError::new("no"))
        .ok("x/y/z/a", 2)
        .node("x/y/z", NodeStatus::Failed)
        .fails("x/y", 1, StepError::new("a broken handler"))
        .ok("", 1)
        .node("x", NodeStatus::Failed)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        x started
               3 <2        x/y started
               4 <3        x/y/z started
               5 <4        x/y/z/a#1 called: step attempt 1
            > x/y/z/a#1 fails (Plain), at 0
               6 <5        x/y/z/a#1 failed: error `no`, fail
               7 <6        x/y/z/a#2 called: onError attempt 1, until 300000
            > x/y/z/a#2 returns "x/y/z/a!", at 0
               8 <7        x/y/z/a#2 succeeded: "x/y/z/a!"
               9 <8        x/y/z failed because of x/y/z/a
              10 <9        x/y failed because of x/y/z
              11 <10       x/y#1 called: onError attempt 1, until 300000
            > x/y#1 fails (Plain), at 0
              12 <11       x/y#1 failed: error `a broken handler`, fail
              13 <12       x failed because of x/y
              14 <13       run failing in x/y/z/a: error `no`, forced at 30000
              15 <14       (run)#1 called: onError attempt 1, until 300000
            > (run)#1 returns "!", at 0
              16 <15       (run)#1 succeeded: "!"
              17 <16       run failed in x/y/z/a: error `no`
        "#]]);
}

#[test]
fn a_handler_of_a_nested_workflow_that_hangs_times_out() {
    Case::with(handled_everywhere(), |_| {})
        .start()
        .fails("x/y/z/a", 1, StepError::new("no"))
        .ok("x/y/z/a", 2)
        .quietly()
        .tick_after(300_000)
        .tick_after(300_000)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > tick, at 300000
              12 clock     x/y#1 failed: timeout `the handler of `x/y` took longer than 300000 ms`, fail
              13 <12       x failed because of x/y
              14 <13       run failing in x/y/z/a: error `no`, forced at 330000
              15 <14       (run)#1 called: onError attempt 1, until 600000
                stop x/y#1: timeout
            > tick, at 600000
              16 clock     (run)#1 failed: timeout `the run's handler took longer than 300000 ms`, fail
              17 <16       run failed in x/y/z/a: error `no`
                stop (run)#1: timeout
        "#]]);
}

fn mapped() -> Case {
    Case::of(vec![nested_with("n", vec![step("a")], |nested| nested.input = Some("m".into()))])
}

#[test]
fn the_input_of_a_nested_workflow_is_mapped_first() {
    mapped().start().gives("n", 1, j!({"own": true})).ok("n/a", 1).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        n#1 called: input attempt 1
        > n#1 returns {"own":true}, at 0
           3 <2        n#1 succeeded: {"own":true}
           4 <3        n started
           5 <4        n/a#1 called: step attempt 1
        > n/a#1 returns "n/a!", at 0
           6 <5        n/a#1 succeeded: "n/a!"
           7 <6        n completed, result in 6
           8 <7        run completed, output in 6
    "#]]);
}

#[test]
fn a_mapper_that_fails_fails_the_nested_workflow() {
    mapped().start().fails("n", 1, StepError::new("no")).status(RunStatus::Failed).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        n#1 called: input attempt 1
        > n#1 fails (Plain), at 0
           3 <2        n#1 failed: error `no`, fail
           4 <3        run failed in n: error `no`
    "#]]);
}

#[test]
fn a_mapper_that_settles_during_a_cancel_starts_nothing() {
    mapped()
        .start()
        .cancel()
        .gives("n", 1, j!({}))
        .node("n", NodeStatus::Cancelled)
        .status(RunStatus::Cancelled)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        n#1 called: input attempt 1
            > cancel, at 0
               3 request   cancel requested: enough, forced at 30000
                stop n#1: ending
            > n#1 returns {}, at 0
               4 <2        n#1 succeeded: {}
               5 <4        n cancelled
               6 <5        run cancelled: enough
        "#]]);
}

#[test]
fn a_nested_workflow_whose_turn_comes_while_paused_is_held() {
    Case::of(vec![step("s"), nested("n", vec![step("a")])])
        .start()
        .pause()
        .ok("s", 1)
        .resume()
        .ok("n/a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        s#1 called: step attempt 1
            > pause, at 0
               3 request   run paused
            > s#1 returns "s!", at 0
               4 <2        s#1 succeeded: "s!"
               5 <4        n held
            > resume, at 0
               6 request   run resumed
               7 <6        n started
               8 <7        n/a#1 called: step attempt 1
            > n/a#1 returns "n/a!", at 0
               9 <8        n/a#1 succeeded: "n/a!"
              10 <9        n completed, result in 9
              11 <10       run completed, output in 9
        "#]]);
}

#[test]
fn a_mapped_input_that_arrives_while_paused_is_kept() {
    mapped().start().pause().gives("n", 1, j!({})).crash().resume().ok("n/a", 1).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        n#1 called: input attempt 1
        > pause, at 0
           3 request   run paused
        > n#1 returns {}, at 0
           4 <2        n#1 succeeded: {}
           5 <4        n held
        > activate, at 0
        > resume, at 0
           6 request   run resumed
           7 <6        n started
           8 <7        n/a#1 called: step attempt 1
        > n/a#1 returns "n/a!", at 0
           9 <8        n/a#1 succeeded: "n/a!"
          10 <9        n completed, result in 9
          11 <10       run completed, output in 9
    "#]]);
}

#[test]
fn a_soft_failure_at_the_end_completes_the_nested_workflow_without_a_result() {
    Case::of(vec![nested("n", vec![step("a")])])
        .start()
        .fails("n/a", 1, StepError::proceed("meh"))
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        n started
               3 <2        n/a#1 called: step attempt 1
            > n/a#1 fails (Continue), at 0
               4 <3        n/a#1 failed: error `meh`, continue
               5 <4        n completed
               6 <5        run completed
        "#]]);
}
