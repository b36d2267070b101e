//! What a new run takes over from an old one: `fork.rs`.

use expect_test::expect;
use rival_core::event::{EventKind, ResultParts};
use rival_core::failure::StepError;
use rival_core::fork::{self, HistoryReader};
use rival_core::machine::RunStart;
use rival_core::plan::Node;
use rival_core::{Event, FailureRecord, Path, Plan, RunState, Seq, Value};
use serde_json::json as j;

use crate::support::{Case, branch, for_each, graph, json, parallel, plan, step, undoable, until};

pub(crate) struct History<'a>(pub(crate) &'a [Event]);

impl History<'_> {
    fn at(&self, seq: Seq) -> &Event {
        self.0.iter().find(|event| event.seq == seq).expect("histories have no gaps")
    }
}

impl HistoryReader for History<'_> {
    fn value(&self, seq: Seq) -> Option<Value> {
        match &self.at(seq).kind {
            EventKind::Joined { parts: ResultParts::List(parts), .. } => {
                Some(json(j!(format!("{} parts", parts.len()))))
            }
            EventKind::Joined { parts: ResultParts::Map(parts), .. } => {
                Some(json(j!(format!("{} parts", parts.len()))))
            }
            other => other.value().cloned(),
        }
    }

    fn state(&self, seq: Seq) -> Option<Value> {
        self.at(seq).kind.state().cloned()
    }

    fn failure(&self, seq: Seq) -> Option<FailureRecord> {
        self.at(seq).kind.failure().cloned()
    }
}

/// The run that goes on from this one, at a point or where it failed.
pub(crate) fn fork_of(case: &Case, point: Option<&str>) -> Case {
    fork_with(case, case.plan.plan().clone(), point)
}

fn fork_with(case: &Case, plan: Plan, point: Option<&str>) -> Case {
    case.check();
    let next = Case::with(plan, |_| {}).named("r2");
    let points: Vec<Path> = point.into_iter().map(Path::from).collect();
    let state = RunState::of_whole_run(&case.events);
    let imports = fork::imports(&next.plan, &state, &points, &History(&case.events));
    next.start_with(RunStart { source: Some("r".into()), imports, ..RunStart::new(json(j!({"n": 1}))) })
}

fn run_of(nodes: Vec<Node>) -> Case {
    Case::of(nodes).start()
}

#[test]
fn a_retry_begins_at_the_failed_step() {
    let case = run_of(vec![step("a"), step("b"), step("c")]).ok("a", 1).fails("b", 1, StepError::new("no"));
    fork_of(&case, None).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        a imported: Completed "a!"
           3 <1        b#1 called: step attempt 1
    "#]]);
}

#[test]
fn what_was_undone_runs_again_and_so_does_what_came_after() {
    let case = run_of(vec![step("a"), undoable("b"), step("c"), step("d")])
        .ok("a", 1)
        .ok("b", 1)
        .ok("c", 1)
        .fails("d", 1, StepError::new("no"))
        .ok("b", 2);
    fork_of(&case, None).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        a imported: Completed "a!"
           3 <1        b#1 called: step attempt 1
    "#]]);
}

#[test]
fn a_fork_goes_on_from_any_node_of_a_completed_run() {
    let case = run_of(vec![step("a"), step("b"), step("c")]).ok("a", 1).ok("b", 1).ok("c", 1);
    fork_of(&case, Some("b")).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        a imported: Completed "a!"
           3 <1        b#1 called: step attempt 1
    "#]]);
}

#[test]
fn finished_branches_are_taken_and_the_failed_one_goes_on() {
    let p = parallel("p", vec![("x", vec![step("a")]), ("y", vec![step("b"), step("c")])]);
    let case =
        run_of(vec![p, step("d")]).ok("p/x/a", 1).ok("p/y/b", 1).fails("p/y/c", 1, StepError::new("no"));
    fork_of(&case, None).ok("p/y/c", 1).ok("d", 1).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        p/x/a imported: Completed "p/x/a!"
           3 <1        p/y/b imported: Completed "p/y/b!"
           4 <1        p started, 2 lanes
           5 <4        p/x through, result in 2
           6 <4        p/y/c#1 called: step attempt 1
        > p/y/c#1 returns "p/y/c!", at 0
           7 <6        p/y/c#1 succeeded: "p/y/c!"
           8 <7        p/y through, result in 7
           9 <8        p joined: [x 2, y 7]
          10 <9        p completed, result in 9
          11 <10       d#1 called: step attempt 1
        > d#1 returns "d!", at 0
          12 <11       d#1 succeeded: "d!"
          13 <12       run completed, output in 12
    "#]]);
}

#[test]
fn a_completed_block_is_taken_whole() {
    let p = parallel("p", vec![("x", vec![step("a")]), ("y", vec![step("b")])]);
    let case = run_of(vec![p, step("d")]).ok("p/x/a", 1).ok("p/y/b", 1).fails("d", 1, StepError::new("no"));
    fork_of(&case, None).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        p imported: Completed "2 parts"
           3 <1        d#1 called: step attempt 1
    "#]]);
}

