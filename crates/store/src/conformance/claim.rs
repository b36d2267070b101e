//! Taking runs over: each by one engine, at a new epoch.

use std::sync::Arc;

use rival_core::RunStatus;

use super::StoreHarness;
use super::fixture::*;
use crate::{Claim, Commit, EngineId, Epoch, Store};

pub async fn engines_have_ids_of_their_own(h: &impl StoreHarness) {
    let store = h.open().await;
    let first = store.join().await.unwrap();
    let second = store.join().await.unwrap();
    store.leave(second).await.unwrap();
    let third = store.join().await.unwrap();
    assert!(first != second && second != third && first != third);
}

pub async fn leaving_twice_or_unknown_does_nothing(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let other = store.join().await.unwrap();
    store.leave(other).await.unwrap();
    store.leave(other).await.unwrap();
    store.leave(EngineId(987_654)).await.unwrap();
    store.commit(Arc::new(commit("r"))).await.unwrap();
    assert_eq!(row(&store, "r").await.owner, Some(engine));
}

pub async fn a_free_run_is_claimed_with_the_next_epoch(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "free", engine, waiting(Some(at(50)))).await;
    for epoch in 2..5 {
        let claim = store.claim(&id("free"), engine).await.unwrap().unwrap();
        assert_eq!(
            (claim.epoch, claim.row.epoch, claim.row.owner),
            (Epoch(epoch), Epoch(epoch), Some(engine))
        );
        assert_eq!((claim.row.wake_at, claim.row.status), (None, RunStatus::Waiting));
        assert_eq!(claim.row, row(&store, "free").await);
        let releasing = Commit { row_update: Some(waiting(Some(at(50)))), ..commit_at("free", epoch) };
        store.commit(Arc::new(releasing)).await.unwrap();
    }
}

pub async fn a_claimed_run_takes_commits_at_the_new_epoch(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    release(&store, "r", None).await;
    let claim = store.claim(&id("r"), engine).await.unwrap().unwrap();
    let next = Commit { events: Some(batch(2, 1)), ..Commit::new(id("r"), claim.epoch, at(2)) };
    store.commit(Arc::new(next)).await.unwrap();
}

pub async fn an_owned_run_is_not_claimed(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let other = store.join().await.unwrap();
    for engine in [engine, other] {
        assert!(store.claim(&id("r"), engine).await.unwrap().is_none());
    }
    assert_eq!((row(&store, "r").await.owner, row(&store, "r").await.epoch), (Some(engine), Epoch(1)));
}

pub async fn an_ended_or_unknown_run_is_not_claimed(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    end(&store, "r", at(2)).await;
    assert!(store.claim(&id("r"), engine).await.unwrap().is_none());
    assert!(store.claim(&id("nobody"), engine).await.unwrap().is_none());
}

pub async fn a_claimed_queued_run_is_running(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "queued", engine, row_update(RunStatus::Queued)).await;
    let claim = store.claim(&id("queued"), engine).await.unwrap().unwrap();
    assert_eq!((claim.row.status, claim.row.owner), (RunStatus::Running, Some(engine)));
    assert_eq!(row(&store, "queued").await.status, RunStatus::Running);
    assert!(store.claim_queued(engine, MANY).await.unwrap().is_empty());
}

pub async fn an_engine_that_left_claims_nothing(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "due", engine, waiting(Some(at(0)))).await;
    create_with_row(&store, "queued", engine, row_update(RunStatus::Queued)).await;
    store.leave(engine).await.unwrap();
    let before = picture(&store).await;
    assert!(store.claim(&id("r"), engine).await.unwrap().is_none());
    assert!(store.claim(&id("queued"), engine).await.unwrap().is_none());
    assert!(store.claim_due(engine, at(9), MANY).await.unwrap().is_empty());
    assert!(store.claim_queued(engine, MANY).await.unwrap().is_empty());
    assert_eq!(picture(&store).await, before);
}

pub async fn concurrent_claims_of_one_run_admit_one(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "free", engine, waiting(None)).await;
    let store = Arc::new(store);
    let claims = race(&store, |store, engine| async move {
        store.claim(&id("free"), engine).await.unwrap().into_iter().collect()
    });
    assert_eq!(claimed(&claims.await), ["free"]);
    assert_eq!(row(store.as_ref(), "free").await.epoch, Epoch(2));
}

pub async fn concurrent_claims_of_due_runs_give_each_once(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for run in 0..30 {
        create_with_row(&store, &format!("{run:02}"), engine, waiting(Some(at(run)))).await;
    }
    let store = Arc::new(store);
    let claims = race(&store, |store, engine| async move {
        let mut mine = Vec::new();
        while let claims @ [_, ..] = &*store.claim_due(engine, at(100), 2).await.unwrap() {
            mine.extend_from_slice(claims);
        }
        mine
    });
    assert_each_once(&claims.await, 30);
}

