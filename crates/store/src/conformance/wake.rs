//! Wake-ups of runs without an owner.

use std::sync::Arc;

use rival_core::RunStatus;

use super::StoreHarness;
use super::fixture::*;
use crate::{NewRun, Store};

/// Runs `b`, `c` and `a`, due at 10, 20 and 30, and one that waits without a time.
async fn three_sleepers<H: StoreHarness>(h: &H) -> (H::Store, crate::EngineId) {
    let (store, engine) = one_run(h).await;
    for (run, wake_at) in [("a", Some(30)), ("b", Some(10)), ("c", Some(20)), ("d", None)] {
        create_with_row(&store, run, engine, waiting(wake_at.map(at))).await;
    }
    (store, engine)
}

pub async fn due_runs_come_earliest_first(h: &impl StoreHarness) {
    let (store, engine) = three_sleepers(h).await;
    assert_eq!(due(&store, engine, at(1_000)).await, ["b", "c", "a"]);
    assert!(due(&store, engine, at(1_000)).await.is_empty());
}

pub async fn a_run_is_due_at_its_time_and_not_before(h: &impl StoreHarness) {
    let (store, engine) = three_sleepers(h).await;
    assert!(due(&store, engine, at(9)).await.is_empty());
    assert_eq!(due(&store, engine, at(10)).await, ["b"]);
    assert_eq!(due(&store, engine, at(29)).await, ["c"]);
    assert_eq!(due(&store, engine, at(30)).await, ["a"]);
}

pub async fn a_limit_leaves_the_later_ones(h: &impl StoreHarness) {
    let (store, engine) = three_sleepers(h).await;
    assert!(store.claim_due(engine, at(1_000), 0).await.unwrap().is_empty());
    assert_eq!(claimed(&store.claim_due(engine, at(1_000), 2).await.unwrap()), ["b", "c"]);
    assert_eq!(claimed(&store.claim_due(engine, at(1_000), 2).await.unwrap()), ["a"]);
}

pub async fn a_due_run_keeps_its_status_and_loses_its_wake_up(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for status in [RunStatus::Waiting, RunStatus::Paused, RunStatus::Blocked, RunStatus::Cancelling] {
        let run = status.word();
        create_with_row(&store, run, engine, released(status, Some(at(5)))).await;
        let claims = store.claim_due(engine, at(5), MANY).await.unwrap();
        assert_eq!(claimed(&claims), [run]);
        let claim = &claims[0];
        assert_eq!((claim.row.status, claim.row.wake_at, claim.row.owner), (status, None, Some(engine)));
        assert_eq!((claim.epoch, &claim.row), (claim.row.epoch, &row(&store, run).await));
    }
}

pub async fn a_kept_run_has_no_wake_up(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "kept", engine, kept()).await;
    store.commit(Arc::new(crate::Commit { row_update: Some(kept()), ..commit("r") })).await.unwrap();
    assert_eq!(row(&store, "kept").await.wake_at, None);
    assert_eq!(row(&store, "r").await.wake_at, None);
    assert_eq!(store.next_wake().await.unwrap(), None);
    assert!(due(&store, engine, at(100)).await.is_empty());
}

pub async fn next_wake_is_the_earliest_of_runs_without_an_owner(h: &impl StoreHarness) {
    let (store, engine) = three_sleepers(h).await;
    assert_eq!(store.next_wake().await.unwrap(), Some(at(10)));
    store.claim(&id("b"), engine).await.unwrap();
    assert_eq!(store.next_wake().await.unwrap(), Some(at(20)));
    due(&store, engine, at(100)).await;
    assert_eq!(store.next_wake().await.unwrap(), None);
}

/// One with a deadline is looked at in time, and does not count as let in.
pub async fn a_due_queued_run_stays_queued(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let queued = released(RunStatus::Queued, Some(at(5)));
    create_with_row(&store, "queued", engine, queued).await;
    let claims = store.claim_due(engine, at(5), MANY).await.unwrap();
    assert_eq!(claimed(&claims), ["queued"]);
    assert_eq!((claims[0].row.status, claims[0].row.owner), (RunStatus::Queued, Some(engine)));
    assert!(store.claim_queued(engine, MANY).await.unwrap().is_empty());
}

pub async fn blocked_runs_of_a_workflow_are_woken(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let blocked = row_update(RunStatus::Blocked);
    create_with_row(&store, "one", engine, blocked.clone()).await;
    create_with_row(&store, "two", engine, released(RunStatus::Blocked, Some(at(90)))).await;
    create_with_row(&store, "waiting", engine, waiting(Some(at(90)))).await;
    let other = NewRun { workflow: "other".to_owned(), row_update: blocked, ..new_run("other", engine) };
    create(&store, other).await;

    assert_eq!(store.wake_blocked("nothing", at(5)).await.unwrap(), 0);
    assert_eq!(store.wake_blocked("orders", at(5)).await.unwrap(), 2);
    assert_eq!(row(&store, "one").await.status, RunStatus::Blocked);
    assert!(due(&store, engine, at(4)).await.is_empty());
    let mut woken = due(&store, engine, at(5)).await;
    woken.sort();
    assert_eq!(woken, ["one", "two"]);
}

pub async fn blocked_runs_with_an_owner_are_not_woken(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "mine", engine, owned(RunStatus::Blocked)).await;
    assert_eq!(store.wake_blocked("orders", at(5)).await.unwrap(), 0);
    assert_eq!(row(&store, "mine").await.wake_at, None);
}
