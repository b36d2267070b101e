//! The judge is judged: good histories are tampered with, and the broken rule is named.

use expect_test::{Expect, expect};
use rival_core::event::{CallRole, EventCause, EventKind, FailureVerdict};
use rival_core::failure::StepError;
use rival_core::plan::SleepLength;
use rival_core::{Event, Path, Plan, Seq, Time, verify};

use crate::support::{Case, list, nested, plan, sleep, step, step_with, tried, undoable};

/// Tampers with the history of a case.
#[expect(clippy::needless_pass_by_value, reason = "`expect![..]` reads best by value")]
fn tampered(case: Case, tamper: impl FnOnce(&mut Vec<Event>), expected: Expect) {
    case.check();
    let mut events = case.events.clone();
    tamper(&mut events);
    expected.assert_eq(&list(&verify::check_run(&case.plan, &events)));
}

fn two_steps() -> Case {
    Case::of(vec![step("a"), step("b")]).start().ok("a", 1).ok("b", 1)
}

/// Removes an event and closes the gap.
fn remove(events: &mut Vec<Event>, seq: usize) {
    events.remove(seq - 1);
    renumber(events);
}

/// Repeats an event at the end.
fn repeat(events: &mut Vec<Event>, seq: usize) {
    events.push(events[seq - 1].clone());
    renumber(events);
}

fn renumber(events: &mut [Event]) {
    for (event, seq) in events.iter_mut().zip(1..) {
        event.seq = Seq(seq);
        if let EventCause::Event(cause) = event.cause {
            event.cause = EventCause::Event(cause.min(Seq(seq - 1)));
        }
    }
}

