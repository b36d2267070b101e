//! Creating runs.

use std::sync::Arc;

use rival_core::{PlanHash, RunStatus, Seq};

use super::StoreHarness;
use super::fixture::*;
use crate::{EngineId, Epoch, EventBatch, NewRun, RowUpdate, RunHold, RunRow, Store};

pub async fn a_run_starts_with_event_one(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let events = store.load(&id("r"), Seq::ZERO, MANY).await.unwrap();
    assert_eq!(events, [batch(1, 1)]);
}

pub async fn a_run_cannot_start_with_another_event(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for first in [0, 2] {
        let run = NewRun { events: batch(first, 1), ..new_run("odd", engine) };
        assert!(store.start(run).await.is_err());
        assert!(store.run(&id("odd")).await.unwrap().is_none());
    }
}

pub async fn a_run_cannot_start_without_events(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let events = EventBatch { first: Seq(1), count: 0, body: Vec::new() };
    assert!(store.start(NewRun { events, ..new_run("odd", engine) }).await.is_err());
    assert!(store.run(&id("odd")).await.unwrap().is_none());
}

pub async fn a_kept_run_is_owned_at_epoch_one(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let row = row(&store, "r").await;
    assert_eq!((row.owner, row.epoch, row.wake_at), (Some(engine), Epoch(1), None));
}

pub async fn a_run_that_is_not_kept_has_its_wake_up(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "later", engine, waiting(Some(at(7)))).await;
    let row = row(&store, "later").await;
    assert_eq!((row.owner, row.epoch, row.wake_at), (None, Epoch(1), Some(at(7))));
    assert_eq!(row.status, RunStatus::Waiting);
}

pub async fn a_run_that_starts_ended_has_no_owner(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "done", engine, ended(at(3))).await;
    let row = row(&store, "done").await;
    assert_eq!((row.owner, row.wake_at, row.ended_at), (None, None, Some(at(3))));
    assert!(due(&store, engine, at(100)).await.is_empty());
}

pub async fn a_run_of_an_engine_that_is_gone_can_be_claimed(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("stray", EngineId(987_654))).await;
    assert_eq!(due(&store, engine, at(0)).await, ["stray"]);
}

pub async fn every_field_of_a_row_comes_back(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, full(engine)).await;
    let row = row(&store, "full").await;
    let expected = RunRow {
        id: id("full"),
        no: row.no,
        workflow: "invoices".to_owned(),
        plan: PlanHash::new("abc123"),
        fingerprint: vec![0, 255, 10, 39],
        status: RunStatus::Blocked,
        created_at: at(-5),
        ended_at: None,
        wake_at: Some(at(50)),
        owner: None,
        epoch: Epoch(1),
        parent: Some(id("r")),
        source: Some(id("elsewhere")),
        tags: vec!["blue".to_owned(), "customer:7".to_owned(), String::new()],
        note: Some("step `charge` is not registered".to_owned()),
        dropped_messages: 0,
    };
    assert_eq!(row, expected);
    assert_eq!(all(&store).await[0], expected);
}

/// A run with something in every field.
fn full(engine: EngineId) -> NewRun {
    let note = Some("step `charge` is not registered".to_owned());
    NewRun {
        workflow: "invoices".to_owned(),
        plan: PlanHash::new("abc123"),
        fingerprint: vec![0, 255, 10, 39],
        created_at: at(-5),
        parent: Some(id("r")),
        source: Some(id("elsewhere")),
        tags: vec!["blue".to_owned(), "customer:7".to_owned(), String::new()],
        row_update: RowUpdate::new(RunStatus::Blocked, RunHold::Release(Some(at(50))), at(0), note),
        ..new_run("full", engine)
    }
}

pub async fn an_existing_id_returns_its_row_and_writes_nothing(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let (before, there) = (picture(&store).await, row(&store, "r").await);
    let again = NewRun { fingerprint: vec![9], events: batch(1, 5), ..full(engine) };
    let started = store.start(NewRun { id: id("r"), ..again }).await.unwrap();
    assert!(matches!(&started, Some(row) if *row == there), "{started:?}");
    assert_eq!(picture(&store).await, before);

    end(&store, "r", at(2)).await;
    let started = store.start(new_run("r", engine)).await.unwrap();
    assert!(matches!(&started, Some(row) if row.status == RunStatus::Completed), "{started:?}");
}

pub async fn concurrent_starts_of_one_id_create_one(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let store = Arc::new(store);
    let starts = (0..8).map(|_| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.start(new_run("same", engine)).await.unwrap() })
    });
    let mut created = 0;
    for start in starts.collect::<Vec<_>>() {
        match start.await.unwrap() {
            None => created += 1,
            Some(row) => assert_eq!(row.id, id("same")),
        }
    }
    assert_eq!((created, all(store.as_ref()).await.len()), (1, 2));
}

pub async fn strange_ids_and_texts_come_back(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let texts = [
        "größe/ü 日本 🦀",
        "it's \"quoted\"; DROP TABLE runs; --",
        "%_*?[a]",
        " R ",
        "{}\\\n\t",
        "R",
        "é",
        "e\u{301}",
    ];
    for text in texts {
        let tags = vec![text.to_owned()];
        create(&store, NewRun { workflow: text.to_owned(), tags, ..new_run(text, engine) }).await;
    }
    for text in texts {
        let row = row(&store, text).await;
        assert_eq!((row.id.as_str(), row.workflow.as_str(), row.tags[0].as_str()), (text, text, text));
        let filter = crate::RunFilter { tag: Some(text.to_owned()), ..Default::default() };
        assert_eq!(ids(&store.runs(&filter, &crate::Page::default()).await.unwrap()), [text]);
        send(&store, text, text, at(1)).await;
        assert_eq!(inbox(&store, text).await, [text]);
    }
}
