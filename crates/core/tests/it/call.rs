//! The life of a call: `machine/call.rs`.

use std::time::Duration;

use expect_test::expect;
use rival_core::failure::StepError;
use rival_core::machine::{CallOutcome, MachineInput};
use rival_core::plan::{BackoffKind, OnTimeout, RetryPolicy};
use rival_core::{NodeStatus, Path, RunStatus, Value};
use serde_json::json as j;

use crate::support::{Case, attempts, json, step, step_with, tried};

#[test]
fn a_call_that_returns_lets_the_next_step_start() {
    Case::of(vec![step("a"), step("b")])
        .start()
        .status(RunStatus::Running)
        .node("a", NodeStatus::Running)
        .node("b", NodeStatus::Pending)
        .ok("a", 1)
        .ok("b", 1)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 returns "a!", at 0
               3 <2        a#1 succeeded: "a!"
               4 <3        b#1 called: step attempt 1
            > b#1 returns "b!", at 0
               5 <4        b#1 succeeded: "b!"
               6 <5        run completed, output in 5
        "#]]);
}

#[test]
fn a_plain_error_in_a_plain_step_fails_the_run_and_later_steps_never_run() {
    Case::of(vec![step("a"), step("b"), step("c")])
        .start()
        .ok("a", 1)
        .fails("b", 1, StepError::new("no"))
        .status(RunStatus::Failed)
        .node("b", NodeStatus::Failed)
        .node("c", NodeStatus::Pending)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 returns "a!", at 0
               3 <2        a#1 succeeded: "a!"
               4 <3        b#1 called: step attempt 1
            > b#1 fails (Plain), at 0
               5 <4        b#1 failed: error `no`, fail
               6 <5        run failed in b: error `no`
        "#]]);
}

#[test]
fn a_plain_error_is_retried_while_attempts_remain() {
    Case::of(vec![tried("a", 3)])
        .start()
        .fails("a", 1, StepError::new("no"))
        .node("a", NodeStatus::WaitingRetry)
        .status(RunStatus::Waiting)
        .next_timer(Some(1_000))
        .tick_after(999)
        .tick_after(1)
        .fails("a", 2, StepError::new("no"))
        .next_timer(Some(3_000))
        .tick_after(2_000)
        .ok("a", 3)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > tick, at 999
            > tick, at 1000
               4 clock     a#2 called: step attempt 2
            > a#2 fails (Plain), at 1000
               5 <4        a#2 failed: error `no`, retry at 3000
            > tick, at 3000
               6 clock     a#3 called: step attempt 3
            > a#3 returns "a!", at 3000
               7 <6        a#3 succeeded: "a!"
               8 <7        run completed, output in 7
        "#]]);
}

#[test]
fn a_plain_error_at_the_last_attempt_fails() {
    Case::of(vec![tried("a", 2)])
        .start()
        .fails("a", 1, StepError::new("first"))
        .tick_after(1_000)
        .fails("a", 2, StepError::new("second"))
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `first`, retry at 1000
            > tick, at 1000
               4 clock     a#2 called: step attempt 2
            > a#2 fails (Plain), at 1000
               5 <4        a#2 failed: error `second`, fail
               6 <5        run failed in a: error `second`
        "#]]);
}

#[test]
fn stop_ends_the_step_even_if_attempts_remain() {
    Case::of(vec![tried("a", 9)]).start().fails("a", 1, StepError::stop("never")).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > a#1 fails (Stop), at 0
           3 <2        a#1 failed: error `never`, fail
           4 <3        run failed in a: error `never`
    "#]]);
}

#[test]
fn continue_records_the_failure_and_goes_on() {
    Case::of(vec![tried("a", 9), step("b")])
        .start()
        .fails("a", 1, StepError::proceed("meh"))
        .node("a", NodeStatus::Failed)
        .ok("b", 1)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Continue), at 0
               3 <2        a#1 failed: error `meh`, continue
               4 <3        b#1 called: step attempt 1
            > b#1 returns "b!", at 0
               5 <4        b#1 succeeded: "b!"
               6 <5        run completed, output in 5
        "#]]);
}

