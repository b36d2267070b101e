//! Corners where constructs meet: several ends in one turn, ends inside of ends, what is held or blocked meanwhile.

use rival_core::event::ImportedStatus;
use rival_core::failure::StepError;
use rival_core::machine::RunStart;
use rival_core::plan::{CompensationSpec, Join, LoopTest, Node, OnFailure, SleepLength};
use rival_core::{Plan, RunStatus, Value};
use serde_json::json as j;

use crate::fork::fork_of;
use crate::support::{
    Case, attempts, for_each, graph, history, import, joining, looping, nested_with, parallel, parallel_with,
    plan, signal, sleep, step, step_with, undoable, until,
};

fn lines(case: &Case, what: &str) -> usize {
    history(&case.events).lines().filter(|line| line.contains(what)).count()
}

fn times(case: &Case, what: &str, wanted: usize) {
    assert_eq!(lines(case, what), wanted, "how often `{what}` happens in\n{}", history(&case.events));
}

fn ends_with(case: &Case, what: &str) {
    let history = history(&case.events);
    assert!(history.lines().last().is_some_and(|line| line.contains(what)), "`{what}` is last in\n{history}");
}

fn once_at_most(id: &str, soft: bool) -> Node {
    step_with(id, |step| {
        step.at_most_once = true;
        step.continue_on_error = soft;
    })
}

fn graph_plan(nodes: Vec<(Node, &[&str])>) -> Plan {
    Plan { block: graph(nodes), ..plan(vec![]) }
}

// A. Several nodes end in one turn: the state knows of all, the queue tells of one after the other.

#[test]
fn a_retry_of_a_graph_starts_the_node_after_two_imported_ones_once() {
    let plan = graph_plan(vec![(step("a"), &[]), (step("b"), &[]), (step("c"), &["a", "b"])]);
    let old = Case::with(plan, |_| {}).start().ok("a", 1).ok("b", 1).fails("c", 1, StepError::new("no"));
    let new = fork_of(&old, None);
    times(&new, "c#1 called", 1);
    times(&new, "c#2 called", 0);
}

#[test]
fn two_sleeps_that_are_over_at_once_start_the_node_after_them_once() {
    let plan = graph_plan(vec![
        (sleep("a", SleepLength::UntilMs(-1)), &[]),
        (sleep("b", SleepLength::UntilMs(-1)), &[]),
        (step("c"), &["a", "b"]),
    ]);
    let case = Case::with(plan, |_| {}).start();
    times(&case, "c#2 called", 0);
}

#[test]
fn two_signals_that_came_early_start_the_node_after_them_once() {
    let g = graph(vec![
        (signal("a", "sa", None, false), &[]),
        (signal("b", "sb", None, false), &[]),
        (step("c"), &["a", "b"]),
    ]);
    let w = nested_with("w", vec![], |nested| nested.block = g);
    let case = Case::of(vec![step("z"), w]).start().signal("sa").signal("sb").ok("z", 1);
    times(&case, "w/c#2 called", 0);
}

#[test]
fn a_graph_of_imported_nodes_completes_once() {
    let imports =
        vec![import("a", ImportedStatus::Completed, j!(1)), import("b", ImportedStatus::Completed, j!(1))];
    let plan = graph_plan(vec![(step("a"), &[]), (step("b"), &[])]);
    let case = Case::with(plan, |_| {}).start_with(RunStart { imports, ..RunStart::new(Value::null()) });
    times(&case, "run completed", 1);
}

#[test]
fn imported_items_with_a_graph_start_the_next_item_once() {
    let mut each = for_each("e", 2, vec![]);
    if let rival_core::plan::NodeKind::ForEach(it) = &mut each.kind {
        it.body = graph(vec![(step("a"), &[]), (step("b"), &[])]);
    }
    let old = Case::of(vec![each])
        .start()
        .gives("e", 1, j!([1, 2, 3, 4]))
        .ok("e[0]/a", 1)
        .ok("e[0]/b", 1)
        .fails("e[1]/a", 1, StepError::new("no"))
        .ok("e[1]/b", 1)
        .ok("e[2]/a", 1)
        .ok("e[2]/b", 1);
    let new = fork_of(&old, None);
    times(&new, "e[0] through", 1);
    times(&new, "e[3]/a#2 called", 0);
}

