//! A clock that was ahead and is set back: `machine/timer.rs`, `state/clock.rs`.

use expect_test::expect;
use rival_core::event::EventKind;
use rival_core::failure::StepError;
use rival_core::machine::OpRequest;
use rival_core::plan::{Node, SleepLength};
use rival_core::{RunStatus, Time, verify};
use serde_json::json as j;

use crate::support::{Case, fold, parallel, plan, signal, sleep, step, step_with, tried};

/// A wait of each kind, begun by a clock that is 999,000 ms ahead.
fn ahead(nodes: Vec<(&str, Vec<Node>)>) -> Case {
    Case::of(vec![parallel("p", nodes)]).after(1_000_000).start()
}

#[test]
fn what_was_left_of_a_sleep_is_left_after_it() {
    Case::of(vec![sleep("z", SleepLength::ForMs(500))])
        .after(1_000_000)
        .start()
        .next_timer(Some(1_000_500))
        .clock_set_back(999_000)
        .next_timer(Some(1_500))
        .tick_after(499)
        .tick_after(1)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 1000000
               1 request   run started
               2 <1        z sleeps until 1000500
            > clock set back, at 1000
               3 clock     clock set back by 999000
            > tick, at 1499
            > tick, at 1500
               4 clock     z slept
               5 <4        run completed
        "#]]);
}

#[test]
fn a_sleep_until_a_moment_stays_where_it_is() {
    Case::of(vec![sleep("z", SleepLength::UntilMs(1_001_000))])
        .after(1_000_000)
        .start()
        .clock_set_back(999_000)
        .next_timer(Some(1_001_000));
}

#[test]
fn the_answer_of_a_computed_sleep_says_which_it_is() {
    for (answer, next) in [(j!({"forMs": 500}), 1_500), (j!({"untilMs": 1_000_500}), 1_000_500)] {
        let case = Case::of(vec![sleep("z", SleepLength::Computed("f".into()))]).after(1_000_000).start();
        case.gives("z", 1, answer).clock_set_back(999_000).next_timer(Some(next)).crash().check();
    }
}

#[test]
fn retries_timeouts_and_signals_keep_what_was_left() {
    let timed = step_with("t", |step| {
        step.timeout_ms = Some(300);
        step.continue_on_error = true;
    });
    let case = ahead(vec![
        ("a", vec![tried("r", 2)]),
        ("b", vec![timed]),
        ("c", vec![signal("s", "go", Some(400), true)]),
    ]);
    case.fails("p/a/r", 1, StepError::new("no"))
        .clock_set_back(999_000)
        .next_timer(Some(1_300))
        .tick_after(300)
        .next_timer(Some(1_400))
        .quietly()
        .tick_after(100)
        .tick_after(600)
        .then(expect![[r#"
            > tick, at 1400
              10 clock     p/c/s waited in vain: null
              11 <10       p/c through, result in 10
            > tick, at 2000
              12 clock     p/a/r#2 called: step attempt 2
        "#]]);
}

#[test]
fn a_step_that_waits_inside_has_all_of_its_own_time_afterwards() {
    let timed = step_with("t", |step| step.timeout_ms = Some(300));
    Case::of(vec![timed])
        .after(1_000_000)
        .start()
        .after(100)
        .asks("t", 1, "", OpRequest::Sleep(5_000))
        .clock_set_back(999_100)
        .next_timer(Some(6_000))
        .tick_after(5_000)
        .next_timer(Some(6_300))
        .check();
}

#[test]
fn the_deadline_of_a_run_moves_with_it() {
    Case::with(plan(vec![step("a")]), |plan| plan.timeout_ms = Some(2_000))
        .after(1_000_000)
        .start()
        .clock_set_back(999_000)
        .next_timer(Some(3_000))
        .tick_after(2_000)
        .stopped("a", 1)
        .status(RunStatus::Failed)
        .check();
}

#[test]
fn a_cancel_gives_the_rest_of_its_grace() {
    let case = Case::of(vec![step("a")]).after(1_000_000).start().cancel().clock_set_back(999_000);
    case.next_timer(Some(31_000)).tick_after(30_000).status(RunStatus::Cancelled).check();
}

#[test]
fn signals_that_the_wrong_clock_dated_are_taken() {
    let case = Case::of(vec![step("a"), signal("s", "go", Some(400), false)]).after(1_000_000).start();
    let case = case.signal("go").clock_set_back(999_000).signal_sent("go", j!(2), Time(1_000_000));
    case.after(10).ok("a", 1).status(RunStatus::Completed).check();
}

#[test]
fn a_clock_that_is_not_behind_the_run_changes_nothing() {
    let case = Case::of(vec![sleep("z", SleepLength::ForMs(500))]).start().after(10).clock_set_back(0);
    assert_eq!(case.events.len(), 2);
    case.next_timer(Some(500)).check();
}

#[test]
fn the_state_is_the_same_after_a_restart() {
    let case = ahead(vec![
        ("a", vec![sleep("for", SleepLength::ForMs(500))]),
        ("b", vec![sleep("until", SleepLength::UntilMs(1_000_700))]),
        ("c", vec![signal("s", "go", Some(400), true)]),
    ]);
    let case = case.clock_set_back(999_000);
    assert_eq!(fold(&case.events), case.state);
    case.crash().tick_after(500).next_timer(Some(1_000_700)).check();
}

#[test]
fn verify_sees_a_clock_that_is_set_back_by_another_length() {
    let case =
        Case::of(vec![sleep("z", SleepLength::ForMs(500))]).after(1_000_000).start().clock_set_back(999_000);
    let mut events = case.events.clone();
    let Some(EventKind::ClockSetBack { by_ms }) = events.last_mut().map(|event| &mut event.kind) else {
        panic!("the last event is the clock's");
    };
    *by_ms += 1;
    let violations = verify::check_run(&case.plan, &events);
    assert!(
        violations.iter().any(|it| it.message == "the clock is set back by another length"),
        "{violations:?}"
    );
}