#[test]
fn a_soft_failure_at_the_end_completes_the_run_without_output() {
    Case::of(vec![step("a"), step("b")])
        .start()
        .ok("a", 1)
        .fails("b", 1, StepError::proceed("meh"))
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 returns "a!", at 0
               3 <2        a#1 succeeded: "a!"
               4 <3        b#1 called: step attempt 1
            > b#1 fails (Continue), at 0
               5 <4        b#1 failed: error `meh`, continue
               6 <5        run completed
        "#]]);
}

#[test]
fn continue_on_error_goes_on_after_the_last_attempt() {
    let soft = step_with("a", |step| {
        step.retry = attempts(2);
        step.continue_on_error = true;
    });
    Case::of(vec![soft, step("b")])
        .start()
        .fails("a", 1, StepError::new("no"))
        .tick_after(1_000)
        .fails("a", 2, StepError::stop("no"))
        .ok("b", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > tick, at 1000
               4 clock     a#2 called: step attempt 2
            > a#2 fails (Stop), at 1000
               5 <4        a#2 failed: error `no`, continue
               6 <5        b#1 called: step attempt 1
            > b#1 returns "b!", at 1000
               7 <6        b#1 succeeded: "b!"
               8 <7        run completed, output in 7
        "#]]);
}

#[test]
fn an_error_that_asks_for_ten_attempts_gets_the_two_that_are_allowed() {
    let error = || StepError::retry("busy").max_attempts(10);
    Case::of(vec![tried("a", 2)])
        .start()
        .fails("a", 1, error())
        .tick_after(1_000)
        .fails("a", 2, error())
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Retry), at 0
               3 <2        a#1 failed: error `busy`, retry at 1000
            > tick, at 1000
               4 clock     a#2 called: step attempt 2
            > a#2 fails (Retry), at 1000
               5 <4        a#2 failed: error `busy`, fail
               6 <5        run failed in a: error `busy`
        "#]]);
}

#[test]
fn an_error_that_asks_for_three_attempts_gets_them_when_nothing_is_configured() {
    let error = || StepError::retry("busy").max_attempts(3);
    Case::of(vec![step("a")])
        .start()
        .fails("a", 1, error())
        .tick_after(1_000)
        .fails("a", 2, error())
        .tick_after(2_000)
        .fails("a", 3, error())
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Retry), at 0
               3 <2        a#1 failed: error `busy`, retry at 1000
            > tick, at 1000
               4 clock     a#2 called: step attempt 2
            > a#2 fails (Retry), at 1000
               5 <4        a#2 failed: error `busy`, retry at 3000
            > tick, at 3000
               6 clock     a#3 called: step attempt 3
            > a#3 fails (Retry), at 3000
               7 <6        a#3 failed: error `busy`, fail
               8 <7        run failed in a: error `busy`
        "#]]);
}

#[test]
fn an_error_that_asks_for_fewer_attempts_than_configured_gets_fewer() {
    let error = || StepError::retry("busy").max_attempts(2);
    Case::of(vec![tried("a", 5)])
        .start()
        .fails("a", 1, error())
        .tick_after(1_000)
        .fails("a", 2, error())
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Retry), at 0
               3 <2        a#1 failed: error `busy`, retry at 1000
            > tick, at 1000
               4 clock     a#2 called: step attempt 2
            > a#2 fails (Retry), at 1000
               5 <4        a#2 failed: error `busy`, fail
               6 <5        run failed in a: error `busy`
        "#]]);
}

#[test]
fn an_error_that_asks_for_a_retry_without_numbers_gets_one_attempt_by_default() {
    Case::of(vec![step("a")]).start().fails("a", 1, StepError::retry("busy")).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > a#1 fails (Retry), at 0
           3 <2        a#1 failed: error `busy`, fail
           4 <3        run failed in a: error `busy`
    "#]]);
}

