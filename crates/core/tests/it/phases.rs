//! Phases: a graph in which each node waits for all nodes of the phase before, without saying so for each.

use std::cell::Cell;

use expect_test::expect;
use proptest::collection::vec;
use proptest::prelude::*;
use rival_core::event::{CallRole, EventKind};
use rival_core::failure::StepError;
use rival_core::fork;
use rival_core::machine::{CallOutcome, Effect, MachineInput, RunStart};
use rival_core::plan::{BlockOrder, NestedNode, Node, NodeKind, PlanBlock};
use rival_core::{Event, IndexedPlan, NodeStatus, Path, Plan, RunState, RunStatus, Value, verify};

use crate::fork::{History, fork_of};
use crate::support::{Case, for_each, list, plan, step, step_with, success, undoable};

fn in_phases(phases: Vec<Vec<Node>>) -> Plan {
    Plan { block: PlanBlock::phases(phases), ..plan(Vec::new()) }
}

fn two_by_two() -> Plan {
    in_phases(vec![vec![step("a"), step("b")], vec![step("c"), step("d")]])
}

#[test]
fn a_phase_starts_when_all_of_the_one_before_has_ended_and_the_last_makes_a_map() {
    Case::with(two_by_two(), |_| {}).start().ok("b", 1).skips("a", 1).ok("d", 1).ok("c", 1).then(expect![[
        r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
               3 <1        b#1 called: step attempt 1
            > b#1 returns "b!", at 0
               4 <3        b#1 succeeded: "b!"
            > a#1 skips, at 0
               5 <2        a#1 succeeded: null, skipped
               6 <5        c#1 called: step attempt 1
               7 <5        d#1 called: step attempt 1
            > d#1 returns "d!", at 0
               8 <7        d#1 succeeded: "d!"
            > c#1 returns "c!", at 0
               9 <6        c#1 succeeded: "c!"
              10 <9        (run) joined: [c 9, d 8]
              11 <10       run completed, output in 10
        "#
    ]]);
}

