//! Removing runs that ended long ago.

use std::sync::Arc;

use rival_core::Seq;

use super::StoreHarness;
use super::fixture::*;
use crate::{Commit, LogFilter, NewRun, SendResult, Store};

/// Runs that ended at the given times, and are named after them.
async fn ended_runs<H: StoreHarness>(h: &H, times: &[i64]) -> (H::Store, crate::EngineId) {
    let store = h.open().await;
    let engine = store.join().await.unwrap();
    for time in times {
        create_with_row(&store, &time.to_string(), engine, ended(at(*time))).await;
    }
    (store, engine)
}

pub async fn runs_that_ended_before_are_removed_with_everything(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("other", engine)).await;
    let ending = Commit {
        events: Some(batch(2, 1)),
        row_update: Some(ended(at(10))),
        logs: vec![line("r", "text"), line("other", "text")],
        snapshot: Some(snapshot(2, "state")),
        ..commit("r")
    };
    store.commit(Arc::new(ending)).await.unwrap();
    assert_eq!(store.purge(at(11), MANY).await.unwrap(), 1);

    assert!(store.run(&id("r")).await.unwrap().is_none());
    assert!(store.load(&id("r"), Seq::ZERO, MANY).await.unwrap().is_empty());
    assert!(store.snapshot(&id("r")).await.unwrap().is_none());
    assert!(store.logs(&id("r"), &LogFilter::default()).await.unwrap().is_empty());
    assert_eq!(store.send(&id("r"), message(None, "late"), at(12)).await.unwrap(), SendResult::NotFound);
    assert_eq!(ids(&all(&store).await), ["other"]);
    assert_eq!(store.logs(&id("other"), &LogFilter::default()).await.unwrap().len(), 1);
}

pub async fn live_runs_and_recent_ones_stay(h: &impl StoreHarness) {
    let (store, engine) = ended_runs(h, &[9, 10, 11]).await;
    create(&store, new_run("live", engine)).await;
    assert_eq!(store.purge(at(10), MANY).await.unwrap(), 1);
    assert_eq!(ids(&all(&store).await), ["live", "11", "10"]);
    assert_eq!(store.purge(at(10), MANY).await.unwrap(), 0);
}

pub async fn the_oldest_are_removed_first(h: &impl StoreHarness) {
    let (store, _) = ended_runs(h, &[3, 1, 4, 2]).await;
    assert_eq!(store.purge(at(100), 0).await.unwrap(), 0);
    assert_eq!(store.purge(at(100), 2).await.unwrap(), 2);
    assert_eq!(ids(&all(&store).await), ["4", "3"]);
    assert_eq!(store.purge(at(100), 2).await.unwrap(), 2);
    assert!(all(&store).await.is_empty());
}

pub async fn a_run_with_a_live_child_stays(h: &impl StoreHarness) {
    let (store, engine) = ended_runs(h, &[1]).await;
    let child = |run: &str| NewRun { parent: Some(id("1")), ..new_run(run, engine) };
    create(&store, NewRun { row_update: ended(at(1)), ..child("ended child") }).await;
    create(&store, child("live child")).await;
    create(&store, NewRun { row_update: waiting(None), ..child("waiting child") }).await;

    assert_eq!(store.purge(at(100), MANY).await.unwrap(), 1);
    assert_eq!(ids(&all(&store).await), ["waiting child", "live child", "1"]);
    end(&store, "live child", at(500)).await;
    assert_eq!(store.purge(at(100), MANY).await.unwrap(), 0);
    store.claim(&id("waiting child"), engine).await.unwrap();
    let ending = Commit { row_update: Some(ended(at(500))), ..commit_at("waiting child", 2) };
    store.commit(Arc::new(ending)).await.unwrap();
    assert_eq!(store.purge(at(100), MANY).await.unwrap(), 1);
    assert_eq!(ids(&all(&store).await), ["waiting child", "live child"]);
}

