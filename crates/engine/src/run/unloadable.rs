//! Runs that cannot be loaded: blocked, with the reason in their row, until help comes; or ended by force.
//!
//! | why it cannot be loaded | a message that waits | then |
//! | --- | --- | --- |
//! | the store fails now | any | it waits; the run is tried again soon |
//! | its workflow is not registered | cancel, kill | it is loaded all the same, see `load` |
//! | | resume | refused: it would not help |
//! | | any other | it waits for the workflow |
//! | its plan was made by a newer version | kill | the run is ended, by its row alone |
//! | | any other | it waits for that version |
//! | its history or plan does not read, or leads to what cannot be | kill | the run is ended, by its row alone |
//! | | any other | refused: it would never be acted on |

use std::sync::Arc;

use rival_core::bound::{NOTE_MAX, cut};
use rival_core::durable::ChildOutcome;
use rival_core::{RunId, RunStatus};
use rival_store::{
    Claim, Commit, Epoch, Message, MessageNo, NewMessage, Page, RowUpdate, RunFilter, RunHold, StoreError,
};

use crate::api::control::{CommandAck, CommandRefusal, RunCommand};
use crate::run::load::LoadError;
use crate::schedule::shared::EngineShared;

/// What became of the messages of a run that cannot be loaded.
pub(crate) struct UnloadedMessages {
    status: RunStatus,
    refused: Vec<MessageNo>,
    reason: String,
}

impl UnloadedMessages {
    /// Tells a caller what became of one of them.
    pub(crate) fn acknowledge(&self, CommandAck { message, sender }: CommandAck) {
        let is_refused = self.refused.contains(&message);
        let refusal = is_refused.then(|| CommandRefusal::Unloadable(self.reason.clone()));
        // A caller that is gone needs no answer.
        let _ = sender.send(refusal.map_or(Ok(self.status), Err));
    }
}

/// How much help a run needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnloadedCause {
    /// The store fails now, and may work later.
    Store,
    /// Its workflow is not there.
    Workflow,
    /// Its plan was made by a newer version.
    Newer,
    /// What is stored of it does not read, or leads to what cannot be.
    Damage,
}

impl UnloadedCause {
    fn of(error: &LoadError) -> Self {
        match error {
            LoadError::Store(error) if error.is_retryable() => Self::Store,
            LoadError::NotRegistered(_) => Self::Workflow,
            LoadError::Store(StoreError::Newer(_)) => Self::Newer,
            LoadError::Store(_)
            | LoadError::Decode(_)
            | LoadError::PlanMissing
            | LoadError::Gap(_)
            | LoadError::Broken(_) => Self::Damage,
        }
    }

    /// Whether a run that needs this help will ever act on a command.
    fn refuses(self, command: Option<&RunCommand>) -> bool {
        match self {
            Self::Store | Self::Newer => false,
            Self::Workflow => matches!(command, Some(RunCommand::Resume { .. })),
            // What a child has to tell is kept for the day on which the file is restored.
            Self::Damage => {
                !matches!(command, Some(RunCommand::ChildEnded { .. } | RunCommand::ChildRetried { .. }))
            }
        }
    }
}

/// Gives a run back that cannot be loaded: it is blocked, and looked at again when its workflow is registered or
/// something is asked of it. One that cannot be read is ended if that is asked for. `None`: it could not be given back.
pub(crate) async fn block_unloadable(
    shared: &Arc<EngineShared>,
    claim: &Claim,
    error: &LoadError,
) -> Option<UnloadedMessages> {
    let run = &claim.row.id;
    tracing::error!(%run, %error, "the run cannot go on");
    let cause = UnloadedCause::of(error);
    let reason = error.to_string();
    let messages = waiting(shared, run).await;
    let kill = messages.iter().find_map(|message| match message.body.decode::<RunCommand>() {
        Ok(RunCommand::Kill { reason, .. }) => Some((message.no, reason)),
        _ => None,
    });
    if let (UnloadedCause::Damage | UnloadedCause::Newer, Some((no, why))) = (cause, kill) {
        return end_by_force(shared, claim, &messages, no, why, &reason).await;
    }
    let refused = |message: &&Message| cause.refuses(message.body.decode().ok().as_ref());
    let refused: Vec<MessageNo> = messages.iter().filter(refused).map(|message| message.no).collect();
    let now = shared.clock.now();
    // A store that fails now may work later; what is wrong in the run itself needs help.
    let (status, wake_at) = match cause {
        UnloadedCause::Store => (claim.row.status, Some(now.plus_ms(1_000))),
        UnloadedCause::Workflow | UnloadedCause::Newer | UnloadedCause::Damage => (RunStatus::Blocked, None),
    };
    let mut commit = Commit::new(run.clone(), claim.epoch, now);
    (commit.consumed, commit.refused) = (refused.clone(), refused.clone());
    let note = Some(cut(reason.clone(), NOTE_MAX));
    commit.row_update = Some(RowUpdate::new(status, RunHold::Release(wake_at), now, note));
    let is_written = write(shared, commit).await;
    shared.scheduler.note_wake(wake_at);
    look_again_if_registered(shared, claim, error).await;
    is_written.then_some(UnloadedMessages { status, refused, reason })
}

