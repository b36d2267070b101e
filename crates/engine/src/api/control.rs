//! Commands to a run: cancel, kill, pause, resume, signals; and what children tell it.
//!
//! A command is sent as a message. It is durable before it is acted on, and acknowledged after the run has acted on it, so
//! that a caller that is told "yes" finds it in the history. Each has an id, under which the store remembers that it was
//! acted on: the acknowledgement is about the command, whatever has become of the run meanwhile.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rival_core::durable::ChildOutcome;
use rival_core::event::NotUndone;
use rival_core::machine::{MachineInput, SIGNALS_MAX, SentSignal};
use rival_core::{RunId, RunStatus, Time, Value};
use rival_store::{MessageNo, NewMessage, RunRow, SendResult, StoreError};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::api::engine::Engine;
use crate::api::error::RunError;
use crate::api::signal::SignalPayload;
use crate::run::load;
use crate::run::mailbox::ActorMessage;
use crate::schedule::shared::EngineShared;

/// What a message can ask for; `by` says who asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RunCommand {
    Cancel {
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    Kill {
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    Pause {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    Resume {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    Signal {
        name: String,
        id: Option<String>,
        payload: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
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

impl RunCommand {
    /// `sent_at` is when the message became durable.
    pub(crate) fn into_input(self, sent_at: Time) -> MachineInput {
        match self {
            Self::Cancel { reason, by } => MachineInput::Cancel { reason, by },
            Self::Kill { reason, by } => MachineInput::Kill { reason, by },
            Self::Pause { by } => MachineInput::Pause { by },
            Self::Resume { by } => MachineInput::Resume { by },
            Self::Signal { name, id, payload, by } => {
                MachineInput::Signal(SentSignal { name, id, payload, sent_at, by })
            }
            Self::ChildEnded { child, outcome, undoable, not_undone } => {
                MachineInput::ChildEnded { child, outcome, undoable, not_undone }
            }
            Self::ChildRetried { child, next } => MachineInput::ChildRetried { child, next },
        }
    }

    /// The command as it is sent. With an id, a run is given it once.
    pub(crate) fn message(&self, id: Option<String>) -> NewMessage {
        NewMessage { id, body: Value::encode(self).expect("a command has only string keys") }
    }
}

/// Who waits to be told where a run stands once it has acted on a message.
pub(crate) struct CommandAck {
    /// The message.
    pub(crate) message: MessageNo,
    pub(crate) sender: oneshot::Sender<Result<RunStatus, CommandRefusal>>,
}

/// Why a run has not acted on a message, and never will.
#[derive(Clone, Debug)]
pub(crate) enum CommandRefusal {
    /// It cannot be loaded, and the message would not help.
    Unloadable(String),
    /// It keeps too many signals already.
    SignalsFull,
    /// It ended before, perhaps by what came with the message.
    Finished,
}

/// How long a command waits for a run that another engine owns.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same while the engine stops: an orderly stop waits for those who wait.
const PATIENCE_AT_STOP: Duration = Duration::from_secs(1);

/// Sends a command and waits until the run has acted on it. Gives the run's status then.
///
/// A command that is durable is answered with a yes, also if the run can act on it only later: because the engine
/// stops, because the store fails, because the workflow is not there. It is answered with a no only if the run will
/// never act on it. What cannot be told is an error of the store; sending the command again under the same id is
/// harmless.
///
/// In a task of its own: a caller that goes away half-way leaves no claimed run without an actor.
pub(crate) async fn command(
    engine: &Engine,
    run: &RunId,
    command: RunCommand,
    id: Option<String>,
) -> Result<RunStatus, RunError> {
    // The store remembers ids of messages that were acted on. So each has one: it tells later what became of it.
    let id = id.unwrap_or_else(|| format!("request:{}", uuid::Uuid::now_v7()));
    let message = command.message(Some(id));
    let (shared, engine) = (Arc::clone(&engine.shared), engine.unheld());
    let delivery = CommandDelivery { shared, engine, run: run.clone(), message, command };
    let acted = tokio::spawn(delivery.send_and_deliver());
    acted.await.unwrap_or(Err(RunError::ShuttingDown))
}

/// A message on its way to a run.
struct CommandDelivery {
    shared: Arc<EngineShared>,
    engine: Engine,
    run: RunId,
    message: NewMessage,
    command: RunCommand,
}

impl CommandDelivery {
    /// Sends the message, and sees to it that the run acts on it.
    async fn send_and_deliver(self) -> Result<RunStatus, RunError> {
        let _open = self.engine.take_request().ok_or(RunError::ShuttingDown)?;
        let (started, mut pause) = (Instant::now(), Duration::from_millis(1));
        // The run as it was before the message was sent once more.
        let mut before = None;
        loop {
            // Sent again, it tells what became of it.
            let (message, now) = (self.message.clone(), self.shared.clock.now());
            let no = match self.shared.store.get()?.send(&self.run, message, now).await? {
                SendResult::Kept(no) => no,
                SendResult::Known(no) => match before {
                    // Looked first, sent second: what a run knows after its end, it has acted on.
                    Some(RunRow { status, .. }) if status.is_terminal() => return Ok(status),
                    Some(_) => no,
                    None => {
                        self.compare(no).await?;
                        no
                    }
                },
                SendResult::Ended => return self.finished().await,
                SendResult::NotFound => return Err(RunError::NotFound(self.run.clone())),
            };
            if self.shared.limits.passive {
                // It is durable; the next engine on the store acts on it.
                return Ok(self.row().await?.status);
            }
            // The run's actor is to look at its messages; a run that is not live is made live.
            let (sender, acknowledged) = oneshot::channel();
            let ack = CommandAck { message: no, sender };
            if let Some(mailbox) = self.shared.mailbox_anywhere(&self.run) {
                mailbox.send(ActorMessage::InboxChanged(Some(ack)));
            } else {
                let claimed = async { self.shared.store.get()?.claim(&self.run, self.shared.id).await };
                match claimed.await {
                    Ok(Some(claim)) => load::activate(&self.shared, claim, self.shared.admit(), Some(ack)),
                    Ok(None) => drop(ack),
                    Err(error) => return self.told_although(no, error).await,
                }
            }
            // Without an answer, the run slipped away between two looks, or another engine has it.
            match acknowledged.await {
                Ok(Ok(status)) => return Ok(status),
                Ok(Err(refusal)) => return self.refused(refusal).await,
                Err(_) => {}
            }
            let patience = if self.shared.is_stopping() { PATIENCE_AT_STOP } else { PATIENCE };
            if started.elapsed() > patience && self.waits(no).await? {
                return Ok(self.row().await?.status);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(100));
            before = Some(self.row().await?);
        }
    }

    /// An id that the run knows names the signal that it was used for.
    async fn compare(&self, known: MessageNo) -> Result<(), RunError> {
        let RunCommand::Signal { name, id: Some(id), payload, .. } = &self.command else { return Ok(()) };
        let signal = SignalPayload { name: name.clone(), id: id.clone(), payload: payload.clone() };
        if signal.contradicts(&self.shared, &self.run, known).await? {
            return Err(RunError::SignalConflict { run: self.run.clone(), id: signal.id });
        }
        Ok(())
    }

    async fn refused(&self, refusal: CommandRefusal) -> Result<RunStatus, RunError> {
        let run = self.run.clone();
        match refusal {
            CommandRefusal::Unloadable(reason) => Err(RunError::Unreachable { run, reason }),
            CommandRefusal::SignalsFull => Err(RunError::SignalsFull { run, limit: SIGNALS_MAX }),
            CommandRefusal::Finished => self.finished().await,
        }
    }

    /// The store failed after it took the message. While it waits it is as good as acted on: the run is due.
    async fn told_although(&self, no: MessageNo, error: StoreError) -> Result<RunStatus, RunError> {
        match self.waits(no).await {
            Ok(true) => {
                self.shared.scheduler.note_wake(Some(self.shared.clock.now()));
                Ok(self.row().await?.status)
            }
            Ok(false) | Err(_) => Err(error.into()),
        }
    }

    async fn waits(&self, no: MessageNo) -> Result<bool, StoreError> {
        Ok(self.shared.store.get()?.messages(&self.run).await?.iter().any(|message| message.no == no))
    }

    async fn finished(&self) -> Result<RunStatus, RunError> {
        let status = self.row().await?.status;
        Err(RunError::Finished { run: self.run.clone(), status })
    }

    async fn row(&self) -> Result<RunRow, RunError> {
        self.shared.store.get()?.run(&self.run).await?.ok_or_else(|| RunError::NotFound(self.run.clone()))
    }
}
