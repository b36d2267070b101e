//! Sleeps: `machine/sleep.rs`.

use expect_test::expect;
use rival_core::failure::StepError;
use rival_core::plan::SleepLength;
use rival_core::{NodeStatus, RunStatus};
use serde_json::json as j;

use crate::support::{Case, sleep, step};

fn computed() -> Case {
    Case::of(vec![sleep("z", SleepLength::Computed("f".into())), step("a")])
}

#[test]
fn a_sleep_for_a_time_ends_at_that_time() {
    Case::of(vec![sleep("z", SleepLength::ForMs(100)), step("a")])
        .start()
        .status(RunStatus::Waiting)
        .node("z", NodeStatus::Waiting)
        .next_timer(Some(100))
        .tick_after(99)
        .tick_after(1)
        .tick()
        .node("z", NodeStatus::Completed)
        .ok("a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        z sleeps until 100
            > tick, at 99
            > tick, at 100
               3 clock     z slept
               4 <3        a#1 called: step attempt 1
            > tick, at 100
            > a#1 returns "a!", at 100
               5 <4        a#1 succeeded: "a!"
               6 <5        run completed, output in 5
        "#]]);
}

#[test]
fn a_sleep_until_a_moment_ends_then() {
    Case::of(vec![sleep("z", SleepLength::UntilMs(40))]).start().tick_after(41).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        z sleeps until 40
        > tick, at 41
           3 clock     z slept
           4 <3        run completed
    "#]]);
}

#[test]
fn a_sleep_until_a_past_moment_ends_at_once() {
    Case::of(vec![sleep("z", SleepLength::UntilMs(-40)), step("a")]).start().then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        z sleeps until -40
           3 <2        z slept
           4 <3        a#1 called: step attempt 1
    "#]]);
}

#[test]
fn a_computed_sleep_asks_its_function_for_how_long() {
    computed().start().gives("z", 1, j!({"forMs": 25})).tick_after(25).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        z#1 called: wait attempt 1
        > z#1 returns {"forMs":25}, at 0
           3 <2        z#1 succeeded: {"forMs":25}
           4 <3        z sleeps until 25
        > tick, at 25
           5 clock     z slept
           6 <5        a#1 called: step attempt 1
    "#]]);
}

#[test]
fn a_computed_sleep_asks_its_function_for_until_when() {
    computed().start().after(10).gives("z", 1, j!({"untilMs": 10})).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        z#1 called: wait attempt 1
        > z#1 returns {"untilMs":10}, at 10
           3 <2        z#1 succeeded: {"untilMs":10}
           4 <3        z sleeps until 10
           5 <4        z slept
           6 <5        a#1 called: step attempt 1
    "#]]);
}

#[test]
fn a_bad_answer_fails_the_sleep() {
    computed().start().gives("z", 1, j!({"forMs": -1})).status(RunStatus::Failed).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        z#1 called: wait attempt 1
        > z#1 returns {"forMs":-1}, at 0
           3 <2        z#1 failed: not_json `a computed sleep must answer {"forMs": milliseconds} or {"untilMs": milliseconds since 1970}`, fail
           4 <3        run failed in z: not_json `a computed sleep must answer {"forMs": milliseconds} or {"untilMs": milliseconds since 1970}`
    "#]]);
}

#[test]
fn a_failing_function_fails_the_sleep() {
    computed().start().fails("z", 1, StepError::new("no")).status(RunStatus::Failed).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        z#1 called: wait attempt 1
        > z#1 fails (Plain), at 0
           3 <2        z#1 failed: error `no`, fail
           4 <3        run failed in z: error `no`
    "#]]);
}

#[test]
fn an_answer_during_a_cancel_starts_no_sleep() {
    computed()
        .start()
        .cancel()
        .gives("z", 1, j!({"forMs": 86_400_000}))
        .node("z", NodeStatus::Cancelled)
        .status(RunStatus::Cancelled)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        z#1 called: wait attempt 1
            > cancel, at 0
               3 request   cancel requested: enough, forced at 30000
                stop z#1: ending
            > z#1 returns {"forMs":86400000}, at 0
               4 <2        z#1 succeeded: {"forMs":86400000}
               5 <4        z cancelled
               6 <5        run cancelled: enough
        "#]]);
}

#[test]
fn a_sleep_goes_on_while_the_process_is_down() {
    Case::of(vec![sleep("z", SleepLength::ForMs(100)), step("a")])
        .start()
        .after(500)
        .crash()
        .ok("a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        z sleeps until 100
            > activate, at 500
               3 clock     z slept
               4 <3        a#1 called: step attempt 1
            > a#1 returns "a!", at 500
               5 <4        a#1 succeeded: "a!"
               6 <5        run completed, output in 5
        "#]]);
}

#[test]
fn a_sleep_that_is_over_when_it_begins_ends_after_the_pause() {
    Case::of(vec![sleep("z", SleepLength::Computed("f".into())), step("a")])
        .start()
        .pause()
        .quietly()
        .gives("z", 1, j!({"untilMs": 0}))
        .node("z", NodeStatus::Waiting)
        .resume()
        .then(expect![[r#"
            > z#1 returns {"untilMs":0}, at 0
               4 <2        z#1 succeeded: {"untilMs":0}
               5 <4        z sleeps until 0
            > resume, at 0
               6 request   run resumed
               7 clock     z slept
               8 <7        a#1 called: step attempt 1
        "#]]);
}
