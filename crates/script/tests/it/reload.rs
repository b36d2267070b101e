//! Files that change.

use std::path::PathBuf;

use rival_engine::StartError;
use rival_script::ScriptSettings;
use serde_json::json;

use crate::support::{Lab, settings, write};

fn version(n: u32) -> String {
    format!("function answer() {{ return {n} }}\nexport const steps = [answer]")
}

#[tokio::test]
async fn a_changed_file_is_for_new_runs_and_running_ones_keep_their_functions() {
    let waits = |n: u32| {
        format!(
            "import {{ createWorkflow }} from 'rival'
export default createWorkflow('waits').step(function before() {{ return {n} }}).signal('go').step(function after() {{ return {n} }})"
        )
    };
    let lab = Lab::good(&[("waits.ts", &waits(1))]).await;
    let old = lab.start("waits", json!(null)).await;
    write(lab.folder.path(), &[("waits.ts", &waits(2))]);
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is loaded");
    assert_eq!(loaded.changed, ["waits"]);
    let new = lab.start("waits", json!(null)).await;
    for (run, expected) in [(&old, 1), (&new, 2)] {
        lab.engine.signal(run, "go", json!(null)).await.expect("it is sent");
        let outcome = lab.wait(run).await;
        assert_eq!(outcome.output.expect("it completed").to_json(), json!(expected));
    }
}

#[tokio::test]
async fn a_broken_edit_keeps_the_last_good_version() {
    let lab = Lab::good(&[("a.ts", &version(1)), ("b.ts", &version(1))]).await;
    write(lab.folder.path(), &[("a.ts", "export const steps = ["), ("b.ts", &version(2))]);
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is loaded");
    assert_eq!(loaded.problems.len(), 1);
    assert_eq!(lab.engine.problems().len(), 1);
    assert_eq!(loaded.workflows, ["a", "b"]);
    assert_eq!(lab.output("a", json!(null)).await, json!(1));
    assert_eq!(lab.output("b", json!(null)).await, json!(2));
    write(lab.folder.path(), &[("a.ts", &version(3))]);
    lab.scripts.reload(&lab.engine).await.expect("it is loaded");
    assert!(lab.engine.problems().is_empty());
    assert_eq!(lab.output("a", json!(null)).await, json!(3));
}

#[tokio::test]
async fn a_changed_module_changes_those_that_import_it() {
    let a = "import { answer } from './_lib'\nexport const steps = [answer]";
    let lib = |n: u32| format!("export function answer() {{ return {n} }}");
    let lab = Lab::good(&[("a.ts", a), ("b.ts", &version(7)), ("_lib.ts", &lib(1))]).await;
    write(lab.folder.path(), &[("_lib.ts", &lib(2))]);
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is loaded");
    assert_eq!(loaded.changed, ["a"]);
    assert_eq!(lab.output("a", json!(null)).await, json!(2));
}

#[tokio::test]
async fn a_removed_file_cannot_be_started_any_more() {
    let lab = Lab::good(&[("a.ts", &version(1)), ("b.ts", &version(1))]).await;
    std::fs::remove_file(lab.folder.path().join("a.ts")).expect("it is there");
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is loaded");
    assert_eq!(loaded.workflows, ["b"]);
    assert!(matches!(lab.engine.run("a", json!(null)).await, Err(StartError::UnknownWorkflow { .. })));
}

#[tokio::test]
async fn changes_are_seen_without_being_asked() {
    let lab = Lab::good(&[("a.ts", &version(1))]).await;
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let watching = lab.scripts.watch(&lab.engine, move |loaded| {
        let _ = tell.send(loaded.expect("it is loaded"));
    });
    let _watching = watching.await.expect("the folder is watched");
    write(lab.folder.path(), &[("a.ts", &version(2)), ("sub/c.ts", &version(5))]);
    let mut known = Vec::new();
    while known != ["a", "c"] {
        known = told.recv().await.expect("it goes on").workflows;
    }
    assert_eq!(lab.output("a", json!(null)).await, json!(2));
    assert_eq!(lab.output("c", json!(null)).await, json!(5));
}

#[tokio::test]
async fn a_file_that_moves_stays_registered() {
    let lab = Lab::good(&[("mv.ts", &version(1))]).await;
    let folder = lab.folder.path();
    std::fs::create_dir(folder.join("sub")).expect("the folder is made");
    std::fs::rename(folder.join("mv.ts"), folder.join("sub/mv.ts")).expect("it is moved");
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is loaded");
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    assert_eq!(lab.output("mv", json!(null)).await, json!(1));
}

#[tokio::test]
async fn the_other_of_two_with_one_name_takes_over() {
    let named = |n: u32| format!("export const name = 'same'\n{}", version(n));
    let lab = Lab::new(&[("a.ts", &named(1)), ("b.ts", &named(2))]).await;
    assert_eq!(lab.loaded.problems.len(), 1);
    std::fs::remove_file(lab.folder.path().join("a.ts")).expect("it is there");
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is loaded");
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    assert_eq!(lab.output("same", json!(null)).await, json!(2));
}

#[tokio::test]
async fn links_are_followed_within_the_folder_and_where_it_is_allowed() {
    let elsewhere = tempfile::tempdir().expect("a folder");
    write(elsewhere.path(), &[("linked.ts", &version(3)), ("deep/inner.ts", &version(4))]);
    let links = |lab: &Lab| {
        let link = |from: PathBuf, to: &str| {
            std::os::unix::fs::symlink(from, lab.folder.path().join(to)).expect("a link");
        };
        link(elsewhere.path().join("linked.ts"), "linked.ts");
        link(elsewhere.path().join("deep"), "deep");
        link(lab.folder.path().to_owned(), "again");
    };
    let lab = Lab::good(&[("a.ts", &version(1))]).await;
    links(&lab);
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is loaded");
    assert_eq!(loaded.workflows, ["a"]);
    let told: Vec<&str> = loaded.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert!(
        told.len() == 2 && told.iter().all(|it| it.ends_with("leads out of the folder of the workflows")),
        "{told:?}"
    );

    let settings = ScriptSettings { import_roots: vec![elsewhere.path().to_owned()], ..settings() };
    let lab = Lab::with(settings, &[("a.ts", &version(1))]).await;
    links(&lab);
    let loaded = lab.scripts.reload(&lab.engine).await.expect("it is loaded");
    assert_eq!(loaded.workflows, ["a", "inner", "linked"], "{:?}", loaded.problems);
    assert_eq!(lab.output("inner", json!(null)).await, json!(4));
}
