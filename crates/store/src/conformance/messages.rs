//! Messages: kept in order, delivered once.

use std::sync::Arc;

use rival_core::{RunStatus, Value};

use super::StoreHarness;
use super::fixture::*;
use crate::{Commit, NewMessage, SendResult, Store};

async fn send_as(store: &impl Store, run: &str, message_id: &str, body: &str) -> Option<crate::MessageNo> {
    told_as(store, run, message_id, body).await.no()
}

async fn told_as(store: &impl Store, run: &str, message_id: &str, body: &str) -> SendResult {
    store.send(&id(run), message(Some(message_id), body), at(3)).await.unwrap()
}

async fn consume(store: &impl Store, run: &str, no: crate::MessageNo) {
    store.commit(Arc::new(Commit { consumed: vec![no], ..commit(run) })).await.unwrap();
}

pub async fn messages_wait_in_the_order_they_were_sent(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("other", engine)).await;
    assert!(inbox(&store, "r").await.is_empty());
    // The order is that of sending, whatever the clocks of the senders say.
    for (body, time) in [("b", 9), ("a", 2), ("c", 5)] {
        send(&store, "r", body, at(time)).await;
        send(&store, "other", "else", at(time)).await;
    }
    send_as(&store, "r", "named", "d").await;
    assert_eq!(inbox(&store, "r").await, ["b", "a", "c", "d"]);
    let messages = store.messages(&id("r")).await.unwrap();
    assert!(messages.is_sorted_by(|earlier, later| earlier.no < later.no));
    assert_eq!((messages[0].sent_at, messages[0].id.as_deref()), (at(9), None));
    assert_eq!((messages[3].sent_at, messages[3].id.as_deref()), (at(3), Some("named")));
}

pub async fn a_consumed_message_is_gone(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let first = send(&store, "r", "first", at(0)).await;
    let second = send(&store, "r", "second", at(0)).await;
    let third = send(&store, "r", "third", at(0)).await;
    consume(&store, "r", second).await;
    assert_eq!(inbox(&store, "r").await, ["first", "third"]);
    store.commit(Arc::new(Commit { consumed: vec![third, first], ..commit("r") })).await.unwrap();
    assert!(inbox(&store, "r").await.is_empty());
}

pub async fn a_message_is_consumed_once(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let no = send(&store, "r", "once", at(0)).await;
    assert_fenced(&store.commit(Arc::new(Commit { consumed: vec![no, no], ..commit("r") })).await);
    assert_eq!(inbox(&store, "r").await, ["once"]);
    consume(&store, "r", no).await;
    assert_fenced(&store.commit(Arc::new(Commit { consumed: vec![no], ..commit("r") })).await);
}

pub async fn the_id_of_a_refused_message_is_free_again(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let first = send_as(&store, "r", "m", "1").await.unwrap();
    store
        .commit(Arc::new(Commit { consumed: vec![first], refused: vec![first], ..commit("r") }))
        .await
        .unwrap();
    assert!(first < send_as(&store, "r", "m", "2").await.unwrap());
    assert_eq!(store.messages(&id("r")).await.unwrap().len(), 1);
}

pub async fn a_message_of_another_run_is_not_consumed(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("other", engine)).await;
    let no = send(&store, "other", "not yours", at(0)).await;
    assert_fenced(&store.commit(Arc::new(Commit { consumed: vec![no], ..commit("r") })).await);
    assert_eq!(inbox(&store, "other").await, ["not yours"]);
}

pub async fn a_message_id_is_kept_once(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let first = send_as(&store, "r", "m", "first").await;
    assert!(first.is_some());
    assert_eq!(told_as(&store, "r", "m", "again").await, SendResult::Known(first.unwrap()));
    assert_ne!(send_as(&store, "r", "n", "other").await, first);
    assert_eq!(inbox(&store, "r").await, ["first", "other"]);
}

pub async fn a_message_id_is_kept_once_also_after_it_was_consumed(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let first = send_as(&store, "r", "m", "first").await;
    let releasing =
        Commit { consumed: first.into_iter().collect(), row_update: Some(waiting(None)), ..commit("r") };
    store.commit(Arc::new(releasing)).await.unwrap();
    assert_eq!(send_as(&store, "r", "m", "again").await, first);
    assert!(inbox(&store, "r").await.is_empty());
    assert_eq!(row(&store, "r").await.wake_at, None);
}

pub async fn a_message_id_belongs_to_its_receiver(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("other", engine)).await;
    send_as(&store, "r", "m", "to r").await;
    send_as(&store, "other", "m", "to other").await;
    assert_eq!(inbox(&store, "r").await, ["to r"]);
    assert_eq!(inbox(&store, "other").await, ["to other"]);
}

