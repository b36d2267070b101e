//! Runs that leave a store as one document, and come back.

use std::sync::Arc;

use rival::prelude::*;
use rival::{Archive, ImportError, LogFilter, MemoryStore, RunId, RunStatus};
use rival_engine::verify;
use serde_json::{Value as Json, json};

use crate::lab::{Lab, facts};
use crate::steps::{Gate, Tape, gives};

facts![
    a_run_comes_back_as_it_was,
    the_same_run_again_changes_nothing,
    another_run_of_the_same_id_is_refused,
    a_run_under_way_can_be_looked_at_and_not_imported,
    a_document_that_was_changed_is_refused,
    a_run_that_another_led_to_needs_that_one_first,
    a_child_that_nobody_names_is_refused,
    what_no_run_can_have_recorded_is_refused,
    an_import_that_was_cut_short_is_finished,
    a_document_can_stand_in_a_page,
];

fn logging(name: &'static str) -> rival::TypedStep<u32> {
    let step = |log: Log| {
        log.info(json!({ "tree": "oak" }), "a line");
        async { Ok::<_, StepError>(7) }
    };
    step.named(name)
}

fn workflow() -> Workflow<u32, u32> {
    Workflow::new("w").input::<u32>().step(gives("first", 1)).step(logging("second")).build().unwrap()
}

/// A run that has ended, on the lab's store.
async fn exported(lab: &Lab) -> Archive {
    let engine = lab.engine(&workflow()).await;
    let run = engine.run("w", 5).id("r").tag("blue").await.unwrap();
    engine.finish(run.id()).await.unwrap();
    engine.export(run.id()).await.unwrap()
}

async fn empty() -> Engine {
    Engine::builder().passive().build().await.unwrap()
}

/// The document as a file would hold it, with something changed.
fn changed(archive: &Archive, change: impl FnOnce(&mut Json)) -> Result<Archive, ImportError> {
    let mut json = serde_json::to_value(archive).unwrap();
    change(&mut json);
    Archive::from_json(&json.to_string())
}

async fn a_run_comes_back_as_it_was(lab: Lab) {
    let archive = exported(&lab).await;
    let store = Arc::new(MemoryStore::default());
    let other = Engine::builder().store(Arc::clone(&store)).passive().build().await.unwrap();
    let read = Archive::from_json(&serde_json::to_string(&archive).unwrap()).unwrap();
    let imported = other.import(&read).await.unwrap();
    assert!(imported.new);
    let id = RunId::from("r");
    let view = other.get(&id).await.unwrap();
    assert_eq!((view.output.unwrap().to_json(), &*view.tags[0]), (json!(7), "blue"));
    assert_eq!(other.history(&id).await.unwrap(), archive.events);
    // Except for a tag: this engine has not seen the run, so the tag says that it was imported.
    let mut again = other.export(&id).await.unwrap();
    assert_eq!(again.run.tags, ["blue", "imported"]);
    again.run.tags.pop();
    assert_eq!(Archive { exported_at: archive.exported_at, ..again }, archive);
    assert_eq!(archive.logs[0].message, "a line");
    let report = verify::check_store(&*store).await.unwrap();
    assert!(report.is_sound(), "{:#?}", report.breaches);
}

async fn the_same_run_again_changes_nothing(lab: Lab) {
    let archive = exported(&lab).await;
    let other = empty().await;
    assert!(other.import(&archive).await.unwrap().new);
    assert!(!other.import(&archive).await.unwrap().new);
    assert_eq!(other.logs(&RunId::from("r"), &LogFilter::default()).await.unwrap().len(), 1);
    // Also where it comes from.
    assert!(!lab.engine(&workflow()).await.import(&archive).await.unwrap().new);
}

async fn another_run_of_the_same_id_is_refused(lab: Lab) {
    let archive = exported(&lab).await;
    let other = Engine::builder().workflow(workflow()).build().await.unwrap();
    let run = other.run("w", 6).id("r").await.unwrap();
    run.wait().await.unwrap();
    let refused = other.import(&archive).await.unwrap_err();
    assert_eq!(refused.code(), "run_conflict");
    assert_eq!(other.get(run.id()).await.unwrap().input.to_json(), json!(6));
}

