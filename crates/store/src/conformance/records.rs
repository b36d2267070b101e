//! Records: versions, conflicts, deletion, pages.

use std::sync::Arc;

use super::StoreHarness;
use super::fixture::*;
use crate::{
    ExpectedVersion, KEY_MAX_BYTES, LOAD_MAX_BYTES, NewRecord, PutResult, Record, Store, StoreError,
};

fn new(key: &str, expected: ExpectedVersion, body: &str) -> NewRecord {
    NewRecord {
        kind: "note".to_owned(),
        key: key.to_owned(),
        expected,
        body: Some(body.to_owned()),
        at: at(7),
        by: Some("ann".to_owned()),
    }
}

fn tombstone(key: &str) -> NewRecord {
    NewRecord { body: None, ..new(key, ExpectedVersion::Any, "") }
}

async fn put(store: &impl Store, record: NewRecord) -> u64 {
    match store.put_record(record).await.unwrap() {
        PutResult::Written(version) => version,
        PutResult::Conflict { current } => panic!("refused: version {current:?} is the newest"),
    }
}

async fn newest(store: &impl Store, key: &str) -> Option<Record> {
    store.record("note", key, None).await.unwrap()
}

/// Each with its version and body, in the order in which they came.
fn words(records: &[Record]) -> Vec<String> {
    let word = |it: &Record| format!("{} {} {}", it.key, it.version, it.body.as_deref().unwrap_or("-"));
    records.iter().map(word).collect()
}

async fn list(store: &impl Store, after: Option<&str>, limit: usize) -> Vec<String> {
    words(&store.records("note", after, limit).await.unwrap())
}

async fn history(store: &impl Store, key: &str, before: Option<u64>, limit: usize) -> Vec<String> {
    words(&store.record_versions("note", key, before, limit).await.unwrap())
}

pub async fn every_field_of_a_record_comes_back(h: &impl StoreHarness) {
    let store = h.open().await;
    let strange = "ключ \u{1F333} \"a\" 'b' %_/~ -";
    let given = new(strange, ExpectedVersion::Absent, "{\"a\": 1}\n\0 \u{FFFF}");
    assert_eq!(put(&store, given.clone()).await, 1);
    assert_eq!(newest(&store, strange).await, Some(given.into_record(1)));
    let nobody = NewRecord { by: None, body: Some(String::new()), ..new("k", ExpectedVersion::Any, "") };
    put(&store, nobody.clone()).await;
    assert_eq!(newest(&store, "k").await, Some(nobody.into_record(1)));
    assert_eq!(newest(&store, "other").await, None);
}

pub async fn versions_count_within_kind_and_key(h: &impl StoreHarness) {
    let store = h.open().await;
    for version in 1..=3 {
        assert_eq!(put(&store, new("a", ExpectedVersion::Any, &version.to_string())).await, version);
    }
    assert_eq!(put(&store, new("b", ExpectedVersion::Any, "b")).await, 1);
    let other = NewRecord { kind: "other-kind".to_owned(), ..new("a", ExpectedVersion::Any, "o") };
    assert_eq!(put(&store, other).await, 1);
    for version in 1..=3 {
        let found = store.record("note", "a", Some(version)).await.unwrap().unwrap();
        assert_eq!((found.version, found.body), (version, Some(version.to_string())));
    }
    for none in [0, 4, u64::MAX] {
        assert_eq!(store.record("note", "a", Some(none)).await.unwrap(), None);
    }
    assert_eq!(newest(&store, "a").await.unwrap().version, 3);
}

pub async fn another_version_than_expected_is_a_conflict_and_writes_nothing(h: &impl StoreHarness) {
    let store = h.open().await;
    let conflict = |current| PutResult::Conflict { current };
    let never = store.put_record(new("a", ExpectedVersion::Version(1), "x")).await.unwrap();
    assert_eq!(never, conflict(None));
    assert_eq!(newest(&store, "a").await, None);
    put(&store, new("a", ExpectedVersion::Absent, "1")).await;
    for expected in [ExpectedVersion::Absent, ExpectedVersion::Version(0), ExpectedVersion::Version(2)] {
        assert_eq!(store.put_record(new("a", expected, "x")).await.unwrap(), conflict(Some(1)));
    }
    assert_eq!(history(&store, "a", None, MANY).await, ["a 1 1"]);
    assert_eq!(put(&store, new("a", ExpectedVersion::Version(1), "2")).await, 2);
    assert_eq!(put(&store, new("a", ExpectedVersion::Any, "3")).await, 3);
}

