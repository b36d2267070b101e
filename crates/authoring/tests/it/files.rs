//! Documents in files.

use rival::{RunId, RunStatus};
use rival_authoring::{DocumentError, VersionCondition};
use serde_json::json;

use crate::lab::{Lab, mail, nap, starter, takes};

#[tokio::test]
async fn files_are_found_registered_and_say_where_they_are() {
    let lab = Lab::new();
    let file = lab.write("deep/one.workflow.json", &nap("one", &takes("number")));
    lab.write("other.json", &nap("two", &takes("number")));
    lab.write("_draft.workflow.json", &nap("three", &takes("number")));
    lab.write("node_modules/four.workflow.json", &nap("four", &takes("number")));
    let (engine, documents) = lab.start().await;
    let loaded = documents.register_files([lab.flows()]).await;
    assert_eq!((loaded.workflows, loaded.problems.len()), (vec!["one".to_owned()], 0));
    let info = engine.workflow("one").unwrap();
    assert_eq!(info.origin.file, Some(file.display().to_string()));
    engine.run("one", json!({ "n": 1 })).id("r").await.unwrap();
    assert_eq!(engine.wait(&RunId::from("r")).await.unwrap().status, RunStatus::Completed);
    // It is no document of the store.
    assert!(documents.list(None, 10).await.unwrap().is_empty());
    assert!(documents.reload_files().await.changed.is_empty());
}

#[tokio::test]
async fn the_last_good_version_of_a_file_stays() {
    let lab = Lab::new();
    lab.write("one.workflow.json", &nap("one", &takes("number")));
    let (engine, documents) = lab.start().await;
    documents.register_files([lab.flows()]).await;

    let file = lab.write_text("one.workflow.json", "{\n  \"name\": \"one\",\n  \"stps\": []\n}");
    let loaded = documents.reload_files().await;
    assert_eq!(loaded.workflows, ["one"]);
    let unknown = loaded.problems.iter().find(|problem| problem.message.contains("stps")).unwrap();
    assert_eq!((unknown.file.clone(), unknown.line, unknown.column), (file, 3, 3));
    assert_eq!(engine.workflow("one").unwrap().input_schema, Some(takes("number")));
    assert_eq!(engine.problems().len(), loaded.problems.len());

    lab.write("one.workflow.json", &nap("one", &takes("string")));
    let loaded = documents.reload_files().await;
    assert_eq!((loaded.changed, loaded.problems.len()), (vec!["one".to_owned()], 0));
    assert_eq!(engine.workflow("one").unwrap().input_schema, Some(takes("string")));
    assert!(engine.problems().is_empty());

    // The same file has another name now, and then is gone.
    lab.write("one.workflow.json", &nap("uno", &takes("string")));
    documents.reload_files().await;
    assert!(engine.workflow("one").is_err() && engine.workflow("uno").is_ok());
    std::fs::remove_file(lab.flows().join("one.workflow.json")).unwrap();
    assert!(documents.reload_files().await.workflows.is_empty());
    assert!(engine.workflow("uno").is_err());
}

#[tokio::test]
async fn a_file_goes_before_a_document_of_its_name() {
    let lab = Lab::new();
    let (engine, documents) = lab.start().await;
    documents.create(&nap("one", &takes("string")).to_string()).await.unwrap();
    let file = lab.write("one.workflow.json", &nap("one", &takes("number")));
    documents.register_files([lab.flows()]).await;
    assert_eq!(engine.workflow("one").unwrap().input_schema, Some(takes("number")));
    let shown = Some(file.display().to_string());
    assert_eq!(documents.list(None, 10).await.unwrap()[0].shadowed_by, shown);
    let saved = documents.update("one", &nap("one", &json!({})).to_string(), VersionCondition::Any).await;
    assert_eq!(saved.unwrap().shadowed_by, shown);
    assert_eq!(engine.workflow("one").unwrap().input_schema, Some(takes("number")));
    lab.write("two.workflow.json", &nap("two", &takes("number")));
    documents.reload_files().await;
    let taken = documents.create(&nap("two", &takes("number")).to_string()).await;
    assert!(matches!(taken, Err(DocumentError::NameTaken { .. })), "{taken:?}");

    // The order of a start: documents of the store, then files.
    drop(documents);
    engine.shutdown(std::time::Duration::ZERO).await;
    let (engine, documents) = lab.start().await;
    documents.register_files([lab.flows()]).await;
    assert_eq!(documents.list(None, 10).await.unwrap()[0].shadowed_by, shown);
    std::fs::remove_file(&file).unwrap();
    documents.reload_files().await;
    assert_eq!(engine.workflow("one").unwrap().input_schema, Some(json!({})));
    assert_eq!(documents.list(None, 10).await.unwrap()[0].shadowed_by, None);
}

