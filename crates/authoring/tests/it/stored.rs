//! Documents in the store.

use rival::{RunId, RunStatus};
use rival_authoring::{DocumentError, ProblemCode, VersionCondition};
use serde_json::json;

use crate::lab::{Lab, address, mail, nap, starter, takes};

#[tokio::test]
async fn a_document_is_there_after_a_restart_and_its_runs_go_on() {
    let lab = Lab::new();
    let waiting =
        json!({ "name": "waiting", "steps": [[{ "name": "word", "waitForSignal": { "name": "word" } }]] });
    {
        let (engine, documents) = lab.start().await;
        for number in 0..150 {
            let document = nap(&format!("nap-{number}"), &takes("number"));
            documents.create(&document.to_string()).await.unwrap();
        }
        documents.create(&waiting.to_string()).await.unwrap();
        engine.run("waiting", ()).id("r").await.unwrap();
        documents.delete("nap-7", VersionCondition::Any).await.unwrap();
        documents.delete("waiting", VersionCondition::Any).await.unwrap();
        drop(documents);
        engine.shutdown(std::time::Duration::ZERO).await;
    }
    let (engine, documents) = lab.start().await;
    // More than a page of them.
    assert_eq!(engine.list().len(), 149);
    assert_eq!(documents.list(None, 1_000).await.unwrap().len(), 149);
    assert!(engine.workflow("nap-7").is_err() && engine.workflow("nap-8").is_ok());
    let run = RunId::from("r");
    engine.signal(&run, "word", 5).await.unwrap();
    assert_eq!(engine.wait(&run).await.unwrap().status, RunStatus::Completed);
    assert!(engine.problems().is_empty(), "{:?}", engine.problems());
}

#[tokio::test]
async fn a_tool_that_changes_makes_documents_stale_until_they_are_saved_again() {
    let lab = Lab::new();
    let (engine, documents) = lab.start().await;
    documents.create(&mail("news").to_string()).await.unwrap();
    documents.create(&nap("rest", &json!({})).to_string()).await.unwrap();

    lab.tools.set(Some(
        json!({ "type": "object", "properties": { "to": { "type": "number" } }, "required": ["to"] }),
    ));
    documents.tools_changed("other").await;
    assert!(!documents.list(None, 10).await.unwrap()[0].is_stale);
    documents.tools_changed("mail").await;
    let news = documents.get("news", None).await.unwrap();
    assert_eq!(news.errors.len(), 1, "{:?}", news.errors);
    let list = documents.list(None, 10).await.unwrap();
    assert_eq!((list[0].is_stale, list[0].problems, list[1].is_stale), (true, 1, false));
    let problems = engine.problems();
    assert_eq!((problems.len(), problems[0].file.as_str()), (1, "document news"), "{problems:?}");

    // New runs have its plan as it was saved, also after a restart.
    engine.run("news", json!({ "to": "ann" })).id("r").await.unwrap();
    assert_eq!(engine.wait(&RunId::from("r")).await.unwrap().status, RunStatus::Completed);
    drop(documents);
    engine.shutdown(std::time::Duration::ZERO).await;
    let (engine, documents) = lab.start().await;
    assert!(documents.list(None, 10).await.unwrap()[0].is_stale);
    assert!(engine.workflow("news").is_ok());

    let refused = documents.update("news", &mail("news").to_string(), VersionCondition::Any).await;
    assert!(matches!(refused, Err(DocumentError::Invalid(_))), "{refused:?}");
    lab.tools.set(Some(address()));
    documents.update("news", &mail("news").to_string(), VersionCondition::OneOf(vec![1])).await.unwrap();
    assert!(!documents.list(None, 10).await.unwrap()[0].is_stale);
    assert!(engine.problems().is_empty());
}

