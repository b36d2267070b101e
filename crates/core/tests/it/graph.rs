//! Graphs: `machine/graph.rs`.

use expect_test::expect;
use rival_core::failure::StepError;
use rival_core::plan::{Join, NestedNode, Node, NodeKind, SleepLength};
use rival_core::{NodeStatus, Plan, RunStatus};

use crate::support::{Case, graph, joining, plan, sleep, step};

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
    let nested = NestedNode { workflow: "n".into(), block, input: None, on_error: None };
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

/// The loser has nothing to stop: it has settled before its block has told that it completed.
#[test]
fn the_output_of_a_graph_is_there_when_a_branch_of_its_last_node_loses() {
    let race = || {
        let y = vec![sleep("w", SleepLength::ForMs(5_000))];
        joining("p", Join::First, vec![("x", vec![step("a")]), ("y", y)])
    };
    let block = graph(vec![(step("s"), &[]), (race(), &[])]);
    Case::with(Plan { block, ..plan(Vec::new()) }, |_| {})
        .start()
        .ok("s", 1)
        .quietly()
        .ok("p/x/a", 1)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > p/x/a#1 returns "p/x/a!", at 0
               7 <4        p/x/a#1 succeeded: "p/x/a!"
               8 <7        p/x through, result in 7
               9 <8        p joined: [x 7]
              10 <9        p/y lost, forced at 30000
              11 <10       p/y/w cancelled
              12 <9        p completed, result in 9
              13 <11       p/y stopped
              14 <12       (run) joined: [s 6, p 9]
              15 <14       run completed, output in 14
        "#]]);
    // And when it settles later.
    let y = vec![step("b")];
    let race = joining("p", Join::First, vec![("x", vec![step("a")]), ("y", y)]);
    let block = graph(vec![(step("s"), &[]), (race, &[])]);
    Case::with(Plan { block, ..plan(Vec::new()) }, |_| {})
        .start()
        .ok("s", 1)
        .ok("p/x/a", 1)
        .quietly()
        .stopped("p/y/b", 1)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > p/y/b#1 stopped, at 0
              13 <5        p/y/b#1 cancelled
              14 <13       p/y stopped
              15 <14       run completed, output in 12
        "#]]);
}