/// The workflow may have been registered while the run was still being looked at.
async fn look_again_if_registered(shared: &EngineShared, claim: &Claim, error: &LoadError) {
    if matches!(error, LoadError::NotRegistered(_)) && shared.registry.knows(&claim.row.workflow) {
        let woken = async { shared.store.get()?.wake_blocked(&claim.row.workflow, shared.clock.now()).await };
        match woken.await {
            Ok(_) => shared.scheduler.rescan(),
            Err(error) => {
                let run = &claim.row.id;
                tracing::error!(%run, %error, "the run is blocked although its workflow is registered");
            }
        }
    }
}

/// Ends a run whose history does not read. Its children are killed with it, and its parent is told, as far as rows
/// know of them. No event says so, because it is unknown what the event would follow: the row does.
async fn end_by_force(
    shared: &Arc<EngineShared>,
    claim: &Claim,
    messages: &[Message],
    kill: MessageNo,
    why: Option<String>,
    reason: &str,
) -> Option<UnloadedMessages> {
    let (run, now) = (&claim.row.id, shared.clock.now());
    let mut commit = Commit::new(run.clone(), claim.epoch, now);
    commit.consumed = messages.iter().map(|message| message.no).collect();
    let refused: Vec<MessageNo> = commit.consumed.iter().copied().filter(|no| *no != kill).collect();
    commit.refused.clone_from(&refused);
    let words = why.as_deref().map_or_else(String::new, |why| format!(" ({why})"));
    let note = Some(cut(format!("killed{words} without a look at its history: {reason}"), NOTE_MAX));
    commit.row_update = Some(RowUpdate::new(RunStatus::Cancelled, RunHold::Release(None), now, note));
    commit.messages = last_words(shared, claim, why).await;
    let told: Vec<RunId> = commit.messages.iter().map(|(run, _)| run.clone()).collect();
    if !write(shared, commit).await {
        return None;
    }
    told.iter().for_each(|run| shared.notify_inbox(run));
    shared.waiters.ended(run, &None);
    Some(UnloadedMessages { status: RunStatus::Cancelled, refused, reason: reason.to_owned() })
}

async fn last_words(shared: &EngineShared, claim: &Claim, why: Option<String>) -> Vec<(RunId, NewMessage)> {
    let run = &claim.row.id;
    let mut words = Vec::new();
    let statuses = RunStatus::unfinished().collect();
    let filter = RunFilter { parent: Some(run.clone()), statuses, ..RunFilter::default() };
    let page = Page { before: None, limit: usize::MAX };
    let children = async { shared.store.get()?.runs(&filter, &page).await };
    match children.await {
        Ok(children) => words.extend(children.into_iter().map(|child| {
            let reason = Some(format!("its parent run `{run}` was killed"));
            (child.id, RunCommand::Kill { reason, by: None }.message(None))
        })),
        Err(error) => tracing::error!(%run, %error, "children of the killed run are left behind"),
    }
    if let Some(parent) = &claim.row.parent {
        let outcome = ChildOutcome::Cancelled { reason: why, not_undone: Vec::new() };
        let ended =
            RunCommand::ChildEnded { child: run.clone(), outcome, undoable: false, not_undone: Vec::new() };
        words.push((parent.clone(), ended.message(Some(format!("child:{run}")))));
    }
    words
}

/// The messages that wait for a run that cannot be loaded. Those that cannot be read stay where they are.
async fn waiting(shared: &EngineShared, run: &RunId) -> Vec<Message> {
    let mut retry = shared.store_retry(run, "the messages of the run cannot be read");
    loop {
        let messages = async { shared.store.get()?.messages(run).await };
        match messages.await {
            Ok(messages) => return messages,
            Err(error) => {
                if let Err(error) = retry.after(error).await {
                    tracing::error!(%run, %error, "the messages of the run cannot be read");
                    return Vec::new();
                }
            }
        }
    }
}

/// Gives a run back that cannot be written, blocked and with the reason in its row.
pub(crate) async fn release_run(shared: &EngineShared, run: &RunId, epoch: Epoch, reason: &str) {
    let now = shared.clock.now();
    let mut commit = Commit::new(run.clone(), epoch, now);
    let note = Some(cut(reason.to_owned(), NOTE_MAX));
    commit.row_update = Some(RowUpdate::new(RunStatus::Blocked, RunHold::Release(None), now, note));
    write(shared, commit).await;
}

/// No other engine can touch the run until this is written. Gives whether it was.
async fn write(shared: &EngineShared, commit: Commit) -> bool {
    let run = commit.run.clone();
    let written = shared.commit(commit).await;
    if let Err(error) = &written {
        tracing::error!(%run, %error, "the run could not be given back; it is found again at the next start");
    }
    written.is_ok()
}
