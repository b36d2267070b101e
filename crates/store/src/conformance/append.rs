//! Commits: in sequence, whole or not at all.

use std::sync::Arc;

use rival_core::{RunStatus, Seq};

use super::StoreHarness;
use super::fixture::*;
use crate::{Commit, CommitError, Epoch, EventBatch, MessageNo, NewRun, RowUpdate, RunHold, Snapshot, Store};

pub async fn a_gap_is_refused_with_expected_and_actual(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let result = store.commit(Arc::new(Commit { events: Some(batch(3, 1)), ..commit("r") })).await;
    assert_eq!(sequence(result), (2, 3));
}

pub async fn a_zero_is_refused_with_expected_and_actual(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let result = store.commit(Arc::new(Commit { events: Some(batch(0, 2)), ..commit("r") })).await;
    assert_eq!(sequence(result), (2, 0));
}

pub async fn a_repeat_is_refused_with_expected_and_actual(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let again = Commit { events: Some(batch(2, 1)), ..commit("r") };
    store.commit(Arc::new(again.clone())).await.unwrap();
    assert_eq!(sequence(store.commit(Arc::new(again)).await), (3, 2));
    assert_eq!(store.load(&id("r"), Seq::ZERO, MANY).await.unwrap().len(), 2);
}

pub async fn a_batch_without_events_is_refused(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let empty = EventBatch { first: Seq(2), count: 0, body: Vec::new() };
    assert!(store.commit(Arc::new(Commit { events: Some(empty), ..commit("r") })).await.is_err());
    assert_eq!(store.load(&id("r"), Seq::ZERO, MANY).await.unwrap(), [batch(1, 1)]);
}

pub async fn a_batch_counts_all_of_its_events(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    store.commit(Arc::new(Commit { events: Some(batch(2, 3)), ..commit("r") })).await.unwrap();
    let result = store.commit(Arc::new(Commit { events: Some(batch(3, 1)), ..commit("r") })).await;
    assert_eq!(sequence(result), (5, 3));
    store.commit(Arc::new(Commit { events: Some(batch(5, 1)), ..commit("r") })).await.unwrap();
}

pub async fn a_commit_without_events_keeps_the_sequence(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    store.commit(Arc::new(Commit { row_update: Some(kept()), ..commit("r") })).await.unwrap();
    store.commit(Arc::new(commit("r"))).await.unwrap();
    store.commit(Arc::new(Commit { events: Some(batch(2, 1)), ..commit("r") })).await.unwrap();
}

pub async fn a_commit_without_a_row_update_keeps_the_row(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let before = row(&store, "r").await;
    store.commit(Arc::new(Commit { events: Some(batch(2, 1)), ..commit("r") })).await.unwrap();
    assert_eq!(row(&store, "r").await, before);
}

pub async fn a_row_update_replaces_the_one_before(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let noted = RowUpdate::new(RunStatus::Blocked, RunHold::Keep, at(0), Some("why".to_owned()));
    store.commit(Arc::new(Commit { row_update: Some(noted), ..commit("r") })).await.unwrap();
    let blocked = row(&store, "r").await;
    assert_eq!((blocked.status, blocked.note.as_deref()), (RunStatus::Blocked, Some("why")));
    assert_eq!((blocked.owner, blocked.epoch), (Some(engine), Epoch(1)));

    release(&store, "r", Some(at(9))).await;
    let free = row(&store, "r").await;
    assert_eq!((free.status, free.note), (RunStatus::Waiting, None));
    assert_eq!((free.owner, free.wake_at, free.ended_at), (None, Some(at(9)), None));
}

pub async fn an_unknown_run_is_not_found(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let result = store.commit(Arc::new(Commit { events: Some(batch(1, 1)), ..commit("unknown") })).await;
    assert!(matches!(&result, Err(CommitError::NotFound(run)) if *run == id("unknown")), "{result:?}");
    assert!(store.run(&id("unknown")).await.unwrap().is_none());
}

pub async fn runs_have_sequences_of_their_own(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("other", engine)).await;
    store.commit(Arc::new(Commit { events: Some(batch(2, 4)), ..commit("r") })).await.unwrap();
    store.commit(Arc::new(Commit { events: Some(batch(2, 1)), ..commit("other") })).await.unwrap();
    store.commit(Arc::new(Commit { events: Some(batch(6, 1)), ..commit("r") })).await.unwrap();
    assert_eq!(store.load(&id("other"), Seq::ZERO, MANY).await.unwrap(), [batch(1, 1), batch(2, 1)]);
}

pub async fn a_commit_writes_several_runs_at_once(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("other", engine)).await;
    let whole = everything(&store, engine).await;
    store.commit(Arc::new(whole)).await.unwrap();

    let parent = row(&store, "r").await;
    assert_eq!((parent.status, parent.owner), (RunStatus::Running, Some(engine)));
    assert_eq!(store.load(&id("r"), Seq::ZERO, MANY).await.unwrap(), [batch(1, 1), batch(2, 2)]);
    assert_eq!(store.snapshot(&id("r")).await.unwrap(), Some(snapshot(3, "state")));
    let lines = store.logs(&id("r"), &crate::LogFilter::default()).await.unwrap();
    assert_eq!(lines, [crate::LogLine { no: lines[0].no, ..line("r", "called") }]);
    assert!(inbox(&store, "r").await.is_empty());
    assert_eq!(inbox(&store, "other").await, ["hello"]);
    let child = row(&store, "child").await;
    assert_eq!((child.parent, child.owner, child.epoch), (Some(id("r")), Some(engine), Epoch(1)));
    assert_eq!(store.load(&id("child"), Seq::ZERO, MANY).await.unwrap(), [batch(1, 1)]);
    assert_eq!(row(&store, "retry").await.source, Some(id("r")));
}

