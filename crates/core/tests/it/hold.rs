//! Pause, resume, and an orderly stop: `machine/hold.rs`.

use expect_test::expect;
use rival_core::failure::StepError;
use rival_core::plan::SleepLength;
use rival_core::{NodeStatus, Plan, RunStatus};

use crate::support::{Case, attempts, plan, sleep, step, step_with, tried};

#[test]
fn a_pause_lets_the_call_finish_and_holds_what_is_next() {
    Case::of(vec![step("a"), step("b")])
        .start()
        .pause()
        .status(RunStatus::Paused)
        .pause()
        .ok("a", 1)
        .node("b", NodeStatus::Pending)
        .resume()
        .resume()
        .ok("b", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > pause, at 0
               3 request   run paused
            > pause, at 0
            > a#1 returns "a!", at 0
               4 <2        a#1 succeeded: "a!"
               5 <4        b held, due: step attempt 1
            > resume, at 0
               6 request   run resumed
               7 <6        b#1 called: step attempt 1
            > resume, at 0
            > b#1 returns "b!", at 0
               8 <7        b#1 succeeded: "b!"
               9 <8        run completed, output in 8
        "#]]);
}

#[test]
fn a_pause_that_ends_before_the_call_does_changes_nothing() {
    Case::of(vec![step("a"), step("b")]).start().pause().resume().ok("a", 1).ok("b", 1).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > pause, at 0
           3 request   run paused
        > resume, at 0
           4 request   run resumed
        > a#1 returns "a!", at 0
           5 <2        a#1 succeeded: "a!"
           6 <5        b#1 called: step attempt 1
        > b#1 returns "b!", at 0
           7 <6        b#1 succeeded: "b!"
           8 <7        run completed, output in 7
    "#]]);
}

#[test]
fn the_last_node_of_a_paused_run_completes_it() {
    Case::of(vec![step("a")]).start().pause().ok("a", 1).status(RunStatus::Completed).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > pause, at 0
           3 request   run paused
        > a#1 returns "a!", at 0
           4 <2        a#1 succeeded: "a!"
           5 <4        run completed, output in 4
    "#]]);
}

#[test]
fn a_hard_failure_of_a_paused_run_ends_it() {
    Case::of(vec![step("a")]).start().pause().fails("a", 1, StepError::new("no")).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > pause, at 0
           3 request   run paused
        > a#1 fails (Plain), at 0
           4 <2        a#1 failed: error `no`, fail
           5 <4        run failed in a: error `no`
    "#]]);
}

#[test]
fn a_call_times_out_while_paused_and_its_retry_waits_for_resume() {
    let a = step_with("a", |step| {
        step.timeout_ms = Some(100);
        step.on_timeout = rival_core::plan::OnTimeout::Retry;
        step.retry = attempts(2);
    });
    Case::of(vec![a])
        .start()
        .pause()
        .next_timer(Some(100))
        .tick_after(100)
        .next_timer(None)
        .tick_after(5_000)
        .status(RunStatus::Paused)
        .resume()
        .ok("a", 2)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1, until 100
            > pause, at 0
               3 request   run paused
            > tick, at 100
               4 clock     a#1 failed: timeout ``a` took longer than 100 ms`, retry at 1100
                stop a#1: timeout
            > tick, at 5100
            > resume, at 5100
               5 request   run resumed
               6 clock     a#2 called: step attempt 2, until 5200
            > a#2 returns "a!", at 5100
               7 <6        a#2 succeeded: "a!"
               8 <7        run completed, output in 7
        "#]]);
}

#[test]
fn a_retry_that_comes_due_while_paused_is_made_at_resume() {
    Case::of(vec![tried("a", 2)])
        .start()
        .fails("a", 1, StepError::new("no"))
        .pause()
        .tick_after(1_000)
        .resume()
        .ok("a", 2)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > pause, at 0
               4 request   run paused
            > tick, at 1000
            > resume, at 1000
               5 request   run resumed
               6 clock     a#2 called: step attempt 2
            > a#2 returns "a!", at 1000
               7 <6        a#2 succeeded: "a!"
               8 <7        run completed, output in 7
        "#]]);
}

#[test]
fn a_retry_that_is_not_due_at_resume_waits_on() {
    Case::of(vec![tried("a", 2)])
        .start()
        .fails("a", 1, StepError::new("no"))
        .pause()
        .after(400)
        .resume()
        .next_timer(Some(1_000))
        .tick_after(600)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > pause, at 0
               4 request   run paused
            > resume, at 400
               5 request   run resumed
            > tick, at 1000
               6 clock     a#2 called: step attempt 2
        "#]]);
}

#[test]
fn a_sleep_that_ends_while_paused_acts_at_resume() {
    Case::of(vec![sleep("z", SleepLength::ForMs(100)), step("a")])
        .start()
        .pause()
        .tick_after(100)
        .crash()
        .resume()
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        z sleeps until 100
            > pause, at 0
               3 request   run paused
            > tick, at 100
            > activate, at 100
            > resume, at 100
               4 request   run resumed
               5 clock     z slept
               6 <5        a#1 called: step attempt 1
        "#]]);
}

#[test]
fn a_sleep_whose_turn_comes_while_paused_begins_at_resume() {
    Case::of(vec![step("a"), sleep("z", SleepLength::ForMs(100))])
        .start()
        .pause()
        .ok("a", 1)
        .after(1_000)
        .resume()
        .tick_after(100)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > pause, at 0
               3 request   run paused
            > a#1 returns "a!", at 0
               4 <2        a#1 succeeded: "a!"
               5 <4        z held
            > resume, at 1000
               6 request   run resumed
               7 <6        z sleeps until 1100
            > tick, at 1100
               8 clock     z slept
               9 <8        run completed
        "#]]);
}

#[test]
fn a_computed_sleep_that_is_answered_while_paused_begins_then() {
    Case::of(vec![sleep("z", SleepLength::Computed("f".into())), step("a")])
        .start()
        .pause()
        .gives("z", 1, serde_json::json!({"forMs": 100}))
        .tick_after(100)
        .resume()
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        z#1 called: wait attempt 1
            > pause, at 0
               3 request   run paused
            > z#1 returns {"forMs":100}, at 0
               4 <2        z#1 succeeded: {"forMs":100}
               5 <4        z sleeps until 100
            > tick, at 100
            > resume, at 100
               6 request   run resumed
               7 clock     z slept
               8 <7        a#1 called: step attempt 1
        "#]]);
}

#[test]
fn a_queued_run_can_be_paused_and_resumed() {
    Case::of(vec![step("a")])
        .full()
        .start()
        .pause()
        .status(RunStatus::Paused)
        .roomy()
        .activate()
        .full()
        .resume()
        .status(RunStatus::Queued)
        .roomy()
        .activate()
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        (run) held
            > pause, at 0
               3 request   run paused
            > activate, at 0
            > resume, at 0
               4 request   run resumed
            > activate, at 0
               5 <4        (run) started
               6 <5        a#1 called: step attempt 1
        "#]]);
}

#[test]
fn the_deadline_of_a_paused_run_acts_at_resume_and_nothing_starts() {
    Case::with(plan(vec![step("a"), step("b")]), |plan| plan.timeout_ms = Some(1_000))
        .start()
        .pause()
        .ok("a", 1)
        .next_timer(None)
        .tick_after(2_000)
        .resume()
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started, until 1000
               2 <1        a#1 called: step attempt 1
            > pause, at 0
               3 request   run paused
            > a#1 returns "a!", at 0
               4 <2        a#1 succeeded: "a!"
               5 <4        b held, due: step attempt 1
            > tick, at 2000
            > resume, at 2000
               6 request   run resumed
               7 clock     run failing: run_timeout `the run took longer than 1000 ms`, forced at 32000
               8 <7        b cancelled
               9 <8        run failed: run_timeout `the run took longer than 1000 ms`
        "#]]);
}

#[test]
fn the_handler_of_a_paused_run_that_fails_waits_for_resume() {
    Case::with(Plan { on_error: Some("h".into()), ..plan(vec![step("a")]) }, |_| {})
        .start()
        .pause()
        .fails("a", 1, StepError::new("no"))
        .status(RunStatus::Paused)
        .next_timer(None)
        .crash()
        .resume()
        .status(RunStatus::Running)
        .ok("", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > pause, at 0
               3 request   run paused
            > a#1 fails (Plain), at 0
               4 <2        a#1 failed: error `no`, fail
               5 <4        run failing in a: error `no`, forced at 30000
               6 <5        (run) held, due: onError attempt 1
            > activate, at 0
            > resume, at 0
               7 request   run resumed
               8 <7        (run)#1 called: onError attempt 1, until 300000
            > (run)#1 returns "!", at 0
               9 <8        (run)#1 succeeded: "!"
              10 <9        run failed in a: error `no`
        "#]]);
}

#[test]
fn the_handler_of_a_step_that_fails_while_paused_waits_for_resume() {
    let a = step_with("a", |step| step.on_error = Some("h".into()));
    Case::of(vec![a])
        .start()
        .pause()
        .fails("a", 1, StepError::new("no"))
        .node("a", NodeStatus::Failed)
        .resume()
        .ok("a", 2)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > pause, at 0
               3 request   run paused
            > a#1 fails (Plain), at 0
               4 <2        a#1 failed: error `no`, fail
               5 <4        a held, due: onError attempt 1
            > resume, at 0
               6 request   run resumed
               7 <6        a#2 called: onError attempt 1, until 300000
            > a#2 returns "a!", at 0
               8 <7        a#2 succeeded: "a!"
               9 <8        run failed in a: error `no`
        "#]]);
}

#[test]
fn an_orderly_stop_lets_go_of_calls_and_never_counts() {
    let mut case = Case::of(vec![tried("a", 1)]).start();
    for call in 1..=7 {
        case = case.full().let_go().ok("a", call).roomy().activate();
    }
    assert_eq!(case.state.node(&"a".into()).map(|node| node.interruptions), Some(0));
    case.quietly().ok("a", 8).status(RunStatus::Completed).then(expect![[r#"
        > a#8 returns "a!", at 0
          17 <16       a#8 succeeded: "a!"
          18 <17       run completed, output in 17
    "#]]);
}

#[test]
fn an_orderly_stop_is_followed_by_the_same_attempt_under_a_new_number() {
    Case::of(vec![tried("a", 2)])
        .start()
        .fails("a", 1, StepError::new("no"))
        .tick_after(1_000)
        .full()
        .let_go()
        .roomy()
        .activate()
        .fails("a", 3, StepError::new("no"))
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > tick, at 1000
               4 clock     a#2 called: step attempt 2
            > let go, at 1000
               5 shutdown  a#2 lost: shutdown
            > activate, at 1000
               6 <5        a#3 called: step attempt 2
            > a#3 fails (Plain), at 1000
               7 <6        a#3 failed: error `no`, fail
               8 <7        run failed in a: error `no`
        "#]]);
}

#[test]
fn an_orderly_stop_fails_a_step_that_is_at_most_once() {
    let a = step_with("a", |step| step.at_most_once = true);
    Case::of(vec![a]).start().full().let_go().status(RunStatus::Failed).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > let go, at 0
           3 shutdown  a#1 failed: interrupted ``a` was interrupted and must not be called again; it may have acted`, fail
           4 <3        run failed in a: interrupted ``a` was interrupted and must not be called again; it may have acted`
    "#]]);
}

#[test]
fn nothing_starts_in_the_turn_that_lets_go() {
    let once = step_with("a", |step| {
        step.at_most_once = true;
        step.continue_on_error = true;
    });
    Case::of(vec![once, step("b")]).start().let_go().activate().ok("b", 1).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > let go, at 0
           3 shutdown  a#1 failed: interrupted ``a` was interrupted and must not be called again; it may have acted`, continue
           4 <3        b held, due: step attempt 1
        > activate, at 0
           5 <4        b#1 called: step attempt 1
        > b#1 returns "b!", at 0
           6 <5        b#1 succeeded: "b!"
           7 <6        run completed, output in 6
    "#]]);
}

#[test]
fn an_orderly_stop_settles_the_calls_of_a_run_that_is_cancelled() {
    Case::of(vec![step("a")])
        .start()
        .cancel()
        .full()
        .let_go()
        .node("a", NodeStatus::Cancelled)
        .status(RunStatus::Cancelled)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > cancel, at 0
               3 request   cancel requested: enough, forced at 30000
                stop a#1: ending
            > let go, at 0
               4 shutdown  a#1 cancelled
               5 <4        run cancelled: enough
        "#]]);
}

#[test]
fn an_orderly_stop_while_failing_starts_only_the_handler_again() {
    let timed = |plan: &mut Plan| {
        plan.on_error = Some("h".into());
        plan.timeout_ms = Some(1_000);
    };
    Case::with(plan(vec![step("a")]), timed)
        .start()
        .tick_after(1_000)
        .full()
        .let_go()
        .roomy()
        .activate()
        .full()
        .let_go()
        .roomy()
        .activate()
        .ok("", 2)
        .node("a", NodeStatus::Cancelled)
        .then(expect![[r#"
            > start, at 0
               1 request   run started, until 1000
               2 <1        a#1 called: step attempt 1
            > tick, at 1000
               3 clock     run failing: run_timeout `the run took longer than 1000 ms`, forced at 31000
                stop a#1: ending
            > let go, at 1000
               4 shutdown  a#1 cancelled
               5 <4        (run) held, due: onError attempt 1
            > activate, at 1000
               6 <5        (run)#1 called: onError attempt 1, until 301000
            > let go, at 1000
               7 shutdown  (run)#1 lost: shutdown
            > activate, at 1000
               8 <7        (run)#2 called: onError attempt 1, until 301000
            > (run)#2 returns "!", at 1000
               9 <8        (run)#2 succeeded: "!"
              10 <9        run failed: run_timeout `the run took longer than 1000 ms`
        "#]]);
}

#[test]
fn timers_that_come_due_while_the_engine_stops_hold_what_follows() {
    Case::of(vec![tried("a", 2), sleep("z", SleepLength::ForMs(10)), step("b")])
        .start()
        .fails("a", 1, StepError::new("no"))
        .full()
        .tick_after(1_000)
        .roomy()
        .activate()
        .ok("a", 2)
        .full()
        .tick_after(10)
        .roomy()
        .activate()
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, retry at 1000
            > tick, at 1000
               4 clock     a held, due: step attempt 2
            > activate, at 1000
               5 <4        a#2 called: step attempt 2
            > a#2 returns "a!", at 1000
               6 <5        a#2 succeeded: "a!"
               7 <6        z sleeps until 1010
            > tick, at 1010
               8 clock     z slept
               9 <8        b held, due: step attempt 1
            > activate, at 1010
              10 <9        b#1 called: step attempt 1
        "#]]);
}
