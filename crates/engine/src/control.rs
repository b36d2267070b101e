//! Requests to a run: cancel, kill, pause, resume, signals; and what children tell it.
//!
//! A request is a message. It is durable before it is acted on, and answered after the run has acted on
//! it, so that whoever is told "yes" finds it in the history.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rival_core::durable::ChildOutcome;
use rival_core::event::NotUndone;
use rival_core::machine::{Input, SIGNALS_MAX, SentSignal};
use rival_core::{RunId, RunStatus, Time, Value};
use rival_store::{MessageNo, NewMessage, RunRow};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::error::RunError;
use crate::load;
use crate::mail::Mail;
use crate::shared::Shared;

/// What a message can ask for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Command {
    Cancel {
        reason: Option<String>,
    },
    Kill {
        reason: Option<String>,
    },
    Pause {},
    Resume {},
    Signal {
        name: String,
        id: Option<String>,
        payload: Value,
    },
    ChildEnded {
        child: RunId,
        outcome: ChildOutcome,
        /// It did what can be undone.
        #[serde(default)]
        undoable: bool,
        /// What it could not undo, if its outcome does not say that.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        not_undone: Vec<NotUndone>,
    },
    ChildRetried {
        child: RunId,
        next: RunId,
    },
}

impl Command {
    /// `sent_at` is when the message became durable.
    pub(crate) fn into_input(self, sent_at: Time) -> Input {
        match self {
            Self::Cancel { reason } => Input::Cancel { reason },
            Self::Kill { reason } => Input::Kill { reason },
            Self::Pause {} => Input::Pause,
            Self::Resume {} => Input::Resume,
            Self::Signal { name, id, payload } => Input::Signal(SentSignal { name, id, payload, sent_at }),
            Self::ChildEnded { child, outcome, undoable, not_undone } => {
                Input::ChildEnded { child, outcome, undoable, not_undone }
            }
            Self::ChildRetried { child, next } => Input::ChildRetried { child, next },
        }
    }

    /// The command as it is sent. With an id, a run is given it once.
    pub(crate) fn message(&self, id: Option<String>) -> NewMessage {
        NewMessage { id, body: Value::encode(self).expect("a command has only string keys") }
    }
}

/// Who waits to be told where a run stands once it has acted on a message.
pub(crate) struct Answer {
    /// The message.
    pub(crate) message: MessageNo,
    sender: oneshot::Sender<Result<RunStatus, Refusal>>,
}

/// Why a run has not acted on a message.
#[derive(Clone)]
pub(crate) enum Refusal {
    /// It cannot be loaded.
    Unloadable(String),
    /// It keeps too many signals already.
    SignalsFull,
    /// It ended before, perhaps by what came with the message.
    Finished,
}

impl Answer {
    pub(crate) fn send(self, told: Result<RunStatus, Refusal>) {
        // A caller that is gone needs no answer.
        let _ = self.sender.send(told);
    }
}

/// How long a command waits for a run that somebody else owns.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends a command and waits until the run has acted on it. Gives the run's status then.
///
/// In a task of its own: a caller that goes away half-way leaves no claimed run without an actor.
pub(crate) async fn command(
    shared: &Arc<Shared>,
    run: &RunId,
    command: Command,
    id: Option<String>,
) -> Result<RunStatus, RunError> {
    let (shared, run) = (Arc::clone(shared), run.clone());
    let acted = tokio::spawn(async move { send_and_deliver(&shared, &run, command.message(id)).await });
    acted.await.unwrap_or(Err(RunError::ShuttingDown))
}

async fn send_and_deliver(
    shared: &Arc<Shared>,
    run: &RunId,
    message: NewMessage,
) -> Result<RunStatus, RunError> {
    // Counted first, looked second: an engine that stops waits for this request, or the request sees that it stops.
    let _busy = shared.gauge.busy();
    if shared.is_stopping() {
        return Err(RunError::ShuttingDown);
    }
    let sent = shared.store.send(run, message, shared.clock.now()).await?;
    let Some(sent) = sent else { return finished(shared, run).await };
    if shared.limits.passive {
        // It is kept; whoever runs the store next acts on it.
        return row(shared, run).await.map(|row| row.status);
    }
    let (started, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        if let Some(status) = deliver(shared, run, sent).await? {
            return Ok(status);
        }
        if row(shared, run).await?.status.is_terminal() {
            return finished(shared, run).await;
        }
        if shared.is_stopping() {
            return Err(RunError::ShuttingDown);
        }
        if started.elapsed() > PATIENCE {
            let reason = "another engine owns it and has not acted yet".to_owned();
            return Err(RunError::Unreachable { run: run.clone(), reason });
        }
        // It slipped away between two looks, or somebody else has it.
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

/// Has the run's actor look at its messages; makes the run live if it is not. `None`: it slipped away.
async fn deliver(
    shared: &Arc<Shared>,
    run: &RunId,
    message: MessageNo,
) -> Result<Option<RunStatus>, RunError> {
    let (sender, answered) = oneshot::channel();
    let answer = Answer { message, sender };
    if let Some(mailbox) = shared.mailbox(run) {
        mailbox.send(Mail::Messages(Some(answer)));
    } else {
        let Some(claim) = shared.store.claim(run, shared.id).await? else { return Ok(None) };
        load::activate(shared, claim, shared.admit(), Some(answer));
    }
    match answered.await {
        Ok(Ok(status)) => Ok(Some(status)),
        Ok(Err(Refusal::Unloadable(reason))) => Err(RunError::Unreachable { run: run.clone(), reason }),
        Ok(Err(Refusal::SignalsFull)) => Err(RunError::SignalsFull { run: run.clone(), limit: SIGNALS_MAX }),
        Ok(Err(Refusal::Finished)) => finished(shared, run).await.map(Some),
        Err(_) => Ok(None),
    }
}

async fn finished(shared: &Shared, run: &RunId) -> Result<RunStatus, RunError> {
    let status = row(shared, run).await?.status;
    Err(RunError::Finished { run: run.clone(), status })
}

async fn row(shared: &Shared, run: &RunId) -> Result<RunRow, RunError> {
    shared.store.run(run).await?.ok_or_else(|| RunError::NotFound(run.clone()))
}
