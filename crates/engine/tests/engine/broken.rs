//! Runs that come to something that cannot be. Builds with debug assertions panic there instead.
#![cfg(not(debug_assertions))]

use std::sync::Arc;
use std::time::Duration;

use rival::prelude::*;
use rival::{Event, Path, RunError, RunId, RunStatus, Store};
use rival_core::event::{self, EventCause, EventKind};
use rival_store::{Commit, EventBatch, RowUpdate, RunHold};

use crate::lab::{Lab, facts};

facts![a_run_that_comes_to_what_cannot_be_is_blocked];

/// Another engine writes that a node is held which the plan does not have. No engine does that.
async fn hold_a_ghost(lab: &Lab, run: &RunId) {
    let store = lab.store();
    let other = store.join().await.unwrap();
    let claim = store.claim(run, other).await.unwrap().unwrap();
    let batches = store.load(run, rival::Seq(0), usize::MAX).await.unwrap();
    let events: Vec<Event> = batches.iter().flat_map(|batch| event::decode(&batch.body).unwrap()).collect();
    let seq = events.last().unwrap().seq.next();
    let kind = EventKind::NodeHeld { node: Path::from("ghost"), due: None };
    let now = lab.clock.now();
    let ghost = Event::new(seq, now, EventCause::Event(rival::Seq(1)), None, kind);
    let mut commit = Commit::new(run.clone(), claim.epoch, now);
    commit.events = Some(EventBatch { first: seq, count: 1, body: event::encode(&[ghost]) });
    let status = RunStatus::Waiting;
    commit.row_update = Some(RowUpdate::new(status, RunHold::Release(None), now, None));
    store.commit(Arc::new(commit)).await.unwrap();
}

async fn a_run_that_comes_to_what_cannot_be_is_blocked(lab: Lab) {
    let workflow = Workflow::new("w").step(delay_step(Duration::from_secs(90))).build().unwrap();
    let engine = lab.engine(&workflow).await;
    let run = engine.run("w", ()).await.unwrap().id().clone();
    engine.come_to_rest().await.unwrap();
    hold_a_ghost(&lab, &run).await;
    let before = engine.history(&run).await.unwrap();

    let refusal = engine.resume(&run).await.unwrap_err();
    assert!(matches!(refusal, RunError::Unreachable { .. }), "{refusal}");
    engine.come_to_rest().await.unwrap();
    let view = engine.get(&run).await.unwrap();
    let why = "internal: a node starts that is not in the plan, at `ghost`";
    assert_eq!((view.status, view.note.as_deref()), (RunStatus::Blocked, Some(why)));
    assert_eq!(engine.explain(&run).await.unwrap(), format!("run `{run}` is blocked: {why}"));
    assert_eq!(engine.history(&run).await.unwrap(), before);
    assert!(engine.active_runs().is_empty());
}