pub async fn a_deleted_record_is_absent_and_its_versions_go_on(h: &impl StoreHarness) {
    let store = h.open().await;
    put(&store, new("a", ExpectedVersion::Absent, "1")).await;
    let stale = NewRecord { expected: ExpectedVersion::Version(9), ..tombstone("a") };
    assert_eq!(store.put_record(stale).await.unwrap(), PutResult::Conflict { current: Some(1) });
    assert_eq!(put(&store, tombstone("a")).await, 2);
    let deleted = newest(&store, "a").await.unwrap();
    assert_eq!((deleted.version, deleted.body, deleted.by.as_deref()), (2, None, Some("ann")));
    assert!(list(&store, None, MANY).await.is_empty());
    assert_eq!(history(&store, "a", None, MANY).await, ["a 2 -", "a 1 1"]);

    let stale = store.put_record(new("a", ExpectedVersion::Version(1), "x")).await.unwrap();
    assert_eq!(stale, PutResult::Conflict { current: Some(2) });
    assert_eq!(put(&store, new("a", ExpectedVersion::Absent, "3")).await, 3);
    assert_eq!(list(&store, None, MANY).await, ["a 3 3"]);
    put(&store, tombstone("a")).await;
    assert_eq!(put(&store, new("a", ExpectedVersion::Version(4), "5")).await, 5);
}

pub async fn the_newest_of_each_key_are_listed_by_key(h: &impl StoreHarness) {
    let store = h.open().await;
    for (key, body) in [("b", "1"), ("a", "1"), ("b", "2"), ("é", "1"), ("B", "1"), ("ab", "1")] {
        put(&store, new(key, ExpectedVersion::Any, body)).await;
    }
    let other = NewRecord { kind: "notes".to_owned(), ..new("a", ExpectedVersion::Any, "o") };
    put(&store, other).await;
    assert_eq!(list(&store, None, MANY).await, ["B 1 1", "a 1 1", "ab 1 1", "b 2 2", "é 1 1"]);
    assert!(store.records("unknown", None, MANY).await.unwrap().is_empty());
    assert!(list(&store, None, 0).await.is_empty());
}

pub async fn pages_of_records_have_no_gap_and_no_repeat(h: &impl StoreHarness) {
    let store = h.open().await;
    for key in 0..25 {
        put(&store, new(&format!("{key:02}"), ExpectedVersion::Any, "old")).await;
        put(&store, new(&format!("{key:02}"), ExpectedVersion::Any, "new")).await;
    }
    for key in [0, 7, 8, 24] {
        put(&store, tombstone(&format!("{key:02}"))).await;
    }
    let (mut found, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = store.records("note", after.as_deref(), 4).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 4);
        after = Some(last.key.clone());
        found.extend(page);
    }
    let keys: Vec<u32> = found.iter().map(|it| it.key.parse().unwrap()).collect();
    assert_eq!(keys, (0..25).filter(|key| ![0, 7, 8, 24].contains(key)).collect::<Vec<_>>());
    assert!(found.iter().all(|it| it.body.as_deref() == Some("new") && it.version == 2));
    // A key that is not there is a place in the order as well.
    assert_eq!(list(&store, Some("09x"), 1).await, ["10 2 new"]);
}