pub async fn a_message_makes_a_free_run_due(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    for status in [RunStatus::Waiting, RunStatus::Paused, RunStatus::Blocked] {
        create_with_row(&store, status.word(), engine, row_update(status)).await;
        send(&store, status.word(), "wake up", at(5)).await;
        assert_eq!(store.next_wake().await.unwrap(), Some(at(5)));
        assert!(due(&store, engine, at(4)).await.is_empty());
        assert_eq!(due(&store, engine, at(5)).await, [status.word()]);
        assert_eq!(inbox(&store, status.word()).await, ["wake up"]);
    }
}

pub async fn a_message_does_not_put_off_a_wake_up(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "soon", engine, waiting(Some(at(5)))).await;
    create_with_row(&store, "later", engine, waiting(Some(at(500)))).await;
    for run in ["soon", "later"] {
        send(&store, run, "hello", at(50)).await;
    }
    assert_eq!(row(&store, "soon").await.wake_at, Some(at(5)));
    assert_eq!(row(&store, "later").await.wake_at, Some(at(50)));
}

pub async fn a_message_leaves_an_owned_run_to_its_owner(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let before = row(&store, "r").await;
    send(&store, "r", "hello", at(5)).await;
    assert_eq!(row(&store, "r").await, before);
    let other = store.join().await.unwrap();
    assert!(due(&store, other, at(100)).await.is_empty());
    assert_eq!(before.owner, Some(engine));
}

/// It would jump the queue otherwise, and the admission limit with it.
pub async fn a_message_leaves_a_queued_run_in_the_queue(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create_with_row(&store, "queued", engine, row_update(RunStatus::Queued)).await;
    let before = row(&store, "queued").await;
    send(&store, "queued", "hello", at(5)).await;
    assert_eq!(row(&store, "queued").await, before);
    assert!(due(&store, engine, at(100)).await.is_empty());
    assert_eq!(claimed(&store.claim_queued(engine, MANY).await.unwrap()), ["queued"]);
    assert_eq!(inbox(&store, "queued").await, ["hello"]);
}

/// The message came after the owner's last look and before its commit: without this, it would be lost
/// until something else wakes the run.
pub async fn a_run_that_is_let_go_with_messages_waiting_is_due(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("timed", engine)).await;
    for (run, wake_at) in [("r", None), ("timed", Some(at(500)))] {
        let seen = send(&store, run, "seen", at(0)).await;
        send(&store, run, "unseen", at(0)).await;
        let releasing = Commit { consumed: vec![seen], row_update: Some(waiting(wake_at)), ..commit(run) };
        store.commit(Arc::new(releasing)).await.unwrap();
        assert_eq!(due(&store, engine, at(1)).await, [run]);
        assert_eq!(inbox(&store, run).await, ["unseen"]);
    }
}

pub async fn a_run_that_is_let_go_without_messages_is_not_due(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let seen = send(&store, "r", "seen", at(0)).await;
    let releasing = Commit { consumed: vec![seen], row_update: Some(waiting(None)), ..commit("r") };
    store.commit(Arc::new(releasing)).await.unwrap();
    assert_eq!(row(&store, "r").await.wake_at, None);
    assert!(due(&store, engine, at(1_000)).await.is_empty());
}

pub async fn a_message_after_the_end_is_counted_and_dropped(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    end(&store, "r", at(2)).await;
    assert_eq!(told_as(&store, "r", "new", "late").await, SendResult::Ended);
    assert_eq!(told_as(&store, "r", "new", "late").await, SendResult::Ended);
    assert!(inbox(&store, "r").await.is_empty());
    let row = row(&store, "r").await;
    assert_eq!((row.dropped_messages, row.wake_at, row.status), (2, None, RunStatus::Completed));
    assert!(due(&store, engine, at(100)).await.is_empty());
}

/// A repeated id learns what became of the first message: these were acted on, refused, and dropped at the end.
pub async fn an_ended_run_knows_the_messages_that_it_acted_on(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let acted = send_as(&store, "r", "acted", "1").await.unwrap();
    let refused = send_as(&store, "r", "refused", "2").await.unwrap();
    let consumed = vec![acted, refused];
    store.commit(Arc::new(Commit { consumed, refused: vec![refused], ..commit("r") })).await.unwrap();
    let last = send_as(&store, "r", "last", "3").await.unwrap();
    send_as(&store, "r", "unread", "4").await;
    let ending = Commit { consumed: vec![last], row_update: Some(ended(at(2))), ..commit("r") };
    store.commit(Arc::new(ending)).await.unwrap();
    assert_eq!(told_as(&store, "r", "acted", "1").await, SendResult::Known(acted));
    assert_eq!(told_as(&store, "r", "last", "3").await, SendResult::Known(last));
    assert_eq!(row(&store, "r").await.dropped_messages, 1);
    assert_eq!(told_as(&store, "r", "refused", "2").await, SendResult::Ended);
    assert_eq!(told_as(&store, "r", "unread", "4").await, SendResult::Ended);
    assert_eq!(row(&store, "r").await.dropped_messages, 3);
}