pub async fn queued_runs_are_claimed_oldest_first(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for run in ["c", "a", "b"] {
        create_with_row(&store, run, engine, row_update(RunStatus::Queued)).await;
    }
    let claims = store.claim_queued(engine, 2).await.unwrap();
    assert_eq!(claimed(&claims), ["c", "a"]);
    for claim in &claims {
        assert_eq!((claim.row.status, claim.row.owner), (RunStatus::Running, Some(engine)));
        assert_eq!((claim.epoch, claim.row.epoch), (Epoch(2), Epoch(2)));
        assert_eq!(claim.row, row(&store, claim.row.id.as_str()).await);
    }
    assert_eq!(row(&store, "b").await.status, RunStatus::Queued);
    assert_eq!(claimed(&store.claim_queued(engine, MANY).await.unwrap()), ["b"]);
}

pub async fn queued_runs_are_claimed_once(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let other = store.join().await.unwrap();
    create_with_row(&store, "queued", engine, row_update(RunStatus::Queued)).await;
    assert!(due(&store, engine, at(100)).await.is_empty());
    assert_eq!(claimed(&store.claim_queued(engine, MANY).await.unwrap()), ["queued"]);
    assert!(store.claim_queued(other, MANY).await.unwrap().is_empty());
    store.commit(Arc::new(commit_at("queued", 2))).await.unwrap();
}

pub async fn concurrent_claims_of_queued_runs_give_each_once(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for run in 0..30 {
        create_with_row(&store, &format!("{run:02}"), engine, row_update(RunStatus::Queued)).await;
    }
    let store = Arc::new(store);
    let claims = race(&store, |store, engine| async move {
        let mut mine = Vec::new();
        while let claims @ [_, ..] = &*store.claim_queued(engine, 2).await.unwrap() {
            mine.extend_from_slice(claims);
        }
        mine
    });
    assert_each_once(&claims.await, 30);
}

pub async fn runs_of_an_engine_that_left_are_claimed(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("s", engine)).await;
    let other = store.join().await.unwrap();
    store.leave(engine).await.unwrap();
    let first = store.claim_due(other, at(0), 1).await.unwrap();
    let second = store.claim_due(other, at(0), MANY).await.unwrap();
    assert_eq!((first.len(), second.len()), (1, 1));
    let mut names = claimed(&[first.clone(), second].concat());
    names.sort();
    assert_eq!(names, ["r", "s"]);
    assert_eq!((first[0].epoch, first[0].row.owner), (Epoch(2), Some(other)));
    assert_eq!(first[0].row.status, RunStatus::Running);
}

pub async fn runs_of_live_engines_are_not_claimed(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let other = store.join().await.unwrap();
    assert!(due(&store, other, at(1_000_000)).await.is_empty());
    store.commit(Arc::new(commit("r"))).await.unwrap();
}

pub async fn ended_runs_of_an_engine_that_left_are_not_claimed(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let other = store.join().await.unwrap();
    end(&store, "r", at(2)).await;
    store.leave(engine).await.unwrap();
    assert!(due(&store, other, at(1_000_000)).await.is_empty());
}

/// There is an end to them; due runs may come for ever.
pub async fn runs_of_an_engine_that_left_come_before_due_ones(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "due", engine, waiting(Some(at(-10)))).await;
    let other = store.join().await.unwrap();
    store.leave(engine).await.unwrap();
    assert_eq!(due(&store, other, at(0)).await, ["r", "due"]);
}

/// Four engines claim at once; gives what they got together.
async fn race<S: Store, F>(store: &Arc<S>, claim: impl Fn(Arc<S>, EngineId) -> F) -> Vec<Claim>
where
    F: Future<Output = Vec<Claim>> + Send + 'static,
{
    let mut racers = Vec::new();
    for _ in 0..4 {
        let engine = store.join().await.unwrap();
        racers.push(claim(Arc::clone(store), engine));
    }
    let racers: Vec<_> = racers.into_iter().map(tokio::spawn).collect();
    let mut claims = Vec::new();
    for racer in racers {
        claims.extend(racer.await.unwrap());
    }
    claims
}

fn assert_each_once(claims: &[Claim], count: usize) {
    let mut names = claimed(claims);
    names.sort();
    assert_eq!(names, (0..count).map(|run| format!("{run:02}")).collect::<Vec<_>>());
    assert!(claims.iter().all(|claim| claim.epoch == Epoch(2)));
}
