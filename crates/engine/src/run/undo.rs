//! Runs that undo completed children.
//!
//! A child that has completed never changes. What undoes it is another run with the same history, but for its end: where
//! that one completed, this one is cancelled. So its compensations run as they would have, with the same inputs, results
//! and items, the last step first.

use rival_core::durable::ChildOutcome;
use rival_core::event::{self, EventCause, EventKind, ExternalCause};
use rival_core::failure::code;
use rival_core::machine::{CommitExtra, MachineInput};
use rival_core::{Event, FailureRecord, RunId, RunState, Seq, Time};
use rival_store::{EventBatch, NewRun, RowUpdate, RunHold, RunRow};

use crate::call::values::ReadError;
use crate::run::actor::{Actor, PendingCommit};
use crate::run::load;

impl Actor {
    /// Children that are gone from the store cannot be undone.
    pub(crate) async fn fail_lost_undos(&mut self, pending: &mut PendingCommit) {
        let mut looked = 0;
        while let Some(extra) = pending.extras.get(looked) {
            let CommitExtra::Undo { child, undo } = extra.clone() else {
                looked += 1;
                continue;
            };
            // One that cannot be read now is there; the commit waits for it.
            let row = async { self.shared.store.get()?.run(&child).await };
            if !matches!(row.await, Ok(None)) {
                looked += 1;
                continue;
            }
            pending.extras.remove(looked);
            let message = format!("run `{child}` is no longer in the store");
            let outcome =
                ChildOutcome::Failed { failure: FailureRecord::new(code::NOT_UNDONE, message), step: None };
            let (undoable, not_undone) = (false, Vec::new());
            self.decide(MachineInput::ChildEnded { child: undo, outcome, undoable, not_undone }, pending);
        }
    }
}

/// The run that undoes a child; `None` if the child is gone.
pub(crate) async fn undo_run(
    actor: &Actor,
    child: &RunId,
    undo: &RunId,
) -> Result<Option<NewRun>, ReadError> {
    let shared = &actor.shared;
    let Some(row) = shared.store.get()?.run(child).await? else { return Ok(None) };
    let history = load::load_history(&*shared.store.get()?, child).await?;
    let events = cancelled_instead(history, &actor.links.run, child, shared.clock.now());
    let mut state = RunState::default();
    events.iter().for_each(|event| state.apply(event));
    Ok(Some(new_run(actor, undo, row, &state, &events)))
}

/// The history of a completed run as that of one that is cancelled instead.
fn cancelled_instead(mut history: Vec<Event>, parent: &RunId, child: &RunId, now: Time) -> Vec<Event> {
    if let Some(EventKind::RunStarted { source, parent: of, deadline, retries_left, .. }) =
        history.first_mut().map(|first| &mut first.kind)
    {
        *source = Some(child.clone());
        *of = Some(parent.clone());
        *deadline = None;
        *retries_left = 0;
    }
    if let Some(last) = history.last_mut() {
        let reason = Some(format!("what it did for run `{parent}` is undone"));
        let kind = EventKind::CancelRequested { reason, force_at: now, kill: false };
        let cause = EventCause::Outside(ExternalCause::Request);
        *last = Event::new(last.seq, now, cause, None, kind);
    }
    history
}

fn new_run(actor: &Actor, undo: &RunId, row: RunRow, state: &RunState, events: &[Event]) -> NewRun {
    let now = actor.shared.clock.now();
    let count = u32::try_from(events.len()).unwrap_or(u32::MAX);
    let first = events.first().map_or(Seq(1), |event| event.seq);
    NewRun {
        id: undo.clone(),
        workflow: row.workflow,
        plan: row.plan,
        fingerprint: row.fingerprint,
        created_at: now,
        parent: Some(actor.links.run.clone()),
        source: Some(row.id),
        tags: row.tags,
        events: EventBatch { first, count, body: event::encode(events) },
        row_update: RowUpdate::new(state.status(), RunHold::Release(Some(now)), state.ended_at(), None),
        engine: actor.shared.id,
    }
}