#[tokio::test]
async fn a_document_is_not_made_while_its_tool_is_not_known() {
    let lab = Lab::new();
    let (engine, documents) = lab.start().await;
    lab.tools.set(None);
    let refused = documents.create(&mail("news").to_string()).await;
    let Err(DocumentError::Invalid(check)) = refused else { panic!("{refused:?}") };
    assert!(check.errors[0].message.contains("it does not answer"), "{:?}", check.errors);
    assert!(engine.workflow("news").is_err());
    assert!(documents.list(None, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_target_that_takes_another_input_makes_what_triggers_it_stale() {
    let lab = Lab::new();
    let (engine, documents) = lab.start().await;
    documents.create(&nap("end", &takes("number")).to_string()).await.unwrap();
    documents.create(&starter("begin", "end").to_string()).await.unwrap();
    assert!(engine.problems().is_empty(), "{:?}", engine.problems());

    documents.update("end", &nap("end", &takes("string")).to_string(), VersionCondition::Any).await.unwrap();
    let begin = documents.get("begin", None).await.unwrap();
    assert_eq!((begin.errors.len(), begin.errors[0].trigger), (1, Some(0)), "{:?}", begin.errors);
    documents.update("end", &nap("end", &takes("number")).to_string(), VersionCondition::Any).await.unwrap();
    assert!(documents.get("begin", None).await.unwrap().errors.is_empty());
    assert!(engine.problems().is_empty());
}

#[tokio::test]
async fn of_two_changes_for_one_version_one_is_made() {
    let lab = Lab::new();
    let (engine, documents) = lab.start().await;
    documents.create(&nap("n", &takes("number")).to_string()).await.unwrap();
    for version in 1..6_u64 {
        let update = |kind: &str| {
            let (documents, text) = (documents.clone(), nap("n", &takes(kind)).to_string());
            tokio::spawn(
                async move { documents.update("n", &text, VersionCondition::OneOf(vec![version])).await },
            )
        };
        let (a, b) = tokio::join!(update("string"), update("boolean"));
        let (a, b) = (a.unwrap(), b.unwrap());
        let winner = match (&a, &b) {
            (Ok(_), Err(DocumentError::VersionConflict { current, .. })) => {
                assert_eq!(*current, Some(version + 1));
                "string"
            }
            (Err(DocumentError::VersionConflict { .. }), Ok(_)) => "boolean",
            other => panic!("{other:?}"),
        };
        assert_eq!(engine.workflow("n").unwrap().input_schema, Some(takes(winner)));
    }
}

/// A client that goes away in the middle of a request leaves nothing half done.
#[tokio::test]
async fn a_change_is_made_as_a_whole_although_its_caller_goes_away() {
    let lab = Lab::new();
    let (engine, documents) = lab.start().await;
    for round in 0..20_u32 {
        let name = format!("n-{round}");
        let text = nap(&name, &takes("number")).to_string();
        let mut creating = Box::pin(documents.create(&text));
        for _ in 0..round {
            if futures::poll!(&mut creating).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(creating);
    }
    // Changes are made one after the other: when this one is made, so are those before it.
    documents.create(&nap("last", &takes("number")).to_string()).await.unwrap();
    let kept: Vec<String> = documents.list(None, 100).await.unwrap().into_iter().map(|it| it.name).collect();
    let mut registered: Vec<String> = engine.list().into_iter().map(|info| info.name).collect();
    registered.sort();
    assert_eq!(kept, registered);
}

#[tokio::test]
async fn documents_that_trigger_each_other_in_a_circle_are_told_so() {
    let lab = Lab::new();
    let (_engine, documents) = lab.start().await;
    let early = documents.create(&starter("begin", "end").to_string()).await.unwrap();
    assert!(early.warnings.iter().any(|it| it.code == ProblemCode::UnknownWorkflow), "{:?}", early.warnings);
    let late = documents.create(&starter("end", "begin").to_string()).await.unwrap();
    assert!(late.warnings.iter().any(|it| it.code == ProblemCode::TriggerCycle), "{:?}", late.warnings);
}

/// What is kept goes through a restart to the runs that a trigger starts.
#[tokio::test]
async fn a_stored_document_triggers_after_a_restart() {
    let lab = Lab::new();
    let (engine, documents) = lab.start().await;
    documents.create(&starter("begin", "end").to_string()).await.unwrap();
    documents.create(&nap("end", &takes("number")).to_string()).await.unwrap();
    drop(documents);
    engine.shutdown(std::time::Duration::ZERO).await;
    let (engine, _documents) = lab.start().await;
    engine.run("begin", json!({ "n": 4 })).id("r").await.unwrap();
    assert_eq!(engine.wait(&RunId::from("r")).await.unwrap().status, RunStatus::Completed);
    let started = RunId::from("r~t0");
    while engine.summary(&started).await.is_err() {
        tokio::task::yield_now().await;
    }
    let outcome = engine.wait(&started).await.unwrap();
    assert_eq!(outcome.status, RunStatus::Completed);
}