#[test]
fn two_calls_that_a_crash_ends_fail_their_block_once() {
    let case = Case::of(vec![parallel(
        "p",
        vec![("x", vec![once_at_most("a", false)]), ("y", vec![once_at_most("b", false)])],
    )])
    .start()
    .crash();
    times(&case, "p failed", 1);
    times(&case, "run failed", 1);
    ends_with(&case, "run failed");
}

#[test]
fn nothing_starts_in_a_block_that_has_failed_in_the_same_turn() {
    let y = vec![once_at_most("b", true), step("c")];
    let case =
        Case::of(vec![parallel("p", vec![("x", vec![once_at_most("a", false)]), ("y", y)])]).start().crash();
    times(&case, "p/y/c#1 called", 0);
    ends_with(&case, "run failed");
}

#[test]
fn nothing_starts_in_a_block_that_has_failed_in_the_same_turn_by_signals() {
    let y = vec![signal("s2", "b", None, false), step("c")];
    let case = Case::of(vec![parallel("p", vec![("x", vec![signal("s1", "a", Some(10), false)]), ("y", y)])])
        .start()
        .pause()
        .after(20)
        .signal("a")
        .signal("b")
        .resume();
    times(&case, "p/y/c#1 called", 0);
    ends_with(&case, "run failed");
}

#[test]
fn a_run_whose_last_block_is_a_race_completes_once() {
    let case = Case::of(vec![joining(
        "p",
        Join::First,
        vec![("x", vec![step("a")]), ("y", vec![sleep("s", SleepLength::ForMs(1000))])],
    )])
    .start()
    .ok("p/x/a", 1);
    times(&case, "run completed", 1);
}

#[test]
fn nothing_starts_in_a_lane_that_has_lost_in_the_same_turn() {
    let over = |id| sleep(id, SleepLength::UntilMs(-1));
    let mut p = joining("p", Join::First, vec![("x", vec![over("s")]), ("y", vec![])]);
    if let rival_core::plan::NodeKind::Parallel(it) = &mut p.kind {
        it.branches[1].block =
            graph(vec![(over("s1"), &[]), (over("s2"), &[]), (step("b"), &["s2"]), (step("c"), &["s1"])]);
    }
    let case = Case::of(vec![p, step("z")]).start();
    times(&case, "p/y/b#1 called", 0);
    times(&case, "p/y/c#1 called", 0);
}

// B. The end of the run.

fn handled(id: &str) -> Node {
    step_with(id, |step| step.on_error = Some("h".into()))
}

fn race_then(last: Node) -> Case {
    Case::of(vec![joining("p", Join::First, vec![("x", vec![step("a")]), ("y", vec![step("b")])]), last])
        .start()
        .ok("p/x/a", 1)
}

#[test]
fn a_run_whose_last_step_failed_does_not_complete_when_a_loser_settles_while_the_handler_is_held() {
    let case = race_then(handled("z")).pause().fails("z", 1, StepError::new("no")).stopped("p/y/b", 1);
    times(&case, "run completed", 0);
    let case = case.resume().ok("z", 2);
    ends_with(&case, "run failed");
}

#[test]
fn a_run_whose_last_step_failed_does_not_complete_when_a_loser_settles_while_the_handler_is_blocked() {
    let case = race_then(handled("z"))
        .fails("z", 1, StepError::new("no"))
        .function_missing("z", 2)
        .stopped("p/y/b", 1);
    times(&case, "run completed", 0);
}

#[test]
fn a_kill_ends_the_handler_of_the_run() {
    let plan = Plan { on_error: Some("h".into()), ..plan(vec![step("a")]) };
    let case = Case::with(plan, |_| {}).start().fails("a", 1, StepError::new("no")).kill();
    assert!(case.state.is_terminal(), "{}", history(&case.events));
}

#[test]
fn a_kill_ends_a_compensation_that_waits_for_its_next_attempt() {
    let case = Case::of(vec![undoable("a"), step("b")])
        .start()
        .ok("a", 1)
        .fails("b", 1, StepError::new("no"))
        .fails("a", 2, StepError::new("stuck"))
        .kill();
    assert!(case.state.is_terminal(), "{}", history(&case.events));
}

#[test]
fn a_cancel_lets_a_held_compensation_of_a_loser_go_on() {
    let y = vec![undoable("u"), step("b")];
    let case = Case::of(vec![joining("p", Join::First, vec![("x", vec![step("a")]), ("y", y)]), step("z")])
        .start()
        .ok("p/y/u", 1)
        .ok("p/x/a", 1)
        .pause()
        .stopped("p/y/b", 1)
        .cancel()
        .stopped("z", 1);
    times(&case, "p/y/u#2 called", 1);
    let case = case.ok("p/y/u", 2);
    ends_with(&case, "run cancelled");
}