pub async fn messages_that_wait_at_the_end_are_counted_and_dropped(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let read = send(&store, "r", "read", at(0)).await;
    send(&store, "r", "unread", at(0)).await;
    send(&store, "r", "unread", at(0)).await;
    let ending = Commit { consumed: vec![read], row_update: Some(ended(at(2))), ..commit("r") };
    store.commit(Arc::new(ending)).await.unwrap();
    assert!(inbox(&store, "r").await.is_empty());
    assert_eq!(row(&store, "r").await.dropped_messages, 2);
    assert!(due(&store, engine, at(100)).await.is_empty());
}

pub async fn a_message_to_an_unknown_run_is_dropped(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    assert_eq!(told_as(&store, "later", "m", "too early").await, SendResult::NotFound);
    assert!(inbox(&store, "later").await.is_empty());
    create(&store, new_run("later", engine)).await;
    assert!(inbox(&store, "later").await.is_empty());
    assert_eq!(row(&store, "later").await.dropped_messages, 0);
    assert!(send_as(&store, "later", "m", "now").await.is_some());
}

pub async fn a_message_in_a_commit_follows_the_same_rules(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    create(&store, new_run("owned", engine)).await;
    create(&store, new_run("ended", engine)).await;
    end(&store, "ended", at(0)).await;
    create_with_row(&store, "free", engine, waiting(Some(at(500)))).await;
    create_with_row(&store, "queued", engine, row_update(RunStatus::Queued)).await;
    let receivers = ["owned", "ended", "free", "queued", "nobody"];
    let messages: Vec<_> = receivers.iter().map(|run| (id(run), message(Some("m"), "hello"))).collect();
    let twice = Commit { messages: [messages.clone(), messages].concat(), now: at(7), ..commit("r") };
    store.commit(Arc::new(twice)).await.unwrap();

    for run in ["owned", "free", "queued"] {
        assert_eq!(inbox(&store, run).await, ["hello"]);
        assert_eq!(store.messages(&id(run)).await.unwrap()[0].sent_at, at(7));
    }
    assert_eq!(row(&store, "free").await.wake_at, Some(at(7)));
    assert_eq!(row(&store, "queued").await.wake_at, None);
    assert_eq!(row(&store, "ended").await.dropped_messages, 2);
    assert!(store.run(&id("nobody")).await.unwrap().is_none());
}

pub async fn a_run_can_be_sent_a_message_by_the_commit_that_starts_it(h: &impl StoreHarness) {
    let (store, engine) = one_run(h).await;
    let child = crate::NewRun { row_update: waiting(None), ..new_run("child", engine) };
    let messages = vec![(id("child"), message(None, "welcome"))];
    store.commit(Arc::new(Commit { runs: vec![child], messages, ..commit("r") })).await.unwrap();
    assert_eq!(inbox(&store, "child").await, ["welcome"]);
    assert_eq!(due(&store, engine, at(1)).await, ["child"]);
}

pub async fn concurrent_messages_with_one_id_keep_one(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let store = Arc::new(store);
    let senders = (0..8).map(|_| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { send_as(store.as_ref(), "r", "m", "same").await })
    });
    let mut numbers = Vec::new();
    for sender in senders.collect::<Vec<_>>() {
        numbers.push(sender.await.unwrap().expect("the message is kept"));
    }
    numbers.dedup();
    assert_eq!((numbers.len(), inbox(store.as_ref(), "r").await.len()), (1, 1));
}

pub async fn concurrent_messages_are_all_kept(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let store = Arc::new(store);
    let senders = (0..8).map(|sender| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for number in 0..5 {
                send(store.as_ref(), "r", &format!("{sender} {number}"), at(0)).await;
            }
        })
    });
    for sender in senders.collect::<Vec<_>>() {
        sender.await.unwrap();
    }
    let inbox = inbox(store.as_ref(), "r").await;
    assert_eq!(inbox.len(), 40);
    for sender in 0..8 {
        let of_sender = inbox.iter().filter(|body| body.starts_with(&sender.to_string()));
        assert!(of_sender.is_sorted(), "what one sender sent is in its order: {inbox:?}");
    }
}

/// Big integers, spaces and the order of keys are the sender's.
pub async fn a_message_body_comes_back_byte_for_byte(h: &impl StoreHarness) {
    let (store, _) = one_run(h).await;
    let long = format!("\"{}\"", "x".repeat(1 << 20));
    for json in ["null", r#"{"z": 1, "a":123456789012345678901234567890, "é\u00e9": [ ] }"#, long.as_str()] {
        let body = Value::from_json(json.to_owned()).unwrap();
        let no = store.send(&id("r"), NewMessage { id: None, body }, at(0)).await.unwrap().no().unwrap();
        let messages = store.messages(&id("r")).await.unwrap();
        assert!(messages[0].body.as_json() == json, "the body changed");
        consume(&store, "r", no).await;
    }
}
