//! Who may write.

use std::sync::Arc;

use rival_core::{RunStatus, Seq};

use super::StoreHarness;
use super::fixture::*;
use crate::{Commit, CommitError, Epoch, RowUpdate, RunHold, Store};

/// The next event of `r`, right in everything but perhaps its writer.
fn next(epoch: i64) -> Commit {
    Commit { events: Some(batch(2, 1)), ..commit_at("r", epoch) }
}

async fn assert_unwritten(store: &impl Store) {
    assert_eq!(store.load(&id("r"), Seq::ZERO, MANY).await.unwrap(), [batch(1, 1)]);
}

pub async fn another_epoch_is_refused(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    for epoch in [0, 2, -1] {
        let result = store.commit(Arc::new(next(epoch))).await;
        let Err(CommitError::Fenced { run, epoch: refused }) = result else { panic!("{result:?}") };
        assert_eq!((run, refused), (id("r"), Epoch(epoch)));
    }
    assert_unwritten(&store).await;
}

pub async fn a_former_owner_is_refused_after_a_claim(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let other = store.join().await.unwrap();
    store.leave(engine).await.unwrap();
    assert!(store.claim(&id("r"), other).await.unwrap().is_some());
    assert_fenced(&store.commit(Arc::new(next(1))).await);
    assert_unwritten(&store).await;
    store.commit(Arc::new(next(2))).await.unwrap();
}

/// The run has not been claimed yet; the engine that left may not write all the same.
pub async fn an_engine_that_left_is_refused(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    store.leave(engine).await.unwrap();
    assert_fenced(&store.commit(Arc::new(next(1))).await);
    assert_unwritten(&store).await;
}

pub async fn a_run_that_was_let_go_takes_no_commit(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    release(&store, "r", Some(at(5))).await;
    assert_fenced(&store.commit(Arc::new(next(1))).await);
    assert_unwritten(&store).await;
}

pub async fn an_ended_run_takes_no_commit(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for status in [RunStatus::Completed, RunStatus::Failed, RunStatus::Cancelled] {
        let run = format!("r {status}");
        create(&store, new_run(&run, engine)).await;
        let ending = RowUpdate::new(status, RunHold::Release(Some(at(0))), at(2), None);
        store.commit(Arc::new(Commit { row_update: Some(ending), ..commit(&run) })).await.unwrap();
        let row = row(&store, &run).await;
        assert_eq!((row.owner, row.wake_at, row.ended_at), (None, None, Some(at(2))));
        assert_fenced(&store.commit(Arc::new(Commit { events: Some(batch(2, 1)), ..commit(&run) })).await);
        assert_fenced(&store.commit(Arc::new(commit(&run))).await);
        assert_eq!(store.load(&id(&run), Seq::ZERO, MANY).await.unwrap().len(), 1);
    }
}

/// A writer that lost the run learns so, even if its numbers are old as well.
pub async fn ownership_is_checked_before_the_sequence(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let other = store.join().await.unwrap();
    store.leave(engine).await.unwrap();
    store.claim(&id("r"), other).await.unwrap();
    store.commit(Arc::new(next(2))).await.unwrap();
    assert_fenced(&store.commit(Arc::new(next(1))).await);
}
