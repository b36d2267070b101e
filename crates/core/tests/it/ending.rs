//! Failing, timing out, cancelling: `machine/ending.rs`.

use expect_test::expect;
use rival_core::failure::StepError;
use rival_core::machine::RunStart;
use rival_core::plan::SleepLength;
use rival_core::{NodeStatus, Plan, RunStatus, Value};

use crate::support::{Case, nested, nested_with, plan, sleep, step, step_with, tried};

fn with_handler() -> Case {
    Case::with(plan(vec![step("a"), step("b")]), |plan| plan.on_error = Some("h".into()))
}

fn with_timeout(plan: Plan) -> Case {
    Case::with(plan, |plan| plan.timeout_ms = Some(1_000))
}

#[test]
fn the_runs_handler_is_called_once_before_the_terminal_event() {
    with_handler()
        .start()
        .fails("a", 1, StepError::new("no"))
        .status(RunStatus::Running)
        .tick_after(60_000)
        .ok("", 1)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, fail
               4 <3        run failing in a: error `no`, forced at 30000
               5 <4        (run)#1 called: onError attempt 1, until 300000
            > tick, at 60000
            > (run)#1 returns "!", at 60000
               6 <5        (run)#1 succeeded: "!"
               7 <6        run failed in a: error `no`
        "#]]);
}

#[test]
fn a_failing_handler_of_the_run_changes_nothing() {
    with_handler()
        .start()
        .fails("a", 1, StepError::new("no"))
        .fails("", 1, StepError::new("a broken handler"))
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, fail
               4 <3        run failing in a: error `no`, forced at 30000
               5 <4        (run)#1 called: onError attempt 1, until 300000
            > (run)#1 fails (Plain), at 0
               6 <5        (run)#1 failed: error `a broken handler`, fail
               7 <6        run failed in a: error `no`
        "#]]);
}

#[test]
fn a_handler_of_the_run_that_hangs_times_out() {
    with_handler()
        .start()
        .fails("a", 1, StepError::new("no"))
        .next_timer(Some(300_000))
        .tick_after(300_000)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, fail
               4 <3        run failing in a: error `no`, forced at 30000
               5 <4        (run)#1 called: onError attempt 1, until 300000
            > tick, at 300000
               6 clock     (run)#1 failed: timeout `the run's handler took longer than 300000 ms`, fail
               7 <6        run failed in a: error `no`
                stop (run)#1: timeout
        "#]]);
}

#[test]
fn cancel_and_pause_do_nothing_to_a_run_that_is_failing() {
    with_handler()
        .start()
        .fails("a", 1, StepError::new("no"))
        .quietly()
        .cancel()
        .pause()
        .ok("", 1)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > cancel, at 0
            > pause, at 0
            > (run)#1 returns "!", at 0
               6 <5        (run)#1 succeeded: "!"
               7 <6        run failed in a: error `no`
        "#]]);
}

#[test]
fn a_run_that_takes_too_long_stops_its_call_and_fails() {
    with_timeout(plan(vec![step("a")]))
        .start()
        .next_timer(Some(1_000))
        .tick_after(1_000)
        .next_timer(Some(31_000))
        .tick_after(5)
        .stopped("a", 1)
        .node("a", NodeStatus::Cancelled)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started, until 1000
               2 <1        a#1 called: step attempt 1
            > tick, at 1000
               3 clock     run failing: run_timeout `the run took longer than 1000 ms`, forced at 31000
                stop a#1: ending
            > tick, at 1005
            > a#1 stopped, at 1005
               4 <2        a#1 cancelled
               5 <4        run failed: run_timeout `the run took longer than 1000 ms`
        "#]]);
}

