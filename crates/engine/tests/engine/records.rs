//! Records beside the runs: versions with the engine's time and the name of who asked.

use std::time::Duration;

use rival::StoreError;
use rival_store::{ExpectedVersion, PutResult};

use crate::lab::{Lab, facts, since_start};

facts![a_record_has_the_engines_time_and_who_asked, an_engine_that_has_stopped_writes_none];

async fn a_record_has_the_engines_time_and_who_asked(lab: Lab) {
    let engine = lab.builder().build().await.unwrap();
    lab.pass(Duration::from_secs(5));
    let records = engine.asked_by("x".repeat(300)).records();
    let written = records.put("note", "a", ExpectedVersion::Absent, "1").await.unwrap();
    assert_eq!(written, PutResult::Written(1));
    let first = records.get("note", "a").await.unwrap().unwrap();
    assert_eq!((since_start(first.at), first.body.as_deref()), (5_000, Some("1")));
    assert!(first.by.is_some_and(|by| by.len() == 256 && by.ends_with("(300 bytes in all)")));

    let deleted = engine.records().delete("note", "a", ExpectedVersion::Version(1)).await.unwrap();
    assert_eq!(deleted, PutResult::Written(2));
    assert_eq!(engine.records().get("note", "a").await.unwrap(), None);
    let newest = engine.records().newest("note", "a").await.unwrap().unwrap();
    assert_eq!((newest.version, newest.by), (2, None));
    assert!(engine.records().list("note", None, 10).await.unwrap().is_empty());
    assert_eq!(engine.records().versions("note", "a", None, 10).await.unwrap().len(), 2);
    assert!(engine.records().version("note", "a", 1).await.unwrap().is_some());
}

async fn an_engine_that_has_stopped_writes_none(lab: Lab) {
    let engine = lab.builder().build().await.unwrap();
    let records = engine.records();
    engine.shutdown(Duration::ZERO).await;
    drop(engine);
    let refused = records.put("note", "a", ExpectedVersion::Any, "1").await;
    assert!(matches!(refused, Err(StoreError::Closed)), "{refused:?}");
}