#[test]
fn items_that_are_done_are_taken_and_the_list_is_not_asked_for_again() {
    let case = run_of(vec![for_each("all", 2, vec![step("a"), step("b")])])
        .gives("all", 1, j!([1, 2, 3]))
        .ok("all[0]/a", 1)
        .ok("all[1]/a", 1)
        .ok("all[1]/b", 1)
        .ok("all[2]/a", 1)
        .fails("all[0]/b", 1, StepError::new("no"))
        .ok("all[2]/b", 1);
    fork_of(&case, None).ok("all[0]/b", 1).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        all decided before: [1,2,3] None Some(3)
           3 <1        all[0]/a imported: Completed "all[0]/a!"
           4 <1        all[1]/a imported: Completed "all[1]/a!"
           5 <1        all[1]/b imported: Completed "all[1]/b!"
           6 <1        all[2]/a imported: Completed "all[2]/a!"
           7 <1        all[2]/b imported: Completed "all[2]/b!"
           8 <1        all started, 3 lanes, 2 at a time
           9 <8        all[0]/b#1 called: step attempt 1
          10 <8        all[1] through, result in 5
          11 <10       all[2] through, result in 7
        > all[0]/b#1 returns "all[0]/b!", at 0
          12 <9        all[0]/b#1 succeeded: "all[0]/b!"
          13 <12       all[0] through, result in 12
          14 <13       all joined: [12, 5, 7]
          15 <14       all completed, result in 14
          16 <15       run completed, output in 14
    "#]]);
}

#[test]
fn a_fork_inside_of_a_sequential_for_each_takes_only_earlier_items() {
    let case = run_of(vec![for_each("all", 1, vec![step("a")])])
        .gives("all", 1, j!([1, 2, 3]))
        .ok("all[0]/a", 1)
        .ok("all[1]/a", 1)
        .ok("all[2]/a", 1);
    fork_of(&case, Some("all[1]/a")).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        all decided before: [1,2,3] None Some(3)
           3 <1        all[0]/a imported: Completed "all[0]/a!"
           4 <1        all started, 3 lanes, 1 at a time
           5 <4        all[0] through, result in 3
           6 <5        all[1]/a#1 called: step attempt 1
    "#]]);
}

#[test]
fn a_loop_goes_on_with_the_iteration_that_failed() {
    let case = run_of(vec![until("poll", vec![step("a"), step("b")])])
        .ok("poll[0]/a", 1)
        .ok("poll[0]/b", 1)
        .gives("poll", 1, j!(false))
        .ok("poll[1]/a", 1)
        .fails("poll[1]/b", 1, StepError::new("no"));
    fork_of(&case, None).ok("poll[1]/b", 1).gives("poll", 1, j!(true)).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        poll[0] imported: "poll[0]/b!"
           3 <1        poll[1]/a imported: Completed "poll[1]/a!"
           4 <1        poll started
           5 <4        poll[0] through, result in 2
           6 <5        poll[1]/b#1 called: step attempt 1
        > poll[1]/b#1 returns "poll[1]/b!", at 0
           7 <6        poll[1]/b#1 succeeded: "poll[1]/b!"
           8 <7        poll[1] through, result in 7
           9 <8        poll#1 called: test attempt 1
        > poll#1 returns true, at 0
          10 <9        poll#1 succeeded: true
          11 <10       poll completed, result in 7
          12 <11       run completed, output in 7
    "#]]);
}

#[test]
fn a_choice_is_taken_over() {
    let check = branch("check", vec![("then", vec![step("a"), step("b")]), ("else", vec![step("c")])], None);
    let case = run_of(vec![check]).gives("check", 1, j!(true)).ok("check/then/a", 1).fails(
        "check/then/b",
        1,
        StepError::new("no"),
    );
    fork_of(&case, None).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        check decided before: null Some("then") None
           3 <1        check/then/a imported: Completed "check/then/a!"
           4 <1        check started, case then
           5 <4        check/then/b#1 called: step attempt 1
    "#]]);
}

#[test]
fn in_a_graph_what_does_not_depend_on_the_point_is_taken() {
    let nodes = vec![
        (step("a"), &[][..]),
        (step("b"), &["a"][..]),
        (step("c"), &["a"][..]),
        (step("d"), &["b", "c"][..]),
    ];
    let case = Case::with(Plan { block: graph(nodes), ..plan(Vec::new()) }, |_| {})
        .start()
        .ok("a", 1)
        .ok("b", 1)
        .ok("c", 1)
        .ok("d", 1);
    fork_of(&case, Some("b")).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        a imported: Completed "a!"
           3 <1        c imported: Completed "c!"
           4 <1        b#1 called: step attempt 1
    "#]]);
}

#[test]
fn another_definition_takes_what_it_still_has() {
    let case = run_of(vec![step("a"), step("b"), step("c")]).ok("a", 1).ok("b", 1).fails(
        "c",
        1,
        StepError::new("no"),
    );
    fork_with(&case, plan(vec![step("a"), step("new"), step("b"), step("c")]), None).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r
           2 <1        a imported: Completed "a!"
           3 <1        new#1 called: step attempt 1
    "#]]);
}