#[test]
fn a_step_that_timed_out_is_undone_once_when_its_held_handler_is_cancelled() {
    let a = step_with("a", |step| {
        step.timeout_ms = Some(100);
        step.on_error = Some("h".into());
        step.compensate =
            Some(CompensationSpec { function: "undo".into(), retry: attempts(1), timeout_ms: None });
    });
    let case = Case::of(vec![a]).start().pause().tick_after(100).cancel();
    times(&case, "a#2 called: compensate", 1);
    let case = case.ok("a", 2);
    times(&case, "called: compensate", 1);
    ends_with(&case, "run cancelled");
}

// C. Scopes.

#[test]
fn a_lane_that_is_a_failing_graph_leaves_no_scope_behind() {
    let mut p = parallel_with("p", vec![("x", vec![]), ("y", vec![step("c")])], |p| {
        p.on_failure = OnFailure::Collect;
    });
    let inner = parallel("g", vec![("m", vec![step("i")]), ("n", vec![step("j")])]);
    if let rival_core::plan::NodeKind::Parallel(it) = &mut p.kind {
        it.branches[0].block = graph(vec![(inner, &[]), (step("h"), &[])]);
    }
    let case = Case::of(vec![p])
        .start()
        .fails("p/x/g/m/i", 1, StepError::new("no"))
        .fails("p/x/h", 1, StepError::new("no"))
        .ok("p/x/g/n/j", 1)
        .ok("p/y/c", 1);
    assert!(case.state.is_terminal(), "{:?}\n{}", case.state.scopes, history(&case.events));
}

// D. Retry and fork.

#[test]
fn a_retry_asks_the_test_again_that_failed() {
    let old = Case::of(vec![until("l", vec![step("a")])]).start().ok("l[0]/a", 1).fails(
        "l",
        1,
        StepError::new("no"),
    );
    let new = fork_of(&old, None);
    times(&new, "l[1]/a#1 called", 0);
    times(&new, "l#1 called: test", 1);
}

#[test]
fn a_retry_of_a_loop_that_had_all_iterations_runs_none() {
    let old = Case::of(vec![until("l", vec![step("a")])])
        .start()
        .ok("l[0]/a", 1)
        .gives("l", 1, j!(false))
        .ok("l[1]/a", 1)
        .gives("l", 2, j!(false))
        .ok("l[2]/a", 1)
        .gives("l", 3, j!(false));
    let new = fork_of(&old, None);
    times(&new, "l[3]/a#1 called", 0);
}

#[test]
fn a_retry_of_a_while_loop_asks_before_the_next_iteration() {
    let old = Case::of(vec![looping("l", vec![step("a")], LoopTest::While("t".into()))])
        .start()
        .gives("l", 1, j!(true))
        .ok("l[0]/a", 1)
        .cancel()
        .stopped("l", 2);
    let new = fork_of(&old, None);
    times(&new, "l[1]/a#1 called", 0);
}

#[test]
fn a_race_that_was_won_is_taken_over_though_its_loser_was_undone() {
    let y = vec![undoable("u"), step("b")];
    let old = Case::of(vec![joining("p", Join::First, vec![("x", vec![step("a")]), ("y", y)]), step("z")])
        .start()
        .ok("p/y/u", 1)
        .ok("p/x/a", 1)
        .stopped("p/y/b", 1)
        .ok("p/y/u", 2)
        .fails("z", 1, StepError::new("no"));
    let new = fork_of(&old, None);
    times(&new, "p/y/u#1 called", 0);
    times(&new, "p imported", 1);
}

// E. Memory.

#[test]
fn items_that_end_with_a_race_are_forgotten() {
    let race = joining("r", Join::First, vec![("x", vec![step("a")]), ("y", vec![step("b")])]);
    let mut case = Case::of(vec![for_each("e", 1, vec![race])]).start().gives("e", 1, j!([1, 2, 3, 4, 5]));
    for i in 0..4 {
        case = case.ok(&format!("e[{i}]/r/x/a"), 1).stopped(&format!("e[{i}]/r/y/b"), 1);
    }
    let kept: Vec<String> = case.state.nodes.keys().map(ToString::to_string).collect();
    assert!(kept.len() < 8, "{kept:?}");
}

// F. Graphs and handlers: a node has failed, but has not ended while its handler is at work.

