//! Reading events back.

use std::sync::Arc;

use rival_core::Seq;

use super::StoreHarness;
use super::fixture::*;
use crate::{Commit, EventBatch, Store};

/// Events 1 | 2 3 4 | 5 | 6 7 of the run `r`.
async fn seven_events<H: StoreHarness>(h: &H) -> H::Store {
    let (store, _) = one_run(h).await;
    for events in [batch(2, 3), batch(5, 1), batch(6, 2)] {
        store.commit(Arc::new(Commit { events: Some(events), ..commit("r") })).await.unwrap();
    }
    store
}

async fn since(store: &impl Store, after: u64) -> Vec<EventBatch> {
    store.load(&id("r"), Seq(after), MANY).await.unwrap()
}

pub async fn batches_come_in_order(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    for first in 2..30 {
        store.commit(Arc::new(Commit { events: Some(batch(first, 1)), ..commit("r") })).await.unwrap();
    }
    assert_eq!(since(&store, 0).await, (1..30).map(|first| batch(first, 1)).collect::<Vec<_>>());
}

pub async fn since_zero_gives_all(h: &impl StoreHarness) {
    let store = seven_events(h).await;
    assert_eq!(since(&store, 0).await, [batch(1, 1), batch(2, 3), batch(5, 1), batch(6, 2)]);
}

pub async fn since_the_middle_gives_the_rest(h: &impl StoreHarness) {
    let store = seven_events(h).await;
    assert_eq!(since(&store, 1).await, [batch(2, 3), batch(5, 1), batch(6, 2)]);
    assert_eq!(since(&store, 4).await, [batch(5, 1), batch(6, 2)]);
    assert_eq!(since(&store, 5).await, [batch(6, 2)]);
}

/// A batch is never cut: the reader skips what it has.
pub async fn since_the_middle_of_a_batch_gives_that_batch(h: &impl StoreHarness) {
    let store = seven_events(h).await;
    assert_eq!(since(&store, 2).await, [batch(2, 3), batch(5, 1), batch(6, 2)]);
    assert_eq!(since(&store, 3).await, [batch(2, 3), batch(5, 1), batch(6, 2)]);
    assert_eq!(since(&store, 6).await, [batch(6, 2)]);
}

pub async fn since_the_last_or_beyond_gives_nothing(h: &impl StoreHarness) {
    let store = seven_events(h).await;
    assert!(since(&store, 7).await.is_empty());
    assert!(since(&store, 8).await.is_empty());
    assert!(since(&store, i64::MAX as u64).await.is_empty());
}

pub async fn an_unknown_run_has_no_events(h: &impl StoreHarness) {
    let store = seven_events(h).await;
    assert!(store.load(&id("nobody"), Seq::ZERO, MANY).await.unwrap().is_empty());
}

pub async fn a_limit_gives_at_least_one_batch(h: &impl StoreHarness) {
    let store = seven_events(h).await;
    for limit in [0, 1] {
        assert_eq!(store.load(&id("r"), Seq(1), limit).await.unwrap(), [batch(2, 3)]);
    }
    assert_eq!(store.load(&id("r"), Seq::ZERO, 7).await.unwrap().len(), 4);
}

pub async fn pages_give_every_batch_once(h: &impl StoreHarness) {
    let store = seven_events(h).await;
    let whole = since(&store, 0).await;
    for limit in 0..9 {
        let mut read: Vec<EventBatch> = Vec::new();
        loop {
            let after = read.last().map_or(Seq::ZERO, EventBatch::last);
            let page = store.load(&id("r"), after, limit).await.unwrap();
            if page.is_empty() {
                break;
            }
            // "About": the batch that crosses the limit may be in or out, the one after it may not.
            let before_last: u32 = page[..page.len() - 1].iter().map(|batch| batch.count).sum();
            assert!(page.len() == 1 || (before_last as usize) < limit, "limit {limit}: {page:?}");
            read.extend(page);
            assert!(read.len() <= whole.len(), "a page began again: {read:?}");
        }
        assert_eq!(read, whole, "limit {limit}");
    }
}

pub async fn a_large_body_comes_back_byte_for_byte(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let body: Vec<u8> = (0..1 << 20).map(|at: u32| at.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
    let large = EventBatch { first: Seq(2), count: 1, body };
    let image = crate::Snapshot { body: large.body.clone(), ..snapshot(2, "") };
    let whole = Commit { events: Some(large.clone()), snapshot: Some(image.clone()), ..commit("r") };
    store.commit(Arc::new(whole)).await.unwrap();
    assert!(since(&store, 1).await == [large], "the events changed");
    assert!(store.snapshot(&id("r")).await.unwrap() == Some(image), "the snapshot changed");
}

pub async fn the_last_batch_is_the_one_with_the_last_event(h: &impl StoreHarness) {
    let store = seven_events(h).await;
    assert_eq!(store.last_batch(&id("r")).await.unwrap(), Some(batch(6, 2)));
    assert_eq!(store.last_batch(&id("unknown")).await.unwrap(), None);
}

pub async fn pages_of_large_batches_are_short(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    for seq in 2..8 {
        let large = EventBatch { first: Seq(seq), count: 1, body: vec![0; crate::LOAD_MAX_BYTES * 2 / 3] };
        store.commit(Arc::new(Commit { events: Some(large), ..commit("r") })).await.unwrap();
    }
    let mut read = Vec::new();
    loop {
        let after = read.last().map_or(Seq::ZERO, EventBatch::last);
        let page = store.load(&id("r"), after, MANY).await.unwrap();
        let bytes: usize = page.iter().map(|batch| batch.body.len()).sum();
        assert!(page.len() == 1 || bytes <= crate::LOAD_MAX_BYTES, "{bytes} bytes at once");
        if page.is_empty() {
            break;
        }
        read.extend(page);
    }
    assert_eq!(read.len(), 7);
}
