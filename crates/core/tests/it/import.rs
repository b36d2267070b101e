//! Retries of failed runs: outcomes taken over from another run.

use expect_test::expect;
use rival_core::event::ImportedStatus;
use rival_core::failure::FailureRecord;
use rival_core::fork::{ForkImport, NodeImport};
use rival_core::machine::RunStart;
use rival_core::{NodeStatus, RunStatus, Value};
use serde_json::json as j;

use crate::support::{Case, import, nested, nested_with, node_import, step, step_with};

fn retry(imports: Vec<ForkImport>) -> RunStart {
    RunStart { source: Some("r0".into()), imports, ..RunStart::new(Value::null()) }
}

#[test]
fn imported_nodes_count_as_ended_and_the_rest_runs() {
    let soft = ForkImport::Node(NodeImport {
        failure: Some(FailureRecord::new("error", "meh")),
        ..node_import("c", ImportedStatus::Failed, j!(null))
    });
    let imports = vec![
        import("a", ImportedStatus::Completed, j!(1)),
        import("b", ImportedStatus::Skipped, j!(null)),
        soft,
    ];
    Case::of(vec![step("a"), step("b"), step("c"), step("d")])
        .start_with(retry(imports))
        .node("a", NodeStatus::Completed)
        .node("b", NodeStatus::Skipped)
        .node("c", NodeStatus::Failed)
        .ok("d", 1)
        .then(expect![[r#"
            > start, at 0
               1 request   run started, retries r0
               2 <1        a imported: Completed 1
               3 <1        b imported: Skipped null
               4 <1        c imported: Failed null
               5 <1        d#1 called: step attempt 1
            > d#1 returns "d!", at 0
               6 <5        d#1 succeeded: "d!"
               7 <6        run completed, output in 6
        "#]]);
}

#[test]
fn a_retry_goes_on_inside_nested_workflows() {
    let n = nested_with("n", vec![step("a"), nested("m", vec![step("b"), step("c")])], |nested| {
        nested.input = Some("map".into());
    });
    let imports = vec![
        import("n/a", ImportedStatus::Completed, j!(1)),
        import("n/m/b", ImportedStatus::Completed, j!(2)),
    ];
    Case::of(vec![n]).start_with(retry(imports)).gives("n", 1, j!({})).ok("n/m/c", 1).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r0
           2 <1        n/a imported: Completed 1
           3 <1        n/m/b imported: Completed 2
           4 <1        n#1 called: input attempt 1
        > n#1 returns {}, at 0
           5 <4        n#1 succeeded: {}
           6 <5        n started
           7 <6        n/m started
           8 <7        n/m/c#1 called: step attempt 1
        > n/m/c#1 returns "n/m/c!", at 0
           9 <8        n/m/c#1 succeeded: "n/m/c!"
          10 <9        n/m completed, result in 9
          11 <10       n completed, result in 9
          12 <11       run completed, output in 9
    "#]]);
}

#[test]
fn a_nested_workflow_is_imported_as_a_whole() {
    let imports = vec![import("n", ImportedStatus::Completed, j!("out"))];
    Case::of(vec![nested("n", vec![step("a")])])
        .start_with(retry(imports))
        .status(RunStatus::Completed)
        .then(expect![[r#"
            > start, at 0
               1 request   run started, retries r0
               2 <1        n imported: Completed "out"
               3 <1        run completed, output in 2
        "#]]);
}

#[test]
fn the_handler_of_an_imported_soft_failure_is_not_called_again() {
    let a = step_with("a", |step| step.on_error = Some("h".into()));
    let imports = vec![import("a", ImportedStatus::Failed, j!(null))];
    Case::of(vec![a, step("b")]).start_with(retry(imports)).then(expect![[r#"
        > start, at 0
           1 request   run started, retries r0
           2 <1        a imported: Failed null
           3 <1        b#1 called: step attempt 1
    "#]]);
}

#[test]
fn a_retry_that_finds_no_room_is_queued_with_its_imports() {
    let imports = vec![import("a", ImportedStatus::Completed, j!(1))];
    Case::of(vec![step("a"), step("b")])
        .full()
        .start_with(retry(imports))
        .status(RunStatus::Queued)
        .roomy()
        .activate()
        .then(expect![[r#"
            > start, at 0
               1 request   run started, retries r0
               2 <1        a imported: Completed 1
               3 <1        (run) held
            > activate, at 0
               4 <3        (run) started
               5 <4        b#1 called: step attempt 1
        "#]]);
}