fn soft_handled(id: &str) -> Node {
    step_with(id, |step| {
        step.on_error = Some("h".into());
        step.continue_on_error = true;
    })
}

#[test]
fn a_node_of_a_graph_waits_for_the_handler_of_one_that_failed() {
    let plan = graph_plan(vec![(handled("a"), &[]), (step("b"), &[]), (step("c"), &["a", "b"])]);
    let case = Case::with(plan, |_| {}).start().fails("a", 1, StepError::new("no")).ok("b", 1);
    times(&case, "c#1 called", 0);
    let case = case.ok("a", 2);
    ends_with(&case, "run failed");
}

#[test]
fn a_node_of_a_graph_is_called_once_after_a_soft_failure_with_a_handler() {
    let plan = graph_plan(vec![(soft_handled("a"), &[]), (step("b"), &[]), (step("c"), &["a", "b"])]);
    let case = Case::with(plan, |_| {}).start().fails("a", 1, StepError::new("meh")).ok("b", 1).ok("a", 2);
    times(&case, "c#2 called", 0);
    times(&case, "c#1 called", 1);
}

#[test]
fn a_nested_graph_does_not_complete_while_the_handler_of_a_failed_node_is_at_work() {
    let w =
        nested_with("w", vec![], |nested| nested.block = graph(vec![(handled("a"), &[]), (step("b"), &[])]));
    let case = Case::of(vec![w, step("z")]).start().fails("w/a", 1, StepError::new("no")).ok("w/b", 1);
    times(&case, "w completed", 0);
    times(&case, "z#1 called", 0);
    let case = case.ok("w/a", 2);
    ends_with(&case, "run failed");
}

#[test]
fn no_timer_is_left_behind_by_a_node_of_a_graph() {
    let c = step_with("c", |step| step.timeout_ms = Some(100));
    let plan = graph_plan(vec![
        (sleep("a", SleepLength::UntilMs(-1)), &[]),
        (sleep("b", SleepLength::UntilMs(-1)), &[]),
        (c, &["a", "b"]),
        (sleep("d", SleepLength::ForMs(1_000_000)), &["c"]),
    ]);
    let case = Case::with(plan, |_| {}).start().ok("c", 1).ok("c", 2).tick_after(200);
    case.next_timer(Some(1_000_000));
}

// G. Smaller things.

#[test]
fn a_function_that_was_not_found_in_a_failing_block_has_nothing_to_undo() {
    let case = Case::of(vec![parallel("p", vec![("x", vec![undoable("a")]), ("y", vec![step("b")])])])
        .start()
        .fails("p/y/b", 1, StepError::new("no"))
        .function_missing("p/x/a", 1);
    times(&case, "called: compensate", 0);
}

#[test]
fn interruptions_of_a_step_do_not_count_against_its_compensation() {
    let case = Case::of(vec![undoable("a"), step("b")])
        .start()
        .crashes(4)
        .ok("a", 5)
        .fails("b", 1, StepError::new("no"))
        .crash();
    times(&case, "blocked: quarantined", 0);
}

#[test]
fn interruptions_of_a_loop_s_tests_do_not_add_up_over_its_iterations() {
    let each = rival_core::plan::LoopNode {
        body: rival_core::plan::PlanBlock::sequence(vec![step("a")]),
        test: LoopTest::Until("t".into()),
        max_iterations: 20,
    };
    let mut case = Case::of(vec![Node::new("l", rival_core::plan::NodeKind::Loop(each))]).start();
    for i in 0..5 {
        case = case.ok(&format!("l[{i}]/a"), 1).crash().gives("l", 2 * i + 2, j!(false));
    }
    times(&case, "blocked: quarantined", 0);
}

#[test]
fn a_fork_of_a_fork_knows_no_iteration_that_it_did_not_see() {
    let body = || vec![step("a")];
    let old = Case::of(vec![until("l", body())])
        .start()
        .ok("l[0]/a", 1)
        .gives("l", 1, j!(false))
        .ok("l[1]/a", 1)
        .gives("l", 2, j!(false))
        .fails("l[2]/a", 1, StepError::new("no"));
    let second = fork_of(&old, None).fails("l[2]/a", 1, StepError::new("no"));
    let third = fork_of(&second, Some("l[1]/a"));
    times(&third, "l[0] imported: null", 0);
}