/// A run that fails undoes what its children did, and they undo what theirs did: all of it must still be there.
pub async fn a_run_with_a_live_parent_stays(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let of = |parent: &str, run: &str| NewRun {
        parent: Some(id(parent)),
        row_update: ended(at(1)),
        ..new_run(run, engine)
    };
    for child in [of("r", "child"), of("child", "grandchild"), of("gone", "orphan")] {
        create(&store, child).await;
    }
    assert_eq!(store.purge(at(100), MANY).await.unwrap(), 1);
    assert_eq!(ids(&all(&store).await), ["grandchild", "child", "r"]);
    end(&store, "r", at(500)).await;
    assert_eq!(store.purge(at(100), MANY).await.unwrap(), 2);
    assert_eq!(ids(&all(&store).await), ["r"]);
}

/// An id that was used again is another run: its former children do not belong to it.
pub async fn a_run_is_not_kept_for_a_younger_one_with_its_parents_id(h: &impl StoreHarness) {
    let (store, engine) = ended_runs(h, &[1]).await;
    create(&store, NewRun { parent: Some(id("1")), row_update: ended(at(50)), ..new_run("child", engine) })
        .await;
    assert_eq!(store.purge(at(2), MANY).await.unwrap(), 1);
    create(&store, new_run("1", engine)).await;
    assert_eq!(store.purge(at(100), MANY).await.unwrap(), 1);
    assert_eq!(ids(&all(&store).await), ["1"]);
}

/// Parents that wait for their children must not keep the others from being removed.
pub async fn a_run_that_stays_does_not_use_up_the_limit(h: &impl StoreHarness) {
    let (store, engine) = ended_runs(h, &[1, 2, 3]).await;
    for parent in ["1", "2"] {
        create(&store, NewRun { parent: Some(id(parent)), ..new_run(&format!("{parent}'s"), engine) }).await;
    }
    assert_eq!(store.purge(at(100), 1).await.unwrap(), 1);
    assert_eq!(ids(&all(&store).await), ["2's", "1's", "2", "1"]);
}

/// What starts the triggered runs reads what the run has left, and so does a retry of it.
pub async fn a_run_stays_until_what_it_triggers_is_started(h: &impl StoreHarness) {
    let (store, engine) = ended_runs(h, &[1, 2]).await;
    let system = |run: &str| NewRun { workflow: "rival:triggers".to_owned(), ..new_run(run, engine) };
    create(&store, system("1~triggers")).await;
    // Another run's, whose id begins like that of the second one.
    create(&store, system("21~triggers")).await;
    assert_eq!(store.purge(at(100), MANY).await.unwrap(), 1);
    assert_eq!(ids(&all(&store).await), ["21~triggers", "1~triggers", "1"]);
    end(&store, "1~triggers", at(500)).await;
    create(&store, system("1~triggers~1")).await;
    assert_eq!(store.purge(at(100), MANY).await.unwrap(), 0);
    end(&store, "1~triggers~1", at(500)).await;
    assert_eq!(store.purge(at(100), MANY).await.unwrap(), 1);
    assert_eq!(ids(&all(&store).await), ["1~triggers~1", "21~triggers", "1~triggers"]);
}

/// As new: nothing of the former run is found again.
pub async fn a_removed_id_is_free_again(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let named = message(Some("m"), "before");
    store.send(&id("r"), named.clone(), at(0)).await.unwrap();
    store.commit(Arc::new(Commit { logs: vec![line("r", "before")], ..commit("r") })).await.unwrap();
    let no = row(&store, "r").await.no;
    end(&store, "r", at(1)).await;
    assert_eq!(store.purge(at(2), MANY).await.unwrap(), 1);

    create(&store, new_run("r", engine)).await;
    let again = row(&store, "r").await;
    assert_eq!((again.epoch, again.dropped_messages), (crate::Epoch(1), 0));
    assert!(again.no > no, "numbers are not given twice");
    assert_eq!(store.load(&id("r"), Seq::ZERO, MANY).await.unwrap(), [batch(1, 1)]);
    assert!(store.logs(&id("r"), &LogFilter::default()).await.unwrap().is_empty());
    assert!(store.send(&id("r"), named, at(3)).await.unwrap().no().is_some());
    assert_eq!(inbox(&store, "r").await, ["before"]);
}

pub async fn plans_stay(h: &impl StoreHarness) {
    let (store, _) = ended_runs(h, &[1]).await;
    store.put_plan(&plan_hash(), "{}").await.unwrap();
    store.purge(at(100), MANY).await.unwrap();
    assert_eq!(store.plan(&plan_hash()).await.unwrap().as_deref(), Some("{}"));
}
