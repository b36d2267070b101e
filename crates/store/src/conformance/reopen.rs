//! Opening the same data again. Stores that forget have nothing to show here.

use std::sync::Arc;

use rival_core::RunStatus;

use super::StoreHarness;
use super::fixture::*;
use crate::{Commit, Epoch, ExpectedVersion, NewRecord, NewRun, PutResult, SendResult, Store};

/// The store opened again, or a word about why a fact was not looked at.
async fn again<H: StoreHarness>(h: &H, store: H::Store) -> Option<H::Store> {
    let store = h.reopen(store).await;
    #[allow(clippy::print_stderr, reason = "a skipped fact says so in the output of the test")]
    if store.is_none() {
        eprintln!("skipped: this store forgets");
    }
    store
}

pub async fn everything_is_still_there(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "free", engine, waiting(Some(at(50)))).await;
    store.put_plan(&plan_hash(), "{}").await.unwrap();
    send(&store, "r", "unread", at(0)).await;
    let whole = Commit {
        events: Some(batch(2, 3)),
        messages: vec![(id("free"), message(Some("m"), "hello"))],
        runs: vec![NewRun {
            parent: Some(id("r")),
            tags: vec!["blue".to_owned()],
            ..new_run("child", engine)
        }],
        logs: vec![line("r", "text")],
        snapshot: Some(snapshot(4, "state")),
        ..commit("r")
    };
    store.commit(Arc::new(whole)).await.unwrap();
    end(&store, "child", at(4)).await;
    assert_eq!(store.send(&id("child"), message(None, "late"), at(5)).await.unwrap(), SendResult::Ended);

    let before = picture(&store).await;
    let Some(store) = again(h, store).await else { return };
    assert_eq!(picture(&store).await, before);
    assert_eq!(store.plan(&plan_hash()).await.unwrap().as_deref(), Some("{}"));
    store.check_writable().await.unwrap();
}

pub async fn numbers_go_on_where_they_were(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let other = store.join().await.unwrap();
    store.leave(other).await.unwrap();
    let consumed = send(&store, "r", "read", at(0)).await;
    store.commit(Arc::new(Commit { consumed: vec![consumed], ..commit("r") })).await.unwrap();
    let no = row(&store, "r").await.no;

    let Some(store) = again(h, store).await else { return };
    let next = store.join().await.unwrap();
    assert!(next != engine && next != other, "an engine's id was given twice");
    assert!(send(&store, "r", "unread", at(0)).await > consumed, "a message's number was given twice");
    create(&store, new_run("later", next)).await;
    assert!(row(&store, "later").await.no > no);
}

pub async fn runs_of_former_engines_are_claimed(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("claimed", engine)).await;
    let Some(store) = again(h, store).await else { return };
    let engine = store.join().await.unwrap();
    let claim = store.claim(&id("claimed"), engine).await.unwrap().unwrap();
    assert_eq!((claim.epoch, claim.row.status), (Epoch(2), RunStatus::Running));
    let claims = store.claim_due(engine, at(0), MANY).await.unwrap();
    assert_eq!(claimed(&claims), ["r"]);
    let next = Commit { events: Some(batch(2, 1)), ..Commit::new(id("r"), claims[0].epoch, at(1)) };
    store.commit(Arc::new(next)).await.unwrap();
}

pub async fn former_owners_are_refused(h: &impl StoreHarness) {
    let (store, former) = one_run(h).await;
    let Some(store) = again(h, store).await else { return };
    assert_fenced(&store.commit(Arc::new(Commit { events: Some(batch(2, 1)), ..commit("r") })).await);
    assert!(store.claim(&id("r"), former).await.unwrap().is_none());
    let engine = store.join().await.unwrap();
    assert_fenced(&store.commit(Arc::new(Commit { events: Some(batch(2, 1)), ..commit("r") })).await);
    assert_eq!(due(&store, engine, at(0)).await, ["r"]);
}

pub async fn wake_ups_and_the_queue_are_still_there(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    end(&store, "r", at(1)).await;
    for (run, wake_at) in [("a", 30), ("b", 10)] {
        create_with_row(&store, run, engine, waiting(Some(at(wake_at)))).await;
    }
    for run in ["d", "c"] {
        create_with_row(&store, run, engine, row_update(RunStatus::Queued)).await;
    }
    let Some(store) = again(h, store).await else { return };
    let engine = store.join().await.unwrap();
    assert_eq!(store.next_wake().await.unwrap(), Some(at(10)));
    assert_eq!(due(&store, engine, at(30)).await, ["b", "a"]);
    assert_eq!(claimed(&store.claim_queued(engine, MANY).await.unwrap()), ["d", "c"]);
}

pub async fn records_and_their_versions_are_still_there(h: &impl StoreHarness) {
    let store = h.open().await;
    let record = |body: Option<&str>| NewRecord {
        kind: "note".to_owned(),
        key: "a".to_owned(),
        expected: ExpectedVersion::Any,
        body: body.map(str::to_owned),
        at: at(1),
        by: None,
    };
    for body in [Some("1"), None, Some("3")] {
        store.put_record(record(body)).await.unwrap();
    }
    let before = store.record_versions("note", "a", None, MANY).await.unwrap();
    assert_eq!(before.len(), 3);
    let Some(store) = again(h, store).await else { return };
    assert_eq!(store.record_versions("note", "a", None, MANY).await.unwrap(), before);
    let stale = NewRecord { expected: ExpectedVersion::Version(2), ..record(Some("x")) };
    assert_eq!(store.put_record(stale).await.unwrap(), PutResult::Conflict { current: Some(3) });
    assert_eq!(store.put_record(record(None)).await.unwrap(), PutResult::Written(4));
}

pub async fn a_message_id_is_still_known(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let named = message(Some("m"), "once");
    let first = store.send(&id("r"), named.clone(), at(0)).await.unwrap();
    let reading = Commit { consumed: first.no().into_iter().collect(), ..commit("r") };
    store.commit(Arc::new(reading)).await.unwrap();
    let Some(store) = again(h, store).await else { return };
    assert_eq!(store.send(&id("r"), named, at(0)).await.unwrap(), SendResult::Known(first.no().unwrap()));
    assert!(inbox(&store, "r").await.is_empty());
}