#[test]
fn an_imported_step_is_undone_when_the_new_run_fails() {
    let old = Case::of(vec![undoable("a"), step("b")]).start().ok("a", 1).kill();
    let new = fork_of(&old, None).fails("b", 1, StepError::new("no"));
    times(&new, "a#1 called: compensate", 1);
}

#[test]
fn a_soft_failure_is_soft_in_a_failing_block_too() {
    let a = step_with("a", |step| step.continue_on_error = true);
    let case = Case::of(vec![parallel("p", vec![("x", vec![a]), ("y", vec![step("b")])])])
        .start()
        .fails("p/y/b", 1, StepError::new("no"))
        .fails("p/x/a", 1, StepError::new("meh"));
    times(&case, "p/x/a#1 failed: error `meh`, continue", 1);
}

#[test]
fn a_run_that_was_paused_while_it_fails_shows_it() {
    let case = Case::of(vec![undoable("a"), step("b")]).start().ok("a", 1).pause().fails(
        "b",
        1,
        StepError::new("no"),
    );
    let _ = case.status(RunStatus::Paused);
}

#[test]
fn odd_names_are_refused() {
    for name in ["a/b", "a[0]", "a]", "", "[0]"] {
        let p = Plan { ..plan(vec![parallel("p", vec![(name, vec![step("s")]), ("ok", vec![step("t")])])]) };
        assert_ne!(p.check(), [], "{name}");
        assert_ne!(plan(vec![step(name)]).check(), [], "{name}");
    }
}

#[test]
fn a_step_that_must_not_be_called_again_and_was_interrupted_is_undone() {
    let a = step_with("a", |step| {
        step.at_most_once = true;
        step.compensate = Some(CompensationSpec { function: "undo".into(), ..CompensationSpec::default() });
    });
    let case = Case::of(vec![a]).start().crash();
    times(&case, "a#2 called: compensate", 1);
}

#[test]
fn nothing_starts_in_a_lane_that_lost_when_a_crash_ends_two_calls_in_it() {
    let y = vec![parallel("q", vec![("m", vec![step("i")]), ("n", vec![soft_handled("s"), step("t")])])];
    let case = Case::of(vec![joining("p", Join::First, vec![("x", vec![step("a")]), ("y", y)]), step("z")])
        .start()
        .fails("p/y/q/n/s", 1, StepError::new("meh"))
        .ok("p/x/a", 1)
        .crash();
    times(&case, "p/y/q/n/t#1 called", 0);
}

#[test]
fn an_imported_step_of_an_item_is_not_called_again() {
    let mut each = for_each("e", 2, vec![]);
    if let rival_core::plan::NodeKind::ForEach(it) = &mut each.kind {
        it.body = graph(vec![
            (step("x"), &[]),
            (step("a"), &[]),
            (step("y"), &["x"]),
            (step("b"), &["y"]),
            (step("c"), &["a", "b"]),
        ]);
    }
    let mut old = Case::of(vec![each]).start().gives("e", 1, j!([1, 2]));
    for node in ["e[0]/a", "e[0]/x", "e[0]/y", "e[0]/b", "e[0]/c", "e[1]/a", "e[1]/x", "e[1]/y", "e[1]/b"] {
        old = old.ok(node, 1);
    }
    let new = fork_of(&old.fails("e[1]/c", 1, StepError::new("no")), None);
    times(&new, "e[0]/b imported", 1);
    times(&new, "e[0]/b#1 called", 0);
}

#[test]
fn a_lane_is_no_node() {
    let mut each = for_each("e", 1, vec![]);
    if let rival_core::plan::NodeKind::ForEach(it) = &mut each.kind {
        it.body = graph(vec![(step("a"), &[]), (step("b"), &[])]);
    }
    let mut case = Case::of(vec![each, step("z")]).start().gives("e", 1, j!([1, 2, 3]));
    for i in 0..3 {
        case = case.ok(&format!("e[{i}]/a"), 1).ok(&format!("e[{i}]/b"), 1);
    }
    let kept: Vec<String> = case.state.nodes.keys().map(ToString::to_string).collect();
    assert_eq!(kept, ["e", "z"]);
}

#[test]
fn equal_values_have_one_canonical_text() {
    let canonical = |text: &str| Value::from_json(text.to_owned()).unwrap().canonical().into_owned();
    assert_eq!(canonical(r#"{"b": [{"d": 1, "c": 2}], "a": null}"#), r#"{"a":null,"b":[{"c":2,"d":1}]}"#);
    assert_eq!(canonical("[1,  2]"), "[1,  2]", "texts without objects stay as they are");
}