#[test]
fn the_errors_own_backoff_decides_the_delay() {
    let configured = step_with("a", |step| {
        step.retry = RetryPolicy { backoff_ms: Some(50), ..attempts(3) };
    });
    let error = StepError::retry("busy").backoff(BackoffKind::Exponential, Duration::from_millis(7));
    Case::of(vec![configured])
        .start()
        .fails("a", 1, error)
        .next_timer(Some(7))
        .tick_after(7)
        .fails("a", 2, StepError::new("no"))
        .next_timer(Some(107))
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Retry), at 0
               3 <2        a#1 failed: error `busy`, retry at 7
            > tick, at 7
               4 clock     a#2 called: step attempt 2
            > a#2 fails (Plain), at 7
               5 <4        a#2 failed: error `no`, retry at 107
        "#]]);
}

#[test]
fn a_step_that_skips_is_skipped_and_the_run_goes_on() {
    Case::of(vec![step("a"), step("b")])
        .start()
        .skips("a", 1)
        .node("a", NodeStatus::Skipped)
        .ok("b", 1)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 skips, at 0
               3 <2        a#1 succeeded: null, skipped
               4 <3        b#1 called: step attempt 1
            > b#1 returns "b!", at 0
               5 <4        b#1 succeeded: "b!"
               6 <5        run completed, output in 5
        "#]]);
}

#[test]
fn a_timeout_stops_the_step_and_its_late_result_is_ignored() {
    let timed = step_with("a", |step| {
        step.timeout_ms = Some(100);
        step.retry = attempts(3);
        step.on_error = Some("h".into());
    });
    Case::of(vec![timed])
        .start()
        .next_timer(Some(100))
        .tick_after(99)
        .tick_after(1)
        .ok("a", 1)
        .stopped("a", 1)
        .ok("a", 2)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1, until 100
            > tick, at 99
            > tick, at 100
               3 clock     a#1 failed: timeout ``a` took longer than 100 ms`, fail
               4 <3        a#2 called: onError attempt 1, until 300100
                stop a#1: timeout
            > a#1 returns "a!", at 100
            > a#1 stopped, at 100
            > a#2 returns "a!", at 100
               5 <4        a#2 succeeded: "a!"
               6 <5        run failed in a: timeout ``a` took longer than 100 ms`
        "#]]);
}

fn timed_and_tried(max: u32) -> Case {
    Case::of(vec![step_with("a", |step| {
        step.timeout_ms = Some(100);
        step.on_timeout = OnTimeout::Retry;
        step.retry = attempts(max);
    })])
}

#[test]
fn a_timeout_that_retries_can_succeed_later() {
    timed_and_tried(2)
        .start()
        .tick_after(100)
        .node("a", NodeStatus::WaitingRetry)
        .ok("a", 1)
        .tick_after(1_000)
        .ok("a", 1)
        .ok("a", 2)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1, until 100
            > tick, at 100
               3 clock     a#1 failed: timeout ``a` took longer than 100 ms`, retry at 1100
                stop a#1: timeout
            > a#1 returns "a!", at 100
            > tick, at 1100
               4 clock     a#2 called: step attempt 2, until 1200
            > a#1 returns "a!", at 1100
            > a#2 returns "a!", at 1100
               5 <4        a#2 succeeded: "a!"
               6 <5        run completed, output in 5
        "#]]);
}

#[test]
fn a_timeout_that_retries_is_exhausted_at_the_last_attempt() {
    timed_and_tried(2).start().tick_after(100).tick_after(1_000).tick_after(100).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1, until 100
        > tick, at 100
           3 clock     a#1 failed: timeout ``a` took longer than 100 ms`, retry at 1100
            stop a#1: timeout
        > tick, at 1100
           4 clock     a#2 called: step attempt 2, until 1200
        > tick, at 1200
           5 clock     a#2 failed: timeout ``a` took longer than 100 ms`, fail
           6 <5        run failed in a: timeout ``a` took longer than 100 ms`
            stop a#2: timeout
    "#]]);
}

#[test]
fn a_soft_step_goes_on_after_its_timeout() {
    let soft = step_with("a", |step| {
        step.timeout_ms = Some(100);
        step.continue_on_error = true;
    });
    Case::of(vec![soft, step("b")]).start().tick_after(150).ok("b", 1).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1, until 100
        > tick, at 150
           3 clock     a#1 failed: timeout ``a` took longer than 100 ms`, continue
           4 <3        b#1 called: step attempt 1
            stop a#1: timeout
        > b#1 returns "b!", at 150
           5 <4        b#1 succeeded: "b!"
           6 <5        run completed, output in 5
    "#]]);
}