#[tokio::test]
async fn a_name_that_two_files_have_is_a_problem_of_the_second() {
    let lab = Lab::new();
    lab.write("a.workflow.json", &nap("one", &takes("number")));
    lab.write("b.workflow.json", &nap("one", &takes("string")));
    let (engine, documents) = lab.start().await;
    let loaded = documents.register_files([lab.flows()]).await;
    assert_eq!((loaded.workflows, loaded.problems.len()), (vec!["one".to_owned()], 1));
    assert!(loaded.problems[0].file.ends_with("b.workflow.json"));
    assert!(loaded.problems[0].message.contains("a.workflow.json"));
    assert_eq!(engine.workflow("one").unwrap().input_schema, Some(takes("number")));
    // When the first is gone, the second has the name.
    std::fs::remove_file(lab.flows().join("a.workflow.json")).unwrap();
    assert!(documents.reload_files().await.problems.is_empty());
    assert_eq!(engine.workflow("one").unwrap().input_schema, Some(takes("string")));
}

#[tokio::test]
async fn files_that_trigger_each_other_are_checked_together() {
    let lab = Lab::new();
    lab.write("a.workflow.json", &starter("begin", "end"));
    lab.write("b.workflow.json", &nap("end", &takes("string")));
    let (engine, documents) = lab.start().await;
    let loaded = documents.register_files([lab.flows()]).await;
    assert_eq!((loaded.workflows, loaded.problems.len()), (vec!["end".to_owned()], 1));
    assert!(loaded.problems[0].message.starts_with("trigger 0: "), "{:?}", loaded.problems);
    lab.write("b.workflow.json", &nap("end", &takes("number")));
    let loaded = documents.reload_files().await;
    assert_eq!((loaded.workflows.len(), loaded.problems.len()), (2, 0), "{:?}", loaded.problems);
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    lab.write("a.workflow.json", &starter("begin", "nowhere"));
    let loaded = documents.reload_files().await;
    assert_eq!((loaded.changed, loaded.warnings.len()), (vec!["begin".to_owned()], 1));
    assert!(loaded.warnings[0].message.contains("`nowhere`"), "{:?}", loaded.warnings);
    assert!(engine.workflow("begin").is_ok());
}

#[tokio::test]
async fn a_tool_that_changes_is_a_problem_of_a_file() {
    let lab = Lab::new();
    let file = lab.write("news.workflow.json", &mail("news"));
    let (engine, documents) = lab.start().await;
    assert!(documents.register_files([file]).await.problems.is_empty());
    lab.tools.set(Some(json!({ "type": "object", "properties": { "to": { "type": "number" } } })));
    documents.tools_changed("mail").await;
    assert_eq!(engine.problems().len(), 1, "{:?}", engine.problems());
    assert!(engine.workflow("news").is_ok());
}

#[tokio::test]
async fn a_file_that_is_no_text_is_a_problem() {
    let lab = Lab::new();
    std::fs::write(lab.flows().join("a.workflow.json"), [0xff, 0xfe]).unwrap();
    std::fs::write(lab.flows().join("b.workflow.json"), "x".repeat(3 << 20)).unwrap();
    let (_engine, documents) = lab.start().await;
    let loaded = documents.register_files([lab.flows()]).await;
    let messages: Vec<&str> = loaded.problems.iter().map(|problem| problem.message.as_str()).collect();
    assert!(messages[0].contains("UTF-8") && messages.len() == 2, "{messages:?}");
}

/// Connections are being made while a server starts.
#[tokio::test]
async fn a_file_is_registered_when_its_tool_is_there() {
    let lab = Lab::new();
    lab.write("news.workflow.json", &mail("news"));
    lab.tools.set(None);
    let (engine, documents) = lab.start().await;
    assert_eq!(documents.register_files([lab.flows()]).await.problems.len(), 1);
    assert!(engine.workflow("news").is_err());
    lab.tools.set(Some(crate::lab::address()));
    documents.tools_changed("mail").await;
    assert!(engine.workflow("news").is_ok() && engine.problems().is_empty(), "{:?}", engine.problems());
}
