//! The judge is judged: histories of blocks and compensations are tampered with.

use expect_test::{Expect, expect};
use rival_core::event::EventKind;
use rival_core::failure::StepError;
use rival_core::plan::Join;
use rival_core::{Event, Path, verify};
use serde_json::json;

use crate::support::{Case, branch, for_each, graph, joining, list, parallel, step, undoable, until};

/// Tampers with the history of a case.
#[expect(clippy::needless_pass_by_value, reason = "`expect![..]` reads best by value")]
fn tampered(case: Case, tamper: impl FnOnce(&mut Vec<Event>), expected: Expect) {
    case.check();
    let mut events = case.events.clone();
    tamper(&mut events);
    expected.assert_eq(&list(&verify::check_run(&case.plan, &events)));
}

/// Changes every event's path.
fn rename(events: &mut [Event], from: &str, to: &str) {
    for event in events {
        let text = serde_json::to_string(&event).expect("an event is JSON").replace(from, to);
        *event = serde_json::from_str(&text).expect("it still is an event");
    }
}

fn swap(events: &mut [Event], one: usize, other: usize) {
    let (a, b) = (events[one - 1].kind.clone(), events[other - 1].kind.clone());
    events[one - 1].kind = b;
    events[other - 1].kind = a;
}

#[test]
fn a_case_that_was_not_chosen_is_seen() {
    let cases = vec![("air", vec![step("a")]), ("sea", vec![step("a")])];
    let case = Case::of(vec![branch("b", cases, None)]).start().gives("b", 1, json!("air")).ok("b/air/a", 1);
    tampered(
        case,
        |events| rename(events, "b/air/a", "b/sea/a"),
        expect![[r#"
            event 5: order: `b/sea/a` begins, but `b` chose Some("air")
            event 7: results: `b` gives what is not its result: it is nothing, and not event 6
            event 7: order: `b` completes before what is inside of it
        "#]],
    );
}

#[test]
fn an_item_outside_of_the_window_is_seen() {
    let each = for_each("e", 2, vec![step("a")]);
    let case = Case::of(vec![each]).start().gives("e", 1, json!([1, 2, 3]));
    tampered(
        case,
        |events| rename(events, "e[1]/a", "e[2]/a"),
        expect![[r#"
        event 6: order: `e[2]/a` begins, but `e` has ended 0 and does 2 at a time
    "#]],
    );
}

#[test]
fn an_iteration_that_is_left_out_is_seen() {
    let case = Case::of(vec![until("l", vec![step("a")])]).start().ok("l[0]/a", 1);
    tampered(
        case,
        |events| rename(events, "l[0]", "l[1]"),
        expect![[r#"
        event 3: order: `l[1]/a` begins, but `l` has ended 0 and does 1 at a time
    "#]],
    );
}

#[test]
fn a_graph_that_does_not_wait_is_seen() {
    let nodes = vec![(step("a"), &[][..]), (step("b"), &["a"][..])];
    let plan = rival_core::Plan { block: graph(nodes), ..crate::support::plan(vec![]) };
    let case = Case::with(plan, |_| {}).start().ok("a", 1).ok("b", 1);
    let change = |events: &mut Vec<Event>| {
        swap(events, 2, 4);
        swap(events, 3, 5);
    };
    tampered(
        case,
        change,
        expect![[r#"
            event 2: order: `a` comes before `b`
            event 6: results: the run gives what is not its result: it is event 3, and not event 5
        "#]],
    );
}

#[test]
fn a_lane_that_ends_twice_and_a_block_that_ends_early_are_seen() {
    let case = Case::of(vec![parallel("p", vec![("x", vec![step("a")]), ("y", vec![step("b")])])]);
    let case = case.start().ok("p/x/a", 1).ok("p/y/b", 1);
    let change = |events: &mut Vec<Event>| {
        let lane = events.iter().position(|event| matches!(event.kind, EventKind::LaneEnded { .. })).unwrap();
        let second =
            events.iter().rposition(|event| matches!(event.kind, EventKind::LaneEnded { .. })).unwrap();
        events[second].kind = events[lane].kind.clone();
    };
    tampered(
        case,
        change,
        expect![[r#"
            event 8: outcomes: `p/x` ends twice, or did not begin
            event 10: results: `p` gives what is not its result: event 9 puts together something else
            event 10: order: `p` completes before what is inside of it
        "#]],
    );
}

#[test]
fn a_loser_without_a_winner_is_seen() {
    let race = joining("p", Join::First, vec![("x", vec![step("a")]), ("y", vec![step("b")])]);
    let case = Case::of(vec![race]).start().ok("p/x/a", 1).stopped("p/y/b", 1);
    let change = |events: &mut Vec<Event>| {
        let lane = events.iter().position(|event| matches!(event.kind, EventKind::LaneEnded { .. })).unwrap();
        let lost =
            events.iter().position(|event| matches!(event.kind, EventKind::LaneStopping { .. })).unwrap();
        swap(events, lane + 1, lost + 1);
    };
    tampered(
        case,
        change,
        expect![[r#"
        event 6: ending: `p/y` is stopped, and no other has won
    "#]],
    );
}

#[test]
fn compensations_out_of_order_or_left_out_are_seen() {
    let undone = || {
        let case = Case::of(vec![undoable("a"), undoable("b"), step("c")]);
        let case = case.start().ok("a", 1).ok("b", 1).fails("c", 1, StepError::new("no"));
        case.ok("b", 2).ok("a", 2)
    };
    let exchange = |events: &mut Vec<Event>| {
        let from =
            events.iter().position(|event| matches!(event.kind, EventKind::RunFailing { .. })).unwrap();
        for event in &mut events[from..] {
            let text = serde_json::to_string(&event).unwrap();
            let text = text.replace("\"node\":\"a\"", "\"node\":\"-\"");
            let text =
                text.replace("\"node\":\"b\"", "\"node\":\"a\"").replace("\"node\":\"-\"", "\"node\":\"b\"");
            *event = serde_json::from_str(&text).unwrap();
        }
    };
    tampered(
        undone(),
        exchange,
        expect![[r#"
        event 9: undo: `b` is to be undone before `a`
    "#]],
    );
    let leave_out = |events: &mut Vec<Event>| {
        events.retain(|event| {
            let call = matches!(
                &event.kind,
                EventKind::CallStarted { node, call: 2, .. } | EventKind::CallSucceeded { node, call: 2, .. }
                    if *node == Path::from("a")
            );
            !call
        });
        for (event, seq) in events.iter_mut().zip(1..) {
            event.seq = rival_core::Seq(seq);
            event.cause = rival_core::event::EventCause::Outside(rival_core::event::ExternalCause::Request);
        }
    };
    tampered(
        undone(),
        leave_out,
        expect![[r#"
        event 11: undo: `a` was not undone
    "#]],
    );
}