pub async fn pages_of_versions_go_back(h: &impl StoreHarness) {
    let store = h.open().await;
    for version in 1..=5 {
        put(&store, new("a", ExpectedVersion::Any, &version.to_string())).await;
    }
    assert_eq!(history(&store, "a", None, 2).await, ["a 5 5", "a 4 4"]);
    assert_eq!(history(&store, "a", Some(4), 2).await, ["a 3 3", "a 2 2"]);
    assert_eq!(history(&store, "a", Some(2), 2).await, ["a 1 1"]);
    assert!(history(&store, "a", Some(1), 2).await.is_empty());
    assert_eq!(history(&store, "a", Some(u64::MAX), MANY).await.len(), 5);
    assert!(history(&store, "b", None, MANY).await.is_empty());
}

pub async fn pages_of_large_records_are_short(h: &impl StoreHarness) {
    let store = h.open().await;
    let large = "x".repeat(LOAD_MAX_BYTES * 2 / 3);
    for key in ["a", "b", "c"] {
        put(&store, new(key, ExpectedVersion::Any, &large)).await;
        put(&store, new(key, ExpectedVersion::Any, &large)).await;
    }
    let mut after = None::<String>;
    for key in ["a", "b", "c"] {
        let page = store.records("note", after.as_deref(), MANY).await.unwrap();
        assert_eq!((page.len(), page[0].key.as_str()), (1, key));
        after = Some(key.to_owned());
    }
    assert!(store.records("note", Some("c"), MANY).await.unwrap().is_empty());
    assert_eq!(store.record_versions("note", "a", None, MANY).await.unwrap().len(), 1);
}

pub async fn of_concurrent_writers_who_expect_one_version_one_writes(h: &impl StoreHarness) {
    let store = Arc::new(h.open().await);
    for round in 0..10_u64 {
        let expected = if round == 0 { ExpectedVersion::Absent } else { ExpectedVersion::Version(round) };
        let tasks: Vec<_> = (0..8)
            .map(|writer| {
                let store = Arc::clone(&store);
                let record = new("a", expected, &writer.to_string());
                tokio::spawn(async move { (writer, store.put_record(record).await.unwrap()) })
            })
            .collect();
        let mut winners = Vec::new();
        for task in tasks {
            match task.await.unwrap() {
                (writer, PutResult::Written(version)) => winners.push((writer, version)),
                (_, PutResult::Conflict { current }) => assert_eq!(current, Some(round + 1)),
            }
        }
        let [(writer, version)] = winners[..] else { panic!("several wrote: {winners:?}") };
        assert_eq!(version, round + 1);
        assert_eq!(newest(&*store, "a").await.unwrap().body, Some(writer.to_string()));
    }
}

pub async fn concurrent_writers_who_expect_nothing_all_write(h: &impl StoreHarness) {
    let store = Arc::new(h.open().await);
    let tasks: Vec<_> = (0..16)
        .map(|writer| {
            let store = Arc::clone(&store);
            let record = new("a", ExpectedVersion::Any, &writer.to_string());
            tokio::spawn(async move { put(&*store, record).await })
        })
        .collect();
    let mut versions = Vec::new();
    for task in tasks {
        versions.push(task.await.unwrap());
    }
    versions.sort_unstable();
    assert_eq!(versions, (1..=16).collect::<Vec<_>>());
}

pub async fn kinds_and_keys_that_cannot_be_are_refused(h: &impl StoreHarness) {
    let store = h.open().await;
    let long = "k".repeat(KEY_MAX_BYTES);
    put(&store, new(&long, ExpectedVersion::Any, "x")).await;
    for key in ["", "a\nb", "a\0", &format!("{long}k")] {
        let refused = store.put_record(new(key, ExpectedVersion::Any, "x")).await;
        assert!(matches!(refused, Err(StoreError::Invalid(_))), "{key:?}: {refused:?}");
    }
    for kind in ["", "Note", "no te", "né", &"k".repeat(65)] {
        let record = NewRecord { kind: kind.to_owned(), ..new("k", ExpectedVersion::Any, "x") };
        let refused = store.put_record(record).await;
        assert!(matches!(refused, Err(StoreError::Invalid(_))), "{kind:?}: {refused:?}");
    }
    assert_eq!(store.records("note", None, MANY).await.unwrap().len(), 1);
    assert_eq!(store.record("note", "", None).await.unwrap(), None);
}
