//! What changed from one plan to another.

use expect_test::{Expect, expect};
use rival_core::Plan;
use rival_core::plan::{
    BlockOrder, Join, NamedBlock, Node, NodeKind, OnFailure, ParallelNode, PlanBlock, SleepLength,
};

use crate::support::{nested, nested_with, plan, sleep, step, step_with};

fn check(old: &Plan, new: &Plan, expected: &Expect) {
    expected.assert_eq(&Plan::diff(old, new).to_string());
}

fn setup(branches: &[(&str, &[&str])]) -> Node {
    let branch = |(name, ids): &(&str, &[&str])| {
        let nodes = ids.iter().map(|id| step(id)).collect();
        NamedBlock { name: (*name).into(), block: PlanBlock::sequence(nodes) }
    };
    let branches = branches.iter().map(branch).collect();
    let (join, on_failure) = (Join::All, OnFailure::Fail);
    Node::new("setup", NodeKind::Parallel(ParallelNode { branches, join, on_failure, finally: None }))
}

#[test]
fn a_plan_does_not_differ_from_itself() {
    let plan = plan(vec![step("a"), setup(&[("l", &["x"])]), nested("n", vec![step("b")])]);
    assert!(Plan::diff(&plan, &plan).is_empty());
    check(
        &plan,
        &plan,
        &expect![[r#"
        no changes
    "#]],
    );
}

#[test]
fn nodes_come_and_go_with_what_is_inside() {
    let old = plan(vec![step("a"), nested("n", vec![step("x"), step("y")]), step("b")]);
    let new = plan(vec![
        step("a"),
        sleep("z", SleepLength::ForMs(5)),
        step("b"),
        setup(&[("l", &["x"]), ("r", &["y"])]),
    ]);
    check(
        &old,
        &new,
        &expect![[r#"
        + parallel `setup`
        + sleep `z`
        - workflow `n`
    "#]],
    );
    check(
        &new,
        &old,
        &expect![[r#"
        + workflow `n`
        - parallel `setup`
        - sleep `z`
    "#]],
    );
}

#[test]
fn settings_are_named_with_what_they_were_and_are() {
    let old = plan(vec![step("a"), sleep("z", SleepLength::ForMs(5)), nested("n", vec![step("b")])]);
    let mut new = plan(vec![
        step_with("a", |step| {
            step.retry.max_attempts = Some(3);
            step.function = "other".into();
        }),
        sleep("z", SleepLength::UntilMs(9)),
        nested_with("n", vec![step_with("b", |step| step.timeout_ms = Some(1))], |nested| {
            nested.on_error = Some("h".into());
        }),
    ]);
    (new.timeout_ms, new.max_retries) = (Some(60_000), 2);
    check(
        &old,
        &new,
        &expect![[r#"
        ~ workflow: maxRetries is now 2
        ~ workflow: timeoutMs is now 60000
        ~ step `a`: function was "a", is "other"
        ~ step `a`: maxAttempts is now 3
        ~ workflow `n`: onError is now "h"
        ~ step `n/b`: timeoutMs is now 1
        ~ sleep `z`: wait was {"forMs":5}, is {"untilMs":9}
    "#]],
    );
    check(
        &new,
        &old,
        &expect![[r#"
        ~ workflow: maxRetries is no longer 2
        ~ workflow: timeoutMs is no longer 60000
        ~ step `a`: function was "other", is "a"
        ~ step `a`: maxAttempts is no longer 3
        ~ workflow `n`: onError is no longer "h"
        ~ step `n/b`: timeoutMs is no longer 1
        ~ sleep `z`: wait was {"untilMs":9}, is {"forMs":5}
    "#]],
    );
}

#[test]
fn a_new_branch_is_a_setting_of_its_block_and_brings_nodes() {
    let old = plan(vec![setup(&[("l", &["x"])])]);
    let new = plan(vec![setup(&[("l", &["x"]), ("r", &["x", "y"])])]);
    check(
        &old,
        &new,
        &expect![[r#"
        + step `setup/r/x`
        + step `setup/r/y`
        ~ parallel `setup`: branches was ["l"], is ["l","r"]
    "#]],
    );
}

#[test]
fn the_fewest_moves_explain_another_order() {
    let old = plan(["a", "b", "c", "d", "e"].map(step).to_vec());
    let new = plan(["b", "c", "a", "d", "e"].map(step).to_vec());
    check(
        &old,
        &new,
        &expect![[r#"
        > step `a`, now after `c`
    "#]],
    );
    let new = plan(["e", "a", "b", "c", "d"].map(step).to_vec());
    check(
        &old,
        &new,
        &expect![[r#"
        > step `e`, now the first
    "#]],
    );
}

#[test]
fn a_node_that_went_into_another_block_has_moved() {
    let old = plan(vec![step("a"), step("x"), nested("n", vec![step("b")])]);
    let new = plan(vec![step("a"), nested("n", vec![step("b"), step("x")])]);
    check(
        &old,
        &new,
        &expect![[r#"
        > step `n/x` was `x`, now after `b`
    "#]],
    );
}

#[test]
fn in_a_graph_only_dependencies_count() {
    let graph =
        |nodes: Vec<Node>| Plan { block: PlanBlock { order: BlockOrder::Graph, nodes }, ..plan(vec![]) };
    let after = |id: &str, after: &str| Node { after: vec![after.into()], ..step(id) };
    let old = graph(vec![step("a"), step("b"), after("c", "a")]);
    let new = graph(vec![step("b"), step("a"), after("c", "b")]);
    check(
        &old,
        &new,
        &expect![[r#"
        ~ step `c`: after was ["a"], is ["b"]
    "#]],
    );
    check(
        &plan(vec![step("a")]),
        &graph(vec![step("a")]),
        &expect![[r#"
        ~ workflow: order is now "graph"
    "#]],
    );
}

#[test]
fn a_diff_is_data() {
    let old = plan(vec![step("a"), step("b")]);
    let new = plan(vec![step("b"), step_with("a", |step| step.at_most_once = true), step("c")]);
    let json = serde_json::to_string_pretty(&Plan::diff(&old, &new)).expect("it is JSON");
    expect![[r#"
        {
          "workflow": [],
          "added": [
            {
              "path": "c",
              "kind": "step"
            }
          ],
          "removed": [],
          "moved": [
            {
              "path": "b",
              "kind": "step",
              "after": null
            }
          ],
          "changed": [
            {
              "path": "a",
              "kind": "step",
              "settings": [
                {
                  "setting": "atMostOnce",
                  "from": null,
                  "to": true
                }
              ]
            }
          ]
        }"#]]
    .assert_eq(&json);
}
