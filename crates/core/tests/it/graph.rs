//! Graphs: `machine/graph.rs`.

use expect_test::expect;
use rival_core::failure::StepError;
use rival_core::plan::{Nested, Node, NodeKind};
use rival_core::{NodeStatus, Plan, RunStatus};

use crate::support::{Case, graph, plan, step};
fn diamond() -> Plan {
    let block =
        graph(vec![(step("a"), &[]), (step("b"), &["a"]), (step("c"), &["a"]), (step("d"), &["b", "c"])]);
    Plan { block, ..plan(Vec::new()) }
}

#[test]
fn a_node_starts_when_all_it_waits_for_has_ended() {
    Case::with(diamond(), |_| {}).start().ok("a", 1).ok("c", 1).ok("b", 1).ok("d", 1).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        a#1 called: step attempt 1
        > a#1 returns "a!", at 0
           3 <2        a#1 succeeded: "a!"
           4 <3        b#1 called: step attempt 1
           5 <3        c#1 called: step attempt 1
        > c#1 returns "c!", at 0
           6 <5        c#1 succeeded: "c!"
        > b#1 returns "b!", at 0
           7 <4        b#1 succeeded: "b!"
           8 <7        d#1 called: step attempt 1
        > d#1 returns "d!", at 0
           9 <8        d#1 succeeded: "d!"
          10 <9        run completed, output in 9
    "#]]);
}

#[test]
fn a_failure_lets_the_others_settle_and_keeps_what_they_left() {
    Case::with(diamond(), |_| {})
        .start()
        .ok("a", 1)
        .fails("b", 1, StepError::new("no"))
        .node("c", NodeStatus::Running)
        .ok("c", 1)
        .node("c", NodeStatus::Completed)
        .node("d", NodeStatus::Pending)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 returns "a!", at 0
               3 <2        a#1 succeeded: "a!"
               4 <3        b#1 called: step attempt 1
               5 <3        c#1 called: step attempt 1
            > b#1 fails (Plain), at 0
               6 <4        b#1 failed: error `no`, fail
               7 <6        (run) failing because of b
            > c#1 returns "c!", at 0
               8 <5        c#1 succeeded: "c!"
               9 <8        run failed in b: error `no`
        "#]]);
}

#[test]
fn several_ends_make_a_map() {
    let block = graph(vec![(step("a"), &[]), (step("b"), &["a"]), (step("c"), &[])]);
    Case::with(Plan { block, ..plan(Vec::new()) }, |_| {}).start().ok("a", 1).ok("b", 1).ok("c", 1).then(
        expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
               3 <1        c#1 called: step attempt 1
            > a#1 returns "a!", at 0
               4 <2        a#1 succeeded: "a!"
               5 <4        b#1 called: step attempt 1
            > b#1 returns "b!", at 0
               6 <5        b#1 succeeded: "b!"
            > c#1 returns "c!", at 0
               7 <3        c#1 succeeded: "c!"
               8 <7        (run) joined: [b 6, c 7]
               9 <8        run completed, output in 8
        "#]],
    );
}

#[test]
fn a_graph_nests() {
    let block = graph(vec![(step("a"), &[]), (step("b"), &[]), (step("c"), &["a", "b"])]);
    let nested = Nested { workflow: "n".into(), block, input: None, on_error: None };
    Case::of(vec![Node::new("n", NodeKind::Workflow(nested)), step("d")])
        .start()
        .ok("n/b", 1)
        .fails("n/a", 1, StepError::new("no"))
        .status(RunStatus::Failed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        n started
               3 <2        n/a#1 called: step attempt 1
               4 <2        n/b#1 called: step attempt 1
            > n/b#1 returns "n/b!", at 0
               5 <4        n/b#1 succeeded: "n/b!"
            > n/a#1 fails (Plain), at 0
               6 <3        n/a#1 failed: error `no`, fail
               7 <6        n failed because of n/a
               8 <7        run failed in n/a: error `no`
        "#]]);
}

#[test]
fn a_crash_makes_what_was_at_work_again() {
    Case::with(diamond(), |_| {}).start().ok("a", 1).ok("b", 1).quietly().crash().ok("c", 2).then(expect![[
        r#"
            > activate, at 0
               7 recovery  c#1 lost: crash
               8 <7        c#2 called: step attempt 1
            > c#2 returns "c!", at 0
               9 <8        c#2 succeeded: "c!"
              10 <9        d#1 called: step attempt 1
        "#
    ]]);
}
