//! Triggers: in plans, and what becomes of them when a run completes.

use expect_test::expect;
use rival_core::event::{EventKind, TriggerOrigin};
use rival_core::machine::RunStart;
use rival_core::plan::{PLAN_VERSION, Trigger, is_system_workflow};
use rival_core::{FailureRecord, Path, Plan, RunId, RunState, StepError, Value, fork};
use serde_json::json as j;

use crate::fork::History;
use crate::support::{Case, for_each, json, list, plan, step, step_with};
use rival_core::verify;

fn trigger(workflow: &str) -> Trigger {
    Trigger::new(workflow, &json(j!({"id": {"$": ["output", "id"]}}))).expect("it is not too deep")
}

fn triggering(triggers: Vec<Trigger>) -> Plan {
    Plan { triggers, ..plan(vec![step("a")]) }
}

#[test]
fn a_plan_without_triggers_does_not_say_so() {
    let text = plan(vec![step("a")]).to_json();
    expect![[r#"{"workflow":"w","block":{"nodes":[{"id":"a","kind":"step","function":"a"}]}}"#]]
        .assert_eq(&text);
}

#[test]
fn a_plan_with_triggers_is_read_back_as_it_was_written() {
    let each = trigger("each").with_list(&json(j!({"$": ["output", "items"]}))).expect("it is not too deep");
    let mut set = trigger("other");
    (set.timeout_ms, set.max_retries) = (Some(60_000), Some(5));
    let plan = triggering(vec![each, set]);
    expect![[r#"{"version":3,"workflow":"w","block":{"nodes":[{"id":"a","kind":"step","function":"a"}]},"triggers":[{"workflow":"each","inputs":{"id":{"$":["output","id"]}},"forEach":{"$":["output","items"]}},{"workflow":"other","inputs":{"id":{"$":["output","id"]}},"timeoutMs":60000,"maxRetries":5}]}"#]]
        .assert_eq(&plan.to_json());
    expect!["733bffc0f1a5ef1830c81759926c6c6e64e230754516ba05e2baf329821bf579"]
        .assert_eq(plan.hash().as_str());
    assert_eq!(plan.version(), PLAN_VERSION);
    let back = Plan::from_json(&plan.to_json()).expect("what is written can be read");
    assert_eq!(back, plan);
    assert!(plan.check().is_empty());
}

#[test]
fn the_order_of_keys_in_a_template_does_not_make_another_plan() {
    let of = |inputs: &str| {
        let inputs = Value::from_json(inputs.to_owned()).expect("it is JSON");
        triggering(vec![Trigger::new("x", &inputs).expect("it is not too deep")])
    };
    let (one, same) =
        (of(r#"{"b":12345678901234567890,"a":1}"#), of(r#"{ "a":1, "b":12345678901234567890}"#));
    assert_eq!(one.hash(), same.hash());
    assert!(one.to_json().contains("12345678901234567890"), "{}", one.to_json());
    let written =
        one.to_json().replace(r#"{"a":1,"b":12345678901234567890}"#, r#"{"b":12345678901234567890,"a":1}"#);
    assert_eq!(Plan::from_json(&written).expect("it is a plan").hash(), one.hash());
}

#[test]
fn everything_that_is_wrong_with_triggers_is_said() {
    let mut timed = trigger("x");
    timed.timeout_ms = Some(0);
    let wrong = vec![trigger(""), trigger("rival:triggers"), timed];
    let messages: Vec<String> = triggering(wrong).check().iter().map(ToString::to_string).collect();
    expect![[r#"
        `` is not a name for the workflow of a trigger: use 1 to 128 letters, digits, `_`, `-`, `.`, `:` or spaces inside
        `rival:triggers` is a name of Rival's own: give the workflow one that does not begin with `rival:`
        `trigger 3`: timeout must be at least 1"#]]
    .assert_eq(&messages.join("\n"));
    let many = triggering(vec![trigger("x"); 1_001]).check();
    assert_eq!(many[0].to_string(), "the workflow has 1001 triggers, and may have 1000");
    let own = Plan { workflow: "rival:mine".into(), ..plan(vec![step("a")]) };
    assert_eq!(own.check().len(), 1);
    assert!(is_system_workflow("rival:mine") && !is_system_workflow("rival"));
}

#[test]
fn a_changed_trigger_is_a_change_of_the_workflow() {
    let triggers = &triggering(vec![trigger("x")]);
    let changes = Plan::diff(&plan(vec![step("a")]), triggers).workflow;
    assert_eq!(changes.iter().map(|change| change.setting.as_str()).collect::<Vec<_>>(), ["triggers"]);
    assert!(Plan::diff(triggers, triggers).is_empty());
}

#[test]
fn triggers_are_drawn_after_the_last_node() {
    let each = trigger("each").with_list(&json(j!([]))).expect("it is not too deep");
    let graph = Plan { triggers: vec![trigger("x"), each], ..plan(vec![step("a"), step("b")]) }.graph();
    expect![[r#"
        flowchart TD
        n0["a"]
        n1["b"]
        n0 --> n1
        t0[["starts x"]]
        n1 -.-> t0
        t1[["starts each for each item"]]
        n1 -.-> t1
    "#]]
    .assert_eq(&graph.to_mermaid());
    expect![[r#"
        digraph "w" {
          compound=true;
          node [shape=box];
          n0 [label="a"];
          n1 [label="b"];
          n0 -> n1;
          t0 [label="starts x", style=dashed];
          n1 -> t0 [style=dashed];
          t1 [label="starts each for each item", style=dashed];
          n1 -> t1 [style=dashed];
        }
    "#]]
    .assert_eq(&graph.to_dot());
}

#[test]
fn runs_are_called_after_the_run_that_triggers_them() {
    let run = RunId::from("order-7");
    assert_eq!(run.triggers().as_str(), "order-7~triggers");
    assert_eq!(run.triggers().next_retry().as_str(), "order-7~triggers~1");
    assert_eq!(run.triggered(0, None).as_str(), "order-7~t0");
    assert_eq!(run.triggered(1, Some(17)).as_str(), "order-7~t1.17");
    assert_eq!(run.triggered(1, Some(17)).next_retry().as_str(), "order-7~t1.17~1");
}

#[test]
fn a_run_that_completes_names_the_run_that_starts_what_it_triggers() {
    Case::with(triggering(vec![trigger("x")]), |_| {}).start().ok("a", 1).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > a#1 returns "a!", at 0
           3 <2        a#1 succeeded: "a!"
           4 <3        run completed, output in 3, triggers in r~triggers
            start r~triggers
    "#]]);
}

#[test]
fn a_run_that_does_not_complete_triggers_nothing() {
    let case = || Case::with(triggering(vec![trigger("x")]), |_| {}).start();
    for case in [case().fails("a", 1, StepError::new("no")), case().cancel().stopped("a", 1)] {
        assert!(case.state.is_terminal());
        assert!(case.state.end.is_some_and(|end| end.triggers.is_none()));
    }
}

#[test]
fn a_run_knows_the_trigger_that_started_it() {
    let origin = TriggerOrigin { run: "r0".into(), index: 2, item: None, depth: 3 };
    let start = RunStart { trigger: Some(Box::new(origin.clone())), ..RunStart::new(Value::null()) };
    let case = Case::of(vec![step("a")]).start_with(start);
    assert_eq!(case.state.trigger.as_deref(), Some(&origin));
    assert_eq!((case.events[0].v, case.events[1].v), (7, 1));
}

#[test]
fn an_end_that_keeps_triggers_to_itself_is_seen() {
    let case = Case::with(triggering(vec![trigger("x")]), |_| {}).start().ok("a", 1);
    let mut events = case.events.clone();
    let Some(EventKind::RunCompleted { triggers, .. }) = events.last_mut().map(|event| &mut event.kind)
    else {
        panic!("it did not complete");
    };
    *triggers = None;
    let found = verify::check_run(&case.plan, &events);
    assert_eq!(list(&found).trim_end(), "event 4: settings: it names no run that starts what it triggers");
}

#[test]
fn a_chain_of_triggers_that_is_too_long_is_seen() {
    let origin = TriggerOrigin { run: "r0".into(), index: 0, item: None, depth: 11 };
    let start = RunStart { trigger: Some(Box::new(origin)), ..RunStart::new(Value::null()) };
    let case = Case::of(vec![step("a")]).start_with(start);
    let found = verify::check_run(&case.plan, &case.events);
    assert_eq!(
        list(&found).trim_end(),
        "event 1: settings: it is run 11 in a chain of triggers, which may have 10"
    );
}

/// So a retry of the run that starts what another triggers does only what failed again.
#[test]
fn a_run_that_goes_on_from_several_points_takes_over_all_others() {
    let soft = step_with("do", |step| step.continue_on_error = true);
    let case = Case::of(vec![for_each("all", 2, vec![soft]), step("sum")])
        .start()
        .gives("all", 1, j!([1, 2, 3]))
        .fails("all[0]/do", 1, StepError::new("no"))
        .ok("all[1]/do", 1)
        .fails("all[2]/do", 1, StepError::new("no"))
        .fails("sum", 1, FailureRecord::new("some", "not all").stop());
    let state = RunState::of_whole_run(&case.events);
    let points = ["all[0]/do", "all[2]/do"].map(Path::from);
    let imports = fork::imports(&case.plan, &state, &points, &History(&case.events));
    Case::of(vec![
        for_each("all", 2, vec![step_with("do", |step| step.continue_on_error = true)]),
        step("sum"),
    ])
    .named("r2")
    .start_with(RunStart { source: Some("r".into()), imports, ..RunStart::new(json(j!({"n": 1}))) })
    .ok("all[0]/do", 1)
    .ok("all[2]/do", 1)
    .ok("sum", 1)
    .then(expect![[r#"
            > start, at 0
               1 request   run started, retries r
               2 <1        all decided before: [1,2,3] None Some(3)
               3 <1        all[1]/do imported: Completed "all[1]/do!"
               4 <1        all started, 3 lanes, 2 at a time
               5 <4        all[0]/do#1 called: step attempt 1
               6 <4        all[1] through, result in 3
               7 <6        all[2]/do#1 called: step attempt 1
            > all[0]/do#1 returns "all[0]/do!", at 0
               8 <5        all[0]/do#1 succeeded: "all[0]/do!"
               9 <8        all[0] through, result in 8
            > all[2]/do#1 returns "all[2]/do!", at 0
              10 <7        all[2]/do#1 succeeded: "all[2]/do!"
              11 <10       all[2] through, result in 10
              12 <11       all joined: [8, 3, 10]
              13 <12       all completed, result in 12
              14 <13       sum#1 called: step attempt 1
            > sum#1 returns "sum!", at 0
              15 <14       sum#1 succeeded: "sum!"
              16 <15       run completed, output in 15
        "#]]);
}