async fn a_run_under_way_can_be_looked_at_and_not_imported(lab: Lab) {
    let (tape, gate) = (Tape::default(), Gate::default());
    let workflow =
        Workflow::new("w").step(gives("first", 1)).step(tape.gated("held", &gate)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap();
    gate.arrived(1).await;
    let archive = engine.export(run.id()).await.unwrap();
    assert_eq!(empty().await.import(&archive).await.unwrap_err().code(), "run_not_ended");
    let seen = Engine::of_archive(&archive).await.unwrap().get(run.id()).await.unwrap();
    assert_eq!((seen.status, seen.steps.len()), (RunStatus::Running, 2));
    gate.open();
}

async fn a_document_that_was_changed_is_refused(lab: Lab) {
    let archive = exported(&lab).await;
    let changes: [fn(&mut Json); 9] = [
        |json| json["format"] = json!("another"),
        |json| json["version"] = json!(2),
        |json| json["run"]["status"] = json!("failed"),
        |json| json["run"]["workflow"] = json!("another"),
        |json| json["run"]["runId"] = json!("../r"),
        |json| json["plan"]["plan"]["block"]["nodes"][0]["id"] = json!("another"),
        |json| json["events"].as_array_mut().unwrap().clear(),
        |json| drop(json["events"].as_array_mut().unwrap().remove(2)),
        |json| json["events"][1]["v"] = json!(99),
    ];
    let other = empty().await;
    for (n, change) in changes.into_iter().enumerate() {
        let refused = other.import(&changed(&archive, change).unwrap()).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_archive", "change {n}: {refused}");
    }
    assert_eq!(Archive::from_json("{}").unwrap_err().code(), "invalid_archive");
    assert!(other.runs(&rival::RunFilter::default(), &rival::Page::default()).await.unwrap().is_empty());
}

async fn a_run_that_another_led_to_needs_that_one_first(lab: Lab) {
    let tape = Tape::default();
    let failing = Workflow::new("w").max_retries(1).step(tape.failing("never")).build().unwrap();
    let engine = lab.engine(&failing).await;
    let run = engine.run("w", ()).id("r").await.unwrap();
    engine.finish(run.id()).await.unwrap();
    let next = RunId::from("r~1");
    engine.finish(&next).await.unwrap();
    let (first, second) = (engine.export(run.id()).await.unwrap(), engine.export(&next).await.unwrap());
    let store = Arc::new(MemoryStore::default());
    let other = Engine::builder().store(Arc::clone(&store)).passive().build().await.unwrap();
    let refused = other.import(&second).await.unwrap_err();
    assert_eq!(refused.code(), "origin_missing");
    let told =
        "run `r~1` belongs to run `r`, which is not in this store or does not name it: import that one first";
    assert_eq!(refused.to_string(), told);
    for archive in [&first, &second] {
        other.import(archive).await.unwrap();
        let report = verify::check_store(&*store).await.unwrap();
        assert!(report.is_sound(), "{:#?}", report.breaches);
    }
}

/// A later run `x` would wait for it for ever: it would have ended before it began.
async fn a_child_that_nobody_names_is_refused(lab: Lab) {
    let archive = exported(&lab).await;
    let engine = lab.engine(Workflow::new("other").step(gives("first", 1)).build().unwrap()).await;
    for id in ["x~c1", "x~c1~undo", "x~1", "r~c1", "r~1"] {
        let child = changed(&archive, |json| json["run"]["runId"] = json!(id)).unwrap();
        assert_eq!(engine.import(&child).await.unwrap_err().code(), "origin_missing", "{id}");
    }
    let claims = changed(&archive, |json| {
        json["run"]["runId"] = json!("r~c1");
        json["run"]["parent"] = json!("r");
        json["events"][0]["event"]["runStarted"]["parent"] = json!("r");
    });
    assert_eq!(engine.import(&claims.unwrap()).await.unwrap_err().code(), "origin_missing");
}

async fn what_no_run_can_have_recorded_is_refused(lab: Lab) {
    let archive = exported(&lab).await;
    let other = Engine::builder().max_payload_bytes(100).passive().build().await.unwrap();
    let large = changed(&archive, |json| {
        json["events"][0]["event"]["runStarted"]["input"] = json!("x".repeat(200));
    });
    let refused = other.import(&large.unwrap()).await.unwrap_err();
    assert!(refused.to_string().contains("more than the limit of 100"), "{refused}");
    other.import(&archive).await.unwrap();
}

async fn an_import_that_was_cut_short_is_finished(lab: Lab) {
    let archive = exported(&lab).await;
    let other = empty().await;
    let without = Archive { logs: Vec::new(), ..archive.clone() };
    other.import(&without).await.unwrap();
    assert!(!other.import(&archive).await.unwrap().new);
    assert_eq!(other.logs(&RunId::from("r"), &LogFilter::default()).await.unwrap().len(), 1);
}

async fn a_document_can_stand_in_a_page(lab: Lab) {
    let workflow = Workflow::new("w").input::<String>().step(gives("first", 1)).build().unwrap();
    let engine = lab.engine(&workflow).await;
    // With a text that means something in a page, and one that looks like the escape for it.
    let run = engine.run("w", "</script><b>\\u003c\\\\<!--").await.unwrap();
    engine.finish(run.id()).await.unwrap();
    let archive = engine.export(run.id()).await.unwrap();
    let embedded = archive.to_embedded();
    assert!(!embedded.contains('<'), "{embedded}");
    assert_eq!(Archive::from_embedded(&embedded).unwrap(), archive);
    // A reader that parses it as plain JSON gets the same run.
    let as_json = Archive::from_json(&embedded).unwrap();
    assert!(!engine.import(&as_json).await.unwrap().new);
    // A reader of the reformatted document gets the same run, too.
    let formatted = serde_json::to_string_pretty(&serde_json::to_value(&archive).unwrap()).unwrap();
    assert!(!engine.import(&Archive::from_json(&formatted).unwrap()).await.unwrap().new);
}