fn handled() -> Case {
    Case::of(vec![
        step_with("a", |step| {
            step.on_error = Some("h".into());
            step.retry = attempts(2);
        }),
        step("b"),
    ])
}

#[test]
fn the_handler_of_a_step_is_called_once_at_its_terminal_failure() {
    handled()
        .start()
        .fails("a", 1, StepError::new("no"))
        .tick_after(1_000)
        .fails("a", 2, StepError::new("no"))
        .status(RunStatus::Running)
        .node("a", NodeStatus::Failed)
        .ok("a", 3)
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > tick, at 1000
               4 clock     a#2 called: step attempt 2
            > a#2 fails (Plain), at 1000
               5 <4        a#2 failed: error `no`, fail
               6 <5        a#3 called: onError attempt 1, until 301000
            > a#3 returns "a!", at 1000
               7 <6        a#3 succeeded: "a!"
               8 <7        run failed in a: error `no`
        "#]]);
}

#[test]
fn the_handler_of_a_step_is_called_at_a_soft_failure_before_the_run_goes_on() {
    handled()
        .start()
        .fails("a", 1, StepError::proceed("meh"))
        .ok("a", 2)
        .ok("b", 1)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Continue), at 0
               3 <2        a#1 failed: error `meh`, continue
               4 <3        a#2 called: onError attempt 1, until 300000
            > a#2 returns "a!", at 0
               5 <4        a#2 succeeded: "a!"
               6 <5        b#1 called: step attempt 1
            > b#1 returns "b!", at 0
               7 <6        b#1 succeeded: "b!"
               8 <7        run completed, output in 7
        "#]]);
}

#[test]
fn a_failing_handler_changes_nothing() {
    handled()
        .start()
        .fails("a", 1, StepError::proceed("meh"))
        .fails("a", 2, StepError::stop("the handler is broken"))
        .node("a", NodeStatus::Failed)
        .ok("b", 1)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Continue), at 0
               3 <2        a#1 failed: error `meh`, continue
               4 <3        a#2 called: onError attempt 1, until 300000
            > a#2 fails (Stop), at 0
               5 <4        a#2 failed: error `the handler is broken`, fail
               6 <5        b#1 called: step attempt 1
            > b#1 returns "b!", at 0
               7 <6        b#1 succeeded: "b!"
               8 <7        run completed, output in 7
        "#]]);
}

#[test]
fn a_handler_that_hangs_times_out_and_changes_nothing() {
    handled()
        .start()
        .fails("a", 1, StepError::proceed("meh"))
        .tick_after(300_000)
        .ok("b", 1)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Continue), at 0
               3 <2        a#1 failed: error `meh`, continue
               4 <3        a#2 called: onError attempt 1, until 300000
            > tick, at 300000
               5 clock     a#2 failed: timeout `the handler of `a` took longer than 300000 ms`, fail
               6 <5        b#1 called: step attempt 1
                stop a#2: timeout
            > b#1 returns "b!", at 300000
               7 <6        b#1 succeeded: "b!"
               8 <7        run completed, output in 7
        "#]]);
}

#[test]
fn a_handler_that_asks_to_skip_does_not_make_its_step_skipped() {
    handled()
        .start()
        .fails("a", 1, StepError::proceed("meh"))
        .skips("a", 2)
        .node("a", NodeStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Continue), at 0
               3 <2        a#1 failed: error `meh`, continue
               4 <3        a#2 called: onError attempt 1, until 300000
            > a#2 skips, at 0
               5 <4        a#2 succeeded: null
               6 <5        b#1 called: step attempt 1
        "#]]);
}