#[test]
fn the_only_node_of_the_last_phase_gives_the_output() {
    let plan = in_phases(vec![vec![step("a"), step("b")], vec![step("c")]]);
    Case::with(plan, |_| {}).start().ok("a", 1).ok("b", 1).quietly().ok("c", 1).then(expect![[r#"
        > c#1 returns "c!", at 0
           7 <6        c#1 succeeded: "c!"
           8 <7        run completed, output in 7
    "#]]);
}

#[test]
fn a_failure_lets_its_phase_settle_and_starts_no_other() {
    Case::with(two_by_two(), |_| {})
        .start()
        .fails("a", 1, StepError::new("no"))
        .node("b", NodeStatus::Running)
        .ok("b", 1)
        .node("c", NodeStatus::Pending)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
               3 <1        b#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               4 <2        a#1 failed: error `no`, fail
               5 <4        (run) failing because of a
            > b#1 returns "b!", at 0
               6 <3        b#1 succeeded: "b!"
               7 <6        run failed in a: error `no`
        "#]]);
}

#[test]
fn a_failure_that_is_gone_on_from_does_not_hold_the_next_phase() {
    let soft = step_with("a", |step| step.continue_on_error = true);
    Case::with(in_phases(vec![vec![soft], vec![step("b")]]), |_| {})
        .start()
        .fails("a", 1, StepError::new("no"))
        .ok("b", 1)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started
               2 <1        a#1 called: step attempt 1
            > a#1 fails (Plain), at 0
               3 <2        a#1 failed: error `no`, continue
               4 <3        b#1 called: step attempt 1
            > b#1 returns "b!", at 0
               5 <4        b#1 succeeded: "b!"
               6 <5        run completed, output in 5
        "#]]);
}

/// The handler of the step that failed belongs to its end.
#[test]
fn a_handler_is_waited_for_before_the_next_phase() {
    let soft = step_with("a", |step| {
        step.continue_on_error = true;
        step.on_error = Some("h".into());
    });
    Case::with(in_phases(vec![vec![soft], vec![step("b")]]), |_| {})
        .start()
        .fails("a", 1, StepError::new("no"))
        .node("b", NodeStatus::Pending)
        .ok("a", 2)
        .node("b", NodeStatus::Running)
        .check();
}

#[test]
fn phases_nest_and_hold_supervisors() {
    let block =
        PlanBlock::phases(vec![vec![step("a")], vec![for_each("each", 2, vec![step("x")]), step("b")]]);
    let nested = NestedNode { workflow: "n".into(), block, input: None, on_error: None };
    Case::of(vec![Node::new("n", NodeKind::Workflow(nested)), step("z")])
        .start()
        .ok("n/a", 1)
        .gives("n/each", 1, serde_json::json!([1]))
        .ok("n/b", 1)
        .quietly()
        .ok("n/each[0]/x", 1)
        .then(expect![[r#"
            > n/each[0]/x#1 returns "n/each[0]/x!", at 0
              11 <9        n/each[0]/x#1 succeeded: "n/each[0]/x!"
              12 <11       n/each[0] through, result in 11
              13 <12       n/each joined: [11]
              14 <13       n/each completed, result in 13
              15 <14       n joined: [each 13, b 10]
              16 <15       n completed, result in 15
              17 <16       z#1 called: step attempt 1
        "#]]);
}

#[test]
fn a_pause_and_a_crash_between_phases_lose_nothing() {
    Case::with(two_by_two(), |_| {})
        .start()
        .ok("a", 1)
        .pause()
        .ok("b", 1)
        .quietly()
        .crash()
        .resume()
        .crash()
        .ok("c", 2)
        .ok("d", 2)
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > activate, at 0
            > resume, at 0
               9 request   run resumed
              10 <9        c#1 called: step attempt 1
              11 <9        d#1 called: step attempt 1
            > activate, at 0
              12 recovery  c#1 lost: crash
              13 <12       c#2 called: step attempt 1
              14 recovery  d#1 lost: crash
              15 <14       d#2 called: step attempt 1
            > c#2 returns "c!", at 0
              16 <13       c#2 succeeded: "c!"
            > d#2 returns "d!", at 0
              17 <15       d#2 succeeded: "d!"
              18 <17       (run) joined: [c 16, d 17]
              19 <18       run completed, output in 18
        "#]]);
}

#[test]
fn later_phases_see_earlier_ones_and_not_their_own() {
    let plan = IndexedPlan::new(in_phases(vec![
        vec![step("a"), step("b")],
        vec![for_each("each", 1, vec![step("x")]), step("c")],
        vec![step("d")],
    ]));
    let seen = |from: &str| plan.visible_ids(&Path::from(from)).join(" ");
    assert_eq!([seen("a"), seen("c"), seen("d")], ["", "a b", "a b each c"]);
    assert_eq!(seen("each[3]/x"), "a b");
    assert_eq!(plan.visible(&Path::from("d"), "each"), Some(Path::from("each")));
    assert_eq!(plan.visible(&Path::from("c"), "each"), None);
    assert_eq!(plan.visible(&Path::from("b"), "a"), None);
    // By the function, which has the name of its step here.
    assert_eq!(plan.producer(&Path::from("each[3]/x"), "b"), Some(Path::from("b")));
    assert_eq!(plan.producer(&Path::from("c"), "d"), None);
    assert_eq!(plan.before(&Path::from("d")), None, "no one node is the last step");
}

#[test]
fn what_is_wrong_with_phases_is_said() {
    let with = |order: BlockOrder, phases: &[u32]| {
        let nodes = phases.iter().zip('a'..).map(|(&phase, id)| Node { phase, ..step(&id.to_string()) });
        let block = PlanBlock { order, nodes: nodes.collect() };
        let errors = Plan { block, ..plan(Vec::new()) }.check();
        errors.iter().map(|error| format!("{error}\n")).collect::<String>()
    };
    assert_eq!(with(BlockOrder::Phases, &[0, 0, 1, 2, 2]), "");
    expect![[r#"
        `a` is in phase 1, where phase 0 is expected: phases are numbered from 0 without gaps, and their nodes are in that order
    "#]].assert_eq(&with(BlockOrder::Phases, &[1]));
    expect![[r#"
        `b` is in phase 2, where phase 1 is expected: phases are numbered from 0 without gaps, and their nodes are in that order
        `d` is in phase 0, where phase 2 is expected: phases are numbered from 0 without gaps, and their nodes are in that order
        `e` is in phase 4294967295, where phase 2 is expected: phases are numbered from 0 without gaps, and their nodes are in that order
    "#]].assert_eq(&with(BlockOrder::Phases, &[0, 2, 1, 0, u32::MAX]));
    expect![[r#"
        `b` has a phase, but its block has none: only the nodes of phases are in one
    "#]]
    .assert_eq(&with(BlockOrder::Sequence, &[0, 1]));
    let mut after = two_by_two();
    after.block.nodes[2].after = vec!["a".into()];
    expect!["`c` has `after`, but its block is in phases: only the nodes of a graph have dependencies"]
        .assert_eq(&after.check()[0].to_string());
}

/// When this fails, plans that are stored do not read, or have another hash than their runs say.
#[test]
fn phases_are_written_as_they_always_were() {
    expect![[r#"{"version":2,"workflow":"w","block":{"order":"phases","nodes":[{"id":"a","kind":"step","function":"a"},{"id":"b","kind":"step","function":"b"},{"id":"c","phase":1,"kind":"step","function":"c"},{"id":"d","phase":1,"kind":"step","function":"d"}]}}"#]].assert_eq(&two_by_two().to_json());
    expect!["138d94056881400bd17803e9dfb5d4e60bc2938d392deb33bfb02cc80cc174ab"]
        .assert_eq(two_by_two().hash().as_str());
    assert_eq!(Plan::from_json(&two_by_two().to_json()).expect("it can be read"), two_by_two());
}

#[test]
fn phases_are_drawn_as_blocks_with_one_edge_between_them() {
    let graph = two_by_two().graph();
    assert!(graph.edges.is_empty());
    assert_eq!(
        graph.nodes.iter().map(|node| node.phase).collect::<Vec<_>>(),
        [Some(0), Some(0), Some(1), Some(1)]
    );
    expect![[r#"
        flowchart TD
        subgraph p0["phase 1"]
          n0["a"]
          n1["b"]
        end
        subgraph p1["phase 2"]
          n2["c"]
          n3["d"]
        end
        p0 --> p1
    "#]]
    .assert_eq(&graph.to_mermaid());
    expect![[r#"
        digraph "w" {
          compound=true;
          node [shape=box];
          subgraph cluster_p0 {
            label="phase 1";
            n0 [label="a"];
            n1 [label="b"];
          }
          subgraph cluster_p1 {
            label="phase 2";
            n2 [label="c"];
            n3 [label="d"];
          }
          n1 -> n2 [ltail=cluster_p0, lhead=cluster_p1];
        }
    "#]]
    .assert_eq(&graph.to_dot());
}

#[test]
fn a_node_in_another_phase_is_a_change() {
    let later = in_phases(vec![vec![step("a")], vec![step("c"), step("d"), step("b")]]);
    expect![[r#"
        ~ step `b`: phase is now 1
    "#]]
    .assert_eq(&Plan::diff(&two_by_two(), &later).to_string());
    let sequence = plan(vec![step("a"), step("b"), step("c"), step("d")]);
    expect![[r#"
        ~ workflow: order is now "phases"
        ~ step `c`: phase is now 1
        ~ step `d`: phase is now 1
    "#]]
    .assert_eq(&Plan::diff(&sequence, &two_by_two()).to_string());
}

#[test]
fn a_fork_takes_whole_phases_and_what_is_done_of_the_next() {
    let plan = in_phases(vec![vec![undoable("a"), step("b")], vec![step("c"), step("d")], vec![step("e")]]);
    let case = Case::with(plan, |_| {}).start().ok("a", 1).ok("b", 1).ok("c", 1);
    let failed = case.fails("d", 1, StepError::new("no")).ok("a", 2);
    // What was undone is done again, and with it all later phases.
    fork_of(&failed, None).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        b imported: Completed "b!"
           3 <1        a#1 called: step attempt 1
    "#]]);
    let case = Case::with(two_by_two(), |_| {}).start().ok("a", 1).ok("b", 1).ok("c", 1);
    let failed = case.fails("d", 1, StepError::new("no"));
    fork_of(&failed, None).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        a imported: Completed "a!"
           3 <1        b imported: Completed "b!"
           4 <1        c imported: Completed "c!"
           5 <1        d#1 called: step attempt 1
    "#]]);
    fork_of(&failed, Some("b")).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        a imported: Completed "a!"
           3 <1        b#1 called: step attempt 1
    "#]]);
}

#[test]
fn a_node_that_begins_before_its_phase_is_seen() {
    let case = Case::with(two_by_two(), |_| {}).start().ok("a", 1).ok("b", 1);
    case.check();
    let mut events = case.events.clone();
    let moved = events.iter().position(|event| matches!(event.kind, EventKind::CallSucceeded { .. }));
    let moved = moved.expect("a step has ended");
    let (c, b) = (events[moved + 2].kind.clone(), events[moved + 1].kind.clone());
    (events[moved + 1].kind, events[moved + 2].kind) = (c, b);
    expect![[r#"
        event 5: order: `b` comes before `c`
    "#]]
    .assert_eq(&list(&verify::check_run(&case.plan, &events)));
}

/// The same as a graph that says each dependency.
fn as_graph(phases: &Plan) -> Plan {
    let after = |node: &Node| {
        let before = phases.block.nodes.iter().filter(|it| it.phase + 1 == node.phase);
        Node { after: before.map(|it| it.id.clone()).collect(), phase: 0, ..node.clone() }
    };
    let nodes = phases.block.nodes.iter().map(after).collect();
    Plan { block: PlanBlock { order: BlockOrder::Graph, nodes }, ..phases.clone() }
}

/// Lets a run go on until it ends; `choices` say which open call ends next, and how.
fn play(plan: Plan, choices: &[(usize, u8)]) -> Case {
    let mut case = Case::with(plan, |_| {});
    let mut open: Vec<(Path, u32, CallRole)> = Vec::new();
    let mut input = MachineInput::Start(RunStart::new(Value::null()));
    for &(which, how) in choices.iter().cycle() {
        let decision = case.decide(input);
        for effect in decision.effects {
            if let Effect::Call(call) = effect {
                open.push((call.node, call.number, call.role));
            }
        }
        if open.is_empty() {
            break;
        }
        let (node, call, role) = open.remove(which % open.len());
        let outcome = match how {
            // What undoes would be tried again later, and there is no clock here.
            0 if role == CallRole::Step => CallOutcome::Failure { error: StepError::new("no"), state: None },
            1 => CallOutcome::Success { result: Value::null(), state: None, skipped: true },
            _ => success(serde_json::json!(node.as_str())),
        };
        input = MachineInput::CallFinished { node, call, outcome };
    }
    case
}

fn kinds(events: &[Event]) -> Vec<&EventKind> {
    // The first names the plan.
    events.iter().skip(1).map(|event| &event.kind).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Phases are nothing but a shorter way to write a graph: same events, same imports, same names in sight.
    #[test]
    fn phases_do_what_their_graph_does(
        sizes in vec(1_usize..4, 1..5),
        settings in vec(0_u8..6, 12),
        choices in vec((any::<usize>(), 0_u8..12), 12),
    ) {
        let mut settings = settings.into_iter().cycle();
        let phases = sizes.iter().enumerate().map(|(phase, size)| (0..*size).map(|n| {
            let id = format!("s{phase}-{n}");
            match settings.next() {
                Some(0) => step_with(&id, |step| step.continue_on_error = true),
                Some(1) => undoable(&id),
                Some(2) => step_with(&id, |step| step.on_error = Some("h".into())),
                _ => step(&id),
            }
        }).collect()).collect();
        let plan = in_phases(phases);
        let (one, other) = (play(plan.clone(), &choices), play(as_graph(&plan), &choices));
        prop_assert!(one.state.is_terminal());
        prop_assert_eq!(kinds(&one.events), kinds(&other.events));
        one.check();
        let imports = |case: &Case| {
            let state = RunState::of_whole_run(&case.events);
            let mut imports = fork::imports(&case.plan, &state, &[], &History(&case.events));
            imports.sort_by_key(|import| format!("{import:?}"));
            imports
        };
        prop_assert_eq!(imports(&one), imports(&other));
        for node in &plan.block.nodes {
            let path = Path::from(node.id.as_str());
            prop_assert_eq!(one.plan.visible_ids(&path), other.plan.visible_ids(&path));
        }
    }
}

/// A thousand steps after a thousand steps: a graph would have a million dependencies.
#[test]
fn wide_phases_cost_what_their_nodes_cost() {
    const WIDE: u32 = 1_000;
    let phase = |name: &str| (0..WIDE).map(|n| step(&format!("{name}{n}"))).collect::<Vec<_>>();
    let wide = in_phases(vec![phase("a"), phase("b")]);
    assert!(wide.to_json().len() < 200 * WIDE as usize);
    assert!(wide.graph().edges.is_empty() && wide.graph().to_dot().len() < 200 * WIDE as usize);
    // However they end, about as many nodes are asked for as there are.
    let plan = IndexedPlan::new(wide.clone());
    let orders: [fn(u32) -> u32; 4] = [|n| n, |n| WIDE - 1 - n, |n| n * 7 % WIDE, |n| n * 617 % WIDE];
    for order in orders {
        let mut ended = vec![false; WIDE as usize];
        let asked = Cell::new(0_u32);
        for n in (0..WIDE).map(order) {
            ended[n as usize] = true;
            let node = plan.node(&Path::from(format!("a{n}").as_str())).expect("it is in the plan");
            let released = node.released(|node| {
                asked.set(asked.get() + 1);
                ended[node.id[1..].parse::<usize>().expect("a number")]
            });
            assert_eq!(released.len(), if ended.iter().all(|ended| *ended) { WIDE as usize } else { 0 });
        }
        assert!(asked.get() < 20 * WIDE, "{} were asked for", asked.get());
    }
    let case = play(wide, &[(7, 9), (0, 9), (501, 9)]);
    assert_eq!(case.state.status(), RunStatus::Completed);
    assert_eq!(list(&verify::check_run(&case.plan, &case.events)), "");
}