/// A commit to `r` that uses everything a commit can hold.
async fn everything(store: &impl Store, engine: crate::EngineId) -> Commit {
    let consumed = send(store, "r", "act on this", at(0)).await;
    let child = NewRun { parent: Some(id("r")), ..new_run("child", engine) };
    let retry =
        NewRun { source: Some(id("r")), row_update: waiting(Some(at(1))), ..new_run("retry", engine) };
    Commit {
        events: Some(batch(2, 2)),
        row_update: Some(kept()),
        messages: vec![(id("other"), message(Some("m"), "hello"))],
        consumed: vec![consumed],
        runs: vec![child, retry],
        logs: vec![line("r", "called")],
        snapshot: Some(snapshot(3, "state")),
        ..commit("r")
    }
}

pub async fn a_commit_that_is_refused_for_its_sequence_writes_nothing(h: &impl StoreHarness) {
    refused_writes_nothing(h, |commit| commit.events = Some(batch(5, 1))).await;
}

pub async fn a_commit_that_is_refused_for_its_epoch_writes_nothing(h: &impl StoreHarness) {
    refused_writes_nothing(h, |commit| commit.epoch = Epoch(2)).await;
}

pub async fn a_commit_that_is_refused_for_a_consumed_message_writes_nothing(h: &impl StoreHarness) {
    refused_writes_nothing(h, |commit| commit.consumed.push(MessageNo(i64::MAX))).await;
}

/// The bad run is the last one: what came before it must go with it.
pub async fn a_commit_that_is_refused_for_a_new_run_writes_nothing(h: &impl StoreHarness) {
    refused_writes_nothing(h, |commit| {
        let bad = NewRun { id: id("bad"), events: batch(2, 1), ..commit.runs[0].clone() };
        commit.runs.push(bad);
    })
    .await;
}

async fn refused_writes_nothing<H: StoreHarness>(h: &H, spoil: impl FnOnce(&mut Commit)) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("other", engine)).await;
    let good = everything(&store, engine).await;
    let mut bad = Commit { row_update: Some(ended(at(5))), ..good.clone() };
    spoil(&mut bad);

    let before = picture(&store).await;
    let result = store.commit(Arc::new(bad)).await;
    assert!(matches!(&result, Err(CommitError::Sequence { .. } | CommitError::Fenced { .. })), "{result:?}");
    assert_eq!(picture(&store).await, before);
    // The idempotent message and the consumed one are as they were, too.
    store.commit(Arc::new(good)).await.unwrap();
    assert_eq!(inbox(&store, "other").await, ["hello"]);
}

pub async fn a_new_run_with_an_existing_id_is_left_as_it_is(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("child", engine)).await;
    store.commit(Arc::new(Commit { events: Some(batch(2, 1)), ..commit("child") })).await.unwrap();
    let before = row(&store, "child").await;
    let other = NewRun { workflow: "other".to_owned(), row_update: ended(at(1)), ..new_run("child", engine) };
    let twice = vec![other, new_run("twice", engine), new_run("twice", engine)];
    let known = store.commit(Arc::new(Commit { runs: twice, ..commit("r") })).await.unwrap();

    assert_eq!(known, [0, 2]);
    assert_eq!(row(&store, "child").await, before);
    assert_eq!(store.load(&id("child"), Seq::ZERO, MANY).await.unwrap().len(), 2);
    assert_eq!(all(&store).await.len(), 3);
    assert_eq!(store.load(&id("twice"), Seq::ZERO, MANY).await.unwrap().len(), 1);
}

pub async fn a_snapshot_replaces_the_last_one(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    assert_eq!(store.snapshot(&id("r")).await.unwrap(), None);
    for (seq, body) in [(1, "first"), (2, "a longer second"), (3, "3")] {
        store.commit(Arc::new(Commit { snapshot: Some(snapshot(seq, body)), ..commit("r") })).await.unwrap();
        assert_eq!(store.snapshot(&id("r")).await.unwrap(), Some(snapshot(seq, body)));
    }
    store.commit(Arc::new(commit("r"))).await.unwrap();
    let kept = store.snapshot(&id("r")).await.unwrap();
    assert_eq!(kept.as_ref().map(|kept: &Snapshot| kept.seq), Some(Seq(3)));
}

pub async fn concurrent_commits_to_one_run_admit_one(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let store = Arc::new(store);
    for first in 2..10 {
        let writers = (0..8).map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                store.commit(Arc::new(Commit { events: Some(batch(first, 1)), ..commit("r") })).await
            })
        });
        let mut admitted = 0;
        for writer in writers.collect::<Vec<_>>() {
            match writer.await.unwrap() {
                Ok(_) => admitted += 1,
                refused => assert_eq!(sequence(refused), (first + 1, first)),
            }
        }
        assert_eq!(admitted, 1);
    }
    assert_eq!(store.load(&id("r"), Seq::ZERO, MANY).await.unwrap().len(), 9);
}

pub async fn concurrent_commits_to_many_runs_admit_all(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let store = Arc::new(store);
    let writers = (0..20).map(|writer| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let run = format!("r{writer}");
            create(store.as_ref(), new_run(&run, engine)).await;
            for first in 2..7 {
                store
                    .commit(Arc::new(Commit { events: Some(batch(first, 1)), ..commit(&run) }))
                    .await
                    .unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    for writer in 0..20 {
        let events = store.load(&id(&format!("r{writer}")), Seq::ZERO, MANY).await.unwrap();
        assert_eq!(events, (1..7).map(|first| batch(first, 1)).collect::<Vec<_>>());
    }
}