#[test]
fn a_run_that_takes_too_long_calls_its_handler_once_all_has_settled() {
    with_timeout(Plan { on_error: Some("h".into()), ..plan(vec![step("a")]) })
        .start()
        .tick_after(1_000)
        .ok("a", 1)
        .next_timer(Some(301_000))
        .ok("", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started, until 1000
               2 <1        a#1 called: step attempt 1
            > tick, at 1000
               3 clock     run failing: run_timeout `the run took longer than 1000 ms`, forced at 31000
                stop a#1: ending
            > a#1 returns "a!", at 1000
               4 <2        a#1 succeeded: "a!"
               5 <4        (run)#1 called: onError attempt 1, until 301000
            > (run)#1 returns "!", at 1000
               6 <5        (run)#1 succeeded: "!"
               7 <6        run failed: run_timeout `the run took longer than 1000 ms`
        "#]]);
}

#[test]
fn a_run_that_takes_too_long_while_asleep_fails_at_once() {
    with_timeout(plan(vec![sleep("z", SleepLength::ForMs(5_000))])).start().tick_after(1_000).then(expect![
        [r#"
        > start, at 0
           1 request   run started, until 1000
           2 <1        z sleeps until 5000
        > tick, at 1000
           3 clock     run failing: run_timeout `the run took longer than 1000 ms`, forced at 31000
           4 <3        z cancelled
           5 <4        run failed: run_timeout `the run took longer than 1000 ms`
    "#]
    ]);
}

#[test]
fn a_run_that_takes_too_long_while_queued_fails_at_once() {
    with_timeout(plan(vec![step("a")])).full().start().tick_after(1_000).status(RunStatus::Failed).then(
        expect![[r#"
            > start, at 0
               1 request   run started, until 1000
               2 <1        (run) held
            > tick, at 1000
               3 clock     run failing: run_timeout `the run took longer than 1000 ms`, forced at 31000
               4 <3        run failed: run_timeout `the run took longer than 1000 ms`
        "#]],
    );
}

#[test]
fn the_handler_of_a_run_that_took_too_long_while_queued_waits_for_room() {
    with_timeout(Plan { on_error: Some("h".into()), ..plan(vec![step("a")]) })
        .full()
        .start()
        .tick_after(1_000)
        .roomy()
        .activate()
        .ok("", 1)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started, until 1000
               2 <1        (run) held
            > tick, at 1000
               3 clock     run failing: run_timeout `the run took longer than 1000 ms`, forced at 31000
               4 <3        (run) held, due: onError attempt 1
            > activate, at 1000
               5 <4        (run)#1 called: onError attempt 1, until 301000
            > (run)#1 returns "!", at 1000
               6 <5        (run)#1 succeeded: "!"
               7 <6        run failed: run_timeout `the run took longer than 1000 ms`
        "#]]);
}

#[test]
fn a_run_past_its_deadline_starts_nothing_when_it_is_loaded() {
    with_timeout(plan(vec![sleep("z", SleepLength::ForMs(500)), step("a")]))
        .start()
        .after(2_000)
        .crash()
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started, until 1000
               2 <1        z sleeps until 500
            > activate, at 2000
               3 clock     run failing: run_timeout `the run took longer than 1000 ms`, forced at 32000
               4 <3        z cancelled
               5 <4        run failed: run_timeout `the run took longer than 1000 ms`
        "#]]);
}

#[test]
fn a_start_may_override_the_timeout_and_the_retries_of_the_plan() {
    let start = RunStart { timeout_ms: Some(5), max_retries: Some(1), ..RunStart::new(Value::null()) };
    with_timeout(plan(vec![step("a")])).start_with(start).then(expect![[r#"
        > start, at 0
           1 request   run started, until 5, 1 retries left
           2 <1        a#1 called: step attempt 1
    "#]]);
}

#[test]
fn a_run_with_retries_left_names_the_run_that_goes_on() {
    Case::with(plan(vec![step("a")]), |plan| plan.max_retries = 2)
        .named("order-7")
        .start()
        .fails("a", 1, StepError::new("no"))
        .then(expect![[r#"
            > start, at 0
               1 request   run started, 2 retries left
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, fail
               4 <3        run failed in a: error `no`, retried as order-7~1
        "#]]);
    let start =
        RunStart { source: Some("order-7".into()), max_retries: Some(1), ..RunStart::new(Value::null()) };
    Case::of(vec![step("a")]).named("order-7~1").start_with(start).fails("a", 1, StepError::new("no")).then(
        expect![[r#"
            > start, at 0
               1 request   run started, 1 retries left, retries order-7
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, fail
               4 <3        run failed in a: error `no`, retried as order-7~2
        "#]],
    );
}

#[test]
fn a_cancel_while_running_waits_until_the_call_has_settled() {
    Case::of(vec![step("a"), step("b")])
        .start()
        .cancel()
        .status(RunStatus::Cancelling)
        .next_timer(Some(30_000))
        .stopped("a", 1)
        .node("a", NodeStatus::Cancelled)
        .status(RunStatus::Cancelled)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > cancel, at 0
               3 request   cancel requested: enough, forced at 30000
                stop a#1: ending
            > a#1 stopped, at 0
               4 <2        a#1 cancelled
               5 <4        run cancelled: enough
        "#]]);
}

#[test]
fn a_result_that_settles_during_a_cancel_is_recorded_and_nothing_follows() {
    Case::of(vec![step("a"), step("b")])
        .start()
        .cancel()
        .ok("a", 1)
        .node("a", NodeStatus::Completed)
        .status(RunStatus::Cancelled)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > cancel, at 0
               3 request   cancel requested: enough, forced at 30000
                stop a#1: ending
            > a#1 returns "a!", at 0
               4 <2        a#1 succeeded: "a!"
               5 <4        run cancelled: enough
        "#]]);
}

#[test]
fn an_error_that_settles_during_a_cancel_is_neither_retried_nor_handled() {
    let a = step_with("a", |step| {
        step.retry = crate::support::attempts(5);
        step.on_error = Some("h".into());
    });
    Case::of(vec![a]).start().cancel().fails("a", 1, StepError::new("no")).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > cancel, at 0
           3 request   cancel requested: enough, forced at 30000
            stop a#1: ending
        > a#1 fails (Plain), at 0
           4 <2        a#1 failed: error `no`, fail, told to stop
           5 <4        run cancelled: enough
    "#]]);
}

#[test]
fn a_call_that_does_not_settle_is_left_behind_after_the_grace_period() {
    Case::of(vec![nested("n", vec![step("a")])])
        .start()
        .cancel()
        .tick_after(29_999)
        .tick_after(1)
        .ok("n/a", 1)
        .node("n/a", NodeStatus::Cancelled)
        .node("n", NodeStatus::Cancelled)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        n started
               3 <2        n/a#1 called: step attempt 1
            > cancel, at 0
               4 request   cancel requested: enough, forced at 30000
                stop n/a#1: ending
            > tick, at 29999
            > tick, at 30000
               5 clock     n/a#1 cancelled, forced
               6 <5        n cancelled
               7 <5        run cancelled: enough
            > n/a#1 returns "n/a!", at 30000
        "#]]);
}

#[test]
fn a_timeout_during_a_cancel_settles_the_call() {
    let a = step_with("a", |step| step.timeout_ms = Some(100));
    Case::of(vec![a]).start().cancel().tick_after(100).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1, until 100
        > cancel, at 0
           3 request   cancel requested: enough, forced at 30000
            stop a#1: ending
        > tick, at 100
           4 clock     a#1 failed: timeout ``a` took longer than 100 ms`, fail, told to stop
           5 <4        run cancelled: enough
            stop a#1: timeout
    "#]]);
}

#[test]
fn a_cancel_while_waiting_to_retry_ends_at_once() {
    Case::of(vec![tried("a", 2)])
        .start()
        .fails("a", 1, StepError::new("no"))
        .cancel()
        .status(RunStatus::Cancelled)
        .tick_after(1_000)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > cancel, at 0
               4 request   cancel requested: enough, forced at 30000
               5 <4        a cancelled
               6 <5        run cancelled: enough
            > tick, at 1000
        "#]]);
}

#[test]
fn a_cancel_while_asleep_ends_at_once() {
    Case::of(vec![nested("n", vec![sleep("z", SleepLength::ForMs(100))])])
        .start()
        .cancel()
        .tick_after(100)
        .node("n/z", NodeStatus::Cancelled)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        n started
               3 <2        n/z sleeps until 100
            > cancel, at 0
               4 request   cancel requested: enough, forced at 30000
               5 <4        n/z cancelled
               6 <5        n cancelled
               7 <5        run cancelled: enough
            > tick, at 100
        "#]]);
}

#[test]
fn a_cancel_while_paused_ends_at_once() {
    Case::of(vec![step("a"), step("b")]).start().pause().ok("a", 1).cancel().then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > pause, at 0
           3 request   run paused
        > a#1 returns "a!", at 0
           4 <2        a#1 succeeded: "a!"
           5 <4        b held, due: step attempt 1
        > cancel, at 0
           6 request   cancel requested: enough, forced at 30000
           7 <6        b cancelled
           8 <7        run cancelled: enough
    "#]]);
}

#[test]
fn a_cancel_while_paused_waits_for_the_call_at_work() {
    Case::of(vec![step("a")]).start().pause().cancel().stopped("a", 1).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > pause, at 0
           3 request   run paused
        > cancel, at 0
           4 request   cancel requested: enough, forced at 30000
            stop a#1: ending
        > a#1 stopped, at 0
           5 <2        a#1 cancelled
           6 <5        run cancelled: enough
    "#]]);
}

#[test]
fn a_cancel_while_queued_ends_at_once() {
    Case::of(vec![step("a")]).full().start().cancel().status(RunStatus::Cancelled).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        (run) held
        > cancel, at 0
           3 request   cancel requested: enough, forced at 30000
           4 <3        run cancelled: enough
    "#]]);
}

#[test]
fn a_cancel_while_blocked_ends_at_once() {
    Case::of(vec![step("a")])
        .start()
        .function_missing("a", 1)
        .cancel()
        .node("a", NodeStatus::Cancelled)
        .status(RunStatus::Cancelled)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 has no function, at 0
               3 <2        a blocked: no `f`
            > cancel, at 0
               4 request   cancel requested: enough, forced at 30000
               5 <4        a cancelled
               6 <5        run cancelled: enough
        "#]]);
}

#[test]
fn a_call_that_blocks_during_a_cancel_is_cancelled() {
    Case::of(vec![step("a")])
        .start()
        .cancel()
        .function_missing("a", 1)
        .node("a", NodeStatus::Cancelled)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > cancel, at 0
               3 request   cancel requested: enough, forced at 30000
                stop a#1: ending
            > a#1 has no function, at 0
               4 <2        a blocked: no `f`
               5 <4        a cancelled
               6 <5        run cancelled: enough
        "#]]);
}

#[test]
fn a_second_cancel_does_nothing() {
    Case::of(vec![step("a")]).start().cancel().after(5).cancel().stopped("a", 1).cancel().then(expect![[
        r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > cancel, at 0
           3 request   cancel requested: enough, forced at 30000
            stop a#1: ending
        > cancel, at 5
        > a#1 stopped, at 5
           4 <2        a#1 cancelled
           5 <4        run cancelled: enough
        > cancel, at 5
    "#
    ]]);
}

#[test]
fn a_cancel_stops_the_handler_of_a_step_and_leaves_the_step_failed() {
    let a = step_with("a", |step| step.on_error = Some("h".into()));
    Case::of(vec![a])
        .start()
        .fails("a", 1, StepError::new("no"))
        .cancel()
        .stopped("a", 2)
        .node("a", NodeStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, fail
               4 <3        a#2 called: onError attempt 1, until 300000
            > cancel, at 0
               5 request   cancel requested: enough, forced at 30000
                stop a#2: ending
            > a#2 stopped, at 0
               6 <4        a#2 cancelled
               7 <6        run cancelled: enough
        "#]]);
}

#[test]
fn a_cancel_drops_a_handler_that_is_held() {
    let n = nested_with("n", vec![step("a")], |nested| nested.on_error = Some("h".into()));
    Case::of(vec![n])
        .start()
        .pause()
        .fails("n/a", 1, StepError::new("no"))
        .cancel()
        .node("n", NodeStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        n started
               3 <2        n/a#1 called: step attempt 1
            > pause, at 0
               4 request   run paused
            > n/a#1 fails (Plain), at 0
               5 <3        n/a#1 failed: error `no`, fail
               6 <5        n failed because of n/a
               7 <6        n held, due: onError attempt 1
            > cancel, at 0
               8 request   cancel requested: enough, forced at 30000
               9 <8        n cancelled
              10 <9        run cancelled: enough
        "#]]);
}

#[test]
fn the_runs_deadline_means_nothing_once_it_is_ending() {
    with_timeout(plan(vec![step("a")]))
        .start()
        .cancel()
        .next_timer(Some(30_000))
        .tick_after(1_000)
        .stopped("a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started, until 1000
               2 <1        a#1 called: step attempt 1
            > cancel, at 0
               3 request   cancel requested: enough, forced at 30000
                stop a#1: ending
            > tick, at 1000
            > a#1 stopped, at 1000
               4 <2        a#1 cancelled
               5 <4        run cancelled: enough
        "#]]);
}