#[test]
fn results_of_other_calls_than_the_current_one_are_ignored() {
    Case::of(vec![tried("a", 2), step("b")])
        .start()
        .ok("a", 2)
        .ok("a", 0)
        .ok("b", 1)
        .ok("nowhere", 1)
        .fails("a", 1, StepError::new("no"))
        .fails("a", 1, StepError::new("again"))
        .tick_after(1_000)
        .ok("a", 1)
        .ok("a", 2)
        .ok("a", 2)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#2 returns "a!", at 0
            > a#0 returns "a!", at 0
            > b#1 returns "b!", at 0
            > nowhere#1 returns "nowhere!", at 0
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > a#1 fails (Plain), at 0
            > tick, at 1000
               4 clock     a#2 called: step attempt 2
            > a#1 returns "a!", at 1000
            > a#2 returns "a!", at 1000
               5 <4        a#2 succeeded: "a!"
               6 <5        b#1 called: step attempt 1
            > a#2 returns "a!", at 1000
        "#]]);
}

#[test]
fn stale_wake_ups_do_nothing() {
    Case::of(vec![tried("a", 2)])
        .start()
        .tick()
        .tick_after(5)
        .fails("a", 1, StepError::new("no"))
        .tick_after(1_000)
        .tick()
        .tick()
        .ok("a", 2)
        .tick_after(9_999_999)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > tick, at 0
            > tick, at 5
            > a#1 fails (Plain), at 5
               3 <2        a#1 failed: error `no`, retry at 1005
            > tick, at 1005
               4 clock     a#2 called: step attempt 2
            > tick, at 1005
            > tick, at 1005
            > a#2 returns "a!", at 1005
               5 <4        a#2 succeeded: "a!"
               6 <5        run completed, output in 5
            > tick, at 10001004
        "#]]);
}

#[test]
fn a_call_that_stops_although_nobody_told_it_to_was_lost() {
    Case::of(vec![step("a")]).start().stopped("a", 1).ok("a", 2).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > a#1 stopped, at 0
           3 <2        a#1 lost: crash
           4 <3        a#2 called: step attempt 1
        > a#2 returns "a!", at 0
           5 <4        a#2 succeeded: "a!"
           6 <5        run completed, output in 5
    "#]]);
}

#[test]
fn state_is_recorded_with_success_and_failure_and_null_is_a_state() {
    let mut case = Case::of(vec![tried("a", 2)]).start();
    let state = Some(Value::null());
    let outcome = CallOutcome::Failure { error: StepError::new("no").details(Value::null()), state };
    case = case.finish("a", 1, "fails with state", outcome).tick_after(1_000);
    let state = Some(json(j!({"seen": 1})));
    let outcome = CallOutcome::Success { result: json(j!(1)), state, skipped: false };
    case = case.finish("a", 2, "returns with state", outcome);
    let node = case.state.node(&Path::from("a")).expect("a ran");
    assert_eq!(node.state, node.result);
    case.check();
}

#[test]
fn nothing_happens_before_the_start_and_a_run_starts_once() {
    let mut case = Case::of(vec![step("a")]);
    for input in [
        MachineInput::Tick,
        MachineInput::Pause { by: None },
        MachineInput::Resume { by: None },
        MachineInput::Activate { loaded: rival_core::Seq::ZERO },
        MachineInput::ReleaseNow,
    ] {
        assert!(case.decide(input).events.is_empty());
    }
    assert!(case.decide(MachineInput::Cancel { reason: None, by: None }).events.is_empty());
    case.start().start().then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > start, at 0
    "#]]);
}

#[test]
fn nothing_happens_after_the_end() {
    Case::of(vec![step("a")])
        .start()
        .ok("a", 1)
        .cancel()
        .pause()
        .resume()
        .let_go()
        .tick()
        .activate()
        .start()
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 returns "a!", at 0
               3 <2        a#1 succeeded: "a!"
               4 <3        run completed, output in 3
            > cancel, at 0
            > pause, at 0
            > resume, at 0
            > let go, at 0
            > tick, at 0
            > activate, at 0
            > start, at 0
        "#]]);
}

#[test]
fn time_never_goes_backwards_within_a_run() {
    let mut case = Case::of(vec![step("a"), step("b")]).after(500).start();
    case.now = rival_core::Time(100);
    let case = case.ok("a", 1);
    assert!(case.events.iter().all(|event| event.at == rival_core::Time(500)));
    case.check();
}
