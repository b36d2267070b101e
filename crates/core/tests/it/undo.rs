//! Compensations: `machine/undo.rs`.

use expect_test::expect;
use rival_core::RunStatus;
use rival_core::durable::ChildOutcome;
use rival_core::failure::StepError;
use rival_core::machine::{OnceRequest, OpRequest};
use rival_core::plan::{CompensationSpec, Join};
use serde_json::json as j;

use crate::support::{Case, attempts, for_each, joining, json, parallel, plan, step, step_with, undoable};
#[test]
fn completed_steps_are_undone_the_last_first_before_the_handler() {
    let plan = rival_core::Plan {
        on_error: Some("h".into()),
        ..plan(vec![undoable("a"), step("b"), undoable("c"), step("d")])
    };
    Case::with(plan, |_| {})
        .start()
        .ok("a", 1)
        .ok("b", 1)
        .ok("c", 1)
        .quietly()
        .fails("d", 1, StepError::new("no"))
        .status(RunStatus::Compensating)
        .ok("c", 2)
        .ok("a", 2)
        .ok("", 1)
        .then(expect![[r#"
            > d#1 fails (Plain), at 0
               9 <8        d#1 failed: error `no`, fail
              10 <9        run failing in d: error `no`, forced at 30000
              11 <10       c#2 called: compensate attempt 1, until 300000
            > c#2 returns "c!", at 0
              12 <11       c#2 succeeded: "c!"
              13 <12       a#2 called: compensate attempt 1, until 300000
            > a#2 returns "a!", at 0
              14 <13       a#2 succeeded: "a!"
              15 <14       (run)#1 called: onError attempt 1, until 300000
            > (run)#1 returns "!", at 0
              16 <15       (run)#1 succeeded: "!"
              17 <16       run failed in d: error `no`
        "#]]);
}

#[test]
fn a_compensation_is_tried_three_times_and_then_given_up() {
    Case::of(vec![undoable("a"), undoable("b"), step("c")])
        .start()
        .ok("a", 1)
        .ok("b", 1)
        .quietly()
        .fails("c", 1, StepError::new("no"))
        .fails("b", 2, StepError::new("stuck"))
        .tick_after(1_000)
        .fails("b", 3, StepError::new("stuck"))
        .tick_after(2_000)
        .fails("b", 4, StepError::new("stuck for good"))
        .ok("a", 2)
        .then(expect![[r#"
            > c#1 fails (Plain), at 0
               7 <6        c#1 failed: error `no`, fail
               8 <7        run failing in c: error `no`, forced at 30000
               9 <8        b#2 called: compensate attempt 1, until 300000
            > b#2 fails (Plain), at 0
              10 <9        b#2 failed: error `stuck`, retry at 1000
            > tick, at 1000
              11 clock     b#3 called: compensate attempt 2, until 301000
            > b#3 fails (Plain), at 1000
              12 <11       b#3 failed: error `stuck`, retry at 3000
            > tick, at 3000
              13 clock     b#4 called: compensate attempt 3, until 303000
            > b#4 fails (Plain), at 3000
              14 <13       b#4 failed: error `stuck for good`, fail
              15 <14       a#2 called: compensate attempt 1, until 303000
            > a#2 returns "a!", at 3000
              16 <15       a#2 succeeded: "a!"
              17 <16       run failed in c: error `no`, b not undone: `stuck for good`
        "#]]);
}

#[test]
fn a_cancel_undoes_too_and_does_not_interrupt_it() {
    Case::of(vec![undoable("a"), step("b")])
        .start()
        .ok("a", 1)
        .quietly()
        .cancel()
        .stopped("b", 1)
        .cancel()
        .tick_after(40_000)
        .crash()
        .ok("a", 3)
        .status(RunStatus::Cancelled)
        .then(expect![[r#"
            > cancel, at 0
               5 request   cancel requested: enough, forced at 30000
                stop b#1: ending
            > b#1 stopped, at 0
               6 <4        b#1 cancelled
               7 <6        a#2 called: compensate attempt 1, until 300000
            > cancel, at 0
            > tick, at 40000
            > activate, at 40000
               8 recovery  a#2 lost: crash
               9 <8        a#3 called: compensate attempt 1, until 340000
            > a#3 returns "a!", at 40000
              10 <9        a#3 succeeded: "a!"
              11 <10       run cancelled: enough
        "#]]);
}

#[test]
fn a_step_whose_outcome_is_unknown_is_undone() {
    let a = step_with("a", |step| {
        step.timeout_ms = Some(100);
        step.compensate =
            Some(CompensationSpec { function: "undo".into(), retry: attempts(1), timeout_ms: None });
    });
    Case::of(vec![a]).start().quietly().tick_after(100).ok("a", 2).then(expect![[r#"
        > tick, at 100
           3 clock     a#1 failed: timeout ``a` took longer than 100 ms`, fail
           4 <3        run failing in a: timeout ``a` took longer than 100 ms`, forced at 30100
           5 <4        a#2 called: compensate attempt 1, until 300100
            stop a#1: timeout
        > a#2 returns "a!", at 100
           6 <5        a#2 succeeded: "a!"
           7 <6        run failed in a: timeout ``a` took longer than 100 ms`
    "#]]);
}

#[test]
fn a_step_that_failed_or_was_skipped_is_not_undone() {
    Case::of(vec![undoable("a"), undoable("b"), undoable("c")])
        .start()
        .skips("a", 1)
        .fails("b", 1, StepError::proceed("meh"))
        .quietly()
        .fails("c", 1, StepError::new("no"))
        .then(expect![[r#"
            > c#1 fails (Plain), at 0
               7 <6        c#1 failed: error `no`, fail
               8 <7        run failed in c: error `no`
        "#]]);
}

#[test]
fn a_kill_undoes_nothing() {
    Case::of(vec![undoable("a"), step("b")]).start().ok("a", 1).quietly().kill().then(expect![[r#"
        > kill, at 0
           5 request   kill requested: now, forced at 0
           6 clock     b#1 cancelled, forced
           7 <6        run cancelled: now
            stop b#1: ending
    "#]]);
}

#[test]
fn a_kill_ends_a_compensation() {
    Case::of(vec![undoable("a"), step("b")])
        .start()
        .ok("a", 1)
        .fails("b", 1, StepError::new("no"))
        .quietly()
        .kill()
        .then(expect![[r#"
            > kill, at 0
               8 request   kill requested: now, forced at 0
               9 clock     a#2 cancelled, forced
              10 <9        run failed in b: error `no`
        "#]]);
}

#[test]
fn branches_and_items_are_undone_in_the_order_of_their_ends() {
    let each = for_each("all", 1, vec![undoable("i")]);
    Case::of(vec![parallel("p", vec![("x", vec![undoable("a")]), ("y", vec![each])]), step("z")])
        .start()
        .gives("p/y/all", 1, j!([1, 2]))
        .ok("p/y/all[0]/i", 1)
        .ok("p/x/a", 1)
        .ok("p/y/all[1]/i", 1)
        .quietly()
        .fails("z", 1, StepError::new("no"))
        .ok("p/y/all[1]/i", 2)
        .ok("p/x/a", 2)
        .ok("p/y/all[0]/i", 2)
        .then(expect![[r#"
            > z#1 fails (Plain), at 0
              21 <20       z#1 failed: error `no`, fail
              22 <21       run failing in z: error `no`, forced at 30000
              23 <22       p/y/all[1]/i#2 called: compensate attempt 1, until 300000
            > p/y/all[1]/i#2 returns "p/y/all[1]/i!", at 0
              24 <23       p/y/all[1]/i#2 succeeded: "p/y/all[1]/i!"
              25 <24       p/x/a#2 called: compensate attempt 1, until 300000
            > p/x/a#2 returns "p/x/a!", at 0
              26 <25       p/x/a#2 succeeded: "p/x/a!"
              27 <26       p/y/all[0]/i#2 called: compensate attempt 1, until 300000
            > p/y/all[0]/i#2 returns "p/y/all[0]/i!", at 0
              28 <27       p/y/all[0]/i#2 succeeded: "p/y/all[0]/i!"
              29 <28       run failed in z: error `no`
        "#]]);
}

#[test]
fn the_grace_period_means_nothing_to_a_compensation() {
    Case::of(vec![undoable("a"), step("b")])
        .start()
        .ok("a", 1)
        .cancel()
        .stopped("b", 1)
        .next_timer(Some(300_000))
        .quietly()
        .tick_after(30_000)
        .next_timer(Some(300_000))
        .ok("a", 2)
        .then(expect![[r#"
            > tick, at 30000
            > a#2 returns "a!", at 30000
               8 <7        a#2 succeeded: "a!"
               9 <8        run cancelled: enough
        "#]]);
}

#[test]
fn a_paused_run_that_fails_is_undone_when_it_is_resumed() {
    Case::of(vec![undoable("a"), step("b")])
        .start()
        .ok("a", 1)
        .pause()
        .quietly()
        .fails("b", 1, StepError::new("no"))
        .status(RunStatus::Paused)
        .resume()
        .status(RunStatus::Compensating)
        .ok("a", 2)
        .then(expect![[r#"
            > b#1 fails (Plain), at 0
               6 <4        b#1 failed: error `no`, fail
               7 <6        run failing in b: error `no`, forced at 30000
               8 <7        a held, due: compensate attempt 1
            > resume, at 0
               9 request   run resumed
              10 <9        a#2 called: compensate attempt 1, until 300000
            > a#2 returns "a!", at 0
              11 <10       a#2 succeeded: "a!"
              12 <11       run failed in b: error `no`
        "#]]);
}

fn child_of(input: serde_json::Value) -> OpRequest {
    OpRequest::Run { input: json(input) }
}

fn cancelled() -> ChildOutcome {
    ChildOutcome::Cancelled { reason: None, not_undone: Vec::new() }
}

#[test]
fn a_completed_child_is_undone_between_the_steps_around_it() {
    Case::of(vec![undoable("a"), step("b"), undoable("c"), step("d")])
        .start()
        .ok("a", 1)
        .asks("b", 1, "work", child_of(j!(1)))
        .undoable_child_completes("r~c1", j!(2))
        .ok("b", 1)
        .ok("c", 1)
        .quietly()
        .fails("d", 1, StepError::new("no"))
        .ok("c", 2)
        .status(RunStatus::Compensating)
        .cancel()
        .pause()
        .child_ends("r~c1~undo", cancelled())
        .ok("a", 2)
        .then(expect![[r#"
            > d#1 fails (Plain), at 0
              12 <11       d#1 failed: error `no`, fail
              13 <12       run failing in d: error `no`, forced at 30000
              14 <13       c#2 called: compensate attempt 1, until 300000
            > c#2 returns "c!", at 0
              15 <14       c#2 succeeded: "c!"
              16 <15       b: r~c1 is undone by r~c1~undo
                start r~c1~undo to undo r~c1
            > cancel, at 0
            > pause, at 0
            > child ended, at 0
              17 child     b: r~c1 undone
              18 <17       a#2 called: compensate attempt 1, until 300000
            > a#2 returns "a!", at 0
              19 <18       a#2 succeeded: "a!"
              20 <19       run failed in d: error `no`
        "#]]);
}

#[test]
fn a_child_is_undone_before_its_lane_ends_while_the_run_goes_on() {
    let race = joining("race", Join::First, vec![("x", vec![step("a"), step("b")]), ("y", vec![step("c")])]);
    Case::of(vec![race, step("d")])
        .start()
        .asks("race/x/a", 1, "work", child_of(j!(1)))
        .undoable_child_completes("r~c1", j!(2))
        .ok("race/x/a", 1)
        .quietly()
        .ok("race/y/c", 1)
        .stopped("race/x/b", 1)
        .ok("d", 1)
        .child_ends("r~c1~undo", cancelled())
        .then(expect![[r#"
            > race/y/c#1 returns "race/y/c!", at 0
              10 <4        race/y/c#1 succeeded: "race/y/c!"
              11 <10       race/y through, result in 10
              12 <11       race joined: [y 10]
              13 <12       race/x lost, forced at 30000
              14 <12       race completed, result in 12
              15 <14       d#1 called: step attempt 1
                stop race/x/b#1: ending
            > race/x/b#1 stopped, at 0
              16 <9        race/x/b#1 cancelled
              17 <16       race/x/a: r~c1 is undone by r~c1~undo
                start r~c1~undo to undo r~c1
            > d#1 returns "d!", at 0
              18 <15       d#1 succeeded: "d!"
            > child ended, at 0
              19 child     race/x/a: r~c1 undone
              20 <19       race/x stopped
              21 <20       run completed, output in 18
        "#]]);
}

#[test]
fn a_killed_run_leaves_what_undoes_its_child_alone() {
    Case::of(vec![step("a"), step("b")])
        .start()
        .asks("a", 1, "work", child_of(j!(1)))
        .undoable_child_completes("r~c1", j!(2))
        .ok("a", 1)
        .quietly()
        .fails("b", 1, StepError::new("no"))
        .kill()
        .then(expect![[r#"
            > b#1 fails (Plain), at 0
               8 <7        b#1 failed: error `no`, fail
               9 <8        run failing in b: error `no`, forced at 30000
              10 <9        a: r~c1 is undone by r~c1~undo
                start r~c1~undo to undo r~c1
            > kill, at 0
              11 request   kill requested: now, forced at 0
              12 <11       run failed in b: error `no`
        "#]]);
}

#[test]
fn a_step_that_fails_after_it_was_told_to_stop_may_have_acted_and_is_undone() {
    Case::of(vec![undoable("a")])
        .start()
        .quietly()
        .cancel()
        .fails("a", 1, StepError::new("aborted"))
        .ok("a", 2)
        .then(expect![[r#"
            > cancel, at 0
               3 request   cancel requested: enough, forced at 30000
                stop a#1: ending
            > a#1 fails (Plain), at 0
               4 <2        a#1 failed: error `aborted`, fail, told to stop
               5 <4        a#2 called: compensate attempt 1, until 300000
            > a#2 returns "a!", at 0
               6 <5        a#2 succeeded: "a!"
               7 <6        run cancelled: enough
        "#]]);
}

#[test]
fn so_is_one_in_a_run_that_has_timed_out_and_its_soft_failure_does_not_matter() {
    Case::with(plan(vec![undoable("a")]), |plan| plan.timeout_ms = Some(500))
        .start()
        .quietly()
        .tick_after(500)
        .fails("a", 1, StepError::proceed("aborted"))
        .ok("a", 2)
        .then(expect![[r#"
            > tick, at 500
               3 clock     run failing: run_timeout `the run took longer than 500 ms`, forced at 30500
                stop a#1: ending
            > a#1 fails (Continue), at 500
               4 <2        a#1 failed: error `aborted`, continue, told to stop
               5 <4        a#2 called: compensate attempt 1, until 300500
            > a#2 returns "a!", at 500
               6 <5        a#2 succeeded: "a!"
               7 <6        run failed: run_timeout `the run took longer than 500 ms`
        "#]]);
}

#[test]
fn so_is_one_in_a_lane_that_lost_wherever_it_is_inside() {
    let each = for_each("all", 1, vec![undoable("i")]);
    let race = joining("p", Join::First, vec![("x", vec![step("a")]), ("y", vec![each])]);
    Case::of(vec![race])
        .start()
        .gives("p/y/all", 1, j!([1]))
        .quietly()
        .ok("p/x/a", 1)
        .fails("p/y/all[0]/i", 1, StepError::new("aborted"))
        .ok("p/y/all[0]/i", 2)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > p/x/a#1 returns "p/x/a!", at 0
               8 <3        p/x/a#1 succeeded: "p/x/a!"
               9 <8        p/x through, result in 8
              10 <9        p joined: [x 8]
              11 <10       p/y lost, forced at 30000
              12 <10       p completed, result in 10
                stop p/y/all[0]/i#1: ending
            > p/y/all[0]/i#1 fails (Plain), at 0
              13 <7        p/y/all[0]/i#1 failed: error `aborted`, fail, told to stop
              14 <13       p/y/all[0]/i#2 called: compensate attempt 1, until 300000
            > p/y/all[0]/i#2 returns "p/y/all[0]/i!", at 0
              15 <14       p/y/all[0]/i#2 succeeded: "p/y/all[0]/i!"
              16 <15       p/y/all cancelled
              17 <15       p/y stopped
              18 <17       run completed, output in 10
        "#]]);
}

#[test]
fn one_that_fails_by_itself_while_its_block_fails_was_not_told_and_is_not_undone() {
    Case::of(vec![parallel("p", vec![("x", vec![undoable("a")]), ("y", vec![step("b")])])])
        .start()
        .fails("p/y/b", 1, StepError::new("no"))
        .quietly()
        .fails("p/x/a", 1, StepError::new("no, too"))
        .then(expect![[r#"
            > p/x/a#1 fails (Plain), at 0
               8 <3        p/x/a#1 failed: error `no, too`, fail
               9 <8        p failed because of p/y/b
              10 <9        run failed in p/y/b: error `no`
        "#]]);
}

/// What a failing block stops under a step: a wait that began before, one that is asked for later, and a child.
#[test]
fn a_step_whose_wait_ends_because_its_block_fails_is_undone_let_go_or_not() {
    let failing = || {
        let block = parallel("p", vec![("x", vec![undoable("a")]), ("y", vec![step("b")])]);
        Case::of(vec![block])
            .start()
            .asks("p/x/a", 1, "charge", OpRequest::Once(OnceRequest::Record(Ok(json(j!(1))))))
            .asks("p/x/a", 1, "x", OpRequest::Signal { timeout_ms: None, timeout_is_value: false })
    };
    let stopped = StepError::stop("the run is ending").code("cancelled");
    failing()
        .quietly()
        .fails("p/y/b", 1, StepError::new("no"))
        .fails("p/x/a", 1, stopped.clone())
        .ok("p/x/a", 2)
        .then(expect![[r#"
            > p/y/b#1 fails (Plain), at 0
               8 <4        p/y/b#1 failed: error `no`, fail
               9 <8        p/y failed in p/y/b
              10 <9        p failing because of p/y/b
              11 <10       p/x/a.2 ended: stopped
                answer p/x/a#1: operation 2
            > p/x/a#1 fails (Stop), at 0
              12 <3        p/x/a#1 cancelled
              13 <12       p failed because of p/y/b
              14 <13       run failing in p/y/b: error `no`, forced at 30000
              15 <14       p/x/a#2 called: compensate attempt 1, until 300000
            > p/x/a#2 returns "p/x/a!", at 0
              16 <15       p/x/a#2 succeeded: "p/x/a!"
              17 <16       run failed in p/y/b: error `no`
        "#]]);
    failing()
        .suspend_after("p/x/a", 1, &[1])
        .quietly()
        .fails("p/y/b", 1, StepError::new("no"))
        .ok("p/x/a", 2)
        .then(expect![[r#"
            > p/y/b#1 fails (Plain), at 0
               9 <4        p/y/b#1 failed: error `no`, fail
              10 <9        p/y failed in p/y/b
              11 <10       p failing because of p/y/b
              12 <11       p/x/a cancelled
              13 <12       p failed because of p/y/b
              14 <13       run failing in p/y/b: error `no`, forced at 30000
              15 <14       p/x/a#2 called: compensate attempt 1, until 300000
            > p/x/a#2 returns "p/x/a!", at 0
              16 <15       p/x/a#2 succeeded: "p/x/a!"
              17 <16       run failed in p/y/b: error `no`
        "#]]);
    Case::of(vec![parallel("p", vec![("x", vec![undoable("a")]), ("y", vec![step("b")])])])
        .start()
        .fails("p/y/b", 1, StepError::new("no"))
        .asks("p/x/a", 1, "", OpRequest::Sleep(5))
        .quietly()
        .fails("p/x/a", 1, stopped)
        .ok("p/x/a", 2)
        .then(expect![[r#"
            > p/x/a#1 fails (Stop), at 0
              10 <3        p/x/a#1 cancelled
              11 <10       p failed because of p/y/b
              12 <11       run failing in p/y/b: error `no`, forced at 30000
              13 <12       p/x/a#2 called: compensate attempt 1, until 300000
            > p/x/a#2 returns "p/x/a!", at 0
              14 <13       p/x/a#2 succeeded: "p/x/a!"
              15 <14       run failed in p/y/b: error `no`
        "#]]);
}

#[test]
fn a_step_that_was_let_go_and_whose_function_is_missing_now_is_undone_when_it_is_cancelled() {
    Case::of(vec![undoable("a")])
        .start()
        .asks("a", 1, "", OpRequest::Sleep(5))
        .suspend("a", 1)
        .tick_after(5)
        .function_missing("a", 2)
        .quietly()
        .cancel()
        .ok("a", 3)
        .then(expect![[r#"
            > cancel, at 5
               8 request   cancel requested: enough, forced at 30005
               9 <8        a cancelled
              10 <9        a#3 called: compensate attempt 1, until 300005
            > a#3 returns "a!", at 5
              11 <10       a#3 succeeded: "a!"
              12 <11       run cancelled: enough
        "#]]);
}

#[test]
fn a_step_whose_function_was_missing_from_the_beginning_is_not_undone() {
    Case::of(vec![undoable("a")]).start().function_missing("a", 1).quietly().cancel().then(expect![[r#"
        > cancel, at 0
           4 request   cancel requested: enough, forced at 30000
           5 <4        a cancelled
           6 <5        run cancelled: enough
    "#]]);
}

#[test]
fn what_a_cancelled_child_could_not_undo_is_told_by_its_parent() {
    let left = |node: &str| rival_core::event::NotUndone {
        node: rival_core::Path::from(node),
        failure: rival_core::FailureRecord::new("error", "stuck"),
    };
    let not_undone = vec![left("refund"), left("mail")];
    Case::of(vec![step("a")])
        .start()
        .asks("a", 1, "slow", OpRequest::Run { input: json(j!(1)) })
        .quietly()
        .cancel()
        .stopped("a", 1)
        .child_ends("r~c1", ChildOutcome::Cancelled { reason: None, not_undone })
        .then(expect![[r#"
            > cancel, at 0
               5 request   cancel requested: enough, forced at 30000
               6 <5        a.1 stopping
                cancel r~c1
                stop a#1: ending
            > a#1 stopped, at 0
               7 <2        a#1 cancelled
            > child ended, at 0
               8 child     a.1[0] r~c1 cancelled
               9 <8        run cancelled: enough, a not undone: ``refund` of run `r~c1` could not be undone: stuck, and 1 more`
        "#]]);
}

#[test]
fn a_run_that_completes_tells_what_could_not_be_undone_of_a_lane_that_lost() {
    let race = joining("p", Join::First, vec![("x", vec![step("a")]), ("y", vec![undoable("b"), step("c")])]);
    Case::of(vec![race])
        .start()
        .ok("p/y/b", 1)
        .ok("p/x/a", 1)
        .stopped("p/y/c", 1)
        .quietly()
        .fails("p/y/b", 2, StepError::stop("stuck"))
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > p/y/b#2 fails (Stop), at 0
              14 <13       p/y/b#2 failed: error `stuck`, fail
              15 <14       p/y stopped
              16 <15       run completed, output in 9, p/y/b not undone: `stuck`
        "#]]);
}

#[test]
fn the_state_of_a_call_is_recorded_when_it_times_out_is_stopped_or_left_behind() {
    let timed = step_with("a", |step| step.timeout_ms = Some(100));
    Case::of(vec![timed]).start().writes("a", 1, j!({"sent": 1})).quietly().tick_after(100).then(expect![[
        r#"
        > tick, at 100
           3 clock     a#1 failed: timeout ``a` took longer than 100 ms`, fail, state {"sent":1}
           4 <3        run failed in a: timeout ``a` took longer than 100 ms`
            stop a#1: timeout
    "#
    ]]);
    Case::of(vec![step("a")])
        .start()
        .writes("a", 1, j!({"sent": 2}))
        .quietly()
        .cancel()
        .tick_after(30_000)
        .then(expect![[r#"
            > cancel, at 0
               3 request   cancel requested: enough, forced at 30000
                stop a#1: ending
            > tick, at 30000
               4 clock     a#1 cancelled, forced, state {"sent":2}
               5 <4        run cancelled: enough
        "#]]);
    let state = Some(json(j!({"sent": 3})));
    Case::of(vec![step("a")])
        .start()
        .quietly()
        .cancel()
        .finish("a", 1, "stopped", rival_core::machine::CallOutcome::Stopped { state })
        .then(expect![[r#"
            > cancel, at 0
               3 request   cancel requested: enough, forced at 30000
                stop a#1: ending
            > a#1 stopped, at 0
               4 <2        a#1 cancelled, state {"sent":3}
               5 <4        run cancelled: enough
        "#]]);
    let mut let_go = Case::of(vec![step("a")])
        .start()
        .writes("a", 1, j!({"sent": 5}))
        .asks("a", 1, "", OpRequest::Sleep(5))
        .suspend("a", 1)
        .cancel();
    let seq = let_go.state.nodes.remove(&rival_core::Path::from("a")).and_then(|node| node.state);
    let kept = seq.and_then(|seq| let_go.events.iter().find(|event| event.seq == seq)?.kind.state().cloned());
    assert_eq!(kept.map(|state| state.to_json()), Some(j!({"sent": 5})), "also of one that was let go");
    let once = step_with("a", |step| step.at_most_once = true);
    Case::of(vec![once]).start().writes("a", 1, j!({"sent": 4})).quietly().let_go().then(expect![[r#"
        > let go, at 0
           3 shutdown  a#1 failed: interrupted ``a` was interrupted and must not be called again; it may have acted`, fail, state {"sent":4}
           4 <3        run failed in a: interrupted ``a` was interrupted and must not be called again; it may have acted`
    "#]]);
}

#[test]
fn a_kill_ends_a_compensation_that_waits_for_its_next_attempt() {
    Case::of(vec![undoable("a"), step("b")])
        .start()
        .ok("a", 1)
        .fails("b", 1, StepError::new("no"))
        .fails("a", 2, StepError::new("stuck"))
        .quietly()
        .kill()
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > kill, at 0
               9 request   kill requested: now, forced at 0
              10 <9        a cancelled
              11 <10       run failed in b: error `no`
        "#]]);
}