#[test]
fn a_gap_and_a_duplicate_are_seen() {
    tampered(
        two_steps(),
        |events| drop(events.remove(2)),
        expect![[r#"
            event 4: sequence: it should have number 3
            event 4: order: `a` comes before `b`
            event 5: sequence: it should have number 4
            event 6: sequence: it should have number 5
            event 6: references: event 5 holds no value
            event 6: outcomes: `a` left open
            event 6: order: `a` has not ended
        "#]],
    );
    tampered(
        two_steps(),
        |events| events[2].seq = Seq(2),
        expect![[r#"
        event 2: sequence: it should have number 3
        event 2: sequence: its cause, 2, is not before it
    "#]],
    );
}

#[test]
fn time_that_goes_backwards_is_seen() {
    tampered(
        two_steps().after(5),
        |events| events[2].at = Time(-1),
        expect![[r#"
        event 3: sequence: time goes backwards
    "#]],
    );
}

#[test]
fn a_cause_that_comes_later_is_seen() {
    tampered(
        two_steps(),
        |events| events[1].cause = EventCause::Event(Seq(2)),
        expect![[r#"
        event 2: sequence: its cause, 2, is not before it
    "#]],
    );
}

#[test]
fn a_history_without_its_start_is_seen() {
    tampered(
        two_steps(),
        |events| remove(events, 1),
        expect![[r#"
            event 1: sequence: its cause, 0, is not before it
            event 1: ends: a run starts with its first event, once
            event 5: references: event 5 holds no value
            event 5: results: the run gives what is not its result: it is event 4, and not event 5
        "#]],
    );
}

#[test]
fn events_after_the_end_are_seen() {
    tampered(
        two_steps(),
        |events| repeat(events, 6),
        expect![[r#"
        event 7: ends: it comes after the run's end
    "#]],
    );
}

#[test]
fn an_outcome_without_its_call_is_seen() {
    tampered(
        two_steps(),
        |events| remove(events, 2),
        expect![[r#"
            event 2: calls: `a`#1 ends but was not at work
            event 3: order: `a` comes before `b`
            event 5: references: event 5 holds no value
            event 5: results: the run gives what is not its result: it is event 4, and not event 5
            event 5: order: `a` has not ended
        "#]],
    );
}

#[test]
fn a_call_without_its_outcome_is_seen_at_the_end() {
    tampered(
        two_steps(),
        |events| remove(events, 5),
        expect![[r#"
            event 5: references: event 5 holds no value
            event 5: outcomes: `b` left open
            event 5: results: the run gives what is not its result: it is nothing, and not event 5
            event 5: order: `b` has not ended
        "#]],
    );
}

#[test]
fn a_step_that_starts_before_the_one_before_it_ended_is_seen() {
    tampered(
        two_steps(),
        |events| {
            events.swap(2, 3);
            renumber(events);
        },
        expect![[r#"
            event 3: order: `a` comes before `b`
        "#]],
    );
}

#[test]
fn a_skipped_number_of_a_call_or_an_attempt_is_seen() {
    let change = |events: &mut Vec<Event>| {
        if let EventKind::CallStarted { call, attempt, .. } = &mut events[1].kind {
            (*call, *attempt) = (2, 2);
        }
    };
    tampered(
        Case::of(vec![tried("a", 2)]).start(),
        change,
        expect![[r#"
        event 2: calls: `a` should make call 1
        event 2: attempts: `a` should make attempt 1
    "#]],
    );
}

#[test]
fn a_retry_that_comes_too_early_is_seen() {
    let case = Case::of(vec![tried("a", 2)]).start().fails("a", 1, StepError::new("no")).tick_after(1_000);
    tampered(
        case,
        |events| events[3].at = Time(999),
        expect![[r#"
        event 4: timers: `a` is tried again too early
    "#]],
    );
}

#[test]
fn more_attempts_than_allowed_are_seen() {
    let case = Case::of(vec![tried("a", 1)]).start().fails("a", 1, StepError::new("no"));
    let change = |events: &mut Vec<Event>| {
        if let EventKind::CallFailed { verdict, .. } = &mut events[2].kind {
            *verdict = FailureVerdict::RetryAt(Time(0));
        }
        let (node, role) = (Path::from("a"), CallRole::Step);
        events[3].kind = EventKind::CallStarted {
            node,
            call: 2,
            role,
            attempt: 2,
            deadline: None,
            limit_ms: None,
            undoable: false,
        };
    };
    tampered(
        case,
        change,
        expect![[r#"
        event 4: settings: attempt 2 of `a`, which allows 1
    "#]],
    );
}

#[test]
fn a_node_that_ends_twice_is_seen() {
    let case = Case::of(vec![nested("n", vec![step("a")]), step("b")]).start().ok("n/a", 1);
    tampered(
        case,
        |events| repeat(events, 5),
        expect![[r#"
        event 7: outcomes: `n` ends twice
    "#]],
    );
}

#[test]
fn a_handler_that_is_called_twice_or_not_at_all_is_seen() {
    let handled = || {
        let a = step_with("a", |step| step.on_error = Some("h".into()));
        Case::of(vec![a, step("b")]).start().fails("a", 1, StepError::proceed("meh")).ok("a", 2)
    };
    let again = |events: &mut Vec<Event>| {
        let (node, role) = (Path::from("a"), CallRole::OnError);
        events.truncate(5);
        repeat(events, 4);
        events[5].kind = EventKind::CallStarted {
            node,
            call: 3,
            role,
            attempt: 1,
            deadline: None,
            limit_ms: None,
            undoable: false,
        };
    };
    tampered(
        handled(),
        again,
        expect![[r#"
        event 6: outcomes: `a` is called after it ended, or handled twice
    "#]],
    );
    let never = |events: &mut Vec<Event>| {
        remove(events, 4);
        remove(events, 4);
    };
    tampered(
        handled(),
        never,
        expect![[r#"
        event 4: order: `a` comes before `b`
    "#]],
    );
}

#[test]
fn a_sleep_that_ends_too_early_or_not_at_all_is_seen() {
    let asleep = || Case::of(vec![sleep("z", SleepLength::ForMs(10))]).start().tick_after(10);
    tampered(
        asleep(),
        |events| events[2].at = Time(9),
        expect![[r#"
        event 3: timers: `z` wakes up before its time
    "#]],
    );
    tampered(
        asleep(),
        |events| remove(events, 3),
        expect![[r#"
            event 3: outcomes: `z` left open
            event 3: order: `z` has not ended
        "#]],
    );
}

#[test]
fn a_timeout_that_comes_too_early_is_seen() {
    let a = step_with("a", |step| step.timeout_ms = Some(10));
    let case = Case::of(vec![a]).start().tick_after(10);
    tampered(
        case,
        |events| {
            events[2].at = Time(9);
            events[3].at = Time(9);
        },
        expect![[r#"
            event 3: timers: the call times out before its deadline
        "#]],
    );
}

#[test]
fn a_run_that_times_out_too_early_is_seen() {
    let case = Case::with(plan(vec![step("a")]), |plan| plan.timeout_ms = Some(10)).start().tick_after(10);
    tampered(
        case,
        |events| events[2].at = Time(9),
        expect![[r#"
        event 3: timers: the run times out before its deadline
    "#]],
    );
}

#[test]
fn a_call_that_starts_while_paused_is_seen() {
    let case = Case::of(vec![step("a"), step("b")]).start().pause().ok("a", 1).resume();
    tampered(
        case,
        |events| remove(events, 6),
        expect![[r#"
        event 6: holding: a call starts while the run is paused
    "#]],
    );
}

#[test]
fn a_call_that_starts_after_a_cancel_is_seen() {
    let case = Case::of(vec![step("a"), step("b")]).start().ok("a", 1).cancel();
    tampered(
        case,
        |events| {
            events.swap(3, 4);
            renumber(events);
        },
        expect![[r#"
            event 5: ending: a call starts although the run is ending
        "#]],
    );
}

#[test]
fn an_end_that_was_not_coming_is_seen() {
    let cancelled = || Case::of(vec![step("a")]).start().cancel().stopped("a", 1);
    tampered(
        cancelled(),
        |events| {
            events[4].kind = EventKind::RunCompleted { output: None, not_undone: Vec::new(), triggers: None }
        },
        expect![[r#"
        event 5: ending: a run that was ending completes
    "#]],
    );
    tampered(
        cancelled(),
        |events| remove(events, 3),
        expect![[r#"
        event 3: ending: a call is cancelled although the run is not ending
        event 4: ending: nobody asked to cancel the run
    "#]],
    );
}

#[test]
fn a_call_left_behind_before_the_grace_period_is_over_is_seen() {
    let case = Case::of(vec![step("a")]).start().cancel().tick_after(30_000);
    tampered(
        case,
        |events| {
            events[3].at = Time(29_999);
        },
        expect![[r#"
            event 4: timers: the call is left behind before its time
        "#]],
    );
}

#[test]
fn a_sixth_interruption_is_seen() {
    let case = Case::of(vec![step("a")]).start().crashes(5).resume();
    let change = |events: &mut Vec<Event>| {
        for _ in 0..3 {
            remove(events, 12);
        }
    };
    tampered(
        case,
        change,
        expect![[r#"
        event 12: interruptions: `a` was cut short 5 times
    "#]],
    );
}

#[test]
fn a_second_call_of_an_at_most_once_step_is_seen() {
    let case = Case::of(vec![step("a")]).start().crash();
    let once = plan(vec![step_with("a", |step| step.at_most_once = true)]);
    let index = rival_core::IndexedPlan::new(once);
    expect![[r#"
        event 1: settings: the run has another plan
        event 4: settings: `a` is at most once and is called again
    "#]]
    .assert_eq(&list(&verify::check_run(&index, &case.events)));
}

#[test]
fn a_result_that_names_no_value_is_seen() {
    tampered(
        two_steps(),
        |events| {
            events[5].kind =
                EventKind::RunCompleted { output: Some(Seq(4)), not_undone: Vec::new(), triggers: None }
        },
        expect![[r#"
            event 6: references: event 4 holds no value
            event 6: results: the run gives what is not its result: it is event 5, and not event 4
        "#]],
    );
}

#[test]
fn a_failure_that_names_a_node_that_did_not_fail_is_seen() {
    let case = Case::of(vec![step("a"), step("b")]).start().ok("a", 1).fails("b", 1, StepError::new("no"));
    let change = |events: &mut Vec<Event>| {
        if let EventKind::RunFailed { node, .. } = &mut events[5].kind {
            *node = Some(Path::from("a"));
        }
    };
    tampered(
        case,
        change,
        expect![[r#"
        event 6: references: `a` has not failed
    "#]],
    );
}

#[test]
fn the_handler_of_a_failed_run_that_was_not_called_is_seen() {
    let handled = Plan { on_error: Some("h".into()), ..plan(vec![step("a")]) };
    let case = Case::with(handled, |_| {}).start().fails("a", 1, StepError::new("no")).ok("", 1);
    let change = |events: &mut Vec<Event>| {
        remove(events, 5);
        remove(events, 5);
    };
    tampered(
        case,
        change,
        expect![[r#"
        event 5: settings: the run's handler was not called
    "#]],
    );
}

#[test]
fn a_completed_run_with_a_node_that_never_ran_is_seen() {
    let change = |events: &mut Vec<Event>| {
        remove(events, 4);
        remove(events, 4);
        events[3].kind = EventKind::RunCompleted { output: None, not_undone: Vec::new(), triggers: None };
    };
    tampered(
        two_steps(),
        change,
        expect![[r#"
            event 4: order: `b` has not ended
        "#]],
    );
}

#[test]
fn an_output_that_is_lost_or_that_of_another_node_is_seen() {
    let output = |output: Option<Seq>| {
        move |events: &mut Vec<Event>| {
            events[5].kind = EventKind::RunCompleted { output, not_undone: Vec::new(), triggers: None };
        }
    };
    tampered(
        two_steps(),
        output(None),
        expect![[r#"
        event 6: results: the run gives what is not its result: it is event 5, and not nothing
    "#]],
    );
    tampered(
        two_steps(),
        output(Some(Seq(3))),
        expect![[r#"
        event 6: results: the run gives what is not its result: it is event 5, and not event 3
    "#]],
    );
}

#[test]
fn a_step_that_may_have_acted_and_is_not_undone_is_seen() {
    let case = Case::of(vec![undoable("a")]).start().cancel().fails("a", 1, StepError::new("no")).ok("a", 2);
    let change = |events: &mut Vec<Event>| {
        for _ in 0..2 {
            remove(events, 5);
        }
    };
    tampered(
        case,
        change,
        expect![[r#"
        event 5: undo: `a` was not undone
    "#]],
    );
}
