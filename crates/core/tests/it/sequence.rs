//! Nodes in order: `machine/sequence.rs`.

use expect_test::expect;
use rival_core::{NodeStatus, RunStatus};

use crate::support::{Case, step};

#[test]
fn a_run_that_finds_no_room_is_queued_and_begins_when_there_is() {
    Case::of(vec![step("a")])
        .full()
        .start()
        .status(RunStatus::Queued)
        .activate()
        .roomy()
        .activate()
        .status(RunStatus::Running)
        .ok("a", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        (run) held
            > activate, at 0
            > activate, at 0
               3 <2        (run) started
               4 <3        a#1 called: step attempt 1
            > a#1 returns "a!", at 0
               5 <4        a#1 succeeded: "a!"
               6 <5        run completed, output in 5
        "#]]);
}

#[test]
fn a_queued_run_stays_queued_through_ticks_and_let_go() {
    Case::of(vec![step("a")]).full().start().tick().let_go().status(RunStatus::Queued).then(expect![[r#"
        > start, at 0
           1 request   run started
           2 <1        (run) held
        > tick, at 0
        > let go, at 0
    "#]]);
}

#[test]
fn a_nodes_turn_is_held_when_the_engine_stops() {
    Case::of(vec![step("a"), step("b")])
        .start()
        .full()
        .ok("a", 1)
        .node("b", NodeStatus::Pending)
        .status(RunStatus::Running)
        .roomy()
        .activate()
        .ok("b", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 returns "a!", at 0
               3 <2        a#1 succeeded: "a!"
               4 <3        b held, due: step attempt 1
            > activate, at 0
               5 <4        b#1 called: step attempt 1
            > b#1 returns "b!", at 0
               6 <5        b#1 succeeded: "b!"
               7 <6        run completed, output in 6
        "#]]);
}

#[test]
fn many_nodes_fall_through_without_recursion() {
    let ids: Vec<String> = (0..20_000).map(|n| format!("s{n}")).collect();
    let nodes =
        ids.iter().map(|id| crate::support::sleep(id, rival_core::plan::SleepLength::ForMs(0))).collect();
    let case = Case::of(nodes).start();
    assert_eq!(case.state.status(), RunStatus::Completed);
    assert_eq!(case.events.len(), 40_002);
    case.check();
}
